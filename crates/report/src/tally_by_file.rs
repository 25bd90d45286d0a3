//! Lines, branches and functions by file, as other tools count them.
//!
//! A line has code if a statement or a condition begins on it, and its count is that of the one executed most. A branch is
//! an outcome of a condition, or a label of a `switch`: what compilers turn into jumps. Limit: a line that only continues
//! an earlier one has no count.

use std::collections::BTreeMap;
use std::path::Path;

use crate::facts::{At, DecisionFacts, Facts, FileFacts, FunctionFacts};

/// What is counted in a file.
#[derive(Debug)]
pub struct FileTally<'f> {
    pub file: &'f FileFacts,
    pub functions: Vec<&'f FunctionFacts>,
    /// How often each line with code was executed.
    pub lines: BTreeMap<u32, u64>,
    /// By line, in groups that belong together.
    pub branches: BTreeMap<u32, Vec<Vec<u64>>>,
    /// Decisions of several conditions.
    pub composites: Vec<&'f DecisionFacts>,
}

/// Some of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    pub hit: usize,
    pub all: usize,
}

impl Share {
    /// How many of these counts are not zero.
    pub fn of(counts: impl Iterator<Item = u64>) -> Self {
        counts.fold(Self::default(), |share, n| Self {
            hit: share.hit + usize::from(n > 0),
            all: share.all + 1,
        })
    }

    /// From 0 to 1; 1 when there is nothing.
    pub fn rate(self) -> f64 {
        if self.all == 0 { 1.0 } else { self.hit as f64 / self.all as f64 }
    }
}

impl<'f> FileTally<'f> {
    /// Adds what is counted of the same file elsewhere. Functions and decisions that both have are kept once: their own
    /// counts are not added.
    fn add(&mut self, other: Self) {
        for function in other.functions {
            if !self
                .functions
                .iter()
                .any(|known| (&known.name, known.at.line) == (&function.name, function.at.line))
            {
                self.functions.push(function);
            }
        }
        for decision in other.composites {
            if !self
                .composites
                .iter()
                .any(|known| (known.at.line, known.at.column) == (decision.at.line, decision.at.column))
            {
                self.composites.push(decision);
            }
        }
        for (line, n) in other.lines {
            *self.lines.entry(line).or_default() += n;
        }
        for (line, groups) in other.branches {
            match self.branches.get_mut(&line) {
                Some(known) if is_alike(known, &groups) => {
                    let counts = known.iter_mut().flatten().zip(groups.into_iter().flatten());
                    counts.for_each(|(known, n)| *known += n);
                }
                Some(known) => known.extend(groups),
                None => drop(self.branches.insert(line, groups)),
            }
        }
    }

    /// Lines that were executed, from `first` to `last`.
    pub fn line_share(&self, first: u32, last: u32) -> Share {
        Share::of(self.lines.range(first..=last).map(|(_, n)| *n))
    }

    /// Branches that were taken, from line `first` to `last`.
    pub fn branch_share(&self, first: u32, last: u32) -> Share {
        Share::of(self.branches.range(first..=last).flat_map(|(_, groups)| groups).flatten().copied())
    }
}

fn is_alike(a: &[Vec<u64>], b: &[Vec<u64>]) -> bool {
    a.iter().map(Vec::len).eq(b.iter().map(Vec::len))
}

/// The tallies of all files, in order.
pub fn by_file(facts: &Facts) -> Vec<FileTally<'_>> {
    let empty = |file| FileTally {
        file,
        functions: Vec::new(),
        lines: BTreeMap::new(),
        branches: BTreeMap::new(),
        composites: Vec::new(),
    };
    let mut tallies: Vec<FileTally<'_>> = facts.files.iter().map(empty).collect();
    for function in &facts.functions {
        tallies[function.at.file].functions.push(function);
    }
    for statement in &facts.statements {
        executed(&mut tallies, statement.at, statement.hits.total());
    }
    for decision in &facts.decisions {
        take_decision(&mut tallies, decision);
    }
    for switch in &facts.switches {
        let branches = &mut tallies[switch.at.file].branches;
        let counts = switch.labels.iter().map(|label| label.hits.total()).collect();
        branches.entry(switch.at.line).or_default().push(counts);
    }
    tallies.retain(|tally| !tally.functions.is_empty() || !tally.lines.is_empty());
    tallies
}

/// The tallies of several functions together, a file once.
pub fn together<'f>(all: impl Iterator<Item = FileTally<'f>>) -> Vec<FileTally<'f>> {
    let mut files: BTreeMap<&Path, FileTally<'f>> = BTreeMap::new();
    for tally in all {
        match files.get_mut(tally.file.absolute.as_path()) {
            Some(known) => known.add(tally),
            None => drop(files.insert(&tally.file.absolute, tally)),
        }
    }
    files.into_values().collect()
}

fn take_decision<'f>(tallies: &mut [FileTally<'f>], decision: &'f DecisionFacts) {
    for condition in &decision.conditions {
        let counts = [condition.when_true.total(), condition.when_false.total()];
        executed(tallies, condition.at, counts[0] + counts[1]);
        if decision.branches() {
            let branches = &mut tallies[condition.at.file].branches;
            branches.entry(condition.at.line).or_default().push(counts.to_vec());
        }
    }
    if decision.conditions.len() > 1 {
        tallies[decision.at.file].composites.push(decision);
    }
}

fn executed(tallies: &mut [FileTally<'_>], at: At, n: u64) {
    let line = tallies[at.file].lines.entry(at.line).or_default();
    *line = (*line).max(n);
}
