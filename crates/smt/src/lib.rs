//! Terms over bit-vectors and the bits of floating-point numbers: how they are built, evaluated, sliced and solved.
//!
//! Method: a hash-consing [`TermStore`] whose constructors simplify; an [`Evaluator`]; solvers behind the one trait
//! [`Solver`]; and [`Solving`], the layered front that queries a solver only if simplification, slicing and caches do not
//! answer, and accepts no model it has not evaluated itself. Limit: widths 1 to 128; booleans are bit-vectors of width 1;
//! numbers are their bits, in single or double precision; no arrays.

mod assignment;
mod build;
mod evaluate;
mod lower;
mod slice;
mod smtlib;
mod solver;
mod solving;
mod term;

pub use assignment::Assignment;
pub use evaluate::{Evaluator, evaluate};
pub use slice::slice;
pub use smtlib::script;
pub use solver::{
    BitwuzlaSolver, Cancel, Limit, Memory, ProcessSolver, RememberingSolver, Solver, UnknownReason, Verdict,
};
pub use solving::{Solving, SolvingStats};
pub use term::{
    BinaryOp, Extension, FloatBinaryOp, FloatUnaryOp, Format, MAX_WIDTH, Node, Rounding, StoreId, Term,
    TermStore, UnaryOp, Value, Var, Vars, float, value,
};
