//! What came of a job? The state takes it in, sources and the observer hear of it.

use std::sync::Arc;

use model::input::Key;

use super::source::{News, Origin, RunNews};
use super::state::MAX_EXAMPLES;
use super::suite::{Kept, SuiteSlot};
use super::worker::{JobReport, Outcome, Ran};
use super::{Campaign, Provenance, Trouble};
use crate::pool::Run;

impl Campaign<'_> {
    pub(super) fn merge(&mut self, report: JobReport, origin: Origin) {
        let result = &mut self.state.result;
        result.queries.add(report.queries);
        result.n_overdue += report.n_overdue;
        result.re_executions += report.re_executions;
        result.timings.add(report.timings);
        result.n_unlike += report.n_unlike;
        result.processes.add(report.processes);
        result.n_picks += u64::from(origin.candidate().is_some());
        let JobReport { outcome, solver_effort, effort, repeated, .. } = report;
        if let Some((run, held)) = repeated {
            result.n_parents_repeated += 1;
            self.state.hold(run, held);
        }
        self.turns.searched(effort);
        self.tell(&News::Worked { origin, solver_effort, effort });
        self.note(&outcome, origin);
        match outcome {
            Outcome::Ran { ran, provenance } => self.take_in(*ran, provenance, origin),
            Outcome::Read(path) => {
                if let Origin::Read(run) = origin {
                    self.tell(&News::Read { run, path: &path });
                }
            }
            Outcome::Tried { n_tries, n_cut_off, effort, looks_new } => {
                self.state.result.tries += n_tries as u64;
                self.state.result.tries_cut_off += n_cut_off as u64;
                self.tell(&News::Tried { n_tries, effort, looks_new: &looks_new });
            }
            Outcome::Unsat | Outcome::NoAlternative | Outcome::Stopped => {}
            Outcome::Unknown { timed_out } => {
                if let Some(candidate) = origin.candidate() {
                    self.tell(&News::Unsolved { candidate, timed_out });
                }
            }
            Outcome::NotRepeated => self.state.result.unrepeated += 1,
            Outcome::BadExpressions { input, error } => {
                self.state.trouble(Trouble::Expressions { input, error });
            }
            Outcome::Failed(error) => {
                self.state.failure.get_or_insert(error);
            }
        }
        let progress = self.state.progress();
        self.observer.worked(&progress);
    }

    /// Notes what came of a candidate, for the reasons of goals that stay open.
    fn note(&mut self, outcome: &Outcome, origin: Origin) {
        let Some(id) = origin.candidate() else { return };
        let state = &mut self.state;
        let direction = state.pool.candidate(id).branch();
        state.evidence.answered(id);
        match outcome {
            Outcome::Ran { ran, .. } if ran.leaves_path => state.note_left_path(id),
            Outcome::Ran { ran, .. } => {
                let is_elsewhere = ran.trace.as_ref().is_ok_and(|trace| !trace.as_expected);
                let is_there = ran.trace.as_ref().is_ok_and(|trace| trace.as_expected);
                if is_there && state.pool.is_refuted(id) {
                    state.trouble(Trouble::Refuted { input: (*ran.input).clone() });
                }
                if let Some(direction) = direction.filter(|_| is_elsewhere) {
                    state.evidence.diverged(direction, &ran.given_up);
                }
            }
            Outcome::Unsat | Outcome::NoAlternative => state.note_unsatisfiable(id),
            Outcome::Unknown { .. } => state.evidence.unsolved(id),
            Outcome::NotRepeated | Outcome::BadExpressions { .. } => {
                if let Some((site, choice)) = direction {
                    state.evidence.facts.way(site, choice).troubled += 1;
                }
            }
            Outcome::Stopped => {
                if let Some((site, choice)) = direction {
                    state.evidence.facts.way(site, choice).waiting += 1;
                }
            }
            Outcome::Tried { .. } | Outcome::Read(_) | Outcome::Failed(_) => {}
        }
    }

    fn tell(&mut self, news: &News<'_>) {
        self.sources.tell(news, &self.state.view());
    }

    fn take_in(&mut self, ran: Ran, provenance: Provenance, origin: Origin) {
        self.flights.expect(self.state.has_long_runs(ran.length));
        let state = &mut self.state;
        state.result.executions += 1;
        state.result.shortages.add(ran.marks);
        state.cells.extend(ran.cells.iter().map(|cell| (Key(cell.key), (cell.width, cell.kind))));
        let asked = ran.asked();
        state.evidence.asked(&ran);
        let trace = match ran.trace {
            Ok(trace) => trace,
            Err(error) => {
                state.evidence.facts.unread();
                state.trouble(Trouble::Trace { input: (*ran.input).clone(), error });
                return;
            }
        };
        if !trace.as_expected {
            let result = &mut state.result;
            *(if ran.is_guess { &mut result.failed_guesses } else { &mut result.divergences }) += 1;
        }
        match ran.checked {
            Ok(mismatches) => {
                state.result.n_mismatches += mismatches.len() as u64;
                let room = MAX_EXAMPLES.saturating_sub(state.result.mismatches.len());
                state.result.mismatches.extend(mismatches.into_iter().take(room));
            }
            Err(error) => state.trouble(Trouble::Expressions { input: (*ran.input).clone(), error }),
        }
        state.evidence.ran(&trace, state.uses_candidates && origin != Origin::Trial);
        let kept = if ran.marks.rejected {
            Kept::default() // a run that the program's own assumption excludes is no test, but its path may be left
        } else {
            state.suite.take_in(&asked, provenance, ran.end, ran.output, &trace, self.judge)
        };
        if let Some(contradiction) = state.suite.coverage().contradictions().first() {
            state.failure.get_or_insert_with(|| contradiction.clone().into());
        }
        self.tell(&News::Ran(RunNews {
            origin,
            provenance,
            input: &ran.input,
            observations: &trace.observations,
            distances: &ran.distances,
            cells: &ran.cells,
            without_influence: ran.idle.as_deref(),
            end: ran.end,
            outside: ran.outside,
            covers_new: kept.n_new_goals > 0,
            changed: kept.changed,
        }));
        if kept.n_new_goals > 0 {
            self.turns.covered(kept.n_new_goals);
            self.state.note_new_goal();
        }
        self.observe(kept);
        if kept.changed {
            self.state.refresh();
        }
        // without expressions there is nothing to flip
        if self.state.uses_candidates && origin != Origin::Trial {
            let (input, n_new_goals) = (Arc::clone(&ran.input), kept.n_new_goals);
            let (distances, path) = (ran.distances, ran.path);
            let run = Run { input, origin: origin.candidate(), n_new_goals, distances, path };
            let candidates = self.state.collect(run, trace, ran.expressions);
            let run = self.state.pool.newest_run();
            self.tell(&News::Collected { run, candidates: &candidates });
        }
    }

    /// Tells the observer what was kept of a run.
    fn observe(&mut self, kept: Kept) {
        let (suite, progress) = (&self.state.suite, self.state.progress());
        match kept.slot {
            Some(SuiteSlot::Test(index)) => self.observer.kept(&suite.tests()[index], &progress),
            Some(SuiteSlot::Crash(index)) => self.observer.found(&suite.crashes()[index], &progress),
            Some(SuiteSlot::Hang(index)) => self.observer.found(&suite.hangs()[index], &progress),
            None => {}
        }
    }
}
