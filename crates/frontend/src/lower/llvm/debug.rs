//! Debug information: nodes read by operand where the C API has no accessor.

use std::ffi::c_uint;

use inkwell::llvm_sys::{core::*, debuginfo::*};

use super::{Ir, Meta, Value, text};

// SAFETY of all calls below: as in the parent module.

/// Line and scope of an instruction.
#[derive(Clone, Copy)]
pub(crate) struct Location<'m> {
    pub(crate) line: u32,
    pub(crate) scope: Meta<'m>,
}

impl<'m> Ir<'m> {
    /// The text operand with this number of a debug node.
    fn text_operand(self, node: Meta<'m>, number: usize) -> Option<String> {
        let operand = *self.operands(node).get(number)?;
        let mut length: c_uint = 0;
        let data = unsafe { LLVMGetMDString(operand?.0, &mut length) };
        (!data.is_null()).then(|| unsafe { text(data, length as usize) })
    }

    fn operands(self, node: Meta<'m>) -> Vec<Option<Value<'m>>> {
        unsafe {
            let value = LLVMMetadataAsValue(self.context(), node.0);
            let mut operands = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(value) as usize];
            LLVMGetMDNodeOperands(value, operands.as_mut_ptr());
            operands.into_iter().map(Value::new).collect()
        }
    }

    /// Source name of a function or variable.
    pub(crate) fn debug_name(self, node: Meta<'m>) -> Option<String> {
        match unsafe { LLVMGetMetadataKind(node.0) } {
            LLVMMetadataKind::LLVMDISubprogramMetadataKind => self.text_operand(node, 2),
            _ => self.text_operand(node, 1),
        }
    }

    /// How many parameters the source function has, by the debug information of its type.
    pub(crate) fn source_parameters(self, subprogram: Meta<'m>) -> usize {
        let node = |value: Value<'m>| Meta::new(unsafe { LLVMValueAsMetadata(value.0) });
        let nth =
            |of: Meta<'m>, number: usize| self.operands(of).get(number).copied().flatten().and_then(node);
        let types = nth(subprogram, 4).and_then(|ty| nth(ty, 3));
        // The first is the result; a null one after it stands for `...`.
        types.map_or(0, |types| self.operands(types).iter().skip(1).flatten().count())
    }
}

impl<'m> Value<'m> {
    pub(crate) fn subprogram(self) -> Option<Meta<'m>> {
        Meta::new(unsafe { LLVMGetSubprogram(self.0) })
    }

    /// The variables that debug information binds to a global.
    pub(crate) fn debug_variables(self) -> Vec<Meta<'m>> {
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
            let variable = |expression| Meta::new(LLVMDIGlobalVariableExpressionGetVariable(expression));
            expressions.into_iter().filter_map(variable).collect()
        }
    }

    /// The node of debug information wrapped as a call argument.
    pub(crate) fn as_metadata(self) -> Option<Meta<'m>> {
        Meta::new(unsafe { LLVMValueAsMetadata(self.0) })
    }

    /// The value that `llvm.dbg.declare` speaks of in its first argument.
    pub(crate) fn declared_value(self) -> Option<Self> {
        unsafe { (LLVMGetNumOperands(self.0) == 1).then(|| Self::new(LLVMGetOperand(self.0, 0))).flatten() }
    }

    /// Debug location, unless the code came from an inlined function.
    pub(crate) fn location(self) -> Option<Location<'m>> {
        let location = unsafe { LLVMInstructionGetDebugLoc(self.0) };
        if location.is_null() || !unsafe { LLVMDILocationGetInlinedAt(location) }.is_null() {
            return None;
        }
        let scope = Meta::new(unsafe { LLVMDILocationGetScope(location) })?;
        Some(Location { line: unsafe { LLVMDILocationGetLine(location) }, scope })
    }
}

impl<'m> Meta<'m> {
    /// Directory and name of the file of a scope or variable.
    pub(crate) fn file(self) -> Option<Meta<'m>> {
        Meta::new(unsafe {
            match LLVMGetMetadataKind(self.0) {
                LLVMMetadataKind::LLVMDIFileMetadataKind => self.0,
                LLVMMetadataKind::LLVMDILocalVariableMetadataKind
                | LLVMMetadataKind::LLVMDIGlobalVariableMetadataKind => LLVMDIVariableGetFile(self.0),
                _ => LLVMDIScopeGetFile(self.0),
            }
        })
    }

    /// Directory and name of a file node.
    pub(crate) fn path(self) -> (String, String) {
        unsafe {
            let (mut directory, mut name) = (0, 0);
            let directory_data = LLVMDIFileGetDirectory(self.0, &mut directory);
            let name_data = LLVMDIFileGetFilename(self.0, &mut name);
            (text(directory_data, directory as usize), text(name_data, name as usize))
        }
    }

    /// Line of a variable.
    pub(crate) fn variable_line(self) -> u32 {
        unsafe { LLVMDIVariableGetLine(self.0) }
    }

    /// Scope of a variable.
    pub(crate) fn variable_scope(self) -> Option<Meta<'m>> {
        Meta::new(unsafe { LLVMDIVariableGetScope(self.0) })
    }

    /// Line of a function's name.
    pub(crate) fn subprogram_line(self) -> u32 {
        unsafe { LLVMDISubprogramGetLine(self.0) }
    }

    /// Whether it is a function.
    pub(crate) fn is_subprogram(self) -> bool {
        let kind = unsafe { LLVMGetMetadataKind(self.0) };
        matches!(kind, LLVMMetadataKind::LLVMDISubprogramMetadataKind)
    }

    /// Whether it is a block inside a function.
    pub(crate) fn is_lexical_block(self) -> bool {
        matches!(
            unsafe { LLVMGetMetadataKind(self.0) },
            LLVMMetadataKind::LLVMDILexicalBlockMetadataKind
                | LLVMMetadataKind::LLVMDILexicalBlockFileMetadataKind
        )
    }
}
