//! The name and the description of a test: by how it ends and by what it is the first to cover.
//!
//! Method: the name consists of the end, the result if that is short, and the last goal in source order that the test adds,
//! as a C identifier: `returns_2_when_n_ge_6`. Names are unique within a suite; the same suite gives the same names.

use std::collections::{BTreeMap, BTreeSet};

use coverage::TestId;
use engine::campaign::{CampaignResult, Test};
use engine::executor::End;

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

/// Names all tests and findings; `returned` says in one word what a test returned, when that is known and short.
pub fn names(
    subject: &Subject,
    result: &CampaignResult,
    returned: impl Fn(&Test) -> Option<String>,
) -> BTreeMap<TestId, Name> {
    let mut used = BTreeSet::new();
    let findings = result.crashes.iter().chain(&result.hangs).map(|finding| &finding.test);
    let named = |test: &Test| {
        let returned = returned(test);
        let name = distinct(name(subject, result, test, returned.as_deref()), &mut used);
        (test.id, Name { name, description: description(subject, result, test, returned.as_deref()) })
    };
    result.tests.iter().chain(findings).map(named).collect()
}

fn name(subject: &Subject, result: &CampaignResult, test: &Test, returned: Option<&str>) -> String {
    let mut name = match test.end {
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
        name = format!("{name}_{}", words(returned));
    }
    if let Some(goal) = test.covers.last() {
        let demand = result.coverage.goal(*goal).describe(subject.program());
        name = format!("{name}_when_{}", words(demand.trim_end_matches(" is true")));
    }
    shortened(&name)
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

/// Text as words of an identifier.
fn words(text: &str) -> String {
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
    let mut text = text.to_owned();
    for (operator, word) in OPERATORS {
        text = text.replace(operator, word);
    }
    let text = negatives(&text);
    let parts = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("_")
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

fn shortened(name: &str) -> String {
    if name.len() <= LONGEST {
        return name.to_owned();
    }
    let end = name[..=LONGEST].rfind('_').unwrap_or(LONGEST);
    name[..end].to_owned()
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
    fn long_names_are_cut_at_a_word() {
        let long = shortened(&"word_".repeat(20));
        assert!(long.len() <= LONGEST && long.ends_with("word"), "{long}");
    }

    #[test]
    fn equal_names_get_numbers() {
        let mut used = BTreeSet::new();
        let named: Vec<_> = (0..3).map(|_| distinct("f".to_owned(), &mut used)).collect();
        assert_eq!(named, ["f", "f_2", "f_3"]);
    }
}
