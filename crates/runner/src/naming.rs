//! The name and the description of a test: by how it ends and by what it is the first to cover.
//!
//! Method: the name consists of the end, the result if that is short, and the last goal in source order that the test adds,
//! as a C identifier: `returns_2_when_n_ge_6`. A goal that is too long for a name is cut in its expression, never in what is
//! said of it: `returns_0_when_n_ge_6_and_etc_is_false`. Names are unique within a suite; the same suite gives the same names.

use std::collections::{BTreeMap, BTreeSet};

use coverage::TestId;
use engine::campaign::{CampaignResult, Test};
use engine::executor::End;

use crate::existing::ExistingTest;
use crate::subject::Subject;

use crate::end_text::end_text;
use report::place::place;
use report::words::counted;

/// Characters of a name before it is cut at a word.
const LONGEST: usize = 60;

/// What a test is called, and a sentence about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    pub name: String,
    pub description: String,
}

/// Names all tests and findings; those that were there already keep their names. `returned` says in one word what a test returned, when that is known and short.
pub fn names(
    subject: &Subject,
    result: &CampaignResult,
    existing_tests: &[ExistingTest],
    returned: impl Fn(&Test) -> Option<String>,
) -> BTreeMap<TestId, Name> {
    let mut used: BTreeSet<String> = existing_tests.iter().map(|test| test.name.clone()).collect();
    let findings = result.crashes.iter().chain(&result.hangs).chain(&result.suspicions);
    let findings = findings.map(|finding| &finding.test);
    let named = |test: &Test| {
        let returned = returned(test);
        let own = existing(existing_tests, test).map(|existing| existing.name.clone());
        let name =
            own.unwrap_or_else(|| distinct(name(subject, result, test, returned.as_deref()), &mut used));
        (test.id, Name { name, description: description(subject, result, test, returned.as_deref()) })
    };
    result.tests.iter().chain(findings).map(named).collect()
}

/// The test that was there already, if it is one.
pub fn existing<'e>(tests: &'e [ExistingTest], test: &Test) -> Option<&'e ExistingTest> {
    let number = usize::try_from(test.provenance.imported()?).ok()?;
    tests.get(number.checked_sub(1)?)
}

fn name(subject: &Subject, result: &CampaignResult, test: &Test, returned: Option<&str>) -> String {
    let mut end = match test.end {
        End::Returned => "returns".to_owned(),
        End::Exited(code) => format!("exits_with_{}", words(&code.to_string())),
        End::Aborted => "aborts".to_owned(),
        End::Signalled { .. } => "crashes".to_owned(),
        End::TimedOut => "hangs".to_owned(),
        End::OutOfMemory => "runs_out_of_memory".to_owned(),
        End::StackOverflow => "overflows_the_stack".to_owned(),
        End::OutOfBounds(_) => "accesses_out_of_bounds".to_owned(),
    };
    if let Some(returned) = returned {
        end = format!("{end}_{}", words(returned));
    }
    match test.covers.last() {
        Some(goal) => joined(&end, &result.coverage.goal(*goal).describe(subject.program())),
        None => cut(&end, LONGEST).to_owned(),
    }
}

/// `returns_0` and `(n >= 6) is false` as one name.
fn joined(end: &str, demand: &str) -> String {
    let whole = format!("{end}_when_{}", words(demand.trim_end_matches(" is true")));
    if whole.len() <= LONGEST {
        return whole;
    }
    let (expression, said) = expression_and_statement(demand);
    let said = words(said.trim_end_matches(" is true"));
    let said = if said.is_empty() { said } else { format!("_{said}") };
    let end = cut(end, LONGEST / 2);
    let room = LONGEST.saturating_sub(end.len() + "_when_".len() + "_etc".len() + said.len()).max(8);
    let expression = words(expression);
    let kept = if expression.len() <= room {
        expression
    } else {
        format!("{}_etc", without_operators(cut(&expression, room)))
    };
    format!("{end}_when_{kept}{said}")
}

/// A demand as the expression it is about and what it says of it; of MC/DC, the decision that is decided goes without saying.
fn expression_and_statement(demand: &str) -> (&str, &str) {
    let said = [" is true", " is false", " is evaluated as ", " goes to ", " matches no case"];
    for value in [" being true decides", " being false decides"] {
        if let Some(at) = demand.find(value) {
            return (&demand[..at], &demand[at..at + value.len()]);
        }
    }
    let at = said.iter().filter_map(|said| demand.rfind(said)).max();
    demand.split_at(at.unwrap_or(demand.len()))
}

/// An expression that was cut does not end with an operator.
fn without_operators(words: &str) -> &str {
    let mut kept = words;
    while let Some((before, last)) = kept.rsplit_once('_')
        && (last == "minus" || OPERATORS.iter().any(|(_, word)| word.trim() == last))
    {
        kept = before;
    }
    kept
}

fn description(subject: &Subject, result: &CampaignResult, test: &Test, returned: Option<&str>) -> String {
    let mut text = format!("{} {}", subject.call(&test.input), end_text(subject.program(), test.end));
    if let Some(returned) = returned {
        text = format!("{text} {returned}");
    }
    if let Some(goal) = test.covers.last() {
        let goal = result.coverage.goal(*goal);
        let at = place(subject.program(), goal.span);
        text = format!("{text}; the first to cover {at} {}", goal.describe(subject.program()));
        if test.covers.len() > 1 {
            text = format!("{text} and {}", counted(test.covers.len() - 1, "other goal"));
        }
    }
    text
}

const OPERATORS: [(&str, &str); 13] = [
    ("->", " "),
    ("==", " eq "),
    ("!=", " ne "),
    ("<=", " le "),
    (">=", " ge "),
    ("&&", " and "),
    ("||", " or "),
    ("<<", " shl "),
    (">>", " shr "),
    ("<", " lt "),
    (">", " gt "),
    ("!", " not "),
    ("%", " mod "),
];

/// Text as words of an identifier.
fn words(text: &str) -> String {
    let mut text = signs(text);
    for (operator, word) in OPERATORS {
        text = text.replace(operator, word);
    }
    let text = negatives(&text);
    let parts = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("_")
}

/// A character literal that is no letter or digit is called by its name or number.
fn signs(text: &str) -> String {
    let mut spelled = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\'') {
        let (before, literal) = rest.split_at(at);
        spelled.push_str(before);
        match character(literal) {
            Some((word, length)) => {
                spelled.push_str(&word);
                rest = &literal[length..];
            }
            None => {
                spelled.push(' ');
                rest = &literal[1..];
            }
        }
    }
    spelled.push_str(rest);
    spelled
}

/// A word for the character literal that begins here, unless the character is one; and how long the literal is.
fn character(literal: &str) -> Option<(String, usize)> {
    let mut characters = literal.chars().skip(1);
    let first = characters.next().filter(|c| c.is_ascii() && !c.is_ascii_alphanumeric())?;
    let (word, length) = match first {
        '\\' => {
            let word = match characters.next()? {
                'n' => "newline".to_owned(),
                't' => "tab".to_owned(),
                'r' => "return".to_owned(),
                '0' => "nul".to_owned(),
                sign @ ('\\' | '\'' | '"' | '?') => format!("char_{}", u32::from(sign)),
                _ => return None,
            };
            (word, 4)
        }
        ' ' => ("space".to_owned(), 3),
        sign => (format!("char_{}", u32::from(sign)), 3),
    };
    (characters.next() == Some('\'')).then_some((word, length))
}

/// A minus sign before a number is worth a word.
fn negatives(text: &str) -> String {
    let mut spelled = String::new();
    let mut before = ' ';
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let starts_number = characters.peek().is_some_and(char::is_ascii_digit);
        if character == '-' && starts_number && !before.is_ascii_alphanumeric() {
            spelled.push_str(" minus ");
        } else {
            spelled.push(character);
        }
        before = character;
    }
    spelled
}

/// As much of a name as has room, up to the end of a word where there is one.
fn cut(name: &str, room: usize) -> &str {
    if name.len() <= room {
        return name;
    }
    let end = name[..=room].rfind('_').filter(|end| *end > 0).unwrap_or(room);
    &name[..end]
}

fn distinct(name: String, used: &mut BTreeSet<String>) -> String {
    let numbered = (2..).map(|number: u32| format!("{name}_{number}"));
    let free = std::iter::once(name.clone()).chain(numbered).find(|name| used.insert(name.clone()));
    free.expect("there are enough numbers")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_become_words() {
        assert_eq!(words("(n >= 6)"), "n_ge_6");
        assert_eq!(words("(p->next != -1 && !done) is false"), "p_next_ne_minus_1_and_not_done_is_false");
        assert_eq!(words("a-1"), "a_1");
    }

    #[test]
    fn punctuation_is_called_by_its_number() {
        assert_eq!(words("switch (c) goes to case '+'"), "switch_c_goes_to_case_char_43");
        assert_eq!(words("c == 'n' || c == '!' || c == '\\n'"), "c_eq_n_or_c_eq_char_33_or_c_eq_newline");
        assert_eq!(
            words("c != ' ' && c != '\\'' && c == '\\x1b'"),
            "c_ne_space_and_c_ne_char_39_and_c_eq_x1b"
        );
    }

    #[test]
    fn long_names_keep_what_they_say_of_an_expression() {
        let check = |demand: &str, expected: &str| {
            let name = joined("returns_minus_1", demand);
            assert_eq!(name, expected);
            assert!(name.len() <= LONGEST, "{}", name.len());
        };
        let long = "state->remaining_bytes >= header_length && !state->is_finished && input != NULL";
        check(&format!("({long}) is false"), "returns_minus_1_when_state_remaining_bytes_etc_is_false");
        check(&format!("({long}) is true"), "returns_minus_1_when_state_remaining_bytes_ge_header_etc");
        let condition = "state->remaining_bytes >= header_length";
        check(
            &format!("({condition}) being false decides ({long})"),
            "returns_minus_1_when_state_remaining_etc_being_false_decides",
        );
        check(
            &format!("switch ({condition}) goes to case 'n'"),
            "returns_minus_1_when_switch_state_etc_goes_to_case_n",
        );
    }

    #[test]
    fn equal_names_get_numbers() {
        let mut used = BTreeSet::new();
        let named: Vec<_> = (0..3).map(|_| distinct("f".to_owned(), &mut used)).collect();
        assert_eq!(named, ["f", "f_2", "f_3"]);
    }
}
