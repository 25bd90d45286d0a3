//! Who observes the progress of the work: a person at a terminal, a program, or nobody.

use std::time::Duration;

use engine::campaign::Observer;
use report::functions::FunctionEntry;

/// Hears what is done, step by step, and everything the campaign says.
pub trait Watcher: Observer + Send {
    /// What follows is about this.
    fn begin(&mut self, title: &str);
    /// A step is under way.
    fn step(&mut self, what: &str);
    /// A step has gone on for a while, and is in this phase if that is known.
    fn phase(&mut self, what: &str, phase: Option<&str>, elapsed: Duration);
    /// A step is over; whatever showed it can go.
    fn clear(&mut self);
    /// Something worth knowing that is no surprise.
    fn remark(&mut self, text: &str);
    /// Something that went otherwise than a user expects, although the work goes on.
    fn warn(&mut self, text: &str);
    /// One of several functions is done.
    fn function_done(&mut self, entry: &FunctionEntry);
}

/// Nobody listens.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl Observer for Nobody {}

impl Watcher for Nobody {
    fn begin(&mut self, _: &str) {}
    fn step(&mut self, _: &str) {}
    fn phase(&mut self, _: &str, _: Option<&str>, _: Duration) {}
    fn clear(&mut self) {}
    fn remark(&mut self, _: &str) {}
    fn warn(&mut self, _: &str) {}
    fn function_done(&mut self, _: &FunctionEntry) {}
}
