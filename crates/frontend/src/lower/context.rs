//! What lowering knows about the whole module while it goes through its functions.

use std::collections::HashMap;

use model::{BlockId, Function, FunctionId, Gap, GapKind, GlobalId, Linkage, SpanId, Type, Variable};

use super::{
    source::{FunctionKeys, SourceMap},
    types::Types,
};
use crate::llvm::{self, AttributePlace, Ir, LLVMLinkage, Value};
use crate::{agreement::MARK, mark::USER_MAIN, marks::Marks};

/// Ids of everything in the module, and what was found so far.
pub(crate) struct Context<'m, 'a> {
    pub(crate) ir: Ir<'m>,
    pub(crate) types: Types<'m>,
    pub(crate) source: SourceMap<'m, 'a>,
    pub(crate) functions: HashMap<Value<'m>, FunctionId>,
    pub(crate) globals: HashMap<Value<'m>, GlobalId>,
    /// Number of each block in its function.
    pub(crate) blocks: HashMap<llvm::Block<'m>, BlockId>,
    pub(crate) keys: FunctionKeys,
    pub(crate) variables: Vec<Variable>,
    pub(crate) gaps: Vec<Gap>,
}

impl<'m, 'a> Context<'m, 'a> {
    pub(crate) fn new(ir: Ir<'m>, marks: &'a Marks) -> Self {
        let numbered = ir.functions().into_iter().filter(|function| is_numbered(&function.name()));
        let functions: HashMap<_, _> =
            numbered.enumerate().map(|(number, function)| (function, FunctionId::new(number))).collect();
        let described = ir.globals().into_iter().filter(|global| is_described(&global.name()));
        let globals = described.enumerate().map(|(number, global)| (global, GlobalId::new(number))).collect();
        let blocks = ir.functions().into_iter().flat_map(|function| {
            function.blocks().into_iter().enumerate().map(|(number, block)| (block, BlockId::new(number)))
        });
        Self {
            ir,
            types: Types::new(ir),
            source: SourceMap::new(ir, marks),
            functions,
            globals,
            blocks: blocks.collect(),
            keys: FunctionKeys::new(),
            variables: Vec::new(),
            gaps: marks.gaps.clone(),
        }
    }

    pub(crate) fn gap(
        &mut self,
        kind: GapKind,
        function: Option<FunctionId>,
        span: Option<SpanId>,
        what: impl Into<String>,
    ) {
        let gap = Gap { kind, function, span, what: what.into() };
        // One place may take several instructions; the user needs to hear of it once.
        if !self.gaps.contains(&gap) {
            self.gaps.push(gap);
        }
    }

    /// A function without its code; also notes where it is written.
    pub(crate) fn declare(&mut self, function: Value<'m>) -> Function {
        let symbol = function.name();
        let (name, key) = self.source.function(function);
        let is_written = key.is_some();
        if let (Some(key), false) = (key, function.is_declaration()) {
            self.keys.insert(key, self.functions[&function]);
        }
        let subprogram = function.subprogram();
        // Code with debug information that is of no unit's text was appended: harness and stubs.
        let is_appended = subprogram.is_some() && !function.is_declaration() && !is_written;
        let is_generated = (symbol.starts_with("__quarry_") || is_appended) && symbol != USER_MAIN;
        let span = subprogram.and_then(|node| self.source.span(node, node.subprogram_line()));
        let ty = function.value_type();
        let parameters = ty.parameters().into_iter().map(|parameter| self.types.lower(parameter)).collect();
        Function {
            linkage: linkage(function),
            parameters,
            variadic: ty.is_variadic(),
            result: self.types.lower(ty.result()),
            span,
            no_return: function.has_attribute(AttributePlace::Function, "noreturn"),
            returns_twice: function.has_attribute(AttributePlace::Function, "returns_twice")
                || returns_twice(&symbol),
            generated: is_generated,
            name,
            instrs: Vec::new(),
            blocks: Vec::new(),
        }
    }
}

/// A function known only from the source: the compiler made no code for it.
pub(crate) fn codeless(name: &str, span: Option<SpanId>) -> Function {
    Function {
        name: name.to_owned(),
        linkage: Linkage::Internal,
        parameters: Vec::new(),
        variadic: false,
        result: Type::Void,
        span,
        no_return: false,
        returns_twice: false,
        generated: false,
        instrs: Vec::new(),
        blocks: Vec::new(),
    }
}

/// How a symbol is seen by other units.
pub(crate) fn linkage(symbol: Value<'_>) -> Linkage {
    match symbol.linkage() {
        LLVMLinkage::LLVMInternalLinkage | LLVMLinkage::LLVMPrivateLinkage => Linkage::Internal,
        _ if symbol.is_declaration() => Linkage::External,
        _ => Linkage::Exported,
    }
}

/// Marks and debug information are not calls; everything else that can be called has a number.
fn is_numbered(name: &str) -> bool {
    name != MARK && !name.starts_with("llvm.dbg.")
}

/// Lists for the linker are not memory of the program.
fn is_described(name: &str) -> bool {
    name != "llvm.used" && name != "llvm.compiler.used"
}

fn returns_twice(symbol: &str) -> bool {
    matches!(symbol, "setjmp" | "_setjmp" | "sigsetjmp" | "__sigsetjmp" | "llvm.eh.sjlj.setjmp")
}
