//! The workers: one on this thread, or several on threads of their own, each with its executor and solver.
//!
//! Jobs are started one by one and heard of in the same order, so that what is decided after the *n*th report depends on the
//! first *n* reports alone. Nobody waits for a job that takes long: one that has taken many [steps](super::pace) is late and lets
//! some that were started after it go first, again and again until it is done. Steps are counted, not timed, so the order of
//! reports is the same on every machine and at any load. A job goes to the worker with the least to do, counted in the same
//! way: which worker gets it follows from the order too, and with it what the worker's caches hold. Limit: a job that waits for
//! a worker whose present job turns out to take long waits with it.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use smt::{Solver, Solving};

use super::pace::Pace;
use super::source::Origin;
use super::worker::{Context, Job, JobReport, Worker};
use crate::executor::Executor;

/// Jobs that go before one that is late, each time.
const JOBS_PER_DELAY: u64 = 4;

pub(super) enum WorkerPool<'a> {
    Alone { worker: Box<Worker<'a>>, done: VecDeque<(JobReport, Origin)> },
    Several(Several),
}

/// Workers on threads of their own.
pub(super) struct Several {
    /// How jobs get to them.
    jobs: Vec<Sender<(JobNumber, Job)>>,
    news: Receiver<(JobNumber, JobNews)>,
    in_flight: BTreeMap<JobNumber, Flight>,
    n_started: u64,
}

/// Counts the jobs that were started.
type JobNumber = u64;

struct Flight {
    origin: Origin,
    worker: usize,
    /// How often it let others go first.
    n_delays: u64,
    /// How often the worker said that it is late.
    n_late: u64,
    report: Option<Box<JobReport>>,
}

enum JobNews {
    Late,
    Done(Box<JobReport>),
}

impl WorkerPool<'_> {
    pub(super) fn n_workers(&self) -> usize {
        match self {
            Self::Alone { .. } => 1,
            Self::Several(several) => several.jobs.len(),
        }
    }

    /// How many jobs were started and not heard of.
    pub(super) fn n_in_flight(&self) -> usize {
        match self {
            Self::Alone { done, .. } => done.len(),
            Self::Several(several) => several.in_flight.len(),
        }
    }

    pub(super) fn start(&mut self, job: Job, origin: Origin) {
        match self {
            Self::Alone { worker, done } => done.push_back((worker.work(job), origin)),
            Self::Several(several) => several.start(job, origin),
        }
    }

    /// Waits for the job that is next among those in flight; `None` when there is none.
    pub(super) fn hear(&mut self) -> Option<(JobReport, Origin)> {
        match self {
            Self::Alone { done, .. } => done.pop_front(),
            Self::Several(several) => several.hear(),
        }
    }
}

impl Several {
    fn start(&mut self, job: Job, origin: Origin) {
        let load = |at: usize| {
            let own = self.in_flight.values().filter(|flight| flight.worker == at);
            own.map(|flight| 1 + flight.n_delays).sum::<u64>()
        };
        let worker = (0..self.jobs.len()).min_by_key(|at| load(*at)).expect("there are workers");
        let number = self.n_started;
        self.n_started += 1;
        self.jobs[worker].send((number, job)).expect("workers wait for jobs until the pool is dropped");
        self.in_flight.insert(number, Flight { origin, worker, n_delays: 0, n_late: 0, report: None });
    }

    fn hear(&mut self) -> Option<(JobReport, Origin)> {
        loop {
            let place = |(number, flight): &(&JobNumber, &mut Flight)| {
                (**number + flight.n_delays * JOBS_PER_DELAY, **number)
            };
            let (&number, flight) = self.in_flight.iter_mut().min_by_key(place)?;
            // all that is said of a job is said before its report
            if flight.n_late > flight.n_delays {
                flight.n_delays += 1;
            } else if let Some(report) = flight.report.take() {
                let origin = flight.origin;
                self.in_flight.remove(&number);
                return Some((*report, origin));
            } else {
                self.listen();
            }
        }
    }

    fn listen(&mut self) {
        let (number, news) = self.news.recv().expect("workers answer every job");
        let flight = self.in_flight.get_mut(&number).expect("a job is in flight until its report is taken");
        match news {
            JobNews::Late => flight.n_late += 1,
            JobNews::Done(report) => flight.report = Some(report),
        }
    }
}

/// Lets `lead` work with as many workers as there are executors.
pub(super) fn with_workers<T>(
    context: &Context<'_>,
    mut executors: Vec<Box<dyn Executor + Send>>,
    solver: &(dyn Fn() -> Box<dyn Solver> + Sync),
    lead: impl FnOnce(&mut WorkerPool<'_>) -> T,
) -> T {
    if executors.len() == 1
        && let Some(executor) = executors.pop()
    {
        let worker = Box::new(Worker::new(context, executor, Solving::new(solver()), Pace::new(|| {})));
        return lead(&mut WorkerPool::Alone { worker, done: VecDeque::new() });
    }
    thread::scope(|scope| {
        let (sent_news, news) = channel();
        let spawn = |executor: Box<dyn Executor + Send>| {
            let (jobs, received_jobs) = channel::<(JobNumber, Job)>();
            let sent_news = sent_news.clone();
            scope.spawn(move || {
                let present = Rc::new(Cell::new(0));
                let (of_job, late_news) = (Rc::clone(&present), sent_news.clone());
                // when nobody listens any more, nobody waits either
                let pace = Pace::new(move || drop(late_news.send((of_job.get(), JobNews::Late))));
                let mut worker = Worker::new(context, executor, Solving::new(solver()), pace);
                for (number, job) in received_jobs {
                    present.set(number);
                    let report = Box::new(worker.work(job));
                    if sent_news.send((number, JobNews::Done(report))).is_err() {
                        break;
                    }
                }
            });
            jobs
        };
        let jobs = executors.into_iter().map(spawn).collect();
        let mut pool = WorkerPool::Several(Several { jobs, news, in_flight: BTreeMap::new(), n_started: 0 });
        let result = lead(&mut pool);
        // without jobs to come the workers end, and nobody waits for what is in flight
        context.end();
        drop(pool);
        result
    })
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

    /// The order in which jobs are heard of when their news come like this; a job that is named twice is late at first.
    fn heard(n_jobs: u32, news: &[JobNumber]) -> Vec<u32> {
        let (jobs, _received): (Vec<_>, Vec<_>) = (0..2).map(|_| channel()).unzip();
        let (sender, receiver) = channel();
        let mut several = Several { jobs, news: receiver, in_flight: BTreeMap::new(), n_started: 0 };
        for number in 0..n_jobs {
            let job = Job { task: Task::TryAll(Vec::new()), targets: None };
            several.start(job, Origin::Candidate(CandidateId(number)));
        }
        for (at, number) in news.iter().enumerate() {
            let is_last = !news[at + 1..].contains(number);
            let news = if is_last { JobNews::Done(Box::new(report())) } else { JobNews::Late };
            sender.send((*number, news)).expect("it is received");
        }
        let numbers = std::iter::from_fn(|| several.hear());
        numbers.filter_map(|(_, origin)| origin.candidate()).map(|id| id.0).collect()
    }

    #[test]
    fn jobs_are_heard_of_in_the_order_of_their_start() {
        for news in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]] {
            assert_eq!(heard(4, &news), [0, 1, 2, 3]);
        }
    }

    #[test]
    fn late_jobs_let_some_go_first_whenever_that_is_known() {
        for news in
            [[0, 0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5, 0], [5, 4, 3, 2, 1, 0, 0], [1, 0, 3, 0, 2, 5, 4]]
        {
            assert_eq!(heard(6, &news), [1, 2, 3, 0, 4, 5], "{news:?}");
        }
        assert_eq!(heard(7, &[0, 0, 0, 1, 2, 3, 4, 5, 6]), [1, 2, 3, 4, 5, 6, 0], "twice as late");
    }
}
