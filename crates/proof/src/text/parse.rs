//! Parses a proof. Checks only the form: ids may name nothing, sorts may not fit.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::{BlockId, ConditionId, DecisionId, FunctionId, GlobalId, InstrId, SwitchId};

use super::lexer::Words;
use super::{HEAD, MAX_DEPTH, ProofParseError, VERSION};
use crate::{
    Assumption, Body, Claim, Context, Cut, FlowHome, FlowObject, FlowPlace, Formula, Goal, Listing, Operator,
    ProgramHash, Proof, SwitchTarget,
};

type Parsed<T> = Result<T, ProofParseError>;

const ITEMS: &str = "`assume`, `inline`, `cut`, `halves`, or how it is shown: `inductive`, `k-induction`, `unrolled` or `listed`";

pub(super) fn proof(text: &str) -> Parsed<Proof> {
    let words = &mut Words::of(text);
    words.keyword(HEAD)?;
    words.keyword(VERSION)?;
    words.keyword("program")?;
    let digits = words.next("a hash")?;
    let program =
        ProgramHash::parse(digits).ok_or_else(|| words.unexpected("64 hexadecimal digits", digits))?;
    words.keyword("entry")?;
    let entry = FunctionId(id(words, "f", "a function")?);
    words.keyword("goal")?;
    let claim = Claim { program, entry, goal: goal(words)?, assumptions: BTreeSet::new() };
    let (contexts, cuts, halves) = (Vec::new(), Vec::new(), None);
    let mut proof = Proof { claim, contexts, cuts, halves, body: Body::Inductive };
    loop {
        match words.next(ITEMS)? {
            "assume" => {
                let word = words.next("an assumption")?;
                let known = Assumption::ALL.into_iter().find(|assumption| assumption.word() == word);
                let assumption = known.ok_or_else(|| words.unexpected("an assumption", word))?;
                if !proof.claim.assumptions.insert(assumption) {
                    return Err(words.error(format!("`{word}` is assumed twice")));
                }
            }
            "inline" => proof.contexts.push(context(words)?),
            "cut" => {
                let (context, block) = (context(words)?, BlockId(id(words, "b", "a block")?));
                proof.cuts.push(Cut { context, block, formula: formula(words, MAX_DEPTH)? });
            }
            "inductive" => break,
            "k-induction" => {
                proof.body = Body::KInduction(number(words, "a number of segments")?);
                break;
            }
            "unrolled" => {
                proof.body = Body::Unrolled(numbers(words, "the number of a cut")?);
                break;
            }
            "listed" => {
                proof.body = Body::Listed(Arc::new(listings(words)?));
                break;
            }
            "halves" if proof.halves.is_none() => {
                proof.halves = Some(numbers(words, "the number of a vector")?);
            }
            other => return Err(words.unexpected("an item of a proof", other)),
        }
    }
    match words.peek() {
        None => Ok(proof),
        Some(word) => {
            words.next("the end")?;
            Err(words.unexpected("the end", word))
        }
    }
}

fn listings(words: &mut Words<'_>) -> Parsed<Vec<Listing>> {
    let mut all = Vec::new();
    while words.peek() == Some("states") {
        words.keyword("states")?;
        let mut listing =
            Listing { cut: number(words, "the number of a cut")?, scalars: Vec::new(), rows: Vec::new() };
        while words.peek().is_some_and(|word| !["row", "states", "end"].contains(&word)) {
            listing.scalars.push(formula(words, MAX_DEPTH)?);
        }
        while words.peek() == Some("row") {
            words.keyword("row")?;
            let mut row = Vec::new();
            while words.peek().is_some_and(|word| word == "_" || digits(word).is_some()) {
                let word = words.next("a value")?;
                row.push(match word {
                    "_" => None,
                    value => Some(value.parse().map_err(|_| words.unexpected("a value of 64 bits", value))?),
                });
            }
            listing.rows.push(row);
        }
        all.push(listing);
    }
    // a text that was cut off has fewer rows
    words.keyword("end")?;
    Ok(all)
}

fn numbers(words: &mut Words<'_>, what: &str) -> Parsed<Vec<u32>> {
    let mut found = Vec::new();
    while words.peek().is_some_and(|word| digits(word).is_some()) {
        found.push(number(words, what)?);
    }
    Ok(found)
}

fn goal(words: &mut Words<'_>) -> Parsed<Goal> {
    match words.next("a kind of goal")? {
        "reach" => Ok(Goal::Reach {
            function: FunctionId(id(words, "f", "a function")?),
            block: BlockId(id(words, "b", "a block")?),
            position: number(words, "a position")?,
        }),
        "outcome" => Ok(Goal::Outcome { condition: condition(words)?, value: truth(words)? }),
        "label" => Ok(Goal::Label {
            switch: SwitchId(id(words, "sw", "a switch")?),
            to: if words.peek() == Some("implicit") {
                words.keyword("implicit")?;
                SwitchTarget::ImplicitDefault
            } else {
                SwitchTarget::Label(number(words, "a label's index or `implicit`")?)
            },
        }),
        "decision" => Ok(Goal::Decision { decision: decision(words)?, value: truth(words)? }),
        "independent" => Ok(Goal::Independent { condition: condition(words)?, value: truth(words)? }),
        "vector" => {
            Ok(Goal::Vector { decision: decision(words)?, number: number(words, "the number of a vector")? })
        }
        "paired" => Ok(Goal::Paired { condition: condition(words)?, value: truth(words)? }),
        "end" => Ok(Goal::End { function: FunctionId(id(words, "f", "a function")?) }),
        "pair" => {
            let function = FunctionId(id(words, "f", "a function")?);
            let local = instr(words)?;
            words.keyword("definitions")?;
            let definitions = instrs(words)?;
            words.keyword("uses")?;
            Ok(Goal::Pair { function, local, definitions, uses: instrs(words)? })
        }
        "flow" => flow(words),
        other => Err(words.unexpected("a kind of goal", other)),
    }
}

fn flow(words: &mut Words<'_>) -> Parsed<Goal> {
    let word = words.next("a global or a function")?;
    let home = match (id_of(word, "g"), id_of(word, "f")) {
        (Some(global), _) => FlowHome::Global(GlobalId(global)),
        (None, Some(function)) => FlowHome::Local(FunctionId(function), instr(words)?),
        (None, None) => return Err(words.unexpected("a global or a function", word)),
    };
    let offset = number(words, "a number of bytes")?.into();
    let size = number(words, "a number of bytes")?.into();
    let is_initial = words.peek() == Some("initial");
    if is_initial {
        words.keyword("initial")?;
    }
    words.keyword("definitions")?;
    let definitions = flow_places(words)?;
    words.keyword("uses")?;
    let object = FlowObject { home, offset, size, is_initial };
    Ok(Goal::Flow { object, definitions, uses: flow_places(words)? })
}

/// `f3:%5 f4:%1`.
fn flow_places(words: &mut Words<'_>) -> Parsed<BTreeSet<FlowPlace>> {
    let mut found = BTreeSet::new();
    while words.peek().is_some_and(|word| word.contains(":%")) {
        let word = words.next("an instruction")?;
        let place = word.split_once(':').and_then(|(function, instr)| {
            let (function, instr) = (id_of(function, "f")?, id_of(instr, "%")?);
            Some(FlowPlace { function: FunctionId(function), instr: InstrId(instr) })
        });
        found.insert(place.ok_or_else(|| words.unexpected("an instruction such as `f0:%3`", word))?);
    }
    Ok(found)
}

fn context(words: &mut Words<'_>) -> Parsed<Context> {
    let word = words.next("an activation")?;
    let mut parts = word.split('.');
    let calls: Option<Vec<InstrId>> = match parts.next() {
        Some("@") => parts.map(|part| id_of(part, "%").map(InstrId)).collect(),
        _ => None,
    };
    calls.map(Context).ok_or_else(|| words.unexpected("an activation such as `@.%3`", word))
}

fn condition(words: &mut Words<'_>) -> Parsed<ConditionId> {
    id(words, "c", "a condition").map(ConditionId)
}

fn decision(words: &mut Words<'_>) -> Parsed<DecisionId> {
    id(words, "d", "a decision").map(DecisionId)
}

fn instr(words: &mut Words<'_>) -> Parsed<InstrId> {
    id(words, "%", "an instruction").map(InstrId)
}

fn instrs(words: &mut Words<'_>) -> Parsed<BTreeSet<InstrId>> {
    let mut found = BTreeSet::new();
    while words.peek().is_some_and(|word| word.starts_with('%')) {
        found.insert(instr(words)?);
    }
    Ok(found)
}

fn truth(words: &mut Words<'_>) -> Parsed<bool> {
    match words.next("`true` or `false`")? {
        "true" => Ok(true),
        "false" => Ok(false),
        other => Err(words.unexpected("`true` or `false`", other)),
    }
}

fn id(words: &mut Words<'_>, prefix: &str, what: &str) -> Parsed<u32> {
    let word = words.next(what)?;
    id_of(word, prefix).ok_or_else(|| words.unexpected(what, word))
}

fn id_of(word: &str, prefix: &str) -> Option<u32> {
    digits(word.strip_prefix(prefix)?)?.parse().ok()
}

fn number(words: &mut Words<'_>, what: &str) -> Parsed<u32> {
    let word = words.next(what)?;
    digits(word).and_then(|digits| digits.parse().ok()).ok_or_else(|| words.unexpected(what, word))
}

/// The word if it is digits alone: `parse` would also take a sign.
fn digits(word: &str) -> Option<&str> {
    (!word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())).then_some(word)
}

fn formula(words: &mut Words<'_>, depth: usize) -> Parsed<Formula> {
    if depth == 0 {
        return Err(words.error(format!("formulas may be nested {MAX_DEPTH} deep")));
    }
    match words.next("a formula")? {
        "true" => Ok(Formula::Bool(true)),
        "false" => Ok(Formula::Bool(false)),
        "(" => {
            let head = words.next("an operator")?;
            let formula = compound(words, head, depth - 1)?;
            words.keyword(")")?;
            Ok(formula)
        }
        word => constant(word).ok_or_else(|| words.unexpected("a formula", word)),
    }
}

fn compound(words: &mut Words<'_>, head: &str, depth: usize) -> Parsed<Formula> {
    match head {
        "local" => Ok(Formula::Local { context: context(words)?, alloca: instr(words)? }),
        "alloca" => Ok(Formula::Alloca { context: context(words)?, alloca: instr(words)? }),
        "flag" => Ok(Formula::Flag(context(words)?)),
        "parameter" => Ok(Formula::Parameter(number(words, "a parameter's number")?)),
        "load" => {
            let bits = number(words, "a number of bits")?;
            Ok(Formula::Load { bits, address: Box::new(formula(words, depth)?) })
        }
        "address" => {
            let word = words.next("a global or a function")?;
            match (id_of(word, "g"), id_of(word, "f")) {
                (Some(global), _) => Ok(Formula::Global(GlobalId(global))),
                (None, Some(function)) => Ok(Formula::Function(FunctionId(function))),
                (None, None) => Err(words.unexpected("a global or a function", word)),
            }
        }
        head => {
            let operator = match head {
                "extract" => {
                    let (high, low) = (number(words, "the high bit")?, number(words, "the low bit")?);
                    Some(Operator::Extract { high, low })
                }
                "zero_extend" => Some(Operator::ZeroExtend(number(words, "a number of bits")?)),
                "sign_extend" => Some(Operator::SignExtend(number(words, "a number of bits")?)),
                _ => Operator::PLAIN.iter().copied().find(|operator| operator.word() == head),
            };
            let operator = operator.ok_or_else(|| words.unexpected("an operator", head))?;
            let mut operands = Vec::new();
            while words.peek().is_some_and(|word| word != ")") {
                operands.push(formula(words, depth)?);
            }
            Ok(Formula::Apply(operator, operands))
        }
    }
}

/// `i32:-1`: negative numbers are taken modulo the width.
fn constant(word: &str) -> Option<Formula> {
    let (bits, value) = word.strip_prefix('i')?.split_once(':')?;
    let bits: u32 = digits(bits)?.parse().ok()?;
    if !(1..=128).contains(&bits) {
        return None;
    }
    let value = match value.strip_prefix('-') {
        Some(magnitude) => {
            let magnitude: u128 = digits(magnitude)?.parse().ok()?;
            let most = 1_u128 << (bits - 1);
            (magnitude <= most).then(|| magnitude.wrapping_neg() & (u128::MAX >> (128 - bits)))?
        }
        None => digits(value)?.parse().ok()?,
    };
    (value <= u128::MAX >> (128 - bits)).then_some(Formula::Bits { bits, value })
}
