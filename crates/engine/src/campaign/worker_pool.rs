//! The workers: one on this thread, or several on threads of their own, each with its executor and solver.
//!
//! Several workers share a desk with what is to be done, what was done, and the campaign itself. Nobody leads all the time: who
//! brings a report and finds the campaign on the desk takes it, merges what is next in [order](super::flights), starts new jobs, and
//! puts it back. So there are as many threads as workers, and a worker that has something to do is never woken for it; one
//! sleeps only when nothing is left for it. Limit: while one merges, the others go on with at most what waits for them.

use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use smt::{Solver, Solving};
use tracing::Span;

use super::Campaign;
use super::flights::{Handout, JobNews, JobNumber};
use super::pace::Pace;
use super::worker::{Context, Job, Worker};
use crate::executor::Executor;

pub(super) enum WorkerPool<'p, 'a> {
    Alone(Box<Worker<'a>>),
    Several(Office<'p, 'a>),
}

impl<'a> WorkerPool<'_, 'a> {
    /// Works off what the campaign starts, until it says that it is over.
    pub(super) fn work_off(&mut self, campaign: Box<Campaign<'a>>) -> Box<Campaign<'a>> {
        match self {
            Self::Alone(worker) => work_off_alone(worker, campaign),
            Self::Several(office) => office.work_off(campaign),
        }
    }
}

fn work_off_alone<'a>(worker: &mut Worker<'_>, mut campaign: Box<Campaign<'a>>) -> Box<Campaign<'a>> {
    while !campaign.advance() {
        for Handout { number, job, .. } in campaign.flights.hand_out() {
            let report = Box::new(worker.work(job));
            campaign.flights.hear(number, JobNews::Done(report));
        }
        let (report, origin) = campaign.flights.take().expect("a worker that is alone answers at once");
        campaign.hear(report, origin);
    }
    campaign
}

/// The campaign, while nobody leads it.
type Chair<'a> = Mutex<Option<Box<Campaign<'a>>>>;

/// What several workers share.
#[derive(Clone, Copy)]
pub(super) struct Office<'p, 'a> {
    desk: &'p Arc<Desk>,
    chair: &'p Chair<'a>,
}

/// What is to be done, and what was.
struct Desk {
    papers: Mutex<Papers>,
    /// By worker: rung when there is something for it.
    bells: Vec<Condvar>,
    /// Rung when the campaign is over.
    last_bell: Condvar,
}

struct Papers {
    /// By worker: its next jobs, and whether it sleeps.
    queues: Vec<VecDeque<(JobNumber, Job)>>,
    sleeps: Vec<bool>,
    /// What the campaign was not told yet.
    news: Vec<(JobNumber, JobNews)>,
    leading: Leading,
    /// Whether everybody is to go.
    is_closed: bool,
    has_panicked: bool,
}

/// Who has the campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leading {
    Nobody,
    Somebody,
    /// Nobody, and nobody may: it is over.
    Over,
}

impl Desk {
    fn new(n_workers: usize) -> Self {
        let papers = Papers {
            queues: (0..n_workers).map(|_| VecDeque::new()).collect(),
            sleeps: vec![false; n_workers],
            news: Vec::new(),
            leading: Leading::Over,
            is_closed: false,
            has_panicked: false,
        };
        Self {
            papers: Mutex::new(papers),
            bells: (0..n_workers).map(|_| Condvar::new()).collect(),
            last_bell: Condvar::new(),
        }
    }

    fn papers(&self) -> MutexGuard<'_, Papers> {
        // nothing is left half done: what can panic runs without the papers
        self.papers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hand_out(&self, papers: &mut Papers, handouts: Vec<Handout>) {
        for Handout { worker, number, job } in handouts {
            papers.queues[worker].push_back((number, job));
            if papers.sleeps[worker] {
                self.bells[worker].notify_one();
            }
        }
    }

    /// Wakes somebody who sleeps if there are news and nobody leads. Whoever is awake looks at them soon.
    fn wake_a_leader(&self, papers: &Papers) {
        if papers.news.is_empty() || papers.leading != Leading::Nobody {
            return;
        }
        if let Some(worker) = papers.sleeps.iter().position(|sleeps| *sleeps) {
            self.bells[worker].notify_one();
        }
    }

    /// A job takes long. Whoever does it goes on with it; somebody else may have to go first.
    fn late(&self, number: JobNumber) {
        let mut papers = self.papers();
        papers.news.push((number, JobNews::Late));
        self.wake_a_leader(&papers);
    }

    /// Sends everybody home.
    fn close(&self, has_panicked: bool) {
        let mut papers = self.papers();
        papers.is_closed = true;
        papers.has_panicked |= has_panicked;
        self.bells.iter().for_each(Condvar::notify_one);
        self.last_bell.notify_one();
    }
}

impl<'p, 'a> Office<'p, 'a> {
    fn work_off(&self, mut campaign: Box<Campaign<'a>>) -> Box<Campaign<'a>> {
        if campaign.advance() {
            return campaign;
        }
        let desk = self.desk;
        let mut papers = desk.papers();
        desk.hand_out(&mut papers, campaign.flights.hand_out());
        self.seat(campaign);
        papers.leading = Leading::Nobody;
        desk.wake_a_leader(&papers);
        while papers.leading != Leading::Over {
            assert!(!papers.has_panicked, "a worker of the campaign panicked");
            papers = desk.last_bell.wait(papers).unwrap_or_else(PoisonError::into_inner);
        }
        self.take_up()
    }

    fn seat(&self, campaign: Box<Campaign<'a>>) {
        *self.chair.lock().unwrap_or_else(PoisonError::into_inner) = Some(campaign);
    }

    fn take_up(&self) -> Box<Campaign<'a>> {
        let campaign = self.chair.lock().unwrap_or_else(PoisonError::into_inner).take();
        campaign.expect("the papers say that nobody has it")
    }

    /// Does the jobs of one worker, and leads when there is something to merge.
    fn serve(&self, number: usize, mut work: impl FnMut(JobNumber, Job) -> JobNews) {
        let desk = self.desk;
        let mut papers = desk.papers();
        while !papers.is_closed {
            if !papers.news.is_empty() && papers.leading == Leading::Nobody {
                papers.leading = Leading::Somebody;
                papers = self.lead(papers);
            } else if let Some((job_number, job)) = papers.queues[number].pop_front() {
                drop(papers);
                let news = work(job_number, job);
                papers = desk.papers();
                papers.news.push((job_number, news));
            } else {
                papers.sleeps[number] = true;
                papers = desk.bells[number].wait(papers).unwrap_or_else(PoisonError::into_inner);
                papers.sleeps[number] = false;
            }
        }
    }

    /// Tells the campaign the news, until there are no more or it is over.
    fn lead(&self, mut papers: MutexGuard<'p, Papers>) -> MutexGuard<'p, Papers> {
        let desk = self.desk;
        let mut campaign = self.take_up();
        while !papers.news.is_empty() {
            let news = std::mem::take(&mut papers.news);
            drop(papers);
            news.into_iter().for_each(|(number, news)| campaign.flights.hear(number, news));
            while let Some((report, origin)) = campaign.flights.take() {
                campaign.hear(report, origin);
                let is_over = campaign.advance();
                let mut papers = desk.papers();
                desk.hand_out(&mut papers, campaign.flights.hand_out());
                if is_over {
                    self.seat(campaign);
                    papers.leading = Leading::Over;
                    desk.last_bell.notify_one();
                    return papers;
                }
            }
            papers = desk.papers();
        }
        self.seat(campaign);
        papers.leading = Leading::Nobody;
        papers
    }
}

/// Closes the desk when its worker panics, so that nobody waits for it.
struct Alarm<'d>(&'d Desk);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.close(true);
        }
    }
}

/// Lets `conduct` work with as many workers as there are executors.
pub(super) fn with_workers<'a, T>(
    context: &'a Context<'a>,
    mut executors: Vec<Box<dyn Executor + Send>>,
    solver: &(dyn Fn() -> Box<dyn Solver> + Sync),
    conduct: impl FnOnce(&mut WorkerPool<'_, 'a>) -> T,
) -> T {
    if executors.len() == 1
        && let Some(executor) = executors.pop()
    {
        let worker = Worker::new(context, executor, Solving::new(solver()), Pace::new(|| {}));
        return conduct(&mut WorkerPool::Alone(Box::new(worker)));
    }
    let (desk, chair) = (&Arc::new(Desk::new(executors.len())), &Chair::default());
    let (office, span) = (Office { desk, chair }, &Span::current());
    thread::scope(|scope| {
        for (number, executor) in executors.into_iter().enumerate() {
            scope.spawn(move || {
                let _span = span.enter();
                let _alarm = Alarm(desk);
                let present = Rc::new(Cell::new(0));
                let (of_job, late_desk) = (Rc::clone(&present), Arc::clone(desk));
                let pace = Pace::new(move || late_desk.late(of_job.get()));
                let mut worker = Worker::new(context, executor, Solving::new(solver()), pace);
                office.serve(number, |job_number, job| {
                    present.set(job_number);
                    JobNews::Done(Box::new(worker.work(job)))
                });
            });
        }
        let result = conduct(&mut WorkerPool::Several(office));
        // nobody waits for what is in flight
        context.end();
        desk.close(false);
        result
    })
}
