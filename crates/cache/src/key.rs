//! What an entry is made from, as a hash.

use std::fmt::Write;

use sha2::{Digest, Sha256};

/// The hash of named parts. Each part goes in with the lengths of its name and value, so no two lists of parts read the same.
#[derive(Clone, Debug, Default)]
pub struct Key(Sha256);

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.hex() == other.hex()
    }
}

impl Eq for Key {}

impl Key {
    /// The key of nothing, to which parts are added.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a part.
    #[must_use]
    pub fn part(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.add(name.as_bytes());
        self.add(value.as_ref());
        self
    }

    /// Adds a part that is a list.
    #[must_use]
    pub fn parts<T: AsRef<[u8]>>(mut self, name: &str, values: impl IntoIterator<Item = T>) -> Self {
        self.add(name.as_bytes());
        let mut list = Sha256::new();
        let mut n_values: u64 = 0;
        for value in values {
            let value = value.as_ref();
            list.update((value.len() as u64).to_le_bytes());
            list.update(value);
            n_values += 1;
        }
        self.0.update(n_values.to_le_bytes());
        self.add(&list.finalize());
        self
    }

    /// The hash in hexadecimal digits.
    #[must_use]
    pub fn hex(&self) -> String {
        hex(&self.0.clone().finalize())
    }

    /// Enough of the hash to tell entries apart in a log.
    pub(crate) fn short(&self) -> String {
        self.hex()[..12].to_owned()
    }

    fn add(&mut self, bytes: &[u8]) {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }
}

/// The hash of some bytes in hexadecimal digits.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes as hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut digits, byte| {
        write!(digits, "{byte:02x}").expect("writing to a string succeeds");
        digits
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_other_parts_differ() {
        let none: [&str; 0] = [];
        let keys = [
            Key::new(),
            Key::new().part("a", "bc"),
            Key::new().part("ab", "c"),
            Key::new().part("a", "b").part("c", ""),
            Key::new().parts("a", ["bc"]),
            Key::new().parts("a", ["b", "c"]),
            Key::new().parts("a", ["b"]).parts("c", none),
            Key::new().parts("a", none),
        ];
        let hashes: std::collections::BTreeSet<String> = keys.iter().map(Key::hex).collect();
        assert_eq!(hashes.len(), keys.len());
    }

    #[test]
    fn hashes_are_those_of_the_standard() {
        assert_eq!(sha256(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(sha256(&[b'a'; 119]), "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb");
    }

    #[test]
    fn keys_of_the_same_parts_are_equal() {
        let key = || Key::new().part("text", "int f;").parts("flags", ["-O0", "-g"]);
        assert_eq!(key().hex(), key().hex());
        assert_eq!(key().hex().len(), 64);
    }
}
