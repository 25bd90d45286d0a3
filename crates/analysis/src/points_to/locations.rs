//! Where in an object does a pointer point? Numbered locations in objects, and how pointers move among them.
//!
//! Method: a location is an offset from the object's start. All elements of an array are one location, so a pointer that
//! moves along it keeps its location. A pointer that leaves its object forwards is never used; one that leaves it
//! backwards, moves into the middle of a member, or by an unknown distance where there is no array, may be anywhere in it.
//! Limit: a pointer to an element that is moved past the array counts as being anywhere only if the distance does not fit
//! into the array. A constant distance that leads past the end from its first element to a member leads there: the pointer is taken for one to the
//! structure that begins with the array.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use model::{Layout, Op, Program, Storage, Variable};

use super::Pointee;
use crate::address::{Index, gcd};

/// A distance: from the start of an object, or from where a pointer points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PointerOffset {
    /// Nobody knows.
    Anywhere,
    At {
        /// The constant part, in bytes.
        offset: i64,
        /// The other part.
        index: Option<Index>,
    },
}

impl PointerOffset {
    /// No distance at all.
    pub(super) const START: Self = Self::At { offset: 0, index: None };

    pub(super) fn and(self, by: Self) -> Self {
        match (self, by) {
            (Self::At { offset, index }, Self::At { offset: further, index: other }) => {
                let index = match (index, other) {
                    (Some(index), Some(other)) => Some(index.and(other)),
                    (index, other) => index.or(other),
                };
                Self::At { offset: offset.wrapping_add(further), index }
            }
            (Self::Anywhere, _) | (_, Self::Anywhere) => Self::Anywhere,
        }
    }
}

/// The making of a variable, as far as pointers into it are concerned.
struct Shape {
    size: i64,
    /// Where members begin.
    starts: BTreeSet<i64>,
    /// Those that are in no other.
    arrays: Vec<Array>,
}

#[derive(Clone, Copy)]
struct Array {
    start: i64,
    size: i64,
    stride: i64,
}

/// The places that pointers point to.
pub(super) struct Locations {
    /// Of variables that are more than one scalar.
    shapes: BTreeMap<Pointee, Shape>,
    known: Vec<(u32, Pointee, PointerOffset)>,
    numbers: HashMap<(u32, PointerOffset), u32>,
}

impl Locations {
    pub(super) fn new(program: &Program) -> Self {
        let mut shapes = BTreeMap::new();
        for variable in &program.variables {
            let pointee = pointee_of(variable);
            if let Some(shape) = shape(program, variable) {
                shapes.entry(pointee).or_insert(shape);
            }
        }
        Self { shapes, known: Vec::new(), numbers: HashMap::new() }
    }

    /// The object that a place is in, by its number.
    pub(super) fn object(&self, location: u32) -> u32 {
        self.known[location as usize].0
    }

    /// The object that a place is in, and where.
    pub(super) fn get(&self, location: u32) -> (Pointee, PointerOffset) {
        let (_, pointee, spot) = self.known[location as usize];
        (pointee, spot)
    }

    /// The place in an object.
    pub(super) fn at(&mut self, object: u32, pointee: Pointee, spot: PointerOffset) -> Option<u32> {
        self.moved_in(object, pointee, PointerOffset::START, spot)
    }

    /// Where a pointer to a place points when it is moved; nowhere when it leaves the object for good.
    pub(super) fn moved(&mut self, location: u32, by: PointerOffset) -> Option<u32> {
        let (object, pointee, from) = self.known[location as usize];
        self.moved_in(object, pointee, from, by)
    }

    fn moved_in(
        &mut self,
        object: u32,
        pointee: Pointee,
        from: PointerOffset,
        by: PointerOffset,
    ) -> Option<u32> {
        let spot = self.spot(pointee, from, by)?;
        let next = u32::try_from(self.known.len()).expect("fewer than 2^32 places");
        let number = *self.numbers.entry((object, spot)).or_insert(next);
        if number == next {
            self.known.push((object, pointee, spot));
        }
        Some(number)
    }

    /// Where in its object a pointer points that is moved from a place.
    pub(super) fn spot(
        &self,
        pointee: Pointee,
        from: PointerOffset,
        by: PointerOffset,
    ) -> Option<PointerOffset> {
        let Some(shape) = self.shapes.get(&pointee) else { return Some(PointerOffset::Anywhere) };
        shape.moved(from, by)
    }
}

impl Shape {
    /// Adds the members and arrays of what begins here.
    fn add(&mut self, layout: &Layout, start: i64) {
        self.starts.insert(start);
        let bytes = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        match layout {
            Layout::Whole => {}
            Layout::Structure(members) => {
                members.iter().for_each(|member| self.add(&member.layout, start + bytes(member.offset)));
            }
            Layout::Array { length: 0, .. } | Layout::Array { stride: 0, .. } => {}
            Layout::Array { length, stride, .. } => {
                let (size, stride) = (bytes(length.saturating_mul(*stride)), bytes(*stride));
                self.arrays.push(Array { start, size, stride });
            }
        }
    }

    fn moved(&self, from: PointerOffset, by: PointerOffset) -> Option<PointerOffset> {
        let PointerOffset::At { offset, index } = from.and(by) else { return Some(PointerOffset::Anywhere) };
        let inside = match from {
            PointerOffset::At { offset, index: Some(_) } => self.array_around(offset),
            PointerOffset::At { .. } | PointerOffset::Anywhere => None,
        };
        if let Some(array) = inside {
            let PointerOffset::At { offset: distance, .. } = by else { return Some(PointerOffset::Anywhere) };
            let fits = (0..array.size).contains(&(offset - array.start));
            let is_constant = matches!(by, PointerOffset::At { index: None, .. });
            if !fits && distance > 0 && is_constant && self.starts.contains(&offset) {
                let other = self.array_around(offset);
                return Some(
                    other.map_or(PointerOffset::At { offset, index: None }, |other| other.spot(offset, None)),
                );
            }
            let stays = fits || distance.rem_euclid(array.stride) == 0;
            return Some(if stays { array.spot(offset, index) } else { PointerOffset::Anywhere });
        }
        match self.array_around(offset) {
            Some(array) => Some(array.spot(offset, index)),
            None if offset > self.size && index.is_none() => None,
            None if !self.starts.contains(&offset) && offset != self.size => Some(PointerOffset::Anywhere),
            None => Some(match index {
                // of an array of such variables there is only the first
                Some(index) if i64::try_from(index.common).is_ok_and(|step| step < self.size) => {
                    PointerOffset::Anywhere
                }
                Some(_) | None => PointerOffset::At { offset, index: None },
            }),
        }
    }

    fn array_around(&self, offset: i64) -> Option<Array> {
        let holds = |array: &&Array| (array.start..array.start + array.size).contains(&offset);
        self.arrays.iter().find(holds).copied()
    }
}

impl Array {
    /// This place of each element.
    fn spot(self, offset: i64, index: Option<Index>) -> PointerOffset {
        let stride = self.stride.unsigned_abs();
        let common = index.map_or(stride, |index| gcd(stride, index.common)).max(1);
        let step = i64::try_from(common).unwrap_or(i64::MAX);
        let offset = self.start + (offset - self.start).rem_euclid(step);
        PointerOffset::At { offset, index: Some(Index { largest: stride, common }) }
    }
}

fn pointee_of(variable: &Variable) -> Pointee {
    match variable.storage {
        Storage::Stack(function, instr) => Pointee::Local(function, instr),
        Storage::Global(global) => Pointee::Global(global),
    }
}

/// None for a scalar, and for what has no size before the program runs.
fn shape(program: &Program, variable: &Variable) -> Option<Shape> {
    let size = match variable.storage {
        Storage::Stack(function, instr) => match &program.function(function).instr(instr).op {
            Op::Alloca { size, count, .. } => size.checked_mul(count.constant()?)?,
            _ => return None,
        },
        Storage::Global(global) => program.global(global).size,
    };
    if variable.layout == Layout::Whole {
        return None;
    }
    let (size, starts, arrays) = (i64::try_from(size).ok()?, BTreeSet::new(), Vec::new());
    let mut shape = Shape { size, starts, arrays };
    shape.add(&variable.layout, 0);
    Some(shape)
}

#[cfg(test)]
mod tests {
    use model::Member;

    use super::*;

    fn at(offset: i64) -> PointerOffset {
        PointerOffset::At { offset, index: None }
    }

    fn steps(offset: i64, step: u64) -> PointerOffset {
        PointerOffset::At { offset, index: Some(Index { largest: step, common: step }) }
    }

    /// `struct { int a; int v[3]; struct { int x, y; } in; }`
    fn shape() -> Shape {
        let member = |offset, size, layout| Member { name: String::new(), offset, size, layout };
        let inner = vec![member(0, 4, Layout::Whole), member(4, 4, Layout::Whole)];
        let v = Layout::Array { length: 3, stride: 4, element: Box::new(Layout::Whole) };
        let members =
            [member(0, 4, Layout::Whole), member(4, 12, v), member(16, 8, Layout::Structure(inner))];
        let mut shape = Shape { size: 24, starts: BTreeSet::new(), arrays: Vec::new() };
        shape.add(&Layout::Structure(members.into()), 0);
        shape
    }

    #[test]
    fn pointers_move_from_member_to_member_and_back() {
        for (from, by, expected) in
            [(at(0), at(20), at(20)), (at(20), at(-4), at(16)), (at(16), at(-16), at(0))]
        {
            assert_eq!(shape().moved(from, by), Some(expected), "{from:?} {by:?}");
        }
    }

    #[test]
    fn along_an_array_a_pointer_stays_where_it_is() {
        let element = steps(4, 4);
        for (from, by) in [
            (at(0), at(8)),
            (element, at(4)),
            (element, at(-4)),
            (element, steps(0, 4)),
            (at(4), steps(0, 4)),
        ] {
            assert_eq!(shape().moved(from, by), Some(element), "{from:?} {by:?}");
        }
        assert_eq!(
            shape().moved(element, steps(0, 1)),
            Some(PointerOffset::At { offset: 4, index: Some(Index { largest: 4, common: 1 }) })
        );
    }

    #[test]
    fn a_structure_that_begins_with_an_array_has_its_other_members() {
        let member = |offset, size, layout| Member { name: String::new(), offset, size, layout };
        let array = |length| Layout::Array { length, stride: 1, element: Box::new(Layout::Whole) };
        let members = [member(0, 6, array(6)), member(8, 4, Layout::Whole), member(12, 4, array(4))];
        let mut shape = Shape { size: 16, starts: BTreeSet::new(), arrays: Vec::new() };
        shape.add(&Layout::Structure(members.into()), 0);
        let start = shape.moved(at(0), at(0)).expect("it is used");
        assert_eq!(start, steps(0, 1));
        assert_eq!(shape.moved(start, at(8)), Some(at(8)));
        assert_eq!(shape.moved(start, at(12)), Some(steps(12, 1)));
        // along the array, to its end, and where no member begins
        for by in [at(5), at(6), at(9), steps(0, 1)] {
            assert_eq!(shape.moved(start, by), Some(start), "{by:?}");
        }
        assert_eq!(shape.moved(at(8), at(-8)), Some(start));
    }

    #[test]
    fn behind_its_object_a_pointer_is_not_used() {
        assert_eq!(shape().moved(at(0), at(24)), Some(at(24)), "the end may be pointed to");
        assert_eq!(shape().moved(at(24), at(24)), None);
        assert_eq!(
            shape().moved(at(0), steps(0, 24)),
            Some(at(0)),
            "of an array of such there is only the first"
        );
    }

    #[test]
    fn where_nobody_knows_a_pointer_may_be_anywhere() {
        for (from, by) in [
            (at(0), PointerOffset::Anywhere),
            (PointerOffset::Anywhere, at(4)),
            (at(0), at(-4)),
            (at(0), at(2)),
            (at(16), steps(0, 4)),
            (steps(4, 4), at(-2)),
        ] {
            assert_eq!(shape().moved(from, by), Some(PointerOffset::Anywhere), "{from:?} {by:?}");
        }
    }
}
