//! The code that builds inputs and calls the function under test, as readable C appended to the function's own unit.
//!
//! Method: every parameter becomes a local variable of its own name, filled cell by cell through `__quarry_cell`, which
//! gives each scalar its value from the input. A pointer chooses between null, an object of its own and one that is there;
//! an object is on the heap, so that the program may free it. What is no structure is an array whose size is part of the
//! input, starting with [`DEFAULT_LENGTH`] elements; an array of `char` has a zero byte more, so that a string always ends.
//! `--len`, or the source (`int v[6]`), makes it an array of fixed length. A number beside a pointer whose name says a
//! length counts its elements. Limit: what is not built is passed as zero, marked as unsupported in the shape and named as a
//! gap.

mod assume;
pub(crate) mod cells;
mod couple;
pub(crate) mod fill;
mod names;
pub(crate) mod plan;
mod program;
pub(crate) mod statics;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use model::ctype::{CFunction, CGlobal, CTypeKind, FunctionKey};
use model::input::{Allocations, Shape};
use model::{Gap, GapKind};
use serde::{Deserialize, Serialize};

use crate::agreement::HARNESS;
use crate::clang::ClangError;
use crate::mark::USER_MAIN;
use crate::marks::Marks;

pub use names::find;
pub(crate) use names::{near, suggestion};
pub use program::{generate_program, program_name};

/// Elements behind a pointer to a scalar when nothing says how many.
pub const DEFAULT_LENGTH: u64 = 4;

/// Declares what makes allocations fail.
pub(crate) const FAIL_ALLOCATIONS: &str =
    "extern void __quarry_fail_allocations(unsigned long long, unsigned);\n";

/// What the user said about the input.
#[derive(Clone, Debug)]
pub struct HarnessOptions {
    /// Elements behind pointer parameters, by parameter name.
    pub lengths: BTreeMap<String, u64>,
    /// C expressions over the parameters that must hold.
    pub assume: Vec<String>,
    /// Global variables that become input; an input without a value for them leaves them as they are.
    pub globals: Vec<String>,
    /// All global variables of the function's unit that are not constant become input.
    pub all_globals: bool,
    /// Elements that an array may grow to.
    pub max_length: u64,
    /// Pointers that may lead one behind the other.
    pub max_depth: u32,
    /// Whether numbers beside pointers are taken for their lengths.
    pub couple: bool,
    /// A file with C that checks inputs.
    pub precondition: Option<PathBuf>,
    /// Allocations that may fail, counted from the call; 0: none does.
    pub failing_allocations: u64,
}

impl Default for HarnessOptions {
    fn default() -> Self {
        Self {
            lengths: BTreeMap::new(),
            assume: Vec::new(),
            globals: Vec::new(),
            all_globals: false,
            max_length: 64,
            max_depth: 4,
            couple: true,
            precondition: None,
            failing_allocations: 0,
        }
    }
}

/// A generated harness.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Harness {
    /// C code to be appended to the text of the function's unit.
    pub text: String,
    /// What can be varied; keys count from 0 in the order of [`Shape::cells`].
    pub shape: Shape,
    /// The first key that is not taken.
    pub next_key: u64,
    /// The call as the harness makes it, such as `bubble(v, n)`.
    pub call: String,
    /// Inputs that are not built.
    pub gaps: Vec<Gap>,
    /// Which numbers were taken for lengths, as text.
    pub couplings: Vec<String>,
}

impl Harness {
    /// The text, with the result of the call kept where a native run finds it: memory that it refers to is not lost.
    pub fn with_result_kept(&self) -> String {
        let kept = self.text.rsplit_once("    (void)").and_then(|(before, rest)| {
            let call = rest.strip_suffix(";\n}\n")?;
            Some(format!(
                "{before}    extern unsigned char __quarry_result[256];\n    \
                 __typeof__({call}) __quarry_returned = {call};\n    \
                 __builtin_memcpy(__quarry_result, (const void *)&__quarry_returned,\n                     \
                 sizeof __quarry_returned < 256 ? sizeof __quarry_returned : 256);\n}}\n"
            ))
        });
        kept.unwrap_or_else(|| self.text.clone())
    }
}

/// Why there is no harness.
#[derive(Debug, thiserror::Error)]
pub enum HarnessError {
    #[error("no function {name} is defined in {files}{}", names::suggestion(near))]
    UnknownFunction { name: String, files: String, near: Vec<String> },
    #[error("{name} is defined in several files: {} (name one, such as {}:{name})", files.join(", "), files[0])]
    AmbiguousFunction { name: String, files: Vec<String> },
    #[error("--len {name}: {function} has no pointer parameter of that name{}", names::suggestion(near))]
    UnknownLength { name: String, function: String, near: Vec<String> },
    #[error("no global variable {name} is defined in {file}{}", names::suggestion(near))]
    UnknownGlobal { name: String, file: String, near: Vec<String> },
    #[error("global variable {name} is constant and cannot be an input")]
    ConstantGlobal { name: String },
    #[error(
        "static variable {name} cannot be an input: it is no number or array of numbers, or not the first of its name"
    )]
    StaticVariable { name: String },
    #[error("cannot assume '{expression}': {message}")]
    Assume { expression: String, message: String },
    #[error("cannot read the precondition {}: {error}", file.display())]
    UnreadPrecondition { file: PathBuf, error: std::io::Error },
    #[error("{} defines no {name}", file.display())]
    NoPrecondition { file: PathBuf, name: String },
    #[error("cannot use {}: {message}, at: {line}", file.display())]
    Precondition { file: PathBuf, message: String, line: String },
    #[error("the harness for {function} does not compile: {message}, at: {line}")]
    Rejected { function: String, message: String, line: String },
    #[error("cannot read {}: {error}", file.display())]
    Read { file: std::path::PathBuf, error: std::io::Error },
    #[error(transparent)]
    Clang(#[from] ClangError),
}

/// Makes the harness of one function.
pub fn generate(
    marks: &Marks,
    function: &FunctionKey,
    options: &HarnessOptions,
) -> Result<Harness, HarnessError> {
    let function = names::definition(marks, function)?;
    check_lengths(marks, function, options)?;
    let assumed = assume::Assumptions::new(marks, function, options)?;
    let mut cells = cells::Cells::new(&marks.declarations.types, options, callable(marks, function));
    // Globals come first: a parameter of the same name would hide them.
    let mut declared = String::new();
    for name in &options.globals {
        match statics::named(marks, function.key.unit, name)? {
            Some(variable) => {
                declared.push_str(&statics::declared(&marks.declarations.types, variable));
                cells.static_variable(variable);
            }
            None => cells.global(global(marks, function, name)?),
        }
    }
    if options.all_globals {
        let others = marks.declarations.globals.iter().filter(|global| {
            let is_new = !options.globals.contains(&global.name);
            global.unit == function.key.unit && !global.is_const && is_new
        });
        others.for_each(|global| cells.global(global));
        let of_unit = marks.declarations.statics.iter().filter(|variable| {
            variable.unit == function.key.unit && !options.globals.contains(&variable.qualified_name())
        });
        for variable in of_unit {
            if statics::is_possible(&marks.declarations.types, variable) {
                declared.push_str(&statics::declared(&marks.declarations.types, variable));
                cells.static_variable(variable);
            } else {
                cells.leave_out(format!(
                    "{}: a static variable of a function that is no number",
                    variable.qualified_name()
                ));
            }
        }
    }
    let names = function.parameter_names();
    cells.parameters(function, &names);
    let call = format!("{}({})", called_name(function), names.join(", "));
    let cells::Parts { functions, body, shape, next_key, reasons, couplings } = cells.finish();
    let fails = shape.allocations.as_ref().map(|Allocations { key, most }| {
        // last: what the harness allocates itself does not count
        format!("    __quarry_fail_allocations({}, {most});\n", key.0)
    });
    let text = text(function, &names, &body, &assumed, fails.as_deref().unwrap_or_default(), &call);
    if fails.is_some() {
        // its declaration alone would make allocations fail
        declared.push_str(FAIL_ALLOCATIONS);
    }
    let text = format!("{}{declared}{}{functions}{text}", fill::PROLOGUE, assumed.definitions());
    assumed.check(marks, function, &text)?;
    let gap = |what| Gap { kind: GapKind::Input, function: None, span: Some(function.span), what };
    Ok(Harness { text, shape, next_key, call, gaps: reasons.into_iter().map(gap).collect(), couplings })
}

/// The functions that the harness of a function can name, with their types; not itself, which would have no end.
fn callable<'a>(marks: &'a Marks, function: &CFunction) -> Vec<(&'a str, &'a str)> {
    let others = marks.declarations.functions.iter().filter(|other| {
        other.key.unit == function.key.unit
            && other.key != function.key
            && !other.system
            && other.key.name != "main"
    });
    others.map(|other| (other.key.name.as_str(), other.canonical.as_str())).collect()
}

fn text(
    function: &CFunction,
    names: &[String],
    body: &str,
    assumed: &assume::Assumptions,
    last: &str,
    call: &str,
) -> String {
    let mut text = String::new();
    let name = called_name(function);
    let mut call = call.to_owned();
    let _ = writeln!(text, "void {HARNESS}(void)\n{{");
    if names.contains(&function.key.name) {
        // A parameter has the function's name and would hide it.
        let _ = writeln!(text, "    __typeof__({name}) *__quarry_called = {name};");
        call = format!("__quarry_called({})", names.join(", "));
    }
    text.push_str(body);
    text.push_str(&assumed.checks(names));
    text.push_str(last);
    let _ = writeln!(text, "    (void){call};\n}}");
    text
}

fn called_name(function: &CFunction) -> &str {
    if function.key.name == "main" { USER_MAIN } else { &function.key.name }
}

fn check_lengths(marks: &Marks, function: &CFunction, options: &HarnessOptions) -> Result<(), HarnessError> {
    let names = function.parameter_names();
    let is_pointer = |parameter: &model::ctype::CParameter| {
        matches!(marks.declarations.types[parameter.ty].kind, CTypeKind::Pointer { .. })
    };
    let pointers: Vec<String> = function
        .parameters
        .iter()
        .zip(names)
        .filter(|(parameter, _)| is_pointer(parameter))
        .map(|(_, name)| name)
        .collect();
    match options.lengths.keys().find(|name| !pointers.contains(name)) {
        None => Ok(()),
        Some(name) => Err(HarnessError::UnknownLength {
            name: name.clone(),
            function: function.key.name.clone(),
            near: names::near(name, pointers.iter().map(String::as_str)),
        }),
    }
}

fn global<'a>(marks: &'a Marks, function: &CFunction, name: &str) -> Result<&'a CGlobal, HarnessError> {
    let unit = function.key.unit;
    let of_unit = || marks.declarations.globals.iter().filter(|global| global.unit == unit);
    let Some(global) = of_unit().find(|global| global.name == name) else {
        return Err(HarnessError::UnknownGlobal {
            name: name.to_owned(),
            file: marks.units[unit].source.display().to_string(),
            near: names::near(name, of_unit().map(|global| global.name.as_str())),
        });
    };
    if global.is_const {
        return Err(HarnessError::ConstantGlobal { name: name.to_owned() });
    }
    Ok(global)
}
