//! The subject of tests, and the tests themselves.

use std::path::Path;

use model::ctype::{CFunction, Declarations};
use model::input::Shape;
use model::stub::Stubs;

/// The function that tests call. The roots of `stubs` are the last ones of `shape`.
#[derive(Clone, Copy, Debug)]
pub struct FunctionUnderTest<'a> {
    pub function: &'a CFunction,
    pub declarations: &'a Declarations,
    /// The file that defines it, by its absolute path: programs with tests include it.
    pub source: &'a Path,
    pub shape: &'a Shape,
    pub stubs: &'a Stubs,
}

/// A test of a replay program.
#[derive(Clone, Debug)]
pub struct Test<I> {
    /// Its name in the program.
    pub name: String,
    /// A comment for the reader; may be empty.
    pub about: String,
    pub input: I,
}

impl<I> Test<I> {
    /// The comment before the test, if it has one.
    pub(crate) fn comment(&self) -> String {
        if self.about.is_empty() {
            return String::new();
        }
        // the text must not end the comment, nor begin another
        let about = self.about.replace("*/", "* /").replace("/*", "/ *");
        format!("/* {about} */\n")
    }
}
