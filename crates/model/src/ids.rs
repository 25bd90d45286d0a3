//! Typed ids that print as the text form writes them.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as an index.
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The id of the element at `index`.
            pub fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("fewer than 2^32 of anything"))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    )*};
}

ids! {
    /// A function of the program, defined or only declared.
    FunctionId "f";
    /// A basic block within its function.
    BlockId "b";
    /// An instruction within its function; also the name of its result.
    InstrId "%";
    /// A global variable or constant.
    GlobalId "g";
    /// A first-class structure type.
    RecordId "r";
    /// A place in the source.
    SpanId "s";
    /// A source file.
    FileId "file";
    /// A decision of the source.
    DecisionId "d";
    /// A condition of a decision; also the argument of its mark.
    ConditionId "c";
    /// A `switch` of the source.
    SwitchId "sw";
    /// A statement of the source.
    StatementId "st";
    /// A variable of the source.
    VariableId "v";
}
