//! What does a program's own text say of the input that it reads?
//!
//! Method: the calls of library functions that read or compare text, with their constant arguments; tables of texts; constants that
//! characters and numbers are compared with; and, from the parameters of `main`, how many arguments it asks about and which of them
//! it reads as numbers ([`arguments`]). A text that is only printed says nothing. Limit: constants are those of the code, not
//! values that it computes; text in tables counts as a word whether or not input is compared with it.

mod arguments;
pub mod formats;
mod options;

use std::collections::BTreeMap;

use model::{
    Callee, CastOp, FloatKind, Function, FunctionId, Global, GlobalId, InstrId, Op, Operand, Predicate,
    Program, RelocationTarget, SpanId, Terminator, Type,
};

use arguments::{Arguments, Carried};

/// The longest word, and the longest text of a set of characters.
const LONGEST_WORD: usize = 32;
const LONGEST_SET: usize = 64;
/// Labels of a `switch` that are characters, when it takes that many.
const FEW_LABELS: usize = 3;

/// Something that the text says of the input.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hint {
    /// The program asks whether there are as many arguments, or uses the one with this number.
    ArgumentCount(u64),
    Option(CommandOption),
    /// An argument is read as a number.
    NumericArgument,
    /// Other text is.
    NumericText,
    /// Input has this format, as `scanf` knows it.
    Format(Vec<u8>),
    /// A file of this name is opened and may be read.
    File(Vec<u8>),
    /// A file is read under a name that is not constant.
    NamedFile,
    /// A variable of the environment is asked for.
    Variable(Vec<u8>),
    /// A text that others are compared with, or one in a table.
    Word(Vec<u8>),
    Character(u8),
    /// A number that others are compared with.
    Number(i64),
}

/// An option as `getopt` knows it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommandOption {
    pub name: OptionName,
    pub value: OptionValue,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OptionName {
    /// `-v`
    Short(u8),
    /// `--verbose`
    Long(Vec<u8>),
}

/// Whether an option has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OptionValue {
    None,
    Required,
    Optional,
}

/// Everything that the text says, with the first place where it does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dictionary {
    pub hints: BTreeMap<Hint, Option<SpanId>>,
}

impl Dictionary {
    /// Of the user's code.
    pub fn of(program: &Program) -> Self {
        let arguments = Arguments::of(program);
        let mut reader = Reader { program, arguments: &arguments, dictionary: Self::default() };
        let functions = program.functions.iter().enumerate().filter(|(_, function)| !function.generated);
        for (index, function) in functions {
            reader.function(FunctionId::new(index), function);
        }
        program.globals.iter().for_each(|global| reader.table(global));
        reader.dictionary
    }

    /// The most arguments that the program asks about.
    pub fn n_arguments(&self) -> Option<u64> {
        let counts = self.hints.keys().filter_map(|hint| match hint {
            Hint::ArgumentCount(n) => Some(*n),
            _ => None,
        });
        counts.max()
    }

    fn add(&mut self, hint: Hint, span: Option<SpanId>) {
        self.hints.entry(hint).or_insert(span);
    }
}

struct Reader<'p> {
    program: &'p Program,
    arguments: &'p Arguments<'p>,
    dictionary: Dictionary,
}

impl Reader<'_> {
    fn function(&mut self, id: FunctionId, function: &Function) {
        for block in &function.blocks {
            for instr in &block.instrs {
                self.instr(id, function, *instr);
            }
            if let Terminator::Switch { value, cases, .. } = &block.terminator {
                let labels: Vec<i64> =
                    cases.iter().filter_map(|case| i64::try_from(case.value).ok()).collect();
                self.labels((id, function), *value, &labels, block.span);
            }
        }
    }

    fn instr(&mut self, id: FunctionId, function: &Function, instr: InstrId) {
        let span = function.instr(instr).span;
        match &function.instr(instr).op {
            Op::Call { callee: Callee::Direct(callee), arguments } => {
                let arguments: Vec<Operand> = arguments.iter().map(|(_, operand)| *operand).collect();
                self.call(id, *callee, &arguments, span);
            }
            Op::Compare(predicate, ty, left, right) => {
                let (value, constant) = match (signed(*ty, *left), signed(*ty, *right)) {
                    (None, Some(constant)) => (*left, constant),
                    (Some(constant), None) => (*right, constant),
                    _ => return,
                };
                self.comparison((id, function), *predicate, value, constant, span);
            }
            Op::FloatCompare(_, _, left, right) => {
                let constants = [*left, *right].into_iter().filter_map(whole_number);
                constants.for_each(|number| self.dictionary.add(Hint::Number(number), span));
            }
            Op::Address { base, offset, .. }
                if self.arguments.of_value(id, *base) == Some(Carried::Vector) =>
            {
                let number = offset / i64::from(self.program.pointer_bits / 8);
                if let Some(number) = u64::try_from(number).ok().filter(|number| *number > 0) {
                    self.dictionary.add(Hint::ArgumentCount(number), span);
                }
            }
            _ => {}
        }
    }

    /// A value is compared with a constant.
    fn comparison(
        &mut self,
        (id, function): (FunctionId, &Function),
        predicate: Predicate,
        value: Operand,
        constant: i64,
        span: Option<SpanId>,
    ) {
        if let Some(Carried::Count { less }) = self.arguments.of_value(id, value) {
            // argc counts the program's name, too
            let n = constant + less - 1;
            let n = match predicate {
                Predicate::Sle | Predicate::Ule | Predicate::Sgt | Predicate::Ugt => n + 1,
                Predicate::Eq
                | Predicate::Ne
                | Predicate::Slt
                | Predicate::Ult
                | Predicate::Sge
                | Predicate::Uge => n,
            };
            if let Ok(n) = u64::try_from(n) {
                self.dictionary.add(Hint::ArgumentCount(n), span);
            }
            return;
        }
        self.constant(is_character(self.program, function, value), constant, span);
    }

    /// The labels of a `switch`.
    fn labels(
        &mut self,
        (id, function): (FunctionId, &Function),
        value: Operand,
        labels: &[i64],
        span: Option<SpanId>,
    ) {
        if let Some(Carried::Count { less }) = self.arguments.of_value(id, value) {
            let counts = labels.iter().filter_map(|label| u64::try_from(label + less - 1).ok());
            counts.for_each(|n| self.dictionary.add(Hint::ArgumentCount(n), span));
            return;
        }
        let n_characters = labels.iter().filter(|label| character(**label).is_some()).count();
        let are_characters = is_character(self.program, function, value)
            || n_characters >= FEW_LABELS && n_characters == labels.len();
        labels.iter().for_each(|label| self.constant(are_characters, *label, span));
    }

    fn constant(&mut self, is_character: bool, constant: i64, span: Option<SpanId>) {
        match character(constant).filter(|_| is_character) {
            Some(character) => self.dictionary.add(Hint::Character(character), span),
            None if is_character => {}
            None => self.dictionary.add(Hint::Number(constant), span),
        }
    }

    fn call(&mut self, caller: FunctionId, callee: FunctionId, arguments: &[Operand], span: Option<SpanId>) {
        let callee = self.program.function(callee);
        let texts = || arguments.iter().filter_map(|argument| text_at(self.program, *argument));
        let nth = |number: usize| arguments.get(number).and_then(|it| text_at(self.program, *it));
        let mut hints: Vec<Hint> = Vec::new();
        match library_name(&callee.name) {
            "strcmp" | "strncmp" | "strcasecmp" | "strncasecmp" | "strstr" | "strcasestr" | "memcmp"
            | "strcoll" | "bcmp" => hints.extend(texts().map(Hint::Word)),
            "strchr" | "strrchr" | "strspn" | "strcspn" | "strpbrk" | "strtok" | "strtok_r" | "strsep"
            | "index" | "memchr" => {
                let sets = texts().filter(|set| set.len() <= LONGEST_SET).flatten();
                hints.extend(sets.chain(arguments.get(1).copied().and_then(byte_of)).map(Hint::Character));
            }
            "atoi" | "atol" | "atoll" | "atof" | "strtol" | "strtoul" | "strtoll" | "strtoull" | "strtod"
            | "strtof" | "strtold" | "strtoimax" | "strtoumax" => {
                let first = arguments.first().and_then(|text| self.arguments.of_value(caller, *text));
                let is_argument = first == Some(Carried::Argument);
                hints.push(if is_argument { Hint::NumericArgument } else { Hint::NumericText });
            }
            "scanf" => hints.extend(nth(0).map(Hint::Format)),
            "sscanf" | "fscanf" => {
                hints.extend(nth(1).map(Hint::Format));
                let first = arguments.first().and_then(|text| self.arguments.of_value(caller, *text));
                if first == Some(Carried::Argument) {
                    hints.push(Hint::NumericArgument);
                }
            }
            "fopen" | "open" | "fopen64" | "open64" | "freopen"
                if may_read(arguments.get(1).copied(), nth(1)) =>
            {
                hints.push(nth(0).map_or(Hint::NamedFile, Hint::File));
            }
            "getenv" | "secure_getenv" => hints.extend(nth(0).map(Hint::Variable)),
            "getopt" => hints.extend(nth(2).iter().flat_map(|text| options::short(text))),
            "getopt_long" | "getopt_long_only" => {
                hints.extend(nth(2).iter().flat_map(|text| options::short(text)));
                let table = arguments.get(3).copied();
                hints.extend(table.map(|table| options::long(self.program, table)).unwrap_or_default());
            }
            // a function of the program's own may compare
            _ if callee.is_defined() => {
                hints.extend(texts().filter(|text| is_keyword(text)).map(Hint::Word));
            }
            _ => {}
        }
        hints.retain(|hint| !matches!(hint, Hint::Word(word) if !(1..=LONGEST_WORD).contains(&word.len())));
        hints.into_iter().for_each(|hint| self.dictionary.add(hint, span));
    }

    /// The texts that a table of the program names.
    fn table(&mut self, global: &Global) {
        if global.name.starts_with("__quarry_") {
            return;
        }
        let pointed = global.relocations.iter().filter_map(|relocation| match relocation.target {
            RelocationTarget::Global(target) => text_of(self.program, target, relocation.addend),
            RelocationTarget::Function(_) => None,
        });
        let words: Vec<Vec<u8>> = pointed.filter(|text| is_keyword(text)).collect();
        words.into_iter().for_each(|word| self.dictionary.add(Hint::Word(word), None));
    }
}

/// Whether a file that is opened so may be read: `fopen`'s mode as text, or `open`'s as a number.
fn may_read(mode: Option<Operand>, text: Option<Vec<u8>>) -> bool {
    const ACCESS: u64 = 3; // O_RDONLY is 0, O_RDWR 2
    match (text, mode.and_then(Operand::constant)) {
        (Some(text), _) => text.first().is_none_or(|first| *first == b'r'),
        (None, Some(flags)) => flags & ACCESS != 1,
        (None, None) => true,
    }
}

/// What C calls a function of the library, however headers rename it.
fn library_name(name: &str) -> &str {
    let name = name.strip_prefix("__quarry_lib_").unwrap_or(name);
    name.strip_prefix("__isoc99_").or_else(|| name.strip_prefix("__isoc23_")).unwrap_or(name)
}

/// The constant text at an address, without its end.
fn text_at(program: &Program, address: Operand) -> Option<Vec<u8>> {
    match address {
        Operand::Global { global, offset } => text_of(program, global, offset),
        _ => None,
    }
}

fn text_of(program: &Program, global: GlobalId, offset: i64) -> Option<Vec<u8>> {
    let global = program.global(global);
    let bytes = global.bytes.get(usize::try_from(offset).ok()?..).filter(|_| global.constant)?;
    let end = bytes.iter().position(|byte| *byte == 0)?;
    Some(bytes[..end].to_vec())
}

/// Whether a text may be a word of a language or a command, and not a message.
fn is_keyword(text: &[u8]) -> bool {
    let is_plain = text.iter().all(|byte| byte.is_ascii_graphic() && *byte != b'%');
    (1..=LONGEST_WORD).contains(&text.len()) && is_plain
}

/// A constant, by its sign.
fn signed(ty: Type, operand: Operand) -> Option<i64> {
    let value = operand.constant()?;
    match ty {
        Type::Int(bits @ 1..64) => {
            let unused = 64 - bits;
            Some((value << unused).cast_signed() >> unused)
        }
        Type::Int(64) => Some(value.cast_signed()),
        _ => None,
    }
}

/// A floating-point constant that is a whole number.
fn whole_number(operand: Operand) -> Option<i64> {
    let Operand::Float { kind, bits } = operand else { return None };
    let value = match kind {
        FloatKind::Single => f64::from(f32::from_bits(u32::try_from(bits).ok()?)),
        FloatKind::Double => f64::from_bits(u64::try_from(bits).ok()?),
        FloatKind::Half | FloatKind::X87 | FloatKind::Quad => return None,
    };
    #[expect(clippy::cast_possible_truncation, reason = "whole and small")]
    (value.fract() == 0.0 && value.abs() < 1e15).then_some(value as i64)
}

/// A constant that is a character that people write.
fn character(constant: i64) -> Option<u8> {
    let byte = u8::try_from(constant).ok()?;
    (byte.is_ascii_graphic() || matches!(byte, b' ' | b'\t' | b'\n')).then_some(byte)
}

fn byte_of(operand: Operand) -> Option<u8> {
    operand.constant().and_then(|value| i64::try_from(value).ok()).and_then(character)
}

/// Whether a value is a character: a byte made wider, or what a function that reads characters gives.
fn is_character(program: &Program, function: &Function, value: Operand) -> bool {
    let direct = |value: Operand| {
        let Operand::Result(id) = value else { return false };
        match &function.instr(id).op {
            Op::Cast(CastOp::Sext | CastOp::Zext, Type::Int(8), _) => true,
            Op::Call { callee: Callee::Direct(callee), .. } => matches!(
                library_name(&program.function(*callee).name),
                "getchar" | "getc" | "fgetc" | "getchar_unlocked" | "getc_unlocked" | "fgetc_unlocked"
            ),
            _ => matches!(function.instr(id).ty, Type::Int(8)),
        }
    };
    if direct(value) {
        return true;
    }
    let Operand::Result(id) = value else { return false };
    let Op::Load { address: variable @ (Operand::Result(_) | Operand::Global { .. }), .. } =
        function.instr(id).op
    else {
        return false;
    };
    function.instrs.iter().any(
        |instr| matches!(instr.op, Op::Store { address, value, .. } if address == variable && direct(value)),
    )
}

#[cfg(test)]
mod tests;
