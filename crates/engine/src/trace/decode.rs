//! The path log as entries for the walk; pins and assumptions are set aside.

use model::walk::Entry;
use model::{FunctionId, SpanId};
use wire::{Event, EventError, Events, NodeId};

use super::{Note, PathHash};

/// How many entries pass between two looks at whether to stop.
const ENTRIES_PER_LOOK: u32 = 1 << 16;

/// What an entry carries through the walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Payload {
    pub(crate) node: Option<NodeId>,
    /// Notes that came before.
    pub(super) n_notes: u32,
    /// The objects that pinned pointers led to.
    pub(crate) objects: PathHash,
}

/// What is found in the log besides entries.
#[derive(Clone, Default)]
pub(super) struct Found {
    pub(super) notes: Vec<Note>,
    /// Sites where code that is not followed was given symbolic bytes.
    pub(super) unfollowed: Vec<u32>,
    /// The objects that pinned pointers led to.
    objects: PathHash,
    pub(super) error: Option<EventError>,
    pub(super) stopped: bool,
}

pub(super) struct Decoder<'a> {
    events: Events<'a>,
    found: &'a mut Found,
    stop: &'a dyn Fn() -> bool,
    n_until_look: u32,
}

impl<'a> Decoder<'a> {
    /// A decoder of what follows so many bytes of a log, in which this was found.
    pub(super) fn new(
        log: &'a [u8],
        n_bytes: usize,
        found: &'a mut Found,
        stop: &'a dyn Fn() -> bool,
    ) -> Self {
        let events = Events::starting_at(log, n_bytes);
        Self { events, found, stop, n_until_look: ENTRIES_PER_LOOK }
    }

    /// How many bytes of the log were taken.
    pub(super) fn n_bytes(&self) -> usize {
        self.events.position()
    }

    fn payload(&self, node: Option<NodeId>) -> Payload {
        let n_notes = u32::try_from(self.found.notes.len()).expect("a log holds fewer than 2^32 notes");
        Payload { node, n_notes, objects: self.found.objects }
    }

    fn is_stopped(&mut self) -> bool {
        self.n_until_look -= 1;
        if self.n_until_look == 0 {
            self.n_until_look = ENTRIES_PER_LOOK;
            self.found.stopped |= (self.stop)();
        }
        self.found.stopped
    }
}

impl Iterator for Decoder<'_> {
    type Item = Entry<Payload>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_stopped() {
            return None;
        }
        loop {
            let event = match self.events.next()? {
                Ok(event) => event,
                Err(error) => {
                    self.found.error = Some(error);
                    return None;
                }
            };
            return Some(match event {
                Event::Outcome { taken, node } => Entry::Outcome { taken, payload: self.payload(node) },
                Event::Switch { case, node } => Entry::Switch { case, payload: self.payload(node) },
                Event::Callee { function } => Entry::Callee { function: function.map(function_id) },
                Event::Callback { function } => Entry::Callback { function: function_id(function) },
                Event::Setjmp { activation } => Entry::Setjmp { activation },
                Event::Address { address, size } => Entry::Address { address, size },
                Event::Jump { successor } => Entry::Jump { successor },
                Event::Pin { node, value, place } => {
                    self.found.notes.push(Note::Pin { node, value, place });
                    continue;
                }
                Event::Assume { node } => {
                    self.found.notes.push(Note::Assume { node });
                    continue;
                }
                Event::Prefer { node } => {
                    self.found.notes.push(Note::Prefer { node });
                    continue;
                }
                Event::Bounds { node, place, is_pinned } => {
                    self.found.notes.push(Note::Bounds { node, place: place.map(SpanId), is_pinned });
                    continue;
                }
                Event::Pointer { node, value, place } => {
                    self.found.notes.push(Note::Pointer { node, value, place });
                    self.found.objects = self.found.objects.then_object(value);
                    continue;
                }
                Event::Size { node, value, place } => {
                    self.found.notes.push(Note::Size { node, value, place });
                    continue;
                }
                Event::Unfollowed { site } => {
                    self.found.unfollowed.push(site);
                    continue;
                }
                Event::Outside => {
                    self.found.objects = self.found.objects.then_outside();
                    continue;
                }
            });
        }
    }
}

/// A number too large for any function stays too large: the walk refuses it.
fn function_id(number: u64) -> FunctionId {
    FunctionId(u32::try_from(number).unwrap_or(u32::MAX))
}
