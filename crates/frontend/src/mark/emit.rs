//! Writes the text with its marks.

use crate::preprocess::Text;

use super::draft::Draft;

/// What line 1 of every text declares.
pub const DECLARATION: &str = "extern _Bool __q(unsigned, _Bool);";

/// What `main` is called when it is not where a run starts.
pub const USER_MAIN: &str = "__quarry_user_main";

/// The text with a mark around every leaf; ids count from 0. No line moves.
pub fn marked_text(text: &Text, draft: &Draft, rename_main: bool) -> Vec<u8> {
    let n_lines = text.n_lines() as usize;
    let mut opened: Vec<Vec<usize>> = vec![Vec::new(); n_lines + 1];
    let mut closed = vec![0usize; n_lines + 1];
    for (index, leaf) in draft.leaves.iter().enumerate() {
        // Outer leaves are found before the ones inside them, so this order nests.
        opened[leaf.lines.0 as usize].push(index);
        closed[leaf.lines.1 as usize] += 1;
    }
    let mut bytes = DECLARATION.as_bytes().to_vec();
    bytes.push(b'\n');
    for line in 2..=text.n_lines() {
        for leaf in &opened[line as usize] {
            bytes.extend_from_slice(format!("__q({leaf},(").as_bytes());
        }
        if rename_main && draft.main_end == Some(line) {
            // Only the real main returns 0 without saying so.
            bytes.extend_from_slice(b"return 0;");
        }
        if rename_main && draft.main_names.contains(&line) {
            bytes.extend_from_slice(USER_MAIN.as_bytes());
        } else {
            bytes.extend_from_slice(text.line(line));
        }
        for _ in 0..closed[line as usize] {
            bytes.extend_from_slice(b"))");
        }
        bytes.push(b'\n');
    }
    bytes
}
