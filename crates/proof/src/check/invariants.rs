//! Formulas of a proof as terms over a state.

use super::inline::Inlined;
use super::state::State;
use super::terms::{Sort, Term};
use super::world::World;
use crate::text::MAX_DEPTH;
use crate::{Context, Formula};

/// What the formula says of the state, or what is wrong with it.
pub(crate) fn translate<'p>(
    world: &mut World<'p>,
    inlined: &Inlined<'p>,
    state: &State,
    formula: &Formula,
) -> Result<Term, String> {
    let term = Translation { world, inlined, state }.term(formula, MAX_DEPTH)?;
    if world.terms.sort(term) == Sort::Bool { Ok(term) } else { Err("it is no boolean".to_owned()) }
}

/// The number that a formula is in the state, or what is wrong with it.
pub(crate) fn scalar<'p>(
    world: &mut World<'p>,
    inlined: &Inlined<'p>,
    state: &State,
    formula: &Formula,
) -> Result<Term, String> {
    Translation { world, inlined, state }.term(formula, MAX_DEPTH)
}

struct Translation<'t, 'p> {
    world: &'t mut World<'p>,
    inlined: &'t Inlined<'p>,
    state: &'t State,
}

impl Translation<'_, '_> {
    fn term(&mut self, formula: &Formula, depth: usize) -> Result<Term, String> {
        if depth == 0 {
            return Err(format!("formulas may be nested {MAX_DEPTH} deep"));
        }
        match formula {
            Formula::Bool(value) => Ok(self.world.terms.truth(*value)),
            Formula::Bits { bits, value } => {
                if !(1..=128).contains(bits) || (*bits < 128 && value >> bits != 0) {
                    return Err(format!("{value} does not fit {bits} bits"));
                }
                Ok(self.world.terms.constant(*bits, *value))
            }
            Formula::Local { context, alloca } => {
                let local = self.activation(context)?;
                let known = self.state.locals.get(&(local, *alloca));
                known
                    .map(|known| known.value)
                    .ok_or_else(|| format!("{context} {alloca} is no promoted local"))
            }
            Formula::Parameter(number) => {
                match self.world.parameters.get(*number as usize).map(Vec::as_slice) {
                    Some([term]) => Ok(*term),
                    Some(_) | None => Err(format!("parameter {number} is no scalar of the entry")),
                }
            }
            Formula::Load { bits, address } => {
                if !(8..=128).contains(bits) || bits % 8 != 0 {
                    return Err(format!("{bits} bits are not 1 to 16 bytes"));
                }
                let address = self.term(address, depth - 1)?;
                if self.world.terms.sort(address) != Sort::Bits(self.world.terms.pointer_bits) {
                    return Err("a load takes an address".to_owned());
                }
                Ok(self.world.load(self.state.memory, address, *bits))
            }
            Formula::Global(id) if id.index() < self.world.program.globals.len() => {
                Ok(self.world.global(*id))
            }
            Formula::Global(id) => Err(format!("{id} does not exist")),
            Formula::Function(id) if id.index() < self.world.program.functions.len() => {
                Ok(self.world.function(*id))
            }
            Formula::Function(id) => Err(format!("{id} does not exist")),
            Formula::Alloca { context, alloca } => {
                let key = (self.activation(context)?, *alloca);
                let known = self.state.addresses.get(&key).copied();
                known.ok_or_else(|| format!("{context} {alloca} is no local in memory"))
            }
            // The flag belongs to the state like a variable: an activation begins with its known value, and the monitor follows
            // every step of it. What is said of it is shown by induction like everything else.
            Formula::Flag(context) => {
                let known = self.state.flags.get(&self.activation(context)?).copied();
                known.ok_or_else(|| format!("{context} has no flag"))
            }
            Formula::Apply(operator, operands) => {
                let mut terms = Vec::new();
                for operand in operands {
                    terms.push(self.term(operand, depth - 1)?);
                }
                if self.world.terms.result(*operator, &terms).is_none() {
                    return Err(format!("{} does not take such operands", operator.word()));
                }
                Ok(self.world.terms.apply(*operator, &terms))
            }
        }
    }

    fn activation(&self, context: &Context) -> Result<usize, String> {
        self.inlined.find(context).ok_or_else(|| format!("{context} is not inlined"))
    }
}
