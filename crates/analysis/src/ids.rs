//! Ids of data flow: objects, their definitions and uses, and pairs.

use std::fmt;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as an index.
            pub fn index(self) -> usize {
                self.0 as usize
            }

            pub(crate) fn new(index: usize) -> Self {
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
    /// Something that is defined and used: a variable, or what a function returns.
    ObjectId "object";
    /// A definition of an object.
    DefinitionId "def";
    /// A use of an object.
    UseId "use";
    /// A definition and a use that it may reach.
    PairId "pair";
}
