//! The tutorial, as its reader would type it: the commands of `docs/tutorial.md` in a copy of the library, with the output
//! it shows.
//!
//! In a `console` block a line that starts with `$ ` is a command, `? N` its exit code when that is not 0, everything else
//! its standard output. `…` alone on a line stands for any lines, or none; within a line for any characters.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

/// A command of the tutorial.
struct Step {
    line: usize,
    command: String,
    output: Vec<String>,
    code: i32,
}

fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut in_block = false;
    for (number, line) in (1..).zip(text.lines()) {
        match line {
            "```console" => in_block = true,
            "```" => in_block = false,
            _ if !in_block => {}
            line => match (line.strip_prefix("$ "), line.strip_prefix("? "), steps.last_mut()) {
                (Some(command), _, _) => {
                    let command = command.to_owned();
                    steps.push(Step { line: number, command, output: Vec::new(), code: 0 });
                }
                (None, Some(code), Some(step)) => step.code = code.parse().expect("an exit code"),
                (None, None, Some(step)) => step.output.push(line.to_owned()),
                (None, _, None) => panic!("line {number}: output without a command"),
            },
        }
    }
    steps
}

/// Whether the lines are as shown.
fn fits(shown: &[String], said: &[&str]) -> bool {
    match shown {
        [] => said.is_empty(),
        [any, rest @ ..] if any == "…" => (0..=said.len()).any(|skipped| fits(rest, &said[skipped..])),
        [line, rest @ ..] => {
            said.first().is_some_and(|first| line_fits(line, first)) && fits(rest, &said[1..])
        }
    }
}

fn line_fits(shown: &str, said: &str) -> bool {
    match shown.split_once('…') {
        None => shown == said,
        Some((before, behind)) => said.strip_prefix(before).is_some_and(|rest| {
            let starts = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
            starts.into_iter().any(|at| line_fits(behind, &rest[at..]))
        }),
    }
}

#[test]
fn the_tutorial_does_what_it_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let work = TempDir::new().expect("temporary directory");
    for entry in fs::read_dir(root.join("examples/ranges")).expect("the library is there") {
        let entry = entry.expect("readable");
        fs::copy(entry.path(), work.path().join(entry.file_name())).expect("copied");
    }
    let quarry = Path::new(env!("CARGO_BIN_EXE_quarry")).parent().expect("in a directory").to_owned();
    let path = format!("{}:{}", quarry.display(), std::env::var("PATH").unwrap_or_default());
    let steps = steps(&fs::read_to_string(root.join("docs/tutorial.md")).expect("the tutorial is there"));
    assert!(steps.len() > 10, "only {} commands were found", steps.len());
    for step in steps {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &step.command])
            .current_dir(work.path())
            .env("PATH", &path)
            .env("QUARRY_CACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"));
        let done = shell.output().expect("sh starts");
        let (said, complaints) =
            (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
        let at = format!("docs/tutorial.md:{}: $ {}\n{said}{complaints}", step.line, step.command);
        assert_eq!(done.status.code(), Some(step.code), "{at}");
        let said: Vec<&str> = said.lines().collect();
        assert!(fits(&step.output, &said), "{at}\nshown is:\n{}", step.output.join("\n"));
    }
}

#[test]
fn what_is_shown_is_compared() {
    let fits_text = |shown: &str, said: &str| {
        fits(&shown.lines().map(str::to_owned).collect::<Vec<_>>(), &said.lines().collect::<Vec<_>>())
    };
    assert!(
        fits_text("a\n…\nd", "a\nb\nc\nd")
            && fits_text("a\n…", "a")
            && fits_text("by … tests (…)", "by 5 tests (x)")
    );
    assert!(
        !fits_text("a\n…\nd", "a\nb\nc") && !fits_text("a", "a\nb") && !fits_text("by … tests", "by 5 test")
    );
}
