//! What does a proof say, in the words of the source?
//!
//! Method: each cut of a proof stands at a line, and its formula is written as C over the variables that live there. Of a
//! variable of a function that is inlined the function is named, too; `old(x)` is what parameter x was at the call. Limit:
//! what has no name in the source (memory behind pointers, parts of a value) is written with the operators of
//! SMT-LIB, as the proof has it.

use std::collections::BTreeSet;

use coverage::Invariant;
use model::{Callee, FunctionId, InstrId, Op, Operand, Position, Program, Storage};
use proof::{Body, Context, Cut, Formula, Operator, Proof};

/// What a proof relies on where loops are cut, in the order of the source.
pub fn invariants(program: &Program, proof: &Proof) -> Vec<Invariant> {
    let names = Names { program, entry: proof.claim.entry };
    let mut invariants: Vec<Invariant> = proof.cuts.iter().filter_map(|cut| names.invariant(cut)).collect();
    invariants.sort();
    invariants.dedup();
    invariants
}

/// How the invariants make an argument; nothing where each follows from those before.
pub fn how(program: &Program, proof: &Proof) -> String {
    let names = Names { program, entry: proof.claim.entry };
    let loops = names.loops(&proof.cuts);
    match &proof.body {
        Body::Inductive if proof.cuts.iter().any(|cut| cut.formula != Formula::Bool(true)) => String::new(),
        Body::Inductive if proof.cuts.is_empty() => {
            "the conditions on every path to it exclude each other".to_owned()
        }
        Body::Inductive => {
            "whatever loops do, the conditions on every path to it exclude each other".to_owned()
        }
        Body::KInduction(n @ (1 | 2)) => format!(
            "by induction over {loops}: the first pass does not come to it, and neither does any after {}",
            if *n == 1 { "it" } else { "a pass that does not" }
        ),
        Body::KInduction(n) => format!(
            "by induction over {loops}: the first {before} passes do not come to it, and neither does any after {before} that do not",
            before = n - 1
        ),
        Body::Listed(listings) => {
            let n_states: usize = listings.iter().map(|listing| listing.rows.len()).sum();
            format!("control arrives at {loops} in {n_states} states, none of which leads to it")
        }
        Body::Unrolled(cuts) => {
            format!(
                "{loops} ended in every case after {} passes in all, none of which came to it",
                cuts.len()
            )
        }
    }
}

struct Names<'a> {
    program: &'a Program,
    entry: FunctionId,
}

impl Names<'_> {
    /// The loops that are cut: `the loop at f.c:8`, `loops at f.c:8 and f.c:12`.
    fn loops(&self, cuts: &[Cut]) -> String {
        let at = |cut: &Cut| {
            let (file, position) = self.position(cut)?;
            Some((position.line, format!("{}:{}", file.rsplit('/').next().unwrap_or(&file), position.line)))
        };
        let places: BTreeSet<(u32, String)> = cuts.iter().filter_map(at).collect();
        let places: Vec<String> = places.into_iter().map(|(_, place)| place).collect();
        match &places[..] {
            [] => "its loops".to_owned(),
            [one] => format!("the loop at {one}"),
            [first @ .., last] => format!("the loops at {} and {last}", first.join(", ")),
        }
    }

    /// Where a cut is.
    fn position(&self, cut: &Cut) -> Option<(String, Position)> {
        let code = self.program.function(self.function_of(&cut.context)?);
        let spans = code.block(cut.block).instrs.iter().filter_map(|instr| code.instr(*instr).span);
        let at = self.program.span(spans.into_iter().next().or(code.span)?).at;
        Some((self.program.file(at.file).path.clone(), at))
    }

    fn invariant(&self, cut: &Cut) -> Option<Invariant> {
        let parts = match &cut.formula {
            Formula::Bool(true) => return None,
            Formula::Apply(Operator::And, parts) => parts.iter().map(|part| self.c(part)).collect(),
            other => vec![self.c(other)],
        };
        if parts.is_empty() {
            return None;
        }
        let (file, at) = self.position(cut)?;
        Some(Invariant { file, line: at.line, column: at.column, holds: parts })
    }

    /// The function that an activation is one of.
    fn function_of(&self, context: &Context) -> Option<FunctionId> {
        context.0.iter().try_fold(self.entry, |function, call| {
            match self.program.function(function).instrs.get(call.index())?.op {
                Op::Call { callee: Callee::Direct(callee), .. } => Some(callee),
                _ => None,
            }
        })
    }

    fn local(&self, context: &Context, alloca: InstrId) -> String {
        let named = self.function_of(context).and_then(|function| {
            let storage = Storage::Stack(function, alloca);
            let variable = self.program.variables.iter().find(|variable| variable.storage == storage)?;
            let within = if context.0.is_empty() {
                String::new()
            } else {
                format!("{}::", self.program.function(function).name)
            };
            Some(format!("{within}{}", variable.name))
        });
        named.unwrap_or_else(|| format!("(a value of {alloca})"))
    }

    /// What a parameter was; its variable is where the function stores it first.
    fn parameter(&self, number: u32) -> String {
        let code = self.program.function(self.entry);
        let stored = code.instrs.iter().find_map(|instr| match instr.op {
            Op::Store { value: Operand::Parameter(at), address: Operand::Result(alloca), .. }
                if at == number =>
            {
                Some(self.local(&Context::entry(), alloca))
            }
            _ => None,
        });
        format!("old({})", stored.unwrap_or_else(|| format!("parameter {}", number + 1)))
    }

    fn c(&self, formula: &Formula) -> String {
        match formula {
            Formula::Bool(value) => value.to_string(),
            Formula::Bits { bits, value } => signed(*bits, *value),
            Formula::Local { context, alloca } => self.local(context, *alloca),
            Formula::Parameter(number) => self.parameter(*number),
            Formula::Load { bits, address } => self.load(*bits, address),
            Formula::Global(global) => format!("&{}", self.program.global(*global).name),
            Formula::Function(function) => self.program.function(*function).name.clone(),
            Formula::Alloca { context, alloca } => format!("&{}", self.local(context, *alloca)),
            Formula::Flag(_) => "the definition reaches this point".to_owned(),
            Formula::Apply(operator, operands) => self.apply(*operator, operands),
        }
    }

    fn load(&self, bits: u32, address: &Formula) -> String {
        match address {
            Formula::Global(global) => {
                let global = self.program.global(*global);
                let name = &global.name;
                if global.size * 8 == u64::from(bits) {
                    name.clone()
                } else {
                    format!("{bits} bits of {name}")
                }
            }
            other => format!("{bits} bits at {}", self.c(other)),
        }
    }

    fn apply(&self, operator: Operator, operands: &[Formula]) -> String {
        let all =
            |between: &str| operands.iter().map(|one| self.inner(one)).collect::<Vec<_>>().join(between);
        let unsigned = |between: &str| {
            let one = |operand: &Formula| match operand {
                Formula::Bits { value, .. } => format!("{value}u"),
                other => format!("(unsigned) {}", self.inner(other)),
            };
            operands.iter().map(one).collect::<Vec<_>>().join(between)
        };
        match (operator, operands) {
            (Operator::Not, [Formula::Apply(Operator::Equal, parts)]) => {
                parts.iter().map(|one| self.inner(one)).collect::<Vec<_>>().join(" != ")
            }
            (Operator::Not, [one]) => format!("!{}", self.inner(one)),
            (Operator::And, [_, ..]) => all(" && "),
            (Operator::Or, [_, ..]) => all(" || "),
            (Operator::Implies, [when, then]) => format!("!{} || {}", self.inner(when), self.inner(then)),
            (Operator::Equal, _) => all(" == "),
            (Operator::BvSlt, _) => all(" < "),
            (Operator::BvSle, _) => all(" <= "),
            (Operator::BvSgt, _) => all(" > "),
            (Operator::BvSge, _) => all(" >= "),
            (Operator::BvUlt, _) => unsigned(" < "),
            (Operator::BvUle, _) => unsigned(" <= "),
            (Operator::BvUgt, _) => unsigned(" > "),
            (Operator::BvUge, _) => unsigned(" >= "),
            (Operator::BvAdd, _) => all(" + "),
            (Operator::BvSub, _) => all(" - "),
            (Operator::BvMul, _) => all(" * "),
            (Operator::BvAnd, _) => all(" & "),
            (Operator::BvOr, _) => all(" | "),
            (Operator::BvXor, _) => all(" ^ "),
            (Operator::BvShl, _) => all(" << "),
            (Operator::BvNot, [one]) => format!("~{}", self.inner(one)),
            (Operator::BvNeg, [one]) => format!("-{}", self.inner(one)),
            (Operator::SignExtend(_) | Operator::ZeroExtend(_), [one]) => self.inner(one),
            // the lowest bit says whether a number is odd
            (Operator::Extract { high: 0, low: 0 }, [one]) => format!("({} & 1)", self.inner(one)),
            (Operator::Extract { high, low }, [one]) => {
                format!("(bits {low} to {high} of {})", self.inner(one))
            }
            (other, _) => format!("{}({})", other.word(), all(", ")),
        }
    }

    /// The same as a part of something.
    fn inner(&self, formula: &Formula) -> String {
        let text = self.c(formula);
        let is_one = match formula {
            Formula::Apply(operator, _) => {
                matches!(
                    operator,
                    Operator::SignExtend(_) | Operator::ZeroExtend(_) | Operator::Extract { .. }
                )
            }
            Formula::Flag(_) => false,
            Formula::Bits { .. } => !text.starts_with('-'),
            Formula::Bool(_)
            | Formula::Local { .. }
            | Formula::Parameter(_)
            | Formula::Load { .. }
            | Formula::Global(_)
            | Formula::Function(_)
            | Formula::Alloca { .. } => true,
        };
        if is_one { text } else { format!("({text})") }
    }
}

/// A constant as an int reads.
fn signed(bits: u32, value: u128) -> String {
    if !(2..=128).contains(&bits) {
        return value.to_string();
    }
    let shift = 128 - bits;
    (((value << shift) as i128) >> shift).to_string()
}
