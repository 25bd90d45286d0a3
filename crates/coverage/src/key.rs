//! Keys of goals: which goal of one program is which goal of another?
//!
//! Method: a key consists of the function, the criterion and a hash of what the goal asks, by the source's own text and
//! without positions: `triangle.branch.t-9f2c13ab`. Goals that agree in all of these are numbered in source order, from the
//! second on: `triangle.branch.t-9f2c13ab.2`. So inserting a line, a decision or a function elsewhere changes no other key.
//! A `static` function is named with its file, because others may have the same name. Keys consist of letters, digits and
//! `._~-`, which neither shells nor addresses treat specially. Limits: what is inserted before a goal just like it takes its
//! number, and editing a decision or statement gives it a new key.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use analysis::dataflow::{DataFlow, Definition, DefinitionKind, Pair, Use};
use analysis::decision::vectors;
use model::{FunctionId, Linkage, Position, Program, SpanId};

use crate::vector::Vector;
use crate::{Case, Demand, Goal};

/// The keys of goals, which are in source order within each function and criterion.
pub(crate) fn keys(program: &Program, flow: Option<&DataFlow>, goals: &[Goal]) -> Vec<String> {
    let namer = Namer { program, flow, functions: function_names(program), statements: statements(program) };
    let mut n_alike: HashMap<String, u32> = HashMap::new();
    goals
        .iter()
        .map(|goal| {
            let mut key = namer.name(goal);
            let number = n_alike.entry(key.clone()).or_default();
            *number += 1;
            if *number > 1 {
                write!(key, ".{number}").expect("writing to a string succeeds");
            }
            key
        })
        .collect()
}

struct Namer<'p> {
    program: &'p Program,
    flow: Option<&'p DataFlow>,
    /// By function.
    functions: Vec<String>,
    /// The statements of each function, by where they begin.
    statements: BTreeMap<FunctionId, BTreeMap<Position, &'p str>>,
}

impl Namer<'_> {
    /// A name that goals share which only their place tells apart.
    fn name(&self, goal: &Goal) -> String {
        let (tag, text) = self.demand(goal.demand);
        let function = &self.functions[goal.function.index()];
        format!("{function}.{}.{tag}-{:08x}", goal.criterion, hash(&text))
    }

    /// A word for what is demanded, and the whole of it in the source's own text.
    fn demand(&self, demand: Demand) -> (&'static str, String) {
        let program = self.program;
        let side = |value: bool| if value { "t" } else { "f" };
        let of_condition = |kind: &str, condition| {
            let condition = program.condition(condition);
            joined(&[kind, &condition.text, &program.decision(condition.decision).text])
        };
        match demand {
            Demand::Entered(_) => ("entry", String::new()),
            Demand::Ended(_) => ("end", String::new()),
            Demand::Executed(statement) => ("stmt", joined(&["stmt", &program.statement(statement).text])),
            Demand::Decision(decision, value) => {
                (side(value), joined(&["decision", &program.decision(decision).text]))
            }
            Demand::Condition(condition, value) => (side(value), of_condition("condition", condition)),
            Demand::Independent(condition, value) => (side(value), of_condition("effect", condition)),
            Demand::Paired(condition, value) => (side(value), of_condition("unique cause", condition)),
            Demand::Vector(decision, number) => {
                let decision = program.decision(decision);
                let outcomes = vectors(&decision.shape).into_iter().nth(number as usize).unwrap_or_default();
                let vector = Vector::from(outcomes.as_slice()).to_string();
                ("vector", joined(&["vector", &decision.text, &vector]))
            }
            Demand::Label(switch, case) => {
                let switch = program.switch(switch);
                let values = match case {
                    Case::Label(index) => switch.labels[index as usize].to_string(),
                    Case::ImplicitDefault => "no case".to_owned(),
                };
                ("case", joined(&["case", &switch.text, &values]))
            }
            Demand::Defined(definition) => {
                let text = self.flow.map(|flow| self.definition(flow, flow.definition(definition)));
                ("def", text.unwrap_or_default())
            }
            Demand::Used(use_) => {
                let text = self.flow.map(|flow| self.use_(flow, flow.use_(use_)));
                ("use", text.unwrap_or_default())
            }
            Demand::Pair(pair) => {
                let text = self.flow.map(|flow| self.pair(flow, flow.pair(pair)));
                ("pair", text.unwrap_or_default())
            }
        }
    }

    fn pair(&self, flow: &DataFlow, pair: Pair) -> String {
        let definition = self.definition(flow, flow.definition(pair.definition));
        joined(&[flow.name(pair), &definition, &self.use_(flow, flow.use_(pair.use_))])
    }

    fn definition(&self, flow: &DataFlow, definition: &Definition) -> String {
        let kind = match definition.kind {
            DefinitionKind::Assigned => "assigned",
            DefinitionKind::Parameter => "parameter",
            DefinitionKind::Initial => "initial",
            DefinitionKind::Returned => "returned",
        };
        let object = &flow.object(definition.object).name;
        joined(&[kind, object, &self.statement(definition.function, definition.span)])
    }

    fn use_(&self, flow: &DataFlow, use_: &Use) -> String {
        let object = &flow.object(use_.object).name;
        joined(&[&use_.kind.to_string(), object, &self.statement(use_.function, use_.span)])
    }

    /// The statement that a place of a function belongs to: the last that begins before it.
    fn statement(&self, function: FunctionId, span: Option<SpanId>) -> String {
        let at = span.map(|span| self.program.span(span).at);
        let statement = at.and_then(|at| {
            let before = self.statements.get(&function)?.range(..=at).next_back();
            before.filter(|(begin, _)| begin.file == at.file).map(|(_, text)| *text)
        });
        joined(&[&self.functions[function.index()], statement.unwrap_or_default()])
    }
}

/// By function: its name; with the file, and a number where that is not enough, if others may have the name.
fn function_names(program: &Program) -> Vec<String> {
    let mut n_alike: BTreeMap<String, u32> = BTreeMap::new();
    let mut name = |function: &model::Function| {
        let file = function.span.map(|span| program.file(program.span(span).at.file).path.as_str());
        let mut name = safe(&function.name);
        if function.linkage == Linkage::Internal
            && let Some(file) = file
        {
            let file = file.rsplit('/').next().unwrap_or_default();
            write!(name, "~{}", safe(file)).expect("writing to a string succeeds");
        }
        let number = n_alike.entry(name.clone()).or_default();
        *number += 1;
        if *number > 1 {
            write!(name, "~{number}").expect("writing to a string succeeds");
        }
        name
    };
    // a function that is only declared has no goals, and must not take a number from one that has
    let mut names = vec![String::new(); program.functions.len()];
    let mut defined: Vec<usize> = (0..names.len()).filter(|at| program.functions[*at].is_defined()).collect();
    defined.sort_by_key(|at| {
        let span = program.functions[*at].span;
        span.map(|span| program.span(span).at).map(|at| (program.file(at.file).path.clone(), at.line))
    });
    for at in defined {
        names[at] = name(&program.functions[at]);
    }
    names
}

fn statements(program: &Program) -> BTreeMap<FunctionId, BTreeMap<Position, &str>> {
    let mut statements: BTreeMap<FunctionId, BTreeMap<Position, &str>> = BTreeMap::new();
    for statement in &program.statements {
        let of_function = statements.entry(statement.function).or_default();
        of_function.entry(program.span(statement.span).at).or_insert(&statement.text);
    }
    statements
}

/// Parts of a text, each with single spaces, kept apart by what no source contains.
fn joined(parts: &[&str]) -> String {
    let part = |part: &&str| part.split_whitespace().collect::<Vec<_>>().join(" ");
    parts.iter().map(part).collect::<Vec<_>>().join("\u{1f}")
}

/// A name of C or of a file in letters that shells and addresses leave alone.
fn safe(name: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    name.chars().map(letter).collect()
}

/// FNV-1a, folded to 32 bits: keys are compared across versions of Quarry, so the hash must never change.
fn hash(text: &str) -> u32 {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let (high, low) = ((hash >> 32) as u32, hash as u32);
    high ^ low
}
