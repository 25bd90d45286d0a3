//! `quarry init`: a `quarry.toml` that explains every option and sets none.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};

use crate::arguments::Init;
use crate::config::FILE;
use crate::exit::{Exit, Failure};
use crate::say::say;

/// What is written. Lines that start with `#` and a key are examples, ready to be uncommented.
const TEXT: &str = include_str!("init.toml");

/// Runs the command.
pub fn init(arguments: &Init) -> Result<Exit, Failure> {
    let path = arguments.directory.join(FILE);
    let file = OpenOptions::new().write(true).create_new(true).open(&path);
    match file.and_then(|mut file| file.write_all(TEXT.as_bytes())) {
        Ok(()) => {
            say(format_args!("wrote {}: uncomment what you need", path.display()));
            Ok(Exit::Done)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            Err(Failure::usage(format!("{} exists already and is left unchanged", path.display()))
                .help("quarry init DIR writes to another directory"))
        }
        Err(error) => Err(Failure::usage(format!("cannot write {}: {error}", path.display()))),
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use crate::defaults;

    use super::*;

    /// The text with every example in force.
    fn uncommented() -> String {
        let line = |line: &str| match line.strip_prefix("# ") {
            Some(example) if example.starts_with('[') || example.contains(" = ") => example.to_owned(),
            Some(_) | None => line.to_owned(),
        };
        TEXT.lines().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn nothing_is_set_until_it_is_uncommented() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let path = directory.path().join(FILE);
        std::fs::write(&path, TEXT).expect("writable");
        let config = Config::load(Some(&path)).expect("well formed");
        assert_eq!(config.generate, Config::default().generate);
        std::fs::write(&path, uncommented()).expect("writable");
        let config = Config::load(Some(&path)).expect("examples are well formed");
        assert!(config.profile.contains_key("ci"));
        for key in defaults::keys() {
            assert!(config.generate.0.contains_key(key.as_str()), "{key} is not explained");
        }
    }

    #[test]
    fn a_file_that_is_there_stays() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let arguments = Init { directory: directory.path().to_owned() };
        init(&arguments).expect("nothing is there");
        std::fs::write(directory.path().join(FILE), "# mine\n").expect("writable");
        assert!(init(&arguments).is_err());
        assert_eq!(std::fs::read_to_string(directory.path().join(FILE)).expect("there"), "# mine\n");
    }
}
