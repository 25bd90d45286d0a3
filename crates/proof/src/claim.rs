//! What a proof claims: that no activation of a function covers a goal.

use std::collections::BTreeSet;
use std::fmt;

use model::{BlockId, ConditionId, DecisionId, FunctionId, GlobalId, InstrId, Program, SwitchId, text};
use sha2::{Digest, Sha256};

/// In no activation of `entry`, begun with arbitrary parameters and arbitrary memory, is the goal covered.
///
/// When the goal belongs to `entry` itself, only what this activation does counts: calls of `entry` that it makes are
/// activations of their own, for which the claim holds as well. When the goal belongs to another function, all
/// activations of that function within the activation of `entry` count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    pub program: ProgramHash,
    pub entry: FunctionId,
    pub goal: Goal,
    pub assumptions: BTreeSet<Assumption>,
}

/// What is not to be covered, in terms of the model. Each is the event that coverage looks for in a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Goal {
    /// The instruction at this position of the block is begun; the position after the last is the terminator's.
    Reach { function: FunctionId, block: BlockId, position: u32 },
    /// The condition has this value.
    Outcome { condition: ConditionId, value: bool },
    /// The switch goes to this label.
    Label { switch: SwitchId, to: SwitchTarget },
    /// The decision has this outcome.
    Decision { decision: DecisionId, value: bool },
    /// An evaluation shows that the condition, with this value, affects its decision's outcome independently (masking
    /// MC/DC).
    Independent { condition: ConditionId, value: bool },
    /// An evaluation of the decision is the vector of this number: true comes before false, the first condition counts
    /// most.
    Vector { decision: DecisionId, number: u32 },
    /// Two evaluations, perhaps of different runs, differ in the condition and in the outcome, and in no other condition
    /// that both evaluate; the first has this value (unique-cause MC/DC).
    Paired { condition: ConditionId, value: bool },
    /// An activation of the function returns without having begun a block in which a `return` statement of it begins.
    End { function: FunctionId },
    /// In one activation a definition of the local reaches a use with no other store to the local in between. The local
    /// is the result of an `alloca`, definitions are stores to it, uses loads from it.
    Pair { function: FunctionId, local: InstrId, definitions: BTreeSet<InstrId>, uses: BTreeSet<InstrId> },
    /// Within the activation of the entry a definition of the object reaches a use with no other store to it in between.
    /// Definitions and uses are loads, stores and copies, by name or through pointers; of a local, in one activation.
    Flow { object: FlowObject, definitions: BTreeSet<FlowPlace>, uses: BTreeSet<FlowPlace> },
}

/// Bytes in memory whose definitions and uses count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowObject {
    pub home: FlowHome,
    pub offset: u64,
    pub size: u64,
    /// Whether what it holds when the entry begins counts as a definition.
    pub is_initial: bool,
}

/// Where a [`FlowObject`] lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FlowHome {
    Global(GlobalId),
    /// In each activation of the function anew, where this `alloca` says.
    Local(FunctionId, InstrId),
}

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowPlace {
    pub function: FunctionId,
    pub instr: InstrId,
}

impl fmt::Display for FlowPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.function, self.instr)
    }
}

/// Where a switch goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SwitchTarget {
    /// To the label with this index in the source's order.
    Label(u32),
    /// Past the statement: no label matches and none is `default`.
    ImplicitDefault,
}

/// What a claim presupposes beyond the facts of the platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Assumption {
    /// When `entry` begins, every global that the program defines holds its initial bytes.
    InitialGlobals,
    /// Functions that nobody defines do what the program's stubs of them do; but those of verification competitions, whose
    /// names say what they do.
    Stubs,
    /// `malloc` and `calloc` never return null.
    Allocation,
}

impl Assumption {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::InitialGlobals, Self::Stubs, Self::Allocation];

    /// The word for it in the text of a proof.
    pub fn word(self) -> &'static str {
        match self {
            Self::InitialGlobals => "initial-globals",
            Self::Stubs => "stubs",
            Self::Allocation => "allocation",
        }
    }
}

/// SHA-256 of a program's text: which program a claim is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProgramHash(pub [u8; 32]);

impl ProgramHash {
    /// The hash of this program.
    pub fn of(program: &Program) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(text::print(program).as_bytes());
        Self(hasher.finalize().into())
    }

    /// Reads 64 hexadecimal digits.
    pub fn parse(digits: &str) -> Option<Self> {
        if digits.len() != 64 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let mut bytes = [0; 32];
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&digits[2 * index..2 * index + 2], 16).ok()?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for ProgramHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
