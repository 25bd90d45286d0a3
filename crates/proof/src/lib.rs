//! Proofs that a goal cannot be covered: claims, proofs as data and text, and their checker.
//!
//! A [`Claim`] says that no activation of a function covers a goal, a [`Proof`] gives formulas from which that follows, and
//! [`check`] decides whether it does. The checker is the trusted part: it executes the model symbolically by itself, asks
//! solver processes of its own ([`Solvers`]), and shares no code with whatever found the proof. What it does not know is
//! arbitrary; what it does not handle is rejected; what its limits leave open is unknown. None of these is an acceptance.
//!
//! # What is taken as a fact
//!
//! Everything else is left open: parameters, memory, results and effects of other calls that are not inlined, floating-point
//! arithmetic, `volatile` loads, inline assembly, shifts by the width or more, divisions that trap (the run may go on with
//! any result, because a compiler drops a division whose result is not needed; so may a load through a null pointer).
//!
//! - The model says what the program does. Signed arithmetic and pointer arithmetic wrap around.
//! - A store below address 4096 ends the run, and so does reaching code that is said to be unreachable or the return of a
//!   function that is said not to return.
//! - A run that accesses memory outside of its objects is no covering test. So a local that is only loaded and stored by
//!   its name (*promoted*) changes by these stores alone; distinct objects do not overlap, lie above address 4096 and not
//!   at the very end of memory. Exempt are constants, which may overlap each other, and what is defined elsewhere.
//! - Constants hold their initial bytes, unless an initialiser of the program is a gap of the model.
//! - A local before its first store has another arbitrary value at each load. Other uninitialised memory holds arbitrary
//!   bytes, which stay what they are until something is stored there.
//! - Functions of the C library that write output or allocate memory, and those by which a harness makes inputs, change no
//!   object of the program but what they are told to fill.
//! - Code outside of the program calls those of its functions whose address is taken somewhere, and no others. Nothing
//!   runs beside what calls show: programs with threads or signal handlers are rejected, and so are activations that call
//!   `setjmp` or `longjmp`.
//! - Limits: memory that is copied as a whole counts as not volatile.
//!
//! A proof counts only with a solver that says unsat, and none that says sat. What follows from listed states is computed instead, by the
//! meaning that SMT-LIB gives the operations.

mod certificate;
mod check;
mod claim;
mod context;
mod formula;
mod solvers;
pub mod text;
mod verdict;

pub use certificate::{Body, Cut, Listing, Proof};
pub use check::{Checker, check};
pub use claim::{Assumption, Claim, FlowHome, FlowObject, FlowPlace, Goal, ProgramHash, SwitchTarget};
pub use context::Context;
pub use formula::{Formula, Operator};
pub use solvers::{SolverProgram, Solvers};
pub use text::ProofParseError;
pub use verdict::{Answer, Decide, Rejection, Verdict};
