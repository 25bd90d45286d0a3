//! Where options come from, and the commands around them.

use std::fs;

use serde_json::{Value, json};

use crate::support::Bench;

const SIGN: &str = "int sign(int x) { return x < LIMIT ? -1 : x > 0; }\n";
const CONFIG: &str = "[gen]\nflags = ['-DLIMIT=0']\ncriterion = ['branch', 'condition']\nquiet = true\nout = 'from-file'\n\n\
                      [profile.strict]\ncriterion = 'mcdc'\n";

/// The criteria of the run in a directory.
fn criteria(bench: &Bench, out: &str) -> Value {
    bench.json(&format!("{out}/run.json"))["criteria"].clone()
}

#[test]
fn the_command_line_wins_over_the_environment_and_that_over_the_file() {
    let bench = Bench::new(&[("sign.c", SIGN), ("quarry.toml", CONFIG)]);
    bench.quarry(&["gen", "sign.c"]).check(0, &[]).shows(&["branches"]);
    assert_eq!(criteria(&bench, "from-file"), json!(["branch", "condition"]));
    bench.quarry(&["gen", "sign.c", "--profile", "strict", "-o", "profile"]).check(0, &[]);
    assert_eq!(criteria(&bench, "profile"), json!(["mcdc"]));
    let variable = |arguments: &[&str], out: &str| {
        let mut command = bench.command(&[&["gen", "sign.c", "--profile", "strict"], arguments].concat());
        let output = command.env("QUARRY_CRITERION", "statement").env("QUARRY_OUT", "from-variable").output();
        assert!(output.expect("quarry starts").status.success());
        criteria(&bench, out)
    };
    assert_eq!(variable(&[], "from-variable"), json!(["statement"]));
    assert_eq!(variable(&["--criterion", "decision", "-o", "line"], "line"), json!(["decision"]));
    assert_eq!(bench.json("line/run.json")["flags"], json!(["-DLIMIT=0"]));
}

#[test]
fn goals_and_cover_build_and_count_as_gen_does() {
    let bench = Bench::new(&[("sign.c", SIGN), ("quarry.toml", CONFIG)]);
    bench.quarry(&["gen", "sign.c"]).check(0, &[]);
    bench.quarry(&["goals", "sign.c"]).check(0, &[]).shows(&["goals for branch", "goals for condition"]);
    bench.quarry(&["cover", "sign.c", "from-file"]).check(0, &[]).shows(&["branches", "condition outcomes"]);
    let strict = bench.command(&["goals", "sign.c"]).env("QUARRY_PROFILE", "strict").output();
    let said = String::from_utf8_lossy(&strict.expect("quarry starts").stdout).into_owned();
    assert!(said.contains("goals for mcdc") && !said.contains("goals for branch"), "{said}");
    bench
        .quarry(&["goals", "sign.c", "--criterion", "decision"])
        .check(0, &[])
        .shows(&["goals for decision"]);
}

#[test]
fn mistakes_are_told_with_their_place() {
    let bench = Bench::new(&[("sign.c", SIGN), ("quarry.toml", "[gen]\nbugdet = '1s'\n")]);
    bench.quarry(&["gen", "sign.c"]).check(2, &["quarry.toml:2:1: 'bugdet'", "did you mean 'budget'?"]);
    fs::write(bench.path("quarry.toml"), "[gen]\nbudget = 'soon'\n").expect("writable");
    bench.quarry(&["gen", "sign.c"]).check(2, &["budget of ", "quarry.toml: invalid value 'soon'"]);
    fs::write(bench.path("quarry.toml"), CONFIG).expect("writable");
    bench.quarry(&["gen", "sign.c", "--profile", "lax"]).check(2, &["no profile 'lax'", "strict"]);
    fs::write(bench.path("quarry.toml"), "[function.sign]\nlenght = { x = 1 }\n").expect("writable");
    bench
        .quarry(&["gen", "sign.c", "--", "-DLIMIT=0"])
        .check(2, &["line 2", "lenght", "did you mean 'len'?"]);
}

#[test]
fn a_file_that_explains_itself_is_written_once() {
    let bench = Bench::new(&[("sign.c", SIGN)]);
    bench.quarry(&["init"]).check(0, &[]).shows(&["wrote ./quarry.toml"]);
    bench.quarry(&["init"]).check(2, &["exists already"]);
    bench.quarry(&["gen", "sign.c", "--quiet", "--", "-DLIMIT=0"]).check(0, &[]).shows(&["2 of 2 branches"]);
}

#[test]
fn shells_and_manuals_know_the_options() {
    let bench = Bench::new(&[]);
    for shell in ["bash", "fish", "zsh"] {
        bench.quarry(&["completions", shell]).check(0, &[]).shows(&["max-executions"]);
    }
    // commands that the help lists, and no others
    let help = bench.quarry(&["--help"]).stdout;
    let (_, listed) = help.split_once("Commands:\n").expect("commands");
    let listed =
        listed.lines().take_while(|line| !line.is_empty()).filter_map(|line| line.split_whitespace().next());
    let mut listed: Vec<&str> = listed.collect();
    let offered = bench.quarry(&["completions", "fish"]).stdout;
    let command = |line: &str| {
        line.split_once("__fish_quarry_needs_command\" -f -a \"").map(|(_, rest)| rest.to_owned())
    };
    let offered: Vec<String> = offered.lines().filter_map(command).collect();
    let mut offered: Vec<&str> = offered.iter().filter_map(|line| line.split('"').next()).collect();
    listed.sort_unstable();
    offered.sort_unstable();
    assert_eq!(offered, listed);
    bench.quarry(&["man", "man1"]).check(0, &[]).shows(&["pages in man1"]);
    let names = bench.list("man1");
    assert!(
        names.contains(&"quarry.1".to_owned()) && names.contains(&"quarry-gen.1".to_owned()),
        "{names:?}"
    );
    assert!(!names.iter().any(|name| name.contains("dev")), "{names:?}");
    let page = fs::read_to_string(bench.path("man1/quarry-gen.1")).expect("there");
    assert!(page.contains("max\\-executions") && page.contains(".TH quarry-gen 1"), "{page}");
}
