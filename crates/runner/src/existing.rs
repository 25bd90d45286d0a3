//! A test that was there already, as an input of the program under test.

use model::input::Input;

/// A test that was there already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExistingTest {
    pub name: String,
    /// File, and line where it has several.
    pub origin: String,
    pub input: Input,
}
