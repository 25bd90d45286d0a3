//! Which solver answers queries: `--solver`.

use std::path::{Path, PathBuf};

use smt::{BitwuzlaSolver, Cancel, ProcessSolver, Solver};

use crate::error::Error;

/// A solver as named on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SolverChoice {
    /// In process.
    Bitwuzla,
    /// A process that reads SMT-LIB.
    Process { program: String, arguments: Vec<String> },
}

impl SolverChoice {
    /// `bitwuzla`, or a command; `z3` alone is told to read its standard input.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut words = text.split_whitespace().map(str::to_owned);
        let Some(program) = words.next() else {
            return Err(
                Error::usage("--solver names no solver").help("use bitwuzla, or a command such as 'z3 -in'")
            );
        };
        let mut arguments: Vec<String> = words.collect();
        if program == "bitwuzla" && arguments.is_empty() {
            return Ok(Self::Bitwuzla);
        }
        if program == "z3" && arguments.is_empty() {
            arguments.push("-in".to_owned());
        }
        if !is_program(&program) {
            return Err(Error::usage(format!("the solver '{program}' is not on PATH"))
                .help("use bitwuzla, which is built in, or install the solver"));
        }
        Ok(Self::Process { program, arguments })
    }

    /// A solver for the calling thread.
    pub fn make(&self, cancel: Cancel) -> Box<dyn Solver> {
        match self {
            Self::Bitwuzla => Box::new(BitwuzlaSolver::with_cancel(cancel)),
            Self::Process { program, arguments } => {
                let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
                Box::new(ProcessSolver::with_cancel(program.as_str(), &arguments, cancel))
            }
        }
    }
}

/// Whether `name` can be run: a path, or a name on the path.
pub fn is_program(name: &str) -> bool {
    if name.contains('/') { Path::new(name).is_file() } else { on_path(name).is_some() }
}

/// The file that a name on the path means.
pub fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|file| file.is_file())
}

/// The version of the solver linked in.
pub fn bitwuzla_version() -> String {
    BitwuzlaSolver::version()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_split_into_words() {
        let expected = SolverChoice::Process { program: "sh".to_owned(), arguments: vec!["-x".to_owned()] };
        assert_eq!(SolverChoice::parse("sh -x").expect("sh is on every path"), expected);
        assert_eq!(SolverChoice::parse("bitwuzla").expect("built in"), SolverChoice::Bitwuzla);
    }

    #[test]
    fn a_solver_that_is_not_there_is_named() {
        let failure = SolverChoice::parse("no-such-solver -in").expect_err("not on the path");
        assert!(failure.to_string().contains("'no-such-solver'"), "{failure}");
    }
}
