//! `quarry diff`: what changed between two versions of a program, and what that may affect.

use std::path::{Path, PathBuf};

use cache::Cache;
use report::versions::{Versions, VersionsRecord};
use runner::background::interruptible;
use runner::error::Error;
use runner::front::{with_all_sources, work_directory};
use runner::spec::SourceSpec;
use runner::versions::{Version, compared};

use super::current_directory;
use crate::arguments::{Diff, MessageFormat};
use crate::exit::{Exit, Failure};
use crate::interrupt::interrupt;
use crate::say::{say, show};

/// Runs the command.
pub fn diff(arguments: &Diff, cache: &Cache) -> Result<Exit, Failure> {
    let (asked, root, cache) = (arguments.clone(), current_directory()?, cache.clone());
    let read = move || found(&asked, &root, &cache);
    let (record, left_out) = interruptible(&interrupt(), "comparing", read)?;
    left_out.iter().for_each(|line| eprintln!("left out: {line}"));
    match arguments.message_format {
        MessageFormat::Human => show(record.listing().as_bytes()),
        MessageFormat::Json => {
            let json = serde_json::to_string(&record);
            say(json.map_err(|error| Failure::internal(format!("cannot write JSON: {error}")))?);
        }
    }
    Ok(Exit::Done)
}

fn found(arguments: &Diff, root: &Path, cache: &Cache) -> Result<(VersionsRecord, Vec<String>), Error> {
    let (old, new) = versions(arguments, root)?;
    let work = work_directory()?;
    let compared = compared(&old, &new, work.path(), cache)?;
    let versions = Versions {
        old: &compared.old,
        new: &compared.new,
        comparison: &compared.comparison,
        impact: &compared.impact,
    };
    Ok((versions.record(&old.title, &new.title), compared.left_out))
}

/// The two versions that are meant.
fn versions(arguments: &Diff, root: &Path) -> Result<(Version, Version), Error> {
    let flags = &arguments.flags;
    if arguments.git.is_empty() {
        return match arguments.paths.as_slice() {
            [old, new] => Ok((Version::at(old, root, flags)?, Version::at(new, root, flags)?)),
            _ => Err(Error::usage("give the old version and the new one: two C files or two directories")
                .help("or --git REV [SRC…] for a revision and the files as they are now, --git OLD --git NEW for two revisions")),
        };
    }
    let (revisions, files) = revisions(arguments, root);
    let sources = SourceSpec { files, build_dir: arguments.build_dir.clone(), flags: flags.clone() };
    let sources = with_all_sources(&sources, root)?;
    if sources.files.is_empty() {
        return Err(Error::usage(
            "--git REV: name the C files to compare, or -p DIR with compile_commands.json",
        ));
    }
    let old = Version::revision(&revisions[0], &sources, root)?;
    let new = match revisions.get(1) {
        Some(revision) => Version::revision(revision, &sources, root)?,
        None => Version::present(root, sources, "the files as they are"),
    };
    Ok((old, new))
}

/// The revisions and the files: what follows a revision and is no file is another one.
fn revisions(arguments: &Diff, root: &Path) -> (Vec<String>, Vec<PathBuf>) {
    let (mut revisions, mut files) = (arguments.git.clone(), arguments.paths.clone());
    if let ([_], Some(first)) = (revisions.as_slice(), files.first())
        && first.extension().is_none_or(|extension| extension != "c")
        && !root.join(first).exists()
    {
        revisions.push(files.remove(0).display().to_string());
    }
    (revisions, files)
}
