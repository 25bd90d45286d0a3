//! What a program's own text says of its input, as text and as records.

use analysis::dictionary::{CommandOption, Dictionary, Hint, OptionName, OptionValue};
use model::Program;
use serde::Serialize;

use crate::place::place;

/// A line of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HintRecord {
    /// What kind of thing it is, in one word.
    pub kind: &'static str,
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// All of it, sorted by kind.
pub fn hints(program: &Program) -> Vec<HintRecord> {
    let record = |(hint, span): (&Hint, &Option<model::SpanId>)| {
        let (kind, text) = words(hint);
        HintRecord { kind, text, at: span.map(|span| place(program, Some(span))) }
    };
    Dictionary::of(program).hints.iter().map(record).collect()
}

/// The listing of `quarry goals --dictionary`.
pub fn listing(program: &Program) -> String {
    let hints = hints(program);
    let mut text = String::new();
    for HintRecord { kind, text: what, at } in &hints {
        let at = at.as_deref().unwrap_or_default();
        text.push_str(&format!("  {kind:<10} {what:<24}  {at}"));
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text.push_str(&format!("{} in the program's text\n", crate::words::counted(hints.len(), "hint")));
    text
}

fn words(hint: &Hint) -> (&'static str, String) {
    match hint {
        Hint::ArgumentCount(n) => ("arguments", n.to_string()),
        Hint::Option(option) => ("option", option_text(option)),
        Hint::NumericArgument => ("numbers", "among the arguments".to_owned()),
        Hint::NumericText => ("numbers", "in text".to_owned()),
        Hint::Format(format) => ("format", quoted(format)),
        Hint::File(name) => ("file", quoted(name)),
        Hint::NamedFile => ("file", "of a name from the input".to_owned()),
        Hint::Variable(name) => ("variable", quoted(name)),
        Hint::Word(word) => ("word", quoted(word)),
        Hint::Character(character) => ("character", format!("'{}'", character.escape_ascii())),
        Hint::Number(number) => ("number", number.to_string()),
    }
}

fn option_text(option: &CommandOption) -> String {
    let name = match &option.name {
        OptionName::Short(letter) => format!("-{}", letter.escape_ascii()),
        OptionName::Long(name) => format!("--{}", name.escape_ascii()),
    };
    match option.value {
        OptionValue::None => name,
        OptionValue::Required => format!("{name} VALUE"),
        OptionValue::Optional => format!("{name} [VALUE]"),
    }
}

fn quoted(text: &[u8]) -> String {
    format!("\"{}\"", text.escape_ascii())
}
