//! Why an operation failed, and what its caller can do about it.

use std::fmt;

/// Why something cannot be done, by who can mend it.
#[derive(Debug)]
pub enum Error {
    /// What was asked for, or something it names, is wrong.
    Usage(Explanation),
    /// The program under test does not build.
    Build(Explanation),
    /// The disk is full: what was written before stays.
    DiskFull(Explanation),
    /// The caller asked to stop before there was a result.
    Interrupted(Explanation),
    /// Two results of Quarry exclude each other.
    Contradiction(Explanation),
    /// Quarry or its environment failed.
    Internal(Explanation),
}

/// What went wrong, and advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    pub message: String,
    pub help: Vec<String>,
}

impl Error {
    /// What was asked for, or something it names, is wrong.
    pub fn usage(message: impl fmt::Display) -> Self {
        Self::Usage(Explanation::new(message))
    }

    /// The program under test does not build.
    pub fn build(message: impl fmt::Display) -> Self {
        Self::Build(Explanation::new(message))
    }

    /// Two results of Quarry exclude each other.
    pub fn contradiction(message: impl fmt::Display) -> Self {
        Self::Contradiction(Explanation::new(message))
    }

    /// Quarry or its environment failed.
    pub fn internal(message: impl fmt::Display) -> Self {
        Self::Internal(Explanation::new(message))
    }

    /// Quarry or its environment failed, for this reason and those behind it.
    pub fn caused(error: &dyn std::error::Error) -> Self {
        Self::internal(with_causes(error))
    }

    /// Adds a line of advice.
    #[must_use]
    pub fn help(mut self, advice: impl fmt::Display) -> Self {
        match &mut self {
            Self::Usage(why)
            | Self::Build(why)
            | Self::DiskFull(why)
            | Self::Interrupted(why)
            | Self::Contradiction(why)
            | Self::Internal(why) => why.help.push(advice.to_string()),
        }
        self
    }

    /// What went wrong, and advice.
    pub fn explanation(&self) -> &Explanation {
        match self {
            Self::Usage(why)
            | Self::Build(why)
            | Self::DiskFull(why)
            | Self::Interrupted(why)
            | Self::Contradiction(why)
            | Self::Internal(why) => why,
        }
    }

    /// What went wrong, without the advice.
    pub fn message(&self) -> &str {
        &self.explanation().message
    }
}

impl From<cache::CacheError> for Error {
    fn from(error: cache::CacheError) -> Self {
        Self::caused(&error)
    }
}

impl Explanation {
    /// Without advice.
    pub fn new(message: impl fmt::Display) -> Self {
        Self { message: message.to_string(), help: Vec::new() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl std::error::Error for Error {}

/// An error with everything behind it.
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
