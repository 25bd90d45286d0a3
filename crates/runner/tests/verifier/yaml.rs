//! The part of YAML that witnesses are written in, as JSON: blocks by indentation, plain and quoted scalars, `[]`.

use serde_json::{Map, Value};

/// Reads a document.
pub fn parse(text: &str) -> Value {
    let lines: Vec<(usize, &str)> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| (line.len() - line.trim_start().len(), line.trim()))
        .collect();
    let mut at = 0;
    let value = block(&lines, &mut at, 0);
    assert_eq!(at, lines.len(), "all of it is read");
    value
}

/// What is indented by at least so much, from a line on.
fn block(lines: &[(usize, &str)], at: &mut usize, indent: usize) -> Value {
    if lines[*at].1.starts_with("- ") { list(lines, at, indent) } else { map(lines, at, indent) }
}

fn list(lines: &[(usize, &str)], at: &mut usize, indent: usize) -> Value {
    let mut items = Vec::new();
    while let Some((of, text)) =
        lines.get(*at).copied().filter(|(of, text)| *of == indent && text.starts_with("- "))
    {
        let item = &text[2..];
        if is_pair(item) {
            // the rest of the item is indented like what follows the dash
            let mut inner: Vec<(usize, &str)> = vec![(of + 2, item)];
            *at += 1;
            while let Some(line) = lines.get(*at).filter(|(deeper, _)| *deeper >= of + 2) {
                inner.push(*line);
                *at += 1;
            }
            items.push(block(&inner, &mut 0, of + 2));
        } else {
            items.push(scalar(item));
            *at += 1;
        }
    }
    Value::Array(items)
}

fn map(lines: &[(usize, &str)], at: &mut usize, indent: usize) -> Value {
    let mut map = Map::new();
    while let Some((_, text)) = lines.get(*at).copied().filter(|(of, _)| *of == indent) {
        let (key, rest) =
            text.split_once(": ").or_else(|| Some((text.strip_suffix(':')?, ""))).expect("a key");
        let Value::String(key) = scalar(key) else { panic!("{key} is a name") };
        *at += 1;
        let value = if rest.is_empty() {
            let (deeper, _) = lines[*at];
            assert!(deeper >= indent, "{key} has a value");
            block(lines, at, deeper)
        } else {
            scalar(rest)
        };
        assert!(map.insert(key, value).is_none(), "{text} is there once");
    }
    Value::Object(map)
}

fn is_pair(text: &str) -> bool {
    !text.starts_with('"') && (text.contains(": ") || text.ends_with(':'))
}

fn scalar(text: &str) -> Value {
    let is_json = text.starts_with('"') || text == "[]" || text.bytes().all(|byte| byte.is_ascii_digit());
    if is_json { serde_json::from_str(text).expect("JSON") } else { Value::String(text.to_owned()) }
}
