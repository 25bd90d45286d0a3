//! Writes the text with all mutants. No token moves to another line.

use crate::preprocess::Text;

use super::sites::{Found, Site, Template};
use super::{Mutant, Mutation};

/// What line 1 of every text declares. The greatest number asks what is reached.
const DECLARATION: &str = "extern unsigned __quarry_mutant; extern void __quarry_reach(unsigned); \
    static __inline__ __attribute__((__always_inline__, __unused__)) int __quarry_m(unsigned q) { \
    unsigned m = __quarry_mutant; if (__builtin_expect(m == q, 0)) return 1; \
    if (__builtin_expect(m == 0xffffffffu, 0)) __quarry_reach(q); return 0; }";

/// The function that a schema asks, by name.
pub const ASKS: &str = "__quarry_m";
/// The variable that has the number of the mutant, by name.
pub const CELL: &str = "__quarry_mutant";

/// Flags for compiling a text with mutants, besides those of the unit.
pub fn text_flags() -> &'static [&'static str] {
    // an unreachable alternative must not be taken for what happens
    &["-x", "cpp-output", "-fwrapv", "-fno-strict-aliasing"]
}

/// What is added to a line.
#[derive(Clone, Default)]
struct Edit {
    /// In front of the token, the outermost first.
    before: Vec<String>,
    instead: Option<String>,
    /// Behind the token, the outermost first: they are written in reverse.
    after: Vec<String>,
}

/// The text, and its mutants with their numbers.
pub fn write(text: &Text, found: &Found, first: u32) -> (Vec<u8>, Vec<Mutant>) {
    let mut edits = vec![Edit::default(); text.n_lines() as usize + 2];
    let mut mutants = Vec::new();
    for (site, index) in found.sites.iter().zip(0..) {
        let first_of_site = first + mutants.len() as u32;
        place(&mut edits, text, site, index, first_of_site);
        for (change, number) in site.changes.iter().zip(first_of_site..) {
            mutants.push(Mutant {
                number,
                function: site.function.clone(),
                mutation: change.mutation,
                at: site.at,
                before: site.before.clone(),
                after: change.after.clone(),
            });
        }
    }
    for line in &found.registers {
        edits[*line as usize].instead = Some(String::new());
    }
    let mut bytes = DECLARATION.as_bytes().to_vec();
    bytes.push(b'\n');
    for line in 2..=text.n_lines() {
        let edit = &edits[line as usize];
        edit.before.iter().for_each(|part| bytes.extend_from_slice(part.as_bytes()));
        match &edit.instead {
            Some(instead) => bytes.extend_from_slice(instead.as_bytes()),
            None => bytes.extend_from_slice(text.line(line)),
        }
        edit.after.iter().rev().for_each(|part| bytes.extend_from_slice(part.as_bytes()));
        bytes.push(b'\n');
    }
    (bytes, mutants)
}

/// `__quarry_m(7) ? A : __quarry_m(8) ? B : …`, up to what stands there.
fn choices(site: &Site, first: u32, of: impl Fn(&str) -> String) -> String {
    let choice =
        |(change, number): (&super::sites::Change, u32)| format!("{ASKS}({number}u)?({}):", of(&change.code));
    site.changes.iter().zip(first..).map(choice).collect()
}

/// Rewrites a site. Operands are evaluated once, in the order of the source.
fn place(edits: &mut [Edit], text: &Text, site: &Site, index: usize, first: u32) {
    let (begin, end) = (site.lines.0 as usize, site.lines.1 as usize);
    let (left, right) = (format!("__ql{index}"), format!("__qr{index}"));
    let token = |line: u32| String::from_utf8_lossy(text.line(line)).into_owned();
    match site.template {
        Template::Binary { operator, promoted } => {
            let plus = |is_number| if is_number { "+" } else { "" };
            edits[begin].before.push(format!("({{__auto_type {left}={}(", plus(promoted.0)));
            edits[operator as usize].instead = Some(format!(");__auto_type {right}={}(", plus(promoted.1)));
            let alternatives = choices(site, first, |code| match code {
                "0" | "1" => code.to_owned(),
                operator => format!("{left} {operator} {right}"),
            });
            edits[end].after.push(format!(");{alternatives}({left} {} {right});}})", token(operator)));
        }
        Template::Logical { operator } => {
            edits[begin].before.push(format!("({{int {left}=!!("));
            let goes_on = if text.line(operator) == b"&&" { "!=" } else { "==" };
            edits[operator as usize].instead = Some(format!(");{left}{goes_on}{ASKS}({first}u)?!!("));
            edits[end].after.push(format!("):{left};}})"));
        }
        Template::Truth => {
            edits[begin].before.push(format!("({{int {left}=!!("));
            let alternatives = choices(site, first, str::to_owned);
            edits[end].after.push(format!(");{alternatives}{left};}})"));
        }
        Template::Prefix => {
            let operator = token(site.lines.0);
            edits[begin].instead = Some(format!("({{__auto_type {left}=+("));
            edits[end].after.push(format!(");{ASKS}({first}u)?{left}:{operator}{left};}})"));
        }
        Template::StepBefore { other } => {
            let operator = token(site.lines.0);
            edits[begin].instead = Some(format!("({{__auto_type {left}=&("));
            edits[end].after.push(format!(");{ASKS}({first}u)?{other}*{left}:{operator}*{left};}})"));
        }
        Template::StepAfter { other } => {
            let operator = token(site.lines.1);
            edits[begin].before.push(format!("({{__auto_type {left}=&("));
            edits[end].instead = Some(format!(");{ASKS}({first}u)?(*{left}){other}:(*{left}){operator};}})"));
        }
        Template::Update { operator, promoted } => {
            let plus = if promoted { "+" } else { "" };
            edits[begin].before.push(format!("({{__auto_type {left}=&("));
            edits[operator as usize].instead = Some(format!(");__auto_type {right}={plus}("));
            let alternatives = choices(site, first, |code| format!("*{left} {code} {right}"));
            edits[end].after.push(format!(");{alternatives}(*{left} {} {right});}})", token(operator)));
        }
        Template::Literal => {
            let own = token(site.lines.0);
            let alternatives = choices(site, first, |code| format!("({own}){code}"));
            edits[begin].instead = Some(format!("({alternatives}({own}))"));
        }
        Template::Effect => {
            edits[begin].before.push(format!("({ASKS}({first}u)?(void)0:(void)("));
            edits[end].after.push("))".to_owned());
        }
        Template::Statement => {
            edits[begin].before.push(format!("{{if(!{ASKS}({first}u)) "));
            edits[end].after.push("}".to_owned());
        }
    }
}

/// What a change is to somebody who reads it.
pub fn described(mutation: Mutation, before: &str, code: &str) -> String {
    match mutation {
        Mutation::Statement => "nothing".to_owned(),
        Mutation::Constant => {
            let plain = format!("{before}{code}");
            let suffix = before.trim_start_matches(|c: char| c.is_ascii_digit());
            let digits = &before[..before.len() - suffix.len()];
            let step: i128 = if code.contains('-') { -1 } else { 1 };
            let is_plain = !digits.is_empty() && (digits == "0" || !digits.starts_with('0'));
            match digits.parse::<i128>() {
                Ok(number) if is_plain && suffix.chars().all(|c| "uUlL".contains(c)) => {
                    format!("{}{suffix}", number + step)
                }
                Ok(_) | Err(_) => plain,
            }
        }
        Mutation::Operator | Mutation::Condition | Mutation::Boundary => code.to_owned(),
    }
}
