//! The workers: one on this thread, or several on threads of their own, each with its executor and solver.
//!
//! Jobs are started one by one and heard of in the same order, however long each takes, so that what is decided after the
//! *n*th report depends on the first *n* reports alone. A job goes to the worker with the fewest jobs that were not heard
//! of, and waits there until the ones before it are done: which worker gets it follows from the order too, and with it what
//! the worker's caches hold. Limit: while the oldest job takes long, the others can only work off what has been started.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use smt::{Solver, Solving};

use super::worker::{Context, Job, JobReport, Worker};
use crate::executor::Executor;

pub(super) enum WorkerPool<'a> {
    Alone { worker: Box<Worker<'a>>, done: VecDeque<JobReport> },
    Several { workers: Vec<Channel>, in_flight: VecDeque<usize> },
}

/// How jobs get to a worker on another thread, and reports back.
pub(super) struct Channel {
    jobs: Sender<Job>,
    reports: Receiver<JobReport>,
    n_in_flight: usize,
}

impl WorkerPool<'_> {
    pub(super) fn n_workers(&self) -> usize {
        match self {
            Self::Alone { .. } => 1,
            Self::Several { workers, .. } => workers.len(),
        }
    }

    /// How many jobs were started and not heard of.
    pub(super) fn n_in_flight(&self) -> usize {
        match self {
            Self::Alone { done, .. } => done.len(),
            Self::Several { in_flight, .. } => in_flight.len(),
        }
    }

    pub(super) fn start(&mut self, job: Job) {
        match self {
            Self::Alone { worker, done } => done.push_back(worker.work(job)),
            Self::Several { workers, in_flight } => {
                let least = workers.iter().enumerate().min_by_key(|(_, worker)| worker.n_in_flight);
                let at = least.expect("there are workers").0;
                workers[at].jobs.send(job).expect("workers wait for jobs until the pool is dropped");
                workers[at].n_in_flight += 1;
                in_flight.push_back(at);
            }
        }
    }

    /// Waits for the job that was started first among those in flight; `None` when there is none.
    pub(super) fn hear(&mut self) -> Option<JobReport> {
        match self {
            Self::Alone { done, .. } => done.pop_front(),
            Self::Several { workers, in_flight } => {
                let worker = &mut workers[in_flight.pop_front()?];
                worker.n_in_flight -= 1;
                Some(worker.reports.recv().expect("workers answer every job"))
            }
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
        let worker = Box::new(Worker::new(context, executor, Solving::new(solver())));
        return lead(&mut WorkerPool::Alone { worker, done: VecDeque::new() });
    }
    thread::scope(|scope| {
        let spawn = |executor: Box<dyn Executor + Send>| {
            let (jobs, received_jobs) = channel::<Job>();
            let (sent_reports, reports) = channel();
            scope.spawn(move || {
                let mut worker = Worker::new(context, executor, Solving::new(solver()));
                for job in received_jobs {
                    if sent_reports.send(worker.work(job)).is_err() {
                        break;
                    }
                }
            });
            Channel { jobs, reports, n_in_flight: 0 }
        };
        let workers = executors.into_iter().map(spawn).collect();
        let mut pool = WorkerPool::Several { workers, in_flight: VecDeque::new() };
        let result = lead(&mut pool);
        // without jobs to come the workers end, and nobody waits for what is in flight
        context.end();
        drop(pool);
        result
    })
}
