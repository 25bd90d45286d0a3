//! Functions that are called and defined nowhere: what stands in for them, so that their results are inputs.
//!
//! Method: each gets a definition in C, appended to a unit that declares it, whose every call asks for fresh values: what
//! it returns and, where the user says so, what it writes through its pointers. A function that does not return ends the
//! run. Those of verification competitions (`__VERIFIER_nondet_int`, `__VERIFIER_assume`, `reach_error`, …) do what
//! their rules say and share one sequence, because a test lists their values in the order of all calls. Limit: a stub
//! neither keeps state nor looks at its arguments.

mod body;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use model::ctype::{CForeign, CFunction, CTypeKind, FunctionKey};
use model::input::{Key, Kind, Node};
use model::stub::{Behaviour, Stub, Stubs};
use model::{Gap, GapKind};

use crate::clang::{ClangError, ParsedUnit};
use crate::declarations;
use crate::harness::{near, suggestion};
use crate::instrument::{InstrumentError, Libraries, undefined};
use crate::marks::Marks;

/// How the names of functions start that verification competitions take inputs from.
const NONDET: &str = "__VERIFIER_nondet_";

/// What the user said about stubs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StubOptions {
    /// Functions whose stubs write through pointers: which parameters, all that can be written when empty.
    pub writes: BTreeMap<String, Vec<String>>,
}

/// Why there are no stubs.
#[derive(Debug, thiserror::Error)]
pub enum StubError {
    #[error("--stub-writes {name}: no function of that name needs a stub{}", suggestion(near))]
    UnknownFunction { name: String, near: Vec<String> },
    #[error(
        "--stub-writes {name}={parameter}: {name} has no parameter of that name that could be written through{}",
        suggestion(near)
    )]
    UnknownParameter { name: String, parameter: String, near: Vec<String> },
    #[error("cannot read {}: {error}", file.display())]
    Read { file: std::path::PathBuf, error: std::io::Error },
    #[error(transparent)]
    Clang(#[from] ClangError),
    #[error(transparent)]
    Instrument(#[from] InstrumentError),
}

/// Makes stubs of the functions that the units of a program (all when none are named) use and that are defined nowhere. Units that declare
/// one are preferred to be `home`; the keys of sequences count from `first_key`.
pub fn generate(
    marks: &Marks,
    units: Option<&BTreeSet<usize>>,
    home: usize,
    libraries: &Libraries<'_>,
    options: &StubOptions,
    first_key: u64,
) -> Result<Stubs, StubError> {
    let mut foreign = foreign(marks, units, home);
    let names = foreign.keys().map(|name| (*name).to_owned()).collect();
    let missing = undefined(&names, libraries)?;
    foreign.retain(|name, _| missing.contains(*name));
    check_writes(marks, &foreign, options)?;
    let mut refused: BTreeMap<String, String> = BTreeMap::new();
    loop {
        let functions: Vec<_> = foreign.values().copied().collect();
        let (stubs, texts) = build(marks, &functions, options, first_key);
        let complaints = complaints(marks, &texts)?;
        if complaints.is_empty() {
            return Ok(finished(stubs, texts, refused));
        }
        foreign.retain(|name, _| !complaints.contains_key(*name));
        refused.extend(complaints);
    }
}

/// Functions that no unit defines, by name, each as one unit declares it.
fn foreign<'m>(
    marks: &'m Marks,
    units: Option<&BTreeSet<usize>>,
    home: usize,
) -> BTreeMap<&'m str, &'m CForeign> {
    let is_part = |unit: usize| units.is_none_or(|units| units.contains(&unit));
    let own: BTreeSet<&str> = marks
        .declarations
        .functions
        .iter()
        .filter(|function| !function.is_static && is_part(function.key.unit))
        .map(|function| function.key.name.as_str())
        .collect();
    let mut foreign: BTreeMap<&'m str, &'m CForeign> = BTreeMap::new();
    for used in marks.declarations.foreign.iter().filter(|used| is_part(used.function.key.unit)) {
        let FunctionKey { unit, name } = &used.function.key;
        if !own.contains(name.as_str()) && (*unit == home || !foreign.contains_key(name.as_str())) {
            foreign.insert(name, used);
        }
    }
    foreign
}

fn check_writes(
    marks: &Marks,
    foreign: &BTreeMap<&str, &CForeign>,
    options: &StubOptions,
) -> Result<(), StubError> {
    for (name, parameters) in &options.writes {
        let Some(used) = foreign.get(name.as_str()) else {
            let near = near(name, foreign.keys().copied());
            return Err(StubError::UnknownFunction { name: name.clone(), near });
        };
        let names = used.function.parameter_names();
        let writable: Vec<&str> =
            writable(marks, &used.function).map(|index| names[index].as_str()).collect();
        if let Some(parameter) = parameters.iter().find(|parameter| !writable.contains(&parameter.as_str())) {
            let near = writable.iter().map(|name| (*name).to_owned()).collect();
            return Err(StubError::UnknownParameter {
                name: name.clone(),
                parameter: parameter.clone(),
                near,
            });
        }
    }
    Ok(())
}

/// The parameters that point to something of known size that may be written.
fn writable<'a>(marks: &'a Marks, function: &'a CFunction) -> impl Iterator<Item = usize> + 'a {
    let types = &marks.declarations.types;
    (0..function.parameters.len()).filter(move |index| match types[function.parameters[*index].ty].kind {
        CTypeKind::Pointer { to, const_target: false } => {
            let target = &types[to];
            target.size > 0
                && !matches!(target.kind, CTypeKind::Void | CTypeKind::Function(_) | CTypeKind::Other)
        }
        _ => false,
    })
}

/// The parts of a unit's text that are stubs, each with the function it is for.
type Texts = BTreeMap<usize, Vec<(String, String)>>;

fn build(marks: &Marks, functions: &[&CForeign], options: &StubOptions, first_key: u64) -> (Stubs, Texts) {
    let mut stubs = Stubs::default();
    let mut texts = Texts::new();
    let mut sequences = Sequences::new(functions, first_key);
    for used in functions {
        let function = &used.function;
        let name = &function.key.name;
        let writes = writes(marks, function, options);
        let (behaviour, text) = match fixed_behaviour(used) {
            Some(behaviour) => (behaviour, text::fixed(&marks.declarations.types, function, behaviour)),
            None => {
                let (root, first_cell) = sequences.place(name);
                let made = text::giving(&marks.declarations.types, function, &writes, root, first_cell);
                let gap = |what| Gap {
                    kind: GapKind::Input,
                    function: None,
                    span: Some(function.span),
                    what: format!("{name}(): {what}"),
                };
                stubs.gaps.extend(made.reasons.into_iter().map(gap));
                (sequences.add(name, made.result, made.n_cells), made.text)
            }
        };
        texts.entry(function.key.unit).or_default().push((name.clone(), text));
        stubs.stubs.push(Stub { function: function.clone(), behaviour, writes });
    }
    stubs.roots = sequences.roots;
    (stubs, texts)
}

fn writes(marks: &Marks, function: &CFunction, options: &StubOptions) -> Vec<usize> {
    let Some(asked) = options.writes.get(&function.key.name) else { return Vec::new() };
    let names = function.parameter_names();
    writable(marks, function).filter(|index| asked.is_empty() || asked.contains(&names[*index])).collect()
}

/// What a function does that gives nothing, by its name or by what its declaration says.
fn fixed_behaviour(used: &CForeign) -> Option<Behaviour> {
    match used.function.key.name.as_str() {
        "__VERIFIER_assume" if used.function.parameters.len() == 1 => Some(Behaviour::Assumes),
        "__VERIFIER_error" | "reach_error" => Some(Behaviour::Fails),
        _ if used.no_return => Some(Behaviour::Ends),
        _ => None,
    }
}

/// Sequences of calls while stubs are made: one for all functions of competitions, one for each other.
struct Sequences {
    roots: Vec<Node>,
    first_key: u64,
    /// How the common sequence is called, its place among the roots, and how many cells its functions have so far.
    common_name: String,
    common: Option<usize>,
    n_cells: u64,
}

impl Sequences {
    fn new(functions: &[&CForeign], first_key: u64) -> Self {
        let mut nondet = functions
            .iter()
            .map(|used| used.function.key.name.as_str())
            .filter(|name| name.starts_with(NONDET));
        let common_name = match (nondet.next(), nondet.next()) {
            (Some(only), None) => format!("{only}()"),
            (None, _) | (Some(_), Some(_)) => format!("{NONDET}*()"),
        };
        Self { roots: Vec::new(), first_key, common_name, common: None, n_cells: 0 }
    }

    /// The key of the sequence that calls of this function are in, and the number of its first cell.
    fn place(&self, function: &str) -> (Key, u64) {
        let (root, first_cell) = match self.common {
            Some(common) if function.starts_with(NONDET) => (common, self.n_cells),
            Some(_) | None => (self.roots.len(), 0),
        };
        (Key(self.first_key + root as u64), first_cell)
    }

    /// Adds what a function gives to its sequence.
    fn add(&mut self, function: &str, result: Node, n_cells: u64) -> Behaviour {
        if n_cells == 0 {
            return Behaviour::Nothing;
        }
        let (key, _) = self.place(function);
        let is_common = function.starts_with(NONDET);
        if let (Some(common), true) = (self.common, is_common) {
            self.n_cells += n_cells;
            let Kind::Sequence { results, .. } = &mut self.roots[common].kind else {
                unreachable!("the roots of stubs are sequences of calls")
            };
            results.push(Node { name: function[NONDET.len()..].to_owned(), ..result });
            return Behaviour::Gives { root: common, result: results.len() - 1 };
        }
        let root = self.roots.len();
        let (name, within) = if is_common {
            self.common = Some(root);
            self.n_cells = n_cells;
            (self.common_name.clone(), &function[NONDET.len()..])
        } else {
            (format!("{function}()"), function)
        };
        let c_type = result.c_type.clone();
        let results = vec![Node { name: within.to_owned(), ..result }];
        self.roots.push(Node { name, c_type, kind: Kind::Sequence { root: key, results } });
        Behaviour::Gives { root, result: 0 }
    }
}

/// Stubs that the compiler does not accept, each with what it says.
fn complaints(marks: &Marks, texts: &Texts) -> Result<BTreeMap<String, String>, StubError> {
    let mut complaints = BTreeMap::new();
    for (unit, parts) in texts {
        let unit = &marks.units[*unit];
        let mut text =
            declarations::of(unit).map_err(|error| StubError::Read { file: unit.text.clone(), error })?;
        let n_lines = |text: &[u8]| text.iter().filter(|byte| **byte == b'\n').count();
        text.extend_from_slice(text::prologue().as_bytes());
        let mut ends = Vec::new();
        for (_, part) in parts {
            text.extend_from_slice(part.as_bytes());
            ends.push(n_lines(&text));
        }
        for error in ParsedUnit::parse(&unit.text, &text, &unit.flags)?.errors() {
            // an error behind all of them is the last one's
            let at = ends.iter().position(|end| error.line as usize <= *end).unwrap_or(parts.len() - 1);
            complaints.entry(parts[at].0.clone()).or_insert(error.message);
        }
    }
    Ok(complaints)
}

fn finished(mut stubs: Stubs, texts: Texts, refused: BTreeMap<String, String>) -> Stubs {
    let whole = |parts: Vec<(String, String)>| {
        parts.into_iter().fold(text::prologue(), |whole, (_, part)| whole + &part)
    };
    stubs.texts = texts.into_iter().map(|(unit, parts)| (unit, whole(parts))).collect();
    let gap = |(name, message)| Gap {
        kind: GapKind::Input,
        function: None,
        span: None,
        what: format!("{name}(): no stub ({message})"),
    };
    stubs.gaps.extend(refused.into_iter().map(gap));
    stubs
}
