//! What the user wants to hold of inputs: expressions, and a function of C that checks them.
//!
//! Both are written as if they stood in the source: macros in them are expanded as there, and errors are reported at their
//! own text. A precondition is a file that defines `quarry_precondition_NAME` with the parameters of the function NAME and calls
//! `quarry_assume`; it may walk what pointers lead to. Inputs for which an assumption does not hold are no tests, but the
//! search may turn off where it failed. Limit: macros that the precondition defines itself work in that file only.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use model::ctype::CFunction;

use crate::clang::{ClangError, LENIENT, ParsedUnit, clang};
use crate::compilers;
use crate::declarations;
use crate::marks::{Marks, Unit};

use super::{HarnessError, HarnessOptions};

/// All that is assumed of a function's inputs.
pub struct Assumptions {
    expressions: Vec<Expression>,
    precondition: Option<Precondition>,
}

/// An expression as written and without macros.
struct Expression {
    written: String,
    expanded: String,
}

/// The user's code that checks inputs.
struct Precondition {
    file: PathBuf,
    /// The function that checks.
    name: String,
    /// The code without macros.
    text: String,
}

/// What stands between the source and the user's code in the preprocessor's output.
const SEPARATOR: &str = "__quarry_assumption__";

/// What a precondition may use, before it is preprocessed.
const VOCABULARY: &str = "\
#define quarry_assume(...) ((__VA_ARGS__) ? (void)0 : __quarry_reject())
#define quarry_range(value, least, greatest) quarry_assume((value) >= (least) && (value) <= (greatest))
";

/// What the expansions of these need.
const REJECT: &str = "extern void __quarry_reject(void) __attribute__((noreturn));\n";

impl Assumptions {
    pub fn new(marks: &Marks, function: &CFunction, options: &HarnessOptions) -> Result<Self, HarnessError> {
        let unit = &marks.units[function.key.unit];
        let expressions = expressions(unit, &options.assume)?;
        let precondition = options.precondition.as_deref();
        let precondition = precondition.map(|file| Precondition::read(marks, function, file)).transpose()?;
        Ok(Self { expressions, precondition })
    }

    /// Code before the harness.
    pub fn definitions(&self) -> String {
        self.precondition
            .as_ref()
            .map_or_else(String::new, |precondition| format!("{REJECT}{}", precondition.text))
    }

    /// Code of the harness before the call, when parameters with these names are filled.
    pub fn checks(&self, names: &[String]) -> String {
        let mut text = String::new();
        for expression in &self.expressions {
            let _ = writeln!(text, "    {}\n        return;", expression.check());
        }
        if let Some(precondition) = &self.precondition {
            let _ = writeln!(text, "    {}({});", precondition.name, names.join(", "));
        }
        text
    }

    /// Parses the harness behind what its unit declares and reports errors in assumptions by their text. A harness without any is
    /// ours alone, and compiling it is check enough.
    pub fn check(&self, marks: &Marks, function: &CFunction, harness: &str) -> Result<(), HarnessError> {
        if self.expressions.is_empty() && self.precondition.is_none() {
            return Ok(());
        }
        let unit = &marks.units[function.key.unit];
        let read_error = |error| HarnessError::Read { file: unit.text.clone(), error };
        let mut text = declarations::of(unit).map_err(read_error)?;
        let first_line = text.iter().filter(|byte| **byte == b'\n').count() + 1;
        text.extend_from_slice(harness.as_bytes());
        let parsed = ParsedUnit::parse(&unit.text, &text, &unit.flags)?;
        let Some(error) = parsed.errors().into_iter().next() else { return Ok(()) };
        let lines: Vec<&str> = harness.lines().collect();
        let index = (error.line as usize).saturating_sub(first_line);
        let at = |index: usize| lines.get(index).map_or("", |line| line.trim());
        // A missing bracket is noticed on the line after.
        let near = [at(index), if index > 0 { at(index - 1) } else { "" }];
        Err(self.blame(near, error.message, function))
    }

    fn blame(&self, near: [&str; 2], message: String, function: &CFunction) -> HarnessError {
        if let Some(guilty) = self.expressions.iter().find(|known| near.contains(&known.check().as_str())) {
            return HarnessError::Assume { expression: guilty.written.clone(), message };
        }
        let line = near[0].to_owned();
        match &self.precondition {
            Some(precondition) if precondition.has_line(&line) => {
                HarnessError::Precondition { file: precondition.file.clone(), message, line }
            }
            Some(_) | None => HarnessError::Rejected { function: function.key.name.clone(), message, line },
        }
    }
}

impl Expression {
    fn check(&self) -> String {
        format!("if (!({}))", self.expanded)
    }
}

impl Precondition {
    fn read(marks: &Marks, function: &CFunction, file: &Path) -> Result<Self, HarnessError> {
        let absolute = marks
            .root
            .join(file)
            .canonicalize()
            .map_err(|error| HarnessError::UnreadPrecondition { file: file.to_owned(), error })?;
        let name = format!("quarry_precondition_{}", function.key.name);
        let code = format!("{VOCABULARY}{SEPARATOR}\n#include \"{}\"\n", absolute.display());
        let text = preprocessed(&marks.units[function.key.unit], &code)?.pop().unwrap_or_default();
        if !text.contains(&name) {
            return Err(HarnessError::NoPrecondition { file: file.to_owned(), name });
        }
        Ok(Self { file: file.to_owned(), name, text })
    }

    /// Whether a line is the user's, or the call of their function.
    fn has_line(&self, line: &str) -> bool {
        line.starts_with(&self.name) || self.text.lines().any(|own| own.trim() == line)
    }
}

/// Expands the macros of the unit's source in every expression.
fn expressions(unit: &Unit, written: &[String]) -> Result<Vec<Expression>, HarnessError> {
    for expression in written {
        let refuse = |message: &str| {
            Err(HarnessError::Assume { expression: expression.clone(), message: message.to_owned() })
        };
        if expression.trim().is_empty() {
            return refuse("the expression is empty");
        }
        if expression.contains('\n') || expression.contains(SEPARATOR) {
            return refuse("the expression must be one line");
        }
    }
    if written.is_empty() {
        return Ok(Vec::new());
    }
    let code: String = written.iter().map(|expression| format!("{SEPARATOR}\n{expression}\n")).collect();
    let parts = preprocessed(unit, &code)?;
    let one_line = |part: &String| {
        part.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
    };
    let mut expanded: Vec<String> = parts.iter().map(one_line).collect();
    if expanded.len() != written.len() {
        expanded = written.to_vec();
    }
    let pairs = written.iter().cloned().zip(expanded);
    Ok(pairs.map(|(written, expanded)| Expression { written, expanded }).collect())
}

/// What the preprocessor makes of code behind the unit's source: the parts behind each separator.
fn preprocessed(unit: &Unit, code: &str) -> Result<Vec<String>, HarnessError> {
    let input = format!("#include \"{}\"\n{code}", unit.directory.join(&unit.source).display());
    let not_run = |error| HarnessError::Clang(ClangError::NotRun(error));
    let mut clang = clang(&unit.directory);
    clang.args(&unit.preprocess).args(LENIENT).args(["-E", "-x", "c", "-"]);
    let output = compilers::output_for(&mut clang, input.as_bytes()).map_err(not_run)?;
    let output = String::from_utf8_lossy(&output.stdout);
    let lines = |part: &str| {
        let code = part.lines().filter(|line| !line.trim_start().starts_with('#') && !line.trim().is_empty());
        code.map(|line| format!("{line}\n")).collect()
    };
    Ok(output.split(SEPARATOR).skip(1).map(lines).collect())
}
