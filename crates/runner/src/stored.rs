//! What was built, in the files of an entry of the cache.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Error;

/// Writes something to a file of its own.
pub fn write<T: Serialize>(file: &Path, value: &T) -> Result<(), Error> {
    let bytes = serde_json::to_vec(value)
        .map_err(|error| Error::internal(format!("cannot write {}: {error}", file.display())))?;
    std::fs::write(file, bytes)
        .map_err(|error| Error::internal(format!("cannot write {}: {error}", file.display())))
}

/// Reads what [`write`] wrote.
pub fn read<T: DeserializeOwned>(file: &Path) -> Result<T, Error> {
    let bytes = std::fs::read(file)
        .map_err(|error| Error::internal(format!("cannot read {}: {error}", file.display())))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| Error::internal(format!("{} is no built program: {error}", file.display())))
}
