//! Mutants of a run: the record in `mutants.json`, and the same as text.

use serde::{Deserialize, Serialize};

use crate::record::{Counts, SourcePosition};
use crate::words::{counted, line};

/// Name of the file that says what became of each mutant.
pub const MUTANTS_FILE: &str = "mutants.json";

/// The criterion that counts mutants.
pub const MUTATION: &str = "mutation";

/// What a suite notices of the mutants of the code under test.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mutation {
    pub schema: u32,
    #[serde(flatten)]
    pub counts: MutationCounts,
    /// The tests that were run.
    pub tests: usize,
    /// Tests that were not, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    pub list: Vec<MutantLine>,
}

/// The last line of `quarry mutate`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MutationCounts {
    pub mutants: usize,
    pub killed: usize,
    pub alive: usize,
    pub equivalent: usize,
    /// Not decided, because the budget ended or somebody interrupted; told when there are any.
    #[serde(default, skip_serializing_if = "is_none")]
    pub undecided: usize,
}

fn is_none(number: &usize) -> bool {
    *number == 0
}

/// A mutant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MutantLine {
    pub id: u32,
    pub function: String,
    #[serde(flatten)]
    pub place: SourcePosition,
    /// `operator`, `constant`, `condition`, `statement` or `boundary`.
    pub mutation: String,
    pub before: String,
    pub after: String,
    pub state: MutantState,
    /// The first test that notices it, and how.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shows: Option<String>,
    /// How many tests reach it.
    pub reached: usize,
}

/// What became of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MutantState {
    /// A test fails on it.
    Killed,
    /// No test fails on it.
    Alive,
    /// It compiles to the same code as the source.
    Equivalent,
    /// Not all tests that reach it were run.
    Undecided,
}

impl Mutation {
    /// Each mutant as a goal: killed is covered, and the same code is infeasible.
    pub fn goals(&self) -> Counts {
        let MutationCounts { mutants, killed, alive, equivalent, undecided } = self.counts;
        Counts {
            total: mutants,
            covered: killed,
            infeasible: equivalent,
            undecided: alive + undecided,
            ..Counts::default()
        }
    }

    /// From its parts, counted.
    pub fn new(list: Vec<MutantLine>, tests: usize, left_out: Vec<String>) -> Self {
        let n = |state| list.iter().filter(|mutant| mutant.state == state).count();
        let counts = MutationCounts {
            mutants: list.len(),
            killed: n(MutantState::Killed),
            alive: n(MutantState::Alive),
            equivalent: n(MutantState::Equivalent),
            undecided: n(MutantState::Undecided),
        };
        Self { schema: crate::record::SCHEMA, counts, tests, left_out, list }
    }

    /// What several functions come to. A mutant of code that several of them reach counts once, and is killed when one of them kills it.
    pub fn of_several(all: impl Iterator<Item = (String, Self)>) -> Self {
        let (mut list, mut tests, mut left_out): (Vec<MutantLine>, usize, Vec<String>) =
            (Vec::new(), 0, Vec::new());
        let mut known = std::collections::HashMap::new();
        for (directory, one) in all {
            tests += one.tests;
            left_out.extend(one.left_out.into_iter().map(|what| format!("{directory}/{what}")));
            for mut mutant in one.list {
                mutant.test = mutant.test.map(|test| format!("{directory}/{test}"));
                let place = (mutant.place.file.clone(), mutant.place.line, mutant.place.column);
                let key = (place, mutant.mutation.clone(), mutant.before.clone(), mutant.after.clone());
                let at = *known.entry(key).or_insert(list.len());
                match list.get_mut(at) {
                    Some(other) => other.take(mutant),
                    None => {
                        mutant.id = u32::try_from(at + 1).expect("mutants fit into a text");
                        list.push(mutant);
                    }
                }
            }
        }
        Self::new(list, tests, left_out)
    }

    /// For a person: the mutants that nothing notices, then what all come to.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for mutant in self.list.iter().filter(|mutant| mutant.state == MutantState::Alive) {
            line(&mut text, format_args!("{}", mutant.sentence()));
        }
        for what in &self.left_out {
            line(&mut text, format_args!("note: {what}"));
        }
        line(&mut text, format_args!("{}", self.sentence()));
        text
    }

    /// `41 of 50 mutants killed by 6 tests (82 %), 9 alive, 3 equivalent`.
    pub fn sentence(&self) -> String {
        let MutationCounts { mutants, killed, alive, equivalent, undecided } = self.counts;
        let mut text = format!(
            "{killed} of {} killed by {} ({:.0} %), {alive} alive",
            counted(mutants - equivalent, "mutant"),
            counted(self.tests, "test"),
            self.counts.percentage(),
        );
        if equivalent > 0 {
            text.push_str(&format!(", {equivalent} equivalent"));
        }
        if undecided > 0 {
            text.push_str(&format!(", {undecided} undecided"));
        }
        text
    }
}

impl MutationCounts {
    /// The share that is killed of those that are not equivalent.
    pub fn percentage(&self) -> f64 {
        let n = self.mutants - self.equivalent;
        if n == 0 { 100.0 } else { self.killed as f64 * 100.0 / n as f64 }
    }
}

impl MutantLine {
    /// `f.c:3:9: n < 3 becomes n <= 3: 4 tests reach it and none notices`.
    pub fn sentence(&self) -> String {
        let SourcePosition { file, line, column } = &self.place;
        let change = match self.mutation.as_str() {
            "statement" => format!("{} is left out", self.before),
            "condition" => {
                let truth = if self.after == "1" { "true" } else { "false" };
                format!("{} is always {truth}", self.before)
            }
            _ => format!("{} becomes {}", self.before, self.after),
        };
        let why = match self.reached {
            0 => "no test reaches it".to_owned(),
            1 => "one test reaches it and does not notice".to_owned(),
            n => format!("{n} tests reach it and none notices"),
        };
        format!("{file}:{line}:{column}: {change}: {why}")
    }

    /// The same mutant, met by the tests of another function.
    fn take(&mut self, other: Self) {
        let rank = |state| match state {
            MutantState::Killed => 0,
            MutantState::Equivalent => 1,
            MutantState::Undecided => 2,
            MutantState::Alive => 3,
        };
        self.reached += other.reached;
        if rank(other.state) < rank(self.state) {
            (self.state, self.test, self.shows) = (other.state, other.test, other.shows);
        }
    }
}
