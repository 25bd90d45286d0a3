//! Terms and sorts, owned by a [`TermManager`] and borrowed from it.

use std::ffi::{CStr, CString, c_int};
use std::marker::PhantomData;
use std::ptr::NonNull;

use crate::error::{Error, Result, checked, install_callback};
use crate::ffi;

/// Owner of all terms and sorts made through it. Bound to its thread:
///
/// ```compile_fail,E0277
/// fn move_to_another_thread(_: impl Send) {}
/// move_to_another_thread(bitwuzla_sys::TermManager::new());
/// ```
#[derive(Debug)]
pub struct TermManager {
    raw: NonNull<ffi::RawTermManager>,
}

/// A sort: Bool, a bit-vector of some width, a floating-point format, or arrays of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sort<'m> {
    raw: NonNull<ffi::RawSort>,
    manager: PhantomData<&'m TermManager>,
}

/// A term; equal terms of one manager compare equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Term<'m> {
    pub(crate) raw: NonNull<ffi::RawTerm>,
    manager: PhantomData<&'m TermManager>,
}

/// The operators Quarry uses, with Bitwuzla's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(i32)]
#[expect(missing_docs, reason = "the names are those of SMT-LIB's operators")]
pub enum TermKind {
    And = 4,
    Equal = 6,
    Not = 9,
    Or = 10,
    Xor = 11,
    Ite = 12,
    ArraySelect = 17,
    BvAdd = 19,
    BvAnd = 20,
    BvAshr = 21,
    BvConcat = 23,
    BvMul = 26,
    BvNeg = 28,
    BvNot = 31,
    BvOr = 32,
    BvSdiv = 40,
    BvShl = 43,
    BvLshr = 44,
    BvSle = 45,
    BvSlt = 46,
    BvSrem = 49,
    BvSub = 51,
    BvUdiv = 53,
    BvUle = 56,
    BvUlt = 57,
    BvUrem = 59,
    BvXor = 62,
    BvExtract = 63,
    BvSignExtend = 67,
    BvZeroExtend = 68,
    FpAbs = 69,
    FpAdd = 70,
    FpDiv = 71,
    FpEqual = 72,
    FpFma = 73,
    FpIsNan = 78,
    FpIsNeg = 79,
    FpLeq = 84,
    FpLt = 85,
    FpMul = 88,
    FpNeg = 89,
    FpRti = 91,
    FpSqrt = 92,
    FpSub = 93,
    FpToFpFromBv = 94,
    FpToFpFromFp = 95,
    FpToFpFromSbv = 96,
    FpToFpFromUbv = 97,
    FpToSbv = 98,
}

/// How a result that has no exact representation is rounded, with Bitwuzla's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(i32)]
#[expect(missing_docs, reason = "the names are IEEE 754's")]
pub enum RoundingMode {
    NearestEven = 0,
    NearestAway = 1,
    TowardNegative = 2,
    TowardPositive = 3,
    TowardZero = 4,
}

impl TermManager {
    /// A manager without terms.
    pub fn new() -> TermManager {
        install_callback();
        // SAFETY: no precondition; the callback is installed for this thread, and the type is not `Send`.
        let raw = unsafe { ffi::bitwuzla_term_manager_new() };
        TermManager { raw: NonNull::new(raw).expect("C++ new does not return null") }
    }

    /// The version of the linked library.
    pub fn version() -> String {
        // SAFETY: returns a static NUL-terminated string.
        unsafe { CStr::from_ptr(ffi::bitwuzla_version()) }.to_string_lossy().into_owned()
    }

    /// Forgets all terms and sorts; the borrow checker sees to it that none is in use.
    pub fn clear(&mut self) -> Result<()> {
        // SAFETY: `raw` is alive, and `&mut self` proves that no `Term`, `Sort` or `Solver` borrows it.
        checked("release terms", || unsafe { ffi::bitwuzla_term_manager_release(self.raw.as_ptr()) })
    }

    /// The sort of booleans.
    pub fn bool_sort(&self) -> Result<Sort<'_>> {
        // SAFETY: `raw` is alive.
        self.sort("make the Bool sort", || unsafe { ffi::bitwuzla_mk_bool_sort(self.raw.as_ptr()) })
    }

    /// The sort of bit-vectors of `width` bits.
    pub fn bit_vector_sort(&self, width: u32) -> Result<Sort<'_>> {
        // SAFETY: `raw` is alive.
        self.sort("make a bit-vector sort", || unsafe {
            ffi::bitwuzla_mk_bv_sort(self.raw.as_ptr(), u64::from(width))
        })
    }

    /// The sort of arrays from `index` to `element`.
    pub fn array_sort<'m>(&'m self, index: Sort<'m>, element: Sort<'m>) -> Result<Sort<'m>> {
        // SAFETY: `raw` and both sorts are alive.
        self.sort("make an array sort", || unsafe {
            ffi::bitwuzla_mk_array_sort(self.raw.as_ptr(), index.raw.as_ptr(), element.raw.as_ptr())
        })
    }

    /// The sort of floating-point numbers with so many bits of exponent and significand, the hidden one included.
    pub fn float_sort(&self, exponent: u32, significand: u32) -> Result<Sort<'_>> {
        // SAFETY: `raw` is alive.
        self.sort("make a floating-point sort", || unsafe {
            ffi::bitwuzla_mk_fp_sort(self.raw.as_ptr(), u64::from(exponent), u64::from(significand))
        })
    }

    /// The constant for a rounding mode.
    pub fn rounding_mode(&self, mode: RoundingMode) -> Result<Term<'_>> {
        // SAFETY: `raw` is alive.
        self.term("make a rounding mode", || unsafe {
            ffi::bitwuzla_mk_rm_value(self.raw.as_ptr(), mode as c_int)
        })
    }

    /// The boolean constant `value`.
    pub fn bool_value(&self, value: bool) -> Result<Term<'_>> {
        // SAFETY: `raw` is alive.
        self.term("make a truth value", || unsafe {
            let raw = self.raw.as_ptr();
            if value { ffi::bitwuzla_mk_true(raw) } else { ffi::bitwuzla_mk_false(raw) }
        })
    }

    /// The bit-vector constant `bits` of the given sort; bits outside the sort's width are an error.
    pub fn bit_vector_value(&self, sort: Sort<'_>, bits: u128) -> Result<Term<'_>> {
        let (manager, sort) = (self.raw.as_ptr(), sort.raw.as_ptr());
        if let Ok(small) = u64::try_from(bits) {
            // SAFETY: `raw` is alive and so is the sort.
            return self.term("make a bit-vector value", || unsafe {
                ffi::bitwuzla_mk_bv_value_uint64(manager, sort, small)
            });
        }
        let text = CString::new(format!("{bits:x}")).expect("hexadecimal digits contain no NUL");
        // SAFETY: as above; `text` lives during the call.
        self.term("make a bit-vector value", || unsafe {
            ffi::bitwuzla_mk_bv_value(manager, sort, text.as_ptr(), 16)
        })
    }

    /// A fresh uninterpreted constant of the given sort.
    pub fn fresh_constant(&self, sort: Sort<'_>) -> Result<Term<'_>> {
        // SAFETY: manager and sort are alive; a null symbol means an anonymous constant.
        self.term("make a constant", || unsafe {
            ffi::bitwuzla_mk_const(self.raw.as_ptr(), sort.raw.as_ptr(), std::ptr::null())
        })
    }

    /// The application of `kind` to `arguments`.
    pub fn apply<'m>(&'m self, kind: TermKind, arguments: &[Term<'m>]) -> Result<Term<'m>> {
        self.apply_indexed(kind, arguments, &[])
    }

    /// The application of an indexed operator (extract, extensions) to `arguments`.
    pub fn apply_indexed<'m>(
        &'m self,
        kind: TermKind,
        arguments: &[Term<'m>],
        indices: &[u64],
    ) -> Result<Term<'m>> {
        let n_arguments = u32::try_from(arguments.len()).expect("terms have few arguments");
        let n_indices = u32::try_from(indices.len()).expect("operators have few indices");
        // `Term` is a transparent pointer, and Bitwuzla only reads the array.
        let raw_arguments = arguments.as_ptr().cast_mut().cast::<*mut ffi::RawTerm>();
        // SAFETY: all pointers are alive and the lengths are those of the slices.
        self.term("make a term", || unsafe {
            let (manager, kind) = (self.raw.as_ptr(), kind as c_int);
            if indices.is_empty() {
                ffi::bitwuzla_mk_term(manager, kind, n_arguments, raw_arguments)
            } else {
                ffi::bitwuzla_mk_term_indexed(
                    manager,
                    kind,
                    n_arguments,
                    raw_arguments,
                    n_indices,
                    indices.as_ptr(),
                )
            }
        })
    }

    pub(crate) fn as_ptr(&self) -> *mut ffi::RawTermManager {
        self.raw.as_ptr()
    }

    fn sort(&self, act: &'static str, make: impl FnOnce() -> *mut ffi::RawSort) -> Result<Sort<'_>> {
        let raw = checked(act, make)?;
        NonNull::new(raw).map(|raw| Sort { raw, manager: PhantomData }).ok_or_else(|| returned_null(act))
    }

    fn term(&self, act: &'static str, make: impl FnOnce() -> *mut ffi::RawTerm) -> Result<Term<'_>> {
        let raw = checked(act, make)?;
        Term::from_raw(raw).ok_or_else(|| returned_null(act))
    }
}

impl Default for TermManager {
    fn default() -> Self {
        TermManager::new()
    }
}

impl Drop for TermManager {
    fn drop(&mut self) {
        // SAFETY: `raw` is alive, and nothing borrows it any more.
        unsafe { ffi::bitwuzla_term_manager_delete(self.raw.as_ptr()) }
    }
}

impl Term<'_> {
    pub(crate) fn from_raw(raw: *mut ffi::RawTerm) -> Option<Self> {
        NonNull::new(raw).map(|raw| Term { raw, manager: PhantomData })
    }

    /// The value of a constant term of at most 128 bits; booleans are 0 and 1.
    pub fn value(self) -> Result<u128> {
        let act = "read a value";
        // SAFETY: the term is alive as long as its manager, which `self` borrows.
        if checked(act, || unsafe { ffi::bitwuzla_term_is_bool(self.raw.as_ptr()) })? {
            return checked(act, || unsafe { ffi::bitwuzla_term_value_get_bool(self.raw.as_ptr()) })
                .map(u128::from);
        }
        // SAFETY: as above.
        let text = checked(act, || unsafe { ffi::bitwuzla_term_value_get_str_fmt(self.raw.as_ptr(), 16) })?;
        // SAFETY: a NUL-terminated string that lives until the next such call on this thread.
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
        u128::from_str_radix(&text, 16)
            .map_err(|error| Error { act, message: format!("unexpected value {text:?}: {error}") })
    }
}

pub(crate) fn returned_null(act: &'static str) -> Error {
    Error { act, message: "no object was returned".to_owned() }
}
