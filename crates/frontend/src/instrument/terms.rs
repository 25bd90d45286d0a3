//! Direct calls of library functions whose result is one term over the bytes they look at: lengths and comparisons.
//!
//! The library's own function runs; the runtime makes the term afterwards from what lies in memory. Limit: which bytes
//! are looked at, so the pointers and the number of bytes, is pinned.

use model::GapKind;

use super::function::FunctionPass;
use crate::llvm::Value;

/// Functions that measure a string.
const LENGTHS: [&str; 2] = ["strlen", "strnlen"];

/// Functions that compare, by the kinds of the runtime.
const COMPARISONS: [(&str, u32); 7] = [
    ("memcmp", 0),
    ("bcmp", 0),
    ("strcmp", STRINGS),
    ("strcoll", STRINGS),
    ("strncmp", STRINGS),
    ("strcasecmp", STRINGS | FOLDED),
    ("strncasecmp", STRINGS | FOLDED),
];

/// What is compared ends with a zero byte.
const STRINGS: u32 = 1;
/// Letters are equal in both cases.
const FOLDED: u32 = 2;

/// Whether direct calls of this function stay the library's own.
pub fn has_term(name: &str) -> bool {
    LENGTHS.contains(&name) || COMPARISONS.iter().any(|(known, _)| *known == name)
}

impl<'m> FunctionPass<'_, 'm> {
    /// Gives the call's result its term; `false` when it is no such function, or not declared like it.
    pub fn call_with_term(&mut self, call: Value<'m>, name: &str, arguments: &[Value<'m>]) -> bool {
        let comparison = COMPARISONS.iter().find(|(known, _)| *known == name);
        let n_texts = match comparison {
            Some(_) => 2,
            None if LENGTHS.contains(&name) => 1,
            None => return false,
        };
        let size = self.address_type();
        let result = if comparison.is_some() { self.word() } else { size };
        let (Some(texts), limits) = (arguments.get(..n_texts), arguments.get(n_texts..).unwrap_or_default())
        else {
            return false;
        };
        let fits = texts.iter().all(|text| text.ty().is_pointer())
            && limits.iter().all(|limit| limit.ty() == size)
            && limits.len() <= 1
            && call.ty() == result;
        if !fits {
            return false;
        }
        let site = self.site(GapKind::PinnedValue, call, &format!("an argument of {name}"));
        for argument in arguments {
            self.pin(*argument, site);
        }
        self.place_after(call);
        let mut passed: Vec<_> = texts.iter().map(|text| self.address(*text)).collect();
        passed.push(limits.first().copied().unwrap_or_else(|| size.constant(u64::MAX)));
        let shadow = match comparison {
            Some((_, kind)) => {
                passed.extend([self.number(*kind), call]);
                self.node("__quarry_compare", &passed)
            }
            None => {
                passed.push(call);
                self.node("__quarry_strlen", &passed)
            }
        };
        self.set_shadow(call, vec![shadow]);
        true
    }
}
