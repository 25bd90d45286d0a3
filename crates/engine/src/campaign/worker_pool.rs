//! The workers: one on this thread, or several on threads of their own, each with its executor and solver.
//!
//! The job at place *i* of a round goes to worker *i*, so that the runs a worker holds and its caches follow from the jobs
//! alone.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use smt::{Solver, Solving};

use super::worker::{Context, Job, JobReport, Worker};
use crate::executor::Executor;

pub(super) enum WorkerPool<'a> {
    Alone(Box<Worker<'a>>),
    Several(Vec<Channel>),
}

/// How jobs get to a worker on another thread, and reports back.
pub(super) struct Channel {
    jobs: Sender<Job>,
    reports: Receiver<JobReport>,
}

impl WorkerPool<'_> {
    /// Works off a round, at most one job per worker; reports come in the order of the jobs.
    pub(super) fn work(&mut self, jobs: Vec<Job>) -> Vec<JobReport> {
        match self {
            Self::Alone(worker) => jobs.into_iter().map(|job| worker.work(job)).collect(),
            Self::Several(channels) => {
                let mut busy = Vec::new();
                for (job, channel) in jobs.into_iter().zip(channels) {
                    channel.jobs.send(job).expect("workers wait for jobs until the pool is dropped");
                    busy.push(&channel.reports);
                }
                let report =
                    |channel: &Receiver<JobReport>| channel.recv().expect("workers answer every job");
                busy.into_iter().map(report).collect()
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
        return lead(&mut WorkerPool::Alone(Box::new(Worker::new(
            context,
            executor,
            Solving::new(solver()),
        ))));
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
            Channel { jobs, reports }
        };
        let mut pool = WorkerPool::Several(executors.into_iter().map(spawn).collect());
        let result = lead(&mut pool);
        // without jobs to come the workers end
        drop(pool);
        result
    })
}
