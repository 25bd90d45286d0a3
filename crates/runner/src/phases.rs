//! Which phase a build is in, and how long each took.
//!
//! Method: the spans that the front end opens are its phases. This layer of a tracing subscriber keeps those that are open and
//! adds up those that were closed, less what phases within them took. Limit: without a subscriber that has the layer, no
//! phase is known.

use std::collections::BTreeMap;
use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing::{Level, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, Filter};
use tracing_subscriber::registry::LookupSpan;

/// The part whose spans are phases.
const TARGET: &str = "frontend";

/// The phases of all builds of this process.
#[derive(Clone, Debug, Default)]
pub struct Phases(Arc<Mutex<State>>);

/// Lets a subscriber hear of phases and of nothing else.
#[derive(Clone, Copy, Debug)]
pub struct PhasesOnly;

#[derive(Debug, Default)]
struct State {
    open: Vec<Open>,
    times: BTreeMap<&'static str, PhaseTime>,
}

#[derive(Debug)]
struct Open {
    id: u64,
    parent: Option<u64>,
    name: &'static str,
    about: String,
    since: Instant,
    /// The thread that it began on, and the processor time of that.
    thread: ThreadId,
    used: Duration,
    /// What phases within it took, and of the same thread's processor time.
    inner: Duration,
    inner_used: Duration,
}

/// How often there was a phase, and how long it took in all, on all threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PhaseTime {
    pub n: u64,
    pub time: Duration,
    /// Processor time of its threads, without that of the processes that they started.
    pub processor: Duration,
}

impl Phases {
    /// What is being done, in words: the phase that began last.
    pub fn current(&self) -> Option<String> {
        let state = self.state();
        let open = state.open.last()?;
        let doing = in_words(open.name);
        Some(if open.about.is_empty() { doing.to_owned() } else { format!("{doing} {}", open.about) })
    }

    /// The phases that are over, by name.
    pub fn times(&self) -> BTreeMap<&'static str, PhaseTime> {
        self.state().times.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("nobody panics while phases are written down")
    }
}

/// What a phase does.
fn in_words(phase: &str) -> &str {
    match phase {
        "preprocess" => "preprocessing",
        "mark" => "reading",
        "compile" => "compiling",
        "compile runtime" => "compiling the runtime",
        "compile harness" => "compiling the harness",
        "link" | "link models" | "link program" => "linking",
        "look for functions" => "looking for functions in libraries",
        "lower" => "modelling",
        "instrument" => "instrumenting",
        "optimise" => "optimising",
        "generate" => "generating code",
        other => other,
    }
}

impl<S> Filter<S> for PhasesOnly {
    fn enabled(&self, metadata: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        metadata.is_span() && *metadata.level() <= Level::INFO && metadata.target().starts_with(TARGET)
    }
}

impl<S: Subscriber + for<'s> LookupSpan<'s>> Layer<S> for Phases {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut about = About::default();
        attributes.record(&mut about);
        let parent = context.span(id).and_then(|span| span.parent()).map(|span| span.id().into_u64());
        self.state().open.push(Open {
            id: id.into_u64(),
            parent,
            name: attributes.metadata().name(),
            about: about.0,
            since: Instant::now(),
            thread: thread::current().id(),
            used: processor_time(),
            inner: Duration::ZERO,
            inner_used: Duration::ZERO,
        });
    }

    fn on_close(&self, id: Id, _: Context<'_, S>) {
        let mut state = self.state();
        let Some(at) = state.open.iter().position(|open| open.id == id.into_u64()) else { return };
        let closed = state.open.remove(at);
        let took = closed.since.elapsed();
        let is_same = |open: &Open| open.thread == thread::current().id();
        let used =
            if is_same(&closed) { processor_time().saturating_sub(closed.used) } else { Duration::ZERO };
        if let Some(outer) = state.open.iter_mut().find(|open| Some(open.id) == closed.parent) {
            outer.inner += took;
            outer.inner_used += if is_same(outer) { used } else { Duration::ZERO };
        }
        let time = state.times.entry(closed.name).or_default();
        time.n += 1;
        time.time += took.saturating_sub(closed.inner);
        time.processor += used.saturating_sub(closed.inner_used);
    }
}

/// Processor time of this thread.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    // neither is ever negative
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// The file or the mode that a phase is about.
#[derive(Default)]
struct About(String);

impl Visit for About {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        match field.name() {
            "file" => self.0 = format!("{value:?}"),
            "mode" => write!(self.0, "{value:?}").expect("writing to a string does not fail"),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use tracing::info_span;
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    #[test]
    fn phases_are_those_of_the_front_end_and_inner_ones_count_once() {
        let phases = Phases::default();
        let subscriber = tracing_subscriber::registry().with(phases.clone().with_filter(PhasesOnly));
        tracing::subscriber::with_default(subscriber, || {
            let _other = info_span!(target: "elsewhere", "campaign").entered();
            assert_eq!(phases.current(), None);
            let outer = info_span!(target: "frontend::mark", "mark", n_units = 2).entered();
            assert_eq!(phases.current().as_deref(), Some("reading"));
            let inner = info_span!(target: "frontend", "preprocess", file = %"a.c").entered();
            assert_eq!(phases.current().as_deref(), Some("preprocessing a.c"));
            std::thread::sleep(Duration::from_millis(20));
            drop((inner, outer));
        });
        let times = phases.times();
        assert_eq!(times.keys().copied().collect::<Vec<_>>(), ["mark", "preprocess"]);
        assert!(times["mark"].time < times["preprocess"].time, "{times:?}");
        assert_eq!(times["preprocess"].n, 1);
        assert!(times["preprocess"].processor < times["preprocess"].time, "it slept: {times:?}");
    }
}
