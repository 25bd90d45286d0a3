//! From one linked, marked LLVM module to a [`Program`].
//!
//! Input is clang's unoptimised code of all units, in which calls of `__q` mark conditions; with [`Marks`] it says what
//! the source says. Method: number functions, globals and blocks; lower each function's instructions in order; attach
//! decisions, switches, statements and variables by debug lines. What the model does not describe is an opaque
//! instruction and a gap. Limit: code without debug lines belongs to no statement.

mod call;
mod constant;
mod context;
mod function;
mod instruction;
mod layout;
mod opcode;
mod source;
mod terminator;
mod types;
mod variables;

use std::collections::BTreeMap;

use inkwell::module::Module;
use model::ctype::FunctionKey;
use model::{BlockId, Decision, FunctionId, GapKind, Global, GlobalId, Program, Statement, Switch, SwitchId};
use serde::{Deserialize, Serialize};

use crate::llvm::{Ir, LLVMLinkage, OldDebugFormat, Value};
use crate::{
    agreement::{HARNESS, Refusal, refusal},
    mark::USER_MAIN,
    marks::{MarkedStatement, Marks},
};
use context::{Context, codeless, linkage};
pub(crate) use function::numbered;
use function::{CodeLine, FunctionCode, lower_code};
use terminator::{SwitchLines, find_switches};
use variables::global_variables;

/// The program, and the numbers its functions have for instrumentation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lowered {
    #[serde(with = "program_text")]
    pub program: Program,
    /// Number of each function by its symbol in the LLVM module.
    pub function_numbers: BTreeMap<String, u32>,
    /// For each function, the index of the unit it is written in.
    pub units: Vec<Option<usize>>,
}

/// A program has a text form of its own.
mod program_text {
    use model::Program;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(program: &Program, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&model::text::print(program))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Program, D::Error> {
        model::text::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// Lowers the module that all units were linked to. Leaves the module as it was.
pub fn lower(module: &Module<'_>, marks: &Marks) -> Lowered {
    let _readable = OldDebugFormat::of(module);
    let ir = Ir::of(module);
    let mut cx = Context::new(ir, marks);
    let mut program = Program {
        pointer_bits: ir.pointer_bits(),
        files: marks.files.clone(),
        spans: marks.spans.clone(),
        conditions: marks.conditions.clone(),
        ..Program::default()
    };
    let symbols: Vec<_> =
        ir.functions().into_iter().filter(|function| cx.functions.contains_key(function)).collect();
    // Headers first: code refers to functions, and marks to functions that may have no code.
    program.functions = symbols.iter().map(|function| cx.declare(*function)).collect();
    attach_marks(&mut cx, &mut program);
    lower_globals(&mut cx, &mut program);
    let lines = lower_functions(&mut cx, &mut program, &symbols);
    program.statements =
        marks.statements.iter().map(|marked| statement(&cx, &program, &lines, marked)).collect();
    let number = |name: &str| symbols.iter().position(|function| is_defined_as(*function, name));
    program.root = number(HARNESS).or(number("main")).or(number(USER_MAIN)).map(FunctionId::new);
    program.records = cx.types.records;
    program.variables = cx.variables;
    program.gaps = cx.gaps;
    let numbers = symbols.iter().zip(0..).map(|(function, number)| (function.name(), number));
    let mut units = vec![None; program.functions.len()];
    for (key, function) in &cx.keys {
        units[function.index()] = Some(key.unit);
    }
    Lowered { function_numbers: numbers.collect(), program, units }
}

fn is_defined_as(function: Value<'_>, name: &str) -> bool {
    !function.is_declaration() && function.name() == name
}

/// Gives decisions and switches their functions. Ids stay as marked, so a function without code gets an entry.
fn attach_marks(cx: &mut Context<'_, '_>, program: &mut Program) {
    let marks = cx.source.marks;
    let decisions = marks.decisions.iter().map(|marked| &marked.function);
    let switches = marks.switches.iter().map(|marked| &marked.function);
    let statements = marks.statements.iter().map(|marked| &marked.function);
    for key in decisions.chain(switches).chain(statements) {
        if !cx.keys.contains_key(key) {
            cx.keys.insert(key.clone(), FunctionId::new(program.functions.len()));
            program.functions.push(codeless(&key.name, written_at(marks, key)));
        }
    }
    program.decisions = marks
        .decisions
        .iter()
        .map(|marked| Decision {
            function: cx.keys[&marked.function],
            span: marked.span,
            kind: marked.kind,
            shape: marked.shape.clone(),
            text: marked.text.clone(),
        })
        .collect();
    program.switches = marks
        .switches
        .iter()
        .map(|marked| Switch {
            function: cx.keys[&marked.function],
            span: marked.span,
            text: marked.text.clone(),
            labels: marked.labels.clone(),
        })
        .collect();
}

fn written_at(marks: &Marks, key: &FunctionKey) -> Option<model::SpanId> {
    marks.declarations.functions.iter().find(|function| function.key == *key).map(|function| function.span)
}

fn lower_globals<'m>(cx: &mut Context<'m, '_>, program: &mut Program) {
    let mut globals: Vec<(GlobalId, Value<'m>)> =
        cx.globals.iter().map(|(value, id)| (*id, *value)).collect();
    globals.sort_unstable();
    for (id, value) in globals {
        global_variables(cx, value, id);
        let global = lower_global(cx, value);
        program.globals.push(global);
    }
}

fn lower_global<'m>(cx: &mut Context<'m, '_>, value: Value<'m>) -> Global {
    let name = value.name();
    let ty = value.value_type();
    let mut global = Global {
        linkage: linkage(value),
        constant: value.is_constant_global(),
        size: if ty.is_sized() { cx.ir.allocation_size(ty) } else { 0 },
        align: value.alignment().max(1),
        bytes: Vec::new(),
        relocations: Vec::new(),
        name,
    };
    let Some(initializer) = value.initializer() else {
        return global;
    };
    let image = constant::image(cx, initializer);
    for part in image.undescribed {
        cx.gap(GapKind::Instruction, None, None, format!("initialiser of {}: {part}", global.name));
    }
    if image.bytes.iter().any(|byte| *byte != 0) || !image.relocations.is_empty() {
        global.bytes = image.bytes;
        global.relocations = image.relocations;
    }
    global
}

/// The code of each function, by function: all in its order, and by its line the first of it.
type Lines = BTreeMap<FunctionId, (Vec<CodeLine>, BTreeMap<u32, usize>)>;

fn lower_functions<'m>(cx: &mut Context<'m, '_>, program: &mut Program, symbols: &[Value<'m>]) -> Lines {
    let marks = cx.source.marks;
    let switch_lines: SwitchLines = (marks.switches.iter().enumerate())
        .map(|(number, marked)| ((cx.keys[&marked.function], marked.line), SwitchId::new(number)))
        .collect();
    let mut all_lines = Lines::new();
    for (number, function) in symbols.iter().enumerate().filter(|(_, function)| is_built(**function)) {
        let id = FunctionId::new(number);
        if let Some(Refusal { kind, what, .. }) = refusal(*function) {
            cx.gap(kind, Some(id), None, what);
            continue;
        }
        let switches = find_switches(*function, id, &switch_lines, marks);
        let FunctionCode { instrs, blocks, lines } = lower_code(cx, *function, switches);
        program.functions[number].instrs = instrs;
        program.functions[number].blocks = blocks;
        let mut firsts = BTreeMap::new();
        for (index, code) in lines.iter().enumerate() {
            firsts.entry(code.line).or_insert(index);
        }
        all_lines.insert(id, (lines, firsts));
    }
    all_lines
}

/// Whether the program gets this code; of `extern inline` functions it gets the definition that stands elsewhere.
fn is_built(function: Value<'_>) -> bool {
    !function.is_declaration() && function.linkage() != LLVMLinkage::LLVMAvailableExternallyLinkage
}

/// A statement with the first code that comes from its lines.
fn statement(cx: &Context<'_, '_>, program: &Program, lines: &Lines, marked: &MarkedStatement) -> Statement {
    let function = cx.keys[&marked.function];
    let (first, last) = marked.lines;
    let code = lines.get(&function).and_then(|(lines, firsts)| {
        let first = firsts.range(first..=last).map(|(_, index)| *index).min()?;
        Some(&lines[first])
    });
    let position = |block: BlockId| program.function(function).block(block).instrs.len() as u32;
    let code = code.map(|code| (code.block, code.position.unwrap_or_else(|| position(code.block))));
    Statement { function, kind: marked.kind, span: marked.span, code, text: marked.text.clone() }
}
