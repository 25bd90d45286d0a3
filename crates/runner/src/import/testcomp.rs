//! Suites in Test-Comp's exchange format: a directory of XML files, a zip archive of them, or one test.
//!
//! A test is the list of values that calls of `__VERIFIER_nondet_*` functions return, in the order of all calls. Many tools
//! leave out which function it was: such a value is given to whichever is called.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use quick_xml::Reader;
use quick_xml::events::Event;

use super::{Found, FoundTest, Given, LeftOut, Reading, files_in, stem};
use crate::error::Error;

/// What a call gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NondetResult {
    /// The type in the function's name, if the test says it.
    pub function: Option<String>,
    pub value: String,
}

/// A test is small; what is larger is none.
const LARGEST: u64 = 1 << 26;
const METADATA: &str = "metadata.xml";

/// Whether a file looks like a test of a suite without metadata.
pub(super) fn is_testcase(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".xml") && name.contains("test")
}

/// Reads a suite or a test.
pub(super) fn read(reading: &Reading<'_>, found: &mut Found) -> Result<(), Error> {
    if reading.path.extension().is_some_and(|extension| extension == "zip") {
        return read_archive(reading, found);
    }
    let files = if reading.path.is_dir() { files_in(reading.path)? } else { vec![reading.path.to_owned()] };
    let is_test = |file: &&std::path::PathBuf| {
        let is_xml = file.extension().is_some_and(|extension| extension == "xml");
        is_xml && file.file_name().is_some_and(|name| name != METADATA)
    };
    for file in files.iter().filter(is_test) {
        let text = std::fs::read_to_string(file).map_err(|error| format!("cannot be read: {error}"));
        take(stem(file), reading.origin(file), text, found);
    }
    Ok(())
}

fn read_archive(reading: &Reading<'_>, found: &mut Found) -> Result<(), Error> {
    let place = reading.place.display();
    let broken = |error: &dyn std::error::Error| {
        Error::usage(format!("{place} is not a zip archive that can be read: {error}"))
    };
    let file = File::open(reading.path).map_err(|error| broken(&error))?;
    let mut archive = zip::ZipArchive::new(file).map_err(|error| broken(&error))?;
    for index in 0..archive.len() {
        let mut entry = match archive.by_index(index) {
            Ok(entry) => entry,
            Err(error) => {
                let (name, origin) = (format!("entry_{index}"), format!("{place}#{index}"));
                found.left_out.push(LeftOut { name, origin, why: format!("cannot be read: {error}") });
                continue;
            }
        };
        let name = entry.name().map_or_else(|_| format!("entry_{index}"), |name| name.to_string());
        if !name.ends_with(".xml") || Path::new(&name).file_name().is_some_and(|name| name == METADATA) {
            continue;
        }
        let mut text = String::new();
        let read = (&mut entry).take(LARGEST).read_to_string(&mut text);
        let text = read.map(|_| text).map_err(|error| format!("cannot be read: {error}"));
        take(stem(Path::new(&name)), format!("{place}/{name}"), text, found);
    }
    Ok(())
}

fn take(name: String, origin: String, text: Result<String, String>, found: &mut Found) {
    match text.and_then(|text| parse(&text)) {
        Ok(results) => found.tests.push(FoundTest { name, origin, given: Given::Results(results) }),
        Err(why) => found.left_out.push(LeftOut { name, origin, why }),
    }
}

/// The values of a test.
fn parse(text: &str) -> Result<Vec<NondetResult>, String> {
    let broken = |error: &dyn std::error::Error| format!("it is not XML: {error}");
    let mut reader = Reader::from_str(text);
    let mut results = Vec::new();
    let mut is_testcase = false;
    let mut open: Option<NondetResult> = None;
    loop {
        match reader.read_event().map_err(|error| broken(&error))? {
            Event::Start(element) if element.name().as_ref() == "testcase" => is_testcase = true,
            Event::Empty(element) if element.name().as_ref() == "testcase" => is_testcase = true,
            Event::Start(element) if element.name().as_ref() == "input" => {
                let attribute = element.try_get_attribute("type").map_err(|error| broken(&error))?;
                let function = attribute.map(|attribute| attribute.value.into_owned());
                open = Some(NondetResult { function, value: String::new() });
            }
            Event::Text(part) => {
                if let Some(result) = &mut open {
                    result.value.push_str(&part);
                }
            }
            Event::GeneralRef(reference) => {
                let character = reference.resolve_char_ref().map_err(|error| broken(&error))?;
                let named = quick_xml::escape::resolve_predefined_entity(&reference);
                if let Some(result) = &mut open {
                    result.value.extend(character);
                    result.value.push_str(named.unwrap_or_default());
                }
            }
            Event::CData(part) => {
                if let Some(result) = &mut open {
                    result.value.push_str(&part);
                }
            }
            Event::End(element) if element.name().as_ref() == "input" => results.extend(open.take()),
            Event::Eof if open.is_some() => return Err("it is not XML: it ends within an input".to_owned()),
            Event::Eof if is_testcase => return Ok(results),
            Event::Eof => return Err("it is not a test of Test-Comp: it has no <testcase>".to_owned()),
            Event::Start(_)
            | Event::Empty(_)
            | Event::End(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_)
            | Event::DocType(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_in_order_with_or_without_their_function() {
        let text = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n\
            <!DOCTYPE testcase PUBLIC \"+//IDN sosy-lab.org//DTD test-format testcase 1.1//EN\" \
            \"https://sosy-lab.org/test-format/testcase-1.1.dtd\">\n\
            <testcase>\n  <input type=\"int\">-3</input>\n  <input variable=\"x\">&#39;a&apos;</input>\n</testcase>\n";
        let result = |function: Option<&str>, value: &str| NondetResult {
            function: function.map(str::to_owned),
            value: value.to_owned(),
        };
        assert_eq!(parse(text), Ok(vec![result(Some("int"), "-3"), result(None, "'a'")]));
        assert_eq!(parse("<testcase/>"), Ok(Vec::new()));
        assert!(parse("<testcase><input>3").expect_err("broken").starts_with("it is not XML: "));
        assert!(parse("<testcase><input></testcase>").expect_err("broken").starts_with("it is not XML: "));
        assert_eq!(parse("<a></a>"), Err("it is not a test of Test-Comp: it has no <testcase>".to_owned()));
    }
}
