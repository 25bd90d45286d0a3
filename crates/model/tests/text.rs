//! The text form: what was printed parses to an equal program, and slips are told with their line.

mod support;

use expect_test::{Expect, expect, expect_file};
use model::{BlockId, FloatKind, Op, Operand, Program, Type, text, verify};
use proptest::prelude::*;

#[test]
fn a_written_program_prints_as_it_was_written() {
    let written = include_str!("texts/classify.quarry");
    let program = text::parse(written).expect("the example is a program");
    assert_eq!(verify(&program), Vec::new());
    let comment = written.lines().next().expect("the example starts with a comment");
    expect_file!["texts/classify.quarry"].assert_eq(&format!("{comment}\n{}", text::print(&program)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn printing_then_parsing_gives_an_equal_program(seed: u64) {
        let program = support::program(seed);
        let printed = text::print(&program);
        let parsed = text::parse(&printed);
        prop_assert_eq!(parsed.as_ref(), Ok(&program), "{}", printed);
    }

    #[test]
    fn no_cut_or_changed_text_makes_the_parser_panic(seed: u64, at: prop::sample::Index, byte: u8) {
        let printed = text::print(&support::program(seed));
        let mut bytes = printed.into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let _ = text::parse(&String::from_utf8_lossy(&bytes));
        let _ = text::parse(&String::from_utf8_lossy(&bytes[..at]));
    }
}

#[test]
fn a_result_type_against_the_form_survives() {
    let mut program = one_instruction("mark c0 p0");
    program.functions[0].instrs[0].ty = Type::Int(8);
    let printed = text::print(&program);
    assert!(printed.contains("mark c0 p0 as i8"), "{printed}");
    assert_eq!(text::parse(&printed), Ok(program));
}

#[test]
fn constants_that_fit_no_type_survive_by_their_bits() {
    let mut program = one_instruction("freeze i8 1");
    for constant in [
        Operand::Int { bits: 8, value: 0x1ff },
        Operand::Int { bits: 0, value: 3 },
        Operand::Float { kind: FloatKind::Single, bits: 1 << 40 },
        Operand::Float { kind: FloatKind::Double, bits: f64::NAN.to_bits().into() },
        Operand::Float { kind: FloatKind::X87, bits: 1 << 79 },
    ] {
        program.functions[0].instrs[0].op = Op::Freeze(constant);
        let printed = text::print(&program);
        assert_eq!(text::parse(&printed).as_ref(), Ok(&program), "{printed}");
    }
}

#[test]
fn a_block_may_follow_a_bare_return() {
    let program =
        text::parse("program pointer 64\nfunction f0 \"f\" internal () -> void { b0: return b1: jump b1 }");
    let program = program.expect("well formed");
    assert_eq!(program.functions[0].blocks.len(), 2);
    assert_eq!(program.functions[0].block(BlockId(1)).terminator.successors(), [BlockId(1)]);
}

fn one_instruction(instr: &str) -> Program {
    let text = format!(
        "program pointer 64\nfunction f0 \"f\" internal (i1) -> void {{\nb0:\n  %0 = {instr}\n  return\n}}\n"
    );
    text::parse(&text).expect("well formed")
}

fn check_error(body: &str, expected: Expect) {
    let text = format!("program pointer 64\nfunction f0 \"f\" internal (i1) -> i32 {{\nb0:\n{body}\n}}\n");
    let error = text::parse(&text).expect_err("the text has a slip");
    expected.assert_eq(&error.to_string());
}

#[test]
fn an_unknown_instruction_is_named() {
    check_error(
        "  %0 = ad i32 1, 2",
        expect!["cannot parse the program text, line 4: expected an instruction, found `ad`"],
    );
}

#[test]
fn a_constant_too_wide_is_named() {
    check_error(
        "  %0 = add i8 1, 256\n return 0",
        expect!["cannot parse the program text, line 4: 256 is no i8"],
    );
}

#[test]
fn a_missing_instruction_is_named() {
    check_error(
        "  %1 = add i8 1, 2\n  return 0",
        expect![[r#"cannot parse the program text, line 7: function "f" has no instruction %0"#]],
    );
}

#[test]
fn an_instruction_written_twice_is_named() {
    check_error(
        "  %0 = add i8 1, 2\n  %0 = add i8 1, 2\n  return 0",
        expect!["cannot parse the program text, line 5: %0 is written twice"],
    );
}

#[test]
fn a_string_left_open_is_named() {
    check_error(
        "  %0 = opaque void \"asm\n()",
        expect!["cannot parse the program text, line 4: a string ends on its line"],
    );
}
