//! What a program is given, as JSON a person can edit and as one line.
//!
//! `{"argv": ["-x", "12"], "stdin": "text", "files": {"a.txt": "…"}, "env": {"HOME": "…"}}`: arguments without the program's
//! name, `null` for a file that is not there or a variable that is not set. Bytes are characters of the same number, so
//! that every sequence of bytes is a string: a zero byte is `\u0000`, byte 255 is `ÿ`. What is left out is empty. What
//! functions give that are defined nowhere stands beside it, as in the input of a function: `"read_sensor()": [3, -1]`.

use model::invocation::{Entry, Invocation};
use serde_json::{Map, Value};

use super::json::{FAILING, ValueError, failing, kind, object};
use super::notation::quoted;

/// Characters of a text that are shown on a line.
const SHOWN: usize = 60;

const MEMBERS: [&str; 5] = ["argv", "stdin", "files", "env", FAILING];

/// An invocation, and what calls give by name, as a JSON object.
pub fn to_json(invocation: &Invocation, calls: &Value) -> Value {
    let text = |bytes: &Vec<u8>| Value::String(latin(bytes));
    let named = |entries: &[Entry]| {
        let entry = |(name, bytes): &Entry| (name.clone(), bytes.as_ref().map_or(Value::Null, text));
        Value::Object(entries.iter().map(entry).collect())
    };
    let mut members = Map::new();
    members.insert("argv".to_owned(), invocation.arguments.iter().map(text).collect());
    members.insert("stdin".to_owned(), text(&invocation.stdin));
    if !invocation.files.is_empty() {
        members.insert("files".to_owned(), named(&invocation.files));
    }
    if !invocation.variables.is_empty() {
        members.insert("env".to_owned(), named(&invocation.variables));
    }
    if !invocation.failing.is_empty() {
        let numbers = invocation.failing.iter().copied().map(Value::from).collect();
        members.insert(FAILING.to_owned(), numbers);
    }
    let is_told = |calls: &Value| calls.as_array().is_none_or(|calls| !calls.is_empty());
    let calls = calls.as_object().into_iter().flatten().filter(|(_, calls)| is_told(calls));
    members.extend(calls.map(|(name, calls)| (name.clone(), calls.clone())));
    Value::Object(members)
}

/// The invocation that a JSON object describes, and the members that say what calls give: those named in `sequences`.
pub fn from_json(value: &Value, sequences: &[&str]) -> Result<(Invocation, Value), ValueError> {
    let members = object(value, "the input")?;
    let known = || MEMBERS.iter().chain(sequences);
    if let Some(unknown) = members.keys().find(|name| !known().any(|known| known == name)) {
        let known = known().copied().collect::<Vec<_>>().join(", ");
        return Err(ValueError::Unknown { at: unknown.clone(), known });
    }
    let mut invocation = Invocation::default();
    let mut calls = Map::new();
    for (name, value) in members {
        match name.as_str() {
            "argv" => {
                let arguments = list(value, name)?.iter().zip(0..);
                let argument = |(value, index)| bytes(value, &format!("argv[{index}]"));
                invocation.arguments = arguments.map(argument).collect::<Result<_, _>>()?;
            }
            "stdin" => invocation.stdin = bytes(value, name)?,
            "files" => invocation.files = entries(value, name)?,
            "env" => invocation.variables = entries(value, name)?,
            FAILING => invocation.failing = failing(Some(value))?,
            _ => {
                calls.insert(name.clone(), value.clone());
            }
        }
    }
    Ok((invocation, Value::Object(calls)))
}

/// An invocation as one would type it, such as `HOME="/" wc -l "a b" < "text"`, and what calls give.
pub fn notation(program: &str, invocation: &Invocation, calls: &str) -> String {
    let mut words = Vec::new();
    for (name, value) in &invocation.variables {
        words.extend(value.as_ref().map(|value| format!("{name}={}", shown(value))));
    }
    words.push(program.to_owned());
    words.extend(invocation.arguments.iter().map(|argument| word(argument)));
    if !invocation.stdin.is_empty() {
        words.push(format!("< {}", shown(&invocation.stdin)));
    }
    for (name, contents) in &invocation.files {
        match contents {
            Some(contents) => words.push(format!("[{name}: {}]", shown(contents))),
            None => words.push(format!("[no {name}]")),
        }
    }
    if !invocation.failing.is_empty() {
        let numbers: Vec<String> = invocation.failing.iter().map(u64::to_string).collect();
        words.push(format!("[allocation {} fails]", numbers.join(", ")));
    }
    if !calls.is_empty() {
        words.push(format!("[{calls}]"));
    }
    words.join(" ")
}

/// Plain words as they are, everything else in quotes.
fn word(bytes: &[u8]) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./=+,:@%".contains(byte);
    if !bytes.is_empty() && bytes.iter().all(plain) { latin(bytes) } else { shown(bytes) }
}

fn shown(bytes: &[u8]) -> String {
    if bytes.len() <= SHOWN {
        return quoted(&latin(bytes));
    }
    format!("{}… {} bytes", quoted(&latin(&bytes[..SHOWN])), bytes.len())
}

/// Each byte as the character of its number.
pub fn latin(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

fn bytes(value: &Value, at: &str) -> Result<Vec<u8>, ValueError> {
    let expected = || kind(at, "a text of characters below 256, one per byte", value);
    let text = value.as_str().ok_or_else(expected)?;
    text.chars().map(|c| u8::try_from(u32::from(c)).map_err(|_| expected())).collect()
}

fn entries(value: &Value, at: &str) -> Result<Vec<Entry>, ValueError> {
    let entry = |(name, value): (&String, &Value)| match value {
        Value::Null => Ok((name.clone(), None)),
        value => Ok((name.clone(), Some(bytes(value, &format!("{at}.{name}"))?))),
    };
    object(value, at)?.iter().map(entry).collect()
}

fn list<'v>(value: &'v Value, at: &str) -> Result<&'v Vec<Value>, ValueError> {
    value.as_array().ok_or_else(|| kind(at, "an array", value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(value: Value, line: &str) {
        let (invocation, calls) = from_json(&value, &["next()"]).expect("an invocation");
        assert_eq!(to_json(&invocation, &calls), value);
        let told =
            if calls["next()"].is_null() { String::new() } else { format!("next() = {}", calls["next()"]) };
        assert_eq!(notation("wc", &invocation, &told), line);
    }

    #[test]
    fn what_is_written_is_read_back() {
        check(json!({"argv": [], "stdin": ""}), "wc");
        check(json!({"argv": [], "stdin": "", "next()": [3, 4]}), "wc [next() = [3,4]]");
        check(
            json!({"argv": ["-x", "a b", ""], "stdin": "\u{0}ÿ\n", "files": {"a": "1", "b": null},
                   "env": {"HOME": "/", "X": null}, "failing_allocations": [3]}),
            "HOME=\"/\" wc -x \"a b\" \"\" < \"\\000ÿ\\n\" [a: \"1\"] [no b] [allocation 3 fails]",
        );
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        let refused = |value: Value| from_json(&value, &["next()"]).expect_err("no invocation").to_string();
        assert_eq!(
            refused(json!({"args": []})),
            "args does not exist; there is argv, stdin, files, env, failing_allocations, next()"
        );
        assert_eq!(
            refused(json!({"argv": [1]})),
            "argv[0] is 1, expected a text of characters below 256, one per byte"
        );
        assert_eq!(
            refused(json!({"stdin": "€"})),
            "stdin is \"€\", expected a text of characters below 256, one per byte"
        );
    }
}
