//! The reflowed text: positions, pragmas, and what is said about sources that do not compile.

#[path = "support/marking.rs"]
mod marking;

use std::path::Path;

use frontend::mark::{MarkOptions, mark};
use frontend::marks::Marks;
use frontend::sources::Sources;
use marking::{fixture, mark_file};
use tempfile::TempDir;

fn write(directory: &TempDir, name: &str, text: &[u8]) -> std::path::PathBuf {
    let path = directory.path().join(name);
    std::fs::write(&path, text).expect("write");
    path
}

fn error(file: &Path) -> String {
    let directory = tempfile::tempdir().expect("temporary directory");
    let sources = Sources { files: vec![file.to_owned()], ..Sources::below(directory.path()) };
    let options = MarkOptions {
        root: directory.path().to_owned(),
        directory: "texts".into(),
        rename_main: false,
        cache: None,
    };
    let commands = sources.commands().expect("the file can be read");
    mark(&commands, &options).expect_err("the file does not compile").to_string()
}

/// `line:column` of every decision, with the last part of the file's name.
fn decisions(marks: &Marks) -> Vec<String> {
    let place = |span: model::SpanId| {
        let at = marks.spans[span.index()].at;
        let path = &marks.files[at.file.index()].path;
        format!("{}:{}:{}", path.rsplit('/').next().unwrap_or(path), at.line, at.column)
    };
    marks.decisions.iter().map(|decision| place(decision.span)).collect()
}

#[test]
fn every_line_of_a_text_is_one_token_with_a_span() {
    let (marks, _directory) = mark_file(&fixture("macros"), &[], false);
    let text = std::fs::read_to_string(&marks.units[0].text).expect("the text");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), marks.units[0].lines.len());
    assert_eq!(lines[0], "extern _Bool __q(unsigned, _Bool);");
    assert_eq!(marks.units[0].lines[0], None);
    assert!(marks.units[0].lines[1..].iter().all(Option::is_some), "macros.c has no pragmas");
    assert!(lines.contains(&"__q(1,(x"), "the first token of a condition carries its mark");
}

#[test]
fn syntax_errors_are_told_at_the_users_own_lines() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let file = write(&directory, "broken.c", b"int f(int a)\n{\n    return a +;\n}\n");
    let message = error(&file);
    assert!(message.contains("broken.c does not compile:"), "{message}");
    assert!(message.contains("broken.c:3:15: error: expected expression"), "{message}");
    let file = write(&directory, "include.c", b"#include \"no/such/header.h\"\n");
    let message = error(&file);
    assert!(message.contains("include.c:1:10: fatal error: 'no/such/header.h' file not found"), "{message}");
}

#[test]
fn an_empty_unit_is_fine() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let (marks, _texts) = mark_file(&write(&directory, "empty.c", b""), &[], false);
    assert_eq!((marks.declarations.functions.len(), marks.decisions.len(), marks.units.len()), (0, 0, 1));
}

#[test]
fn pragmas_line_directives_and_odd_bytes_survive() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let source = "#pragma pack(push, 1)\nstruct s { char c; int i; };\n_Pragma(\"pack(pop)\")\n\
        int f(struct s *p) { return p->c \\\n    && \\\n  p->i; }\n\
        #line 70 \"other.y\"\n\
        int g(int x) <% return x || 1 ? 'a' : '\\''; %>\n";
    let file = write(&directory, "odd.c", source.as_bytes());
    let (marks, _texts) = mark_file(&file, &[], false);
    assert_eq!(decisions(&marks), ["odd.c:4:29", "other.y:70:24"]);
    let text = std::fs::read_to_string(&marks.units[0].text).expect("the text");
    assert_eq!(text.lines().filter(|line| line.starts_with("#pragma pack(p")).count(), 2);
    let size = marks.declarations.types.types.iter().find(|ty| ty.spelling == "struct s").map(|ty| ty.size);
    assert_eq!(size, Some(5), "packed");
}

#[test]
fn bytes_that_are_no_utf8_are_kept() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let file =
        write(&directory, "latin.c", b"const char *s = \"\xe4\"; /* \xf6 */ int f(int a) { return !a; }\n");
    let (marks, _texts) = mark_file(&file, &[], false);
    let text = std::fs::read(&marks.units[0].text).expect("the text");
    assert!(text.windows(3).any(|bytes| bytes == b"\"\xe4\""));
    assert_eq!(marks.conditions.len(), 1);
}

#[test]
fn several_units_share_files_and_number_conditions_on() {
    let directory = tempfile::tempdir().expect("temporary directory");
    write(&directory, "shared.h", b"static inline int both(int a, int b) { return a && b; }\n");
    let first = write(&directory, "first.c", b"#include \"shared.h\"\nint f(int a) { return !a; }\n");
    let second =
        write(&directory, "second.c", b"#include \"shared.h\"\nint g(int a) { return both(a, !a); }\n");
    let sources = Sources { files: vec![first, second], ..Sources::below(directory.path()) };
    let options = MarkOptions {
        root: directory.path().to_owned(),
        directory: "texts".into(),
        rename_main: false,
        cache: None,
    };
    let marks = mark(&sources.commands().expect("files"), &options).expect("marks");
    assert_eq!(decisions(&marks), ["shared.h:1:47", "first.c:2:23", "shared.h:1:47", "second.c:2:31"]);
    let headers = marks.files.iter().filter(|file| file.path.ends_with("shared.h")).count();
    assert_eq!(headers, 1);
    let text = std::fs::read_to_string(&marks.units[1].text).expect("the text");
    for mark in ["__q(0,(", "__q(1,(", "__q(2,("] {
        assert!(text.contains(mark), "{mark}");
    }
}

#[test]
fn open_mp_regions_are_marked_as_the_sequential_code_they_are() {
    let (marks, _texts) = mark_file(&fixture("openmp"), &["-fopenmp"], false);
    assert_eq!(decisions(&marks), ["openmp.c:6:21", "openmp.c:7:13"]);
}

#[test]
fn main_is_renamed_with_all_its_uses() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let source = b"int main(int, char **);\nint (*start)(int, char **) = main;\nstruct s { int main; } s;\n\
        int main(int argc, char **argv) { if (argc > 3) return main(argc - 1, argv); s.main = 1; }\n";
    let (marks, _texts) = mark_file(&write(&directory, "m.c", source), &[], true);
    let text = std::fs::read_to_string(&marks.units[0].text).expect("the text");
    assert_eq!(text.lines().filter(|line| *line == "__quarry_user_main").count(), 4);
    assert_eq!(text.lines().filter(|line| *line == "main").count(), 2);
    assert!(text.ends_with("return 0;}\n"));
    assert_eq!(marks.declarations.functions[0].key.name, "main");
}
