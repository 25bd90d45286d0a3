//! Data on stdout. A closed pipe (`quarry goals x.c | head`) is not a failure.

use std::fmt::Display;
use std::io::Write;

/// Prints one line, or several.
pub fn say(text: impl Display) {
    let mut line = text.to_string();
    line.push('\n');
    show(line.as_bytes());
}

/// Prints bytes as they are.
pub fn show(bytes: &[u8]) {
    let mut stdout = std::io::stdout().lock();
    // whoever does not want to read on need not
    let _ = stdout.write_all(bytes).and_then(|()| stdout.flush());
}
