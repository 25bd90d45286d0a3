//! The whole program and its functions, globals and gaps.

use serde::{Deserialize, Serialize};

use crate::{
    Block, BlockId, Condition, ConditionId, Decision, DecisionId, FileId, FunctionId, GlobalId, Instr,
    InstrId, Position, RecordId, SourceFile, Span, SpanId, Statement, StatementId, Switch, SwitchId, Type,
    Variable,
};

/// A program: what was given to Quarry, as one unit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// Bits of a pointer: 32 or 64.
    pub pointer_bits: u32,
    pub files: Vec<SourceFile>,
    pub spans: Vec<Span>,
    pub records: Vec<Record>,
    pub globals: Vec<Global>,
    pub functions: Vec<Function>,
    pub decisions: Vec<Decision>,
    pub conditions: Vec<Condition>,
    pub switches: Vec<Switch>,
    pub statements: Vec<Statement>,
    pub variables: Vec<Variable>,
    pub gaps: Vec<Gap>,
    /// Where values of a run may be lost; runs name them by their index.
    pub sites: Vec<Gap>,
    /// Where a run starts: the harness, or `main`.
    pub root: Option<FunctionId>,
}

/// A structure held in registers, flattened to scalar leaves.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    pub size: u64,
    /// Byte offset and type of each leaf.
    pub leaves: Vec<(u64, Type)>,
}

/// How a symbol is seen by other units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linkage {
    /// Declared here, defined elsewhere.
    External,
    /// Defined here, visible.
    Exported,
    /// `static`.
    Internal,
}

/// A global variable or constant.
#[derive(Clone, Debug, PartialEq)]
pub struct Global {
    pub name: String,
    pub linkage: Linkage,
    pub constant: bool,
    pub size: u64,
    pub align: u32,
    /// The initial bytes; empty for zero-initialised memory and for declarations.
    pub bytes: Vec<u8>,
    /// Pointers within the initial bytes.
    pub relocations: Vec<Relocation>,
}

/// A pointer-sized place in a global that holds an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    pub offset: u64,
    pub target: RelocationTarget,
    pub addend: i64,
}

/// What an initial pointer points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelocationTarget {
    Global(GlobalId),
    Function(FunctionId),
}

/// A function; without blocks it is only declared.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    pub name: String,
    pub linkage: Linkage,
    pub parameters: Vec<Type>,
    pub variadic: bool,
    pub result: Type,
    pub span: Option<SpanId>,
    /// Calls to it do not come back.
    pub no_return: bool,
    /// Calls to it may come back more than once (`setjmp`).
    pub returns_twice: bool,
    /// Made by Quarry (the harness), not part of the user's source.
    pub generated: bool,
    /// Indexed by [`InstrId`].
    pub instrs: Vec<Instr>,
    /// Indexed by [`BlockId`]; the first is the entry.
    pub blocks: Vec<Block>,
}

impl Function {
    /// An exported function without parameters or result.
    pub fn procedure(name: impl Into<String>, instrs: Vec<Instr>, blocks: Vec<Block>) -> Self {
        Self {
            name: name.into(),
            linkage: Linkage::Exported,
            parameters: Vec::new(),
            variadic: false,
            result: Type::Void,
            span: None,
            no_return: false,
            returns_twice: false,
            generated: false,
            instrs,
            blocks,
        }
    }
}

/// Something Quarry does not handle, where it stands. The code still runs concretely.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    pub kind: GapKind,
    pub function: Option<FunctionId>,
    pub span: Option<SpanId>,
    /// What exactly: an instruction, a symbol, a type.
    pub what: String,
}

/// Kinds of gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum GapKind {
    InlineAssembly,
    Vector,
    WideInteger,
    FloatingPoint,
    VariableArguments,
    AtomicOperation,
    Exception,
    /// A symbol defined nowhere, replaced by one that returns 0.
    UndefinedSymbol,
    /// A condition without a mark (GNU `a ?: b`).
    UnmarkedCondition,
    /// A kind of input the harness does not build.
    Input,
    /// An intrinsic or instruction not described.
    Instruction,
    Thread,
    /// A library function that is not followed was given symbolic values.
    LibraryFunction,
    /// A run went on with the concrete value of something symbolic.
    PinnedValue,
}

impl Program {
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.index()]
    }

    pub fn global(&self, id: GlobalId) -> &Global {
        &self.globals[id.index()]
    }

    pub fn record(&self, id: RecordId) -> &Record {
        &self.records[id.index()]
    }

    pub fn decision(&self, id: DecisionId) -> &Decision {
        &self.decisions[id.index()]
    }

    pub fn condition(&self, id: ConditionId) -> &Condition {
        &self.conditions[id.index()]
    }

    pub fn switch(&self, id: SwitchId) -> &Switch {
        &self.switches[id.index()]
    }

    pub fn statement(&self, id: StatementId) -> &Statement {
        &self.statements[id.index()]
    }

    pub fn span(&self, id: SpanId) -> Span {
        self.spans[id.index()]
    }

    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.index()]
    }

    /// The function with this name, a defined one before a declared one.
    pub fn function_named(&self, name: &str) -> Option<FunctionId> {
        let named = |(_, function): &(usize, &Function)| function.name == name;
        let mut found: Vec<_> = self.functions.iter().enumerate().filter(named).collect();
        found.sort_by_key(|(index, function)| (!function.is_defined(), *index));
        found.first().map(|(index, _)| FunctionId::new(*index))
    }

    /// `path:line:column` of a position.
    pub fn describe(&self, position: Position) -> String {
        format!("{}:{}:{}", self.file(position.file).path, position.line, position.column)
    }
}

impl Function {
    /// Whether its code is known.
    pub fn is_defined(&self) -> bool {
        !self.blocks.is_empty()
    }

    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.index()]
    }

    pub fn instr(&self, id: InstrId) -> &Instr {
        &self.instrs[id.index()]
    }

    /// Blocks with their ids, the entry first.
    pub fn blocks(&self) -> impl Iterator<Item = (BlockId, &Block)> {
        self.blocks.iter().enumerate().map(|(index, block)| (BlockId::new(index), block))
    }
}
