//! The keywords of the text form for the closed enums of the model, in one table for printer and parser.

use std::fmt;

use crate::{
    BinaryOp, CastOp, DecisionKind, FloatBinaryOp, FloatKind, FloatPredicate, GapKind, Linkage, MemoryOp,
    Predicate, Type,
};

/// An enum whose variants are words of the text form.
pub(super) trait Word: Sized {
    /// The word for this variant.
    fn word(self) -> &'static str;
    /// The variant of this word.
    fn from_word(word: &str) -> Option<Self>;
}

macro_rules! words {
    ($($type:ident { $($variant:ident = $word:literal,)* })*) => {$(
        impl Word for $type {
            fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }

            fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.word())
            }
        }
    )*};
}

words! {
    FloatKind { Half = "f16", Single = "f32", Double = "f64", X87 = "f80", Quad = "f128", }
    Linkage { External = "external", Exported = "exported", Internal = "internal", }
    BinaryOp {
        Add = "add", Sub = "sub", Mul = "mul", Udiv = "udiv", Sdiv = "sdiv", Urem = "urem", Srem = "srem",
        And = "and", Or = "or", Xor = "xor", Shl = "shl", Lshr = "lshr", Ashr = "ashr",
    }
    FloatBinaryOp { Add = "fadd", Sub = "fsub", Mul = "fmul", Div = "fdiv", Rem = "frem", }
    Predicate {
        Eq = "eq", Ne = "ne", Ult = "ult", Ule = "ule", Ugt = "ugt", Uge = "uge",
        Slt = "slt", Sle = "sle", Sgt = "sgt", Sge = "sge",
    }
    FloatPredicate {
        False = "false", Oeq = "oeq", Ogt = "ogt", Oge = "oge", Olt = "olt", Ole = "ole", One = "one",
        Ord = "ord", Uno = "uno", Ueq = "ueq", Ugt = "ugt", Uge = "uge", Ult = "ult", Ule = "ule",
        Une = "une", True = "true",
    }
    CastOp {
        Trunc = "trunc", Zext = "zext", Sext = "sext", PtrToInt = "ptrtoint", IntToPtr = "inttoptr",
        Bitcast = "bitcast", FloatTrunc = "fptrunc", FloatExtend = "fpext", FloatToUnsigned = "fptoui",
        FloatToSigned = "fptosi", UnsignedToFloat = "uitofp", SignedToFloat = "sitofp",
    }
    MemoryOp { Copy = "copy", Move = "move", Set = "set", }
    DecisionKind {
        If = "if", While = "while", DoWhile = "do", For = "for", Ternary = "ternary", Value = "value",
        Boundary = "boundary",
    }
    GapKind {
        InlineAssembly = "inline_assembly", Vector = "vector", WideInteger = "wide_integer",
        FloatingPoint = "floating_point", VariableArguments = "variable_arguments",
        AtomicOperation = "atomic_operation", Exception = "exception", UndefinedSymbol = "undefined_symbol",
        UnmarkedCondition = "unmarked_condition", Input = "input", Instruction = "instruction",
        Thread = "thread", LibraryFunction = "library_function", PinnedValue = "pinned_value",
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Void => f.write_str("void"),
            Self::Int(bits) => write!(f, "i{bits}"),
            Self::Ptr => f.write_str("ptr"),
            Self::Float(kind) => write!(f, "{kind}"),
            Self::Record(record) => write!(f, "{record}"),
            Self::Opaque => f.write_str("opaque"),
        }
    }
}
