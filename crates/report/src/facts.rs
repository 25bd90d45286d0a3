//! `coverage/facts.json`: what the tests of a run execute in the source, how often, and which of them.
//!
//! Written once when a campaign ends, read by every report, so reports need neither the program nor a compiler. Tests,
//! files, functions, vectors and conditions are referred to by their index in the lists here.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Where the facts are, within an output directory.
pub const FACTS_FILE: &str = "coverage/facts.json";

/// Everything that is known of the suite in the functions that it can reach.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    pub schema: u32,
    /// The suite, then the inputs that crash, then those that hang.
    pub tests: Vec<TestFacts>,
    /// The files that the functions are written in, as they were.
    pub files: Vec<FileFacts>,
    pub functions: Vec<FunctionFacts>,
    pub statements: Vec<StatementFacts>,
    pub decisions: Vec<DecisionFacts>,
    pub switches: Vec<SwitchFacts>,
}

/// A test as it was executed for the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestFacts {
    pub name: String,
    /// Within the output directory.
    pub file: String,
    /// On one line: `f(n = 3)`.
    pub call: String,
    pub end: String,
    /// What went wrong, when it did not end in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// Where it went wrong, as far as that is known: the access, or the last code that was certainly reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<At>,
    /// Why it could not be executed; then it counts nowhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmeasured: Option<String>,
}

/// Ways not to end in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    OutOfBoundsRead,
    OutOfBoundsWrite,
    Signal,
    Abort,
    StackOverflow,
    OutOfMemory,
    Hang,
    UseAfterFree,
    InvalidFree,
    MemoryLeak,
    UndefinedBehaviour,
}

impl Cause {
    /// Its stable name.
    pub fn id(self) -> &'static str {
        match self {
            Self::OutOfBoundsRead => "out-of-bounds-read",
            Self::OutOfBoundsWrite => "out-of-bounds-write",
            Self::Signal => "signal",
            Self::Abort => "abort",
            Self::StackOverflow => "stack-overflow",
            Self::OutOfMemory => "out-of-memory",
            Self::Hang => "hang",
            Self::UseAfterFree => "use-after-free",
            Self::InvalidFree => "invalid-free",
            Self::MemoryLeak => "memory-leak",
            Self::UndefinedBehaviour => "undefined-behaviour",
        }
    }

    /// A sentence about it.
    pub fn describe(self) -> &'static str {
        match self {
            Self::OutOfBoundsRead => "The program reads outside the bounds of an object.",
            Self::OutOfBoundsWrite => "The program writes outside the bounds of an object.",
            Self::Signal => {
                "A signal, such as that of an invalid access or a division by zero, ends the program."
            }
            Self::Abort => {
                "The program aborts: an assertion fails, or the C library finds its memory damaged."
            }
            Self::StackOverflow => "The program's stack overflows.",
            Self::OutOfMemory => "The program fails when memory runs out.",
            Self::Hang => "The program does not end within its time limit.",
            Self::UseAfterFree => "The program uses an object whose lifetime has ended.",
            Self::InvalidFree => "The program frees something that cannot be freed, or not any more.",
            Self::MemoryLeak => "The program loses memory that it allocated.",
            Self::UndefinedBehaviour => "The program does something that C does not define.",
        }
    }

    /// What a sanitizer's kind of report is.
    pub fn of_report(kind: &str, message: &str) -> Self {
        let accesses = || {
            if message.starts_with("write") { Self::OutOfBoundsWrite } else { Self::OutOfBoundsRead }
        };
        match kind {
            "heap-use-after-free" | "stack-use-after-return" | "stack-use-after-scope" => Self::UseAfterFree,
            "double-free" | "bad-free" | "attempting" | "alloc-dealloc-mismatch" => Self::InvalidFree,
            "memory-leak" => Self::MemoryLeak,
            "stack-overflow" => Self::StackOverflow,
            "ABRT" => Self::Abort,
            "SEGV" | "BUS" | "FPE" | "ILL" | "signal" | "integer-divide-by-zero" => Self::Signal,
            "out-of-bounds-index" => accesses(),
            kind if kind.ends_with("-overflow") || kind.ends_with("-underflow") => accesses(),
            _ => Self::UndefinedBehaviour,
        }
    }
}

/// A source file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFacts {
    /// As goals name it.
    pub path: String,
    pub absolute: PathBuf,
    /// Missing when it could not be read.
    pub text: Option<String>,
}

/// Where something begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct At {
    pub file: usize,
    pub line: u32,
    pub column: u32,
}

/// Which tests did it, and how often each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Hits(pub Vec<(usize, u64)>);

impl Hits {
    /// How often it was done in all.
    pub fn total(&self) -> u64 {
        self.0.iter().map(|(_, n)| n).sum()
    }
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionFacts {
    pub name: String,
    #[serde(flatten)]
    pub at: At,
    /// The last line that has code of it.
    pub last_line: u32,
    pub hits: Hits,
}

/// A statement for which there is code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementFacts {
    pub function: usize,
    #[serde(flatten)]
    pub at: At,
    pub hits: Hits,
}

/// A decision that is not constant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionFacts {
    pub function: usize,
    #[serde(flatten)]
    pub at: At,
    /// Line and column behind it, when its text stands in the file as it is.
    pub end: Option<(u32, u32)>,
    /// `if`, `while`, `value`.
    pub kind: String,
    /// Whether its outcome says where control goes.
    pub controls: bool,
    pub text: String,
    /// In order of evaluation.
    pub conditions: Vec<ConditionFacts>,
    /// The evaluations that tests made.
    pub vectors: Vec<VectorFacts>,
}

impl DecisionFacts {
    /// Whether compilers make jumps for its conditions.
    pub fn branches(&self) -> bool {
        self.controls || self.conditions.len() > 1
    }
}

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConditionFacts {
    #[serde(flatten)]
    pub at: At,
    pub end: Option<(u32, u32)>,
    pub text: String,
    pub when_true: Hits,
    pub when_false: Hits,
    /// What MC/DC asks of it, when true and when false.
    pub obligations: Vec<ObligationFacts>,
    /// Evaluations that show its effect together: those that differ in nothing else come first.
    pub pairs: Vec<PairFacts>,
}

/// An effect to be shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObligationFacts {
    pub value: bool,
    /// Earlier conditions whose effect this value hides.
    pub masks: Vec<usize>,
    /// `true` or `false` when the value ends the decision so, `no` when not, `depends` when it does and others say how.
    pub ends: String,
    /// The evaluations that show it.
    pub shown_by: Vec<usize>,
    /// When nothing does: some that would.
    pub missing: Vec<String>,
    /// The decision has too many conditions for that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unlisted: bool,
}

/// Two evaluations with different outcomes that show a condition's effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairFacts {
    pub when_true: usize,
    pub when_false: usize,
    /// Whether they differ in no other condition that both evaluate.
    pub unique_cause: bool,
}

/// An evaluation of a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VectorFacts {
    /// `TF-`.
    pub vector: String,
    pub outcome: bool,
    pub hits: Hits,
}

/// A `switch`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwitchFacts {
    pub function: usize,
    #[serde(flatten)]
    pub at: At,
    pub text: String,
    pub labels: Vec<LabelFacts>,
}

/// A way through a `switch`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelFacts {
    #[serde(flatten)]
    pub at: At,
    /// `case 3`, `default`, `no case matches`.
    pub what: String,
    pub hits: Hits,
}
