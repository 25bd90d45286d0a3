//! Stubs of undefined functions, and how the tests used them.

use engine::campaign::CampaignResult;
use model::input::calls::calls;
use model::input::{Input, Kind};
use model::stub::{Behaviour, Stub};

use crate::subject::Subject;
use report::record::StubRecord;

/// A record per stub.
pub fn records(subject: &Subject, result: &CampaignResult) -> Vec<StubRecord> {
    let findings = result.crashes.iter().chain(&result.hangs).map(|finding| &finding.test);
    let inputs: Vec<&Input> = result.tests.iter().chain(findings).map(|test| &test.input).collect();
    let record = |stub: &Stub| StubRecord {
        name: stub.function.key.name.clone(),
        prototype: subject.prototype(stub),
        does: does(subject, stub).to_owned(),
        calls: inputs.iter().filter_map(|input| n_calls(subject, stub, input)).max(),
    };
    subject.stubs().stubs.iter().map(record).collect()
}

fn does(subject: &Subject, stub: &Stub) -> &'static str {
    match stub.behaviour {
        Behaviour::Gives { .. } if stub.writes.is_empty() => "returns input",
        Behaviour::Gives { .. } if subject.returns_nothing(stub) => "writes input",
        Behaviour::Gives { .. } => "returns and writes input",
        Behaviour::Nothing if subject.returns_nothing(stub) => "does nothing",
        Behaviour::Nothing => "returns 0",
        Behaviour::Ends => "ends the run",
        Behaviour::Assumes => "ends the run if its argument is false",
        Behaviour::Fails => "ends the run as an error",
    }
}

/// How many calls of the stub an input answers; `None` when they give nothing.
fn n_calls(subject: &Subject, stub: &Stub, input: &Input) -> Option<usize> {
    let Behaviour::Gives { root, result } = stub.behaviour else { return None };
    match &subject.stubs().roots[root].kind {
        Kind::Sequence { root, results } => {
            Some(calls(*root, results, input).iter().filter(|call| call.function == result).count())
        }
        _ => None,
    }
}
