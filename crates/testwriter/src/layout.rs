//! Lines that people can read: initialisers and comments that are too wide are broken.
//!
//! Method: a wide line with a list in braces gets a line for each member, or as many elements as have room; members that are
//! still too wide are broken in turn. Limit: a wide line without braces stays as it is.

/// Columns of a line.
const WIDTH: usize = 100;

/// The text with its wide lines broken.
pub fn folded(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for line in text.lines() {
        if line.chars().count() <= WIDTH {
            folded.push_str(line);
        } else if let Some(comment) = line.strip_prefix("/* ").and_then(|line| line.strip_suffix(" */")) {
            folded.push_str(&filled(comment.split(' '), "/* ", " * ", " "));
            folded.push_str(" */");
        } else if line.starts_with('#') {
            folded.push_str(line);
        } else {
            let indent = line.len() - line.trim_start().len();
            folded.push_str(&broken(line, indent));
        }
        folded.push('\n');
    }
    folded
}

/// A line whose first list in braces is broken, if it is too wide and has one.
fn broken(line: &str, indent: usize) -> String {
    let Some((open, close)) = braces(line).filter(|_| line.chars().count() > WIDTH) else {
        return line.to_owned();
    };
    let members = split(&line[open + 1..close]);
    let inner = " ".repeat(indent + 4);
    let is_plain = members.iter().all(|member| !member.starts_with('.') && !member.contains('{'));
    let list = if is_plain {
        let words: Vec<String> = members.iter().map(|member| format!("{member},")).collect();
        filled(words.iter().map(String::as_str), &inner, &inner, " ")
    } else {
        let member = |member: &&str| broken(&format!("{inner}{member},"), indent + 4);
        members.iter().map(member).collect::<Vec<_>>().join("\n")
    };
    format!("{}\n{list}\n{}{}", &line[..=open], " ".repeat(indent), &line[close..])
}

/// Words, as many to a line as have room.
fn filled<'w>(words: impl Iterator<Item = &'w str>, first: &str, next: &str, between: &str) -> String {
    let mut text = first.to_owned();
    let mut width = first.len();
    let mut is_first = true;
    for word in words {
        let wide = word.chars().count();
        if !is_first && width + between.len() + wide > WIDTH - 3 {
            text.push('\n');
            text.push_str(next);
            width = next.len();
        } else if !is_first {
            text.push_str(between);
            width += between.len();
        }
        text.push_str(word);
        width += wide;
        is_first = false;
    }
    text
}

/// Where the first list in braces begins and ends.
fn braces(line: &str) -> Option<(usize, usize)> {
    let mut open = None;
    let mut depth = 0usize;
    for (at, c) in code(line) {
        match c {
            '{' => {
                open.get_or_insert(at);
                depth += 1;
            }
            '}' if depth == 1 => return Some((open?, at)),
            '}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

/// The members of a list.
fn split(list: &str) -> Vec<&str> {
    let mut depth = 0usize;
    let mut begin = 0;
    let mut members = Vec::new();
    for (at, c) in code(list) {
        match c {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                members.push(list[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    members.push(list[begin..].trim());
    members.retain(|member| !member.is_empty());
    members
}

/// The characters outside of literals, with their places.
fn code(line: &str) -> impl Iterator<Item = (usize, char)> {
    let mut literal = None;
    let mut is_escaped = false;
    line.char_indices().filter(move |(_, c)| match literal {
        Some(quote) => {
            if !is_escaped && *c == quote {
                literal = None;
            }
            is_escaped = !is_escaped && *c == '\\';
            false
        }
        None => {
            if matches!(c, '"' | '\'') {
                literal = Some(*c);
            }
            literal.is_none()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_initialisers_get_a_line_for_each_member() {
        let numbers = (0..40).map(|number| number.to_string()).collect::<Vec<_>>().join(", ");
        let line = format!(
            "    struct s *p = new(&(struct s){{.name = \"a, {{b\", .c = '}}', .v = {{{numbers}}}}}, 3);\n"
        );
        let expected = "    struct s *p = new(&(struct s){
        .name = \"a, {b\",
        .c = '}',
        .v = {
            0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
            24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39,
        },
    }, 3);
";
        assert_eq!(folded(&line), expected);
    }

    #[test]
    fn narrow_lines_and_lines_without_a_list_stay() {
        let text = format!("    int v[2] = {{1, 2}};\n    check({});\n", "x".repeat(120));
        assert_eq!(folded(&text), text);
    }

    #[test]
    fn wide_comments_are_filled() {
        let text = folded(&format!("/* {}*/\n", "word ".repeat(30)));
        assert!(text.lines().all(|line| line.len() <= WIDTH) && text.lines().count() == 2, "{text}");
        assert!(
            text.lines().nth(1).is_some_and(|line| line.starts_with(" * word") && line.ends_with("word */"))
        );
    }
}
