//! The workers: one on this thread, or several on threads of their own, each with its executor and solver.
//!
//! Several workers share a desk with what is to be done, what was done, and the campaign itself. Nobody leads all the time: who
//! brings a report and finds the campaign on the desk takes it, merges what is next in [order](super::flights), starts new jobs, and
//! puts it back. So there are as many threads as workers, and a worker that has something to do is never woken for it; one
//! sleeps only when nothing is left for it. Limit: while one merges, the others go on with at most what waits for them.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::hint;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use smt::{Solver, Solving};
use tracing::Span;

use super::Campaign;
use super::flights::{Flights, Handout, JobNews, JobNumber};
use super::pace::Pace;
use super::worker::{Begun, Context, Job, Order, Worker};
use crate::executor::Executor;

/// Looks for something to do before a worker sleeps: for as long as a few short jobs take, because waking takes as long. Others who
/// wait for its processor get it now and then.
const MAX_LOOKS: u32 = 2048;
const LOOKS_PER_YIELD: u32 = 256;

/// The worker that leads before all else.
const FIRST: usize = 0;

pub(super) enum WorkerPool<'p, 'a> {
    Alone(Box<Alone<'a>>),
    Several(Office<'p, 'a>),
}

impl<'a> WorkerPool<'_, 'a> {
    /// Works off what the campaign starts, until it says that it is over.
    pub(super) fn work_off(&mut self, campaign: Box<Campaign<'a>>) -> Box<Campaign<'a>> {
        match self {
            Self::Alone(alone) => alone.work_off(campaign),
            Self::Several(office) => office.work_off(campaign),
        }
    }
}

/// One worker, with what it is to do.
pub(super) struct Alone<'a> {
    worker: Worker<'a>,
    queue: VecDeque<(JobNumber, Job)>,
}

impl Alone<'_> {
    fn work_off<'a>(&mut self, mut campaign: Box<Campaign<'a>>) -> Box<Campaign<'a>> {
        while !campaign.advance() {
            let handouts = campaign.flights.hand_out();
            self.queue.extend(handouts.into_iter().map(|Handout { number, job, .. }| (number, job)));
            let (report, origin) = loop {
                match campaign.flights.take() {
                    Some(next) => break next,
                    None => self.work(&mut campaign.flights),
                }
            };
            campaign.hear(report, origin);
        }
        campaign
    }

    /// Begins the next job and starts what is to be executed for it, or waits for what is executed.
    fn work(&mut self, flights: &mut Flights) {
        match self.queue.pop_front() {
            Some((number, job)) => match self.worker.begin(job) {
                Begun::Done(report) => flights.hear(number, JobNews::Done(report)),
                Begun::ToExecute(order) => self.worker.start(number, *order, flights.overlaps()),
            },
            None => self.worker.settle(),
        }
        for (number, report) in self.worker.take_settled() {
            flights.hear(number, JobNews::Done(report));
        }
    }
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
    bells: Vec<Bell>,
    /// Looks at its bell before a worker sleeps.
    n_looks: u32,
    /// Rung when the campaign is over.
    last_bell: Condvar,
}

/// Tells one worker that there is something for it.
#[derive(Default)]
struct Bell {
    wakes: Condvar,
    /// How often it rang.
    n_rings: AtomicU32,
}

impl Bell {
    /// Waits for a ring without sleeping, for as long as it takes to look so often.
    fn listen(&self, n_heard: u32, n_looks: u32) {
        for look in 1..=n_looks {
            if self.n_rings.load(Ordering::Acquire) != n_heard {
                return;
            }
            if look % LOOKS_PER_YIELD == 0 {
                thread::yield_now();
            } else {
                hint::spin_loop();
            }
        }
    }
}

/// What a worker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It works or leads, and looks at its papers when it is done.
    Busy,
    /// It looks whether its bell rings.
    Looks,
    Sleeps,
}

struct Papers {
    /// By worker: its next jobs, and what it does.
    queues: Vec<VecDeque<(JobNumber, Job)>>,
    states: Vec<State>,
    /// What is left of jobs that were begun, for whoever comes first.
    orders: BTreeMap<JobNumber, Box<Order>>,
    /// What the campaign was not told yet.
    news: Vec<(JobNumber, JobNews)>,
    leading: Leading,
    /// Whether everybody is to go.
    is_closed: bool,
    has_panicked: bool,
}

impl Papers {
    /// Whether there are news, and nobody who leads.
    fn has_news_for_anybody(&self) -> bool {
        !self.news.is_empty() && self.leading == Leading::Nobody
    }

    fn has_nothing_for(&self, worker: usize) -> bool {
        let has_work = !self.queues[worker].is_empty() || !self.orders.is_empty();
        !has_work && !self.has_news_for_anybody() && !self.is_closed
    }

    /// What a worker does next. The first one leads before all else, because what a campaign knows is then near its processor; the
    /// others only when the first sleeps or they have nothing else to do.
    fn next(&mut self, worker: usize) -> Next {
        let leads = worker == FIRST || self.states[FIRST] == State::Sleeps;
        if leads && self.has_news_for_anybody() {
            self.leading = Leading::Somebody;
            return Next::Lead;
        }
        if let Some((number, job)) = self.queues[worker].pop_front() {
            return Next::Begin(number, job);
        }
        if let Some((number, order)) = self.orders.pop_first() {
            return Next::Finish(number, order);
        }
        if self.has_news_for_anybody() {
            self.leading = Leading::Somebody;
            return Next::Lead;
        }
        Next::Rest
    }
}

/// What a worker does.
enum Next {
    /// It has the campaign.
    Lead,
    Begin(JobNumber, Job),
    Finish(JobNumber, Box<Order>),
    Rest,
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
        let has_room = thread::available_parallelism().is_ok_and(|most| most.get() >= n_workers);
        let papers = Papers {
            queues: (0..n_workers).map(|_| VecDeque::new()).collect(),
            states: vec![State::Busy; n_workers],
            orders: BTreeMap::new(),
            news: Vec::new(),
            leading: Leading::Over,
            is_closed: false,
            has_panicked: false,
        };
        Self {
            papers: Mutex::new(papers),
            bells: (0..n_workers).map(|_| Bell::default()).collect(),
            n_looks: if has_room { MAX_LOOKS } else { 0 },
            last_bell: Condvar::new(),
        }
    }

    fn papers(&self) -> MutexGuard<'_, Papers> {
        // nothing is left half done: what can panic runs without the papers
        self.papers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives jobs to their workers.
    fn hand_out(&self, mut papers: MutexGuard<'_, Papers>, handouts: Vec<Handout>) {
        let workers: Vec<usize> = handouts.iter().map(|handout| handout.worker).collect();
        for Handout { worker, number, job } in handouts {
            papers.queues[worker].push_back((number, job));
        }
        self.ring(papers, &workers);
    }

    /// Wakes somebody if there are news and nobody leads. Whoever is busy looks at them soon.
    fn wake_a_leader(&self, papers: MutexGuard<'_, Papers>) {
        let waits = |state: &State| *state != State::Busy;
        if papers.has_news_for_anybody()
            && let Some(worker) = papers.states.iter().position(waits)
        {
            self.ring(papers, &[worker]);
        }
    }

    /// Tells these workers to look at their papers. Those who sleep are woken last, because it takes long.
    fn ring(&self, papers: MutexGuard<'_, Papers>, workers: &[usize]) {
        let mut sleep = Vec::new();
        for worker in workers {
            match papers.states[*worker] {
                State::Busy => {}
                State::Looks => drop(self.bells[*worker].n_rings.fetch_add(1, Ordering::Release)),
                State::Sleeps => sleep.push(&self.bells[*worker].wakes),
            }
        }
        drop(papers);
        sleep.into_iter().for_each(Condvar::notify_one);
    }

    /// Waits for something to do, or for some other reason to look.
    fn rest<'d>(&'d self, number: usize, mut papers: MutexGuard<'d, Papers>) -> MutexGuard<'d, Papers> {
        let bell = &self.bells[number];
        papers.states[number] = State::Looks;
        let n_heard = bell.n_rings.load(Ordering::Acquire);
        drop(papers);
        bell.listen(n_heard, self.n_looks);
        papers = self.papers();
        if papers.has_nothing_for(number) {
            papers.states[number] = State::Sleeps;
            papers = bell.wakes.wait(papers).unwrap_or_else(PoisonError::into_inner);
        }
        papers.states[number] = State::Busy;
        papers
    }

    /// Takes what came of a job or of its first part, and tells somebody who waits.
    fn take_back(&self, number: JobNumber, begun: Begun) -> MutexGuard<'_, Papers> {
        let mut papers = self.papers();
        match begun {
            Begun::Done(report) => papers.news.push((number, JobNews::Done(report))),
            Begun::ToExecute(order) => drop(papers.orders.insert(number, order)),
        }
        // this worker leads if nobody looks: waking somebody for it takes longer
        if let Some(worker) = papers.states.iter().position(|state| *state == State::Looks) {
            self.bells[worker].n_rings.fetch_add(1, Ordering::Release);
        } else if !papers.orders.is_empty()
            && let Some(worker) = papers.states.iter().position(|state| *state == State::Sleeps)
        {
            self.ring(papers, &[worker]);
            return self.papers();
        }
        papers
    }

    /// A job takes long. The worker that does it continues; another one may have to go first.
    fn late(&self, number: JobNumber) {
        let mut papers = self.papers();
        papers.news.push((number, JobNews::Late));
        self.wake_a_leader(papers);
    }

    /// Sends everybody home.
    fn close(&self, has_panicked: bool) {
        let mut papers = self.papers();
        papers.is_closed = true;
        papers.has_panicked |= has_panicked;
        self.ring(papers, &(0..self.bells.len()).collect::<Vec<_>>());
        self.last_bell.notify_one();
    }
}

impl<'p, 'a> Office<'p, 'a> {
    fn work_off(&self, mut campaign: Box<Campaign<'a>>) -> Box<Campaign<'a>> {
        if campaign.advance() {
            return campaign;
        }
        let desk = self.desk;
        desk.hand_out(desk.papers(), campaign.flights.hand_out());
        self.seat(campaign);
        desk.papers().leading = Leading::Nobody;
        desk.wake_a_leader(desk.papers());
        let mut papers = desk.papers();
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

    /// Does the jobs of one worker and what others left, and leads. What only this worker can do goes before what others can, so
    /// that there is something for those who wait.
    fn serve(&self, number: usize, worker: &mut Worker<'_>, present: &Cell<JobNumber>) {
        let desk = self.desk;
        let mut papers = desk.papers();
        while !papers.is_closed {
            papers = match papers.next(number) {
                Next::Lead => self.lead(papers),
                Next::Begin(job_number, job) => {
                    drop(papers);
                    present.set(job_number);
                    desk.take_back(job_number, worker.begin(job))
                }
                Next::Finish(job_number, order) => {
                    drop(papers);
                    present.set(job_number);
                    desk.take_back(job_number, Begun::Done(Box::new(worker.finish(*order))))
                }
                Next::Rest => desk.rest(number, papers),
            };
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
                desk.hand_out(desk.papers(), campaign.flights.hand_out());
                if is_over {
                    self.seat(campaign);
                    let mut papers = desk.papers();
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
        return conduct(&mut WorkerPool::Alone(Box::new(Alone { worker, queue: VecDeque::new() })));
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
                office.serve(number, &mut worker, &present);
            });
        }
        let result = conduct(&mut WorkerPool::Several(office));
        // nobody waits for what is in flight
        context.end();
        desk.close(false);
        result
    })
}
