//! What does an installed verifier say about the open goals? Its word is kept as a claim, its counterexample as an input.
//!
//! Method: the command runs on the program of each goal; its output is searched for the words that verifiers end with, and for
//! the cells of an input, which the program assigns to `quarry_key` and `quarry_value` one after the other. The input is executed, and
//! whether it covers the goal is what counts. First of all the command must find a goal reachable that a test covers: one that
//! calls it unreachable is not asked further. Limit: a command that prints no assignments gives no inputs.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use model::input::{Input, Key};
use rustix::process::{Pid, Signal, kill_process_group};
use std::os::unix::process::CommandExt;

use crate::interrupt::Interrupt;

/// How often a running command is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// What a verifier says of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Unreachable,
    /// With the input of its counterexample, if it printed one.
    Reachable(Option<Input>),
    /// Why it says neither.
    Nothing(String),
}

/// A command that is asked.
pub struct Verifier<'a> {
    /// As the user wrote it; names of files are appended.
    pub command: &'a str,
    /// Where it runs, and may leave what it likes.
    pub work: &'a Path,
    pub limit: Duration,
    pub interrupt: &'a Interrupt,
}

impl Verifier<'_> {
    /// What the command says of a program.
    pub fn ask(&self, files: &[String], directory: &Path) -> io::Result<Answer> {
        std::fs::create_dir_all(self.work)?;
        let log = self.work.join("verifier.log");
        let output = File::create(&log)?;
        let mut child = Command::new("sh")
            .arg("-c")
            .arg(format!("{} \"$@\"", self.command))
            .arg("sh")
            .args(files.iter().map(|file| directory.join(file)))
            .current_dir(self.work)
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            .process_group(0)
            .spawn()?;
        let ended = self.wait(&mut child)?;
        let text = String::from_utf8_lossy(&std::fs::read(&log)?).into_owned();
        Ok(ended.map_or_else(|| read(&text), Answer::Nothing))
    }

    /// Waits for the command's end; why it was ended otherwise.
    fn wait(&self, child: &mut Child) -> io::Result<Option<String>> {
        let until = Instant::now() + self.limit;
        loop {
            if child.try_wait()?.is_some() {
                return Ok(None);
            }
            let why = if self.interrupt.is_requested() {
                "interrupted".to_owned()
            } else if Instant::now() >= until {
                format!("no answer within {} s", self.limit.as_secs_f64())
            } else {
                std::thread::sleep(LOOK);
                continue;
            };
            if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                // one that has just ended needs no signal
                let _ = kill_process_group(group, Signal::KILL);
            }
            child.wait()?;
            return Ok(Some(why));
        }
    }
}

/// The answer in what a verifier printed: as CBMC and ESBMC, as CPAchecker, and as Ultimate say it.
fn read(text: &str) -> Answer {
    const UNREACHABLE: [&str; 3] = [
        "VERIFICATION SUCCESSFUL",
        "Verification result: TRUE",
        "RESULT: Ultimate proved your program to be correct",
    ];
    const REACHABLE: [&str; 3] = [
        "VERIFICATION FAILED",
        "Verification result: FALSE",
        "RESULT: Ultimate proved your program to be incorrect",
    ];
    let says = |words: &[&str]| words.iter().any(|words| text.contains(words));
    if let Some(answer) = by_property(text) {
        return answer;
    }
    match (says(&UNREACHABLE), says(&REACHABLE)) {
        (true, false) => Answer::Unreachable,
        (false, true) => Answer::Reachable(input(text)),
        (true, true) => Answer::Nothing("it says both".to_owned()),
        (false, false) => {
            let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("nothing");
            Answer::Nothing(format!("its last words are: {}", last.trim()))
        }
    }
}

/// The answer of a verifier that lists properties, of which only that `reach_error` is not called counts: `[reach_error.assertion.1] line 5
/// assertion 0: FAILURE`, and then `Trace for reach_error.assertion.1:`.
fn by_property(text: &str) -> Option<Answer> {
    let failed = text.lines().filter_map(|line| {
        let (name, rest) = line.strip_prefix('[')?.split_once(']')?;
        rest.trim_end().ends_with(": FAILURE").then_some(name)
    });
    let failed: Vec<&str> = failed.collect();
    let [first, ..] = failed[..] else { return None };
    let Some(wanted) = failed.iter().find(|name| name.starts_with("reach_error.")) else {
        return Some(Answer::Nothing(format!(
            "only {first} fails: loops are unwound too few times, or it looks for other errors as well"
        )));
    };
    let mut traces = text.split("\nTrace for ").skip(1);
    let trace = traces.find(|trace| trace.starts_with(wanted));
    Some(Answer::Reachable(trace.and_then(input)))
}

/// The cells that a counterexample assigns.
fn input(text: &str) -> Option<Input> {
    let mut input = Input::default();
    let mut key = None;
    for line in text.lines() {
        if let Some(value) = assigned(line, "quarry_key") {
            key = Some(value);
        } else if let (Some(value), Some(key)) = (assigned(line, "quarry_value"), key) {
            input.values.insert(Key(key), value);
        }
    }
    (!input.values.is_empty()).then_some(input)
}

/// The value that a line assigns to a variable: `name=5ull (00000…)`, `name = 5`.
fn assigned(line: &str, name: &str) -> Option<u64> {
    let rest = line.trim_start().strip_prefix(name)?.trim_start().strip_prefix('=')?.trim_start();
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_properties_only_that_of_the_goal_counts() {
        let trace = |name: &str, value: u64| {
            format!("\nTrace for {name}:\n\n  quarry_key=1ul (0)\n  quarry_value={value}ul (0)\n")
        };
        let text = format!(
            "[reach_error.assertion.1] line 5 assertion 0: FAILURE\n[f.overflow.1] line 7 overflow: FAILURE\n{}{}\nVERIFICATION FAILED\n",
            trace("reach_error.assertion.1", 7),
            trace("f.overflow.1", 8)
        );
        let Answer::Reachable(Some(input)) = read(&text) else { panic!("it is reachable") };
        assert_eq!(input.values.into_iter().collect::<Vec<_>>(), [(Key(1), 7)]);
        let other = "[reach_error.assertion.1] line 5 assertion 0: SUCCESS\n[f.unwind.0] line 7 unwinding assertion loop 0: FAILURE\nVERIFICATION FAILED";
        assert!(matches!(read(other), Answer::Nothing(why) if why.starts_with("only f.unwind.0 fails")));
    }

    #[test]
    fn the_words_and_the_cells_of_a_counterexample_are_found() {
        let text = "State 20 file f.c\n----\n  quarry_key=3ull (00000000 00000011)\nState 21\n  quarry_value=18446744073709551615ull (11111111)\n\
                    quarry_key = 4\n  quarry_value = 7\nVERIFICATION FAILED\n";
        let Answer::Reachable(Some(input)) = read(text) else { panic!("it is reachable") };
        assert_eq!(input.values.into_iter().collect::<Vec<_>>(), [(Key(3), u64::MAX), (Key(4), 7)]);
        assert_eq!(read("...\nVERIFICATION SUCCESSFUL\n"), Answer::Unreachable);
        assert_eq!(
            read("out of memory\n\n"),
            Answer::Nothing("its last words are: out of memory".to_owned())
        );
    }
}
