//! Debug information: nodes read by operand where the C API has no accessor.

use std::ffi::c_uint;
use std::marker::PhantomData;

use inkwell::llvm_sys::{core::*, debuginfo::*, prelude::*};

use super::{DebugNode, Ir, Value, text};

// SAFETY of all calls below: the handles are valid as long as their module is borrowed, and each call is made only on the kind
// of node it is defined for; the C interface returns null where it has no answer, which becomes `None`.

/// Line and scope of an instruction.
#[derive(Clone, Copy)]
pub struct Location<'m> {
    pub line: u32,
    pub scope: DebugNode<'m>,
}

/// The structure of a type by debug information, as far as parts of a variable need it.
pub enum DebugType {
    Structure(Vec<DebugMember>),
    Union(Vec<DebugMember>),
    /// Bytes of all of it, and the lengths of its dimensions.
    Array {
        size: u64,
        lengths: Vec<u64>,
        element: Box<DebugType>,
    },
    Other,
}

/// A member of a structure or union.
pub struct DebugMember {
    pub name: String,
    pub first_bit: u64,
    pub bits: u64,
    pub is_bit_field: bool,
    pub ty: DebugType,
}

/// While it lives, debug records are calls of `llvm.dbg.*`, the only form the C API can read.
pub struct OldDebugFormat<'m> {
    module: LLVMModuleRef,
    was_new: LLVMBool,
    borrowed: PhantomData<&'m ()>,
}

impl<'m> OldDebugFormat<'m> {
    pub fn of(module: &'m inkwell::module::Module<'_>) -> Self {
        let module = module.as_mut_ptr();
        // SAFETY: the module is alive; the change only rewrites how debug records are stored.
        unsafe {
            let was_new = LLVMIsNewDbgInfoFormat(module);
            LLVMSetIsNewDbgInfoFormat(module, 0);
            Self { module, was_new, borrowed: PhantomData }
        }
    }
}

impl Drop for OldDebugFormat<'_> {
    fn drop(&mut self) {
        // SAFETY: the module is borrowed.
        unsafe { LLVMSetIsNewDbgInfoFormat(self.module, self.was_new) }
    }
}

/// Tags of DWARF.
const ARRAY: u16 = 0x01;
const MEMBER: u16 = 0x0d;
const STRUCTURE: u16 = 0x13;
const UNION: u16 = 0x17;
/// typedef, const, volatile, restrict, atomic.
const QUALIFIERS: [u16; 5] = [0x16, 0x26, 0x35, 0x37, 0x47];

impl<'m> Ir<'m> {
    /// The text operand with this number of a debug node.
    fn text_operand(self, node: DebugNode<'m>, number: usize) -> Option<String> {
        let operand = *self.operands(node).get(number)?;
        let mut length: c_uint = 0;
        let data = unsafe { LLVMGetMDString(operand?.0, &mut length) };
        (!data.is_null()).then(|| unsafe { text(data, length as usize) })
    }

    fn operands(self, node: DebugNode<'m>) -> Vec<Option<Value<'m>>> {
        unsafe {
            let value = LLVMMetadataAsValue(self.context, node.0);
            let mut operands = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(value) as usize];
            LLVMGetMDNodeOperands(value, operands.as_mut_ptr());
            operands.into_iter().map(Value::new).collect()
        }
    }

    /// Source name of a function or variable.
    pub fn debug_name(self, node: DebugNode<'m>) -> Option<String> {
        match unsafe { LLVMGetMetadataKind(node.0) } {
            LLVMMetadataKind::LLVMDISubprogramMetadataKind => self.text_operand(node, 2),
            _ => self.text_operand(node, 1),
        }
    }

    /// The type of a variable, without names and qualifiers.
    pub fn variable_type(self, variable: DebugNode<'m>) -> Option<DebugType> {
        self.plain_type(self.node_operand(variable, 3)?)
    }

    fn plain_type(self, mut node: DebugNode<'m>) -> Option<DebugType> {
        while QUALIFIERS.contains(&node.tag()) {
            node = self.node_operand(node, 3)?;
        }
        Some(match node.tag() {
            STRUCTURE => DebugType::Structure(self.members(node)),
            UNION => DebugType::Union(self.members(node)),
            ARRAY => {
                let dimensions = self.node_operand(node, 4).map(|of| self.nodes(of)).unwrap_or_default();
                let length = |of: DebugNode<'m>| self.operands(of).first().copied().flatten()?.wide_integer();
                let lengths: Option<Vec<u64>> =
                    dimensions.into_iter().map(|of| length(of).and_then(|n| u64::try_from(n).ok())).collect();
                let element = self.plain_type(self.node_operand(node, 3)?)?;
                DebugType::Array { size: node.type_bytes(), lengths: lengths?, element: Box::new(element) }
            }
            _ => DebugType::Other,
        })
    }

    fn members(self, structure: DebugNode<'m>) -> Vec<DebugMember> {
        let members = self.node_operand(structure, 4).map(|of| self.nodes(of)).unwrap_or_default();
        let members = members.into_iter().filter(|member| member.tag() == MEMBER);
        let described = members.map(|member| {
            let (offset, bits, flags) = unsafe {
                let flags = LLVMDITypeGetFlags(member.0);
                (LLVMDITypeGetOffsetInBits(member.0), LLVMDITypeGetSizeInBits(member.0), flags)
            };
            DebugMember {
                name: self.text_operand(member, 2).unwrap_or_default(),
                first_bit: offset,
                bits,
                is_bit_field: flags & LLVMDIFlagBitField != 0,
                ty: self
                    .node_operand(member, 3)
                    .and_then(|ty| self.plain_type(ty))
                    .unwrap_or(DebugType::Other),
            }
        });
        described.collect()
    }

    fn node_operand(self, of: DebugNode<'m>, number: usize) -> Option<DebugNode<'m>> {
        self.operands(of).get(number).copied().flatten().and_then(|value| value.as_metadata())
    }

    fn nodes(self, of: DebugNode<'m>) -> Vec<DebugNode<'m>> {
        self.operands(of).into_iter().flatten().filter_map(|value| value.as_metadata()).collect()
    }

    /// How many parameters the source function has, by the debug information of its type.
    pub fn source_parameters(self, subprogram: DebugNode<'m>) -> usize {
        let types = self.node_operand(subprogram, 4).and_then(|ty| self.node_operand(ty, 3));
        // The first is the result; a null one after it stands for `...`.
        types.map_or(0, |types| self.operands(types).iter().skip(1).flatten().count())
    }
}

impl<'m> Value<'m> {
    pub fn subprogram(self) -> Option<DebugNode<'m>> {
        DebugNode::new(unsafe { LLVMGetSubprogram(self.0) })
    }

    /// The variables that debug information binds to a global.
    pub fn debug_variables(self) -> Vec<DebugNode<'m>> {
        unsafe {
            let mut count = 0;
            let entries = LLVMGlobalCopyAllMetadata(self.0, &mut count);
            let expressions: Vec<_> = (0..count)
                .map(|number| LLVMValueMetadataEntriesGetMetadata(entries, number as c_uint))
                .filter(|&node| {
                    let kind = LLVMGetMetadataKind(node);
                    matches!(kind, LLVMMetadataKind::LLVMDIGlobalVariableExpressionMetadataKind)
                })
                .collect();
            LLVMDisposeValueMetadataEntries(entries);
            let variable = |expression| DebugNode::new(LLVMDIGlobalVariableExpressionGetVariable(expression));
            expressions.into_iter().filter_map(variable).collect()
        }
    }

    /// The node of debug information wrapped as a call argument.
    pub fn as_metadata(self) -> Option<DebugNode<'m>> {
        DebugNode::new(unsafe { LLVMValueAsMetadata(self.0) })
    }

    /// The value that `llvm.dbg.declare` speaks of in its first argument.
    pub fn declared_value(self) -> Option<Self> {
        unsafe { (LLVMGetNumOperands(self.0) == 1).then(|| Self::new(LLVMGetOperand(self.0, 0))).flatten() }
    }

    /// Debug location, unless the code came from an inlined function.
    pub fn location(self) -> Option<Location<'m>> {
        let location = unsafe { LLVMInstructionGetDebugLoc(self.0) };
        if location.is_null() || !unsafe { LLVMDILocationGetInlinedAt(location) }.is_null() {
            return None;
        }
        let scope = DebugNode::of(unsafe { LLVMDILocationGetScope(location) });
        Some(Location { line: unsafe { LLVMDILocationGetLine(location) }, scope })
    }
}

impl<'m> DebugNode<'m> {
    /// Directory and name of the file of a scope or variable.
    pub fn file(self) -> Option<DebugNode<'m>> {
        DebugNode::new(unsafe {
            match LLVMGetMetadataKind(self.0) {
                LLVMMetadataKind::LLVMDIFileMetadataKind => self.0,
                LLVMMetadataKind::LLVMDILocalVariableMetadataKind
                | LLVMMetadataKind::LLVMDIGlobalVariableMetadataKind => LLVMDIVariableGetFile(self.0),
                _ => LLVMDIScopeGetFile(self.0),
            }
        })
    }

    /// Directory and name of a file node.
    pub fn path(self) -> (String, String) {
        unsafe {
            let (mut directory, mut name) = (0, 0);
            let directory_data = LLVMDIFileGetDirectory(self.0, &mut directory);
            let name_data = LLVMDIFileGetFilename(self.0, &mut name);
            (text(directory_data, directory as usize), text(name_data, name as usize))
        }
    }

    fn tag(self) -> u16 {
        unsafe { LLVMGetDINodeTag(self.0) }
    }

    fn type_bytes(self) -> u64 {
        unsafe { LLVMDITypeGetSizeInBits(self.0) / 8 }
    }

    /// Line of a variable.
    pub fn variable_line(self) -> u32 {
        unsafe { LLVMDIVariableGetLine(self.0) }
    }

    /// Scope of a variable.
    pub fn variable_scope(self) -> Option<DebugNode<'m>> {
        DebugNode::new(unsafe { LLVMDIVariableGetScope(self.0) })
    }

    /// Line of a function's name.
    pub fn subprogram_line(self) -> u32 {
        unsafe { LLVMDISubprogramGetLine(self.0) }
    }

    /// Whether it is a function.
    pub fn is_subprogram(self) -> bool {
        let kind = unsafe { LLVMGetMetadataKind(self.0) };
        matches!(kind, LLVMMetadataKind::LLVMDISubprogramMetadataKind)
    }

    /// Whether it is a block inside a function.
    pub fn is_lexical_block(self) -> bool {
        matches!(
            unsafe { LLVMGetMetadataKind(self.0) },
            LLVMMetadataKind::LLVMDILexicalBlockMetadataKind
                | LLVMMetadataKind::LLVMDILexicalBlockFileMetadataKind
        )
    }
}
