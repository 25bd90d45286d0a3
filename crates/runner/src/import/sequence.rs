//! Values of calls, in the order of all calls, as an input.
//!
//! Call number j of a sequence asks for the cells of one of its functions. A value without a function is given to each of
//! them: whichever is called finds it.

use model::float_text;
use model::input::calls::value_of_call;
use model::input::{Cell, Input, Kind, Node, Scalar, Shape};

use super::testcomp::NondetResult;

const PREFIX: &str = "__VERIFIER_nondet_";

/// The input in which calls give these results.
pub(super) fn input(shape: &Shape, results: &[NondetResult]) -> Result<Input, String> {
    let mut input = Input::default();
    let sequence = shape.roots.iter().find_map(|root| match &root.kind {
        Kind::Sequence { root: key, results } if root.name.starts_with(PREFIX) => {
            Some((root.name.as_str(), *key, results))
        }
        _ => None,
    });
    let Some((name, root, functions)) = sequence else {
        return if results.is_empty() {
            Ok(input)
        } else {
            Err(format!("the program calls no {PREFIX}… function"))
        };
    };
    for (result, number) in results.iter().zip(0..) {
        let is_meant = |function: &&Node| match &result.function {
            None => true,
            Some(named) => {
                let own = function.name.trim_end_matches("()");
                own.strip_prefix(PREFIX).unwrap_or(own) == named || name == format!("{PREFIX}{named}()")
            }
        };
        let mut meant: Vec<&Node> = functions.iter().filter(is_meant).collect();
        if meant.is_empty() {
            // another name of a type, such as unsigned for uint
            meant = functions.iter().collect();
        }
        let mut n_given = 0;
        for function in &meant {
            n_given += usize::from(give(&value_of_call(root, function, number), &result.value, &mut input));
        }
        if n_given == 0 {
            return Err(format!("its value {} is '{}', which is no number", number + 1, result.value));
        }
    }
    Ok(input)
}

/// Gives a call's value; whether the text says one.
fn give(node: &Node, text: &str, input: &mut Input) -> bool {
    match &node.kind {
        Kind::Scalar(cell) => match bits(cell, text.trim()) {
            Some(bits) => {
                input.values.insert(cell.key, bits);
                true
            }
            None => false,
        },
        Kind::Optional { present, .. } => match number(text.trim()) {
            Some(number) => {
                input.values.insert(present.key, u64::from(number != 0));
                true
            }
            None => false,
        },
        _ => false,
    }
}

fn bits(cell: &Cell, text: &str) -> Option<u64> {
    if let Scalar::Float { bits } = &cell.scalar {
        let plain = text.trim_end_matches(['f', 'F', 'l', 'L']);
        return float_text::from_text(*bits, text)
            .or_else(|| float_text::from_text(*bits, plain))
            .or_else(|| number(text).and_then(|number| float_text::from_text(*bits, &number.to_string())));
    }
    let number = number(text)?;
    let mask = u64::MAX >> (64 - cell.scalar.bits().clamp(1, 64));
    let number = if cell.scalar == Scalar::Bool { i128::from(number != 0) } else { number };
    Some(u64::from_le_bytes(number.to_le_bytes()[..8].try_into().expect("eight bytes")) & mask)
}

/// A whole number as C writes it.
fn number(text: &str) -> Option<i128> {
    match text {
        "true" => return Some(1),
        "false" => return Some(0),
        _ => {}
    }
    if let [b'\'', byte, b'\''] = text.as_bytes() {
        return Some((*byte).into());
    }
    let text = text.trim_end_matches(['u', 'U', 'l', 'L']);
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let number = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => i128::from_str_radix(digits, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(if is_negative { -number } else { number })
}

#[cfg(test)]
mod tests {
    use model::input::Key;

    use super::*;

    fn scalar(name: &str, key: u64, scalar: Scalar) -> Node {
        let cell = Cell { key: Key(key), scalar };
        Node { name: name.to_owned(), c_type: String::new(), kind: Kind::Scalar(cell) }
    }

    #[test]
    fn a_value_without_a_function_is_given_to_each() {
        let functions = vec![
            scalar("int", 0, Scalar::Integer { bits: 32, signed: true }),
            scalar("double", 1, Scalar::Float { bits: 64 }),
        ];
        let root = Node {
            name: "__VERIFIER_nondet_*()".to_owned(),
            c_type: String::new(),
            kind: Kind::Sequence { root: Key(9), results: functions },
        };
        let shape = Shape { roots: vec![root], ..Shape::default() };
        let result = |function: Option<&str>, value: &str| NondetResult {
            function: function.map(str::to_owned),
            value: value.to_owned(),
        };
        let given = input(&shape, &[result(None, "-2"), result(Some("double"), "0.5")]).expect("numbers");
        let at = |call: u64, cell: u64| given.values.get(&Key(9).part(call).part(cell)).copied();
        assert_eq!(at(0, 0), Some(0xffff_fffe));
        assert_eq!(at(0, 1), Some((-2.0_f64).to_bits()));
        assert_eq!((at(1, 0), at(1, 1)), (None, Some(0.5_f64.to_bits())));
        let wrong = input(&shape, &[result(Some("int"), "x")]).expect_err("no number");
        assert_eq!(wrong, "its value 1 is 'x', which is no number");
    }

    #[test]
    fn numbers_are_read_as_c_writes_them() {
        let read = ["12", "-0x10", "7ul", "'a'", "true"].map(number);
        assert_eq!(read, [Some(12), Some(-16), Some(7), Some(97), Some(1)]);
        assert_eq!(["", "1.5", "x"].map(number), [None; 3]);
    }
}
