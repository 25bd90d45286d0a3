//! Where the two versions are, and how each is compiled.
//!
//! Method: a file is compiled with the flags given; a directory has a `compile_commands.json`, in itself or in `build/`. A revision
//! is taken from git as an archive and unpacked into a scratch directory, so that neither the tree nor the index is
//! touched; a compilation database that is not under version control is rewritten to name the scratch directory. Limits: submodules and files that
//! the build generates outside the build directory are not in an archive.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::error::Error;
use crate::front;
use crate::spec::SourceSpec;

const DATABASE: &str = "compile_commands.json";

/// Sources of one version.
#[derive(Debug)]
pub struct Version {
    /// What a user calls it.
    pub title: String,
    /// Where its paths start.
    pub root: PathBuf,
    pub sources: SourceSpec,
    /// Is removed with it.
    _scratch: Option<TempDir>,
}

impl Version {
    /// Sources that are there already.
    pub fn present(root: &Path, sources: SourceSpec, title: &str) -> Self {
        Self { title: title.to_owned(), root: root.to_owned(), sources, _scratch: None }
    }

    /// A file, or a directory with a compilation database.
    pub fn at(path: &Path, root: &Path, flags: &[String]) -> Result<Self, Error> {
        let title = path.display().to_string();
        let place = root.join(path);
        if !place.exists() {
            return Err(Error::usage(format!("{title} does not exist")).help(
                "name a C file or a directory with compile_commands.json, or use --git REV for a revision",
            ));
        }
        let flags = flags.to_vec();
        if place.is_file() {
            let sources = SourceSpec { files: vec![path.to_owned()], build_dir: None, flags };
            return Ok(Self::present(root, sources, &title));
        }
        let Some(build_dir) = database_below(&place) else {
            return Err(Error::usage(format!("{title} has no {DATABASE}, nor has its build/"))
                .help("let the build system write it, e.g. cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, or name C files"));
        };
        let sources = SourceSpec { files: Vec::new(), build_dir: Some(build_dir), flags };
        let sources = front::with_all_sources(&sources, &place)?;
        if sources.files.is_empty() {
            return Err(Error::usage(format!("{DATABASE} of {title} lists no C file")));
        }
        Ok(Self::present(&place, sources, &title))
    }

    /// The version before `sources`: `since` is the old file, the directory it is in, or a git revision.
    pub fn before(since: &str, sources: &SourceSpec, root: &Path) -> Result<Self, Error> {
        let path = Path::new(since);
        let place = root.join(path);
        if place.is_file() {
            return Self::file(path, sources, root, since);
        }
        if place.is_dir() {
            return Self::directory(&place, sources, root, since);
        }
        Self::revision(since, sources, root)
    }

    fn file(path: &Path, sources: &SourceSpec, root: &Path, title: &str) -> Result<Self, Error> {
        if sources.build_dir.is_some() || sources.files.len() > 1 {
            return Err(Error::usage(format!(
                "{title} is one file, and the new version has several: name the directory of the old ones, or a git revision"
            )));
        }
        let sources = SourceSpec { files: vec![path.to_owned()], ..sources.clone() };
        Ok(Self::present(root, sources, title))
    }

    /// The same files below another directory.
    fn directory(place: &Path, sources: &SourceSpec, root: &Path, title: &str) -> Result<Self, Error> {
        let build_dir = match &sources.build_dir {
            Some(_) => Some(
                database_below(place)
                    .ok_or_else(|| Error::usage(format!("{title} has no {DATABASE}, nor has its build/")))?,
            ),
            None => None,
        };
        if build_dir.is_some() {
            let all = SourceSpec { files: Vec::new(), build_dir, flags: sources.flags.clone() };
            let sources = front::with_all_sources(&all, place)?;
            return Ok(Self::present(place, sources, title));
        }
        let base = |file: &PathBuf| {
            let below = [Some(file.clone()), file.file_name().map(PathBuf::from)];
            let found =
                below.into_iter().flatten().find(|file| file.is_relative() && place.join(file).is_file());
            found.ok_or_else(|| {
                let file = file.display();
                Error::usage(format!("{title} has no {file}"))
                    .help("the files of both versions must have the same names")
            })
        };
        let files = sources.files.iter().map(base).collect::<Result<_, _>>()?;
        let flags = sources.flags.iter().map(|flag| moved(flag, root, root)).collect();
        let sources = SourceSpec { files, build_dir: None, flags };
        Ok(Self::present(place, sources, title))
    }

    /// The same files as git has them in a revision.
    pub fn revision(revision: &str, sources: &SourceSpec, root: &Path) -> Result<Self, Error> {
        let git = Git::around(root, revision)?;
        let scratch = tempfile::tempdir()
            .map_err(|error| Error::internal(format!("cannot create a temporary directory: {error}")))?;
        // compilers print paths without symbolic links
        let place = scratch.path().canonicalize().unwrap_or_else(|_| scratch.path().to_owned());
        git.unpack(revision, &place)?;
        let below = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let below = below.strip_prefix(&git.top).unwrap_or(Path::new("")).to_owned();
        let new_root = place.join(&below);
        let build_dir = match &sources.build_dir {
            Some(build_dir) => Some(git.database(&root.join(build_dir), &place)?),
            None => None,
        };
        let flags = sources.flags.iter().map(|flag| moved(flag, &git.top, &place)).collect();
        let file = |file: &PathBuf| match file
            .canonicalize()
            .unwrap_or_else(|_| file.clone())
            .strip_prefix(&git.top)
        {
            Ok(below_top) if file.is_absolute() => place.join(below_top),
            Ok(_) | Err(_) => file.clone(),
        };
        let mut files: Vec<PathBuf> = sources.files.iter().map(file).collect();
        if build_dir.is_some() {
            // a file of the new version may be new
            files.retain(|file| new_root.join(file).is_file());
        }
        if let Some(missing) = files.iter().find(|file| !new_root.join(file).is_file()) {
            return Err(Error::usage(format!("revision {revision} has no {}", missing.display())));
        }
        let title = format!("revision {revision}");
        let sources = SourceSpec { files, build_dir, flags };
        Ok(Self { title, root: new_root, sources, _scratch: Some(scratch) })
    }
}

/// The directory with the compilation database, from `place` on.
fn database_below(place: &Path) -> Option<PathBuf> {
    [".", "build"].into_iter().find(|below| place.join(below).join(DATABASE).is_file()).map(PathBuf::from)
}

/// A flag with the old place instead of the new one.
fn moved(flag: &str, from: &Path, to: &Path) -> String {
    flag.replace(&from.display().to_string(), &to.display().to_string())
}

/// A repository.
struct Git {
    top: PathBuf,
}

impl Git {
    fn around(root: &Path, revision: &str) -> Result<Self, Error> {
        let top = output(Command::new("git").arg("-C").arg(root).args(["rev-parse", "--show-toplevel"]));
        let Ok(top) = top else {
            let message = format!(
                "{revision} is neither a file nor a directory, and {} is in no git repository",
                root.display()
            );
            return Err(Error::usage(message).help(
                "name the old version: a C file, a directory, or a revision inside of a git repository",
            ));
        };
        let top = PathBuf::from(top.trim());
        let commit = format!("{revision}^{{commit}}");
        let known = output(Command::new("git").arg("-C").arg(&top).args([
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &commit,
        ]));
        if known.is_err() {
            return Err(Error::usage(format!("git knows no revision {revision} in {}", top.display())));
        }
        Ok(Self { top })
    }

    /// Everything of a revision, without touching the tree or the index.
    fn unpack(&self, revision: &str, place: &Path) -> Result<(), Error> {
        let failed = |what: &str, error: &dyn std::fmt::Display| {
            Error::internal(format!("cannot unpack revision {revision}: {what}: {error}"))
        };
        let commit = format!("{revision}^{{commit}}");
        let mut archive = Command::new("git")
            .arg("-C")
            .arg(&self.top)
            .args(["archive", "--format=tar", &commit])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| failed("git", &error))?;
        let stdout = archive.stdout.take().expect("a pipe was asked for");
        let unpacked = Command::new("tar").arg("-x").arg("-C").arg(place).stdin(stdout).output();
        let archived = archive.wait_with_output().map_err(|error| failed("git", &error))?;
        let unpacked = unpacked.map_err(|error| failed("tar", &error))?;
        for (name, output) in [("git", archived), ("tar", unpacked)] {
            if !output.status.success() {
                return Err(failed(name, &String::from_utf8_lossy(&output.stderr).trim()));
            }
        }
        Ok(())
    }

    /// The compilation database for the unpacked revision: its own, or the present one with other paths.
    fn database(&self, build_dir: &Path, place: &Path) -> Result<PathBuf, Error> {
        let build_dir = build_dir.canonicalize().unwrap_or_else(|_| build_dir.to_owned());
        if let Ok(below) = build_dir.strip_prefix(&self.top)
            && place.join(below).join(DATABASE).is_file()
        {
            return Ok(place.join(below));
        }
        let file = build_dir.join(DATABASE);
        let text = std::fs::read_to_string(&file)
            .map_err(|error| Error::usage(format!("cannot read {}: {error}", file.display())))?;
        // what the build generated is where it was
        let (top, build) = (self.top.display().to_string(), build_dir.display().to_string());
        let kept = "\u{1}build directory\u{1}";
        let text = if build == top { text } else { text.replace(&build, kept) };
        let text = text.replace(&top, &place.display().to_string()).replace(kept, &build);
        let directory = place.join(".quarry-build");
        let written =
            std::fs::create_dir_all(&directory).and_then(|()| std::fs::write(directory.join(DATABASE), text));
        written.map_err(|error| Error::internal(format!("cannot write {}: {error}", directory.display())))?;
        Ok(directory)
    }
}

fn output(command: &mut Command) -> Result<String, ()> {
    let output = command.stderr(Stdio::null()).output().map_err(drop)?;
    if output.status.success() { Ok(String::from_utf8_lossy(&output.stdout).into_owned()) } else { Err(()) }
}

/// The commit of a revision; nothing when it is a path, or no revision.
pub fn commit(since: &str, root: &Path) -> Option<String> {
    if root.join(since).exists() {
        return None;
    }
    let commit = format!("{since}^{{commit}}");
    let mut git = Command::new("git");
    git.arg("-C").arg(root).args(["rev-parse", "--verify", "--quiet", "--end-of-options", &commit]);
    output(&mut git).ok().map(|commit| commit.trim().to_owned())
}
