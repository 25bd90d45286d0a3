//! Which further inputs make a suite notice more of what could be wrong with the code?
//!
//! Method: the mutants that the suite does not notice ([`crate::mutants`]) are run with other inputs: those that the search ran and did not keep, those that tests were before
//! they were simplified, and variations of what was taken so far. An input that notices a mutant becomes a test, those first that print or return what no test does and
//! that reach most of what is not noticed. For programs it is simplified as long as it notices the same. Runs are counted, so that the same work is done on a slow machine;
//! a part of them is kept for each way. Limits: each mutant runs with a few tests of the suite only; equivalent mutants cost runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use coverage::Scope;
use engine::campaign::Provenance;
use engine::rng::Rng;
use engine::simplify::{Limits, Of, Try, simplify};
use model::input::Input;
use report::record::Expected;
use tracing::debug;

use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::mutants::{MutantProgram, Survey};
use crate::subject::Subject;
use crate::vary::varied;

/// A suite has no more tests than this because of mutants.
const MOST_TESTS: usize = 60;
/// A function's inputs are compiled: so many are tried.
const MOST_OF_FUNCTION: usize = 40;
/// Tests of the suite that a mutant runs with.
const MOST_PER_MUTANT: usize = 5;
/// Inputs that notice nothing of a mutant although they could, before it is given up, and mutants that one input is run on.
const MOST_TRIES: u32 = 12;
const MOST_PER_CANDIDATE: usize = 40;
/// Runs for which there must be one candidate less.
const RUNS_PER_CANDIDATE: usize = 8;
/// Variations of one input in a row that notice nothing new, before others have their turn.
const VARIATIONS: usize = 6;

/// What may be spent.
#[derive(Clone, Copy, Debug)]
pub struct Means<'a> {
    pub n_runs: usize,
    pub seed: u64,
    pub work: &'a Path,
    pub interrupt: &'a Interrupt,
}

/// An input that notices what the suite does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Added {
    pub input: Input,
    pub provenance: Provenance,
    /// How many mutants only it notices, of those before it.
    pub n_noticed: usize,
}

/// Finds inputs to add to `tests`, whose expected results are known, among `candidates`, the likeliest first, and their variations.
pub fn strengthen(
    subject: &Subject,
    scope: &Scope,
    tests: Vec<(Input, Expected)>,
    mut candidates: Vec<(Input, Provenance)>,
    means: Means<'_>,
) -> Result<Vec<Added>, Error> {
    let mut met: BTreeSet<String> =
        tests.iter().map(|(input, _)| subject.to_json(input).to_string()).collect();
    candidates.retain(|(input, _)| met.insert(subject.to_json(input).to_string()));
    let is_function = subject.invocation_of(&Input::default()).is_none();
    candidates.truncate(if is_function { MOST_OF_FUNCTION } else { means.n_runs / RUNS_PER_CANDIDATE });
    let inputs = tests.iter().map(|(input, _)| input).chain(candidates.iter().map(|(input, _)| input));
    let program = MutantProgram::build(subject, scope, inputs.cloned().collect(), means.work)?;
    let alive = program.mutants().map(|(_, mutant)| mutant.number).collect();
    let mut search = Search {
        subject,
        program: &program,
        interrupt: means.interrupt,
        left: means.n_runs,
        alive,
        n_tries: BTreeMap::new(),
        outputs: BTreeSet::new(),
        n_tests: tests.len(),
        added: Vec::new(),
        noticed: Vec::new(),
        rng: Rng::new(means.seed),
    };
    search.take_in_suite(&tests)?;
    search.left = search.left.max(means.n_runs / 2);
    search.try_candidates(tests.len(), &candidates)?;
    if program.takes_any_input() {
        search.left = search.left.max(means.n_runs / 4);
        search.try_variations(&tests)?;
        search.left = means.n_runs / 4;
        search.simplify_added()?;
    }
    debug!(n_alive = search.alive.len(), n_added = search.added.len(), "strengthened");
    Ok(search.added)
}

/// Leaves so many, from all parts of the list.
pub fn thin_out<T>(list: &mut Vec<T>, most: usize) {
    let n = list.len();
    if n > most {
        let mut index = 0;
        list.retain(|_| {
            let stays = index * most / n != (index + 1) * most / n;
            index += 1;
            stays
        });
    }
}

struct Search<'a> {
    subject: &'a Subject,
    program: &'a MutantProgram<'a>,
    interrupt: &'a Interrupt,
    /// Runs that may still be made.
    left: usize,
    /// Mutants that nothing notices so far.
    alive: BTreeSet<u32>,
    /// How often one was run with an input that could notice it, and did not.
    n_tries: BTreeMap<u32, u32>,
    /// What runs show that were looked at.
    outputs: BTreeSet<String>,
    n_tests: usize,
    added: Vec<Added>,
    /// What each of them notices.
    noticed: Vec<BTreeSet<u32>>,
    rng: Rng,
}

/// An input that could be added.
struct Candidate<'c> {
    number: usize,
    input: &'c Input,
    provenance: Provenance,
    survey: Survey,
}

impl Search<'_> {
    fn is_over(&self) -> bool {
        self.left == 0
            || self.interrupt.is_requested()
            || self.n_tests + self.added.len() >= MOST_TESTS
            || self.alive.is_empty()
    }

    fn spend(&mut self, n_runs: usize) {
        self.left = self.left.saturating_sub(n_runs);
    }

    /// Finds out what the suite notices already.
    fn take_in_suite(&mut self, tests: &[(Input, Expected)]) -> Result<(), Error> {
        let mut reached = Vec::new();
        for (number, (_, expected)) in tests.iter().enumerate() {
            if self.interrupt.is_requested() {
                return Ok(());
            }
            self.spend(2);
            reached.push(self.program.reached(number, expected, 0, self.interrupt)?);
        }
        for mutant in self.alive.clone() {
            let reaching = reached.iter().enumerate().filter_map(|(number, reached)| {
                let reached = reached.as_ref()?;
                reached.differing.contains(&mutant).then_some((number, reached.limit))
            });
            for (number, limit) in reaching.take(MOST_PER_MUTANT) {
                if self.left == 0 || self.interrupt.is_requested() {
                    return Ok(());
                }
                self.spend(1);
                let (input, expected) = &tests[number];
                let test = (number, input);
                if self.program.notices(test, mutant, (expected, limit), 0, self.interrupt)? {
                    self.alive.remove(&mutant);
                    break;
                }
                *self.n_tries.entry(mutant).or_default() += 1;
            }
        }
        Ok(())
    }

    /// Mutants that an input could notice, those first that were tried least.
    fn promising(&self, survey: &Survey) -> Vec<u32> {
        let tries = |mutant: &u32| self.n_tries.get(mutant).copied().unwrap_or(0);
        let mut mutants: Vec<u32> = survey
            .differing
            .intersection(&self.alive)
            .copied()
            .filter(|mutant| tries(mutant) < MOST_TRIES)
            .collect();
        mutants.sort_by_key(|mutant| (tries(mutant), *mutant));
        mutants.truncate(MOST_PER_CANDIDATE);
        mutants
    }

    /// Adds candidates that notice something.
    fn try_candidates(&mut self, first: usize, candidates: &[(Input, Provenance)]) -> Result<(), Error> {
        let mut all = Vec::new();
        for ((input, provenance), number) in candidates.iter().zip(first..) {
            if self.is_over() {
                break;
            }
            self.spend(1);
            let survey = self.program.survey((number, input), 0, self.interrupt)?;
            all.extend(survey.map(|survey| Candidate { number, input, provenance: *provenance, survey }));
        }
        // what shows something new notices most; of these those that could notice most, and the plainest first
        all.sort_by_cached_key(|candidate| {
            let is_new = self.outputs.insert(candidate.survey.output.clone());
            let n_promising = self.promising(&candidate.survey).len();
            (!is_new, usize::MAX - n_promising, self.subject.to_json(candidate.input).to_string().len())
        });
        for candidate in all {
            if self.is_over() {
                break;
            }
            self.consider(candidate)?;
        }
        Ok(())
    }

    /// Adds an input if it notices something.
    fn consider(&mut self, candidate: Candidate<'_>) -> Result<bool, Error> {
        let Candidate { number, input, provenance, survey } = candidate;
        let promising = self.promising(&survey);
        if promising.is_empty() {
            return Ok(false);
        }
        self.spend(2);
        let test = (number, input);
        let Some((expected, limit)) = self.program.expect(test, 0, self.interrupt)? else { return Ok(false) };
        let mut noticed = BTreeSet::new();
        for mutant in promising {
            if self.is_over() {
                break;
            }
            self.spend(1);
            if self.program.notices(test, mutant, (&expected, limit), 0, self.interrupt)? {
                noticed.insert(mutant);
            } else {
                *self.n_tries.entry(mutant).or_default() += 1;
            }
        }
        if noticed.is_empty() {
            return Ok(false);
        }
        self.alive.retain(|mutant| !noticed.contains(mutant));
        self.added.push(Added { input: input.clone(), provenance, n_noticed: noticed.len() });
        self.noticed.push(noticed);
        Ok(true)
    }

    /// Adds variations of tests that notice something.
    fn try_variations(&mut self, tests: &[(Input, Expected)]) -> Result<(), Error> {
        let mut bases: Vec<Input> = self.added.iter().map(|added| added.input.clone()).collect();
        bases.extend(tests.iter().map(|(input, _)| input.clone()));
        let Of::Program(shape, _) = self.subject.simplified() else { return Ok(()) };
        let compared = self.subject.compared_numbers();
        let mut at = 0;
        while !self.is_over() && !bases.is_empty() {
            let base = bases[at % bases.len()].clone();
            at += 1;
            for _ in 0..VARIATIONS {
                if self.is_over() {
                    return Ok(());
                }
                let other = bases[self.rng.below(bases.len())].clone();
                self.spend(1);
                let input = varied(shape, &base, &other, &compared, &mut self.rng);
                let Some(input) = input else { continue };
                let Some(survey) = self.program.survey((0, &input), 0, self.interrupt)? else { continue };
                let candidate =
                    Candidate { number: 0, input: &input, provenance: Provenance::Mutated, survey };
                if self.consider(candidate)? {
                    bases.push(input);
                }
            }
        }
        Ok(())
    }

    /// Makes what was added simpler, while it notices the same.
    fn simplify_added(&mut self) -> Result<(), Error> {
        let n_each = self.left / self.added.len().max(1);
        let noticed = std::mem::take(&mut self.noticed);
        for (number, noticed) in noticed.iter().enumerate() {
            let input = self.added[number].input.clone();
            self.added[number].input = self.simplified(&input, noticed, n_each)?;
        }
        Ok(())
    }

    fn simplified(&self, input: &Input, noticed: &BTreeSet<u32>, n_runs: usize) -> Result<Input, Error> {
        let of = self.subject.simplified();
        if matches!(of, Of::Function(_)) {
            return Ok(input.clone());
        }
        let (mut spent, mut failure) = (0, None);
        let limits = Limits { n_tries: n_runs, is_over: &|| self.interrupt.is_requested() };
        let simpler = simplify(of, input, limits, &mut |tried| {
            if spent >= n_runs || self.interrupt.is_requested() {
                return Try::Stop;
            }
            let mut holds = || -> Result<bool, Error> {
                spent += 2;
                let test = (0, tried);
                let Some((expected, limit)) = self.program.expect(test, 0, self.interrupt)? else {
                    return Ok(false);
                };
                for mutant in noticed {
                    spent += 1;
                    if !self.program.notices(test, *mutant, (&expected, limit), 0, self.interrupt)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            };
            match holds() {
                Ok(true) => Try::Holds(tried.clone()),
                Ok(false) => Try::Fails,
                Err(error) => {
                    failure = Some(error);
                    Try::Stop
                }
            }
        });
        failure.map_or(Ok(simpler), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_comes_from_all_parts_of_a_list() {
        let mut list: Vec<u32> = (0..100).collect();
        thin_out(&mut list, 4);
        assert_eq!(list, [24, 49, 74, 99]);
        thin_out(&mut list, 9);
        assert_eq!(list.len(), 4);
    }
}
