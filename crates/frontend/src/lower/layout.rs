//! What is a variable made of? Its members and elements, by the debug information of its type.
//!
//! Method: structures are taken apart at every level, arrays keep the layout of one element. Bit-fields next to each other
//! become one member. Limits: a union is one piece; an array without a length (flexible, of variable length) too.

use model::{Layout, Member};

use crate::llvm::{DebugMember, DebugNode, DebugType, Ir};

/// The layout of a variable.
pub(crate) fn layout_of<'m>(ir: Ir<'m>, variable: DebugNode<'m>) -> Layout {
    ir.variable_type(variable).map_or(Layout::Whole, |ty| layout(&ty))
}

fn layout(ty: &DebugType) -> Layout {
    match ty {
        DebugType::Structure(members) => structure(members),
        DebugType::Array { size, lengths, element } => array(*size, lengths, element),
        DebugType::Union(_) | DebugType::Other => Layout::Whole,
    }
}

fn structure(members: &[DebugMember]) -> Layout {
    let mut found: Vec<(Member, bool)> = Vec::new();
    for member in members {
        let (offset, end) = (member.first_bit / 8, (member.first_bit + member.bits).div_ceil(8));
        match found.last_mut() {
            Some((before, true)) if member.is_bit_field => {
                before.name = format!("{}|{}", before.name, member.name);
                before.size = end.max(before.offset + before.size) - before.offset;
            }
            Some(_) | None => {
                let (size, layout) = (end - offset, layout(&member.ty));
                found.push((Member { name: name(member), offset, size, layout }, member.is_bit_field));
            }
        }
    }
    // a flexible array at the end has no bytes
    let members: Vec<Member> = found.into_iter().map(|(member, _)| member).filter(|of| of.size > 0).collect();
    let are_apart = members.windows(2).all(|two| two[0].offset + two[0].size <= two[1].offset);
    if members.is_empty() || !are_apart { Layout::Whole } else { Layout::Structure(members) }
}

/// The name of a member; of a union without one, those of its members.
fn name(member: &DebugMember) -> String {
    match &member.ty {
        DebugType::Union(inner) if member.name.is_empty() => {
            inner.iter().map(name).collect::<Vec<_>>().join("|")
        }
        DebugType::Structure(_) | DebugType::Union(_) | DebugType::Array { .. } | DebugType::Other => {
            member.name.clone()
        }
    }
}

/// Arrays of several dimensions are arrays of arrays.
fn array(size: u64, lengths: &[u64], element: &DebugType) -> Layout {
    let [length, rest @ ..] = lengths else { return layout(element) };
    let is_known = size > 0 && *length > 0 && size.is_multiple_of(*length);
    if !is_known {
        return Layout::Whole;
    }
    let stride = size / length;
    Layout::Array { length: *length, stride, element: Box::new(array(stride, rest, element)) }
}
