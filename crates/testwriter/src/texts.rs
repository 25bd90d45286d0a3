//! Which characters of an array are compared together, as a text?
//!
//! Method: the elements of an array that are characters one after the other, from the first on, with what each is after the
//! call: what was seen, or what the input has where nothing changed. They are a text when readable characters end with a zero, or
//! with the array. Limit: what two runs did not agree on belongs to no text.

use crate::leaves::{Leaf, LeafKind, Seen};

/// The first elements of an array, which are characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayText {
    /// The array, as C names it.
    pub array: String,
    /// Without the zero that ends it.
    pub text: Vec<u8>,
    /// Whether a zero ends it.
    pub is_string: bool,
    pub is_signed: bool,
}

impl ArrayText {
    /// How many leaves it stands for.
    pub fn n_leaves(&self) -> usize {
        self.text.len() + usize::from(self.is_string)
    }
}

/// The text that begins with the first of these leaves, if the call changed any of it: `changed` says what was seen by
/// expression, `left_out` of which expressions (`s[0]: why`) nothing is known.
pub fn text_at(leaves: &[Leaf], changed: &[(String, Seen)], left_out: &[String]) -> Option<ArrayText> {
    let first = leaves.first()?;
    let array = first.expression.strip_suffix("[0]")?;
    let is_signed = first.kind == LeafKind::Signed { bits: 8 };
    let of_array = leaves.iter().enumerate().take_while(|(index, leaf)| {
        leaf.kind == first.kind && leaf.expression.strip_prefix(array) == Some(&format!("[{index}]"))
    });
    let is_left_out = |expression: &str| {
        let is_it = |why: &String| why.strip_prefix(expression).is_some_and(|rest| rest.starts_with(':'));
        left_out.iter().any(is_it)
    };
    let mut found = ArrayText { array: array.to_owned(), text: Vec::new(), is_string: false, is_signed };
    let mut is_changed = false;
    for (_, leaf) in of_array {
        let seen = changed.iter().find(|(expression, _)| *expression == leaf.expression);
        is_changed |= seen.is_some();
        let byte = match seen {
            Some((_, Seen::Number(number))) => *number as u8,
            Some(_) => return None,
            None if is_left_out(&leaf.expression) => return None,
            None => leaf.byte_before?,
        };
        match byte {
            0 => {
                found.is_string = true;
                break;
            }
            b' '..=b'~' | b'\n' | b'\t' => found.text.push(byte),
            _ => return None,
        }
    }
    (is_changed && found.n_leaves() > 0).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: &[u8], seen: &[(usize, i128)], expected: Option<(&str, bool)>) {
        let kind = LeafKind::Signed { bits: 8 };
        let leaf = |(index, byte): (usize, &u8)| Leaf {
            expression: format!("p->name[{index}]"),
            kind,
            byte_before: Some(*byte),
        };
        let leaves: Vec<Leaf> = before.iter().enumerate().map(leaf).collect();
        let seen = seen.iter().map(|(index, value)| (format!("p->name[{index}]"), Seen::Number(*value)));
        let seen: Vec<(String, Seen)> = seen.collect();
        let found = text_at(&leaves, &seen, &["p->name[7]: two runs differ".to_owned()]);
        let found = found.map(|found| (String::from_utf8(found.text).expect("ASCII"), found.is_string));
        assert_eq!(found, expected.map(|(text, is_string)| (text.to_owned(), is_string)));
    }

    #[test]
    fn characters_up_to_a_zero_are_one_string() {
        check(b"\0\0\0\0", &[(0, 111), (1, 107)], Some(("ok", true)));
        check(b"abc\0", &[(1, 0)], Some(("a", true)));
        check(b"ab", &[(0, 65)], Some(("Ab", false)));
    }

    #[test]
    fn what_is_unchanged_unreadable_or_uncertain_is_no_text() {
        check(b"abc\0", &[], None);
        check(b"a\x07c\0", &[(0, 65)], None);
        check(b"abcdefgh\0", &[(0, 65)], None);
    }
}
