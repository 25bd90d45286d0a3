//! Which of a campaign's inputs can be kept as tests, and which of its findings are true?
//!
//! Method: everything runs with sanitizers. An error in an object of the harness is [settled](super::enlarge): the object was too
//! small, and the test gets a larger one, or it is a finding. Any other error is one, and so is an error that another input
//! of the search shows. What nothing shows, or what could not be settled, is a suspicion. Findings of the same kind at the same
//! place with the same stack are one.

use std::collections::BTreeMap;

use coverage::{GoalId, TestId};
use engine::campaign::{CampaignResult, Finding, Provenance, Sighting, Test};
use engine::executor::{End, Output};
use model::SpanId;
use model::input::{Input, Kind, Node, Objects, Pointed, Shape};

use super::enlarge::{Settled, roomy, settle};
use super::probe::probes;
use super::{Checker, CleanEnd, Verdict};
use crate::error::Error;
use crate::measure::Measurer;
use crate::subject::Subject;
use report::record::Expected;

/// How reports call an access at the address 0 or near it.
const NULL_POINTER: &str = "through a null pointer";

/// Probes of one start of the program, and how many may take too long before the others are left out.
const PROBES_AT_A_TIME: usize = 64;
const MOST_SLOW: usize = 2;
/// Errors of one group that are settled one by one; when none of them was a finding, the others are not looked at.
const MOST_SETTLED: usize = 2;

/// Errors that were due to the harness, by group.
#[derive(Default)]
struct Dismissed(BTreeMap<Group, usize>);

impl Dismissed {
    /// Whether errors like this one were due to the harness, as far as they were looked at.
    fn has(&self, sighting: &Sighting) -> bool {
        self.0.get(&group(sighting)).is_some_and(|n| *n >= MOST_SETTLED)
    }
}

/// How many further inputs are tried, and the seed they come from.
#[derive(Clone, Copy, Debug)]
pub struct Probing {
    pub n: usize,
    pub seed: u64,
}

/// Sorts the tests and findings of a campaign by what a native run shows. A test for which the time does not suffice is marked.
pub fn vet(
    checker: &Checker<'_>,
    subject: &Subject,
    measurer: &mut Measurer<'_>,
    result: &mut CampaignResult,
) -> Result<(), Error> {
    // tests first: one that was not checked cannot be relied on, an unchecked finding is still confirmed natively
    let tests: Vec<&Input> = result.tests.iter().map(|test| &test.input).collect();
    let of_tests = checker.check(&tests)?;
    // what may be wrong only because of the harness
    let mut settled = settle_all(checker, subject, &tests, &of_tests)?;
    let (mut kept, mut wrong) = (Vec::new(), Vec::new());
    for ((number, mut test), verdict) in
        std::mem::take(&mut result.tests).into_iter().enumerate().zip(of_tests)
    {
        let is_sound = match (settled.remove(&number), verdict) {
            (Some(Settled::Enlarged(input)), _) => remeasured(measurer, &result.coverage, &mut test, input),
            (Some(Settled::Unknown), _) => false,
            (Some(Settled::Finding) | None, Verdict::Wrong { sighting, .. }) => {
                wrong.push(finding(test, Some(sighting)));
                continue;
            }
            (_, Verdict::Clean { end, .. }) => ends_like(subject, test.end, end),
            // sanitizers slow a program down: the native run that records what is expected decides
            (_, Verdict::Rejected | Verdict::TimedOut) => true,
            (_, Verdict::Unknown) => {
                test.is_unchecked = checker.is_cut_off();
                true
            }
        };
        if is_sound {
            kept.push(test);
        } else {
            result.suspicions.push(finding(test, None));
        }
    }
    result.tests = kept;
    let findings = result.crashes.iter().chain(&result.hangs).map(|finding| &finding.test.input);
    let mut of_findings = checker.check(&findings.collect::<Vec<_>>())?;
    enlarge_findings(checker, subject, measurer, result, &mut of_findings)?;
    result.crashes.extend(wrong);
    settle_findings(result, of_findings);
    // numbered and with witnesses as they are now
    result.renumber();
    Ok(())
}

/// Looks for errors that the search did not run into: with other inputs of the search, then with inputs made for it.
pub fn look_for_errors(
    checker: &Checker<'_>,
    subject: &Subject,
    measurer: &mut Measurer<'_>,
    probing: Probing,
    result: &mut CampaignResult,
) -> Result<(), Error> {
    let mut dismissed = Dismissed::default();
    let others = std::mem::take(&mut result.others);
    let inputs: Vec<&Input> = others.iter().map(|(input, _)| input).collect();
    let verdicts = checker.check(&inputs)?;
    for ((input, provenance), verdict) in others.into_iter().zip(verdicts) {
        match verdict {
            Verdict::Clean { .. } => result.others.push((input, provenance)),
            verdict => take_error(checker, subject, result, &mut dismissed, (input, provenance), verdict)?,
        }
    }
    result.renumber();
    probe(checker, subject, measurer, probing, result, &mut dismissed)
}

/// Tries inputs that the search did not: for errors, and for goals that only crashes cover.
fn probe(
    checker: &Checker<'_>,
    subject: &Subject,
    measurer: &mut Measurer<'_>,
    probing: Probing,
    result: &mut CampaignResult,
    dismissed: &mut Dismissed,
) -> Result<(), Error> {
    let findings = result.crashes.iter().map(|finding| &finding.test);
    let bases: Vec<&Input> = result.tests.iter().chain(findings).map(|test| &test.input).collect();
    let probes = probes(subject.shape(), &bases, probing.n, probing.seed);
    let mut n_slow = 0;
    for batch in probes.chunks(PROBES_AT_A_TIME) {
        // with the room that others needed: an error that is due to the harness is no news, and costs a process
        let batch: Vec<Input> = batch.iter().map(|input| roomy(checker, subject.shape(), input)).collect();
        let verdicts = checker.check_roughly(&batch.iter().collect::<Vec<_>>())?;
        n_slow += verdicts.iter().filter(|verdict| **verdict == Verdict::TimedOut).count();
        for (input, verdict) in batch.into_iter().zip(verdicts) {
            match verdict {
                Verdict::Clean { end, .. } => {
                    adopt(
                        Some(checker),
                        subject,
                        measurer,
                        result,
                        (&input, Provenance::Mutated),
                        Some(end),
                    )?;
                }
                Verdict::Wrong { sighting, .. } if is_known(result, &sighting) => {}
                Verdict::Wrong { sighting, in_harness: true } if dismissed.has(&sighting) => {}
                Verdict::Wrong { .. } => {
                    let verdict = alone(checker, &input)?;
                    take_error(checker, subject, result, dismissed, (input, Provenance::Mutated), verdict)?;
                }
                Verdict::TimedOut | Verdict::Rejected | Verdict::Unknown => {}
            }
        }
        // a function that often takes long would take all the time
        if n_slow > MOST_SLOW {
            break;
        }
    }
    Ok(())
}

/// Makes inputs tests that cover in order what is open, or what only crashes cover; without a checker they are
/// believed. Gives how many were.
pub fn adopt_clean(
    checker: Option<&Checker<'_>>,
    subject: &Subject,
    measurer: &mut Measurer<'_>,
    inputs: &[(Input, Provenance)],
    result: &mut CampaignResult,
) -> Result<usize, Error> {
    let mut n_adopted = 0;
    for (input, provenance) in inputs {
        n_adopted += usize::from(adopt(checker, subject, measurer, result, (input, *provenance), None)?);
    }
    Ok(n_adopted)
}

/// The same for one input; `seen` is how it seemed to end with sanitizers.
fn adopt(
    checker: Option<&Checker<'_>>,
    subject: &Subject,
    measurer: &mut Measurer<'_>,
    result: &mut CampaignResult,
    (input, provenance): (&Input, Provenance),
    seen: Option<CleanEnd>,
) -> Result<bool, Error> {
    let coverage = &mut result.coverage;
    // also what should not be possible
    if coverage.is_complete() && coverage.n_only_by_crash() + coverage.n_infeasible() == 0 {
        return Ok(false);
    }
    let Ok(measured) = measurer.measure(input) else { return Ok(false) };
    if !measured.end.is_orderly() || seen.is_some_and(|end| !ends_like(subject, measured.end, end)) {
        return Ok(false);
    }
    let satisfied = coverage.satisfied(&measured.observations);
    let is_news = |goal: &GoalId| !coverage.is_covered(*goal) || coverage.is_only_by_crash(*goal);
    if !satisfied.iter().any(is_news) {
        return Ok(false);
    }
    if let Some(checker) = checker {
        match alone(checker, input)? {
            Verdict::Clean { end, .. } if ends_like(subject, measured.end, end) => {}
            Verdict::Clean { .. }
            | Verdict::Wrong { .. }
            | Verdict::TimedOut
            | Verdict::Rejected
            | Verdict::Unknown => return Ok(false),
        }
    }
    let mut test = unnamed(measured.used, provenance);
    coverage.cover(test.id, &measured.observations);
    (test.satisfies, test.end, test.output) = (satisfied, measured.end, measured.output);
    result.tests.push(test);
    result.renumber();
    Ok(true)
}

/// What comes of an input in a process of its own.
fn alone(checker: &Checker<'_>, input: &Input) -> Result<Verdict, Error> {
    Ok(checker.check(&[input])?.pop().unwrap_or(Verdict::Unknown))
}

/// Whether a finding shows the same error.
fn is_known(result: &CampaignResult, sighting: &Sighting) -> bool {
    let mut known = result.crashes.iter().filter_map(|finding| finding.sighting.as_ref());
    known.any(|known| known.group() == sighting.group())
}

/// Makes an input a finding that shows a new error.
fn take_error(
    checker: &Checker<'_>,
    subject: &Subject,
    result: &mut CampaignResult,
    dismissed: &mut Dismissed,
    (input, provenance): (Input, Provenance),
    verdict: Verdict,
) -> Result<(), Error> {
    let Verdict::Wrong { sighting, in_harness } = verdict else { return Ok(()) };
    // that a function fails without an object to work on is no news
    if sighting.message.contains(NULL_POINTER) && has_null(subject.shape(), &input) {
        return Ok(());
    }
    if is_known(result, &sighting) {
        return Ok(());
    }
    if in_harness {
        if dismissed.has(&sighting) {
            return Ok(());
        }
        match settle(checker, subject.shape(), &[(&input, &sighting)])?.pop() {
            Some(Settled::Finding) => {}
            Some(Settled::Enlarged(_) | Settled::Unknown) | None => {
                *dismissed.0.entry(group(&sighting)).or_default() += 1;
                return Ok(());
            }
        }
    }
    result.crashes.push(finding(unnamed(input, provenance), Some(sighting)));
    Ok(())
}

/// Whether a pointer of an input is null.
fn has_null(shape: &Shape, input: &Input) -> bool {
    let objects = Objects::of(shape, input);
    let is_null = |node: &Node| match &node.kind {
        Kind::Pointer(pointer) => objects.pointed(pointer) == Pointed::Null,
        _ => false,
    };
    let members = |node: &Node| match &node.kind {
        Kind::Struct { members } => members.iter().any(is_null),
        Kind::Sized(sized) => sized.elements(input).iter().any(is_null),
        _ => is_null(node),
    };
    shape.roots.iter().chain(objects.objects.iter().map(|object| &object.node)).any(members)
}

/// Findings that a larger object of the harness makes tests, and those of which nobody knows whether it would.
fn enlarge_findings(
    checker: &Checker<'_>,
    subject: &Subject,
    measurer: &mut Measurer<'_>,
    result: &mut CampaignResult,
    verdicts: &mut Vec<Verdict>,
) -> Result<(), Error> {
    let inputs: Vec<&Input> = result.crashes.iter().map(|finding| &finding.test.input).collect();
    let settled = settle_all(checker, subject, &inputs, &verdicts[..inputs.len()])?;
    // from behind, so that numbers stay right
    for (number, settled) in settled.into_iter().rev() {
        let larger = match settled {
            Settled::Finding => continue,
            Settled::Enlarged(input) => measurer.measure(&input).ok(),
            Settled::Unknown => None,
        };
        let found = result.crashes.remove(number);
        verdicts.remove(number);
        let Some(measured) = larger.filter(|measured| measured.end.is_orderly()) else {
            result.suspicions.push(found);
            continue;
        };
        let mut test = found.test;
        let coverage = &result.coverage;
        let satisfied = coverage.satisfied(&measured.observations).into_iter();
        test.satisfies = satisfied.filter(|goal| !coverage.is_open(*goal)).collect();
        (test.covers, test.end) = (Vec::new(), measured.end);
        (test.input, test.output) = (measured.used, measured.output);
        result.tests.push(test);
    }
    Ok(())
}

/// Keeps the findings that a native run shows.
fn settle_findings(result: &mut CampaignResult, verdicts: Vec<Verdict>) {
    let mut verdicts = verdicts.into_iter();
    // those of tests that turned out to be wrong come behind, and are known
    let mut slow = Vec::new();
    for mut finding in std::mem::take(&mut result.crashes) {
        if finding.sighting.is_some() {
            result.crashes.push(finding);
            continue;
        }
        match verdicts.next().unwrap_or(Verdict::Unknown) {
            Verdict::Wrong { sighting, .. } => {
                finding.sighting = Some(sighting);
                result.crashes.push(finding);
            }
            Verdict::TimedOut => slow.push(finding),
            // a plain native build is asked
            Verdict::Unknown => result.crashes.push(finding),
            Verdict::Clean { .. } | Verdict::Rejected => {
                result.suspicions.push(finding);
            }
        }
    }
    for mut finding in std::mem::take(&mut result.hangs) {
        match verdicts.next().unwrap_or(Verdict::TimedOut) {
            Verdict::Wrong { sighting, .. } => {
                finding.sighting = Some(sighting);
                result.crashes.push(finding);
            }
            Verdict::TimedOut | Verdict::Unknown => result.hangs.push(finding),
            Verdict::Clean { .. } | Verdict::Rejected => {
                result.suspicions.push(finding);
            }
        }
    }
    result.hangs.extend(slow);
}

/// Of the alternatives of each test those that nothing is wrong with, enlarged where that helps. Alternatives without undefined
/// behaviour of any kind are preferred; the last one is known to be clean.
pub fn settle_alternatives(
    checker: &Checker<'_>,
    subject: &Subject,
    measurer: &mut Measurer<'_>,
    result: &CampaignResult,
    all: &mut [Vec<Test>],
) -> Result<(), Error> {
    let inputs: Vec<&Input> = all.iter().flatten().map(|test| &test.input).collect();
    let verdicts = checker.check(&inputs)?;
    let mut larger: BTreeMap<usize, Input> = BTreeMap::new();
    for (number, settled) in settle_all(checker, subject, &inputs, &verdicts)? {
        match settled {
            Settled::Enlarged(input) => drop(larger.insert(number, input)),
            Settled::Finding | Settled::Unknown => {}
        }
    }
    let mut verdicts = verdicts.into_iter().enumerate();
    for alternatives in all {
        let mut sound: Vec<(bool, Test)> = Vec::new();
        let found = alternatives.last().cloned();
        for mut test in std::mem::take(alternatives) {
            let (number, verdict) = verdicts.next().expect("a verdict per input");
            if let Some(input) = larger.remove(&number) {
                if remeasured(measurer, &result.coverage, &mut test, input) {
                    sound.push((false, test));
                }
                continue;
            }
            match verdict {
                Verdict::Clean { end, undefined } if ends_like(subject, test.end, end) => {
                    test.is_unchecked = false;
                    sound.push((undefined, test));
                }
                // nothing is known of any of them
                Verdict::Unknown | Verdict::Rejected if !checker.is_cut_off() => sound.push((false, test)),
                Verdict::Clean { .. }
                | Verdict::Wrong { .. }
                | Verdict::TimedOut
                | Verdict::Unknown
                | Verdict::Rejected => {}
            }
        }
        let best = sound.iter().map(|(undefined, _)| *undefined).min();
        *alternatives = sound
            .into_iter()
            .filter(|(undefined, _)| Some(*undefined) == best)
            .map(|(_, test)| test)
            .collect();
        if alternatives.is_empty() {
            alternatives.extend(found);
        }
    }
    Ok(())
}

/// Takes back what simplifying a finding changed, if it does not show the same any more.
pub fn show_again(
    checker: &Checker<'_>,
    found: &[Finding],
    result: &mut CampaignResult,
) -> Result<(), Error> {
    let inputs: Vec<&Input> = result.crashes.iter().map(|finding| &finding.test.input).collect();
    let verdicts = checker.check(&inputs)?;
    for ((finding, found), verdict) in result.crashes.iter_mut().zip(found).zip(verdicts) {
        match (verdict, &found.sighting) {
            (Verdict::Wrong { sighting, .. }, Some(before)) if sighting.group() == before.group() => {
                finding.sighting = Some(sighting);
            }
            _ => finding.test = found.test.clone(),
        }
    }
    Ok(())
}

/// The inputs of findings that no sanitizer was asked about.
pub fn unconfirmed(result: &CampaignResult) -> Vec<Input> {
    let findings = result.crashes.iter().filter(|finding| finding.sighting.is_none());
    findings.map(|finding| finding.test.input.clone()).collect()
}

/// Of the [`unconfirmed`] findings keeps those that a plain native run shows, by how it ends. Where there was no run, it is
/// enough that the instrumented program died.
pub fn keep_shown(ends: &BTreeMap<usize, Expected>, result: &mut CampaignResult) {
    let mut numbers = 0..;
    for mut finding in std::mem::take(&mut result.crashes) {
        if finding.sighting.is_some() {
            result.crashes.push(finding);
            continue;
        }
        match numbers.next().and_then(|number| ends.get(&number)) {
            Some(shown) if shown.end.starts_with("killed by") => {
                let (kind, message) = ("signal".to_owned(), shown.end.clone());
                finding.sighting = Some(Sighting { kind, message, place: None, stack: Vec::new() });
                result.crashes.push(finding);
            }
            None if !matches!(finding.test.end, End::OutOfBounds(_)) => result.crashes.push(finding),
            Some(_) | None => result.suspicions.push(finding),
        }
    }
}

/// Takes tests out of the suite that end differently natively; gives for each test left its place before.
pub fn suspect_differing(
    subject: &Subject,
    expected: &[Option<Expected>],
    result: &mut CampaignResult,
) -> Vec<usize> {
    let is_program = subject.function_under_test().is_none();
    let is_same = |test: &Test, expected: &Expected| match test.end {
        End::Returned if is_program => expected.end.starts_with("exited with"),
        end => expected.end == end.to_string(),
    };
    let mut places = Vec::new();
    for (place, test) in std::mem::take(&mut result.tests).into_iter().enumerate() {
        match expected.get(place).and_then(Option::as_ref) {
            Some(expected) if !is_same(&test, expected) => result.suspicions.push(finding(test, None)),
            Some(_) | None => {
                places.push(place);
                result.tests.push(test);
            }
        }
    }
    places
}

/// What errors have in common that are one: kind, place and stack.
type Group = (String, Option<SpanId>, Vec<SpanId>);

fn group(sighting: &Sighting) -> Group {
    let (kind, place, stack) = sighting.group();
    (kind.to_owned(), place, stack)
}

/// Makes findings one that are the same; those that repeat another stay for what they cover.
pub fn group_findings(result: &mut CampaignResult) {
    let mut first: BTreeMap<Group, (usize, TestId)> = BTreeMap::new();
    let mut kept: Vec<Finding> = Vec::new();
    for mut finding in std::mem::take(&mut result.crashes) {
        let Some(sighting) = &finding.sighting else {
            kept.push(finding);
            continue;
        };
        let group = group(sighting);
        match first.get(&group) {
            Some((index, id)) => {
                kept[*index].n_runs += finding.n_runs;
                finding.repeats = Some(*id);
                kept.push(finding);
            }
            None => {
                finding.repeats = None;
                first.insert(group, (kept.len(), finding.test.id));
                kept.push(finding);
            }
        }
    }
    result.crashes = kept;
}

/// Settles the inputs with an error in an object of the harness, by number.
fn settle_all(
    checker: &Checker<'_>,
    subject: &Subject,
    inputs: &[&Input],
    verdicts: &[Verdict],
) -> Result<BTreeMap<usize, Settled>, Error> {
    let mut numbers = Vec::new();
    let mut reported: Vec<(&Input, &Sighting)> = Vec::new();
    for (number, (input, verdict)) in inputs.iter().zip(verdicts).enumerate() {
        if let Verdict::Wrong { sighting, in_harness: true } = verdict {
            numbers.push(number);
            reported.push((input, sighting));
        }
    }
    Ok(numbers.into_iter().zip(settle(checker, subject.shape(), &reported)?).collect())
}

/// Whether a run ended in the instrumented program as it did natively. `main` of a program returns an exit code.
fn ends_like(subject: &Subject, end: End, native: CleanEnd) -> bool {
    let is_program = subject.function_under_test().is_none();
    match (end, native) {
        (End::Returned, CleanEnd::Returned) => true,
        (End::Returned, CleanEnd::Exited(_)) => is_program,
        (End::Exited(code), CleanEnd::Exited(native)) => code == native,
        _ => false,
    }
}

/// Gives a test another input, if it still ends in order and covers what the test was kept for.
fn remeasured(
    measurer: &mut Measurer<'_>,
    coverage: &coverage::Coverage,
    test: &mut Test,
    input: Input,
) -> bool {
    let Ok(measured) = measurer.measure(&input) else { return false };
    let satisfied = coverage.satisfied(&measured.observations);
    let is_half = |goal: &coverage::GoalId| coverage.goal(*goal).demand.half_of_pair().is_some();
    let serves = test.covers.iter().all(|goal| is_half(goal) || satisfied.contains(goal));
    if !serves || measured.end != test.end {
        return false;
    }
    let halves = test.covers.iter().copied().filter(is_half);
    let mut all: Vec<_> =
        satisfied.into_iter().chain(halves).filter(|goal| !coverage.is_open(*goal)).collect();
    all.sort_unstable();
    all.dedup();
    (test.satisfies, test.input, test.output) = (all, measured.used, measured.output);
    test.is_unchecked = false;
    true
}

fn finding(test: Test, sighting: Option<Sighting>) -> Finding {
    Finding { test, at: None, n_runs: 1, repeats: None, sighting }
}

/// An input that covers nothing else.
fn unnamed(input: Input, provenance: Provenance) -> Test {
    let (covers, satisfies) = (Vec::new(), Vec::new());
    let (end, output) = (End::Returned, Output::default());
    // a number of its own until all are numbered anew
    let id = TestId(u32::MAX);
    Test { id, input, provenance, end, covers, satisfies, output, is_unchecked: false }
}
