//! Direct calls of library functions whose result is one term over the bytes they look at: lengths, comparisons, numbers.
//!
//! The library's own function runs; the runtime makes the term afterwards from what lies in memory. Limit: which bytes
//! are looked at, so the pointers and the number of bytes, is pinned.

use model::GapKind;

use super::function::FunctionPass;
use crate::llvm::Value;

/// Functions that measure a string.
const LENGTHS: [&str; 2] = ["strlen", "strnlen"];

/// Functions that read a decimal number; whether it is of the target's `long` before it is cut to the result.
const NUMBERS: [(&str, bool); 3] = [("atoi", true), ("atol", true), ("atoll", false)];

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
    LENGTHS.contains(&name)
        || COMPARISONS.iter().any(|(known, _)| *known == name)
        || NUMBERS.iter().any(|(known, _)| *known == name)
}

impl<'m> FunctionPass<'_, 'm> {
    /// Gives the call's result its term; `false` when it is no such function, or not declared like it.
    pub fn call_with_term(&mut self, call: Value<'m>, name: &str, arguments: &[Value<'m>]) -> bool {
        if let Some((_, is_long)) = NUMBERS.iter().find(|(known, _)| *known == name) {
            return self.call_of_number(call, name, *is_long, arguments);
        }
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

    /// The same for a function that reads a number.
    fn call_of_number(
        &mut self,
        call: Value<'m>,
        name: &str,
        is_long: bool,
        arguments: &[Value<'m>],
    ) -> bool {
        let [text] = arguments else { return false };
        let wide = self.ir.int(64);
        if !text.ty().is_pointer() || (call.ty() != self.word() && call.ty() != wide) {
            return false;
        }
        let n_bits = call.ty().bits();
        let site = self.site(GapKind::PinnedValue, call, &format!("an argument of {name}"));
        self.pin(*text, site);
        let long =
            self.site(GapKind::PinnedValue, call, &format!("that numbers are short enough for {name}"));
        self.place_after(call);
        let width = if is_long { self.address_type().bits() } else { 64 };
        let returned = self.ir.as_int(call, 64);
        let passed = [self.address(*text), self.number(width), self.number(n_bits), returned, long];
        let shadow = self.node("__quarry_number", &passed);
        self.set_shadow(call, vec![shadow]);
        true
    }
}
