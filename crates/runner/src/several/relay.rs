//! What does a watcher hear of campaigns that run at the same time?
//!
//! Method: each campaign has a relay. Tests and findings are passed on at once; of progress only that of one campaign, the one
//! that has reported longest, because a person follows one thing at a time. Remarks and warnings come once, with
//! the number of functions that they are about ([`Said`]). Steps count as progress, so that a hundred functions do not
//! announce five hundred.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use engine::campaign::{Clock, Finding, Observer, Progress, Test};
use report::functions::FunctionEntry;

use crate::watcher::Watcher;

/// The watcher of several campaigns.
pub struct Switchboard<'w> {
    line: Mutex<Line<'w>>,
}

struct Line<'w> {
    watcher: &'w mut dyn Watcher,
    /// Whom the watcher was told about last.
    title: String,
    /// The campaigns that run, the longest first.
    running: Vec<String>,
    said: Said,
}

/// Remarks and warnings of campaigns, with the functions that they are about.
#[derive(Debug, Default)]
struct Said {
    remarks: BTreeMap<String, Vec<String>>,
    warnings: BTreeMap<String, Vec<String>>,
}

/// Listens to one of the campaigns.
pub struct Relay<'b, 'w> {
    switchboard: &'b Switchboard<'w>,
    clock: &'b (dyn Clock + Sync),
    since: Duration,
    function: String,
    title: String,
}

impl<'w> Switchboard<'w> {
    pub fn new(watcher: &'w mut dyn Watcher) -> Self {
        let line = Line { watcher, title: String::new(), running: Vec::new(), said: Said::default() };
        Self { line: Mutex::new(line) }
    }

    /// For the campaign of a function.
    pub fn relay<'b>(&'b self, function: &str, clock: &'b (dyn Clock + Sync)) -> Relay<'b, 'w> {
        let (function, since) = (function.to_owned(), clock.elapsed());
        Relay { switchboard: self, clock, since, title: function.clone(), function }
    }

    /// A function is done.
    pub fn done(&self, entry: &FunctionEntry) {
        self.line().watcher.function_done(entry);
    }

    /// Passes on what campaigns said.
    pub fn finish(&self) {
        let Line { watcher, said, .. } = &mut *self.line();
        let said = std::mem::take(said);
        watcher.clear();
        for (text, functions) in &said.warnings {
            watcher.warn(&said_of(functions, text));
        }
        for (text, functions) in &said.remarks {
            watcher.remark(&said_of(functions, text));
        }
    }

    fn line(&self) -> MutexGuard<'_, Line<'w>> {
        self.line.lock().expect("nobody panics while talking")
    }
}

/// `parse: it does not link`, `parse and 3 more: it does not link`.
fn said_of(functions: &[String], text: &str) -> String {
    let first = functions.first().map_or("", String::as_str);
    match functions.len() {
        0 | 1 => format!("{first}: {text}"),
        n => format!("{first} and {} more: {text}", n - 1),
    }
}

impl Relay<'_, '_> {
    /// Tells the watcher something about this campaign.
    fn tell(&self, what: impl FnOnce(&mut dyn Watcher)) {
        let line = &mut *self.switchboard.line();
        if line.title != self.title {
            line.watcher.begin(&self.title);
            line.title.clone_from(&self.title);
        }
        what(line.watcher);
    }

    /// The same, if the watcher follows this campaign.
    fn tell_progress(&self, what: impl FnOnce(&mut dyn Watcher)) {
        let is_followed = self.switchboard.line().running.first() == Some(&self.title);
        if is_followed {
            self.tell(what);
        }
    }

    fn leave(&self) {
        self.switchboard.line().running.retain(|title| *title != self.title);
    }

    fn note(&self, texts: impl FnOnce(&mut Said) -> &mut BTreeMap<String, Vec<String>>, text: &str) {
        let mut line = self.switchboard.line();
        let functions = texts(&mut line.said).entry(text.to_owned()).or_default();
        if !functions.contains(&self.function) {
            functions.push(self.function.clone());
        }
    }
}

impl Drop for Relay<'_, '_> {
    fn drop(&mut self) {
        self.leave();
    }
}

impl Watcher for Relay<'_, '_> {
    fn begin(&mut self, title: &str) {
        self.leave();
        title.clone_into(&mut self.title);
        self.switchboard.line().running.push(self.title.clone());
    }

    fn step(&mut self, what: &str) {
        self.phase(what, None, self.clock.elapsed().saturating_sub(self.since));
    }

    fn phase(&mut self, what: &str, phase: Option<&str>, elapsed: Duration) {
        self.tell_progress(|watcher| watcher.phase(what, phase, elapsed));
    }

    fn clear(&mut self) {
        self.tell_progress(|watcher| watcher.clear());
    }

    fn remark(&mut self, text: &str) {
        self.note(|said| &mut said.remarks, text);
    }

    fn warn(&mut self, text: &str) {
        self.note(|said| &mut said.warnings, text);
    }

    fn function_done(&mut self, entry: &FunctionEntry) {
        self.switchboard.done(entry);
    }
}

impl Observer for Relay<'_, '_> {
    fn worked(&mut self, progress: &Progress) {
        self.tell_progress(|watcher| watcher.worked(progress));
    }

    fn kept(&mut self, test: &Test, progress: &Progress) {
        self.tell(|watcher| watcher.kept(test, progress));
    }

    fn found(&mut self, finding: &Finding, progress: &Progress) {
        self.tell(|watcher| watcher.found(finding, progress));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes down what it is told.
    #[derive(Default)]
    struct Scribe(Vec<String>);

    impl Observer for Scribe {}

    impl Watcher for Scribe {
        fn begin(&mut self, title: &str) {
            self.0.push(format!("[{title}]"));
        }
        fn step(&mut self, what: &str) {
            self.0.push(format!("step {what}"));
        }
        fn phase(&mut self, what: &str, _: Option<&str>, _: Duration) {
            self.0.push(what.to_owned());
        }
        fn clear(&mut self) {}
        fn remark(&mut self, text: &str) {
            self.0.push(text.to_owned());
        }
        fn warn(&mut self, text: &str) {
            self.0.push(format!("note: {text}"));
        }
        fn function_done(&mut self, entry: &FunctionEntry) {
            self.0.push(format!("{} done", entry.function));
        }
    }

    struct Still;

    impl Clock for Still {
        fn elapsed(&self) -> Duration {
            Duration::ZERO
        }
    }

    #[test]
    fn one_campaign_is_followed_and_what_several_say_is_said_once() {
        let mut scribe = Scribe::default();
        let switchboard = Switchboard::new(&mut scribe);
        let (mut first, mut second) = (switchboard.relay("f", &Still), switchboard.relay("g", &Still));
        first.begin("f (1 of 2)");
        second.begin("g (2 of 2)");
        second.step("building");
        first.step("building");
        for relay in [&mut first, &mut second] {
            relay.remark("time ran out");
            relay.remark("time ran out");
        }
        second.warn("no sanitizers");
        drop(first);
        second.step("checking");
        drop(second);
        switchboard.finish();
        let expected = [
            "[f (1 of 2)]",
            "building",
            "[g (2 of 2)]",
            "checking",
            "note: g: no sanitizers",
            "f and 1 more: time ran out",
        ];
        assert_eq!(scribe.0, expected);
    }
}
