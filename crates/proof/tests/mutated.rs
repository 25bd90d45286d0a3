//! A valid proof with damage done to it: refused, rejected, or accepted because the claim it then makes is true.

#[path = "support/mod.rs"]
mod support;

use model::interpret::{Interpreter, Limits, Observer, Value};
use model::{BlockId, ConditionId, FunctionId, Program};
use proof::{Goal, ProgramHash, Proof, text};
use support::{program, proof, verdict};

/// `y = 0; while (y < 6 && x != y) { y += 2; flag |= x == 9; } if (y > 6) …; if (flag && x < 8) …`
const CODE: &str = "function f0 \"f\" exported (i4) -> i4 {
b0: %0 = alloca 1 align 1
  %1 = alloca 1 align 1
  %2 = store i4 0, %0
  %3 = store i4 0, %1
  jump b1
b1: %4 = load i4, %0
  %5 = compare ult i4 %4, 6
  %6 = mark c0 %5
  branch %6, b2, b4 decided c0
b2: %7 = compare ne i4 p0, %4
  %8 = mark c1 %7
  branch %8, b3, b4 decided c1
b3: %9 = add i4 %4, 2
  %10 = store i4 %9, %0
  %11 = compare eq i4 p0, 9
  %12 = zext i1 %11 to i4
  %13 = load i4, %1
  %14 = or i4 %13, %12
  %15 = store i4 %14, %1
  jump b1
b4: %16 = load i4, %0
  %17 = compare ugt i4 %16, 6
  %18 = mark c2 %17
  branch %18, b5, b6 decided c2
b5: return 1
b6: %19 = load i4, %1
  %20 = compare ne i4 %19, 0
  %21 = compare ult i4 p0, 8
  %22 = and i1 %20, %21
  %23 = mark c3 %22
  branch %23, b7, b8 decided c3
b7: return 2
b8: return 3
}";

const PROOFS: [&str; 6] = [
    "entry f0 goal outcome c2 true cut @ b1 ( and ( bvule ( local @ %0 ) i4:6 ) ( = ( extract 0 0 ( local @ %0 ) ) i1:0 ) ) inductive",
    "entry f0 goal reach f0 b7 0 cut @ b1 ( or ( = ( local @ %1 ) i4:0 ) ( = ( parameter 0 ) i4:9 ) ) inductive",
    "entry f0 goal outcome c3 true cut @ b1 ( or ( = ( local @ %1 ) i4:0 ) ( not ( bvult ( parameter 0 ) i4:8 ) ) ) cut @ b4 ( or ( = ( local @ %1 ) i4:0 ) ( bvuge ( parameter 0 ) i4:8 ) ) inductive",
    // y is even because it is one of 0, 2 and 4 at the last three turns, or of the turns before
    "entry f0 goal outcome c2 true cut @ b1 ( bvule ( local @ %0 ) i4:6 ) k-induction 4",
    "entry f0 goal reach f0 b5 0 cut @ b1 true unrolled 0 0 0 0",
    "entry f0 goal outcome c2 true cut @ b1 ( bvule ( local @ %0 ) i4:6 ) listed states 0 ( local @ %0 ) row 0 row 2 row 4 row 6 end",
];

/// Words that can stand in each other's place.
const KINDS: [&[&str]; 9] = [
    &["i4:0", "i4:1", "i4:5", "i4:6", "i4:7", "i4:8", "i4:9", "i4:-1"],
    &["b0", "b1", "b2", "b3", "b4", "b6", "b7", "b9"],
    &["c0", "c1", "c2", "c3", "c4"],
    &["%0", "%1", "%2"],
    &["and", "or", "=>", "not"],
    &["bvule", "bvult", "bvsge", "bvugt", "="],
    &["true", "false"],
    &["0", "1", "2", "3", "4", "6"],
    &["inductive", "k-induction", "unrolled", "listed"],
];

/// What an input shows: outcomes of conditions, and blocks.
#[derive(Default)]
struct Shown(Vec<(ConditionId, bool)>, Vec<BlockId>);

impl Observer for Shown {
    fn condition(&mut self, condition: ConditionId, outcome: bool) {
        self.0.push((condition, outcome));
    }

    fn block(&mut self, _function: FunctionId, block: BlockId) {
        self.1.push(block);
    }
}

/// Whether some input covers the goal, of the two kinds that damage can make here.
fn is_covered(program: &Program, goal: &Goal) -> bool {
    let interpreter = Interpreter::new(program, Limits { steps: 10_000, memory: 1 << 16 });
    (0..16).any(|value| {
        let mut shown = Shown::default();
        interpreter.run_observed(FunctionId(0), &[Value::Int { bits: 4, value }], &mut shown);
        match goal {
            Goal::Outcome { condition, value } => shown.0.contains(&(*condition, *value)),
            // every instruction of these blocks is reached with the block
            Goal::Reach { block, .. } => shown.1.contains(block),
            other => panic!("no damage makes {other:?}"),
        }
    })
}

#[test]
fn damaged_proofs_are_accepted_only_when_brute_force_agrees() {
    let program = program(&["d0 f0 (c0 && c1)", "d1 f0 c2", "d2 f0 c3"], CODE);
    let head = format!("quarry-proof 1 program {} ", ProgramHash::of(&program));
    let (mut n_accepted, mut n_rejected, mut n_refused) = (0, 0, 0);
    for valid in PROOFS {
        assert_eq!(verdict(&program, &proof(&program, valid)), "accepted");
        let words: Vec<&str> = valid.split(' ').collect();
        for (at, word) in words.iter().enumerate() {
            // without the word, with one of another kind, and with some of its own: checks take time
            let kind = KINDS.iter().find(|kind| kind.contains(word)).copied().unwrap_or_default();
            let own = kind.iter().skip(at % 3).step_by(3).copied();
            let picks = [None, Some("cut")].into_iter().chain(own.map(Some));
            for other in picks {
                let mut damaged = words.clone();
                damaged.splice(at..=at, other);
                let parsed: Result<Proof, _> = text::parse(&format!("{head}{}", damaged.join(" ")));
                let Ok(parsed) = parsed else {
                    n_refused += 1;
                    continue;
                };
                if verdict(&program, &parsed) == "accepted" {
                    n_accepted += 1;
                    assert!(!is_covered(&program, &parsed.claim.goal), "{}", damaged.join(" "));
                } else {
                    n_rejected += 1;
                }
            }
        }
    }
    assert!(n_accepted > 8 && n_rejected > 20 && n_refused > 100, "{n_accepted} {n_rejected} {n_refused}");
}
