//! Relative paths from an exported directory to the sources, so that both can be moved together.

use std::path::{Component, Path, PathBuf};

/// The path to `to` from the directory `from`, both absolute; `to` itself when they only share the root.
pub fn relative(from: &Path, to: &Path) -> PathBuf {
    let (from, to): (Vec<Component<'_>>, Vec<Component<'_>>) =
        (from.components().collect(), to.components().collect());
    let n_common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    if n_common <= 1 {
        return to.iter().collect();
    }
    let up = from[n_common..].iter().map(|_| Component::ParentDir);
    up.chain(to[n_common..].iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_in_one_project_is_named_from_there() {
        let check = |from: &str, to: &str, expected: &str| {
            assert_eq!(relative(Path::new(from), Path::new(to)), Path::new(expected));
        };
        check("/home/me/lib/tests/f", "/home/me/lib/src/f.c", "../../src/f.c");
        check("/home/me/lib", "/home/me/lib/f.c", "f.c");
        check("/tmp/out", "/home/me/f.c", "/home/me/f.c");
    }
}
