//! What AddressSanitizer and UndefinedBehaviorSanitizer report of a run.
//!
//! Method: UndefinedBehaviorSanitizer says where by itself and the run goes on; AddressSanitizer gives a stack of addresses,
//! which llvm-symbolizer looks up in the program outside of its confinement, and ends the run. What is reported has no
//! addresses in it, so it is the same in every run. A harness runs on many inputs, each in a process of its own
//! ([`ReportReader::outcomes`]), which costs a fork instead of a start of the program. Limit: the place of an AddressSanitizer report is the innermost call
//! that has one in the source, which for library functions is their caller.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::{SYMBOLIZER, WatchedBuild, WitnessError, run};

/// AddressSanitizer and UndefinedBehaviorSanitizer.
pub const SANITIZERS: WatchedBuild = WatchedBuild {
    flags: &["-g", "-fno-omit-frame-pointer", "-fsanitize=address,undefined"],
    source: include_str!("note_reports.c"),
};

/// Who reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tool {
    Address,
    Undefined,
}

/// Something that a sanitizer noticed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SanitizerReport {
    pub tool: Tool,
    /// The sanitizer's name for it: `heap-buffer-overflow`, `signed-integer-overflow`.
    pub kind: String,
    pub message: String,
    /// File as the compiler names it, line and column.
    pub place: Option<(PathBuf, u32, u32)>,
    /// The calls that led there, innermost first, as far as they have a place in a source file.
    pub stack: Vec<StackFrame>,
    /// The calls that allocated the object in question, if it is on the heap; the function whose local it is, if it is on the
    /// stack.
    pub allocated: Vec<StackFrame>,
}

/// A call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StackFrame {
    pub function: String,
    pub file: PathBuf,
    pub line: u32,
    pub column: u32,
}

/// What came of one of several tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SanitizerOutcome {
    pub reports: Vec<SanitizerReport>,
    /// As `wait` gives it; `None` when it did not come to an end.
    pub status: Option<i32>,
    /// The call came back.
    pub returned: bool,
    /// An assumption about inputs does not hold.
    pub rejected: bool,
}

/// Who noted something.
const ADDRESS: &str = "address";
const UNDEFINED: &str = "undefined";
const UNIT: char = '\x1f';
const RECORD: char = '\x1e';

/// Reads what runs of one program noted. Many reports are about the same places, and looking them up costs more than a run: addresses
/// are looked up once, those of a record together.
#[derive(Debug)]
pub struct ReportReader {
    program: PathBuf,
    known: BTreeMap<u64, Vec<StackFrame>>,
}

impl ReportReader {
    pub fn new(program: PathBuf) -> Self {
        Self { program, known: BTreeMap::new() }
    }

    /// The reports that a run noted, in order.
    pub fn reports(&mut self, record: &[u8]) -> Result<Vec<SanitizerReport>, WitnessError> {
        let text = String::from_utf8_lossy(record);
        self.look_up(&text)?;
        Ok(entries(&text).filter_map(|(tool, fields)| self.report(tool, fields)).collect())
    }

    /// What came of each of several tests that the program ran, by number; those that were not begun are missing.
    pub fn outcomes(&mut self, record: &[u8]) -> Result<BTreeMap<usize, SanitizerOutcome>, WitnessError> {
        let text = String::from_utf8_lossy(record);
        self.look_up(&text)?;
        let mut outcomes: BTreeMap<usize, SanitizerOutcome> = BTreeMap::new();
        let mut current = None;
        for (tool, fields) in entries(&text) {
            match (tool, current) {
                ("test", _) => {
                    current = fields.parse().ok();
                    // one that begins again runs in a process of its own now: that counts
                    current.map(|number: usize| outcomes.insert(number, SanitizerOutcome::default()));
                }
                ("returned", Some(number)) => outcomes.entry(number).or_default().returned = true,
                ("rejected", Some(number)) => outcomes.entry(number).or_default().rejected = true,
                ("ended", Some(number)) => outcomes.entry(number).or_default().status = fields.parse().ok(),
                (_, Some(number)) => {
                    let report = self.report(tool, fields);
                    outcomes.entry(number).or_default().reports.extend(report);
                }
                (_, None) => {}
            }
        }
        Ok(outcomes)
    }

    /// Looks up the addresses of a record that are not known.
    fn look_up(&mut self, text: &str) -> Result<(), WitnessError> {
        let reports =
            entries(text).filter(|(tool, _)| *tool == ADDRESS).filter_map(|(_, said)| own_report(said));
        let addresses = reports.flat_map(|report| {
            let allocated = allocation(report).map_or_else(Vec::new, |rest| first_stack(&self.program, rest));
            first_stack(&self.program, report).into_iter().chain(allocated)
        });
        let unknown: BTreeSet<u64> = addresses.filter(|address| !self.known.contains_key(address)).collect();
        if unknown.is_empty() {
            return Ok(());
        }
        self.known.extend(stack_frames(&self.program, &unknown)?);
        Ok(())
    }

    fn report(&self, tool: &str, fields: &str) -> Option<SanitizerReport> {
        match tool {
            ADDRESS => self.address(fields),
            UNDEFINED => undefined(fields),
            // a run that was ended while it noted something
            _ => None,
        }
    }

    fn address(&self, said: &str) -> Option<SanitizerReport> {
        let report = own_report(said)?;
        let summary = report
            .split("SUMMARY: AddressSanitizer: ")
            .nth(1)
            .and_then(|rest| rest.split([' ', '\n']).next());
        let kind = summary.filter(|kind| !kind.is_empty()).or(report.split([' ', '\n', ':']).next());
        let kind = kind.unwrap_or_default().to_owned();
        let stack = self.symbolised(report);
        let allocated = allocation(report).map_or_else(Vec::new, |rest| self.symbolised(rest));
        let place = stack.first().map(|frame| (frame.file.clone(), frame.line, frame.column));
        let message = address_message(report, &kind);
        Some(SanitizerReport { tool: Tool::Address, kind, message, place, stack, allocated })
    }

    /// The calls of the first stack that have a place in a source file, with what was inlined there.
    fn symbolised(&self, report: &str) -> Vec<StackFrame> {
        let frames = |address: &u64| self.known.get(address).cloned().unwrap_or_default();
        first_stack(&self.program, report).iter().flat_map(frames).collect()
    }
}

/// The calls that lead to addresses in a program, the innermost first, where they have a place in a source file.
pub fn stack_frames(
    program: &Path,
    addresses: &BTreeSet<u64>,
) -> Result<BTreeMap<u64, Vec<StackFrame>>, WitnessError> {
    if addresses.is_empty() {
        return Ok(BTreeMap::new());
    }
    let told: String = addresses.iter().map(|address| format!("0x{address:x}\n")).collect();
    let mut command = Command::new(SYMBOLIZER);
    command.args(["--output-style=JSON", "--obj"]).arg(program);
    let said = run(SYMBOLIZER, &mut command, &told)?;
    let answers = said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let frames = |answer: Value| {
        let symbols = answer["Symbol"].as_array().map_or([].as_slice(), Vec::as_slice);
        symbols.iter().filter_map(stack_frame).collect()
    };
    Ok(addresses.iter().copied().zip(answers.map(frames)).collect())
}

/// A symbol of llvm-symbolizer's answer, if it has a place in a source file.
fn stack_frame(symbol: &Value) -> Option<StackFrame> {
    let number = |name: &str| symbol[name].as_u64().and_then(|number| u32::try_from(number).ok());
    let file = symbol["FileName"].as_str().filter(|file| !file.is_empty())?;
    Some(StackFrame {
        function: symbol["FunctionName"].as_str().unwrap_or_default().to_owned(),
        file: PathBuf::from(file),
        line: number("Line").filter(|line| *line > 0)?,
        column: number("Column")?,
    })
}

/// AddressSanitizer's report; the text also has what was reported before.
fn own_report(said: &str) -> Option<&str> {
    said.split_once("ERROR: AddressSanitizer: ").map(|(_, report)| report)
}

/// The part of a report that says where the object in question comes from.
fn allocation(report: &str) -> Option<&str> {
    let place = report.split_once("allocated by thread").or(report.split_once(" in frame"));
    place.map(|(_, rest)| rest)
}

/// What was noted: by whom, and the fields.
fn entries(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split_terminator(RECORD).filter_map(|entry| entry.split_once(UNIT))
}

fn undefined(fields: &str) -> Option<SanitizerReport> {
    let mut fields = fields.splitn(5, UNIT);
    let (kind, file) = (fields.next()?.to_owned(), fields.next()?);
    let (line, column) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    // addresses differ from run to run
    let is_address = |word: &&str| word.starts_with("0x");
    let words = fields.next()?.split(' ').map(|word| if is_address(&word) { "…" } else { word });
    let message = in_lower_case(&words.collect::<Vec<_>>().join(" "));
    let place = (!file.is_empty() && line > 0).then(|| (PathBuf::from(file), line, column));
    let (stack, allocated) = (Vec::new(), Vec::new());
    Some(SanitizerReport { tool: Tool::Undefined, kind, message, place, stack, allocated })
}

/// What kind of access it was and what it went beyond; else what the report begins with.
fn address_message(report: &str, kind: &str) -> String {
    let lines = || report.lines().map(str::trim);
    let access = lines().find_map(|line| {
        let (access, rest) = line.split_once(" of size ")?;
        let size = rest.split(' ').next()?;
        matches!(access, "READ" | "WRITE").then(|| format!("{} of {size} bytes", access.to_lowercase()))
    });
    // `[32, 44) 'b' (line 4) <== Memory access at offset 44 overflows this variable`
    let variable = lines().find_map(|line| {
        let (object, beyond) = line.split_once(" <== Memory access at offset ")?;
        let verb = beyond.split(' ').nth(1)?;
        let name = object.split_once(") ")?.1;
        // the line is one of the text that was compiled, which may not be the source
        Some(format!("{verb} {}", name.split_once(" (line ").map_or(name, |(name, _)| name)))
    });
    // `0x… is located 4 bytes after global variable 'g' defined in 'a.c:3' (0x…) of size 12`
    let object = lines().find_map(|line| {
        let (_, located) = line.split_once(" is located ")?;
        let (object, rest) = located.split_once(" defined in '").unwrap_or((located, ""));
        let size = rest.rsplit_once(") ").map(|(_, size)| format!(" {size}")).unwrap_or_default();
        (!object.starts_with("in stack of")).then(|| format!("{object}{size}"))
    });
    // `==7==The signal is caused by a READ memory access.`
    let signal = lines().find_map(|line| {
        let (_, access) = line.split_once("The signal is caused by a ")?;
        Some(format!("{} access", access.split(' ').next()?.to_lowercase()))
    });
    let hint =
        report.contains("address points to the zero page").then(|| "through a null pointer".to_owned());
    let told: Vec<String> = access.or(signal).into_iter().chain(variable.or(object).or(hint)).collect();
    if told.is_empty() {
        let first = lines().next().unwrap_or_default();
        let first = first.split(" (pc ").next().unwrap_or(first);
        let rest = first.strip_prefix(kind).unwrap_or(first).trim_matches([':', ' ']);
        return without_addresses(rest).trim_end_matches(" in thread T0").to_owned();
    }
    without_addresses(&told.join(", "))
}

/// Addresses within the program of the first stack in a report, innermost first.
fn first_stack(program: &Path, report: &str) -> Vec<u64> {
    let frames = report.lines().map(str::trim).skip_while(|line| !line.starts_with("#0 "));
    let frames = frames.take_while(|line| line.starts_with('#'));
    let own = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let offset = |line: &str| {
        let (module, rest) = line.split_once('(')?.1.split_once("+0x")?;
        // confined, a program may see itself under another path
        let is_own = module.ends_with(&own) || module.starts_with("/proc/");
        let digits = rest.split(')').next()?;
        u64::from_str_radix(digits, 16).ok().filter(|_| is_own)
    };
    frames.filter_map(offset).collect()
}

/// The text without addresses, which are others in every run, and without words that only introduce them.
fn without_addresses(text: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    for word in text.split(' ') {
        if word.trim_start_matches(['[', '(']).starts_with("0x") {
            while words.last().is_some_and(|last| matches!(*last, "address" | "on" | "at" | "unknown")) {
                words.pop();
            }
        } else {
            words.push(word);
        }
    }
    words.join(" ")
}

fn in_lower_case(message: &str) -> String {
    let mut characters = message.chars();
    match characters.next() {
        Some(first) => first.to_lowercase().chain(characters).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader() -> ReportReader {
        ReportReader::new(PathBuf::from("program"))
    }

    #[track_caller]
    fn check(report: &str, kind: &str, expected: &str) {
        assert_eq!(address_message(report, kind), expected);
    }

    #[test]
    fn messages_say_what_was_touched_and_no_address() {
        check(
            "heap-buffer-overflow on address 0x50200000001c at pc 0x5582 bp 0x7ffd sp 0x7ffd\n\
             READ of size 4 at 0x50200000001c thread T0\n    #0 0x5582  (/tmp/u+0x10bb24)\n\n\
             0x50200000001c is located 0 bytes after 12-byte region [0x502000000010,0x50200000001c)\n",
            "heap-buffer-overflow",
            "read of 4 bytes, 0 bytes after 12-byte region",
        );
        check(
            "stack-buffer-overflow on address 0x7f91 at pc 0x56\nWRITE of size 7 at 0x7f91 thread T0\n\
             Address 0x7f91 is located in stack of thread T0 at offset 36 in frame\n\
             \x20   [32, 36) 'b' (line 4) <== Memory access at offset 36 overflows this variable\n",
            "stack-buffer-overflow",
            "write of 7 bytes, overflows 'b'",
        );
        check(
            "global-buffer-overflow on address 0x5\nREAD of size 4 at 0x5 thread T0\n\
             0x5 is located 0 bytes after global variable 'table' defined in '/x/a.c' (0x5) of size 16\n",
            "global-buffer-overflow",
            "read of 4 bytes, 0 bytes after global variable 'table' of size 16",
        );
        check(
            "SEGV on unknown address 0x000000000000 (pc 0x55 bp 0x7f sp 0x7f T0)\n\
             ==7==The signal is caused by a READ memory access.\n==7==Hint: address points to the zero page.\n",
            "SEGV",
            "read access, through a null pointer",
        );
        check("attempting double-free on 0x5020 in thread T0:\n", "double-free", "attempting double-free");
    }

    #[test]
    fn undefined_behaviour_says_where_by_itself() {
        let record =
            b"undefined\x1fsigned-integer-overflow\x1fa.c\x1f4\x1f68\x1fSigned integer overflow: 3 + 4\x1e";
        let reports = reader().reports(record).expect("no tool is asked");
        let place = Some((PathBuf::from("a.c"), 4, 68));
        let (kind, message) =
            ("signed-integer-overflow".to_owned(), "signed integer overflow: 3 + 4".to_owned());
        let (stack, allocated) = (Vec::new(), Vec::new());
        assert_eq!(
            reports,
            [SanitizerReport { tool: Tool::Undefined, kind, message, place, stack, allocated }]
        );
    }

    #[test]
    fn what_is_noted_belongs_to_the_test_that_was_begun_last() {
        let record =
            b"test\x1f1\x1eended\x1f0\x1etest\x1f2\x1eundefined\x1fshift-exponent\x1fa.c\x1f4\x1f6\x1fTo\x1e\
            ended\x1f256\x1etest\x1f3\x1e";
        let outcomes = reader().outcomes(record).expect("no tool is asked");
        let told: Vec<_> =
            outcomes.iter().map(|(number, one)| (*number, one.reports.len(), one.status)).collect();
        assert_eq!(told, [(1, 0, Some(0)), (2, 1, Some(256)), (3, 0, None)]);
    }

    #[test]
    fn what_was_cut_off_says_nothing() {
        let reports = reader().reports(b"undefined\x1fsigned-inte");
        assert_eq!(reports.expect("no tool is asked"), []);
    }
}
