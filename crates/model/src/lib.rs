//! The program under test as data.
//!
//! A [`Program`] is built once from the front end's unoptimised code and then only read: analyses, coverage, search and
//! proofs all use its ids. It prints, parses and verifies itself, and [`interpret`] runs it as an oracle that shares no
//! code with native execution. No LLVM and no IO in here.

mod c;
mod code;
pub mod ctype;
pub mod float_text;
mod ids;
pub mod input;
pub mod interpret;
pub mod invocation;
mod program;
mod span;
pub mod stub;
pub mod text;
pub mod verify;
pub mod walk;

pub use c::{
    Condition, Decision, DecisionKind, Label, LabelValues, Layout, Member, Shape, Statement, StatementKind,
    Storage, Switch, Variable, VariableKind,
};
pub use code::{
    BinaryOp, Block, Callee, CastOp, Decided, FloatBinaryOp, FloatKind, FloatPredicate, Instr, MemoryOp, Op,
    Operand, Predicate, RangeTest, SwitchCase, Terminator, Type,
};
pub use ids::{
    BlockId, ConditionId, DecisionId, FileId, FunctionId, GlobalId, InstrId, RecordId, SpanId, StatementId,
    SwitchId, VariableId,
};
pub use program::{Function, Gap, GapKind, Global, Linkage, Program, Record, Relocation, RelocationTarget};
pub use span::{Position, SourceFile, Span};
pub use verify::{Violation, verify};
