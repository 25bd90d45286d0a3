//! A goal of data flow as ordinary C: a flag that says whether the newest definition of the object is one that the goal wants.
//!
//! Method: `quarry_define` is called right before each definition of the object is stored, and `quarry_use` where a wanted use takes
//! its value, each by wrapping the token that the definition or use is: what is assigned in `({ v = …; quarry_define(1); v; })`,
//! what is read in `(quarry_use(), x)`. A local's flag is cleared where its function is entered. Limits: objects
//! whose address is taken, whose definitions are calls or lists of initialisers, or that are locals of recursive functions are not expressed.

use std::collections::{BTreeMap, BTreeSet};

use analysis::call_graph::is_recursive;
use analysis::dataflow::{DataFlow, DefinitionId, DefinitionKind, Home, ObjectId, UseId};
use coverage::Demand;
use model::{
    Function, FunctionId, Global, GlobalId, InstrId, Op, Operand, Program, Relocation, RelocationTarget,
    SpanId, Storage,
};

use super::monitor::{Edit, Monitor, Side, Texts};
use super::tokens::{TextPlace, Tokens};

const ASSIGNMENTS: [&str; 11] = ["=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^="];

/// What happens at a token.
#[derive(Clone, Copy, Default)]
struct Events {
    uses: bool,
    /// Whether the definition is a wanted one.
    defines: Option<bool>,
}

impl Events {
    /// As a C expression, or several with commas between.
    fn text(self) -> String {
        let uses = self.uses.then(|| "quarry_use()".to_owned());
        let defines = self.defines.map(|wanted| format!("quarry_define({})", u8::from(wanted)));
        uses.into_iter().chain(defines).collect::<Vec<_>>().join(", ")
    }
}

/// A part of a unit's text that is wrapped.
struct Wrapped {
    unit: usize,
    from: TextPlace,
    to: TextPlace,
    before: String,
    after: String,
}

impl Texts<'_> {
    /// The monitor of pairs of one object.
    pub(super) fn flow(&self, flow: &DataFlow, demand: Demand) -> Result<Monitor, String> {
        let pairs = demand.pairs(flow);
        let definitions: BTreeSet<DefinitionId> = pairs.iter().map(|pair| pair.definition).collect();
        let uses: BTreeSet<UseId> = pairs.iter().map(|pair| pair.use_).collect();
        let first = definitions.first().ok_or("no definition reaches it")?;
        let object = flow.definition(*first).object;
        self.check_followed(flow, object)?;
        let mut sites: BTreeMap<(usize, u32), Events> = BTreeMap::new();
        let (mut begins_wanted, mut entry) = (false, None);
        for (id, definition) in flow.definitions().filter(|(_, definition)| definition.object == object) {
            let is_wanted = definitions.contains(&id);
            match definition.kind {
                DefinitionKind::Initial => begins_wanted |= is_wanted,
                DefinitionKind::Parameter => entry = Some(is_wanted),
                DefinitionKind::Assigned | DefinitionKind::Returned => {
                    self.check_stored(definition.function, &definition.places)?;
                    for site in self.lines(definition.function, definition.span)? {
                        sites.entry(site).or_default().defines = Some(is_wanted);
                    }
                }
            }
        }
        for id in uses {
            let use_ = flow.use_(id);
            for site in self.lines(use_.function, use_.span)? {
                sites.entry(site).or_default().uses = true;
            }
        }
        let mut edits = self.wrapped(sites)?;
        if let Home::Local(function) = flow.object(object).home {
            let (unit, braces) = self.braces(function)?;
            let text = format!(" quarry_define({});", u8::from(entry == Some(true)));
            edits.push(Edit { unit, line: braces.open, side: Side::After, text });
        }
        let shared = "extern void quarry_define(int is_wanted);\nextern void quarry_use(void);\n".to_owned();
        let state = format!(
            "/* whether what {} holds was put there by a definition that the goal is about */\n\
             static _Bool quarry_flow = {};\n\
             void quarry_define(int is_wanted)\n{{\n    quarry_flow = is_wanted;\n}}\n\
             void quarry_use(void)\n{{\n    if (quarry_flow)\n        reach_error();\n}}\n",
            flow.object(object).name,
            u8::from(begins_wanted)
        );
        Ok(Monitor { state, shared, edits, ..Monitor::default() })
    }

    /// Whether the object is only ever accessed by its name, and exists once.
    fn check_followed(&self, flow: &DataFlow, object: ObjectId) -> Result<(), String> {
        let of = flow.object(object);
        if let Home::Local(function) = of.home
            && is_recursive(self.program, function)
        {
            return Err(format!("{} is a local of a recursive function", of.name));
        }
        let Some(variable) = of.variable else { return Ok(()) };
        let storage = self.program.variables[variable.index()].storage;
        if is_address_taken(self.program, storage) {
            return Err(format!("the address of {} is taken", of.name));
        }
        Ok(())
    }

    /// Whether a definition is a store or a `return`: what code elsewhere does cannot be wrapped.
    fn check_stored(&self, function: FunctionId, places: &[analysis::Place]) -> Result<(), String> {
        let code = self.program.function(function);
        let is_call = places.iter().any(|place| {
            let instr = code.block(place.block).instrs.get(place.at as usize);
            instr.is_some_and(|instr| matches!(code.instr(*instr).op, Op::Call { .. }))
        });
        if is_call { Err("a call defines it".to_owned()) } else { Ok(()) }
    }

    /// The lines of a token of a function.
    fn lines(&self, function: FunctionId, span: Option<SpanId>) -> Result<Vec<(usize, u32)>, String> {
        let no_token = || "one end has no token of its own".to_owned();
        let span = self.program.span(span.ok_or_else(no_token)?);
        let (unit, braces) = self.braces(function)?;
        let spans = &self.marks.units[unit].lines;
        let is_it = |line: &u32| {
            let id = spans.get((*line as usize).wrapping_sub(1)).copied().flatten();
            id.is_some_and(|id| self.marks.spans[id.index()] == span)
        };
        let lines: Vec<_> = (braces.open..=braces.close).filter(is_it).map(|line| (unit, line)).collect();
        if lines.is_empty() { Err(no_token()) } else { Ok(lines) }
    }

    /// The edits for what happens at these tokens.
    fn wrapped(&self, sites: BTreeMap<(usize, u32), Events>) -> Result<Vec<Edit>, String> {
        let mut gathered: BTreeMap<(usize, u32), Events> = BTreeMap::new();
        for ((unit, line), events) in sites {
            let tokens = Tokens::of(&self.units[unit]);
            // reading a variable that is then assigned to is a part of the assignment
            let at =
                if events.uses && is_name(tokens.token(line)) { operator_of(&tokens, line) } else { line };
            let merged = gathered.entry((unit, at)).or_default();
            merged.uses |= events.uses;
            merged.defines = merged.defines.or(events.defines);
        }
        let mut all = Vec::new();
        for ((unit, line), events) in gathered {
            all.push(wrap(&Tokens::of(&self.units[unit]), unit, line, events)?);
        }
        // what is inside comes first
        all.sort_by_key(|wrapped| (wrapped.unit, wrapped.to.line - wrapped.from.line, wrapped.to.column));
        let edits = all.into_iter().flat_map(|Wrapped { unit, from, to, before, after }| {
            let edit = |place: TextPlace, side, text| Edit { unit, line: place.line, side, text };
            [edit(from, Side::Opening(from.column), before), edit(to, Side::Closing(to.column), after)]
        });
        Ok(edits.collect())
    }
}

fn wrap(tokens: &Tokens<'_>, unit: usize, line: u32, events: Events) -> Result<Wrapped, String> {
    let token = tokens.token(line);
    let comma = |first: u32, last: u32| Wrapped {
        unit,
        from: tokens.before(first),
        to: tokens.after(last),
        before: format!("({}, ", events.text()),
        after: ")".to_owned(),
    };
    let not_found = || format!("what happens at `{token}` is not expressed");
    match token {
        "return" => assigned(tokens, unit, line, events),
        assignment if ASSIGNMENTS.contains(&assignment) => assigned(tokens, unit, line, events),
        "++" | "--" if is_prefix(tokens, line) => {
            Ok(comma(line, tokens.operand_end(line + 1).ok_or_else(not_found)?))
        }
        "++" | "--" => Ok(comma(tokens.operand_start(line - 1).ok_or_else(not_found)?, line)),
        name if is_name(name) && events.defines.is_some() => {
            // a declaration with an initialiser
            if events.uses || tokens.token(line + 1) != "=" {
                return Err(not_found());
            }
            assigned(tokens, unit, line + 1, events)
        }
        name if is_name(name) && tokens.token(line + 1) == "(" && !is_member(tokens, line) => {
            let close = tokens.brackets(line + 1).ok_or_else(not_found)?.close;
            let (from, to) = (tokens.before(line), tokens.after(close));
            let before = format!("({{ __typeof__({}) quarry_v = ", tokens.between(from, to));
            Ok(Wrapped { unit, from, to, before, after: format!("; {}; quarry_v; }})", events.text()) })
        }
        name if is_name(name) => Ok(comma(tokens.operand_start(line).ok_or_else(not_found)?, line)),
        _ => Err(not_found()),
    }
}

/// Wraps what comes after an operator of assignment or `return`.
fn assigned(tokens: &Tokens<'_>, unit: usize, line: u32, events: Events) -> Result<Wrapped, String> {
    let from = tokens.after(line);
    let to = tokens.expression_end(from).ok_or("the end of what is assigned is not found")?;
    if tokens.token(line + 1) == "{" {
        return Err("a list of initialisers defines it".to_owned());
    }
    let before = format!(" ({{ __typeof__((0, ({}))) quarry_v = (", tokens.between(from, to));
    Ok(Wrapped { unit, from, to, before, after: format!("); {}; quarry_v; }})", events.text()) })
}

/// The operator that changes the operand whose name is on a line, or that line.
fn operator_of(tokens: &Tokens<'_>, line: u32) -> u32 {
    let is_step = |line: u32| matches!(tokens.token(line), "++" | "--");
    let Some((start, end)) = tokens.operand_start(line).zip(tokens.operand_end(line)) else { return line };
    let operator = tokens.token(end + 1);
    let is_changed = operator != "=" && ASSIGNMENTS.contains(&operator);
    if is_changed || is_step(end + 1) && !is_prefix(tokens, end + 1) {
        end + 1
    } else if start > 1 && is_step(start - 1) && is_prefix(tokens, start - 1) {
        start - 1
    } else {
        line
    }
}

/// Whether `++` or `--` stands before its operand.
fn is_prefix(tokens: &Tokens<'_>, line: u32) -> bool {
    let next = tokens.token(line + 1);
    let is_behind_operand = |token: &str| is_name(token) && token != "return" || matches!(token, "]" | ")");
    is_name(next) || next == "(" || next == "*" && !is_behind_operand(tokens.token(line - 1))
}

fn is_member(tokens: &Tokens<'_>, line: u32) -> bool {
    line > 1 && matches!(tokens.token(line - 1), "." | "->")
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// Whether anything but loads, stores and copies gets the address of a variable or of a part of it.
fn is_address_taken(program: &Program, storage: Storage) -> bool {
    let is_in_global = match storage {
        Storage::Stack(..) => false,
        Storage::Global(global) => program.globals.iter().any(|of| mentions(of, global)),
    };
    let functions = program.functions.iter().zip((0..).map(FunctionId));
    // a harness fills globals before the run
    let mut own = functions.filter(|(function, _)| !function.generated);
    is_in_global || own.any(|(function, id)| passes_address(function, id, storage))
}

/// Whether a global's initial value holds the address of another.
fn mentions(of: &Global, global: GlobalId) -> bool {
    let is_it = |relocation: &Relocation| match relocation.target {
        RelocationTarget::Global(target) => target == global,
        RelocationTarget::Function(_) => false,
    };
    of.relocations.iter().any(is_it)
}

/// Whether a function does anything else with the address of a variable, or of a part of it, than to access it.
fn passes_address(function: &Function, id: FunctionId, storage: Storage) -> bool {
    let mut parts: BTreeSet<InstrId> = BTreeSet::new();
    let is_it = |operand: Operand, parts: &BTreeSet<InstrId>| match (storage, operand) {
        (Storage::Stack(owner, alloca), Operand::Result(result)) if owner == id && alloca == result => true,
        (_, Operand::Result(result)) => parts.contains(&result),
        (Storage::Global(global), Operand::Global { global: of, .. }) => global == of,
        _ => false,
    };
    loop {
        let n_before = parts.len();
        for (instr, number) in function.instrs.iter().zip(0..) {
            if let Op::Address { base, .. } = instr.op
                && is_it(base, &parts)
            {
                parts.insert(InstrId(number));
            }
        }
        if parts.len() == n_before {
            break;
        }
    }
    let takes = |op: &Op| match op {
        Op::Load { .. } | Op::Address { .. } | Op::Memory { .. } => false,
        Op::Store { value, .. } => is_it(*value, &parts),
        other => other.operands().into_iter().any(|operand| is_it(operand, &parts)),
    };
    let returned = |block: &model::Block| block.terminator.operand();
    function.instrs.iter().any(|instr| takes(&instr.op))
        || function.blocks.iter().filter_map(returned).any(|operand| is_it(operand, &parts))
}
