//! Counts as `llvm-cov export` writes them.
//!
//! Method: what is counted inside a macro has the position of its text in the macro's definition, in a file of its own that an
//! *expansion region* leads to; following these regions outwards gives where a reader sees it. Limit: operands that a macro is
//! given stand for llvm-cov where the macro names its parameter.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::vectors::MeasuredDecision;
use super::{COV, WitnessError};

/// A position in a file of [`Measured::files`]; lines and bytes count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MeasuredPosition {
    pub file: usize,
    pub line: u32,
    pub column: u32,
}

/// Code that was executed so often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    pub begin: MeasuredPosition,
    /// Line and column behind it.
    pub end: (u32, u32),
    /// For text of a macro, the outermost use.
    pub used_at: Option<MeasuredPosition>,
    pub count: u64,
}

/// A condition with its outcomes, or a label of a `switch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branch {
    pub begin: MeasuredPosition,
    pub end: (u32, u32),
    pub used_at: Option<MeasuredPosition>,
    pub when_true: u64,
    pub when_false: u64,
}

/// What was counted in a program.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Real paths, where the files are still there.
    pub files: Vec<PathBuf>,
    /// How often each function was entered, by the file it is written in and its name.
    pub functions: BTreeMap<(usize, String), u64>,
    pub regions: Vec<Region>,
    pub branches: Vec<Branch>,
    /// Decisions of several conditions, by file.
    pub decisions: BTreeMap<usize, Vec<MeasuredDecision>>,
}

impl Measured {
    /// The number of a file, by its real path.
    pub fn file(&self, path: &Path) -> Option<usize> {
        self.files.iter().position(|known| known == path)
    }

    /// The number of a file as llvm-cov names it.
    fn take_file(&mut self, name: &str) -> usize {
        let path = Path::new(name).canonicalize().unwrap_or_else(|_| PathBuf::from(name));
        self.file(&path).unwrap_or_else(|| {
            self.files.push(path);
            self.files.len() - 1
        })
    }

    fn take_function(&mut self, function: &Value) -> Option<()> {
        let names = function.get("filenames")?.as_array()?;
        let files: Vec<usize> =
            names.iter().filter_map(|name| Some(self.take_file(name.as_str()?))).collect();
        let regions: Vec<Vec<u64>> = function.get("regions")?.as_array()?.iter().map(numbers).collect();
        let uses = Uses::new(&files, &regions)?;
        let name = function.get("name")?.as_str()?;
        let name = name.rsplit(':').next().unwrap_or(name);
        let home = *files.get(index(*regions.first()?.get(5)?))?;
        *self.functions.entry((home, name.to_owned())).or_default() += function.get("count")?.as_u64()?;
        for region in &regions {
            let [.., count, file, _, kind] = region[..] else { return None };
            if kind != SKIPPED {
                let (begin, end, used_at) = uses.extent(region, index(file))?;
                self.regions.push(Region { begin, end, used_at, count });
            }
        }
        for branch in function.get("branches")?.as_array()?.iter().map(numbers) {
            let [.., when_true, when_false, file, _, _] = branch[..] else { return None };
            let (begin, end, used_at) = uses.extent(&branch, index(file))?;
            self.branches.push(Branch { begin, end, used_at, when_true, when_false });
        }
        Some(())
    }
}

/// Kinds of regions.
const EXPANSION: u64 = 1;
const SKIPPED: u64 = 2;

/// Where the macros of a function are used.
struct Uses<'a> {
    files: &'a [usize],
    /// By the number of the file that the macro's text is in: where that is used.
    within: BTreeMap<usize, (usize, u32, u32)>,
}

impl<'a> Uses<'a> {
    fn new(files: &'a [usize], regions: &[Vec<u64>]) -> Option<Self> {
        let mut within = BTreeMap::new();
        for region in regions {
            let [line, column, _, _, _, file, expanded, kind] = region[..] else { return None };
            if kind == EXPANSION {
                within.insert(index(expanded), (index(file), position(line)?, position(column)?));
            }
        }
        Some(Self { files, within })
    }

    /// Begin, end and outermost use of a region in the function's file of this number.
    fn extent(
        &self,
        region: &[u64],
        file: usize,
    ) -> Option<(MeasuredPosition, (u32, u32), Option<MeasuredPosition>)> {
        let &[line, column, last_line, last_column, ..] = region else { return None };
        let begin = MeasuredPosition {
            file: *self.files.get(file)?,
            line: position(line)?,
            column: position(column)?,
        };
        let (mut at, mut used_at) = (file, None);
        // each use is in a file that was there before
        for _ in 0..self.files.len() {
            let Some((outer, line, column)) = self.within.get(&at) else { break };
            used_at = Some(MeasuredPosition { file: *self.files.get(*outer)?, line: *line, column: *column });
            at = *outer;
        }
        Some((begin, (position(last_line)?, position(last_column)?), used_at))
    }
}

/// Files by their number, with their path as llvm-cov names it.
type Named = BTreeSet<(usize, PathBuf)>;

/// Reads what `llvm-cov export` printed: the counts, and the files that have decisions of several conditions.
pub(super) fn read(text: &str) -> Result<(Measured, Named), WitnessError> {
    let not_understood = |what: String| WitnessError::NotUnderstood { tool: COV, what };
    let export: Value = serde_json::from_str(text).map_err(|error| not_understood(error.to_string()))?;
    let data = &export["data"][0];
    let (mut measured, mut with_decisions) = (Measured::default(), Named::new());
    for function in listed(&data["functions"]) {
        measured
            .take_function(function)
            .ok_or_else(|| not_understood(format!("of the function {}", function["name"])))?;
    }
    for file in listed(&data["files"]) {
        if let (Some(name), false) = (file["filename"].as_str(), listed(&file["mcdc_records"]).is_empty()) {
            let number = measured.take_file(name);
            with_decisions.insert((number, PathBuf::from(name)));
        }
    }
    Ok((measured, with_decisions))
}

fn listed(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn numbers(value: &Value) -> Vec<u64> {
    listed(value).iter().filter_map(Value::as_u64).collect()
}

fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn position(number: u64) -> Option<u32> {
    u32::try_from(number).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `f` uses a macro on line 9 whose text, on line 2, uses another one, on line 1.
    const EXPORT: &str = r#"{"data":[{"files":[{"filename":"/nowhere/a.c","mcdc_records":[]}],"functions":[
        {"name":"a.c:f","count":3,"filenames":["/nowhere/a.c","/nowhere/a.c","/nowhere/a.c"],
         "regions":[[8,10,12,2,3,0,0,0],[9,5,9,8,3,0,1,1],[2,11,2,20,3,1,2,1],[1,11,1,30,2,2,0,0],[10,1,10,2,0,0,0,2]],
         "branches":[[1,12,1,17,2,1,2,0,4]],"mcdc_records":[]}]}]}"#;

    #[test]
    fn what_is_counted_inside_of_macros_is_known_by_the_outermost_use() {
        let (measured, with_decisions) = read(EXPORT).expect("an export");
        assert!(with_decisions.is_empty());
        let at = |line, column| MeasuredPosition { file: 0, line, column };
        assert_eq!(measured.functions, BTreeMap::from([((0, "f".to_owned()), 3)]));
        let branch = measured.branches[0];
        assert_eq!((branch.begin, branch.used_at), (at(1, 12), Some(at(9, 5))));
        assert_eq!((branch.when_true, branch.when_false), (2, 1));
        let uses: Vec<_> = measured.regions.iter().map(|region| region.used_at).collect();
        assert_eq!(uses, [None, None, Some(at(9, 5)), Some(at(9, 5))], "what is skipped does not count");
    }

    #[test]
    fn what_llvm_cov_never_said_before_is_an_error() {
        let changed = EXPORT.replace("[1,12,1,17,2,1,2,0,4]", "[1,12]");
        assert!(matches!(read(&changed), Err(WitnessError::NotUnderstood { .. })));
        assert!(read("no JSON").is_err());
    }
}
