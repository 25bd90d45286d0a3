//! Do exported tests compile and pass? Checked before they are written.
//!
//! Method: the files are written to a separate directory, built with the flags of the source and run one by one in the same
//! sandbox as every execution. If they do not build together, each is built alone. Limit: if the framework is not
//! installed, the same tests are built as plain C instead, and a note says so.

use std::path::{Path, PathBuf};

use engine::executor::{NativeEnd, NativeRun};
use testwriter::{Checked, Framework};

use super::sources::files;
use super::{ExportOptions, Exported, write_files};
use crate::error::Error;
use crate::subject::Subject;

/// How tests can be built here.
pub struct Available {
    framework: Framework,
    /// Sources of the framework itself.
    sources: Vec<PathBuf>,
    flags: Vec<String>,
    /// Why another framework than the one wanted.
    pub note: Option<String>,
}

/// Looks for a framework.
pub fn availability(framework: Framework, unity_dir: Option<&Path>) -> Available {
    let found = |flags: &[&str], sources: Vec<PathBuf>| {
        let flags = flags.iter().map(|flag| (*flag).to_owned()).collect();
        Available { framework, sources, flags, note: None }
    };
    let missing = |what: &str| Available {
        framework: Framework::Plain,
        sources: Vec::new(),
        flags: Vec::new(),
        note: Some(format!(
            "{what}: the tests were built and run as plain C instead, not with the framework"
        )),
    };
    match framework {
        Framework::Plain => found(&[], Vec::new()),
        Framework::Cmocka if Path::new("/usr/include/cmocka.h").is_file() => found(&["-lcmocka"], Vec::new()),
        Framework::Cmocka => missing("cmocka is not installed (Debian: libcmocka-dev)"),
        Framework::Googletest if Path::new("/usr/include/gtest/gtest.h").is_file() => {
            found(&["-lgtest_main", "-lgtest", "-lstdc++", "-lpthread", "-lm"], Vec::new())
        }
        Framework::Googletest => missing("GoogleTest is not installed (Debian: libgtest-dev)"),
        Framework::Unity => match unity_in(unity_dir) {
            Some(directory) => {
                found(&[&format!("-I{}", directory.display())], vec![directory.join("unity.c")])
            }
            None => missing("unity.h and unity.c are not found (--unity-dir DIR says where they are)"),
        },
    }
}

fn unity_in(directory: Option<&Path>) -> Option<PathBuf> {
    let usual = [Path::new("/usr/include/unity"), Path::new("/usr/local/include/unity")];
    let places = directory.into_iter().flat_map(|directory| [directory.to_owned(), directory.join("src")]);
    let mut places = places.chain(usual.iter().map(|place| (*place).to_owned()));
    places.find(|place| place.join("unity.h").is_file() && place.join("unity.c").is_file())
}

/// Builds and runs tests.
pub struct Verifier<'a> {
    pub subject: &'a Subject,
    pub options: &'a ExportOptions,
    pub available: Available,
    pub work: &'a Path,
}

impl Verifier<'_> {
    /// The tests, by their titles, that pass; the others are left out with a reason.
    pub fn passing(
        &self,
        tests: Vec<(String, Checked)>,
        exported: &mut Exported,
    ) -> Result<Vec<Checked>, Error> {
        let all: Vec<Checked> = tests.iter().map(|(_, test)| test.clone()).collect();
        if all.is_empty() {
            return Ok(all);
        }
        let mut passed = Vec::new();
        match self.build(&all) {
            Ok(program) => {
                for (title, test) in tests {
                    match self.run(&program, &test)? {
                        None => passed.push(test),
                        Some(why) => exported.left_out.push((title, why)),
                    }
                }
            }
            Err(failure) if all.len() == 1 => {
                exported.left_out.push((tests[0].0.clone(), failure.message().to_owned()))
            }
            Err(_) => {
                for (title, test) in tests {
                    let why = match self.build(std::slice::from_ref(&test)) {
                        Ok(program) => self.run(&program, &test)?,
                        Err(failure) => Some(failure.message().to_owned()),
                    };
                    match why {
                        None => passed.push(test),
                        Some(why) => exported.left_out.push((title, why)),
                    }
                }
                if !passed.is_empty() {
                    self.build(&passed)?;
                }
            }
        }
        Ok(passed)
    }

    fn build(&self, tests: &[Checked]) -> Result<PathBuf, Error> {
        let Available { framework, sources, flags, .. } = &self.available;
        let stage = self.work.join("stage");
        write_files(&stage, &files(self.subject, *framework, &stage, tests, self.options.n_ulps)?)?;
        let program = stage.join("tests");
        let function = self.subject.function();
        let main = stage.join(format!("{function}_tests.c"));
        let mut plain = vec![stage.join("quarry_support.c")];
        plain.extend(sources.iter().cloned());
        if *framework == Framework::Googletest {
            plain.push(stage.join(format!("{function}_tests.cpp")));
        }
        let plain: Vec<&Path> = plain.iter().map(PathBuf::as_path).collect();
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        self.subject.build_around(&[&main], &plain, &program, &flags)?;
        Ok(program)
    }

    /// Why a test fails, if it does.
    fn run(&self, program: &Path, test: &Checked) -> Result<Option<String>, Error> {
        let argument = match self.available.framework {
            Framework::Plain | Framework::Unity | Framework::Cmocka => test.name.clone(),
            Framework::Googletest => format!("--gtest_filter={}.{}", self.subject.function(), test.name),
        };
        let run = NativeRun {
            program: program.to_owned(),
            arguments: vec!["tests".into(), argument.into()],
            // frameworks and drivers give each test a process of its own
            may_start: true,
            ..NativeRun::default()
        };
        let result = run
            .run(&self.work.join("runs"), self.options.limit, &self.options.interrupt.flag())
            .map_err(|error| Error::caused(&error))?;
        let why = match result.end {
            NativeEnd::Exited(0) => return Ok(None),
            NativeEnd::Exited(code) => format!("it exited with {code}"),
            NativeEnd::Signalled(signal) => format!("it was killed by signal {signal}"),
            NativeEnd::TimedOut => "it timed out".to_owned(),
        };
        let said = String::from_utf8_lossy(&result.output.stderr).into_owned()
            + &String::from_utf8_lossy(&result.output.stdout);
        let told = said
            .lines()
            .find(|line| line.contains("expected") || line.contains("Expected") || line.contains("not true"));
        Ok(Some(told.map_or(why.clone(), |told| format!("{why}, {}", told.trim()))))
    }
}
