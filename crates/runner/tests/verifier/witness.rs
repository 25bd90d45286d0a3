//! Witnesses have the form that validators ask for, and what they say holds in every run.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use cache::sha256;
use frontend::instrument::Mode;
use model::input::Input;
use runner::export::{self, ExportFormat, ExportOptions};
use runner::interrupt::Interrupt;
use runner::store::run::Run;
use runner::store::suite::{read_input, read_record, tests_in};
use runner::subject::Need;
use serde_json::Value;

use super::{Program, built, driver, yaml};
use crate::{checkout, generate, spec_of, test_cache};

/// Branches that invariants of each form of loop exclude: in `for` and `while`, without a condition, of a global, of unsigned numbers.
const LOOPS: &str = "
static unsigned total;
int loops(int n, unsigned char kind)
{
    int flag = 0, low = 3;
    unsigned sum = 0;
    for (int i = 0; i < n; i++) {
        if (kind == i) flag = 1; else low = 2;
        if (low > 3) return 1;
    }
    if (flag > 1 || flag < 0) return 2;
    while (sum < 100 && n > 0) {
        if (sum % 2 == 1) return 3;
        sum += 2;
        total = sum > 50;
    }
    if (total > 1) return 4;
    while (1) {
        if (flag == 5) return 5;
        if (n-- <= 0) break;
        flag = !flag;
    }
    return low;
}
";

#[test]
fn witnesses_have_the_form_of_the_schema_and_hold_in_every_run() {
    let checkout = checkout(&[("loops.c", LOOPS)]);
    let (root, out) = (checkout.path(), checkout.path().join("out"));
    let mut spec = spec_of("loops.c", "loops");
    spec.budget.max_executions = Some(100);
    generate(spec, root, &out);
    let cache = test_cache();
    let options = ExportOptions::usual(&out, ExportFormat::Witness, &Interrupt::default(), &cache);
    let exported = export::write(&out, &options).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(exported.left_out, []);
    assert!(exported.n_tests >= 4, "{} goals are infeasible", exported.n_tests);

    let run: Run = read_record(&out.join("run.json")).unwrap_or_else(|error| panic!("{error}"));
    let work = tempfile::tempdir().expect("temporary directory");
    let subject = run
        .rebuild(work.path(), Need::Mode(Mode::Fast), &Interrupt::default(), &cache)
        .unwrap_or_else(|error| panic!("{error}"));
    let read = |file: &std::path::PathBuf| read_input(file, &subject).expect("an input");
    let inputs: Vec<Input> = tests_in(&out.join("tests")).expect("a suite").iter().map(read).collect();
    let driver = driver(&inputs, work.path());

    let mut n_invariants = 0;
    for file in
        fs::read_dir(&options.directory).expect("a directory").map(|entry| entry.expect("an entry").path())
    {
        if file.extension().is_some_and(|ending| ending == "yml") {
            let witness = yaml::parse(&fs::read_to_string(&file).expect("a text"));
            let invariants = checked(&witness, &options.directory);
            for invariant in &invariants {
                let runs = |expression: &str| {
                    let program = asking(invariant, expression, &options.directory);
                    let binary = built(&program, work.path(), &driver, work.path());
                    let failed = (0..inputs.len()).filter(|number| fails(&binary, *number));
                    failed.count()
                };
                assert_eq!(runs(&format!("({})", invariant.value)), 0, "{} holds", invariant.value);
                assert!(runs(&format!("!({})", invariant.value)) > 0, "{} is looked at", invariant.value);
            }
            n_invariants += invariants.len();
        }
    }
    assert!(n_invariants >= 4, "{n_invariants} invariants");
}

struct Stated {
    file: String,
    line: usize,
    value: String,
}

/// Compares a witness with the published schema of correctness witnesses 2.0, and with the files that it is about; gives its invariants.
fn checked(witness: &Value, directory: &Path) -> Vec<Stated> {
    let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{value} is a text")).to_owned();
    let [entry] = &witness.as_array().expect("a list")[..] else { panic!("one entry") };
    assert_eq!(keys(entry), ["content", "entry_type", "metadata"]);
    assert_eq!(entry["entry_type"], "invariant_set");
    let metadata = &entry["metadata"];
    assert_eq!(keys(metadata), ["creation_time", "format_version", "producer", "task", "uuid"]);
    assert_eq!(metadata["format_version"], "2.0");
    let form = |value: &Value| -> String {
        text(value).chars().map(|c| if c.is_ascii_hexdigit() { '0' } else { c }).collect()
    };
    assert_eq!(form(&metadata["uuid"]), "00000000-0000-0000-0000-000000000000");
    assert_eq!(form(&metadata["creation_time"]), "0000-00-00T00:00:00Z");
    assert_eq!(keys(&metadata["producer"]), ["name", "version"]);
    let task = &metadata["task"];
    assert_eq!(keys(task), ["data_model", "input_file_hashes", "input_files", "language", "specification"]);
    assert_eq!((&task["data_model"], &task["language"]), (&"LP64".into(), &"C".into()));
    assert_eq!(task["specification"], "G ! call(reach_error())");
    let files: Vec<String> = task["input_files"].as_array().expect("files").iter().map(text).collect();
    assert_eq!(keys(&task["input_file_hashes"]), files.iter().map(String::as_str).collect::<Vec<_>>());
    for file in &files {
        let bytes = fs::read(directory.join(file)).expect("the program");
        assert_eq!(task["input_file_hashes"][file], sha256(&bytes).as_str());
    }
    let stated = |entry: &Value| {
        assert_eq!(keys(entry), ["invariant"]);
        let invariant = &entry["invariant"];
        assert_eq!(keys(invariant), ["format", "location", "type", "value"]);
        assert_eq!(
            (&invariant["type"], &invariant["format"]),
            (&"loop_invariant".into(), &"c_expression".into())
        );
        let location = &invariant["location"];
        assert_eq!(keys(location), ["column", "file_name", "function", "line"]);
        assert_eq!(location["function"], "loops");
        let number = |name: &str| location[name].as_u64().expect("a number") as usize;
        let (file, line, column) = (text(&location["file_name"]), number("line"), number("column"));
        assert!(files.contains(&file));
        let program = fs::read_to_string(directory.join(&file)).expect("the program");
        let at = &program.lines().nth(line - 1).expect("a line")[column - 1..];
        assert!(at.starts_with("for") || at.starts_with("while"), "{at} begins a loop");
        Stated { file, line, value: text(&invariant["value"]) }
    };
    entry["content"].as_array().expect("a list").iter().map(stated).collect()
}

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// The program with a question to the expression each time the condition of the loop is evaluated.
fn asking(stated: &Stated, expression: &str, directory: &Path) -> Program {
    let text = fs::read_to_string(directory.join(&stated.file)).expect("the program");
    let lines: Vec<&str> = text.lines().collect();
    let is_for = lines[stated.line - 1].contains("for");
    let head =
        if is_for { (stated.line..).find(|at| lines[*at] == ";").expect("a head") } else { stated.line };
    let mut edited = "extern void quarry_holds(int);\n".to_owned();
    for (number, line) in lines.iter().enumerate() {
        writeln!(edited, "{line}").expect("a string");
        if number == head {
            writeln!(edited, "quarry_holds({expression}),").expect("a string");
        }
    }
    edited.push_str("extern void _exit(int); void quarry_holds(int holds) { if (!holds) _exit(78); }\n");
    Program { key: String::new(), files: vec![write(&edited)] }
}

/// A file of this text; the directory of programs is not used for absolute names.
fn write(text: &str) -> String {
    let file = std::env::temp_dir().join(format!("asking-{}.c", std::process::id()));
    fs::write(&file, text).expect("writable");
    file.to_str().expect("a name").to_owned()
}

fn fails(binary: &Path, test: usize) -> bool {
    let status = std::process::Command::new(binary).env("TEST", test.to_string()).status().expect("started");
    assert!(matches!(status.code(), Some(0 | 78)), "{status}");
    status.code() == Some(78)
}
