//! Loading libclang and parsing one text with it.

use std::ffi::{CStr, CString};
use std::marker::PhantomData;
use std::path::Path;
use std::ptr;
use std::sync::{Arc, OnceLock};

use clang_sys::*;

use super::cursor::Cursor;
use super::driver::ClangError;
use crate::llvm::alone;

/// A text as libclang understood it.
pub struct ParsedUnit {
    index: CXIndex,
    unit: CXTranslationUnit,
}

/// An error libclang found, by line of the text.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    pub line: u32,
    pub message: String,
}

impl ParsedUnit {
    /// Parses `text` as preprocessed C. Errors in it are [`Self::errors`], not a failure.
    pub fn parse(name: &Path, text: &[u8], flags: &[String]) -> Result<Self, ClangError> {
        load()?;
        let not_parsed = |code| ClangError::NotParsed { file: name.to_owned(), code };
        let file = CString::new(name.as_os_str().as_encoded_bytes()).map_err(|_| not_parsed(-1))?;
        let fixed = ["-x", "cpp-output", "-ferror-limit=0"];
        let mut arguments = Vec::new();
        for flag in flags.iter().map(String::as_str).chain(super::LENIENT.iter().copied()).chain(fixed) {
            arguments.push(CString::new(flag).map_err(|_| not_parsed(-1))?);
        }
        let pointers: Vec<_> = arguments.iter().map(|argument| argument.as_ptr()).collect();
        let mut unsaved = CXUnsavedFile {
            Filename: file.as_ptr(),
            Contents: text.as_ptr().cast(),
            Length: text.len() as _,
        };
        let mut unit = ptr::null_mut();
        // SAFETY: all pointers live until the call returns; libclang copies what it keeps.
        let (index, code) = unsafe {
            let index = alone(|| clang_createIndex(0, 0));
            let code = clang_parseTranslationUnit2(
                index,
                file.as_ptr(),
                pointers.as_ptr(),
                pointers.len() as _,
                &mut unsaved,
                1,
                CXTranslationUnit_None,
                &mut unit,
            );
            (index, code)
        };
        if code != CXError_Success || unit.is_null() {
            // SAFETY: the index was made above and nothing refers to it.
            unsafe { clang_disposeIndex(index) };
            return Err(not_parsed(code));
        }
        Ok(Self { index, unit })
    }

    /// The cursor of the whole unit.
    pub fn root(&self) -> Cursor<'_> {
        // SAFETY: the unit is alive as long as `self`.
        Cursor { raw: unsafe { clang_getTranslationUnitCursor(self.unit) }, unit: PhantomData }
    }

    /// Size of a pointer on the target.
    pub fn pointer_bytes(&self) -> u64 {
        // SAFETY: the target information is disposed before the unit is.
        unsafe {
            let target = clang_getTranslationUnitTargetInfo(self.unit);
            let bits = clang_TargetInfo_getPointerWidth(target);
            clang_TargetInfo_dispose(target);
            u64::try_from(bits).unwrap_or(64) / 8
        }
    }

    /// Errors, without warnings.
    pub fn errors(&self) -> Vec<Diagnostic> {
        let mut errors = Vec::new();
        // SAFETY: diagnostics are read and disposed before the unit is.
        unsafe {
            for index in 0..clang_getNumDiagnostics(self.unit) {
                let diagnostic = clang_getDiagnostic(self.unit, index);
                if clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error {
                    errors.push(Diagnostic {
                        line: line_of(clang_getDiagnosticLocation(diagnostic)),
                        message: string(clang_getDiagnosticSpelling(diagnostic)),
                    });
                }
                clang_disposeDiagnostic(diagnostic);
            }
        }
        errors
    }
}

impl Drop for ParsedUnit {
    fn drop(&mut self) {
        // SAFETY: cursors and types borrow `self`, so none is left.
        unsafe {
            clang_disposeTranslationUnit(self.unit);
            clang_disposeIndex(self.index);
        }
    }
}

/// Makes libclang usable on this thread; the library is found once.
fn load() -> Result<(), ClangError> {
    static LIBRARY: OnceLock<Result<Arc<SharedLibrary>, String>> = OnceLock::new();
    if is_loaded() {
        return Ok(());
    }
    let library = LIBRARY.get_or_init(|| clang_sys::load_manually().map(Arc::new));
    let library = library.as_ref().map_err(|error| ClangError::NoLibrary(error.clone()))?;
    set_library(Some(Arc::clone(library)));
    // SAFETY: takes nothing; the string is disposed by `string`.
    let version = string(unsafe { clang_getClangVersion() });
    if version.contains("version 19.") {
        return Ok(());
    }
    set_library(None);
    Err(ClangError::NoLibrary(format!("{} is {version}", library.path().display())))
}

/// Takes over a string of libclang.
pub fn string(raw: CXString) -> String {
    // SAFETY: a CXString holds a C string or null until it is disposed, which happens here once.
    unsafe {
        let text = clang_getCString(raw);
        let owned =
            if text.is_null() { String::new() } else { CStr::from_ptr(text).to_string_lossy().into_owned() };
        clang_disposeString(raw);
        owned
    }
}

/// Line of a location in the text.
pub fn line_of(location: CXSourceLocation) -> u32 {
    let mut line = 0;
    // SAFETY: the location belongs to a living unit; null means the part is not wanted.
    unsafe {
        clang_getSpellingLocation(location, ptr::null_mut(), &mut line, ptr::null_mut(), ptr::null_mut());
    }
    line
}
