//! Programs that try to do harm: to files, to the disk, to the machine's processes, over the network.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use engine::executor::{End, ForkServer, NativeEnd, NativeRun, guards};

use crate::build::{Built, LONG, with_cells};

/// What a run printed, as text.
fn printed(program: &Built, server: &mut ForkServer) -> String {
    let left = program.run(server, &[], LONG);
    assert_eq!(left.end, End::Returned);
    String::from_utf8(left.output.stdout).expect("text")
}

fn can_be_confined() -> bool {
    let guards = guards();
    if !guards.namespaces && guards.landlock == 0 {
        println!("neither namespaces nor Landlock: nothing to test");
        return false;
    }
    true
}

#[test]
fn files_of_others_cannot_be_changed() {
    if !can_be_confined() {
        return;
    }
    // not in /tmp, of which a program sees one of its own, and where this may be built
    let outside = tempfile::tempdir_in("/var/tmp").expect("a directory");
    let precious = outside.path().join("precious");
    fs::write(&precious, "precious").expect("a file");
    let text = format!(
        r#"
        #include <fcntl.h>
        #include <stdio.h>
        #include <sys/stat.h>
        #include <unistd.h>
        #define DIRECTORY "{}"
        #define VICTIM DIRECTORY "/precious"
        static void attempt(const char *what, int result) {{ if (result >= 0) puts(what); }}
        void f(void) {{
            char byte;
            int file = open(VICTIM, O_RDONLY);
            if (file < 0 || read(file, &byte, 1) != 1 || byte != 'p') puts("cannot even read");
            attempt("opened for writing", open(VICTIM, O_WRONLY));
            attempt("truncated", truncate(VICTIM, 0));
            attempt("renamed", rename(VICTIM, DIRECTORY "/other"));
            attempt("renamed into its own", rename(VICTIM, "mine"));
            attempt("linked", link(VICTIM, DIRECTORY "/other"));
            attempt("made", open(DIRECTORY "/new", O_CREAT | O_WRONLY, 0600));
            attempt("made a directory", mkdir(DIRECTORY "/new", 0700));
            attempt("removed", unlink(VICTIM));
            attempt("written below the root", open("/new", O_CREAT | O_WRONLY, 0600));
            attempt("written by way of its own", symlink(DIRECTORY, "there") < 0 ? -1 : unlink("there/precious"));
        }}"#,
        outside.path().display()
    );
    let program = with_cells(&text, 0, "f()");
    assert_eq!(printed(&program, &mut program.server()), "");
    assert_eq!(fs::read_to_string(&precious).expect("still there"), "precious");
    assert_eq!(fs::read_dir(outside.path()).expect("still there").count(), 1);
}

#[test]
fn a_program_has_places_of_its_own_to_write() {
    let text = r#"
        #include <stdio.h>
        void f(void) {
            FILE *own = fopen("own", "w"), *null = fopen("/dev/null", "w"), *temporary = tmpfile();
            if (!own || !null) puts("not even its own");
            if (fopen("/tmp/left", "r")) puts("/tmp is not empty");
            FILE *left = fopen("/tmp/left", "w");
            if (!temporary || !left) puts("no /tmp");
        }"#;
    if !guards().namespaces {
        return;
    }
    let program = with_cells(text, 0, "f()");
    let mut server = program.server();
    assert_eq!(printed(&program, &mut server), "");
    assert_eq!(printed(&program, &mut server), "", "what a run left is gone");
    assert!(!Path::new("/tmp/left").exists());
}

#[test]
fn the_disk_cannot_be_filled() {
    if !guards().namespaces {
        return;
    }
    let text = r#"
        #include <stdio.h>
        static char block[1 << 20];
        void f(void) {
            char name[32];
            for (int i = 0; i < 4096; i++) {
                snprintf(name, sizeof name, "file%d", i);
                FILE *file = fopen(name, "w");
                if (!file || fwrite(block, sizeof block, 1, file) != 1 || fclose(file) != 0) {
                    printf("%s", i < 512 ? "stopped" : "too late");
                    return;
                }
            }
            puts("never stopped");
        }"#;
    let program = with_cells(text, 0, "f()");
    let mut server = program.server();
    assert_eq!(printed(&program, &mut server), "stopped");
    assert_eq!(printed(&program, &mut server), "stopped", "the next run starts with all the room");
}

#[test]
fn processes_and_connections_cannot_be_made() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("a listener");
    let text = format!(
        r#"
        #include <arpa/inet.h>
        #include <stdio.h>
        #include <sys/socket.h>
        #include <unistd.h>
        void f(void) {{
            for (int i = 0; i < 1000; i++) if (fork() >= 0) puts("forked");
            for (int family = 1; family < 20; family++) if (socket(family, SOCK_STREAM, 0) >= 0) puts("socket");
            struct sockaddr_in there = {{ .sin_family = AF_INET, .sin_port = htons({}) }};
            inet_pton(AF_INET, "127.0.0.1", &there.sin_addr);
            if (connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&there, sizeof there) == 0) puts("connected");
        }}"#,
        listener.local_addr().expect("an address").port()
    );
    let program = with_cells(&text, 0, "f()");
    assert_eq!(printed(&program, &mut program.server()), "");
    assert_eq!(listener.accept().expect_err("nobody came").kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn programs_without_the_runtime_are_refused_the_same_in_both_widths() {
    let text = r#"
        #include <errno.h>
        #include <signal.h>
        #include <stdio.h>
        #include <sys/mount.h>
        #include <sys/socket.h>
        #include <unistd.h>
        static void attempt(const char *what, int result) {
            if (result >= 0 || errno != EPERM) printf("%s: %d\n", what, errno);
        }
        int main(void) {
            char byte;
            attempt("socket", socket(AF_INET, SOCK_STREAM, 0));
            attempt("kill", kill(getppid(), 0));
            attempt("mount", mount("none", "/", 0, MS_REMOUNT, 0));
            FILE *given = fopen("below/given", "r");
            if (!given || fread(&byte, 1, 1, given) != 1 || byte != 'g') puts("no file");
            if (read(0, &byte, 1) != 1 || byte != 'i') puts("no input");
            if (write(197, "recorded", 8) != 8) puts("no record");
            return 7;
        }"#;
    let directory = tempfile::tempdir().expect("a directory");
    let (source, program) = (directory.path().join("program.c"), directory.path().join("program"));
    fs::write(&source, text).expect("a file");
    for width in ["-m64", "-m32"] {
        let built = Command::new("clang-19").args([width, "-o"]).args([&program, &source]).status();
        assert!(built.expect("clang runs").success(), "{width}");
        let run = NativeRun {
            program: program.clone(),
            stdin: b"input".to_vec(),
            files: vec![("below/given".to_owned(), b"given".to_vec())],
            ..NativeRun::default()
        };
        let result = run.run(directory.path(), LONG, &AtomicBool::new(false)).expect("it runs");
        assert_eq!(String::from_utf8_lossy(&result.output.stdout), "", "{width}");
        assert_eq!(
            (result.end, result.record.as_slice()),
            (NativeEnd::Exited(7), &b"recorded"[..]),
            "{width}"
        );
    }
}
