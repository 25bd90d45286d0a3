//! Which jobs are in flight, who does them, and whose report is next?
//!
//! Jobs are started one by one and their reports are taken in the same order, so that what is decided after the *n*th report depends
//! on the first *n* reports alone. Nobody waits for a job that takes long: one that has taken many [steps](super::pace) is late and
//! lets some that were started after it go first, again and again until it is done. Steps are counted, not timed, so the order of
//! reports is the same on every machine and at any load. A job goes to the worker with the least to do, counted in the same
//! way, or to one that knows the run that it is about: which worker gets it follows from the order too, and with it what the worker's caches hold. Limit: a job that waits for
//! a worker whose present job turns out to take long waits with it.

use std::collections::BTreeMap;

use super::source::Origin;
use super::worker::{Job, JobReport};
use crate::pool::RunId;

/// Jobs that go before one that is late, each time.
const JOBS_PER_DELAY: u64 = 4;
/// Jobs that may wait for each worker: fewer, and workers wait for the slowest; more, and a decision learns from less, which cost nothing
/// measurable up to this number.
const MAX_WAITING: usize = 4;
/// Jobs that a worker may have more than another, and still gets one about a run that it was asked about before.
const MORE_FOR_KNOWN: u64 = 1;

/// Counts the jobs that were started.
pub(super) type JobNumber = u64;

/// Jobs that were started and whose reports were not taken.
pub(super) struct Flights {
    in_flight: BTreeMap<JobNumber, Flight>,
    n_started: u64,
    n_workers: usize,
    /// Whether a worker that is alone begins its next job while an input is executed.
    overlaps: bool,
    /// Jobs that their workers have not been given yet.
    to_hand_out: Vec<Handout>,
    /// Who was asked about a run last.
    asked: BTreeMap<RunId, usize>,
}

/// A job for a worker.
pub(super) struct Handout {
    pub(super) worker: usize,
    pub(super) number: JobNumber,
    pub(super) job: Job,
}

struct Flight {
    origin: Origin,
    worker: usize,
    /// How often it let others go first.
    n_delays: u64,
    /// How often the worker said that it is late.
    n_late: u64,
    report: Option<Box<JobReport>>,
}

/// What a worker says of a job.
pub(super) enum JobNews {
    Late,
    Done(Box<JobReport>),
}

impl Flights {
    pub(super) fn new(n_workers: usize) -> Self {
        Self {
            in_flight: BTreeMap::new(),
            n_started: 0,
            n_workers,
            overlaps: false,
            to_hand_out: Vec::new(),
            asked: BTreeMap::new(),
        }
    }

    /// Says how long executions take: with long ones a worker that is alone begins its next job meanwhile, before it knows what came of the
    /// last. Short ones are over sooner than a process wakes on another processor.
    pub(super) fn expect(&mut self, are_long: bool) {
        self.overlaps = are_long;
    }

    pub(super) fn overlaps(&self) -> bool {
        self.overlaps
    }

    /// Whether a worker has nothing to do.
    pub(super) fn has_idle_workers(&self) -> bool {
        self.in_flight.len() < self.n_workers
    }

    /// Whether another job may be started. A single worker has its next job when it is done with the last, or while that is executed. Of
    /// several, each has its next job while the last report is taken in.
    pub(super) fn has_room(&self) -> bool {
        let most = match self.n_workers {
            1 => 1 + usize::from(self.overlaps),
            several => several * (1 + MAX_WAITING),
        };
        self.in_flight.len() < most
    }

    pub(super) fn len(&self) -> usize {
        self.in_flight.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.in_flight.is_empty()
    }

    pub(super) fn start(&mut self, job: Job, origin: Origin) {
        let worker = self.choose(job.run);
        let number = self.n_started;
        self.n_started += 1;
        self.to_hand_out.push(Handout { worker, number, job });
        self.in_flight.insert(number, Flight { origin, worker, n_delays: 0, n_late: 0, report: None });
    }

    /// The worker with the least to do; if another one was asked about the same run before and has little more to do, that one, because it
    /// has made terms of what that run did.
    fn choose(&mut self, run: Option<RunId>) -> usize {
        let load = |at: usize| {
            let own = self.in_flight.values().filter(|flight| flight.worker == at);
            own.map(|flight| 1 + flight.n_delays).sum::<u64>()
        };
        let least = (0..self.n_workers).min_by_key(|at| load(*at)).expect("there are workers");
        let Some(run) = run.filter(|_| self.n_workers > 1) else { return least };
        let known = self.asked.get(&run).filter(|known| load(**known) <= load(least) + MORE_FOR_KNOWN);
        let worker = known.copied().unwrap_or(least);
        self.asked.insert(run, worker);
        worker
    }

    /// The jobs that were started since this was asked last.
    pub(super) fn hand_out(&mut self) -> Vec<Handout> {
        std::mem::take(&mut self.to_hand_out)
    }

    /// A worker said something of a job.
    pub(super) fn hear(&mut self, number: JobNumber, news: JobNews) {
        let flight = self.in_flight.get_mut(&number).expect("a job is in flight until its report is taken");
        match news {
            JobNews::Late => flight.n_late += 1,
            JobNews::Done(report) => flight.report = Some(report),
        }
    }

    /// The report that is next; `None` when it is not there yet, or when there is none to come.
    pub(super) fn take(&mut self) -> Option<(JobReport, Origin)> {
        loop {
            let place = |(number, flight): &(&JobNumber, &mut Flight)| {
                (**number + flight.n_delays * JOBS_PER_DELAY, **number)
            };
            let (&number, flight) = self.in_flight.iter_mut().min_by_key(place)?;
            // all that is said of a job is said before its report
            if flight.n_late > flight.n_delays {
                flight.n_delays += 1;
                continue;
            }
            let report = flight.report.take()?;
            let origin = flight.origin;
            self.in_flight.remove(&number);
            return Some((*report, origin));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::worker::{Outcome, Task};
    use crate::campaign::{Queries, Timings};
    use crate::executor::ProcessCounts;
    use crate::pool::CandidateId;

    fn report() -> JobReport {
        JobReport {
            outcome: Outcome::Unsat,
            queries: Queries::default(),
            solver_effort: 0,
            effort: 0,
            n_overdue: 0,
            re_executions: 0,
            n_unlike: 0,
            processes: ProcessCounts::default(),
            repeated: None,
            timings: Timings::default(),
        }
    }

    /// The order in which reports are taken when news come like this; a job that is named twice is late at first.
    fn taken(n_jobs: u32, news: &[JobNumber]) -> Vec<u32> {
        let mut flights = Flights::new(2);
        for number in 0..n_jobs {
            let job = Job { task: Task::TryAll(Vec::new()), targets: None, run: None };
            flights.start(job, Origin::Candidate(CandidateId(number)));
        }
        let mut taken = Vec::new();
        for (at, number) in news.iter().enumerate() {
            let is_last = !news[at + 1..].contains(number);
            flights.hear(*number, if is_last { JobNews::Done(Box::new(report())) } else { JobNews::Late });
            let ready = std::iter::from_fn(|| flights.take());
            taken.extend(ready.filter_map(|(_, origin)| origin.candidate()).map(|id| id.0));
        }
        assert!(flights.is_empty());
        taken
    }

    #[test]
    fn reports_are_taken_in_the_order_in_which_jobs_were_started() {
        for news in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]] {
            assert_eq!(taken(4, &news), [0, 1, 2, 3]);
        }
    }

    #[test]
    fn late_jobs_let_some_go_first_whenever_that_is_known() {
        for news in
            [[0, 0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5, 0], [5, 4, 3, 2, 1, 0, 0], [1, 0, 3, 0, 2, 5, 4]]
        {
            assert_eq!(taken(6, &news), [1, 2, 3, 0, 4, 5], "{news:?}");
        }
        assert_eq!(taken(7, &[0, 0, 0, 1, 2, 3, 4, 5, 6]), [1, 2, 3, 4, 5, 6, 0], "twice as late");
    }

    #[test]
    fn a_job_goes_to_the_worker_with_the_least_to_do() {
        let mut flights = Flights::new(2);
        let start = |flights: &mut Flights| {
            let job = Job { task: Task::TryAll(Vec::new()), targets: None, run: None };
            flights.start(job, Origin::Trial);
            flights.hand_out().into_iter().map(|handout| handout.worker).collect::<Vec<_>>()
        };
        let first: Vec<_> = (0..4).flat_map(|_| start(&mut flights)).collect();
        assert_eq!(first, [0, 1, 0, 1]);
        [0, 0].into_iter().for_each(|_| flights.hear(0, JobNews::Late));
        flights.hear(1, JobNews::Done(Box::new(report())));
        assert!(flights.take().is_some(), "the first is late");
        assert_eq!(start(&mut flights), [1], "the other worker has one job and the first has two");
    }

    #[test]
    fn a_job_about_a_known_run_goes_to_the_worker_that_knows_it_unless_that_has_much_more_to_do() {
        let mut flights = Flights::new(2);
        let mut start = |run: u32| {
            let job = Job { task: Task::TryAll(Vec::new()), targets: None, run: Some(RunId(run)) };
            flights.start(job, Origin::Trial);
            flights.hand_out().first().map(|handout| handout.worker)
        };
        let workers: Vec<_> = [0, 1, 0, 0, 0, 1, 0].into_iter().filter_map(&mut start).collect();
        assert_eq!(workers, [0, 1, 0, 0, 1, 1, 1], "it moves when the first has two more to do");
    }
}
