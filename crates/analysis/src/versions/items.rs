//! Which code belongs to which statement?
//!
//! Method: tokens of the source are numbered in order, so an instruction belongs to the last statement that begins at or before its
//! token. Of `if`, loops and `switch` the statement is the head. Labels of a `switch` are items without code; code with no token
//! belongs to what comes before it in its block, or to the function's entry.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use model::{
    ConditionId, DecisionId, FunctionId, InstrId, LabelValues, Op, Program, Shape, SpanId, StatementId,
    StatementKind, SwitchId, Terminator,
};

use super::code::{Code, Names, Reader};
use crate::Place;

/// A piece of a function's source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ItemKind {
    /// What happens before the first statement, and what no statement says.
    Entry,
    Statement(StatementId),
    /// A `case` or `default`, by its number in the `switch`.
    Label(SwitchId, u32),
}

/// A piece of a function with its code.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) kind: ItemKind,
    pub(super) span: Option<SpanId>,
    pub(super) code: Vec<Code>,
    /// What the code does not show: how conditions combine, what a label matches, the words of a jump.
    pub(super) words: u64,
    pub(super) decisions: Vec<DecisionId>,
    /// The instructions that pass the value of each condition.
    pub(super) marks: Vec<(ConditionId, Place)>,
}

/// A function, item by item.
#[derive(Clone, Debug, Default)]
pub(super) struct FunctionItems {
    pub(super) items: Vec<Item>,
    /// The item of every instruction, whether or not it says something.
    pub(super) of_place: BTreeMap<Place, usize>,
}

/// Statements, decisions and labels by function.
pub(super) struct Sources {
    statements: HashMap<FunctionId, Vec<StatementId>>,
    decisions: HashMap<FunctionId, Vec<DecisionId>>,
    labels: HashMap<FunctionId, Vec<(SwitchId, u32)>>,
}

impl Sources {
    pub(super) fn of(program: &Program) -> Self {
        let mut sources =
            Self { statements: HashMap::new(), decisions: HashMap::new(), labels: HashMap::new() };
        for (statement, id) in program.statements.iter().zip((0..).map(StatementId)) {
            sources.statements.entry(statement.function).or_default().push(id);
        }
        for (decision, id) in program.decisions.iter().zip((0..).map(DecisionId)) {
            sources.decisions.entry(decision.function).or_default().push(id);
        }
        for (switch, id) in program.switches.iter().zip((0..).map(SwitchId)) {
            let labels = (0..).take(switch.labels.len()).map(|label| (id, label));
            sources.labels.entry(switch.function).or_default().extend(labels);
        }
        sources
    }
}

/// The items of a function, in the order of the source.
pub(super) fn items(
    program: &Program,
    names: &Names<'_>,
    sources: &Sources,
    id: FunctionId,
) -> FunctionItems {
    let mut found = FunctionItems { items: drafts(program, sources, id), ..FunctionItems::default() };
    let starts: Vec<(SpanId, usize)> = statement_starts(&found.items);
    let at = |span: SpanId| {
        let after = starts.partition_point(|(start, _)| *start <= span);
        after.checked_sub(1).map_or(0, |last| starts[last].1)
    };
    for decision in sources.decisions.get(&id).into_iter().flatten() {
        let of = program.decision(*decision);
        let item = &mut found.items[at(of.span)];
        item.decisions.push(*decision);
        let mut hasher = DefaultHasher::new();
        item.words.hash(&mut hasher);
        of.kind.hash(&mut hasher);
        combine(&of.shape, &mut hasher);
        item.words = hasher.finish();
    }
    let function = program.function(id);
    let mut reader = Reader::new(names, id);
    for (block_id, block) in function.blocks() {
        let mut item = 0;
        for (instr, number) in block.instrs.iter().zip(0..) {
            if let Some(span) = function.instr(*instr).span {
                item = at(span);
            }
            let place = Place { function: id, block: block_id, at: number };
            // the end of a function is at its closing brace, which belongs to no statement
            let own = if reader.is_result_slot(*instr) { 0 } else { item };
            add(&mut found, &mut reader, own, place, *instr);
        }
        let number = u32::try_from(block.instrs.len()).expect("fewer than 2^32 instructions");
        if let Some(span) = block.span.filter(|_| block.instrs.is_empty()) {
            item = at(span);
        }
        let code = reader.terminator(block_id, number);
        if code.is_none() && matches!(block.terminator, Terminator::Return(_)) {
            item = 0;
        }
        found.of_place.insert(Place { function: id, block: block_id, at: number }, item);
        found.items[item].code.extend(code);
    }
    found
}

fn add(found: &mut FunctionItems, reader: &mut Reader<'_, '_>, item: usize, place: Place, instr: InstrId) {
    found.of_place.insert(place, item);
    let code = reader.instr(place, instr);
    let item = &mut found.items[item];
    if let Some(condition) = reader.mark(instr) {
        item.marks.push((condition, place));
    }
    item.code.extend(code);
}

/// The items of a function without their code.
fn drafts(program: &Program, sources: &Sources, id: FunctionId) -> Vec<Item> {
    let item = |kind, span, words| Item {
        kind,
        span,
        code: Vec::new(),
        words,
        decisions: Vec::new(),
        marks: Vec::new(),
    };
    let mut items = vec![item(ItemKind::Entry, program.function(id).span, 0)];
    for &statement in sources.statements.get(&id).into_iter().flatten() {
        let of = program.statement(statement);
        items.push(item(ItemKind::Statement(statement), Some(of.span), words(&of.text, of.kind)));
    }
    for &(switch, number) in sources.labels.get(&id).into_iter().flatten() {
        let label = &program.switch(switch).labels[number as usize];
        let mut hasher = DefaultHasher::new();
        match label.values {
            LabelValues::Range { low, high } => (low, high).hash(&mut hasher),
            LabelValues::Default => "default".hash(&mut hasher),
        }
        items.push(item(ItemKind::Label(switch, number), Some(label.span), hasher.finish()));
    }
    // the entry stays first; a label stands before the statement that it labels
    items[1..].sort_by_key(|item| (item.span, matches!(item.kind, ItemKind::Statement(_))));
    items
}

/// What the text of a statement says that its code does not: a jump has none, and a `return` is one.
fn words(text: &str, kind: StatementKind) -> u64 {
    let mut hasher = DefaultHasher::new();
    let first = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    match (kind, first) {
        (StatementKind::Return, _) => "return".hash(&mut hasher),
        (StatementKind::Other, "goto" | "break" | "continue") => text.hash(&mut hasher),
        (StatementKind::Other, "if" | "for" | "while" | "switch") => first.hash(&mut hasher),
        (StatementKind::Other, _) => {}
    }
    hasher.finish()
}

/// How conditions combine.
fn combine(shape: &Shape, hasher: &mut DefaultHasher) {
    std::mem::discriminant(shape).hash(hasher);
    match shape {
        Shape::Leaf(_) => {}
        Shape::Constant(value) => value.hash(hasher),
        Shape::Not(inner) => combine(inner, hasher),
        Shape::And(a, b) | Shape::Or(a, b) | Shape::Equal(a, b) | Shape::Differ(a, b) => {
            combine(a, hasher);
            combine(b, hasher);
        }
        Shape::Ternary(a, b, c) => [a, b, c].into_iter().for_each(|inner| combine(inner, hasher)),
    }
}

/// Where statements begin, in order.
fn statement_starts(items: &[Item]) -> Vec<(SpanId, usize)> {
    let starts = items.iter().enumerate().filter_map(|(number, item)| match item.kind {
        ItemKind::Statement(_) => item.span.map(|span| (span, number)),
        ItemKind::Entry | ItemKind::Label(..) => None,
    });
    starts.collect()
}

impl Reader<'_, '_> {
    /// The condition whose value passes an instruction.
    fn mark(&self, instr: InstrId) -> Option<ConditionId> {
        match self.op_of(instr) {
            Op::Mark { condition, .. } => Some(*condition),
            _ => None,
        }
    }
}

impl FunctionItems {
    /// The blocks of an item's instructions, in order.
    pub(super) fn first_place(&self, item: usize) -> Option<Place> {
        self.items[item].code.first().map(|code| code.place)
    }
}
