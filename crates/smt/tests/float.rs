//! Floating-point arithmetic means the same to the machine, the evaluator and the solvers, for every operator.
//!
//! Operands are the awkward ones (zeros, infinities, NaNs, subnormals, halfway cases, the borders of integers) and random
//! ones. C compiled by clang is the machine's word; what it says of a NaN is only that it is one.

use std::fmt::Write as _;
use std::process::Command;
use std::time::Duration;

use smt::FloatBinaryOp::{Add, Div, Eq, Le, Lt, Mul, Rem, Sub};
use smt::FloatUnaryOp::{Convert, FromSigned, FromUnsigned, IsNan, Round, Sqrt, ToSigned};
use smt::Format::{Double, Single};
use smt::{
    BitwuzlaSolver, FloatBinaryOp, FloatUnaryOp, Format, Limit, ProcessSolver, Rounding, Solver, Term,
    TermStore, Verdict, evaluate, float,
};

/// An operator with its operands' widths.
#[derive(Clone, Copy, Debug)]
enum Operator {
    Unary(FloatUnaryOp, u32),
    Binary(FloatBinaryOp, Format),
    Fused(Format),
}

const ROUNDINGS: [(Rounding, &str); 5] = [
    (Rounding::ToEven, "rint"),
    (Rounding::Away, "round"),
    (Rounding::Up, "ceil"),
    (Rounding::Down, "floor"),
    (Rounding::ToZero, "trunc"),
];

/// Every operator with its meaning in C over `a`, `b` and `c`.
fn operators() -> Vec<(Operator, String)> {
    let mut operators = Vec::new();
    for format in [Single, Double] {
        let width = format.width();
        let suffix = if format == Single { "f" } else { "" };
        let mut unary = |op, c: &str| operators.push((Operator::Unary(op, width), c.to_owned()));
        unary(IsNan, "a != a");
        unary(Sqrt, &format!("sqrt{suffix}(a)"));
        for (rounding, c) in ROUNDINGS {
            unary(Round(rounding), &format!("{c}{suffix}(a)"));
        }
        unary(Convert(Single), "(float)a");
        unary(Convert(Double), "(double)a");
        unary(ToSigned(32), "to_int(a)");
        unary(ToSigned(64), "to_long(a)");
        for (op, c) in [(Add, "+"), (Sub, "-"), (Mul, "*"), (Div, "/"), (Eq, "=="), (Lt, "<"), (Le, "<=")] {
            operators.push((Operator::Binary(op, format), format!("a {c} b")));
        }
        operators.push((Operator::Binary(Rem, format), format!("fmod{suffix}(a, b)")));
        operators.push((Operator::Fused(format), format!("fma{suffix}(a, b, c)")));
        let ty = if format == Single { "float" } else { "double" };
        for width in [8, 16, 32, 64] {
            for (op, sign) in [(FromSigned(format), ""), (FromUnsigned(format), "u")] {
                operators.push((Operator::Unary(op, width), format!("({ty})({sign}int{width}_t)a")));
            }
        }
    }
    operators
}

impl Operator {
    fn n_operands(self) -> usize {
        match self {
            Operator::Unary(..) => 1,
            Operator::Binary(..) => 2,
            Operator::Fused(_) => 3,
        }
    }

    fn operand_width(self) -> u32 {
        match self {
            Operator::Unary(_, width) => width,
            Operator::Binary(_, format) | Operator::Fused(format) => format.width(),
        }
    }

    /// The operand's type in C.
    fn operand_type(self) -> String {
        match self {
            Operator::Unary(FromSigned(_) | FromUnsigned(_), width) => format!("uint{width}_t"),
            _ => (if self.operand_width() == 32 { "float" } else { "double" }).to_owned(),
        }
    }

    /// The format of the result, when it is a number.
    fn result(self) -> Option<Format> {
        match self {
            Operator::Unary(IsNan | ToSigned(_), _) => None,
            Operator::Unary(Convert(format) | FromSigned(format) | FromUnsigned(format), _) => Some(format),
            Operator::Unary(Sqrt | Round(_), width) => Format::of_width(width),
            Operator::Binary(op, format) => (!op.is_predicate()).then_some(format),
            Operator::Fused(format) => Some(format),
        }
    }

    fn evaluate(self, operands: [u128; 3]) -> u128 {
        let [a, b, c] = operands;
        match self {
            Operator::Unary(op, width) => float::unary(op, width, a),
            Operator::Binary(op, format) => float::binary(op, format, a, b),
            Operator::Fused(format) => float::fused(format, a, b, c),
        }
    }

    fn term(self, store: &mut TermStore, operands: &[Term]) -> Term {
        match self {
            Operator::Unary(op, _) => store.float_unary(op, operands[0]),
            Operator::Binary(op, _) => store.float_binary(op, operands[0], operands[1]),
            Operator::Fused(_) => store.float_fused(operands[0], operands[1], operands[2]),
        }
    }
}

/// Deterministic operands of a width, the awkward ones first and often.
struct Operands(u64);

impl Operands {
    fn random(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    fn next(&mut self, width: u32) -> u128 {
        let random = self.random();
        let awkward = awkward();
        let bits = match random % 8 {
            0..=3 => {
                let number = awkward[(random >> 8) as usize % awkward.len()];
                match Format::of_width(width) {
                    // a few units in the last place aside
                    Some(format) => (format.bits(number) as u64).wrapping_add(random >> 60).wrapping_sub(8),
                    None => number as i64 as u64,
                }
            }
            4 => number_bits(width, ((random >> 40) as i32 % 4096 - 2048) as f64 / 8.0),
            5 => 1 << ((random >> 8) % 64),
            6 => (1_u64 << ((random >> 8) % 64)).wrapping_sub(1),
            _ => random,
        };
        u128::from(bits) & (u128::MAX >> (128 - width))
    }
}

fn number_bits(width: u32, number: f64) -> u64 {
    Format::of_width(width).map_or(number as i64 as u64, |format| format.bits(number) as u64)
}

fn awkward() -> Vec<f64> {
    let positive = [
        0.0,
        0.5,
        1.0,
        1.5,
        2.5,
        3.0,
        0.1,
        10.0,
        16_777_216.0,
        2_147_483_647.0,
        2_147_483_648.0,
        4_294_967_296.0,
        9_007_199_254_740_992.0,
        9_223_372_036_854_775_807.0,
        18_446_744_073_709_551_615.0,
        f64::from(f32::MIN_POSITIVE),
        f64::from(f32::MAX),
        1e-45,
        f64::MIN_POSITIVE,
        f64::MAX,
        5e-324,
        f64::INFINITY,
        f64::NAN,
    ];
    positive.into_iter().flat_map(|number| [number, -number]).collect()
}

fn same(result: Option<Format>, found: u128, expected: u128) -> bool {
    let is_nan = |bits| result.is_some_and(|format| format.number(bits).is_nan());
    found == expected || (is_nan(found) && is_nan(expected))
}

/// One C program computes all operators on all operands.
#[test]
fn the_evaluator_computes_what_the_machine_does() {
    const N_TRIALS: usize = 400;
    let operators = operators();
    let mut text = String::from(
        "#define _GNU_SOURCE\n#include <math.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n\
         static uint32_t to_int_of_d(double x) { int32_t r; __asm__(\"cvttsd2si %1, %0\" : \"=r\"(r) : \"x\"(x)); return r; }\n\
         static uint32_t to_int_of_f(float x) { int32_t r; __asm__(\"cvttss2si %1, %0\" : \"=r\"(r) : \"x\"(x)); return r; }\n\
         static uint64_t to_long_of_d(double x) { int64_t r; __asm__(\"cvttsd2si %1, %0\" : \"=r\"(r) : \"x\"(x)); return r; }\n\
         static uint64_t to_long_of_f(float x) { int64_t r; __asm__(\"cvttss2si %1, %0\" : \"=r\"(r) : \"x\"(x)); return r; }\n\
         #define to_int(x) _Generic((x), float: to_int_of_f, double: to_int_of_d)(x)\n\
         #define to_long(x) _Generic((x), float: to_long_of_f, double: to_long_of_d)(x)\n\
         int main(void) {\n int op; uint64_t bits[3];\n\
         while (scanf(\"%d %lx %lx %lx\", &op, bits, bits + 1, bits + 2) == 4) { uint64_t out = 0;\n switch (op) {\n",
    );
    for (index, (operator, c)) in operators.iter().enumerate() {
        let ty = operator.operand_type();
        writeln!(
            text,
            "case {index}: {{ volatile {ty} a, b, c; memcpy((void *)&a, bits, sizeof a); \
             memcpy((void *)&b, bits + 1, sizeof b); memcpy((void *)&c, bits + 2, sizeof c); \
             __typeof__({c}) r = {c}; memcpy(&out, &r, sizeof r); break; }}"
        )
        .expect("a string takes everything");
    }
    text.push_str("} printf(\"%lx\\n\", out); } }\n");
    let directory = tempfile::tempdir().expect("a directory");
    let (source, program) = (directory.path().join("native.c"), directory.path().join("native"));
    std::fs::write(&source, text).expect("written");
    let flags = ["-O0", "-w", "-ffp-contract=off", "-fwrapv"];
    let compiled =
        Command::new("clang-19").args(flags).arg(&source).arg("-o").arg(&program).arg("-lm").output();
    let compiled = compiled.expect("clang runs");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));

    let mut source = Operands(0x1234_5678_9abc_def1);
    let mut trials = Vec::new();
    let mut input = String::new();
    for (index, (operator, _)) in operators.iter().enumerate() {
        for _ in 0..N_TRIALS {
            let operands = [0; 3].map(|_: u8| source.next(operator.operand_width()));
            let [a, b, c] = operands;
            writeln!(input, "{index} {a:x} {b:x} {c:x}").expect("a string takes everything");
            trials.push((index, operands));
        }
    }
    let input_path = directory.path().join("input");
    std::fs::write(&input_path, input).expect("written");
    let input = std::fs::File::open(&input_path).expect("just written");
    let output = Command::new(&program).stdin(input).output().expect("the program runs");
    let output = String::from_utf8(output.stdout).expect("digits");
    assert_eq!(output.lines().count(), trials.len());
    for (line, (index, operands)) in output.lines().zip(trials) {
        let (operator, c) = &operators[index];
        let native = u128::from_str_radix(line, 16).expect("hexadecimal digits");
        let ours = operator.evaluate(operands);
        assert!(
            same(operator.result(), ours, native),
            "{c}: {operator:?} of {operands:x?}: {ours:x}, not {native:x}"
        );
        let mut store = TermStore::new();
        let constants = operands.map(|bits| store.constant(operator.operand_width(), bits));
        let term = operator.term(&mut store, &constants);
        assert_eq!(store.constant_of(term).map(smt::Value::bits), Some(ours), "constants fold");
    }
}

/// The solver's value for the operator on these operands is the evaluator's: all at once, as a disjunction of
/// differences that must have no model.
fn check_solver(solver: &mut dyn Solver, operator: Operator, n_trials: usize, source: &mut Operands) {
    for _ in 0..n_trials {
        let mut store = TermStore::new();
        let operands = [0; 3].map(|_: u8| source.next(operator.operand_width()));
        let vars: Vec<Term> = (0..operator.n_operands())
            .map(|k| store.var(format!("x{k}"), operator.operand_width()))
            .collect();
        let result = operator.term(&mut store, &vars);
        let expected = operator.evaluate(operands);
        let mut assertions = Vec::new();
        for (var, bits) in vars.iter().zip(operands) {
            let constant = store.constant(operator.operand_width(), bits);
            assertions.push(store.eq(*var, constant));
        }
        let constant = store.constant(store.width(result), expected);
        let differs = store.ne(result, constant);
        assertions.push(differs);
        match solver.check(&store, &assertions, Limit::from(Duration::from_secs(60))) {
            Verdict::Unsat { .. } => {}
            // Beyond the quotients it knows, the solver may answer anything of a remainder.
            Verdict::Sat(_) if matches!(operator, Operator::Binary(Rem, _)) && is_far(operator, operands) => {
            }
            other => {
                panic!("{} of {operator:?} of {operands:x?} is not {expected:x}: {other:?}", solver.name())
            }
        }
    }
}

/// Whether solvers take seconds even for known operands.
fn is_hard(operator: Operator) -> bool {
    matches!(operator, Operator::Unary(Sqrt, _) | Operator::Binary(Rem | Div, _) | Operator::Fused(_))
}

fn is_far(operator: Operator, [a, b, _]: [u128; 3]) -> bool {
    let Operator::Binary(_, format) = operator else { return false };
    (format.number(a) / format.number(b)).abs() >= (1_u64 << format.significand_bits()) as f64
}

#[test]
fn bitwuzla_computes_what_the_evaluator_does() {
    let mut source = Operands(0xfeed_beef_1234_5671);
    for (operator, _) in operators() {
        check_solver(
            &mut BitwuzlaSolver::new(),
            operator,
            if is_hard(operator) { 2 } else { 8 },
            &mut source,
        );
    }
}

#[test]
fn z3_computes_what_the_evaluator_does() {
    if Command::new("z3").arg("--version").output().is_err() {
        eprintln!("SKIPPED for z3: it is not installed (Debian package z3)");
        return;
    }
    let mut source = Operands(0x0dd_ba11_1234_5671);
    let mut solver = ProcessSolver::new("z3", &["-in"]);
    for (operator, _) in operators() {
        if !is_hard(operator) || operator.operand_width() == 32 {
            check_solver(&mut solver, operator, 1, &mut source);
        }
    }
}

/// Models of conditions on computed numbers satisfy them when evaluated.
#[test]
fn models_over_numbers_hold() {
    for format in [Single, Double] {
        let mut store = TermStore::new();
        let (x, y) = (store.var("x", format.width()), store.var("y", format.width()));
        let sum = store.float_binary(Add, x, y);
        let three = store.constant(format.width(), format.bits(3.0));
        let is_three = store.float_binary(Eq, sum, three);
        let product = store.float_binary(Mul, x, y);
        let is_less = store.float_binary(Lt, product, x);
        // bits of a computed number: its sign and exponent
        let high = store.extract(product, format.width() - 1, format.width() - 8);
        let wanted = store.constant(8, 0xc0);
        let bits = store.eq(high, wanted);
        let mask = store.constant(format.width(), !0 >> (129 - format.width()));
        let absolute = store.and(product, mask);
        let is_small = store.float_binary(Lt, absolute, three);
        let assertions = [is_three, is_less, bits, is_small];
        let verdict = BitwuzlaSolver::new().check(&store, &assertions, Limit::from(Duration::from_secs(60)));
        let Verdict::Sat(model) = verdict else { panic!("{format:?}: {verdict:?}") };
        for assertion in assertions {
            assert_eq!(evaluate(&store, assertion, &model), 1, "{format:?}");
        }
    }
}

#[test]
fn equality_of_a_number_with_itself_is_not_taken_for_granted() {
    let mut store = TermStore::new();
    let x = store.var("x", 64);
    let equal = store.float_binary(Eq, x, x);
    assert!(store.constant_of(equal).is_none());
    let zero = store.constant(64, 0);
    let sum = store.float_binary(Add, x, zero);
    assert_ne!(sum, x);
    let limit = Limit::from(Duration::from_secs(60));
    let differs = store.not(equal);
    let Verdict::Sat(model) = BitwuzlaSolver::new().check(&store, &[differs], limit) else {
        panic!("a NaN differs from itself")
    };
    assert!(f64::from_bits(evaluate(&store, x, &model) as u64).is_nan());
}
