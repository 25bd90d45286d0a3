//! Calls: into inlined activations and back, and around everything else.

use model::{Callee, Function, FunctionId, InstrId, Operand, Type};

use super::execute::{Segment, Step};
use super::inline::Point;
use super::reach::jumps;
use super::state::{State, ValueName};
use super::{Checked, rejected};

impl Segment<'_, '_> {
    pub(super) fn call(
        &mut self,
        point: Point,
        state: &mut State,
        id: InstrId,
        callee: Callee,
        arguments: &[(Type, Operand)],
    ) -> Checked<Step> {
        let direct = match callee {
            Callee::Direct(function) => Some(function),
            Callee::Indirect(_) => None,
        };
        let function: Option<&Function> = direct.map(|id| self.world.program.function(id));
        if let Some(function) = function.filter(|function| jumps(function)) {
            let at = format!("{} {id}", self.plan.inlined.describe(point));
            return rejected(at, format!("{} does not come back as calls do", function.name));
        }
        if let Some(callee) = self.plan.inlined.callee(point.activation, id) {
            self.enter(point.activation, state, callee, arguments);
            return Ok(Step::Called(callee));
        }
        let name = function.map_or("a pointer", |function| &function.name);
        self.may_not_lead_to_goal(direct, point, id, name)?;
        if function.is_some_and(|function| function.no_return) {
            return Ok(Step::Ended);
        }
        state.memory = self.world.fresh_memory(false);
        let ty = self.plan.inlined.activations[point.activation].code.instr(id).ty;
        let result = self.world.fresh(ty);
        state.values.insert((point.activation, ValueName::Result(id)), result);
        Ok(Step::Next)
    }

    pub(super) fn may_not_lead_to_goal(
        &self,
        callee: Option<FunctionId>,
        point: Point,
        id: InstrId,
        what: &str,
    ) -> Checked<()> {
        match &self.plan.may_reach {
            Some(reach) if reach.by_call(self.world.program, callee) => {
                let at = format!("{} {id}", self.plan.inlined.describe(point));
                rejected(at, format!("{what} may lead to the goal, and is not inlined"))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Begins an inlined activation.
    fn enter(&mut self, caller: usize, state: &mut State, callee: usize, arguments: &[(Type, Operand)]) {
        let activation = &self.plan.inlined.activations[callee];
        state.placed.retain(|(of, _)| *of != callee);
        state.values.retain(|(of, _), _| *of != callee);
        for (number, ty) in activation.code.parameters.iter().enumerate() {
            let value = match arguments.get(number) {
                Some((given, operand)) if given == ty => self.operand(state, caller, *operand, *ty),
                Some(_) | None => self.world.fresh(*ty),
            };
            state.values.insert((callee, ValueName::Parameter(number as u32)), value);
        }
        if self.plan.monitor.counts(callee, activation.function) {
            self.plan.monitor.begin(&mut self.world.terms, state, callee, true);
        }
    }

    pub(super) fn give_back(&mut self, point: Point, mut state: State, value: Option<Operand>) {
        let activation = &self.plan.inlined.activations[point.activation];
        let Some((caller, call, back)) = activation.caller else { return };
        let wanted = self.plan.inlined.activations[caller].code.instr(call).ty;
        let value = match value {
            Some(operand) if activation.code.result == wanted => {
                self.operand(&state, point.activation, operand, wanted)
            }
            Some(_) | None => self.world.fresh(wanted),
        };
        self.bury(&mut state, point.activation);
        state.values.retain(|(of, _), _| *of != point.activation);
        state.values.insert((caller, ValueName::Result(call)), value);
        self.arrive(back, state);
    }
}
