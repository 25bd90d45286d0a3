//! Relative paths start at the root that the caller gives, wherever the process itself runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use frontend::build::{Built, NativeUnit, Request, build, compile_native};
use frontend::harness::{HarnessOptions, generate};
use frontend::instrument::Mode;
use frontend::mark::{MarkOptions, mark};
use frontend::marks::Marks;
use frontend::sources::{Sources, listed};
use model::ctype::FunctionKey;
use tempfile::TempDir;

/// A program whose text depends on a header below its root.
struct Project {
    root: TempDir,
    limit: u32,
}

impl Project {
    fn new(limit: u32) -> Self {
        let root = tempfile::tempdir().expect("a directory for the test");
        let write = |name: &str, text: &str| {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a file has a directory")).expect("directories");
            std::fs::write(path, text).expect("the test's file");
        };
        write("inc/limit.h", &format!("#define LIMIT {limit}\n"));
        write("src/program.c", "#include \"limit.h\"\nint main(int n) { return n > 2 ? 1 : LIMIT; }\n");
        write("small.c", "void quarry_precondition_main(int n) { quarry_assume(n < LIMIT); }\n");
        let entry = r#"[{"directory": "..", "file": "src/program.c", "arguments": ["cc", "-Iinc", "src/program.c"]}]"#;
        write("build/compile_commands.json", entry);
        Self { root, limit }
    }

    fn root(&self) -> &Path {
        self.root.path()
    }

    fn marked(&self, sources: &Sources) -> Marks {
        let options = MarkOptions {
            root: self.root().to_owned(),
            directory: "texts".into(),
            rename_main: false,
            cache: None,
        };
        mark(&sources.commands().expect("readable sources"), &options).expect("markable sources")
    }

    fn by_flags(&self) -> Sources {
        Sources {
            files: vec!["src/program.c".into()],
            flags: vec!["-Iinc".to_owned()],
            ..Sources::below(self.root())
        }
    }

    fn built(&self, marks: &Marks) -> Built {
        let request = Request {
            marks,
            units: None,
            harness: None,
            stubs: &BTreeMap::new(),
            work_dir: Path::new("work"),
            cache: &test_cache(),
            link_flags: &[],
            modes: &[Mode::Fast],
            watch: |_| model::walk::Watch::default(),
            free_of_input: |_| Default::default(),
        };
        build(&request).expect("a program that builds")
    }

    fn check(&self, marks: &Marks, built: &Built) {
        assert_eq!(built.binaries, [(Mode::Fast, self.root().join("work/program.fast"))]);
        assert!(built.binaries[0].1.is_file());
        let units: Vec<_> = marks.units.iter().map(NativeUnit::from).collect();
        compile_native(self.root(), &units, &[], Path::new("native"), &[]).expect("a program that builds");
        let status = Command::new(self.root().join("native")).status().expect("a program that runs");
        assert_eq!(status.code(), i32::try_from(self.limit).ok());
        let options = HarnessOptions { precondition: Some("small.c".into()), ..Default::default() };
        let main = FunctionKey { unit: 0, name: "main".to_owned() };
        let harness = generate(marks, &main, &options).expect("a harness");
        assert!(harness.text.contains(&format!("n < {}", self.limit)), "{}", harness.text);
    }
}

#[test]
fn two_programs_of_different_roots_are_built_side_by_side() {
    let projects = [Project::new(11), Project::new(22)];
    let marks = projects.each_ref().map(|project| project.marked(&project.by_flags()));
    for marks in &marks {
        assert!(marks.files.iter().any(|file| file.path == "src/program.c"));
    }
    let built: Vec<_> = std::thread::scope(|scope| {
        let pairs = projects.iter().zip(&marks);
        let threads: Vec<_> =
            pairs.map(|(project, marks)| scope.spawn(move || project.built(marks))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no build panics")).collect()
    });
    for ((project, marks), built) in projects.iter().zip(&marks).zip(&built) {
        project.check(marks, built);
    }
}

#[test]
fn a_database_is_found_and_read_below_the_root() {
    let project = Project::new(33);
    let build_dir = PathBuf::from("build");
    let files = listed(project.root(), &build_dir).expect("a database");
    assert_eq!(files.len(), 1);
    let sources = Sources { files, build_dir: Some(build_dir), ..Sources::below(project.root()) };
    let marks = project.marked(&sources);
    project.check(&marks, &project.built(&marks));
}

/// What all tests share: the compiled runtime.
fn test_cache() -> cache::Cache {
    cache::Cache::open(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"), cache::DEFAULT_LIMIT)
}
