//! Results of calls, as JSON: a list of values in the order of the calls. If several functions share a sequence, each value
//! is an object that names its function, such as `{"int": 3}`. `"end"` behind the last says that the run ends when it asks for one more.

use model::input::calls::{LAST_LIMIT, calls, ends_behind, limit, value_of_call};
use model::input::{Input, Key, Node, Objects};
use serde_json::{Map, Value};

use super::read::Reader;
use super::{ValueError, kind, node_to_json};

/// What stands behind the last call if the run ends with the next one.
pub const END: &str = "end";

/// All calls that the input answers.
pub fn calls_to_json(root: Key, results: &[Node], input: &Input, objects: &Objects) -> Value {
    let one = |call: model::input::calls::Call| {
        let value = node_to_json(&call.value, input, objects);
        if results.len() == 1 {
            return value;
        }
        Value::Object([(results[call.function].name.clone(), value)].into_iter().collect::<Map<_, _>>())
    };
    let calls = calls(root, results, input);
    let end = ends_behind(root, calls.len(), input).then(|| END.into());
    calls.into_iter().map(one).chain(end).collect()
}

impl Reader<'_> {
    /// Reads what [`calls_to_json`] writes; more calls than a run makes do no harm, those left out are zero.
    pub(super) fn sequence(
        &mut self,
        root: Key,
        results: &[Node],
        value: &Value,
        at: &str,
    ) -> Result<(), ValueError> {
        let Value::Array(values) = value else {
            return Err(kind(at, "an array with a value per call", value));
        };
        let (values, n_calls) = match values.split_last() {
            Some((last, values)) if last == END => (values, values.len() as u64),
            Some(_) | None => (values.as_slice(), LAST_LIMIT),
        };
        if !values.is_empty() {
            self.input.values.insert(limit(root), n_calls);
        }
        for (value, number) in values.iter().zip(0..) {
            let at = format!("{at}[{number}]");
            let (result, value) = match results {
                [only] => (only, value),
                _ => named(results, value, &at)?,
            };
            self.node(&value_of_call(root, result, number), value, &at)?;
        }
        Ok(())
    }
}

/// The function that an element names, and its value.
fn named<'a>(results: &'a [Node], value: &'a Value, at: &str) -> Result<(&'a Node, &'a Value), ValueError> {
    let names: Vec<&str> = results.iter().map(|result| result.name.as_str()).collect();
    let expected = || format!("an object with one of {}", names.join(", "));
    let members = value.as_object().filter(|members| members.len() == 1);
    let (name, value) =
        members.and_then(|members| members.iter().next()).ok_or_else(|| kind(at, &expected(), value))?;
    match results.iter().find(|result| result.name == *name) {
        Some(result) => Ok((result, value)),
        None => Err(ValueError::Unknown { at: format!("{at}.{name}"), known: names.join(", ") }),
    }
}

#[cfg(test)]
mod tests {
    use model::input::{Cell, Kind, Scalar, Shape};
    use serde_json::json;

    use super::super::tests::scalar;
    use super::super::{from_json, to_json};
    use super::*;

    fn shape() -> Shape {
        let int = |name: &str, key| scalar(name, key, Scalar::Integer { bits: 32, signed: true });
        let sequence = |name: &str, root, results| Node {
            name: name.to_owned(),
            c_type: String::new(),
            kind: Kind::Sequence { root: Key(root), results },
        };
        let optional = Node {
            kind: Kind::Optional {
                present: Cell { key: Key(0), scalar: Scalar::Bool },
                to: Box::new(int("", 1)),
            },
            ..int("find", 0)
        };
        let several = vec![int("int", 0), scalar("bool", 1, Scalar::Bool)];
        Shape {
            roots: vec![
                sequence("read()", 0, vec![int("read", 0)]),
                sequence("nondet_*()", 1, several),
                sequence("find()", 2, vec![optional]),
            ],
            ..Shape::default()
        }
    }

    #[track_caller]
    fn check(value: Value) {
        let input = from_json(&shape(), &value).expect("a valid input");
        assert_eq!(to_json(&shape(), &input), value);
    }

    #[test]
    fn calls_are_read_back_in_their_order() {
        check(json!({"read()": [], "nondet_*()": [], "find()": []}));
        check(json!({
            "read()": [3, 0, -1],
            "nondet_*()": [{"bool": true}, {"int": 0}, {"int": -7}],
            "find()": [null, 5, null],
        }));
    }

    #[test]
    fn mistakes_are_named_with_their_call() {
        let refused = |value, message: &str| {
            assert_eq!(from_json(&shape(), &value).expect_err("invalid").to_string(), message);
        };
        refused(json!({"read()": 3}), "read() is 3, expected an array with a value per call");
        refused(json!({"nondet_*()": [4]}), "nondet_*()[0] is 4, expected an object with one of int, bool");
        refused(
            json!({"nondet_*()": [{"char": 4}]}),
            "nondet_*()[0].char does not exist; known are int, bool",
        );
    }
}
