//! The path log: a byte stream of outcomes in program order.

use std::fmt;

use crate::NodeId;

/// One entry of the path log. To which site it belongs is found by walking the program model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A marked condition, or a branch no mark decides, went this way.
    Outcome { taken: bool, node: Option<NodeId> },
    /// A switch took this case of its list (the number of cases stands for default).
    Switch { case: u64, node: Option<NodeId> },
    /// An indirect call went to this instrumented function, or to uninstrumented code.
    Callee { function: Option<u64> },
    /// Uninstrumented code entered this instrumented function.
    Callback { function: u64 },
    /// `setjmp` came back, for the first or another time, in this activation.
    Setjmp { activation: u64 },
    /// The run depends on `node == value` in a way that is not tracked further.
    Pin { node: NodeId, value: u64, place: Option<LogPlace> },
    /// This truth value held and must go on holding.
    Assume { node: NodeId },
    /// An access is about so many bytes at this address, or a variable lies there; 0 bytes when nobody knows.
    Address { address: u64, size: u64 },
    /// A computed goto took this successor.
    Jump { successor: u64 },
    /// This truth value held and should go on holding while nothing speaks against it.
    Prefer { node: NodeId },
    /// This truth value held and must go on holding: the access at this span lies within its object. With `is_pinned` it
    /// must only as long as the pins are kept.
    Bounds { node: NodeId, place: Option<u32>, is_pinned: bool },
    /// Like a pin, of a number of bytes that was allocated, copied or filled.
    Size { node: NodeId, value: u64, place: Option<LogPlace> },
    /// Like a pin, of a pointer that is followed.
    Pointer { node: NodeId, value: u64, place: Option<LogPlace> },
    /// Code that is not followed was given symbolic bytes at this site, for the first time.
    Unfollowed { site: u32 },
    /// An access goes outside of its object, for the first time.
    Outside,
}

/// Where something stands that the log tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogPlace {
    /// The site with this index among those of the program.
    Site(u32),
    /// The span with this number.
    Span(u32),
}

impl LogPlace {
    /// Decodes the number in the log.
    fn decode(number: u64) -> Option<Self> {
        let index = (number >> 1).checked_sub(1).and_then(|index| u32::try_from(index).ok())?;
        Some(if number & 1 == 0 { Self::Site(index) } else { Self::Span(index) })
    }
}

/// A path log that does not decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventError {
    /// No entry starts with this byte.
    UnknownTag { tag: u8, at: usize },
    /// The log ends inside an entry.
    CutShort { at: usize },
}

impl fmt::Display for EventError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownTag { tag, at } => write!(f, "path log has no entry {tag:#x} (byte {at})"),
            Self::CutShort { at } => write!(f, "path log ends inside the entry at byte {at}"),
        }
    }
}

impl std::error::Error for EventError {}

/// Decodes a path log entry by entry; can be cloned to look ahead.
#[derive(Clone, Debug)]
pub struct Events<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Events<'a> {
    /// A reader at the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// A reader of the entry that begins at this byte, and of those behind it.
    pub fn starting_at(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    /// Byte position of the next entry.
    pub fn position(&self) -> usize {
        self.at
    }

    fn take<const N: usize>(&mut self, start: usize) -> Result<[u8; N], EventError> {
        let bytes = self.bytes.get(self.at..self.at + N).ok_or(EventError::CutShort { at: start })?;
        self.at += N;
        Ok(bytes.try_into().expect("the slice has N bytes"))
    }

    fn node(&mut self, start: usize) -> Result<NodeId, EventError> {
        Ok(NodeId(u32::from_le_bytes(self.take(start)?)))
    }

    fn varint(&mut self, start: usize) -> Result<u64, EventError> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let [byte] = self.take(start)?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
        Ok(value)
    }

    fn bounds(&mut self, start: usize) -> Result<Event, EventError> {
        let (node, number) = (self.node(start)?, self.varint(start)?);
        // a span by its number plus one; 0 stands for none
        let place = (number >> 1).checked_sub(1).and_then(|number| u32::try_from(number).ok());
        Ok(Event::Bounds { node, place, is_pinned: number & 1 != 0 })
    }

    fn pin(&mut self, start: usize) -> Result<(NodeId, u64, Option<LogPlace>), EventError> {
        let (node, value) = (self.node(start)?, u64::from_le_bytes(self.take(start)?));
        Ok((node, value, LogPlace::decode(self.varint(start)?)))
    }

    fn decode(&mut self) -> Result<Event, EventError> {
        let start = self.at;
        let [tag] = self.take(start)?;
        Ok(match tag {
            0x00 | 0x01 => Event::Outcome { taken: tag & 1 != 0, node: None },
            0x02 | 0x03 => Event::Outcome { taken: tag & 1 != 0, node: Some(self.node(start)?) },
            0x04 => Event::Switch { case: self.varint(start)?, node: None },
            0x05 => Event::Switch { case: self.varint(start)?, node: Some(self.node(start)?) },
            0x06 => Event::Callee { function: self.varint(start)?.checked_sub(1) },
            0x07 => Event::Callback { function: self.varint(start)? },
            0x08 => Event::Setjmp { activation: self.varint(start)? },
            0x09 => {
                let (node, value, place) = self.pin(start)?;
                Event::Pin { node, value, place }
            }
            0x0a => Event::Assume { node: self.node(start)? },
            0x0b => {
                let address = u64::from_le_bytes(self.take(start)?);
                Event::Address { address, size: self.varint(start)? }
            }
            0x0c => Event::Jump { successor: self.varint(start)? },
            0x0d => Event::Prefer { node: self.node(start)? },
            0x0e => self.bounds(start)?,
            0x0f => {
                let (node, value, place) = self.pin(start)?;
                Event::Size { node, value, place }
            }
            0x10 => {
                let (node, value, place) = self.pin(start)?;
                Event::Pointer { node, value, place }
            }
            0x11 => {
                let site = self.varint(start)?.checked_sub(1).and_then(|site| u32::try_from(site).ok());
                Event::Unfollowed { site: site.unwrap_or(u32::MAX) }
            }
            0x12 => Event::Outside,
            _ => return Err(EventError::UnknownTag { tag, at: start }),
        })
    }
}

impl Iterator for Events<'_> {
    type Item = Result<Event, EventError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.bytes.len() {
            return None;
        }
        let event = self.decode();
        if event.is_err() {
            self.at = self.bytes.len();
        }
        Some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_follow_each_other() {
        let log = [1, 2, 9, 0, 0, 0, 4, 0x81, 0x01, 6, 0];
        let events: Result<Vec<_>, _> = Events::new(&log).collect();
        let expected = [
            Event::Outcome { taken: true, node: None },
            Event::Outcome { taken: false, node: Some(NodeId(9)) },
            Event::Switch { case: 129, node: None },
            Event::Callee { function: None },
        ];
        assert_eq!(events.expect("valid"), expected);
    }

    #[test]
    fn a_log_cut_short_says_where() {
        assert_eq!(Events::new(&[1, 3, 0]).last(), Some(Err(EventError::CutShort { at: 1 })));
        assert_eq!(Events::new(&[0xee]).last(), Some(Err(EventError::UnknownTag { tag: 0xee, at: 0 })));
    }
}
