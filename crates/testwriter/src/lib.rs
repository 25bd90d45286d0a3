//! Tests as C text: programs that replay them, check them and record what they do.
//!
//! Data in, text out: no compiler, no process, no file system. [`replay_program`] runs tests and prints results,
//! [`check_program`] compares them with expected results, using a test framework, and [`recorder`] records what to expect.
//! [`driver`] runs tests of whole programs. All of them build inputs in the same way, as readable initialisers.

mod callbacks;
mod capture;
mod check;
mod frame;
mod invocation;
mod layout;
mod leaves;
mod objects;
mod record;
mod replay;
mod stubs;
mod test;
mod texts;
mod values;

pub use capture::{NotedPointer, OTHER_FUNCTION, capture_beside, capture_within, diverted, first_choice};
pub use check::{
    CHECKS_HEADER, Checked, Ending, Expectation, Framework, SUPPORT_HEADER, SUPPORT_SOURCE, UNIT_HEADER,
    check_program,
};
pub use frame::{USER_MAIN, free_name};
pub use invocation::{ALLOCATIONS, TEST_VARIABLE, driver, stubbed_unit};
pub use leaves::{Leaf, LeafKind, Seen, leaves};
pub use record::{Observed, Recorder, WRAPPED, recorder};
pub use replay::replay_program;
pub use test::{FunctionUnderTest, Test};
pub use values::value_text;
