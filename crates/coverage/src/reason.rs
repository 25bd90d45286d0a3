//! Why is a goal undecided? A closed language of causes, each with what was seen, and one sentence for it.
//!
//! [`crate::explain`] finds the reasons; everything that shows them uses the words here.

use std::fmt;

use model::walk::{Choice, Site};
use model::{BlockId, FunctionId, GapKind, Op, Program, SpanId};

use crate::Case;
use crate::observe::case_of;

/// Why a goal is undecided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    pub cause: Cause,
    /// What stands before it, when no run got there; the cause is then that of what stands there.
    pub before: Option<Barrier>,
    pub tried: Tried,
    /// Which prover gave up on it, and why.
    pub attempt: Option<String>,
}

/// What keeps a goal from being covered.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// Nothing has been tried yet.
    Open,
    /// The budget ended before everything was tried.
    Budget,
    /// Everything was tried, and nothing leads there. Not a proof.
    Saturated,
    /// No input takes this way on the paths that were tried.
    Unsatisfiable,
    /// The solver gave up.
    Unsolved,
    /// Inputs were found for it whose runs went another way.
    Diverged,
    /// The same, after the run had continued with a concrete value there.
    Pinned(Lost),
    /// What decides it depended on the input in no run.
    Concrete,
    /// No input takes this way within a limit on the size of inputs, which inputs have reached.
    Limit(String),
    /// It depends on something that the stub of this function does not give.
    Stub(FunctionId),
    /// It depends on a library function that is not followed, called at the site with this index.
    Library(u32),
    /// It depended on the input in no run, and comes from this allocation function, which did not fail.
    Allocation(FunctionId),
    /// Candidates for it were left out to save memory.
    LeftOut,
    /// What was recorded of runs could not be understood.
    Trouble,
    /// It is called through pointers alone, and none that was called led there.
    Pointer,
    /// No way leads there from where a run starts.
    NoWay,
    /// A call before it never came back, or the run ended before.
    Ended,
}

/// Where a run went on with a concrete value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lost {
    /// At the site with this index.
    Site(u32),
    /// At an access.
    Access(SpanId),
    Unknown,
}

/// What no run passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Barrier {
    /// The site never went this way.
    Direction(Site, Choice),
    /// The call that is `instrs[at]` of the block never came back, or did not call what it could.
    Call(FunctionId, BlockId, u32),
    /// Runs that came to the block ended in it.
    Inside(FunctionId, BlockId),
    /// The function was never called.
    Function(FunctionId),
}

/// What was tried, and what came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tried {
    /// Runs that came to where it is decided.
    pub reached: u64,
    /// Candidates for it by what came of them.
    pub unsatisfiable: u64,
    pub unsolved: u64,
    pub diverged: u64,
    pub troubled: u64,
    /// Candidates that were not tried, and that were not even kept.
    pub waiting: u64,
    pub left_out: u64,
}

impl Reason {
    /// A cause with nothing more to say.
    pub fn only(cause: Cause) -> Self {
        Self { cause, before: None, tried: Tried::default(), attempt: None }
    }

    /// The sentence for it.
    pub fn describe(&self, program: &Program) -> String {
        let cause = self.cause.describe(program, &self.tried);
        let of_search = match (self.before, self.tried.reached) {
            (Some(before), _) => format!("never reached: {}; {cause}", before.describe(program)),
            (None, 0) => cause,
            (None, 1) => format!("reached by 1 run; {cause}"),
            (None, n) => format!("reached by {n} runs; {cause}"),
        };
        match &self.attempt {
            Some(attempt) => format!("{of_search}; not proved: {attempt}"),
            None => of_search,
        }
    }
}

impl Cause {
    /// One word for records and for groups.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Budget => "budget",
            Self::Saturated => "saturated",
            Self::Unsatisfiable => "unsatisfiable",
            Self::Unsolved => "unsolved",
            Self::Diverged => "diverged",
            Self::Pinned(_) => "pinned",
            Self::Concrete => "concrete",
            Self::Limit(_) => "limit",
            Self::Stub(_) => "stub",
            Self::Library(_) => "library",
            Self::Allocation(_) => "allocation",
            Self::LeftOut => "left out",
            Self::Trouble => "trouble",
            Self::Pointer => "pointer",
            Self::NoWay => "no way",
            Self::Ended => "ended",
        }
    }

    /// The function, option or value that is meant, and where, as far as they are known.
    pub fn about(&self, program: &Program) -> (Option<String>, Option<SpanId>) {
        let site = |index: u32| program.sites.get(index as usize);
        match self {
            Self::Stub(function) => (Some(program.function(*function).name.clone()), None),
            Self::Allocation(function) => (Some(shown(program, *function).to_owned()), None),
            Self::Library(index) | Self::Pinned(Lost::Site(index)) => {
                (site(*index).map(|site| site.what.clone()), site(*index).and_then(|site| site.span))
            }
            Self::Pinned(Lost::Access(span)) => (None, Some(*span)),
            Self::Limit(option) => (Some(option.clone()), None),
            Self::Open
            | Self::Budget
            | Self::Saturated
            | Self::Unsatisfiable
            | Self::Unsolved
            | Self::Diverged
            | Self::Pinned(Lost::Unknown)
            | Self::Concrete
            | Self::LeftOut
            | Self::Trouble
            | Self::Pointer
            | Self::NoWay
            | Self::Ended => (None, None),
        }
    }

    fn describe(&self, program: &Program, tried: &Tried) -> String {
        let (what, span) = self.about(program);
        let at =
            span.map(|span| format!(" at {}", program.describe(program.span(span).at))).unwrap_or_default();
        let what = what.unwrap_or_default();
        match self {
            Self::Open => "not tried yet".to_owned(),
            Self::Budget if tried.waiting > 0 => {
                format!("the budget ended with {} for it not tried", counted(tried.waiting, "candidate"))
            }
            Self::Budget => "the budget ended first".to_owned(),
            Self::Saturated => "everything was tried and nothing leads there".to_owned(),
            Self::Unsatisfiable => {
                let n = tried.unsatisfiable;
                format!("no input takes this way on the paths that were tried ({n} unsatisfiable)")
            }
            Self::Unsolved => {
                let candidates = counted(tried.unsolved, "candidate");
                format!("the solver gave up on {candidates} ({} unsatisfiable)", tried.unsatisfiable)
            }
            Self::Diverged => {
                format!("{} went another way than predicted", counted(tried.diverged, "run made for it"))
            }
            Self::Pinned(Lost::Site(index)) => {
                let is_call = program.sites.get(*index as usize);
                let is_call = is_call.is_some_and(|site| site.kind == GapKind::LibraryFunction);
                let by = if is_call { format!("the call of {what}") } else { what };
                format!("the run continues with a concrete value{at}: {by}")
            }
            Self::Pinned(Lost::Access(_)) => format!("the run continues with a concrete address{at}"),
            Self::Pinned(Lost::Unknown) => "the run continues with a concrete value before it".to_owned(),
            Self::Concrete => "what decides it depended on the input in no run".to_owned(),
            Self::Limit(option) => format!(
                "no input takes this way on the paths that were tried ({} unsatisfiable), and inputs reached the limit of {option}",
                tried.unsatisfiable
            ),
            Self::Stub(_) => format!("the stub of {what} may not give what it takes"),
            Self::Library(_) => format!("it may depend on what {what} does{at}, which is not followed"),
            Self::Allocation(_) => {
                format!("it may depend on whether {what} fails, which is no input (--malloc-failure N)")
            }
            Self::LeftOut => {
                format!("{} for it left out to save memory", counted(tried.left_out, "candidate"))
            }
            Self::Trouble => {
                format!(
                    "{} could not be interpreted (logs/troubles.txt)",
                    counted(tried.troubled, "candidate")
                )
            }
            Self::Pointer => "only calls through pointers could lead there, and none did".to_owned(),
            Self::NoWay => "no call or branch that is known leads there".to_owned(),
            Self::Ended => "runs end before".to_owned(),
        }
    }
}

impl Barrier {
    /// `(n > 3) at f.c:12:7 was never true`.
    pub fn describe(self, program: &Program) -> String {
        let at = |span: Option<SpanId>| {
            span.map(|span| format!(" at {}", program.describe(program.span(span).at))).unwrap_or_default()
        };
        match self {
            Self::Direction(Site::Condition(condition), choice) => {
                let condition = program.condition(condition);
                format!("({}){} was never {choice}", condition.text, at(Some(condition.span)))
            }
            Self::Direction(site @ Site::Switch(function, block), choice) => {
                match case(program, site, choice) {
                    Some((text, span, case)) => {
                        format!("switch ({text}){} never went to {case}", at(Some(span)))
                    }
                    None => format!("a switch in {} never went there", name(program, function, block)),
                }
            }
            Self::Direction(Site::Branch(function, block), _) => {
                format!("a branch in {} never went there", name(program, function, block))
            }
            Self::Call(function, block, index) => {
                let instr = program.function(function).block(block).instrs.get(index as usize);
                let instr = instr.map(|instr| program.function(function).instr(*instr));
                let callee = instr.and_then(|instr| match &instr.op {
                    Op::Call { callee: model::Callee::Direct(callee), .. } => Some(*callee),
                    _ => None,
                });
                let place = at(instr.and_then(|instr| instr.span));
                match callee {
                    Some(callee) => format!("the call of {}{place} never came back", shown(program, callee)),
                    None => format!("the call through a pointer{place} never came there"),
                }
            }
            Self::Inside(function, block) => {
                format!("all runs that came to its place in {} ended there", name(program, function, block))
            }
            Self::Function(function) => format!("{} was never called", shown(program, function)),
        }
    }
}

/// The operand, place and label of a case, when it stands in the source.
fn case(program: &Program, site: Site, choice: Choice) -> Option<(String, SpanId, String)> {
    let Site::Switch(function, block) = site else { return None };
    let model::Terminator::Switch { cases, bits, source: Some(source), .. } =
        &program.function(function).block(block).terminator
    else {
        return None;
    };
    let value = match choice {
        Choice::Case(index) => Some(cases.get(index as usize)?.value),
        Choice::Default => None,
        Choice::Outcome(_) => return None,
    };
    let switch = program.switch(*source);
    let label = match case_of(program, *source, value, *bits)? {
        Case::Label(index) => switch.labels.get(index as usize)?.values.to_string(),
        Case::ImplicitDefault => "no case".to_owned(),
    };
    Some((switch.text.clone(), switch.span, label))
}

/// How the models of library functions are named.
pub(crate) const MODEL_PREFIX: &str = "__quarry_lib_";

/// A function as its user knows it.
fn shown(program: &Program, function: FunctionId) -> &str {
    let name = program.function(function).name.as_str();
    name.strip_prefix(MODEL_PREFIX).unwrap_or(name)
}

fn name(program: &Program, function: FunctionId, block: BlockId) -> String {
    let code = program.function(function);
    let span = code.block(block).instrs.iter().find_map(|instr| code.instr(*instr).span);
    let place = span.map(|span| format!(" ({})", program.describe(program.span(span).at)));
    format!("{}{}", shown(program, function), place.unwrap_or_default())
}

fn counted(n: u64, word: &str) -> String {
    let (first, rest) = word.split_once(' ').unwrap_or((word, ""));
    let rest = if rest.is_empty() { String::new() } else { format!(" {rest}") };
    if n == 1 { format!("1 {first}{rest}") } else { format!("{n} {first}s{rest}") }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
