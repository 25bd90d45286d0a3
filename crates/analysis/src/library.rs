//! What does code outside the program do with the pointers it receives? Known by name for the C library.
//!
//! Limit: a function that is not listed may do anything; `%n` of `printf` is not known to write.

use std::ops::Range;

/// What a function does with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It reads what they point to.
    Reads,
    /// It writes what these point to, and reads the others.
    Writes(Range<usize>),
    /// It gives memory that nobody else has.
    Allocates,
    /// A harness offers an object to pointers of the input.
    Offers,
    /// A harness lets the input choose what a pointer points to.
    Chooses,
    /// A harness lets the input choose a function.
    ChoosesFunction,
    /// It leaves pointers alone: a harness fills numbers, an intrinsic computes.
    Fills,
    Anything,
}

/// How the names of models of library functions start.
const MODEL: &str = "__quarry_lib_";

const READS: [&str; 62] = [
    "abort",
    "assert",
    "__assert_fail",
    "atof",
    "atoi",
    "atol",
    "atoll",
    "close",
    "exit",
    "fclose",
    "feof",
    "fflush",
    "fileno",
    "fopen",
    "fprintf",
    "fputc",
    "fputs",
    "free",
    "fwrite",
    "getenv",
    "isatty",
    "memchr",
    "memcmp",
    "memrchr",
    "open",
    "perror",
    "printf",
    "putc",
    "putchar",
    "puts",
    "remove",
    "rename",
    "setlocale",
    "strcasecmp",
    "strchr",
    "strchrnul",
    "strcmp",
    "strcoll",
    "strcspn",
    "strlen",
    "strncasecmp",
    "strncmp",
    "strnlen",
    "strpbrk",
    "strrchr",
    "strspn",
    "strstr",
    "system",
    "ungetc",
    "unlink",
    "vfprintf",
    "vprintf",
    "wcslen",
    "write",
    "fgetc",
    "getc",
    "getchar",
    "fseek",
    "ftell",
    "rewind",
    "ferror",
    "clearerr",
];

const WRITES_FIRST: [&str; 26] = [
    "fgets",
    "fread",
    "gets",
    "memccpy",
    "memcpy",
    "memmove",
    "mempcpy",
    "memset",
    "snprintf",
    "sprintf",
    "stpcpy",
    "stpncpy",
    "strcat",
    "strcpy",
    "strftime",
    "strncat",
    "strncpy",
    "time",
    "vsnprintf",
    "vsprintf",
    "__snprintf_chk",
    "__sprintf_chk",
    "__vsnprintf_chk",
    "__vsprintf_chk",
    "gettimeofday",
    "bzero",
];

const WRITES_SECOND: [&str; 14] = [
    "read", "pread", "recv", "strtol", "strtoul", "strtoll", "strtoull", "strtod", "strtof", "strtold",
    "frexp", "modf", "fstat", "stat",
];

const ALLOCATES: [&str; 9] = [
    "malloc",
    "calloc",
    "realloc",
    "reallocarray",
    "aligned_alloc",
    "alloca",
    "strdup",
    "strndup",
    "__quarry_new",
];

/// What the function with this name does.
pub(crate) fn effect(name: &str) -> Effect {
    match name {
        "__quarry_object" => return Effect::Offers,
        "__quarry_pointer" => return Effect::Chooses,
        "__quarry_function" => return Effect::ChoosesFunction,
        _ => {}
    }
    if ALLOCATES.contains(&name) {
        return Effect::Allocates;
    }
    let name = match name.strip_prefix(MODEL) {
        Some(name) => name,
        None if name.starts_with("__quarry_") || name.starts_with("llvm.") => return Effect::Fills,
        None => name,
    };
    match name.trim_start_matches("__isoc99_").trim_start_matches("__isoc23_") {
        name if READS.contains(&name) => Effect::Reads,
        name if WRITES_FIRST.contains(&name) => Effect::Writes(0..1),
        name if WRITES_SECOND.contains(&name) => Effect::Writes(1..2),
        name if ALLOCATES.contains(&name) => Effect::Allocates,
        "scanf" => Effect::Writes(1..usize::MAX),
        "sscanf" | "fscanf" => Effect::Writes(2..usize::MAX),
        _ => Effect::Anything,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_does_what_its_function_does() {
        assert_eq!(effect("__quarry_lib_strcpy"), Effect::Writes(0..1));
        assert_eq!(effect("strlen"), Effect::Reads);
        assert_eq!(effect("__isoc99_sscanf"), Effect::Writes(2..usize::MAX));
        assert_eq!(effect("__quarry_value"), Effect::Fills);
        assert_eq!(effect("somebody"), Effect::Anything);
    }
}
