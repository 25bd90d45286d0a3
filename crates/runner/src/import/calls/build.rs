//! Test programs in C, built with the unit under test.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use testwriter::{capture_beside, capture_within, diverted};

use super::TestSource;
use crate::spec::TestsSpec;
use crate::subject::{Subject, TestProgram};

/// How programs of tests behave.
pub const VARIABLES: [(&str, &str); 3] = [
    // what is wrong with the tests is not asked here
    (
        "ASAN_OPTIONS",
        "halt_on_error=0:detect_leaks=0:detect_odr_violation=0:allocator_may_return_null=1:malloc_fill_byte=0:log_path=/dev/null",
    ),
    // a crash in one test of Check ends the others otherwise
    ("CK_FORK", "yes"),
    ("GTEST_CATCH_EXCEPTIONS", "0"),
];

/// Libraries of frameworks, by the headers that say that they are used.
const FRAMEWORKS: [(&str, &[&str]); 6] = [
    ("gmock/gmock.h", &["-lgmock", "-lgmock_main", "-lgtest", "-pthread"]),
    ("gtest/gtest.h", &["-lgtest", "-lgtest_main", "-pthread"]),
    ("cmocka.h", &["-lcmocka"]),
    ("check.h", &["-lcheck", "-lsubunit", "-lrt", "-lm", "-pthread"]),
    ("CUnit/", &["-lcunit"]),
    ("criterion/", &["-lcriterion"]),
];

/// Lines of a compiler's message that are shown.
const MOST_LINES: usize = 4;

/// The header of Unity, whose source is built with the tests.
const UNITY: &str = "unity.h";

/// Builds a program of tests that notes its calls; else, why that cannot be done.
pub fn build(
    subject: &Subject,
    asked: &TestsSpec,
    sources: &[&TestSource],
    work: &Path,
) -> Result<PathBuf, String> {
    let under_test = subject.function_under_test().ok_or("it is for a function")?;
    if under_test.function.variadic {
        return Err("a function with variable arguments cannot be recorded".to_owned());
    }
    std::fs::create_dir_all(work).map_err(|error| format!("cannot create {}: {error}", work.display()))?;
    let (flags, more_sources) = split(&asked.flags);
    let paths = sources.iter().map(|source| source.path.canonicalize());
    let paths: Vec<PathBuf> =
        paths.collect::<Result<_, _>>().map_err(|error| format!("cannot be read: {error}"))?;
    let directories: Vec<PathBuf> = paths.iter().filter_map(|path| Some(path.parent()?.to_owned())).collect();
    let given = flags.iter().filter_map(|flag| flag.strip_prefix("-I")).map(PathBuf::from);
    let places: Vec<PathBuf> =
        directories.iter().cloned().chain(given).chain(subject.include_directories()).collect();
    let (mut capturing, mut beside, mut link) = (Vec::new(), Vec::new(), Vec::new());
    let mut wanted = Includes::default();
    for (number, path) in paths.into_iter().enumerate() {
        let mut includes = Includes::default();
        includes.follow(&path, &places);
        if includes.files.contains(under_test.source) {
            let file = work.join(format!("within{number}.c"));
            write(&file, &capture_within(&under_test, &path))?;
            capturing.push(file);
        } else {
            beside.push(path);
        }
        wanted.names.extend(includes.names);
        wanted.files.extend(includes.files);
    }
    if capturing.is_empty() {
        if under_test.function.is_static {
            return Err(format!(
                "{} is static: only a test that includes its source can call it",
                under_test.function.key.name
            ));
        }
        let file = work.join("capture.c");
        write(&file, &capture_beside(&under_test))?;
        capturing.push(file);
        link.push(diverted(&under_test.function.key.name));
    }
    beside.extend(more_sources);
    if !beside.iter().any(|file| file.file_stem().is_some_and(|stem| stem == "unity")) {
        beside.extend(wanted.unity());
    }
    for (header, libraries) in FRAMEWORKS {
        if wanted.names.iter().any(|name| name.starts_with(header)) {
            link.extend(libraries.iter().map(|library| (*library).to_owned()));
        }
    }
    if beside.iter().any(|file| file.extension().is_none_or(|extension| extension != "c")) {
        link.push("-lstdc++".to_owned());
        link.push("-lm".to_owned());
    }
    let output = work.join("tests");
    let program = TestProgram {
        capturing: &capturing,
        beside: &beside,
        directories: &directories,
        flags: &flags,
        link: &link,
    };
    subject.build_tests(&program, &output).map_err(|error| {
        let said = error.to_string();
        let first: Vec<&str> = said.lines().take(MOST_LINES).collect();
        format!("{} (--tests-flags takes flags and further sources)", first.join("\n"))
    })?;
    Ok(output)
}

/// Whether a text defines `main`, or has a macro of a framework do so.
pub fn defines_main(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices("main").any(|(at, word)| {
        let before = text[..at].chars().next_back().is_none_or(|c| !is_word(c));
        let behind = text[at + word.len()..].trim_start();
        let mut parameters = behind.strip_prefix('(').into_iter().flat_map(|rest| rest.split_once(')'));
        before && parameters.any(|(_, rest)| rest.trim_start().starts_with('{'))
    })
}

/// What a test includes, directly and by what it includes.
#[derive(Default)]
struct Includes {
    /// As they are written.
    names: BTreeSet<String>,
    /// Those that are found beside a file that includes them, or where the user says.
    files: BTreeSet<PathBuf>,
}

impl Includes {
    fn follow(&mut self, file: &Path, places: &[PathBuf]) {
        let Ok(text) = std::fs::read(file) else { return };
        let beside = file.parent().unwrap_or(Path::new("/")).to_owned();
        for name in String::from_utf8_lossy(&text).lines().filter_map(included) {
            let mut candidates = std::iter::once(&beside).chain(places).map(|place| place.join(&name));
            let found = candidates.find_map(|path| path.canonicalize().ok().filter(|path| path.is_file()));
            self.names.insert(name);
            if let Some(path) = found
                && self.files.insert(path.clone())
            {
                self.follow(&path, places);
            }
        }
    }

    /// Unity's source, if tests want it and it is where its header is.
    fn unity(&self) -> Option<PathBuf> {
        let header = self.files.iter().find(|file| file.file_name().is_some_and(|name| name == UNITY))?;
        let source = header.with_extension("c");
        source.is_file().then_some(source)
    }
}

/// What a line includes.
fn included(line: &str) -> Option<String> {
    let name = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
    let (name, _) = name.strip_prefix(['"', '<'])?.split_once(['"', '>'])?;
    Some(name.to_owned())
}

/// Flags, and the files among them.
fn split(flags: &[String]) -> (Vec<String>, Vec<PathBuf>) {
    let (files, flags): (Vec<_>, Vec<_>) =
        flags.iter().cloned().partition(|flag| !flag.starts_with('-') && super::is_source(Path::new(flag)));
    (flags, files.into_iter().map(PathBuf::from).collect())
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    std::fs::write(file, text).map_err(|error| format!("cannot write {}: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_main_with_a_body_is_found() {
        assert!(defines_main("int main(void)\n{\n}"));
        assert!(defines_main("int main (int argc, char **argv) {"));
        assert!(!defines_main("int main(void);"));
        assert!(!defines_main("domain(x) { } remainder(y)"));
    }

    #[test]
    fn sources_among_flags_are_files() {
        let flags: Vec<String> = ["-Iunity", "unity.c", "-lm"].map(str::to_owned).into();
        assert_eq!(
            split(&flags),
            (vec!["-Iunity".to_owned(), "-lm".to_owned()], vec![PathBuf::from("unity.c")])
        );
    }
}
