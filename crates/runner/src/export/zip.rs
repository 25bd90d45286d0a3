//! Zip archives whose files are stored as they are: test suites are small, and nobody else has to be trusted.

/// An archive of these files, each with its name.
pub fn stored(files: &[(String, String)]) -> Vec<u8> {
    let mut archive = Vec::new();
    let mut directory = Vec::new();
    for (name, text) in files {
        let offset = size(archive.len());
        let entry = entry(name, text);
        archive.extend(b"PK\x03\x04");
        archive.extend(&entry);
        archive.extend(name.as_bytes());
        archive.extend(text.as_bytes());
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&entry);
        // no comment, first disk, no attributes
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let start = size(archive.len());
    archive.extend(&directory);
    archive.extend(b"PK\x05\x06\0\0\0\0");
    let n_files = u16::try_from(files.len()).expect("fewer than 65536 tests");
    archive.extend(n_files.to_le_bytes());
    archive.extend(n_files.to_le_bytes());
    archive.extend(size(directory.len()).to_le_bytes());
    archive.extend(start.to_le_bytes());
    archive.extend([0; 2]);
    archive
}

/// What both headers say of a file: version 2.0, stored, 1 January 1980, checksum and sizes.
fn entry(name: &str, text: &str) -> Vec<u8> {
    let mut entry = vec![0x14, 0, 0, 0, 0, 0, 0, 0, 0x21, 0];
    entry.extend(crc32(text.as_bytes()).to_le_bytes());
    entry.extend(size(text.len()).to_le_bytes());
    entry.extend(size(text.len()).to_le_bytes());
    entry.extend(u16::try_from(name.len()).expect("names are short").to_le_bytes());
    entry.extend([0; 2]);
    entry
}

fn size(bytes: usize) -> u32 {
    u32::try_from(bytes).expect("a suite has less than 4 GiB")
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = crc >> 1 ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 };
        }
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_the_standard() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn an_archive_ends_with_its_directory() {
        let files = [("a.xml".to_owned(), "abc".to_owned()), ("b.xml".to_owned(), String::new())];
        let archive = stored(&files);
        let start =
            u32::from_le_bytes(archive[archive.len() - 6..archive.len() - 2].try_into().expect("four"));
        assert_eq!(&archive[start as usize..start as usize + 4], b"PK\x01\x02");
        // headers, the names in both, the text, the end
        assert_eq!(archive.len(), 2 * (30 + 46 + 2 * 5) + 3 + 22);
    }
}
