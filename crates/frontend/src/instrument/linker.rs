//! How a program is linked, without starting the compiler for it each time.
//!
//! Method: the compiler says once which linker it would run with which words (`-###`), with stand-ins for the files; the answer is kept. That
//! for no flags is part of this program. Limit: only
//! for programs that are linked with nothing but C's own libraries; others may name files that change, and the compiler is asked each time.

use std::path::Path;
use std::process::Command;

use super::undefined::Libraries;
use crate::clang::clang;
use crate::linking::{self, FLAGS, INPUTS, LIBRARIES, MATHEMATICS, OUTPUT};
use crate::{compilers, prepared, tools};

/// The kind of note that has the answer.
const KIND: &str = "linker";

/// The command that links a program.
pub fn linker(libraries: &Libraries<'_>, inputs: &[&Path], output: &Path) -> Command {
    let Some(words) = words(libraries) else { return by_compiler(libraries, inputs, output) };
    let mut command = Command::new(&words[0]);
    command.current_dir(libraries.root);
    for word in &words[1..] {
        match word.as_str() {
            INPUTS => command.args(inputs),
            OUTPUT => command.arg(output),
            word => command.arg(word),
        };
    }
    command
}

/// The same, by the compiler, which also takes assembly.
pub fn by_compiler(libraries: &Libraries<'_>, inputs: &[&Path], output: &Path) -> Command {
    let mut command = clang(libraries.root);
    command.args(FLAGS).args(libraries.target_flags).args(inputs).args(libraries.link_flags);
    command.args(LIBRARIES).arg("-o").arg(output);
    command
}

fn words_of<'a>(libraries: &Libraries<'a>) -> Vec<&'a str> {
    libraries.link_flags.iter().map(String::as_str).collect()
}

/// The words of the linker's command; nothing when they are not known.
fn words(libraries: &Libraries<'_>) -> Option<Vec<String>> {
    if !libraries.are_of_system() {
        return None;
    }
    if let (Some(prepared), [MATHEMATICS]) =
        (prepared::get(libraries.target_flags), words_of(libraries).as_slice())
    {
        return Some(prepared.linker.lines().map(str::to_owned).collect());
    }
    let key = tools::key().parts("flags", FLAGS).parts("target", libraries.target_flags);
    let key = key.parts("link", libraries.link_flags);
    let noted = libraries.cache.note(KIND, &key);
    if let Some(words) = noted.and_then(|note| serde_json::from_slice(&note).ok()) {
        return Some(words);
    }
    let mut command = clang(libraries.root);
    command.args(linking::question(libraries.target_flags, libraries.link_flags));
    let said = compilers::output(&mut command).ok()?;
    let words = linking::answer(&String::from_utf8_lossy(&said.stderr))?;
    if let Ok(note) = serde_json::to_vec(&words) {
        libraries.cache.keep_note(KIND, &key, &note);
    }
    Some(words)
}
