//! Programs and proofs as text, and what the checker says about them.

use model::{Program, text, verify};
use proof::{Checker, ProgramHash, Proof, Solvers, Verdict};

/// One file, one span, and the decisions given as `d0 f0 (c0 && c1)`.
pub fn program(decisions: &[&str], rest: &str) -> Program {
    let mut tables = String::from("program pointer 64\nfile file0 \"t.c\"\nspan s0 file0:1:1\n");
    let mut globals = String::new();
    let mut code = String::new();
    for line in rest.lines() {
        let at = if line.trim_start().starts_with("global") { &mut globals } else { &mut code };
        at.push_str(line);
        at.push('\n');
    }
    let (mut switches, mut functions) = (String::new(), String::new());
    for line in code.lines() {
        let first = line.trim_start();
        let at = if first.starts_with("switch sw") || first.starts_with("gap ") {
            &mut switches
        } else {
            &mut functions
        };
        at.push_str(line);
        at.push('\n');
    }
    let mut conditions = Vec::new();
    let mut lines = String::new();
    for decision in decisions {
        let [id, function, shape] = decision.splitn(3, ' ').collect::<Vec<_>>()[..] else {
            panic!("{decision}")
        };
        lines.push_str(&format!("decision {id} if {function} at s0 {shape} \"\"\n"));
        for word in shape.split(|char: char| !char.is_alphanumeric()) {
            if word.starts_with('c') {
                conditions.push(format!("condition {word} of {id} at s0 \"\"\n"));
            }
        }
    }
    tables.push_str(&globals);
    tables.push_str(&lines);
    tables.push_str(&conditions.concat());
    tables.push_str(&switches);
    tables.push_str(&functions);
    let program = text::parse(&tables).unwrap_or_else(|error| panic!("{error}\n{tables}"));
    let violations: Vec<String> = verify(&program).iter().map(ToString::to_string).collect();
    assert_eq!(violations, Vec::<String>::new());
    program
}

/// The proof with this text after its first two lines.
pub fn proof(program: &Program, rest: &str) -> Proof {
    let text = format!("quarry-proof 1\nprogram {}\n{rest}\n", ProgramHash::of(program));
    proof::text::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// `accepted`, or the other verdicts with their reasons.
pub fn verdict(program: &Program, proof: &Proof) -> String {
    let mut solvers = Solvers::installed();
    assert!(solvers.names().count() > 0, "scripts/setup.sh installs z3 and cvc5");
    match Checker::new(program).check(proof, &mut solvers) {
        Verdict::Accepted { .. } => "accepted".to_owned(),
        Verdict::Rejected(rejection) => format!("rejected {rejection}"),
        Verdict::Unknown(why) => format!("unknown {why}"),
        Verdict::Disagreement(who) => format!("disagreement {who}"),
    }
}
