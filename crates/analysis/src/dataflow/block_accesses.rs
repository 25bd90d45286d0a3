//! What each block reads and writes, in order, to follow the path of a run.

use model::{BlockId, FunctionId, VariableId};

use super::{DefinitionId, ObjectId, UseId};

/// An instruction that defines or uses objects, or may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Which instruction of the block; their number for the terminator.
    pub at: u32,
    pub kind: AccessKind,
    /// By object, in order: what it is when it writes there.
    pub definitions: Vec<(ObjectId, DefinitionId)>,
    /// By object, in order: what it is when it reads there.
    pub uses: Vec<(ObjectId, UseId)>,
    /// Which of the addresses logged for the instruction says what of this is touched; without one, it is all.
    pub address: Option<u32>,
}

/// What a access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    Load,
    Store,
    /// A `return` fixes what its function returns.
    Return,
    /// A call takes what the function it called returned.
    Result,
    /// The variable lies at the address from now on.
    Begin(VariableId),
}

impl Access {
    /// What the access is to an object when it writes there.
    pub fn definition_of(&self, object: ObjectId) -> Option<DefinitionId> {
        let at = self.definitions.binary_search_by_key(&object, |(object, _)| *object).ok()?;
        Some(self.definitions[at].1)
    }

    /// What the access is to an object when it reads there.
    pub fn use_of(&self, object: ObjectId) -> Option<UseId> {
        let at = self.uses.binary_search_by_key(&object, |(object, _)| *object).ok()?;
        Some(self.uses[at].1)
    }
}

/// The accesses of all blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockAccesses {
    pub(super) functions: Vec<Vec<Vec<Access>>>,
}

impl BlockAccesses {
    /// The accesses of a block, in order.
    pub fn of(&self, function: FunctionId, block: BlockId) -> &[Access] {
        let blocks = &self.functions[function.index()];
        blocks.get(block.index()).map_or(&[], Vec::as_slice)
    }
}
