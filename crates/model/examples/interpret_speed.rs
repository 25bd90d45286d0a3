//! How many instructions per second does the interpreter run on unoptimised code? Prints the figure for a sieve of
//! Eratosthenes with calls, written as a compiler without optimisation writes it: every variable in memory.

use std::time::Instant;

use model::interpret::{Interpreter, Limits};
use model::{FunctionId, text, verify};

const SIEVE: &str = r#"
program pointer 64
global g0 "composite" internal size 1000000 align 16
function f0 "main" exported () -> i32 {
b0:
  %0 = alloca 4 align 4
  %1 = alloca 4 align 4
  %2 = alloca 4 align 4
  %3 = store i32 0, %2
  %4 = store i32 2, %0
  jump b1
b1:
  %5 = load i32, %0
  %6 = compare slt i32 %5, 1000000
  branch %6, b2, b7
b2:
  %7 = load i32, %0
  %8 = call i32 f1(i32 %7)
  %9 = compare ne i32 %8, 0
  branch %9, b6, b3
b3:
  %10 = load i32, %2
  %11 = add i32 %10, 1
  %12 = store i32 %11, %2
  %13 = load i32, %0
  %14 = mul i32 %13, 2
  %15 = store i32 %14, %1
  jump b4
b4:
  %16 = load i32, %1
  %17 = compare slt i32 %16, 1000000
  branch %17, b5, b6
b5:
  %18 = load i32, %1
  %19 = sext i32 %18 to i64
  %20 = address g0, 0, i64 %19 * 1
  %21 = store i8 1, %20
  %22 = load i32, %0
  %23 = load i32, %1
  %24 = add i32 %23, %22
  %25 = store i32 %24, %1
  jump b4
b6:
  %26 = load i32, %0
  %27 = add i32 %26, 1
  %28 = store i32 %27, %0
  jump b1
b7:
  %29 = load i32, %2
  return %29
}
function f1 "is_composite" internal (i32) -> i32 {
b0:
  %0 = alloca 4 align 4
  %1 = store i32 p0, %0
  %2 = load i32, %0
  %3 = sext i32 %2 to i64
  %4 = address g0, 0, i64 %3 * 1
  %5 = load i8, %4
  %6 = sext i8 %5 to i32
  return %6
}
"#;

fn main() {
    let program = text::parse(SIEVE).expect("the sieve is a program");
    assert!(verify(&program).is_empty(), "the sieve is well formed");
    let interpreter = Interpreter::new(&program, Limits::default());
    let start = Instant::now();
    let outcome = interpreter.run(FunctionId(0), &[]);
    let seconds = start.elapsed().as_secs_f64();
    let speed = outcome.steps as f64 / seconds / 1e6;
    println!(
        "{:?} after {} steps in {seconds:.2} s: {speed:.1} million per second",
        outcome.end, outcome.steps
    );
}
