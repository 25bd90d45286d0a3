//! The options that `getopt` and `getopt_long` are told of.
//!
//! Limit: a table of long options must be constant data, or data with initial values.

use model::{Operand, Program, RelocationTarget};

use super::{CommandOption, Hint, OptionName, OptionValue, text_of};

/// Those of an option string: `ab:c::`.
pub(super) fn short(text: &[u8]) -> Vec<Hint> {
    let mut rest = text;
    while let [b'+' | b'-' | b':', behind @ ..] = rest {
        rest = behind;
    }
    let mut found = Vec::new();
    while let [letter, behind @ ..] = rest {
        let (value, behind) = match behind {
            [b':', b':', behind @ ..] => (OptionValue::Optional, behind),
            [b':', behind @ ..] => (OptionValue::Required, behind),
            behind => (OptionValue::None, behind),
        };
        found.push(Hint::Option(CommandOption { name: OptionName::Short(*letter), value }));
        rest = behind;
    }
    found
}

/// Those of a table of `struct option`: a name, whether there is a value, and two more members.
pub(super) fn long(program: &Program, table: Operand) -> Vec<Hint> {
    let Operand::Global { global, offset: 0 } = table else { return Vec::new() };
    let global = program.global(global);
    let pointer = u64::from(program.pointer_bits / 8);
    let entry = if program.pointer_bits == 64 { 32 } else { 16 };
    let names = global.relocations.iter().filter(|relocation| relocation.offset % entry == 0);
    let option = |relocation: &model::Relocation| {
        let RelocationTarget::Global(target) = relocation.target else { return None };
        let name = text_of(program, target, relocation.addend)?;
        let at = usize::try_from(relocation.offset + pointer).ok()?;
        let value = match global.bytes.get(at).copied().unwrap_or(0) {
            0 => OptionValue::None,
            1 => OptionValue::Required,
            _ => OptionValue::Optional,
        };
        Some(Hint::Option(CommandOption { name: OptionName::Long(name), value }))
    };
    names.filter_map(option).collect()
}
