//! Any solver process that speaks SMT-LIB 2 on its standard streams.
//!
//! Method: one process for many queries, `(reset)` between them; a thread writes and a thread reads, so that a stuck
//! process never blocks us; the time limit is kept by killing the process, and the next query starts a new one. z3 and
//! cvc5 limit their own resources, which are the same on every machine.
//! Limit: the solver must know `(reset)`, named assertions and cores (z3, cvc5 and Bitwuzla do).

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::{Cancel, Limit, Solver, UnknownReason, Verdict};
use crate::assignment::Assignment;
use crate::lower::{Lowered, lower};
use crate::smtlib;
use crate::term::{Term, TermStore};

/// How often a waiting query looks at its [`Cancel`].
const POLL: Duration = Duration::from_millis(20);

/// A solver that limits its resources may take so many times its processor time by the wall clock.
const WALL_FACTOR: u32 = 4;

/// What a program counts for one step of effort, where it can limit its resources.
fn resources_per_effort(program: &str) -> Option<u64> {
    match Path::new(program).file_name()?.to_str()? {
        // z3 4.8 counts 5 million in the second in which Bitwuzla takes 16,000 steps
        "z3" => Some(300),
        // not measured: plenty, and processor time ends what is too much
        "cvc5" => Some(300),
        _ => None,
    }
}

/// Solves by talking to a solver process.
#[derive(Debug)]
pub struct ProcessSolver {
    program: String,
    arguments: Vec<String>,
    cancel: Cancel,
    running: Option<Running>,
}

/// A live process and its two pump threads, which end with it.
#[derive(Debug)]
struct Running {
    child: Child,
    requests: Sender<String>,
    answers: Receiver<String>,
}

impl ProcessSolver {
    /// A solver that runs `program` with `arguments`, such as `z3 -in`. Nothing is started before the first query.
    pub fn new(program: impl Into<String>, arguments: &[&str]) -> ProcessSolver {
        ProcessSolver::with_cancel(program, arguments, Cancel::new())
    }

    /// The same, stopping when `cancel` asks to.
    pub fn with_cancel(program: impl Into<String>, arguments: &[&str], cancel: Cancel) -> ProcessSolver {
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        ProcessSolver { program: program.into(), arguments, cancel, running: None }
    }

    fn query(
        &mut self,
        store: &TermStore,
        assertions: &[Term],
        resources: Option<u64>,
        deadline: Option<Instant>,
    ) -> Result<Verdict, UnknownReason> {
        let lowered = lower(store, assertions);
        let bound = resources.map(|most| format!("(set-option :reproducible-resource-limit {most})\n"));
        let mut request = format!(
            "(reset)\n{}(set-option :produce-models true)\n(set-option :produce-unsat-cores true)\n(set-logic {})\n",
            bound.unwrap_or_default(),
            smtlib::logic(&lowered)
        );
        smtlib::write_assertions(store, &lowered, &mut request);
        request.push_str("(check-sat)\n");
        self.send(request)?;
        let answer = self.receive(deadline)?;
        match answer.as_str() {
            "sat" => self.model(&lowered, deadline).map(Verdict::Sat),
            "unsat" => self.core(assertions, deadline).map(|core| Verdict::Unsat { core }),
            "unknown" if resources.is_some() && self.is_out_of_resources(deadline)? => {
                Ok(Verdict::Unknown(UnknownReason::Timeout))
            }
            "unknown" => Err(UnknownReason::SolverError(format!("{} answered unknown", self.program))),
            _ if answer.contains("unsupported") => Err(UnknownReason::Unsupported(answer)),
            _ => Err(UnknownReason::SolverError(answer)),
        }
    }

    fn is_out_of_resources(&mut self, deadline: Option<Instant>) -> Result<bool, UnknownReason> {
        self.send("(get-info :reason-unknown)\n".to_owned())?;
        let answer = self.receive(deadline)?;
        // z3 says one or the other, by version; cvc5 the last
        Ok(["canceled", "resource limit", "resourceout"].iter().any(|word| answer.contains(word)))
    }

    fn model(&mut self, lowered: &Lowered, deadline: Option<Instant>) -> Result<Assignment, UnknownReason> {
        if lowered.vars.is_empty() {
            return Ok(Assignment::new());
        }
        self.send(smtlib::get_value(&lowered.vars))?;
        let answer = self.receive(deadline)?;
        let words: Vec<&str> = words(&answer).collect();
        // The answer lists pairs in the order asked for: name, value, name, value, …
        let values = lowered.vars.iter().zip(words.chunks(2)).map(|(&(var, _), pair)| match pair {
            [name, text] if *name == var.to_string() => Some((var, literal(text)?)),
            _ => None,
        });
        match values.collect::<Option<Vec<_>>>() {
            Some(values) if values.len() == lowered.vars.len() => Ok(values.into_iter().collect()),
            _ => Err(UnknownReason::SolverError(format!("unreadable model: {answer}"))),
        }
    }

    fn core(&mut self, assertions: &[Term], deadline: Option<Instant>) -> Result<Vec<Term>, UnknownReason> {
        self.send("(get-unsat-core)\n".to_owned())?;
        let answer = self.receive(deadline)?;
        let named = |name: &str| assertions.get(name.strip_prefix('a')?.parse::<usize>().ok()?).copied();
        let core: Option<Vec<Term>> = words(&answer).map(named).collect();
        core.ok_or_else(|| UnknownReason::SolverError(format!("unreadable core: {answer}")))
    }

    fn send(&mut self, request: String) -> Result<(), UnknownReason> {
        if self.running.is_none() {
            self.running = Some(self.start()?);
        }
        let running = self.running.as_ref().expect("started above");
        running.requests.send(request).map_err(|_| self.died())
    }

    fn start(&self) -> Result<Running, UnknownReason> {
        let spawned = Command::new(&self.program)
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut child = spawned.map_err(|error| {
            UnknownReason::SolverError(format!("cannot start the solver {}: {error}", self.program))
        })?;
        let mut stdin = child.stdin.take().expect("the stream is piped");
        let stdout = child.stdout.take().expect("the stream is piped");
        let (requests, pending) = channel::<String>();
        let (arrived, answers) = channel();
        thread::spawn(move || {
            for request in pending {
                if stdin.write_all(request.as_bytes()).and_then(|()| stdin.flush()).is_err() {
                    break;
                }
            }
        });
        thread::spawn(move || {
            let mut lines = BufReader::new(stdout).lines().map_while(Result::ok);
            while let Some(answer) = next_answer(&mut lines) {
                if arrived.send(answer).is_err() {
                    break;
                }
            }
        });
        Ok(Running { child, requests, answers })
    }

    fn receive(&self, deadline: Option<Instant>) -> Result<String, UnknownReason> {
        let running = self.running.as_ref().ok_or_else(|| self.died())?;
        loop {
            if self.cancel.is_cancelled() {
                return Err(UnknownReason::Cancelled);
            }
            let left = deadline.map_or(POLL, |deadline| deadline.saturating_duration_since(Instant::now()));
            match running.answers.recv_timeout(left.min(POLL)) {
                Ok(answer) => return Ok(answer),
                Err(RecvTimeoutError::Disconnected) => return Err(self.died()),
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return Err(UnknownReason::Timeout),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn died(&self) -> UnknownReason {
        UnknownReason::SolverError(format!("the solver process {} ended", self.program))
    }

    /// Whatever state the process is in, the next query gets a new one.
    fn stop(&mut self) {
        if let Some(mut running) = self.running.take() {
            // Failing means that it has ended already.
            let _already_ended = running.child.kill();
            let _status = running.child.wait();
        }
    }
}

impl Solver for ProcessSolver {
    fn name(&self) -> &str {
        &self.program
    }

    fn check(&mut self, store: &TermStore, assertions: &[Term], limit: Limit) -> Verdict {
        if self.cancel.is_cancelled() {
            return Verdict::Unknown(UnknownReason::Cancelled);
        }
        // z3 reads 31 bits
        let resources = |(effort, each): (u64, u64)| effort.saturating_mul(each).min(i32::MAX as u64);
        let resources = limit.effort.zip(resources_per_effort(&self.program)).map(resources);
        let most = match resources {
            Some(_) => limit.processor_time.saturating_mul(WALL_FACTOR),
            None => limit.processor_time,
        };
        let deadline = Instant::now().checked_add(limit.time.min(most));
        match self.query(store, assertions, resources, deadline) {
            Err(UnknownReason::Timeout) if most < limit.time => {
                self.stop();
                Verdict::Unknown(UnknownReason::Overdue)
            }
            Ok(verdict) => verdict,
            Err(reason) => {
                self.stop();
                Verdict::Unknown(reason)
            }
        }
    }
}

impl Drop for ProcessSolver {
    fn drop(&mut self) {
        self.stop();
    }
}

/// One line, or as many as it takes to balance the parentheses outside strings.
fn next_answer(lines: &mut impl Iterator<Item = String>) -> Option<String> {
    let mut answer = String::new();
    let (mut depth, mut in_string) = (0_i64, false);
    loop {
        let line = lines.next()?;
        for byte in line.bytes() {
            match byte {
                b'"' => in_string = !in_string,
                b'(' if !in_string => depth += 1,
                b')' if !in_string => depth -= 1,
                _ => {}
            }
        }
        answer.push_str(line.trim());
        if depth <= 0 && !in_string && !answer.is_empty() {
            return Some(answer);
        }
        answer.push(' ');
    }
}

/// The atoms of an S-expression; of a value `(_ bv5 8)` only `bv5`.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let separated = text.split(|char: char| char.is_whitespace() || char == '(' || char == ')');
    separated.filter(|word| *word != "_" && !word.bytes().all(|byte| byte.is_ascii_digit()))
}

fn literal(text: &str) -> Option<u128> {
    if let Some(digits) = text.strip_prefix("#x") {
        return u128::from_str_radix(digits, 16).ok();
    }
    if let Some(digits) = text.strip_prefix("#b") {
        return u128::from_str_radix(digits, 2).ok();
    }
    text.strip_prefix("bv")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_read_in_all_three_notations() {
        let text = "((v0 #x0a) (v1 #b101) (v2 (_ bv7 33)))";
        let read: Vec<&str> = words(text).collect();
        assert_eq!(read, ["v0", "#x0a", "v1", "#b101", "v2", "bv7"]);
        assert_eq!(read.iter().filter_map(|word| literal(word)).collect::<Vec<_>>(), [10, 5, 7]);
    }

    #[test]
    fn an_answer_over_several_lines_is_one_answer() {
        let mut lines = ["((v0 #x0a)", " (v1 #x0b))", "sat"].into_iter().map(str::to_owned);
        assert_eq!(next_answer(&mut lines).as_deref(), Some("((v0 #x0a) (v1 #x0b))"));
        assert_eq!(next_answer(&mut lines).as_deref(), Some("sat"));
    }
}
