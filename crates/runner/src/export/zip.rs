//! Zip archives whose files are stored as they are: test suites are small. The same files give the same archive, because no time is noted.

use std::io::{Cursor, Write};

use zip::result::ZipResult;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// An archive of these files, each with its name.
pub fn stored(files: &[(String, String)]) -> ZipResult<Vec<u8>> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::DEFAULT);
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in files {
        archive.start_file(name.as_str(), options)?;
        archive.write_all(text.as_bytes())?;
    }
    Ok(archive.finish()?.into_inner())
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn an_archive_holds_its_files_in_order() {
        let files = [("b.xml".to_owned(), "abc".to_owned()), ("a.xml".to_owned(), String::new())];
        let bytes = stored(&files).expect("an archive");
        assert_eq!(bytes, stored(&files).expect("an archive"), "the same archive again");
        let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).expect("an archive");
        for (index, (name, text)) in files.iter().enumerate() {
            let mut file = archive.by_index(index).expect("a file");
            let mut read = String::new();
            file.read_to_string(&mut read).expect("text");
            assert_eq!(
                (&*file.name().expect("text"), file.compression(), &read),
                (name.as_str(), CompressionMethod::Stored, text)
            );
        }
    }
}
