//! A campaign as text: the suite, what is covered, what is not and why.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use coverage::{Evidence, Goal, GoalId, Reason, Status, TestId};
use engine::campaign::{CampaignResult, Finding, Test};
use model::Program;

use report::PAGE_FILE;
use report::confirmation::Confirmation;
use report::place::{UNKNOWN_PLACE, place};
use report::record::{EvidenceRecord, Gap, Likeness, Stop, StubRecord, Summary};
use report::words::{argument, counted, goal_word, known_by, line};
use runner::end_text::{end_text, sighting_text};
use runner::store::writer::reproduce;
use runner::subject::Subject;

/// Undecided goals, crashes and gaps shown before the rest is left to the files.
const SHOWN: usize = 10;
/// Lines of the argument for an infeasible goal.
const ARGUMENTS: usize = 3;

/// What a report is made from.
pub struct CampaignText<'a> {
    pub subject: &'a Subject,
    pub result: &'a CampaignResult,
    /// What new tests are like, when tests that were there already are augmented.
    pub likenesses: &'a BTreeMap<TestId, Likeness>,
    pub is_augmented: bool,
    pub summary: &'a Summary,
    pub stubs: &'a [StubRecord],
    pub gaps: &'a [Gap],
    /// What other tools say, when they were asked.
    pub confirmation: Option<&'a Confirmation>,
}

impl CampaignText<'_> {
    /// The whole text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for test in self.result.tests.iter().filter(|test| !self.was_there(test)) {
            self.test(&mut text, test);
        }
        if !self.result.tests.is_empty() {
            text.push('\n');
        }
        self.augmented(&mut text);
        self.summary_line(&mut text);
        self.early_end(&mut text);
        self.undecided(&mut text);
        self.infeasible(&mut text);
        self.findings(&mut text, "crash", &self.result.crashes, "crashes");
        self.findings(&mut text, "hang", &self.result.hangs, "hangs");
        self.suspicions(&mut text);
        self.trouble(&mut text);
        self.stubs(&mut text);
        self.gaps(&mut text);
        if let Some(confirmation) = self.confirmation {
            text.push('\n');
            text.push_str(&confirmation.text());
        }
        line(&mut text, format_args!("results: {}", self.summary.out.display()));
        let page = self.summary.out.join(PAGE_FILE);
        if page.is_file() {
            line(&mut text, format_args!("report: {}", page.display()));
        }
        text
    }

    fn program(&self) -> &Program {
        self.subject.program()
    }

    fn test(&self, text: &mut String, test: &Test) {
        let Test { id, end, provenance, .. } = test;
        let unchecked = if test.is_unchecked { ", unchecked" } else { "" };
        line(text, format_args!("{id}  {}  {end}  [{}{unchecked}]", self.call(test), provenance.word()));
        if let Some(likeness) = self.likenesses.get(id) {
            line(text, format_args!("    {likeness}"));
        }
        for goal in &test.covers {
            line(text, format_args!("    {}", self.goal(*goal)));
        }
    }

    /// Of augmented tests those that were there already are not told again.
    fn was_there(&self, test: &Test) -> bool {
        self.is_augmented && test.provenance.imported().is_some()
    }

    /// `12 tests were there and cover 30 branches; 4 new ones cover 6 more`.
    fn augmented(&self, text: &mut String) {
        if !self.is_augmented {
            return;
        }
        let (old, new): (Vec<&Test>, Vec<&Test>) =
            self.result.tests.iter().partition(|test| self.was_there(test));
        let covered: BTreeSet<GoalId> = old.iter().flat_map(|test| test.satisfies.iter().copied()).collect();
        let more: BTreeSet<GoalId> = new.iter().flat_map(|test| test.satisfies.iter().copied()).collect();
        let n_more = more.difference(&covered).count();
        let (were, cover) = if old.len() == 1 { ("was", "covers") } else { ("were", "cover") };
        line(
            text,
            format_args!(
                "{} {were} there and {cover} {}{}",
                counted(old.len(), "test"),
                counted(covered.len(), "goal"),
                match new.len() {
                    0 => ", and no test was added".to_owned(),
                    1 => format!("; 1 new one covers {n_more} more"),
                    n => format!("; {n} new ones cover {n_more} more"),
                },
            ),
        );
    }

    fn call(&self, test: &Test) -> String {
        self.subject.call(&test.input)
    }

    fn goal(&self, id: GoalId) -> String {
        self.described(self.result.coverage.goal(id))
    }

    /// `bubble.c:12:9  (n >= 6) is true`, and the criterion when there are several.
    fn described(&self, goal: &Goal) -> String {
        let is_several = self.summary.per_criterion.len() > 1;
        let criterion = if is_several { format!("  [{}]", goal.criterion) } else { String::new() };
        format!("{}  {}{criterion}", place(self.program(), goal.span), goal.describe(self.program()))
    }

    /// `8 of 8 branches covered by 3 tests (12 executions, 0.4 s)`.
    fn summary_line(&self, text: &mut String) {
        let summary = self.summary;
        for (criterion, counts) in &summary.per_criterion {
            if summary.per_criterion.len() > 1 {
                line(text, format_args!("{}", counts.share(goal_word(criterion))));
            }
        }
        let mut criteria = summary.per_criterion.keys();
        let word = match (criteria.next(), criteria.next()) {
            (Some(criterion), None) => goal_word(criterion),
            (None, _) | (Some(_), Some(_)) => "goals",
        };
        line(
            text,
            format_args!(
                "{} covered by {}{}{} ({}, {:.1} s)",
                summary.goals.share(word),
                counted(summary.tests, "test"),
                self.other_witnesses(),
                only_by_crash(summary.goals.only_by_crash),
                counted(usize::try_from(summary.executions).unwrap_or(usize::MAX), "execution"),
                summary.seconds,
            ),
        );
    }

    /// That a search ended although there was time left.
    fn early_end(&self, text: &mut String) {
        if self.summary.stop == Stop::Exhausted && self.summary.goals.undecided > 0 {
            line(text, format_args!("stopped early: nothing was left to try"));
        }
    }

    /// Inputs outside the suite that alone cover a goal.
    fn other_witnesses(&self) -> String {
        let needed =
            |findings: &[Finding]| findings.iter().filter(|found| !found.test.covers.is_empty()).count();
        let mut text = String::new();
        for (findings, word) in
            [(&self.result.crashes, "crashing input"), (&self.result.hangs, "hanging input")]
        {
            let n = needed(findings);
            if n > 0 {
                write!(text, " and {}", counted(n, word)).expect("writing to a string succeeds");
            }
        }
        text
    }

    /// The undecided goals by their cause, those of the most frequent one first.
    fn undecided(&self, text: &mut String) {
        let mut groups: BTreeMap<&'static str, Vec<(&Goal, &Reason)>> = BTreeMap::new();
        for (_, goal, status) in self.result.coverage.goals() {
            match status {
                Status::Undecided(reason) => {
                    groups.entry(reason.cause.word()).or_default().push((goal, reason))
                }
                Status::Covered { .. } | Status::Infeasible { .. } => {}
            }
        }
        let mut groups: Vec<(&'static str, Vec<(&Goal, &Reason)>)> = groups.into_iter().collect();
        groups.sort_by_key(|(_, goals)| std::cmp::Reverse(goals.len()));
        let n_open: usize = groups.iter().map(|(_, goals)| goals.len()).sum();
        if n_open == 0 {
            return;
        }
        let causes: Vec<String> =
            groups.iter().map(|(cause, goals)| format!("{} {cause}", goals.len())).collect();
        let counts = if n_open > 1 { format!(" ({})", causes.join(", ")) } else { String::new() };
        line(text, format_args!("\nundecided{counts}:"));
        let share = SHOWN.div_ceil(groups.len());
        let shown = groups.iter().flat_map(|(_, goals)| goals.iter().take(share)).take(SHOWN);
        let mut n_shown = 0;
        for (goal, reason) in shown {
            let reason = reason.describe(self.program());
            line(text, format_args!("    {}: {reason}", self.described(goal)));
            n_shown += 1;
        }
        if n_open > n_shown {
            line(text, format_args!("    and {} more, see goals.jsonl", n_open - n_shown));
        }
    }

    fn infeasible(&self, text: &mut String) {
        let goals = self.result.coverage.goals().filter_map(|(_, goal, status)| match status {
            Status::Infeasible { evidence } => Some((goal, evidence)),
            Status::Covered { .. } | Status::Undecided(_) => None,
        });
        let proved: Vec<(&Goal, &Evidence)> = goals.collect();
        if proved.is_empty() {
            return;
        }
        line(text, format_args!("\ninfeasible:"));
        for (goal, evidence) in proved.iter().take(SHOWN) {
            let at = place(self.program(), goal.span);
            let (demand, known) = (goal.describe(self.program()), known_by(&evidence.proof, &evidence.under));
            line(text, format_args!("    {at}  {demand}: {known}"));
            let EvidenceRecord { invariants, how, .. } = (*evidence).into();
            for reason in argument(&invariants, &how).iter().take(ARGUMENTS) {
                line(text, format_args!("        {reason}"));
            }
        }
        more(text, proved.len(), "goals.jsonl");
    }

    fn findings(&self, text: &mut String, word: &str, findings: &[Finding], directory: &str) {
        let different: Vec<&Finding> = findings.iter().filter(|finding| finding.is_distinct()).collect();
        if different.is_empty() {
            return;
        }
        line(text, format_args!("\n{}:", if different.len() == 1 { word } else { directory }));
        for finding in different.iter().take(SHOWN) {
            let Test { id, end, provenance, .. } = &finding.test;
            let call = self.call(&finding.test);
            let file = format!("{directory}/{id}.json");
            match &finding.sighting {
                Some(sighting) if end.is_orderly() => {
                    let shown = sighting_text(self.program(), sighting);
                    line(text, format_args!("    {file}  {call}  {shown}  [{}]", provenance.word()));
                }
                Some(sighting) => {
                    let end = end_text(self.program(), *end);
                    line(text, format_args!("    {file}  {call}  {end}  [{}]", provenance.word()));
                    line(text, format_args!("        {}", sighting_text(self.program(), sighting)));
                }
                None => {
                    let end = end_text(self.program(), *end);
                    line(text, format_args!("    {file}  {call}  {end}  [{}]", provenance.word()));
                }
            }
            self.stack(text, finding);
            let same = findings.iter().filter(|other| other.repeats == Some(*id));
            for goal in std::iter::once(*finding).chain(same).flat_map(|finding| &finding.test.covers) {
                line(text, format_args!("        only here: {}", self.goal(*goal)));
            }
            if finding.sighting.is_some() {
                let command = reproduce(&self.summary.out.join(&file));
                line(text, format_args!("        reproduce: {command}"));
            }
        }
        more(text, different.len(), directory);
    }

    /// The calls that led to a finding, or the function that it is in.
    fn stack(&self, text: &mut String, finding: &Finding) {
        let frames = finding.sighting.iter().flat_map(|sighting| &sighting.stack);
        let told: Vec<String> = frames
            .map(|(function, span)| format!("{function} ({})", place(self.program(), Some(*span))))
            .collect();
        if !told.is_empty() {
            line(text, format_args!("        in {}", told.join(", called by ")));
            return;
        }
        let function = finding.at.map(|(function, _)| self.program().function(function));
        // the last outcome before may lie in the harness
        let is_told = |function: &&model::Function| !function.name.starts_with("__quarry_");
        if let Some(function) = function.filter(is_told) {
            let at = match function.span {
                Some(_) => place(self.program(), function.span),
                None => "undefined".to_owned(),
            };
            line(text, format_args!("        in {} ({at})", function.name));
        }
    }

    /// What looked like a finding.
    fn suspicions(&self, text: &mut String) {
        let n = self.result.suspicions.len();
        if n > 0 {
            let what = counted(n, "suspicion");
            line(text, format_args!("note: {what} that no native run shows (see suspicions/)"));
        }
    }

    fn trouble(&self, text: &mut String) {
        let result = self.result;
        let notes = [
            (result.shortages.nodes, "executions that ran out of expression nodes and continued concretely"),
            (result.shortages.log, "executions that ran out of path log"),
            (result.shortages.cells, "executions that requested more cells than fit"),
            (result.shortages.overwritten, "executions in which other code overwrote symbolic bytes"),
            (result.shortages.threads, "executions that tried to start a thread or process and were refused"),
            (
                result.shortages.large_objects,
                "executions with a symbolic index into an object too large for a table",
            ),
            (result.shortages.rejected, "executions excluded by an assumption of the program"),
            (result.divergences, "executions that left their predicted path"),
            (
                result.n_unlike,
                "executions that went differently in a process of their own; no process was reused after that",
            ),
            (result.unrepeated, "candidates dropped because their execution was not repeatable"),
            (result.candidates_left_out, "candidates left out because there were too many"),
            (
                result.n_memory_met,
                "times memory was short (--memory), so that results of executions were let go",
            ),
            (result.n_troubles, "executions that could not be interpreted (see logs/troubles.txt)"),
        ];
        for coupling in self.subject.couplings() {
            line(text, format_args!("note: {coupling} (--no-couple: any number)"));
        }
        for (n, what) in notes.into_iter().filter(|(n, _)| *n > 0) {
            line(text, format_args!("note: {what}: {n}"));
        }
    }

    fn stubs(&self, text: &mut String) {
        if self.stubs.is_empty() {
            return;
        }
        line(text, format_args!("\nstubs for undefined functions (--stubs FILE.c provides your own):"));
        for stub in self.stubs.iter().take(SHOWN) {
            let calls = stub.calls.map(|n| format!(", {} in a test", at_most(n))).unwrap_or_default();
            line(text, format_args!("    {}  {}{calls}", stub.prototype, stub.does));
        }
        more(text, self.stubs.len(), "run.json");
    }

    fn gaps(&self, text: &mut String) {
        if self.gaps.is_empty() {
            return;
        }
        line(text, format_args!("\nnot supported, executed concretely:"));
        let groups = alike(self.gaps);
        for (gap, n_more) in groups.iter().take(SHOWN) {
            let more = if *n_more > 0 { format!(", and at {n_more} more places") } else { String::new() };
            let runs =
                gap.runs.map(|n| format!(" ({})", counted(usize::try_from(n).unwrap_or(usize::MAX), "run")));
            let runs = runs.unwrap_or_default();
            line(text, format_args!("    {}  {}: {}{runs}{more}", place_of(gap), gap.kind, gap.what));
        }
        more(text, groups.len(), "run.json");
    }
}

/// The first gap of each kind, and how many others are like it.
fn alike(gaps: &[Gap]) -> Vec<(&Gap, usize)> {
    let mut groups: Vec<(&Gap, usize)> = Vec::new();
    for gap in gaps {
        match groups.iter_mut().find(|(first, _)| (&first.kind, &first.what) == (&gap.kind, &gap.what)) {
            Some((_, n_more)) => *n_more += 1,
            None => groups.push((gap, 0)),
        }
    }
    groups
}

/// Where a gap is: its position, or the function when that is all that is known.
fn place_of(gap: &Gap) -> String {
    match &gap.function {
        Some(function) if gap.at == UNKNOWN_PLACE => format!("in {function}"),
        Some(_) | None => gap.at.clone(),
    }
}

/// Of the goals that are covered.
fn only_by_crash(n: usize) -> String {
    if n == 0 { String::new() } else { format!(", {n} of them only by a crash") }
}

fn at_most(n_calls: usize) -> String {
    if n_calls == 0 { "no call".to_owned() } else { format!("at most {}", counted(n_calls, "call")) }
}

fn more(text: &mut String, n: usize, file: &str) {
    if n > SHOWN {
        line(text, format_args!("    and {} more, see {file}", n - SHOWN));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gap(at: &str, what: &str, function: &str) -> Gap {
        let kind = "vector code".to_owned();
        Gap {
            kind,
            what: what.to_owned(),
            at: at.to_owned(),
            function: Some(function.to_owned()),
            runs: None,
        }
    }

    #[test]
    fn gaps_that_are_alike_are_told_once_with_the_first_place() {
        let gaps =
            [gap("?", "bitcast", "load"), gap("a.c:3:4", "shuffle", "f"), gap("?", "bitcast", "store")];
        let groups = alike(&gaps);
        let told: Vec<_> = groups.iter().map(|(gap, n_more)| (place_of(gap), *n_more)).collect();
        assert_eq!(told, [("in load".to_owned(), 1), ("a.c:3:4".to_owned(), 0)]);
    }
}
