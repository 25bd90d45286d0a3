//! Whole programs that would do harm while they are explored: to files that their input names, to the disk, to the machine.

use std::fs;

use serde_json::json;

use crate::support::Bench;

/// The input says which harm: `r` removes a file, `w` writes over it, `f` forks, `d` fills the disk, `s` opens a socket.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static char block[1 << 20];

int main(int argc, char **argv)
{
    if (argc < 3)
        return 1;
    switch (argv[1][0]) {
    case 'r':
        return remove(argv[2]) == 0 ? 10 : 2;
    case 'w': {
        FILE *file = fopen(argv[2], "w");
        if (!file)
            return 3;
        fputs("harm", file);
        fclose(file);
        return 11;
    }
    case 'f':
        for (int i = 0; i < 100000; i++)
            if (fork() >= 0)
                return 12;
        return 4;
    case 'd':
        for (int i = 0; i < 2048; i++) {
            char name[32];
            snprintf(name, sizeof name, "file%d", i);
            FILE *file = fopen(name, "w");
            if (!file || fwrite(block, sizeof block, 1, file) != 1 || fclose(file) != 0)
                return 5;
        }
        return 13;
    case 's':
        return socket(AF_INET, SOCK_STREAM, 0) >= 0 ? 14 : 6;
    default:
        return 0;
    }
}
"#;

#[test]
fn a_program_under_test_harms_nobody() {
    let bench = Bench::new(&[("harm.c", PROGRAM)]);
    // not in /tmp, of which a program sees one of its own
    let outside = tempfile::tempdir_in("/var/tmp").expect("a directory");
    let precious = outside.path().join("precious");
    fs::write(&precious, "precious").expect("a file");
    let name = precious.display().to_string();
    let length = name.len().to_string();
    let generate =
        ["gen", "harm.c", "--program", "--max-args", "2", "--arg-len", &length, "--stdin-size", "0"];
    for (what, refused) in [("r", 2), ("w", 3), ("f", 4), ("d", 5), ("s", 6)] {
        let first = json!({"argv": [what, name]}).to_string();
        fs::write(bench.path("first.json"), first).expect("written");
        let mut arguments = generate.to_vec();
        arguments.extend([
            "--first-input",
            "first.json",
            "--max-executions",
            "12",
            "--no-prove",
            "--quiet",
            "-o",
            what,
        ]);
        bench.quarry(&arguments).check(0, &[]);
        let ends: Vec<String> = bench
            .list(&format!("{what}/tests"))
            .into_iter()
            .filter(|name| name.ends_with(".json"))
            .map(|name| bench.json(&format!("{what}/tests/{name}"))["end"].to_string())
            .collect();
        assert!(ends.contains(&format!("\"exited with {refused}\"")), "{what}: {ends:?}");
        // files in its own directory it may remove and write
        let harmful =
            |end: &String| ["12", "13", "14"].iter().any(|code| end.contains(&format!("with {code}\"")));
        assert!(!ends.iter().any(harmful), "{what}: {ends:?}");
        assert_eq!(fs::read_to_string(&precious).expect("still there"), "precious");
    }
}
