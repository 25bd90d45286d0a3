//! Asks z3 and cvc5 as processes. One must say unsat, and none may say sat.
//!
//! Effort is counted by the solvers themselves, so that a busy machine gives the same answers; time is only a net. A
//! second solver that is asked to confirm gets less effort, because it need not find anything by itself.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use crate::{Answer, Decide};

/// A program that reads SMT-LIB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SolverProgram {
    pub name: String,
    arguments: Vec<String>,
    /// The argument before the number that limits its effort.
    limit: &'static str,
    /// What it counts per unit of effort; a unit is roughly a millisecond.
    per_unit: u64,
}

/// The installed solvers.
#[derive(Clone, Debug)]
pub struct Solvers {
    programs: Vec<SolverProgram>,
    /// For each query and solver.
    effort: u64,
    /// After which a solver counts as hung.
    net: Duration,
    /// Set when nobody waits for an answer any more.
    stop: Arc<AtomicBool>,
}

/// Enough for all but unusual queries.
const EFFORT: u64 = 20_000;
/// How much less effort a confirmation gets.
const CONFIRMATION: u64 = 4;
const NET: Duration = Duration::from_secs(300);
/// How often it is looked whether anybody still waits.
const LOOK: Duration = Duration::from_millis(10);

impl Solvers {
    /// Those of z3 and cvc5 that can be started.
    pub fn installed() -> Self {
        let program = |name: &str, arguments: &[&str], limit, per_unit| SolverProgram {
            name: name.to_owned(),
            arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(),
            limit,
            per_unit,
        };
        let known =
            [program("z3", &["-in"], "rlimit=", 7_000), program("cvc5", &["--lang=smt2"], "--rlimit=", 40)];
        let programs = known.into_iter().filter(can_start).collect();
        Self { programs, effort: EFFORT, net: NET, stop: Arc::default() }
    }

    /// The same with another limit of effort for each query.
    pub fn with_effort(self, effort: u64) -> Self {
        Self { effort, ..self }
    }

    /// The same, but a query ends, and its solver with it, as soon as this is set.
    pub fn until(self, stop: Arc<AtomicBool>) -> Self {
        Self { stop, ..self }
    }

    /// What is installed.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.programs.iter().map(|program| program.name.as_str())
    }

    fn ask(&self, program: &SolverProgram, script: &str, effort: u64) -> Result<Said, String> {
        let limit = effort.saturating_mul(program.per_unit).min(u64::from(u32::MAX));
        let text = format!("{script}(check-sat)\n(exit)\n");
        let output = self
            .run(program, &format!("{}{limit}", program.limit), text)
            .map_err(|error| format!("{}: {error}", program.name))?;
        match output.split_whitespace().next() {
            Some("unsat") if output.trim() == "unsat" => Ok(Said::Unsat),
            Some("sat") if output.trim() == "sat" => Ok(Said::Sat),
            Some("unknown") => Err(format!("{} does not know", program.name)),
            _ => {
                let shown: String = output.chars().take(200).collect();
                Err(format!("{} says {shown:?}", program.name))
            }
        }
    }

    /// What the program prints when it is given the text.
    fn run(&self, program: &SolverProgram, limit: &str, text: String) -> Result<String, String> {
        let mut child = Command::new(&program.name)
            .args(&program.arguments)
            .arg(limit)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("cannot be started: {error}"))?;
        let mut stdin = child.stdin.take().expect("the stream is piped");
        let mut stdout = child.stdout.take().expect("the stream is piped");
        let (sender, receiver) = channel();
        thread::spawn(move || {
            // one that ends early says why on its output
            let _ended_early = stdin.write_all(text.as_bytes());
        });
        thread::spawn(move || {
            let mut output = String::new();
            let read = stdout.read_to_string(&mut output);
            let _nobody_waits = sender.send(read.map(|_| output));
        });
        let received = self.receive(&receiver);
        stop(&mut child);
        received
    }

    /// What arrives while somebody waits.
    fn receive(&self, answer: &Receiver<std::io::Result<String>>) -> Result<String, String> {
        let mut left = self.net;
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Err("stopped".to_owned());
            }
            let look = LOOK.min(left);
            match answer.recv_timeout(look) {
                Ok(output) => return output.map_err(|error| format!("its answer cannot be read: {error}")),
                Err(RecvTimeoutError::Timeout) if left > look => left -= look,
                Err(RecvTimeoutError::Timeout) => {
                    return Err(format!("no answer within {} s", self.net.as_secs()));
                }
                Err(RecvTimeoutError::Disconnected) => return Err("its answer cannot be read".to_owned()),
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    Sat,
    Unsat,
}

impl Decide for Solvers {
    fn decide(&mut self, script: &str) -> Answer {
        if self.programs.is_empty() {
            return Answer::Unknown("no second solver installed".to_owned());
        }
        let (mut said, mut silent): (Vec<(&str, Said)>, Vec<String>) = (Vec::new(), Vec::new());
        for program in &self.programs {
            let effort = if said.is_empty() { self.effort } else { self.effort / CONFIRMATION };
            match self.ask(program, script, effort) {
                Ok(answer) => said.push((&program.name, answer)),
                Err(why) => silent.push(why),
            }
        }
        match said[..] {
            [] => Answer::Unknown(silent.join("; ")),
            [(_, first), ..] if said.iter().all(|(_, other)| *other == first) => match first {
                Said::Sat => Answer::Sat,
                Said::Unsat => Answer::Unsat,
            },
            _ => {
                let word = |said| if said == Said::Sat { "sat" } else { "unsat" };
                let all: Vec<String> =
                    said.iter().map(|(name, said)| format!("{name} says {}", word(*said))).collect();
                Answer::Disagreement(all.join(", "))
            }
        }
    }
}

fn can_start(program: &SolverProgram) -> bool {
    let started = Command::new(&program.name).arg("--version").stdin(Stdio::null()).output();
    started.is_ok_and(|output| output.status.success())
}

fn stop(child: &mut Child) {
    // fails when it has ended already
    let _already_ended = child.kill();
    let _status = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solvers(programs: Vec<SolverProgram>, net: Duration) -> Solvers {
        Solvers { programs, effort: 1, net, stop: Arc::default() }
    }

    /// One that never answers.
    fn hung() -> SolverProgram {
        let arguments = vec!["-c".to_owned(), "exec sleep 100".to_owned()];
        SolverProgram { name: "sh".to_owned(), arguments, limit: "", per_unit: 1 }
    }

    /// Solvers that print these texts.
    fn answers(texts: &[&str]) -> Answer {
        let program = |text: &&str| SolverProgram {
            name: "sh".to_owned(),
            arguments: vec!["-c".to_owned(), format!("cat >/dev/null; printf '{text}'")],
            limit: "",
            per_unit: 1,
        };
        solvers(texts.iter().map(program).collect(), NET).decide("")
    }

    #[test]
    fn one_must_say_unsat_and_none_sat() {
        assert_eq!(answers(&["unsat\\n", "unsat\\n"]), Answer::Unsat);
        assert_eq!(answers(&["unknown\\n", "unsat\\n"]), Answer::Unsat);
        assert_eq!(answers(&["sat\\n", "unknown\\n"]), Answer::Sat);
        assert_eq!(
            answers(&["unsat\\n", "sat\\n"]),
            Answer::Disagreement("sh says unsat, sh says sat".to_owned())
        );
        assert_eq!(answers(&[]), Answer::Unknown("no second solver installed".to_owned()));
    }

    #[test]
    fn an_answer_beside_a_complaint_is_none() {
        for text in ["(error)\\nunsat\\n", "unsat\\n(error)\\n", "", "unsatisfiable\\n"] {
            assert!(matches!(answers(&[text]), Answer::Unknown(_)), "{text}");
        }
    }

    #[test]
    fn one_that_hangs_is_stopped() {
        let said = solvers(vec![hung()], Duration::from_millis(50)).decide("");
        assert_eq!(said, Answer::Unknown("sh: no answer within 0 s".to_owned()));
    }

    #[test]
    fn a_query_ends_when_nobody_waits_for_its_answer() {
        let nobody_waits = Arc::new(AtomicBool::new(false));
        let mut solvers = solvers(vec![hung(), hung()], NET).until(Arc::clone(&nobody_waits));
        let asked = thread::spawn(move || solvers.decide(""));
        thread::sleep(Duration::from_millis(50));
        assert!(!asked.is_finished());
        nobody_waits.store(true, Ordering::Relaxed);
        let said = asked.join().expect("no panic");
        assert_eq!(said, Answer::Unknown("sh: stopped; sh: stopped".to_owned()));
    }
}
