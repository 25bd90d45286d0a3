//! What could stand behind a text that a program has read to its end?
//!
//! A program that wants more after "let a" compares what follows, which is the end of a line or of the file: there is no byte
//! that a query could change, and a longer text covers nothing by itself. Method: each input of a whole program that covered
//! something is run once more with some zero bytes behind the text of each file that was read, in place of the last line's end. They end
//! a string as before, but are input: flips of the comparisons give them values. Limit: there is room at the end of a text only.

use std::collections::{BTreeSet, VecDeque};

use model::input::Input;
use model::invocation::InvocationShape;

use crate::campaign::Provenance;
use crate::campaign::source::{Answer, CampaignView, News, Occasion, Origin, Proposal, RunNews, Source};
use crate::rng::Rng;

/// Bytes of room, as many as an argument has behind its text.
const ROOM: usize = 16;

/// Runs inputs again with room.
pub(super) struct Room {
    shape: InvocationShape,
    waiting: VecDeque<Input>,
    /// What was run, or waits.
    given: BTreeSet<Input>,
}

impl Room {
    pub(super) fn new(shape: &InvocationShape) -> Self {
        Self { shape: shape.clone(), waiting: VecDeque::new(), given: BTreeSet::new() }
    }

    fn take_in(&mut self, run: &RunNews<'_>) {
        let is_read = |number: usize| {
            let size = self.shape.files[number].key;
            run.without_influence.is_none_or(|idle| !idle.contains(&size))
        };
        let read: Vec<usize> = (0..self.shape.files.len()).filter(|number| is_read(*number)).collect();
        for number in read {
            if let Some(input) =
                self.with_room(run.input, number).filter(|input| self.given.insert(input.clone()))
            {
                self.waiting.push_back(input);
            }
        }
    }

    /// The input with room behind a file's text, if that is not empty and there is room for more.
    fn with_room(&self, input: &Input, number: usize) -> Option<Input> {
        let mut invocation = self.shape.invocation(input);
        let text = match number.checked_sub(1) {
            None => &mut invocation.stdin,
            Some(named) => invocation.files.get_mut(named)?.1.as_mut()?,
        };
        let n_kept = text.iter().rposition(|byte| !matches!(*byte, 0 | b'\n'))? + 1;
        let most = usize::try_from(self.shape.files[number].most).unwrap_or(usize::MAX);
        text.truncate(n_kept);
        text.resize(n_kept.max(most.min(n_kept + ROOM)), 0);
        let mut roomy = self.shape.input(&invocation).ok()?;
        // what calls give, and other cells beside the invocation, stay as they are
        for (key, value) in &input.values {
            roomy.values.entry(*key).or_insert(*value);
        }
        Some(roomy)
    }
}

impl Source for Room {
    fn propose(&mut self, _: Occasion, _: &CampaignView<'_>, _: &mut Rng) -> Answer {
        match self.waiting.pop_front() {
            Some(input) => {
                Answer::Propose(Proposal::Run { input, provenance: Provenance::Grown, symbolic: true })
            }
            None => Answer::Pass,
        }
    }

    fn heard(&mut self, news: &News<'_>, _: &CampaignView<'_>) {
        match news {
            News::Ran(run) if run.covers_new => match run.origin {
                Origin::Input | Origin::Candidate(_) | Origin::Change | Origin::Trial => self.take_in(run),
                Origin::Read(_) => {}
            },
            News::Ran(_)
            | News::Worked { .. }
            | News::Tried { .. }
            | News::Unsolved { .. }
            | News::Read { .. }
            | News::Collected { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use model::input::Key;
    use model::invocation::{Invocation, InvocationLimits};

    use super::*;
    use crate::executor::End;

    fn room() -> Room {
        let limits = InvocationLimits {
            arguments: 1,
            length: 8,
            stdin: 20,
            files: vec![("data".to_owned(), 64)],
            variables: Vec::new(),
            allocations: 0,
        };
        Room::new(&InvocationShape::new(&limits))
    }

    /// What is run after a run that covered something.
    fn after(
        room: &mut Room,
        stdin: &[u8],
        data: &[u8],
        without_influence: Option<&[Key]>,
    ) -> Vec<Invocation> {
        let files = vec![("data".to_owned(), Some(data.to_vec()))];
        let invocation = Invocation { stdin: stdin.to_vec(), files, ..Invocation::default() };
        let input = room.shape.input(&invocation).expect("is within the limits");
        let (origin, end) = (Origin::Input, End::Returned);
        let (covers_new, changed, outside, cells) = (true, true, None, [].as_slice());
        room.take_in(&RunNews {
            origin,
            provenance: Provenance::Zero,
            observations: &Default::default(),
            distances: &Default::default(),
            input: &input,
            cells,
            without_influence,
            end,
            outside,
            covers_new,
            changed,
        });
        std::iter::from_fn(|| room.waiting.pop_front()).map(|input| room.shape.invocation(&input)).collect()
    }

    #[test]
    fn zeros_take_the_place_of_the_last_lines_end() {
        let mut room = room();
        let made = after(&mut room, b"let a\n", b"", None);
        assert_eq!(made.len(), 1, "an empty file gets no room");
        assert_eq!(made[0].stdin, [b"let a".as_slice(), &[0; ROOM - 1]].concat(), "up to the limit");
        let again = made[0].stdin.clone();
        assert!(after(&mut room, &again, b"", None).is_empty(), "once");
    }

    #[test]
    fn what_was_not_read_gets_no_room() {
        let mut room = room();
        let idle = [room.shape.files[0].key];
        let made = after(&mut room, b"a", b"b", Some(&idle));
        assert_eq!(made.len(), 1);
        assert_eq!(made[0].files[0].1.as_ref().map(Vec::len), Some(1 + ROOM));
        assert_eq!(made[0].stdin, b"a");
    }
}
