//! XML, written element by element and indented.

use std::fmt::Write;

/// A document under construction.
#[derive(Debug)]
pub struct Document {
    text: String,
    open: Vec<String>,
}

impl Document {
    /// An empty document; `doctype` may name its schema.
    pub fn new(doctype: Option<&str>) -> Self {
        let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
        if let Some(doctype) = doctype {
            text.push_str(doctype);
            text.push('\n');
        }
        Self { text, open: Vec::new() }
    }

    /// Begins an element.
    pub fn begin(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.tag(name, attributes, ">\n");
        self.open.push(name.to_owned());
    }

    /// Ends the innermost element.
    pub fn end(&mut self) {
        let name = self.open.pop().expect("what is ended was begun");
        let indent = "  ".repeat(self.open.len());
        writeln!(self.text, "{indent}</{name}>").expect("writing to a string succeeds");
    }

    /// An element without content.
    pub fn empty(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.tag(name, attributes, "/>\n");
    }

    /// An element with text.
    pub fn text(&mut self, name: &str, attributes: &[(&str, &str)], content: &str) {
        self.tag(name, attributes, ">");
        writeln!(self.text, "{}</{name}>", escaped(content)).expect("writing to a string succeeds");
    }

    /// The whole document.
    pub fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.end();
        }
        self.text
    }

    fn tag(&mut self, name: &str, attributes: &[(&str, &str)], close: &str) {
        let indent = "  ".repeat(self.open.len());
        write!(self.text, "{indent}<{name}").expect("writing to a string succeeds");
        for (name, value) in attributes {
            write!(self.text, " {name}=\"{}\"", escaped(value)).expect("writing to a string succeeds");
        }
        self.text.push_str(close);
    }
}

/// Characters that mean something in XML by name, and what XML cannot hold as a question mark.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\t' | '\n' | '\r' => safe.push(c),
            '\0'..' ' | '\u{fffe}' | '\u{ffff}' => safe.push('?'),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_nest_and_text_is_safe() {
        let mut document = Document::new(None);
        document.begin("a", &[("x", "1 < \"2\"")]);
        document.text("b", &[], "f(s = \"\u{1}\") & more");
        document.empty("c", &[]);
        let expected = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<a x=\"1 &lt; &quot;2&quot;\">\n  \
            <b>f(s = &quot;?&quot;) &amp; more</b>\n  <c/>\n</a>\n";
        assert_eq!(document.finish(), expected);
    }
}
