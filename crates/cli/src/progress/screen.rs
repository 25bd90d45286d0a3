//! A few lines of a terminal that are rewritten in place.
//!
//! Method: moves up to the first of them, rewrites each line and erases the rest of it; never wider than the terminal,
//! whose width is queried each time, so that no line wraps. Ours rather than indicatif's, which draws bars and spinners in
//! columns: these are sentences that a campaign words anew each time. Limit: if the terminal is narrowed in between,
//! remains of a line may stay.

use std::io::Write;

/// The lines at the end of the terminal.
pub struct Screen {
    n_shown: usize,
    has_colors: bool,
}

/// How something is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    Good,
    Open,
    Bad,
    Aside,
}

/// Colours, if they are wanted.
#[derive(Clone, Copy, Debug)]
pub struct Paint(pub bool);

impl Paint {
    /// The text in the colour of its meaning.
    pub fn text(self, meaning: Meaning, text: &str) -> String {
        let code = match meaning {
            Meaning::Good => 32,
            Meaning::Open => 33,
            Meaning::Bad => 31,
            Meaning::Aside => 2,
        };
        if self.0 { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

impl Screen {
    /// Nothing shown yet; colours unless `NO_COLOR` is set.
    pub fn new() -> Self {
        Self { n_shown: 0, has_colors: std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) }
    }

    /// Whether to use colours.
    pub fn paint(&self) -> Paint {
        Paint(self.has_colors)
    }

    /// Shows these lines in place of those before.
    pub fn show(&mut self, lines: &[String]) {
        let width = width();
        let lines: Vec<String> = lines.iter().map(|line| cut(line, width)).collect();
        let text = self.home() + &lines.join("\x1b[K\r\n") + "\x1b[K\x1b[J";
        self.n_shown = lines.len();
        write(&text);
    }

    /// Takes the lines away.
    pub fn clear(&mut self) {
        if self.n_shown > 0 {
            write(&(self.home() + "\x1b[J"));
            self.n_shown = 0;
        }
    }

    /// To the start of the first line.
    fn home(&self) -> String {
        match self.n_shown {
            0 | 1 => "\r".to_owned(),
            n => format!("\r\x1b[{}A", n - 1),
        }
    }
}

fn write(text: &str) {
    let mut stderr = std::io::stderr().lock();
    // a terminal that went away is no reason to stop
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

/// Columns of the terminal; 80 when it does not say.
fn width() -> usize {
    let columns = rustix::termios::tcgetwinsize(std::io::stderr()).map_or(0, |size| size.ws_col);
    if columns == 0 { 80 } else { usize::from(columns) }
}

/// The part of a line that fits, escapes not counted; the last column stays free, where terminals differ.
fn cut(line: &str, width: usize) -> String {
    let most = width.saturating_sub(1);
    let (mut text, mut n_columns, mut in_escape, mut is_cut) = (String::new(), 0, false, false);
    for character in line.chars() {
        if character == '\x1b' || in_escape {
            in_escape = character != 'm';
            text.push(character);
        } else if n_columns < most {
            n_columns += 1;
            text.push(character);
        } else {
            is_cut = true; // escapes behind it still count
        }
    }
    if is_cut && most > 0 {
        let last = text.rfind(|c: char| !c.is_ascii_control()).unwrap_or(0);
        // only when the end is no escape
        if !text.ends_with('m') || !line.contains('\x1b') {
            text.truncate(last);
            text.push('…');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_the_terminal() {
        assert_eq!(cut("executions", 20), "executions");
        assert_eq!(cut("executions", 8), "execut…");
        assert_eq!(cut("█████", 5), "███…");
        let painted = Paint(true).text(Meaning::Good, "covered");
        assert_eq!(cut(&painted, 4), "\x1b[32mcov\x1b[0m", "the colour ends");
    }

    #[test]
    fn without_colours_text_is_plain() {
        assert_eq!(Paint(false).text(Meaning::Bad, "crash"), "crash");
    }
}
