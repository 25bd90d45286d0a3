//! How a command ends: exit codes that scripts depend on, and failures with advice.

use std::fmt;
use std::process::ExitCode;

use runner::error::{Error, Explanation};

/// What the exit code says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done as asked.
    Done,
    /// The command ran, and its answer is no: a replay or check failed, a tool is missing or found something.
    No,
    /// The command line, or something it names, is wrong.
    Usage,
    /// The model interpreter met something it does not support.
    Unsupported,
    /// Coverage is below `--fail-under`.
    BelowFailUnder,
    /// A crash was found and `--fail-on-crash` is given.
    CrashFound,
    /// The version before behaves differently and `--fail-on-difference` is given.
    DifferenceFound,
    /// A goal is called covered that llvm-cov does not count.
    Unconfirmed,
    /// The program under test does not build.
    Build,
    /// Quarry itself failed.
    Internal,
    /// A run covers a goal that a proof calls infeasible, or solvers disagree about a proof.
    Contradiction,
    /// The disk does not take the results.
    Unwritten,
    /// Ctrl-C; what was found is written.
    Interrupted,
    /// The exit code of the program that was run.
    Passed(u8),
}

impl Exit {
    /// The number the shell sees.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::No => 1,
            Self::Usage => 2,
            Self::Unsupported => 3,
            Self::BelowFailUnder => 10,
            Self::CrashFound => 11,
            Self::Unconfirmed => 12,
            Self::DifferenceFound => 13,
            Self::Build => 20,
            Self::Internal => 70,
            Self::Contradiction => 71,
            Self::Unwritten => 74,
            Self::Interrupted => 130,
            Self::Passed(code) => code,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Why a command cannot go on, and what its user can do.
#[derive(Debug)]
pub struct Failure {
    exit: Exit,
    message: String,
    help: Vec<String>,
}

impl Failure {
    /// Something on the command line, or named by it, is wrong.
    pub fn usage(message: impl fmt::Display) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// Quarry itself failed.
    pub fn internal(message: impl fmt::Display) -> Self {
        Self::new(Exit::Internal, message)
    }

    /// A failure with any other exit code.
    pub fn new(exit: Exit, message: impl fmt::Display) -> Self {
        Self { exit, message: message.to_string(), help: Vec::new() }
    }

    /// Adds a line of advice.
    #[must_use]
    pub fn help(mut self, advice: impl fmt::Display) -> Self {
        self.help.push(advice.to_string());
        self
    }

    /// What went wrong, without the advice.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// How the command ends.
    pub fn exit(&self) -> Exit {
        self.exit
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message.trim_end())?;
        for advice in &self.help {
            write!(f, "\nhelp: {advice}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let exit = match &error {
            Error::Usage(_) => Exit::Usage,
            Error::Build(_) => Exit::Build,
            Error::DiskFull(_) => Exit::Unwritten,
            Error::Interrupted(_) => Exit::Interrupted,
            Error::Contradiction(_) => Exit::Contradiction,
            Error::Internal(_) => Exit::Internal,
        };
        let Explanation { message, help } = error.explanation().clone();
        Self { exit, message, help }
    }
}

/// Whether less is covered than `--fail-under` asks for; says so on stderr.
pub fn below(percentage: f64, least: Option<f64>) -> bool {
    match least {
        Some(least) if percentage < least => {
            eprintln!("error: {percentage:.1}% is covered, less than {least}%");
            true
        }
        Some(_) | None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_prints_its_advice_on_lines_of_their_own() {
        let failure = Failure::usage("no function 'f'").help("functions are: g").help("see quarry goals");
        assert_eq!(
            failure.to_string(),
            "error: no function 'f'\nhelp: functions are: g\nhelp: see quarry goals"
        );
        assert_eq!(failure.exit().code(), 2);
    }
}
