//! KLEE's test files, versions 1 to 3: the program's own arguments, and objects by name with their bytes.
//!
//! For a program, KLEE's POSIX model is understood: its options among the arguments (`--sym-args`, `--sym-files`,
//! `--sym-stdin`) say which objects are arguments and files (`n_args`, `arg00`, `A-data`, `stdin`). Without such options,
//! objects `arg00`, `arg01`, … are the arguments and others are files by their names, as Quarry exports them. Limit:
//! what KLEE's model says of a file beside its bytes (`A-data-stat`), failing system calls and output are not expressed.

use std::collections::BTreeMap;

use model::invocation::Invocation;

use super::{Found, FoundTest, Given, Reading, files_in, stem};
use crate::error::Error;

/// A test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KTest {
    /// The program's name and its arguments.
    pub arguments: Vec<String>,
    /// Name and bytes.
    pub objects: Vec<(String, Vec<u8>)>,
}

/// Files of at most this size are read; objects are small.
const LARGEST: usize = 1 << 28;

/// Reads a file, or those of a directory.
pub(super) fn read(reading: &Reading<'_>, found: &mut Found) -> Result<(), Error> {
    let files = if reading.path.is_dir() { files_in(reading.path)? } else { vec![reading.path.to_owned()] };
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "ktest")) {
        let test = super::read_bytes(file).and_then(|bytes| parse(&bytes));
        match test {
            Ok(test) => found.tests.push(FoundTest {
                name: stem(file),
                origin: reading.origin(file),
                given: Given::Objects(test),
            }),
            Err(why) => found.left_out.push(reading.left_out(file, why)),
        }
    }
    Ok(())
}

/// The test in a file: all numbers are big-endian, blocks are preceded by their size.
fn parse(bytes: &[u8]) -> Result<KTest, String> {
    let mut rest = Rest { bytes, n_read: 0 };
    let magic = rest.take(5)?;
    if magic != b"KTEST" && magic != b"BOUT\n" {
        return Err("it is not a KLEE test: it does not begin with KTEST".to_owned());
    }
    let version = rest.number()?;
    if !(1..=3).contains(&version) {
        return Err(format!("it has version {version} of KLEE's format; known are 1 to 3"));
    }
    let n_arguments = rest.number()?;
    let mut arguments = Vec::new();
    for _ in 0..n_arguments {
        let block = rest.block()?;
        let block = block.strip_suffix(&[0]).unwrap_or(block);
        arguments.push(block.iter().copied().map(char::from).collect());
    }
    if version >= 2 {
        // how many symbolic arguments there are and how long: the objects say it as well
        rest.number()?;
        rest.number()?;
    }
    let n_objects = rest.number()?;
    let mut objects = Vec::new();
    for _ in 0..n_objects {
        let name = String::from_utf8_lossy(rest.block()?).into_owned();
        objects.push((name.trim_end_matches('\0').to_owned(), rest.block()?.to_vec()));
    }
    if !rest.bytes.is_empty() {
        return Err(format!("it is damaged: {} bytes follow its last object", rest.bytes.len()));
    }
    Ok(KTest { arguments, objects })
}

struct Rest<'a> {
    bytes: &'a [u8],
    n_read: usize,
}

impl<'a> Rest<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8], String> {
        if n > self.bytes.len() || n > LARGEST {
            return Err(format!("it is damaged: it ends within the {n} bytes from byte {} on", self.n_read));
        }
        let (taken, rest) = self.bytes.split_at(n);
        (self.bytes, self.n_read) = (rest, self.n_read + n);
        Ok(taken)
    }

    fn number(&mut self) -> Result<u32, String> {
        let bytes = self.take(4)?;
        Ok(u32::from_be_bytes(bytes.try_into().expect("four bytes")))
    }

    fn block(&mut self) -> Result<&'a [u8], String> {
        let size = self.number()?;
        self.take(size as usize)
    }
}

impl KTest {
    /// What a whole program is given.
    pub(super) fn invocation(&self) -> Result<Invocation, String> {
        let mut model = Posix { objects: self.objects.iter().cloned().collect(), n_arguments: 0 };
        let mut invocation = Invocation::default();
        let mut words = self.arguments.iter().skip(1).map(String::as_str).peekable();
        let mut has_options = false;
        while let Some(word) = words.next() {
            let option = word.strip_prefix("--").or_else(|| word.strip_prefix('-')).unwrap_or_default();
            let mut number = || words.next().and_then(|word| word.parse::<u64>().ok());
            let wrong = || format!("its argument {word} lacks a number");
            match option {
                "sym-arg" => {
                    number().ok_or_else(wrong)?;
                    invocation.arguments.push(model.argument()?);
                }
                "sym-args" => {
                    let (least, most) = (number().ok_or_else(wrong)?, number().ok_or_else(wrong)?);
                    number().ok_or_else(wrong)?;
                    let n = model.count(least, most)?;
                    for _ in 0..n {
                        invocation.arguments.push(model.argument()?);
                    }
                }
                "sym-files" => {
                    let n = number().ok_or_else(wrong)?;
                    number().ok_or_else(wrong)?;
                    for name in (b'A'..=b'Z').take(usize::try_from(n).unwrap_or(26)).map(char::from) {
                        let contents = model.objects.remove(&format!("{name}-data"));
                        invocation.files.push((name.to_string(), contents));
                    }
                }
                "sym-stdin" => drop(number().ok_or_else(wrong)?),
                "fd-fail" | "sym-stdout" | "save-all-writes" => {}
                "max-fail" => drop(number().ok_or_else(wrong)?),
                _ => {
                    invocation.arguments.push(word.bytes().collect());
                    continue;
                }
            }
            has_options = true;
        }
        invocation.stdin = model.objects.remove("stdin").unwrap_or_default();
        if !has_options {
            while let Ok(argument) = model.argument() {
                invocation.arguments.push(argument);
            }
            let is_models = |name: &str| name.ends_with("-stat") || name == "model_version";
            let others = model.objects.into_iter().filter(|(name, _)| !is_models(name));
            invocation.files.extend(others.map(|(name, bytes)| (name, Some(bytes))));
        }
        Ok(invocation)
    }
}

/// The objects of KLEE's POSIX model.
struct Posix {
    objects: BTreeMap<String, Vec<u8>>,
    /// Arguments that were read.
    n_arguments: usize,
}

impl Posix {
    /// The next symbolic argument, up to its zero byte.
    fn argument(&mut self) -> Result<Vec<u8>, String> {
        let n = self.n_arguments;
        let names = [format!("arg{n:02}"), format!("arg{n}")];
        let bytes = names.iter().find_map(|name| self.objects.remove(name));
        let bytes = bytes.ok_or_else(|| format!("it has no object arg{n:02}"))?;
        self.n_arguments += 1;
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        Ok(bytes[..end].to_vec())
    }

    /// How many of the arguments of `--sym-args` there are.
    fn count(&mut self, least: u64, most: u64) -> Result<u64, String> {
        if least == most {
            return Ok(least);
        }
        let bytes = self.objects.remove("n_args").ok_or("it has no object n_args")?;
        let n = bytes.iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        if (least..=most).contains(&n) {
            Ok(n)
        } else {
            Err(format!("its n_args is {n}, not between {least} and {most}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use report::ktest::encoded;

    use super::*;

    fn test(arguments: &[&str], objects: &[(&str, &[u8])]) -> KTest {
        let arguments: Vec<String> = arguments.iter().map(|it| (*it).to_owned()).collect();
        let objects: Vec<_> =
            objects.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec())).collect();
        let test = KTest { arguments, objects };
        assert_eq!(parse(&encoded(&test.arguments, &test.objects)), Ok(test.clone()));
        test
    }

    #[test]
    fn a_file_is_read_by_its_documented_layout() {
        let number = |n: u32| n.to_be_bytes().to_vec();
        let block = |bytes: &[u8]| [number(bytes.len().try_into().expect("small")), bytes.to_vec()].concat();
        let file = [
            b"KTEST".to_vec(),
            number(3),
            number(2),
            block(b"wc.bc"),
            block(b"-l"),
            number(0),
            number(0),
            number(1),
            block(b"stdin"),
            block(b"a\0"),
        ]
        .concat();
        let expected = test(&["wc.bc", "-l"], &[("stdin", b"a\0")]);
        assert_eq!(parse(&file), Ok(expected));
        assert_eq!(
            parse(&file[..file.len() - 1]),
            Err("it is damaged: it ends within the 2 bytes from byte 53 on".to_owned())
        );
        assert_eq!(
            parse(b"KTESX\0\0\0\x03"),
            Err("it is not a KLEE test: it does not begin with KTEST".to_owned())
        );
        assert_eq!(
            parse(b"KTEST\0\0\0\x09"),
            Err("it has version 9 of KLEE's format; known are 1 to 3".to_owned())
        );
    }

    #[test]
    fn the_posix_model_says_which_objects_are_arguments_and_files() {
        let given = test(
            &["p.bc", "-v", "--sym-args", "0", "2", "3", "--sym-files", "1", "4", "--sym-stdin", "2"],
            &[
                ("n_args", &[1, 0, 0, 0]),
                ("arg00", b"ab\0\0"),
                ("A-data", b"xyz\0"),
                ("A-data-stat", &[0; 8]),
                ("stdin", b"in"),
                ("stdin-stat", &[0; 8]),
                ("model_version", &[1, 0, 0, 0]),
            ],
        );
        let invocation = given.invocation().expect("it can be expressed");
        assert_eq!(invocation.arguments, [b"-v".to_vec(), b"ab".to_vec()]);
        assert_eq!(invocation.stdin, b"in");
        assert_eq!(invocation.files, [("A".to_owned(), Some(b"xyz\0".to_vec()))]);
        let lacking = test(&["p.bc", "--sym-arg", "3"], &[]);
        assert_eq!(lacking.invocation(), Err("it has no object arg00".to_owned()));
    }

    #[test]
    fn objects_without_a_model_are_arguments_and_files_by_name() {
        let given = test(&["p"], &[("arg00", b"-x\0"), ("arg01", b"\0"), ("stdin", b""), ("a.txt", b"1")]);
        let invocation = given.invocation().expect("it can be expressed");
        assert_eq!(invocation.arguments, [b"-x".to_vec(), Vec::new()]);
        assert_eq!(invocation.files, [("a.txt".to_owned(), Some(b"1".to_vec()))]);
    }
}
