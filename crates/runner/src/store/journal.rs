//! `journal.jsonl`: every input worth keeping, in the order of discovery, from which a campaign is resumed.
//!
//! Method: a line is appended for each, in one piece, before anything else about it is written, and none is ever changed. A
//! partial last line of a killed process is skipped when reading. Inputs are stored as cells, which is exact. The lines
//! also record how coverage grew.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

use engine::campaign::Provenance;
use model::input::{Input, Key};
use serde::{Deserialize, Serialize};

/// Name of the file.
pub const JOURNAL_FILE: &str = "journal.jsonl";

/// A line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Which time the campaign was started, from 1.
    pub session: u32,
    /// Since then.
    pub seconds: f64,
    pub executions: u64,
    /// Goals covered then, and all.
    pub covered: usize,
    pub goals: usize,
    /// `tests`, `crashes` or `hangs`.
    pub kind: String,
    /// Where the input comes from, in a word; journals of older versions lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<String>,
    /// The cells and their values, hexadecimal: `0:ff 1:102`.
    pub cells: String,
}

/// The journal of a run under way.
#[derive(Debug)]
pub struct Journal {
    file: File,
}

impl Journal {
    /// Opens it to go on writing.
    pub fn open(directory: &Path) -> io::Result<Self> {
        let path = directory.join(JOURNAL_FILE);
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        if !ends_in_line(&mut file)? {
            file.write_all(b"\n")?;
        }
        Ok(Self { file })
    }

    /// Appends a line; what was written of it is taken back when it does not fit.
    pub fn append(&mut self, entry: &Entry) -> io::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        let before = self.file.metadata()?.len();
        self.file.write_all(&line).inspect_err(|_| {
            // a line that is cut off would be skipped, too
            let _ = self.file.set_len(before);
        })
    }
}

/// The entries of a directory's journal, without what cannot be read.
pub fn read(directory: &Path) -> io::Result<Vec<Entry>> {
    let text = match std::fs::read(directory.join(JOURNAL_FILE)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    Ok(text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect())
}

impl Entry {
    /// Where the input comes from, as far as the line says.
    pub fn provenance(&self) -> Provenance {
        self.provenance.as_deref().and_then(Provenance::from_word).unwrap_or(Provenance::Resumed)
    }

    /// The input it keeps.
    pub fn input(&self) -> Option<Input> {
        let cell = |text: &str| {
            let (key, value) = text.split_once(':')?;
            Some((Key(u64::from_str_radix(key, 16).ok()?), u64::from_str_radix(value, 16).ok()?))
        };
        let values: Option<BTreeMap<Key, u64>> = self.cells.split_whitespace().map(cell).collect();
        values.map(|values| Input { values })
    }
}

/// An input as a line keeps it.
pub fn cells(input: &Input) -> String {
    let cells: Vec<String> =
        input.values.iter().map(|(key, value)| format!("{:x}:{value:x}", key.0)).collect();
    cells.join(" ")
}

/// Time as lines tell it.
pub fn seconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1000.0).round() / 1000.0
}

fn ends_in_line(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(value: u64) -> Entry {
        let input = Input { values: [(Key(0), value), (Key(u64::MAX), 7)].into() };
        Entry {
            session: 1,
            seconds: 0.25,
            executions: 3,
            covered: 1,
            goals: 2,
            kind: "tests".to_owned(),
            provenance: Some(Provenance::Mutated.word().to_owned()),
            cells: cells(&input),
        }
    }

    #[test]
    fn inputs_come_back_exactly() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let mut journal = Journal::open(directory.path()).expect("writable");
        let entries = [entry(u64::MAX), entry(0)];
        entries.iter().for_each(|entry| journal.append(entry).expect("written"));
        let read = read(directory.path()).expect("readable");
        assert_eq!(read, entries);
        assert_eq!(read[0].provenance(), Provenance::Mutated);
        assert_eq!(Entry { provenance: None, ..entry(1) }.provenance(), Provenance::Resumed);
        let input = read[0].input().expect("well formed");
        assert_eq!(input.values, [(Key(0), u64::MAX), (Key(u64::MAX), 7)].into());
        assert_eq!(Entry { cells: "0:1 x".to_owned(), ..entry(1) }.input(), None);
    }

    #[test]
    fn a_line_cut_off_costs_only_itself() {
        let directory = tempfile::tempdir().expect("temporary directory");
        Journal::open(directory.path()).and_then(|mut journal| journal.append(&entry(1))).expect("written");
        let path = directory.path().join(JOURNAL_FILE);
        let whole = std::fs::read(&path).expect("there");
        for cut in 1..whole.len() {
            let torn = [&whole[..], &whole[..cut]].concat();
            std::fs::write(&path, torn).expect("writable");
            Journal::open(directory.path())
                .and_then(|mut journal| journal.append(&entry(2)))
                .expect("written");
            let n_whole = usize::from(cut == whole.len() - 1);
            let read = read(directory.path()).expect("readable");
            assert_eq!(read.len(), 2 + n_whole, "cut at {cut}");
            assert_eq!(read.last(), Some(&entry(2)));
        }
    }

    #[test]
    fn no_journal_has_no_entries() {
        let directory = tempfile::tempdir().expect("temporary directory");
        assert_eq!(read(directory.path()).expect("no failure"), []);
    }
}
