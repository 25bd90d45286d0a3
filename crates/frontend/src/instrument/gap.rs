//! What the instrumentation does not follow: the code runs concretely, and the report lists it.

use std::collections::BTreeMap;

use model::GapKind;

use crate::llvm::Value;

/// Something that runs concretely, by function and place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CodeGap {
    pub kind: GapKind,
    /// The function it stands in; empty for a symbol of the whole program.
    pub function: String,
    /// Line and column in the compiled text, 0 when unknown.
    pub line: u32,
    pub column: u32,
    /// What exactly: an instruction, a symbol, a type.
    pub what: String,
}

/// What is not followed in a module.
#[derive(Debug, Default)]
pub struct NotFollowed {
    /// Whatever runs do.
    pub gaps: Vec<CodeGap>,
    /// Where values of a run may be lost; runs name them by their place here, counted from 1.
    pub sites: Vec<CodeGap>,
}

/// Gaps met so far; a kind is kept once per function, with its first place.
#[derive(Debug, Default)]
pub struct Gaps {
    met: NotFollowed,
    /// By site: its number.
    numbers: BTreeMap<CodeGap, u32>,
}

impl Gaps {
    /// Notes that `instruction` of `function` is not followed.
    pub fn note(&mut self, kind: GapKind, function: &str, instruction: Value, what: impl Into<String>) {
        let what = what.into();
        if self.met.gaps.iter().any(|gap| gap.kind == kind && gap.function == function && gap.what == what) {
            return;
        }
        let (line, column) = instruction.position();
        self.met.gaps.push(CodeGap { kind, function: function.to_owned(), line, column, what });
    }

    /// The number of a site, by which runs tell that values were lost there.
    pub fn site(&mut self, kind: GapKind, function: &str, instruction: Value, what: &str) -> u32 {
        let (line, column) = instruction.position();
        let site = CodeGap { kind, function: function.to_owned(), line, column, what: what.to_owned() };
        let sites = &mut self.met.sites;
        *self.numbers.entry(site).or_insert_with_key(|site| {
            sites.push(site.clone());
            u32::try_from(sites.len()).expect("fewer than 2^32 instructions")
        })
    }

    /// Notes that a whole function is left as it is.
    pub fn note_function(&mut self, kind: GapKind, function: &str, what: impl Into<String>) {
        self.met.gaps.push(CodeGap {
            kind,
            function: function.to_owned(),
            line: 0,
            column: 0,
            what: what.into(),
        });
    }

    /// All of them in the order of the program.
    pub fn finish(self) -> NotFollowed {
        self.met
    }
}
