//! The C interface, as declared by `bitwuzla/c/bitwuzla.h`, `enums.h`, `option.h` and `result.h` of version 0.9.1.
//! Only what the wrappers use; names follow C's.

use std::ffi::{c_char, c_int, c_void};

/// `BitwuzlaOptions`, opaque.
#[repr(C)]
pub struct RawOptions {
    _private: [u8; 0],
}
/// `BitwuzlaTermManager`, opaque.
#[repr(C)]
pub struct RawTermManager {
    _private: [u8; 0],
}
/// `Bitwuzla`, opaque.
#[repr(C)]
pub struct RawSolver {
    _private: [u8; 0],
}
/// What a `BitwuzlaTerm` points to, opaque.
#[repr(C)]
pub struct RawTerm {
    _private: [u8; 0],
}
/// What a `BitwuzlaSort` points to, opaque.
#[repr(C)]
pub struct RawSort {
    _private: [u8; 0],
}

pub const OPT_PRODUCE_MODELS: c_int = 1;
pub const OPT_PRODUCE_UNSAT_ASSUMPTIONS: c_int = 3;
pub const OPT_PRODUCE_UNSAT_CORES: c_int = 4;
pub const OPT_TIME_LIMIT_PER: c_int = 7;
pub const OPT_MEMORY_LIMIT: c_int = 8;
pub const OPT_PREPROCESS: c_int = 44;

pub const RESULT_SAT: c_int = 10;
pub const RESULT_UNSAT: c_int = 20;

unsafe extern "C" {
    pub fn bitwuzla_version() -> *const c_char;

    pub fn bitwuzla_options_new() -> *mut RawOptions;
    pub fn bitwuzla_options_delete(options: *mut RawOptions);
    pub fn bitwuzla_set_option(options: *mut RawOptions, option: c_int, value: u64);

    pub fn bitwuzla_set_abort_callback(fun: Option<extern "C" fn(*const c_char)>);

    pub fn bitwuzla_term_manager_new() -> *mut RawTermManager;
    pub fn bitwuzla_term_manager_delete(tm: *mut RawTermManager);
    pub fn bitwuzla_term_manager_release(tm: *mut RawTermManager);

    pub fn bitwuzla_mk_bool_sort(tm: *mut RawTermManager) -> *mut RawSort;
    pub fn bitwuzla_mk_bv_sort(tm: *mut RawTermManager, size: u64) -> *mut RawSort;
    pub fn bitwuzla_mk_array_sort(
        tm: *mut RawTermManager,
        index: *mut RawSort,
        element: *mut RawSort,
    ) -> *mut RawSort;
    pub fn bitwuzla_mk_fp_sort(tm: *mut RawTermManager, exp_size: u64, sig_size: u64) -> *mut RawSort;
    pub fn bitwuzla_mk_rm_value(tm: *mut RawTermManager, rm: c_int) -> *mut RawTerm;
    pub fn bitwuzla_mk_true(tm: *mut RawTermManager) -> *mut RawTerm;
    pub fn bitwuzla_mk_false(tm: *mut RawTermManager) -> *mut RawTerm;
    pub fn bitwuzla_mk_bv_value(
        tm: *mut RawTermManager,
        sort: *mut RawSort,
        value: *const c_char,
        base: u8,
    ) -> *mut RawTerm;
    pub fn bitwuzla_mk_bv_value_uint64(
        tm: *mut RawTermManager,
        sort: *mut RawSort,
        value: u64,
    ) -> *mut RawTerm;
    pub fn bitwuzla_mk_const(
        tm: *mut RawTermManager,
        sort: *mut RawSort,
        symbol: *const c_char,
    ) -> *mut RawTerm;
    pub fn bitwuzla_mk_term(
        tm: *mut RawTermManager,
        kind: c_int,
        argc: u32,
        args: *mut *mut RawTerm,
    ) -> *mut RawTerm;
    pub fn bitwuzla_mk_term_indexed(
        tm: *mut RawTermManager,
        kind: c_int,
        argc: u32,
        args: *mut *mut RawTerm,
        idxc: u32,
        idxs: *const u64,
    ) -> *mut RawTerm;

    pub fn bitwuzla_term_is_bool(term: *mut RawTerm) -> bool;
    pub fn bitwuzla_term_value_get_bool(term: *mut RawTerm) -> bool;
    pub fn bitwuzla_term_value_get_str_fmt(term: *mut RawTerm, base: u8) -> *const c_char;

    pub fn bitwuzla_new(tm: *mut RawTermManager, options: *const RawOptions) -> *mut RawSolver;
    pub fn bitwuzla_delete(solver: *mut RawSolver);
    pub fn bitwuzla_set_termination_callback(
        solver: *mut RawSolver,
        fun: extern "C" fn(*mut c_void) -> i32,
        state: *mut c_void,
    );
    pub fn bitwuzla_push(solver: *mut RawSolver, nlevels: u64);
    pub fn bitwuzla_pop(solver: *mut RawSolver, nlevels: u64);
    pub fn bitwuzla_assert(solver: *mut RawSolver, term: *mut RawTerm);
    pub fn bitwuzla_check_sat(solver: *mut RawSolver) -> c_int;
    pub fn bitwuzla_check_sat_assuming(solver: *mut RawSolver, argc: u32, args: *mut *mut RawTerm) -> c_int;
    pub fn bitwuzla_get_value(solver: *mut RawSolver, term: *mut RawTerm) -> *mut RawTerm;
    pub fn bitwuzla_get_unsat_core(solver: *mut RawSolver, size: *mut usize) -> *const *mut RawTerm;
    pub fn bitwuzla_get_unsat_assumptions(solver: *mut RawSolver, size: *mut usize) -> *const *mut RawTerm;
}
