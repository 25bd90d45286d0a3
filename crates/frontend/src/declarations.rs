//! What a unit declares, as C: code that is put behind it can name all that the unit can.
//!
//! Method: the marked text with nothing in the bodies of functions. They stay definitions, because not every head of a function can stand as a
//! declaration; whoever compiles the text takes the code of the unit itself instead of theirs. Limit: what only a
//! body declares is not there, as it would not be behind the whole text.

use std::io;

use crate::marks::Unit;

/// The text of a unit with empty bodies.
pub fn of(unit: &Unit) -> io::Result<Vec<u8>> {
    let text = std::fs::read(&unit.text)?;
    let mut bodies = unit.bodies.iter().peekable();
    let mut declarations = Vec::with_capacity(text.len());
    for (number, line) in (1..).zip(text.split_inclusive(|byte| *byte == b'\n')) {
        while bodies.next_if(|(_, last)| *last < number).is_some() {}
        let is_inside = bodies.peek().is_some_and(|(first, last)| *first < number && number < *last);
        if !is_inside {
            declarations.extend_from_slice(line);
        }
    }
    Ok(declarations)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn bodies_are_empty_and_all_else_stays() {
        let directory = tempfile::tempdir().expect("a directory");
        let text = directory.path().join("a.i");
        std::fs::write(&text, "int\nf\n(\n)\n{\nreturn\n1\n;\n}\nint\nx\n;\nint\ng\n(\n)\n{\n}\n")
            .expect("a file");
        let unit = Unit {
            source: PathBuf::new(),
            real_path: PathBuf::new(),
            text,
            first_condition: 0,
            flags: Vec::new(),
            preprocess: Vec::new(),
            directory: PathBuf::new(),
            bodies: vec![(5, 9), (17, 18)],
            lines: Vec::new(),
        };
        let declared = String::from_utf8(of(&unit).expect("the text is there")).expect("text");
        assert_eq!(declared.replace('\n', " "), "int f ( ) { } int x ; int g ( ) { } ");
    }
}
