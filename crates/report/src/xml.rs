//! XML, written element by element and indented.
//!
//! quick-xml writes and escapes; characters that XML cannot hold at all, which it passes on, become question marks here.

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};

/// A document under construction.
pub struct Document {
    writer: Writer<Vec<u8>>,
    open: Vec<String>,
}

impl Document {
    /// An empty document; `doctype` may name its root element and schema.
    pub fn new(doctype: Option<&str>) -> Self {
        Self::with_declaration(BytesDecl::new("1.0", Some("UTF-8"), None), doctype)
    }

    /// The same that says of itself that it is not complete without its schema.
    pub fn dependent(doctype: &str) -> Self {
        Self::with_declaration(BytesDecl::new("1.0", Some("UTF-8"), Some("no")), Some(doctype))
    }

    fn with_declaration(declaration: BytesDecl<'_>, doctype: Option<&str>) -> Self {
        let mut document = Self { writer: Writer::new_with_indent(Vec::new(), b' ', 2), open: Vec::new() };
        document.write(Event::Decl(declaration));
        if let Some(doctype) = doctype {
            document.write(Event::DocType(BytesText::from_escaped(doctype)));
        }
        document
    }

    /// Begins an element.
    pub fn begin(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.write(Event::Start(tag(name, attributes)));
        self.open.push(name.to_owned());
    }

    /// Ends the innermost element.
    pub fn end(&mut self) {
        let name = self.open.pop().expect("what is ended was begun");
        self.write(Event::End(BytesEnd::new(name)));
    }

    /// An element without content.
    pub fn empty(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.write(Event::Empty(tag(name, attributes)));
    }

    /// An element with text.
    pub fn text(&mut self, name: &str, attributes: &[(&str, &str)], content: &str) {
        self.begin(name, attributes);
        self.write(Event::Text(BytesText::new(&possible(content))));
        self.end();
    }

    /// The whole document.
    pub fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.end();
        }
        let mut text = String::from_utf8(self.writer.into_inner()).expect("made of strings");
        text.push('\n');
        text
    }

    fn write(&mut self, event: Event<'_>) {
        self.writer.write_event(event).expect("writing to memory succeeds");
    }
}

fn tag<'a>(name: &'a str, attributes: &[(&str, &str)]) -> BytesStart<'a> {
    let mut tag = BytesStart::new(name);
    for (name, value) in attributes {
        tag.push_attribute((*name, possible(value).as_str()));
    }
    tag
}

/// The text with a question mark for every character that no XML document may contain.
fn possible(text: &str) -> String {
    let is_impossible =
        |c| matches!(c, '\0'..' ' | '\u{fffe}' | '\u{ffff}') && !matches!(c, '\t' | '\n' | '\r');
    text.replace(is_impossible, "?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_nest_and_text_is_safe() {
        let mut document = Document::new(None);
        document.begin("a", &[("x", "1 < \"2\"")]);
        document.text("b", &[], "f(s = \"\u{1}\") & more\nlines");
        document.empty("c", &[]);
        let expected = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<a x=\"1 &lt; &quot;2&quot;\">\n  \
            <b>f(s = &quot;?&quot;) &amp; more\nlines</b>\n  <c/>\n</a>\n";
        assert_eq!(document.finish(), expected);
    }

    #[test]
    fn a_document_names_its_schema() {
        let mut document = Document::dependent("a SYSTEM \"a.dtd\"");
        document.empty("a", &[]);
        let expected = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n<!DOCTYPE a SYSTEM \"a.dtd\">\n<a/>\n";
        assert_eq!(document.finish(), expected);
    }
}
