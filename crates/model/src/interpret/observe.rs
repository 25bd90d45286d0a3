//! What a run reports to its observer, and the path log built from it.

use super::CodeLocation;
use crate::walk::Entry;
use crate::{BlockId, ConditionId, FunctionId};

/// Told what a run does, in the order of the path log. Code without a model (the C library) is told of only by calls.
pub trait Observer {
    /// A block of the innermost function was entered.
    fn block(&mut self, _function: FunctionId, _block: BlockId) {}
    /// A condition was marked.
    fn condition(&mut self, _condition: ConditionId, _outcome: bool) {}
    /// The branch that ends a block was taken or not; one that a mark decides logs nothing itself.
    fn branch(&mut self, _at: CodeLocation, _taken: bool, _decided: bool) {}
    /// The switch that ends a block took this case of its list; the number of cases stands for default.
    fn switch(&mut self, _at: CodeLocation, _case: usize) {}
    /// An indirect call goes to this function, or to code without a model.
    fn callee(&mut self, _at: CodeLocation, _function: Option<FunctionId>) {}
    /// Code without a model calls this function.
    fn callback(&mut self, _function: FunctionId) {}
    /// A function with code is entered, from a call in the program or from outside.
    fn call(&mut self, _from: Option<CodeLocation>, _function: FunctionId) {}
    /// The innermost function returned.
    fn returned(&mut self, _function: FunctionId) {}
    /// An `alloca` made this many bytes.
    fn allocated(&mut self, _at: CodeLocation, _address: u64, _size: u64) {}
    /// Whether [`Observer::arguments`] is listened to.
    fn wants_arguments(&self) -> bool {
        false
    }
    /// A call is about to be made with these arguments, as far as they fit.
    fn arguments(&mut self, _at: CodeLocation, _arguments: &[u64]) {}
    /// An instruction read this many bytes.
    fn load(&mut self, _at: CodeLocation, _address: u64, _size: u64) {}
    /// An instruction read this value, which is no record.
    fn loaded(&mut self, _at: CodeLocation, _value: u128) {}
    /// An instruction wrote this many bytes.
    fn store(&mut self, _at: CodeLocation, _address: u64, _size: u64) {}
}

/// An observer that does not listen.
pub struct Unobserved;

impl Observer for Unobserved {}

/// The path log that an instrumented run with the same inputs writes, without addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathLog {
    pub entries: Vec<Entry<()>>,
}

impl Observer for PathLog {
    fn condition(&mut self, _condition: ConditionId, outcome: bool) {
        self.entries.push(Entry::Outcome { taken: outcome, payload: () });
    }

    fn branch(&mut self, _at: CodeLocation, taken: bool, decided: bool) {
        if !decided {
            self.entries.push(Entry::Outcome { taken, payload: () });
        }
    }

    fn switch(&mut self, _at: CodeLocation, case: usize) {
        self.entries.push(Entry::Switch { case: case as u64, payload: () });
    }

    fn callee(&mut self, _at: CodeLocation, function: Option<FunctionId>) {
        self.entries.push(Entry::Callee { function });
    }

    fn callback(&mut self, function: FunctionId) {
        self.entries.push(Entry::Callback { function });
    }
}
