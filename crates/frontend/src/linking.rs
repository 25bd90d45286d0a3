//! How the compiler links programs, and what it says when it is asked how. The build of this crate asks, too, so this file stands for itself.

/// Libraries that every program is linked with: mathematics is part of C's own.
pub const LIBRARIES: [&str; 2] = ["-Wl,--as-needed", "-lm"];

/// Links the library of mathematics where it is needed: sources named one by one do not say so.
pub const MATHEMATICS: &str = "-Wl,--push-state,--as-needed,-lm,--pop-state";

/// Bound at once: what is bound on first use is bound again in every run.
pub const FLAGS: [&str; 2] = ["-no-pie", "-Wl,-z,now"];

/// What stands for the files in the compiler's answer.
pub const INPUTS: &str = "quarry-stand-in-for-inputs";
pub const OUTPUT: &str = "quarry-stand-in-for-output";

/// Asks a compiler with which words it would start the linker.
pub fn question(target_flags: &[String], link_flags: &[String]) -> Vec<String> {
    let mut words = vec!["-###".to_owned()];
    words.extend(FLAGS.map(str::to_owned));
    words.extend_from_slice(target_flags);
    words.push(format!("-Wl,{INPUTS}"));
    words.extend_from_slice(link_flags);
    words.extend(LIBRARIES.map(str::to_owned));
    words.extend(["-o", OUTPUT].map(str::to_owned));
    words
}

/// The linker and its words in the compiler's answer, if it is one.
pub fn answer(said: &str) -> Option<Vec<String>> {
    let words = last_command(said)?;
    let n_of = |stand_in: &str| words.iter().filter(|word| *word == stand_in).count();
    (n_of(INPUTS) == 1 && n_of(OUTPUT) == 1).then_some(words)
}

/// The words of the last command in what the compiler prints, each in quotes.
fn last_command(answer: &str) -> Option<Vec<String>> {
    let line = answer.lines().rev().find(|line| line.trim_start().starts_with('"'))?;
    let mut words = Vec::new();
    let mut characters = line.trim().chars();
    while let Some(character) = characters.next() {
        match character {
            ' ' => {}
            '"' => words.push(quoted(&mut characters)?),
            _ => return None,
        }
    }
    (!words.is_empty()).then_some(words)
}

/// The rest of a word in quotes, in which a backslash stands before what has a meaning.
fn quoted(characters: &mut std::str::Chars<'_>) -> Option<String> {
    let mut word = String::new();
    loop {
        match characters.next()? {
            '"' => return Some(word),
            '\\' => word.push(characters.next()?),
            character => word.push(character),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_command_is_read_with_its_quotes() {
        let answer = "Debian clang version 19\nTarget: x\n \"/usr/bin/as\" \"a.s\"\n \"/usr/bin/ld\" \"-z\" \"a b\" \"c\\\"d\\$\"\n";
        assert_eq!(last_command(answer).expect("a command"), ["/usr/bin/ld", "-z", "a b", "c\"d$"]);
        assert_eq!(last_command("clang: error: no\n"), None);
        assert_eq!(last_command(" \"/usr/bin/ld\" \"-z"), None);
    }
}
