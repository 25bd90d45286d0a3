//! Prints a proof.

use std::collections::BTreeSet;
use std::fmt::{Display, Write};

use model::{Callee, FunctionId, GlobalId, InstrId, Op, Program, Storage};

use super::{HEAD, VERSION};
use crate::{Body, Context, FlowHome, FlowObject, Formula, Goal, Listing, Operator, Proof, SwitchTarget};

pub(super) fn proof(proof: &Proof, program: Option<&Program>) -> String {
    let names = Names { program, entry: proof.claim.entry };
    let mut lines = vec![
        format!("{HEAD} {VERSION}"),
        format!("program {}", proof.claim.program),
        with_comment(format!("entry {}", proof.claim.entry), names.function(proof.claim.entry)),
        format!("goal {}", goal(&proof.claim.goal)),
    ];
    for assumption in &proof.claim.assumptions {
        lines.push(format!("assume {}", assumption.word()));
    }
    for context in &proof.contexts {
        let name = names.function_of(context).and_then(|function| names.function(function));
        lines.push(with_comment(format!("inline {context}"), name));
    }
    for cut in &proof.cuts {
        lines.push(with_comment(format!("cut {} {}", cut.context, cut.block), names.used(&cut.formula)));
        cut_formula(&mut lines, &cut.formula);
    }
    if let Some(vectors) = &proof.halves {
        lines.push(format!("halves{}", list(vectors)));
    }
    lines.push(match &proof.body {
        Body::Inductive => "inductive".to_owned(),
        Body::KInduction(depth) => format!("k-induction {depth}"),
        Body::Unrolled(cuts) => format!("unrolled{}", list(cuts)),
        Body::Listed(_) => "listed".to_owned(),
    });
    if let Body::Listed(listings) = &proof.body {
        listings.iter().for_each(|listing| rows(&mut lines, listing));
        lines.push("end".to_owned());
    }
    lines.join("\n") + "\n"
}

/// The scalars, and a line for each row.
fn rows(lines: &mut Vec<String>, listing: &Listing) {
    lines.push(format!("states {}", listing.cut));
    lines.extend(listing.scalars.iter().map(|scalar| format!("  {}", term(scalar))));
    for row in &listing.rows {
        let value = |value: &Option<u64>| value.map_or("_".to_owned(), |value| value.to_string());
        lines.push(format!("  row{}", list(row.iter().map(value))));
    }
}

/// A conjunction with an operand on each line, so that a person can read it; anything else on one line.
fn cut_formula(lines: &mut Vec<String>, formula: &Formula) {
    match formula {
        Formula::Apply(Operator::And, operands) if operands.len() > 1 => {
            lines.push("  (and".to_owned());
            for operand in operands {
                lines.push(format!("    {}", term(operand)));
            }
            let last = lines.last_mut().expect("there are operands");
            last.push(')');
        }
        Formula::Bool(_)
        | Formula::Bits { .. }
        | Formula::Local { .. }
        | Formula::Parameter(_)
        | Formula::Load { .. }
        | Formula::Global(_)
        | Formula::Function(_)
        | Formula::Alloca { .. }
        | Formula::Flag(_)
        | Formula::Apply(..) => lines.push(format!("  {}", term(formula))),
    }
}

fn goal(goal: &Goal) -> String {
    match goal {
        Goal::Reach { function, block, position } => format!("reach {function} {block} {position}"),
        Goal::Outcome { condition, value } => format!("outcome {condition} {value}"),
        Goal::Label { switch, to: SwitchTarget::Label(label) } => format!("label {switch} {label}"),
        Goal::Label { switch, to: SwitchTarget::ImplicitDefault } => format!("label {switch} implicit"),
        Goal::Decision { decision, value } => format!("decision {decision} {value}"),
        Goal::Independent { condition, value } => format!("independent {condition} {value}"),
        Goal::Vector { decision, number } => format!("vector {decision} {number}"),
        Goal::Paired { condition, value } => format!("paired {condition} {value}"),
        Goal::End { function } => format!("end {function}"),
        Goal::Pair { function, local, definitions, uses } => {
            format!("pair {function} {local} definitions{} uses{}", list(definitions), list(uses))
        }
        Goal::Flow { object: FlowObject { home, offset, size, is_initial }, definitions, uses } => {
            let home = match home {
                FlowHome::Global(global) => global.to_string(),
                FlowHome::Local(function, alloca) => format!("{function} {alloca}"),
            };
            let initial = if *is_initial { " initial" } else { "" };
            let (definitions, uses) = (list(definitions), list(uses));
            format!("flow {home} {offset} {size}{initial} definitions{definitions} uses{uses}")
        }
    }
}

fn list<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    let mut out = String::new();
    for item in items {
        write!(out, " {item}").expect("writing to a string does not fail");
    }
    out
}

fn term(formula: &Formula) -> String {
    match formula {
        Formula::Bool(value) => value.to_string(),
        Formula::Bits { bits, value } => constant(*bits, *value),
        Formula::Local { context, alloca } => format!("(local {context} {alloca})"),
        Formula::Parameter(number) => format!("(parameter {number})"),
        Formula::Load { bits, address } => format!("(load {bits} {})", term(address)),
        Formula::Global(global) => format!("(address {global})"),
        Formula::Function(function) => format!("(address {function})"),
        Formula::Alloca { context, alloca } => format!("(alloca {context} {alloca})"),
        Formula::Flag(context) => format!("(flag {context})"),
        Formula::Apply(operator, operands) => {
            let mut out = format!("({}", operator.word());
            match operator {
                Operator::Extract { high, low } => out.push_str(&list([high, low])),
                Operator::ZeroExtend(by) | Operator::SignExtend(by) => out.push_str(&list([by])),
                _ => {}
            }
            for operand in operands {
                out.push(' ');
                out.push_str(&term(operand));
            }
            out.push(')');
            out
        }
    }
}

/// `i32:-1`: signed where the value fits the width, as in the model's text.
fn constant(bits: u32, value: u128) -> String {
    if !(2..=128).contains(&bits) || (bits < 128 && value >> bits != 0) {
        return format!("i{bits}:{value}");
    }
    let shift = 128 - bits;
    format!("i{bits}:{}", (value << shift) as i128 >> shift)
}

fn with_comment(line: String, comment: Option<String>) -> String {
    match comment {
        Some(comment) => {
            let visible: String =
                comment.chars().map(|char| if char.is_control() { ' ' } else { char }).collect();
            format!("{line}  ; {visible}")
        }
        None => line,
    }
}

/// What things are called, where a program is given and has them.
struct Names<'p> {
    program: Option<&'p Program>,
    entry: FunctionId,
}

impl Names<'_> {
    fn function(&self, id: FunctionId) -> Option<String> {
        Some(self.program?.functions.get(id.index())?.name.clone())
    }

    fn global(&self, id: GlobalId) -> Option<String> {
        Some(self.program?.globals.get(id.index())?.name.clone())
    }

    /// The function that an activation is one of.
    fn function_of(&self, context: &Context) -> Option<FunctionId> {
        let program = self.program?;
        context.0.iter().try_fold(self.entry, |function, call| {
            match program.functions.get(function.index())?.instrs.get(call.index())?.op {
                Op::Call { callee: Callee::Direct(callee), .. } => Some(callee),
                _ => None,
            }
        })
    }

    fn local(&self, context: &Context, alloca: InstrId) -> Option<String> {
        let storage = Storage::Stack(self.function_of(context)?, alloca);
        let variable = self.program?.variables.iter().find(|variable| variable.storage == storage)?;
        Some(variable.name.clone())
    }

    /// The variables that a formula mentions: `%5 = count, g0 = total`.
    fn used(&self, formula: &Formula) -> Option<String> {
        let mut found = BTreeSet::new();
        self.collect(formula, &mut found);
        let found: Vec<String> = found.into_iter().collect();
        (!found.is_empty()).then(|| found.join(", "))
    }

    fn collect(&self, formula: &Formula, found: &mut BTreeSet<String>) {
        let entry = match formula {
            Formula::Local { context, alloca } | Formula::Alloca { context, alloca } => {
                self.local(context, *alloca).map(|name| format!("{context} {alloca} = {name}"))
            }
            Formula::Global(global) => self.global(*global).map(|name| format!("{global} = {name}")),
            Formula::Function(function) => {
                self.function(*function).map(|name| format!("{function} = {name}"))
            }
            Formula::Load { address, .. } => {
                self.collect(address, found);
                None
            }
            Formula::Apply(_, operands) => {
                operands.iter().for_each(|operand| self.collect(operand, found));
                None
            }
            Formula::Bool(_) | Formula::Bits { .. } | Formula::Parameter(_) | Formula::Flag(_) => None,
        };
        found.extend(entry);
    }
}
