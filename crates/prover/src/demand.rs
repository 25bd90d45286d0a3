//! What a goal of coverage is as a goal of a proof.

use coverage::{Case, Demand};
use model::{BlockId, Program};
use proof::{Goal, SwitchTarget};

/// The goal that no run covers exactly when none meets the demand; none where proofs have no such goal.
pub fn goal_of(program: &Program, demand: Demand) -> Option<Goal> {
    match demand {
        Demand::Entered(function) => {
            let is_defined = program.function(function).is_defined();
            is_defined.then_some(Goal::Reach { function, block: BlockId(0), position: 0 })
        }
        Demand::Executed(statement) => {
            let statement = program.statement(statement);
            let (block, position) = statement.code?;
            Some(Goal::Reach { function: statement.function, block, position })
        }
        Demand::Decision(decision, value) => Some(Goal::Decision { decision, value }),
        Demand::Condition(condition, value) => Some(Goal::Outcome { condition, value }),
        Demand::Independent(condition, value) => Some(Goal::Independent { condition, value }),
        Demand::Paired(condition, value) => Some(Goal::Paired { condition, value }),
        Demand::Vector(decision, number) => Some(Goal::Vector { decision, number }),
        Demand::Label(switch, case) => {
            let to = match case {
                Case::Label(label) => SwitchTarget::Label(label),
                Case::ImplicitDefault => SwitchTarget::ImplicitDefault,
            };
            Some(Goal::Label { switch, to })
        }
        Demand::Ended(_) | Demand::Defined(_) | Demand::Used(_) | Demand::Pair(_) => None,
    }
}
