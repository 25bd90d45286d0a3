//! Types as libclang describes them.

use std::marker::PhantomData;

use clang_sys::*;

use super::cursor::Cursor;
use super::unit::{ParsedUnit, string};

/// A C type with its qualifiers.
#[derive(Clone, Copy)]
pub struct ClangType<'u> {
    raw: CXType,
    unit: PhantomData<&'u ParsedUnit>,
}

/// What a type is once typedefs are resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeNode {
    Void,
    Bool,
    Char {
        signed: bool,
    },
    Integer {
        signed: bool,
    },
    Float,
    Pointer,
    Array,
    Record,
    Enum,
    Function,
    /// Vectors, complex numbers, wide integers, …
    Other,
}

impl<'u> ClangType<'u> {
    pub(super) fn wrap(raw: CXType) -> Self {
        Self { raw, unit: PhantomData }
    }

    /// As the source writes it.
    pub fn spelling(self) -> String {
        // SAFETY: the type belongs to a living unit.
        string(unsafe { clang_getTypeSpelling(self.raw) })
    }

    /// Without typedefs.
    pub fn canonical(self) -> Self {
        // SAFETY: the type belongs to a living unit.
        Self::wrap(unsafe { clang_getCanonicalType(self.raw) })
    }

    /// Without `const`, `volatile`, `restrict` at the top.
    pub fn unqualified(self) -> Self {
        // SAFETY: the type belongs to a living unit.
        Self::wrap(unsafe { clang_getUnqualifiedType(self.raw) })
    }

    /// What it is.
    #[expect(non_upper_case_globals, reason = "libclang's own names")]
    pub fn node(self) -> TypeNode {
        match self.canonical().raw.kind {
            CXType_Void => TypeNode::Void,
            CXType_Bool => TypeNode::Bool,
            CXType_Char_U | CXType_UChar => TypeNode::Char { signed: false },
            CXType_Char_S | CXType_SChar => TypeNode::Char { signed: true },
            CXType_UShort | CXType_UInt | CXType_ULong | CXType_ULongLong | CXType_Char16 | CXType_Char32 => {
                TypeNode::Integer { signed: false }
            }
            CXType_Short | CXType_Int | CXType_Long | CXType_LongLong | CXType_WChar => {
                TypeNode::Integer { signed: true }
            }
            CXType_Float | CXType_Double | CXType_LongDouble | CXType_Float128 | CXType_Float16
            | CXType_Half | CXType_BFloat16 => TypeNode::Float,
            CXType_Pointer => TypeNode::Pointer,
            CXType_ConstantArray | CXType_IncompleteArray | CXType_VariableArray => TypeNode::Array,
            CXType_Record => TypeNode::Record,
            CXType_Enum => TypeNode::Enum,
            CXType_FunctionProto | CXType_FunctionNoProto => TypeNode::Function,
            _ => TypeNode::Other,
        }
    }

    /// Size in bytes; `None` when incomplete or not constant.
    pub fn size(self) -> Option<u64> {
        // SAFETY: the type belongs to a living unit; negative numbers are errors.
        u64::try_from(unsafe { clang_Type_getSizeOf(self.raw) }).ok()
    }

    /// What a pointer points to.
    pub fn pointee(self) -> Self {
        // SAFETY: the type belongs to a living unit. The typedef is resolved, the pointee keeps its own spelling.
        unsafe {
            let direct = clang_getPointeeType(self.raw);
            if direct.kind != CXType_Invalid {
                return Self::wrap(direct);
            }
            Self::wrap(clang_getPointeeType(clang_getCanonicalType(self.raw)))
        }
    }

    /// Element of an array.
    pub fn element(self) -> Self {
        // SAFETY: the type belongs to a living unit.
        unsafe {
            let direct = clang_getArrayElementType(self.raw);
            if direct.kind != CXType_Invalid {
                return Self::wrap(direct);
            }
            Self::wrap(clang_getArrayElementType(clang_getCanonicalType(self.raw)))
        }
    }

    /// Element of an array of arrays, down to what is no array; the type itself when it is none.
    pub fn innermost_element(self) -> Self {
        let mut ty = self;
        while ty.node() == TypeNode::Array {
            ty = ty.element();
        }
        ty
    }

    /// Number of elements; `None` for incomplete and variable arrays.
    pub fn array_length(self) -> Option<u64> {
        // SAFETY: the type belongs to a living unit; negative numbers are errors.
        u64::try_from(unsafe { clang_getArraySize(clang_getCanonicalType(self.raw)) }).ok()
    }

    /// Whether it is `const` at the top.
    pub fn is_const(self) -> bool {
        // SAFETY: the type belongs to a living unit.
        unsafe { clang_isConstQualifiedType(clang_getCanonicalType(self.raw)) != 0 }
    }

    /// Declaration of a record or enumeration.
    pub fn declaration(self) -> Cursor<'u> {
        // SAFETY: the type belongs to a living unit.
        let raw = unsafe { clang_getTypeDeclaration(clang_getCanonicalType(self.raw)) };
        Cursor { raw, unit: PhantomData }
    }

    /// The members of a record, in order.
    pub fn fields(self) -> Vec<Cursor<'u>> {
        extern "C" fn push(field: CXCursor, list: CXClientData) -> CXVisitorResult {
            // SAFETY: `list` is the vector below, which outlives the visit and is not touched otherwise.
            unsafe { (*list.cast::<Vec<CXCursor>>()).push(field) };
            CXVisit_Continue
        }
        let mut list: Vec<CXCursor> = Vec::new();
        // SAFETY: the visitor gets the vector it expects and does not unwind.
        unsafe { clang_Type_visitFields(clang_getCanonicalType(self.raw), push, (&raw mut list).cast()) };
        list.into_iter().map(|raw| Cursor { raw, unit: PhantomData }).collect()
    }

    /// What a function returns.
    pub fn result(self) -> Self {
        // SAFETY: the type belongs to a living unit.
        Self::wrap(unsafe { clang_getResultType(clang_getCanonicalType(self.raw)) })
    }

    /// The parameters of a function, and whether there may be more.
    pub fn parameters(self) -> (Vec<Self>, bool) {
        // SAFETY: the type belongs to a living unit; a negative number of arguments is an error.
        unsafe {
            let raw = clang_getCanonicalType(self.raw);
            let n_parameters = u32::try_from(clang_getNumArgTypes(raw)).unwrap_or(0);
            let parameters = (0..n_parameters).map(|index| Self::wrap(clang_getArgType(raw, index)));
            (parameters.collect(), clang_isFunctionTypeVariadic(raw) != 0)
        }
    }

    /// Whether a value of it can be compared with zero.
    #[expect(non_upper_case_globals, reason = "libclang's own names")]
    pub fn is_scalar(self) -> bool {
        !matches!(
            self.canonical().raw.kind,
            CXType_Vector | CXType_ExtVector | CXType_Record | CXType_Void | CXType_Invalid
        )
    }
}
