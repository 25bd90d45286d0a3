//! The body of a stub while it is written: its code, and the cells that a call asks for.

use model::ctype::{CTypeId, CTypeKind, CTypes};
use model::input::{Cell, Key, Node, Scalar};

use crate::harness::cells::{explain, kind};
use crate::harness::fill::Filler;
use crate::harness::plan::{Plan, Planner};
use crate::harness::{DEFAULT_LENGTH, HarnessOptions};

/// Code and cells side by side.
pub struct Body<'a> {
    types: &'a CTypes,
    planner: Planner<'a>,
    filler: Filler<'a>,
    next_key: u64,
    reasons: Vec<String>,
}

impl<'a> Body<'a> {
    /// A body whose cells are parts of the object with the key in the variable `object`, numbered from `first`. Pointers
    /// inside what a call gives are null: their objects would have to live longer than the call.
    pub fn new(types: &'a CTypes, options: &'a HarnessOptions, object: &str, first: u64) -> Self {
        let mut planner = Planner::new(types, options, Vec::new());
        planner.follows_pointers = false;
        let filler = Filler::of_object(types, object);
        Self { types, planner, filler, next_key: first, reasons: Vec::new() }
    }

    /// The number that the next cell gets.
    pub fn next_key(&self) -> u64 {
        self.next_key
    }

    /// The code, and what is not given.
    pub fn finish(self) -> (String, Vec<String>) {
        (self.filler.text, self.reasons)
    }

    /// Adds a line of code.
    pub fn line(&mut self, line: &str) {
        self.filler.line(line);
    }

    /// Where the next line will be.
    pub fn mark(&self) -> usize {
        self.filler.text.len()
    }

    /// Adds a line of code where a mark was taken.
    pub fn line_at(&mut self, mark: usize, line: &str) {
        self.filler.text.insert_str(mark, &format!("    {line}\n"));
    }

    /// Fills a variable.
    pub fn variable(&mut self, lvalue: &str, ty: CTypeId) -> Node {
        let plan = self.planner.plan(ty, 0);
        self.place(lvalue, ty, &plan)
    }

    /// Fills what the pointer `lvalue` points to: `length` elements, or the default number.
    pub fn behind(&mut self, lvalue: &str, to: CTypeId, length: Option<u64>) -> Node {
        let is_object = matches!(self.types[to].kind, CTypeKind::Struct { .. });
        let usual = if is_object { 1 } else { DEFAULT_LENGTH };
        let plan = self.planner.fixed(to, length.unwrap_or(usual));
        self.place(lvalue, to, &plan)
    }

    /// Asks for a truth value.
    pub fn truth(&mut self, lvalue: &str) -> Cell {
        let key = self.next_key;
        self.filler.fill(lvalue, ".", key, &Plan::Scalar(Scalar::Bool));
        self.next_key += 1;
        Cell { key: Key(key), scalar: Scalar::Bool }
    }

    fn place(&mut self, lvalue: &str, ty: CTypeId, plan: &Plan) -> Node {
        let mut key = self.next_key;
        self.filler.fill(lvalue, ".", key, plan);
        explain("result", plan, &mut self.reasons);
        let kind = kind(plan, &mut key);
        self.next_key = key;
        Node { name: lvalue.to_owned(), c_type: self.types[ty].spelling.clone(), kind }
    }
}
