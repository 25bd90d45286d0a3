//! One error for the whole way from C to binaries, and who has to act on it.

use crate::{
    build::BuildError, clang::ClangError, instrument::InstrumentError, mark::MarkError, sources::SourceError,
};

/// Why a program could not be taken in.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error(transparent)]
    Mark(#[from] MarkError),
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// Who has to act on an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The command line names something that is not there.
    Usage,
    /// The user's program does not build.
    Program,
    /// The machine lacks a tool or refuses a file.
    Environment,
    /// Quarry is wrong.
    Internal,
}

impl Error {
    /// Who has to act on it.
    pub fn blame(&self) -> Blame {
        match self {
            Self::Source(_) => Blame::Usage,
            Self::Mark(MarkError::Clang(error)) | Self::Build(BuildError::Clang(error)) => of_clang(error),
            Self::Mark(MarkError::Write { .. })
            | Self::Build(BuildError::File { .. } | BuildError::Cache(_)) => Blame::Environment,
            Self::Mark(MarkError::TextRejected { .. }) => Blame::Internal,
            Self::Build(BuildError::DefinedTwice { .. } | BuildError::Link { .. } | BuildError::Code(_)) => {
                Blame::Program
            }
            Self::Build(BuildError::Bitcode { .. }) => Blame::Internal,
            Self::Build(BuildError::Instrument(error)) => of_instrumentation(error),
        }
    }
}

fn of_clang(error: &ClangError) -> Blame {
    match error {
        ClangError::NotRun(_) | ClangError::NoLibrary(_) => Blame::Environment,
        ClangError::Rejected { .. } => Blame::Program,
        ClangError::NotParsed { .. } => Blame::Internal,
    }
}

fn of_instrumentation(error: &InstrumentError) -> Blame {
    match error {
        InstrumentError::NoRoot | InstrumentError::Compiler { .. } => Blame::Program,
        InstrumentError::File { .. } | InstrumentError::Cache(_) => Blame::Environment,
        InstrumentError::Llvm(_) => Blame::Internal,
    }
}
