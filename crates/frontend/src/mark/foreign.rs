//! Which functions does a unit use that it does not define?
//!
//! Method: lines that may name one are found by their tokens; only what covers such a line is looked at in libclang's
//! tree. Attributes are read off the declaration's tokens, because libclang does not expose them. Left out: compiler
//! builtins, weak functions (a program asks whether they are there) and functions that the linker knows by another name.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use model::ctype::{CForeign, CFunction, FunctionKey};

use crate::clang::{Cursor, Node};
use crate::preprocess::Text;

use super::types::TypeTable;

/// The functions used, in the order of their names.
pub fn foreign(text: &Text, root: Cursor<'_>, types: &mut TypeTable<'_>) -> Vec<CForeign> {
    let mut declared: BTreeMap<String, Cursor<'_>> = BTreeMap::new();
    let mut defined = BTreeSet::new();
    let declarations = root.children();
    for declaration in declarations.iter().filter(|cursor| cursor.node() == Node::Function) {
        if declaration.is_definition() {
            defined.insert(declaration.name());
        }
        // The last one: a prototype that comes late counts for all.
        declared.insert(declaration.name(), *declaration);
    }
    let candidates = candidates(text, &declared, &defined);
    let mut used: BTreeMap<String, Cursor<'_>> = BTreeMap::new();
    let mut open: Vec<Cursor<'_>> = declarations
        .into_iter()
        .filter(|cursor| matches!(cursor.node(), Node::Function | Node::Variable))
        .filter(|cursor| cursor.is_definition() || cursor.initialiser().is_some())
        .collect();
    while let Some(cursor) = open.pop() {
        if cursor.node() == Node::Reference && candidates.contains(&cursor.name_line()) {
            let function = cursor.referenced();
            let name = function.name();
            if function.node() == Node::Function && !defined.contains(&name) && !is_builtin(&name) {
                let declaration = declared.get(&name).copied().unwrap_or(function);
                used.insert(name, declaration);
            }
        }
        let (first, last) = cursor.lines();
        if candidates.range(first..=last.max(first)).next().is_some() {
            open.extend(cursor.children());
        }
    }
    used.into_iter().filter_map(|(name, cursor)| describe(text, name, cursor, types)).collect()
}

/// Lines that may name a function of another unit: one that is declared only, or something called without declaration.
fn candidates(
    text: &Text,
    declared: &BTreeMap<String, Cursor<'_>>,
    defined: &BTreeSet<String>,
) -> BTreeSet<u32> {
    let known: HashSet<&[u8]> = declared.keys().map(String::as_bytes).collect();
    let own: HashSet<&[u8]> = defined.iter().map(String::as_bytes).collect();
    let is_name =
        |token: &[u8]| token.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    let may_name = |line: &u32| {
        let token = text.line(*line);
        let is_declared = known.contains(token) && !own.contains(token);
        is_declared || (is_name(token) && !own.contains(token) && text.line(line + 1) == b"(")
    };
    (1..=text.n_lines()).filter(may_name).collect()
}

fn is_builtin(name: &str) -> bool {
    let prefixes = ["__builtin_", "__sync_", "__atomic_", "__c11_atomic_", "__quarry_"];
    prefixes.iter().any(|prefix| name.starts_with(prefix)) || matches!(name, "alloca" | "__q")
}

fn describe(text: &Text, name: String, cursor: Cursor<'_>, types: &mut TypeTable<'_>) -> Option<CForeign> {
    let words = declaration_words(text, cursor.name_line());
    let says = |spellings: &[&str]| spellings.iter().any(|word| words.contains(word.as_bytes()));
    if says(&["weak", "__weak__", "asm", "__asm", "__asm__", "alias", "__alias__"]) {
        return None;
    }
    let result = types.id(cursor.result_type(), "int");
    let parameters = cursor.arguments().into_iter().map(|cursor| types.parameter(cursor)).collect();
    let function = CFunction {
        canonical: cursor.ty().canonical().spelling(),
        key: FunctionKey { unit: 0, name },
        span: text.span(cursor.name_line())?,
        system: text.in_system_header(cursor.name_line()),
        is_static: cursor.is_static(),
        variadic: cursor.is_variadic() && !cursor.arguments().is_empty(),
        parameters,
        result,
    };
    let no_return = says(&["noreturn", "__noreturn__", "_Noreturn"]);
    Some(CForeign { function, no_return })
}

/// The tokens of the declaration around a name.
fn declaration_words(text: &Text, name_line: u32) -> BTreeSet<&[u8]> {
    let ends = |token: &[u8]| matches!(token, b";" | b"}" | b"{");
    let before = (1..name_line).rev().map(|line| text.line(line)).take_while(|token| !ends(token));
    let behind = (name_line..=text.n_lines()).map(|line| text.line(line)).take_while(|token| !ends(token));
    before.chain(behind).collect()
}
