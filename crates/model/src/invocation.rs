//! The inputs of a whole program: arguments, standard input, files, environment variables, failing allocations.
//!
//! An [`InvocationShape`] says what can be varied and by which keys; an [`Invocation`] is one input as bytes. Sizes are
//! cells: an object whose size has the key `S` has the elements `S.part(0)`, `S.part(1)`, …; the runtime
//! (`runtime/program.c`) requests the same keys. Limit: an argument or variable ends at its first zero byte; values of an
//! input after that are not shown.

use serde::{Deserialize, Serialize};

use crate::input::{Allocations, Input, Key};

/// Files, standard input among them, and variables that a program can be given; the runtime has room for no more.
pub const MAX_FILES: usize = 16;
pub const MAX_VARIABLES: usize = 16;

/// Characters of an argument, and bytes of a file, in an input that has some of everything.
const FEW_CHARACTERS: u64 = 8;
const FEW_BYTES: u64 = 16;

/// What can be varied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InvocationShape {
    pub arguments: Arguments,
    /// Standard input first.
    pub files: Vec<InputFile>,
    pub variables: Vec<InputVariable>,
    /// How many allocations may fail, if any may.
    pub allocations: Option<Allocations>,
    /// The first key that is not taken.
    pub next_key: u64,
}

/// The arguments behind the program's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arguments {
    /// How many there are.
    pub key: Key,
    pub most: u64,
    /// Characters that one has at most.
    pub length: u64,
}

/// A file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFile {
    /// How large it is; the key behind it says that there is none.
    pub key: Key,
    /// `None` for standard input, which is always there.
    pub name: Option<String>,
    pub most: u64,
}

/// A variable of the environment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputVariable {
    /// Whether it is set.
    pub key: Key,
    pub name: String,
    /// Characters that its value has at most.
    pub length: u64,
}

/// How much of each there may be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InvocationLimits {
    pub arguments: u64,
    /// Characters of an argument or of a variable's value.
    pub length: u64,
    pub stdin: u64,
    /// Names and sizes.
    pub files: Vec<(String, u64)>,
    pub variables: Vec<String>,
    /// 0: allocations do not fail.
    pub allocations: u64,
}

/// What there is under a name.
pub type Entry = (String, Option<Vec<u8>>);

/// What a program is given in one run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invocation {
    /// Behind the program's name.
    pub arguments: Vec<Vec<u8>>,
    pub stdin: Vec<u8>,
    /// Files; `None` when there is no such file.
    pub files: Vec<Entry>,
    /// Variables; `None` when it is not set.
    pub variables: Vec<Entry>,
    /// Numbers of the allocations that fail, from 1.
    pub failing: Vec<u64>,
}

/// Why an invocation is none of a shape's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvocationError {
    #[error("{what} has {found} {unit}, at most {most} are possible (more with {option})")]
    TooLarge { what: String, unit: &'static str, found: usize, most: u64, option: &'static str },
    #[error("{what} contains a zero byte")]
    ZeroByte { what: String },
    #[error("there is no {what} {name} among the inputs (add it with {option} {name})")]
    Unknown { what: &'static str, name: String, option: &'static str },
}

impl InvocationShape {
    /// Gives everything its keys.
    pub fn new(limits: &InvocationLimits) -> Self {
        let mut next = 0;
        let mut key = |n_cells: u64| {
            let key = Key(next);
            next += n_cells;
            key
        };
        let arguments = Arguments { key: key(1), most: limits.arguments, length: limits.length };
        let mut files = vec![InputFile { key: key(2), name: None, most: limits.stdin }];
        for (name, most) in &limits.files {
            files.push(InputFile { key: key(2), name: Some(name.clone()), most: *most });
        }
        let length = limits.length;
        let variable = |name: &String| InputVariable { key: key(1), name: name.clone(), length };
        let variables = limits.variables.iter().map(variable).collect();
        let allocations =
            (limits.allocations > 0).then(|| Allocations { key: key(1), most: limits.allocations });
        Self { arguments, files, variables, allocations, next_key: next }
    }

    /// An input with some of everything that may be there, all of it letters: where a program looks for something else, one
    /// of them has to change and not many to be added.
    pub fn full(&self) -> Input {
        let letters = |most: u64, few: u64| vec![b'a'; usize::try_from(most.min(few)).unwrap_or(0)];
        let word = |length: u64| letters(length, FEW_CHARACTERS);
        let file = |file: &InputFile| Some((file.name.clone()?, Some(letters(file.most, FEW_BYTES))));
        let variable = |variable: &InputVariable| (variable.name.clone(), Some(word(variable.length)));
        let invocation = Invocation {
            arguments: (0..self.arguments.most).map(|_| word(self.arguments.length)).collect(),
            stdin: self.files.first().map(|stdin| letters(stdin.most, FEW_BYTES)).unwrap_or_default(),
            files: self.files.iter().filter_map(file).collect(),
            variables: self.variables.iter().map(variable).collect(),
            failing: Vec::new(),
        };
        self.input(&invocation).expect("what is within all limits is an input")
    }

    /// What an input amounts to.
    pub fn invocation(&self, input: &Input) -> Invocation {
        let n_arguments = value(input, self.arguments.key).min(self.arguments.most);
        let argument = |index: u64| text(input, self.arguments.key.part(index), self.arguments.length);
        let mut files = self.files.iter().map(|file| (file, bytes(input, file)));
        let stdin = files.next().map(|(_, bytes)| bytes).unwrap_or_default();
        let named = |(file, bytes): (&InputFile, Vec<u8>)| {
            let is_missing = value(input, file.missing()) & 1 == 1;
            (file.name.clone().unwrap_or_default(), (!is_missing).then_some(bytes))
        };
        let set = |variable: &InputVariable| {
            let is_set = value(input, variable.key) & 1 == 1;
            (variable.name.clone(), is_set.then(|| text(input, variable.key, variable.length)))
        };
        let fails = |allocations: &Allocations| allocations.failing(input);
        Invocation {
            arguments: (0..n_arguments).map(argument).collect(),
            stdin,
            files: files.map(named).collect(),
            variables: self.variables.iter().map(set).collect(),
            failing: self.allocations.as_ref().map(fails).unwrap_or_default(),
        }
    }

    /// The input that amounts to an invocation; files and variables that it does not name are empty, respectively unset.
    pub fn input(&self, invocation: &Invocation) -> Result<Input, InvocationError> {
        let mut input = Input::default();
        let arguments = &self.arguments;
        fits("argv", "arguments", invocation.arguments.len(), arguments.most, "--max-args")?;
        input.values.insert(arguments.key, invocation.arguments.len() as u64);
        for (index, argument) in (0..).zip(&invocation.arguments) {
            let what = format!("argv[{index}]");
            set_text(&mut input, arguments.key.part(index), argument, arguments.length, what)?;
        }
        if let Some(stdin) = self.files.first() {
            set_bytes(&mut input, stdin, &invocation.stdin)?;
        }
        for (name, contents) in &invocation.files {
            let file = self.files.iter().find(|file| file.name.as_ref() == Some(name));
            let file = file.ok_or_else(|| unknown("file", name, "--file"))?;
            input.values.insert(file.missing(), u64::from(contents.is_none()));
            set_bytes(&mut input, file, contents.as_deref().unwrap_or_default())?;
        }
        for (name, set) in &invocation.variables {
            let variable = self.variables.iter().find(|variable| variable.name == *name);
            let variable = variable.ok_or_else(|| unknown("variable", name, "--env"))?;
            input.values.insert(variable.key, u64::from(set.is_some()));
            set_text(
                &mut input,
                variable.key,
                set.as_deref().unwrap_or_default(),
                variable.length,
                name.clone(),
            )?;
        }
        for number in &invocation.failing {
            let most = self.allocations.as_ref().map_or(0, |allocations| allocations.most);
            fits(
                "the number of a failing allocation",
                "as value",
                *number as usize,
                most,
                "--malloc-failure",
            )?;
            if let Some(allocations) = &self.allocations {
                input.values.insert(allocations.choice(*number), 1);
            }
        }
        Ok(input)
    }
}

impl InputFile {
    /// The key of the cell that says that there is no such file.
    pub fn missing(&self) -> Key {
        Key(self.key.0 + 1)
    }
}

fn value(input: &Input, key: Key) -> u64 {
    input.values.get(&key).copied().unwrap_or(0)
}

fn byte(input: &Input, key: Key) -> u8 {
    value(input, key).to_le_bytes()[0]
}

/// The characters of the object `base`, up to a zero byte.
fn text(input: &Input, base: Key, length: u64) -> Vec<u8> {
    (0..length).map(|index| byte(input, base.part(index))).take_while(|byte| *byte != 0).collect()
}

fn bytes(input: &Input, file: &InputFile) -> Vec<u8> {
    let size = value(input, file.key).min(file.most);
    (0..size).map(|index| byte(input, file.key.part(index).part(0))).collect()
}

fn set_text(
    input: &mut Input,
    base: Key,
    text: &[u8],
    length: u64,
    what: String,
) -> Result<(), InvocationError> {
    fits(&what, "characters", text.len(), length, "--arg-len")?;
    if text.contains(&0) {
        return Err(InvocationError::ZeroByte { what });
    }
    for (index, byte) in (0..).zip(text) {
        input.values.insert(base.part(index), u64::from(*byte));
    }
    Ok(())
}

fn set_bytes(input: &mut Input, file: &InputFile, bytes: &[u8]) -> Result<(), InvocationError> {
    let (what, option) = match &file.name {
        Some(name) => (name.as_str(), "--file NAME=SIZE"),
        None => ("stdin", "--stdin-size"),
    };
    fits(what, "bytes", bytes.len(), file.most, option)?;
    input.values.insert(file.key, bytes.len() as u64);
    for (index, byte) in (0..).zip(bytes) {
        input.values.insert(file.key.part(index).part(0), u64::from(*byte));
    }
    Ok(())
}

fn fits(
    what: &str,
    unit: &'static str,
    found: usize,
    most: u64,
    option: &'static str,
) -> Result<(), InvocationError> {
    if found as u64 <= most {
        return Ok(());
    }
    Err(InvocationError::TooLarge { what: what.to_owned(), unit, found, most, option })
}

fn unknown(what: &'static str, name: &str, option: &'static str) -> InvocationError {
    InvocationError::Unknown { what, name: name.to_owned(), option }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape() -> InvocationShape {
        InvocationShape::new(&InvocationLimits {
            arguments: 2,
            length: 4,
            stdin: 8,
            files: vec![("a.txt".to_owned(), 3)],
            variables: vec!["HOME".to_owned()],
            allocations: 5,
        })
    }

    #[test]
    fn an_invocation_is_read_back_from_its_input() {
        let invocation = Invocation {
            arguments: vec![b"-x".to_vec(), Vec::new()],
            stdin: b"a\0b".to_vec(),
            files: vec![("a.txt".to_owned(), Some(b"xyz".to_vec()))],
            variables: vec![("HOME".to_owned(), Some(b"/".to_vec()))],
            failing: vec![2, 5],
        };
        let input = shape().input(&invocation).expect("it fits");
        assert_eq!(shape().invocation(&input), invocation);
    }

    #[test]
    fn nothing_is_given_by_an_input_without_values() {
        let given = shape().invocation(&Input::default());
        assert_eq!(given.arguments, Vec::<Vec<u8>>::new());
        assert_eq!(given.files, [("a.txt".to_owned(), Some(Vec::new()))]);
        assert_eq!(given.variables, [("HOME".to_owned(), None)]);
        assert_eq!((given.stdin, given.failing), (Vec::new(), Vec::new()));
    }

    #[test]
    fn an_input_with_some_of_everything_keeps_the_limits() {
        let given = shape().invocation(&shape().full());
        assert_eq!(given.arguments, [b"aaaa", b"aaaa"]);
        assert_eq!(given.files, [("a.txt".to_owned(), Some(b"aaa".to_vec()))]);
        assert_eq!((given.stdin.len(), given.failing.len()), (8, 0));
    }

    #[test]
    fn what_does_not_fit_is_refused_with_the_option_that_helps() {
        let refused = |invocation: Invocation| shape().input(&invocation).expect_err("refused").to_string();
        let long = Invocation { arguments: vec![b"12345".to_vec()], ..Invocation::default() };
        assert_eq!(refused(long), "argv[0] has 5 characters, at most 4 are possible (more with --arg-len)");
        let other = Invocation { files: vec![("b".to_owned(), None)], ..Invocation::default() };
        assert_eq!(refused(other), "there is no file b among the inputs (add it with --file b)");
        let zero = Invocation { arguments: vec![vec![0]], ..Invocation::default() };
        assert_eq!(refused(zero), "argv[0] contains a zero byte");
    }
}
