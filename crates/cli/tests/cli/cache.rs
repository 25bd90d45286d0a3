//! What was built is used again, exactly as long as it is what would be built.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::support::{Bench, Ran};

const SOURCE: &str = "#include \"limit.h\"\n\
    int above(int n) { if (n > LIMIT) return 1; return 0; }\n";

/// Sources with a cache of their own.
fn bench() -> Bench {
    Bench::new(&[("above.c", SOURCE), ("limit.h", "#define LIMIT 10\n")]).with_own_cache()
}

/// A compiler in front of the real one that writes down how it is started.
struct CountedCompiler {
    directory: PathBuf,
}

impl CountedCompiler {
    fn new(bench: &Bench, remark: &str) -> Self {
        let compiler = Self { directory: bench.path("bin") };
        fs::create_dir_all(&compiler.directory).expect("created");
        let starts = compiler.directory.join("starts");
        let script = format!(
            "#!/bin/sh\n# {remark}\necho \"$@\" >> {}\nexec /usr/bin/clang-19 \"$@\"\n",
            starts.display()
        );
        let file = compiler.directory.join("clang-19");
        fs::write(&file, script).expect("writable");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("executable");
        compiler
    }

    /// Runs a command, and counts the starts of the compiler.
    fn quarry(&self, bench: &Bench, arguments: &[&str]) -> (Ran, usize) {
        let (ran, starts) = self.started(bench, arguments);
        (ran, starts.len())
    }

    /// Runs a command; with which words it starts the compiler, by start.
    fn started(&self, bench: &Bench, arguments: &[&str]) -> (Ran, Vec<String>) {
        let starts = self.directory.join("starts");
        fs::write(&starts, "").expect("writable");
        let path = format!("{}:{}", self.directory.display(), std::env::var("PATH").expect("a path"));
        let ran = bench.command(arguments).env("PATH", path).output().expect("quarry starts").into();
        let starts = fs::read_to_string(&starts).expect("readable");
        (ran, starts.lines().map(str::to_owned).collect())
    }
}

/// What is counted of the sources, with the cache and without it, which must be the same.
#[track_caller]
fn goals(bench: &Bench, flags: &[&str]) -> String {
    let listed = |options: &[&str]| {
        let ran = bench.quarry(&[&["goals", "above.c"], options, &["--"], flags].concat());
        ran.check(0, &[]);
        ran.stdout
    };
    let (cached, anew) = (listed(&[]), listed(&["--no-cache"]));
    assert_eq!(cached, anew);
    cached
}

#[test]
fn commands_compile_nothing_that_is_there() {
    let bench = bench();
    let compiler = CountedCompiler::new(&bench, "");
    let generate = ["gen", "above.c", "--max-executions", "20", "--quiet", "--fresh", "--format", "c"];
    let (ran, n_first) = compiler.quarry(&bench, &generate);
    ran.check(0, &[]);
    assert!(n_first > 5, "{n_first}");
    let again: [&[&str]; 4] = [
        &["replay", "quarry.out"],
        &["cover", "above.c", "quarry.out"],
        &["export", "quarry.out", "--format", "ktest"],
        &["report", "quarry.out"],
    ];
    for command in again {
        let (ran, n_starts) = compiler.quarry(&bench, command);
        ran.check(0, &[]);
        assert_eq!(n_starts, 0, "{command:?}");
    }
}

#[test]
fn what_no_cache_builds_is_not_kept() {
    let bench = bench();
    let compiler = CountedCompiler::new(&bench, "");
    for _ in 0..2 {
        let (ran, n_starts) = compiler.quarry(&bench, &["goals", "above.c", "--no-cache"]);
        ran.check(0, &[]);
        assert!(n_starts > 0);
    }
    assert!(!bench.path("cache").exists());
}

#[test]
fn a_changed_header_changes_the_build() {
    let bench = bench();
    goals(&bench, &[]);
    for text in ["#define LIMIT (n > 3 ? 1 : 2)\n", "#define LIMIT (n < 3 ? 1 : 2)\n", "#define LIMIT 10\n"] {
        // of the same length and in the same second
        fs::write(bench.path("limit.h"), text).expect("writable");
        let listed = goals(&bench, &[]);
        assert_eq!(listed.contains('3'), text.contains('3'), "{listed}");
    }
}

#[test]
fn a_header_that_appears_in_front_of_another_changes_the_build() {
    let bench = Bench::new(&[("above.c", &SOURCE.replace("\"limit.h\"", "<limit.h>"))]).with_own_cache();
    for directory in ["first", "second"] {
        fs::create_dir(bench.path(directory)).expect("created");
    }
    fs::write(bench.path("second/limit.h"), "#define LIMIT 10\n").expect("writable");
    let flags = ["-Ifirst", "-Isecond"];
    let before = goals(&bench, &flags);
    fs::write(bench.path("first/limit.h"), "#define LIMIT (n > 3 ? 1 : 2)\n").expect("writable");
    assert_ne!(goals(&bench, &flags), before);
    fs::remove_file(bench.path("first/limit.h")).expect("removed");
    assert_eq!(goals(&bench, &flags), before);
}

#[test]
fn a_changed_flag_changes_the_build() {
    let bench = Bench::new(&[("above.c", "int above(int n) { return LIMIT; }\n")]).with_own_cache();
    let one = goals(&bench, &["-DLIMIT=(n > 10)"]);
    let two = goals(&bench, &["-DLIMIT=(n > 10 && n < 20)"]);
    assert_ne!(one, two);
    assert_eq!(goals(&bench, &["-DLIMIT=(n > 10)"]), one);
}

#[test]
fn another_compiler_builds_anew() {
    let bench = bench();
    let starts = |remark: &str| {
        let (ran, n_starts) = CountedCompiler::new(&bench, remark).quarry(&bench, &["goals", "above.c"]);
        ran.check(0, &[]);
        n_starts
    };
    let n_first = starts("version 19.1.6");
    assert!(n_first > 0);
    let compiler = CountedCompiler { directory: bench.path("bin") };
    assert_eq!(compiler.quarry(&bench, &["goals", "above.c"]).1, 0);
    assert_eq!(starts("version 19.1.7"), n_first);
}

/// A program of three files, of which the first has the function under test. Two of them include a header.
fn three_files() -> Bench {
    let main = "#include \"limit.h\"\nint twice(int n);\nint size(int n);\n\
        int above(int n) { if (n > LIMIT && twice(n) < 90) return size(n); return 0; }\n";
    let size = "#include \"limit.h\"\nint size(int n) { return n < LIMIT ? 0 : n == 40 ? 2 : 1; }\n";
    let database = |flags: &str| {
        let entry = |name: &str, flags: &str| {
            format!(r#"{{"directory": ".", "file": "{name}.c", "command": "cc {flags} -c {name}.c"}}"#)
        };
        format!("[{}, {}, {}]", entry("above", ""), entry("twice", flags), entry("size", ""))
    };
    Bench::new(&[
        ("above.c", main),
        ("twice.c", "int twice(int n) { return n * FACTOR; }\n"),
        ("size.c", size),
        ("limit.h", "#define LIMIT 10\n"),
        ("compile_commands.json", &database("-DFACTOR=2")),
        ("other_commands.json", &database("-DFACTOR=3")),
    ])
    .with_own_cache()
}

const THREE_FILES: [&str; 14] = [
    "gen",
    "-p",
    ".",
    "above.c",
    "twice.c",
    "size.c",
    "--function",
    "above",
    "--max-executions",
    "20",
    "--quiet",
    "--fresh",
    "--no-sanitize",
    "--no-prove",
];

/// Generates for three files; which of them the compiler reads, and of which it makes code. What is built is what would be built without
/// the cache.
#[track_caller]
fn check_compiled(bench: &Bench, read: &[&str], made: &[&str]) {
    let (ran, starts) = CountedCompiler { directory: bench.path("bin") }.started(bench, &THREE_FILES);
    ran.check(0, &[]);
    let files = ["above", "twice", "size"];
    let names = |is_meant: &dyn Fn(&str) -> bool| {
        let starts: Vec<&String> = starts.iter().filter(|start| is_meant(start)).collect();
        let named = |name: &&&str| {
            starts
                .iter()
                .any(|start| start.contains(&format!("{name}.c")) || start.contains(&format!("/{name}-")))
        };
        (starts.len(), files.iter().filter(named).copied().collect::<Vec<_>>())
    };
    let is_read = |start: &str| start.contains(" -E ") || start.contains("-dump-tokens");
    assert_eq!(names(&is_read), (2 * read.len(), read.to_vec()), "read: {starts:#?}");
    // the file with the function is one text with the harness
    let is_made = |start: &str| start.contains("-emit-llvm") && start.contains("cpp-output");
    let is_with_harness = starts.iter().any(|start| is_made(start) && start.contains("/unit0.i"));
    let (n_made, mut found) = names(&is_made);
    if is_with_harness {
        found.insert(0, "above");
    }
    assert_eq!((n_made, found), (made.len(), made.to_vec()), "made: {starts:#?}");
    let kept = |name: &str| fs::read(bench.path("quarry.out").join(name)).expect("readable");
    let cached = ["goals.jsonl", "tests/test_001.json"].map(kept);
    bench.quarry(&[&THREE_FILES[..], &["--no-cache"]].concat()).check(0, &[]);
    assert!(cached == ["goals.jsonl", "tests/test_001.json"].map(kept), "the cache has another program");
}

#[test]
fn only_what_changed_is_read_and_compiled_again() {
    let bench = three_files();
    CountedCompiler::new(&bench, "");
    let change = |name: &str, text: &str| fs::write(bench.path(name), text).expect("writable");
    check_compiled(&bench, &["above", "twice", "size"], &["above", "twice", "size"]);
    check_compiled(&bench, &[], &[]);
    // more conditions and functions move the ids of all files behind it
    change(
        "twice.c",
        "int half(int n) { return n > 3 && n < 8 ? n / 2 : 0; }\nint twice(int n) { return n * FACTOR - half(n); }\n",
    );
    check_compiled(&bench, &["twice"], &["twice"]);
    change(
        "above.c",
        &format!(
            "int first(int n) {{ return n > 5 || n < 1; }}\n{}",
            fs::read_to_string(bench.path("above.c")).expect("readable")
        ),
    );
    check_compiled(&bench, &["above"], &["above"]);
    change("limit.h", "#define LIMIT (n < 3 ? 1 : 20)\n");
    check_compiled(&bench, &["above", "size"], &["above", "size"]);
    fs::rename(bench.path("other_commands.json"), bench.path("compile_commands.json")).expect("renamed");
    check_compiled(&bench, &["twice"], &["twice"]);
}

/// All files of a kind in a cache.
fn files(bench: &Bench, kind: &str) -> Vec<PathBuf> {
    let mut open = vec![bench.path("cache/v1").join(kind)];
    let mut files = Vec::new();
    while let Some(directory) = open.pop() {
        for found in fs::read_dir(&directory).expect("a directory") {
            let path = found.expect("readable").path();
            if path.is_dir() { open.push(path) } else { files.push(path) }
        }
    }
    assert!(!files.is_empty(), "nothing is kept of {kind}");
    files
}

fn cut(file: &Path) {
    let length = fs::metadata(file).expect("readable").len();
    fs::File::options().write(true).open(file).and_then(|file| file.set_len(length / 2)).expect("cut");
}

#[test]
fn damaged_entries_are_built_again() {
    let bench = bench();
    let generate = ["gen", "above.c", "--max-executions", "20", "--quiet", "--fresh"];
    bench.quarry(&generate).check(0, &[]);
    let suite = fs::read(bench.path("quarry.out/tests/test_001.json")).expect("a test");
    for kind in ["runtime", "library", "reads", "marks", "program"] {
        for damage in [cut, |file: &Path| fs::write(file, "nonsense").expect("writable")] {
            files(&bench, kind).iter().for_each(|file| damage(file));
            bench.quarry(&["replay", "quarry.out"]).check(0, &[]);
        }
    }
    files(&bench, "").iter().for_each(|file| cut(file));
    bench.quarry(&generate).check(0, &[]);
    assert_eq!(fs::read(bench.path("quarry.out/tests/test_001.json")).expect("a test"), suite);
}

#[test]
fn two_commands_fill_the_same_cache_at_once() {
    let bench = bench();
    let start = |out: &str| {
        let arguments = ["gen", "above.c", "--max-executions", "20", "--quiet", "-o", out];
        let mut command = bench.command(&arguments);
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        command.spawn().expect("quarry starts")
    };
    let started = [start("one"), start("two")];
    for process in started {
        Ran::from(process.wait_with_output().expect("quarry ends")).check(0, &[]);
    }
    let tests = |out: &str| {
        bench
            .list(out)
            .into_iter()
            .map(|name| fs::read(bench.path(out).join(name)).expect("readable"))
            .collect::<Vec<_>>()
    };
    assert_eq!(tests("one/tests"), tests("two/tests"));
}

#[test]
fn a_cache_that_cannot_be_written_is_no_error() {
    let bench = bench();
    fs::write(bench.path("cache"), "a file in the way").expect("writable");
    let ran = bench.quarry(&["goals", "above.c", "--log", "log"]);
    ran.check(0, &[]).shows(&["above.c"]);
    let log = fs::read_to_string(bench.path("log")).expect("a log");
    assert!(log.contains("the cache cannot be written"), "{log}");
}

#[test]
fn a_small_cache_stays_small() {
    let bench = bench();
    for limit in 1..6 {
        fs::write(bench.path("limit.h"), format!("#define LIMIT {limit}\n")).expect("writable");
        bench.quarry(&["goals", "above.c", "--cache-size", "64K"]).check(0, &[]).shows(&["above.c"]);
    }
    let stats = bench.quarry(&["cache", "stats"]);
    let kept: u64 = files(&bench, "").iter().map(|file| fs::metadata(file).expect("readable").len()).sum();
    // what was made last is kept until the next entry is made, whatever its size
    assert!(kept < 2 << 20, "{kept}\n{}", stats.stdout);
}

#[test]
fn the_cache_is_shown_and_emptied() {
    let bench = bench();
    bench.quarry(&["goals", "above.c"]).check(0, &[]);
    let cache = bench.path("cache/v1").display().to_string();
    bench.quarry(&["cache", "stats"]).check(0, &[]).shows(&[
        &cache,
        "library",
        "marks",
        "total",
        "of 500.0 MiB",
    ]);
    bench.quarry(&["cache", "clean"]).check(0, &[]).shows(&["removed "]);
    bench.quarry(&["cache", "stats"]).check(0, &[]).shows(&["total               0         0 B"]);
    bench.quarry(&["goals", "above.c"]).check(0, &[]);
    bench.quarry(&["cache"]).check(2, &["stats", "clean"]);
    bench.quarry(&["goals", "above.c", "--cache-size", "huge"]).check(2, &["not a size"]);
}
