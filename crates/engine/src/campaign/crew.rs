//! The workers: one on this thread, or several on threads of their own, each with its executor and solver.
//!
//! The job at place *i* of a round goes to worker *i*, so that what a worker has in hand and in its caches follows from
//! the picks alone.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use smt::{Solver, Solving};

use super::worker::{Context, Job, Report, Worker};
use crate::executor::Executor;

pub(super) enum Crew<'a> {
    Alone(Box<Worker<'a>>),
    Several(Vec<Line>),
}

/// The way to a worker on another thread.
pub(super) struct Line {
    jobs: Sender<Job>,
    reports: Receiver<Report>,
}

impl Crew<'_> {
    /// Works off a round, at most one job per worker; reports come in the order of the jobs.
    pub(super) fn work(&mut self, jobs: Vec<Job>) -> Vec<Report> {
        match self {
            Self::Alone(worker) => jobs.into_iter().map(|job| worker.work(job)).collect(),
            Self::Several(lines) => {
                let mut busy = Vec::new();
                for (job, line) in jobs.into_iter().zip(lines) {
                    line.jobs.send(job).expect("workers wait for jobs until the crew is gone");
                    busy.push(&line.reports);
                }
                let report = |line: &Receiver<Report>| line.recv().expect("workers answer every job");
                busy.into_iter().map(report).collect()
            }
        }
    }
}

/// Lets `lead` work with as many workers as there are executors.
pub(super) fn with_crew<T>(
    context: &Context<'_>,
    mut executors: Vec<Box<dyn Executor + Send>>,
    solver: &(dyn Fn() -> Box<dyn Solver> + Sync),
    lead: impl FnOnce(&mut Crew<'_>) -> T,
) -> T {
    if executors.len() == 1
        && let Some(executor) = executors.pop()
    {
        return lead(&mut Crew::Alone(Box::new(Worker::new(context, executor, Solving::new(solver())))));
    }
    thread::scope(|scope| {
        let hire = |executor: Box<dyn Executor + Send>| {
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
            Line { jobs, reports }
        };
        let mut crew = Crew::Several(executors.into_iter().map(hire).collect());
        let result = lead(&mut crew);
        // without jobs to come the workers end
        drop(crew);
        result
    })
}
