//! Inputs that resemble a known one.
//!
//! Method: a few changes to one kept input: a random value, a neighbouring one, one bit, a constant that the program
//! compares with, a value or a run of values from elsewhere in it or from another input, one value again and again, a word
//! of the program's text, something put in between or left out, another size. Cells stand in the order in which a run asked
//! for them, so that the characters of a text are neighbours.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use model::input::Key;
use model::{Global, Op, Program, Terminator};
use wire::{Cell, CellKind};

use super::texts::Given;
use crate::campaign::sources::random::random_value;
use crate::rng::Rng;

/// Changes made to one input at most; few are more likely.
const MAX_CHANGES: usize = 6;
/// Cells that are copied together at most.
const MAX_RUN: usize = 16;
/// Sizes that are tried at most.
const LARGEST_SIZE: u32 = 64;
/// One in so many changes may be to any cell, also to one without influence on paths.
const ANY_CELL: usize = 8;
/// The longest word.
const MAX_WORD: usize = 16;

/// What the program's text says of values.
pub(in crate::campaign::sources) struct Vocabulary {
    /// What values are compared with, in order.
    constants: Vec<u64>,
    /// Its short strings.
    words: Vec<Vec<u8>>,
}

impl Vocabulary {
    pub(in crate::campaign::sources) fn of(program: &Program) -> Self {
        let functions = program.functions.iter().filter(|function| !function.generated);
        let mut constants = BTreeSet::new();
        for function in functions {
            for instr in &function.instrs {
                if let Op::Compare(_, _, left, right) = &instr.op {
                    constants.extend([left, right].into_iter().filter_map(|operand| operand.constant()));
                }
            }
            for block in &function.blocks {
                if let Terminator::Switch { cases, .. } = &block.terminator {
                    constants.extend(cases.iter().filter_map(|case| u64::try_from(case.value).ok()));
                }
            }
        }
        let words: BTreeSet<Vec<u8>> = program.globals.iter().filter_map(word).collect();
        Self { constants: constants.into_iter().collect(), words: words.into_iter().collect() }
    }

    /// One of the words.
    pub(in crate::campaign::sources) fn word(&self, rng: &mut Rng) -> Option<Vec<u8>> {
        (!self.words.is_empty()).then(|| self.words[rng.below(self.words.len())].clone())
    }

    /// One of the constants, as a number with a sign.
    pub(in crate::campaign::sources) fn number(&self, rng: &mut Rng) -> Option<i64> {
        let constant =
            (!self.constants.is_empty()).then(|| self.constants[rng.below(self.constants.len())])?;
        // a negative number of 32 bits is kept without its sign
        let is_negative = u32::try_from(constant).is_ok_and(|low| low >> 31 == 1);
        let wide = i64::from_le_bytes(constant.to_le_bytes());
        Some(if is_negative { wide - (1 << 32) } else { wide })
    }

    /// A constant up to a bound.
    pub(in crate::campaign::sources) fn constant(&self, most: u64, rng: &mut Rng) -> Option<u64> {
        let n_fitting = self.constants.partition_point(|constant| *constant <= most);
        (n_fitting > 0).then(|| self.constants[rng.below(n_fitting)])
    }
}

fn word(global: &Global) -> Option<Vec<u8>> {
    let text = global.bytes.strip_suffix(&[0])?;
    let is_word = global.constant && (2..=MAX_WORD).contains(&text.len()) && text.is_ascii();
    (is_word && !text.contains(&0)).then(|| text.to_vec())
}

/// A kept input.
pub(in crate::campaign::sources) struct Seed {
    /// In the order in which its run asked for them.
    cells: Vec<Cell>,
    /// The numbers of those that are not idle.
    busy: Vec<usize>,
    /// What they amount to for a whole program, once that was asked.
    given: OnceCell<Given>,
}

impl Seed {
    pub(in crate::campaign::sources) fn new(cells: Vec<Cell>, idle: &BTreeSet<Key>) -> Self {
        let mut seed = Self { cells, busy: Vec::new(), given: OnceCell::new() };
        seed.look_for_idle(idle);
        seed
    }

    pub(super) fn n_cells(&self) -> usize {
        self.cells.len()
    }

    /// Hears which cells are idle.
    pub(in crate::campaign::sources) fn look_for_idle(&mut self, idle: &BTreeSet<Key>) {
        let is_busy = |number: &usize| !idle.contains(&Key(self.cells[*number].key));
        self.busy = (0..self.cells.len()).filter(is_busy).collect();
    }

    pub(super) fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// What the cells amount to, made when it is asked first.
    pub(super) fn given(&self, make: impl FnOnce(&[Cell]) -> Given) -> &Given {
        self.given.get_or_init(|| make(&self.cells))
    }

    #[cfg(test)]
    pub(in crate::campaign::sources) fn n_idle(&self) -> usize {
        self.cells.len() - self.busy.len()
    }

    /// Where to change it; it has a cell.
    pub(super) fn place(&self, rng: &mut Rng) -> usize {
        if self.busy.is_empty() || rng.below(ANY_CELL) == 0 {
            rng.below(self.cells.len())
        } else {
            self.busy[rng.below(self.busy.len())]
        }
    }
}

/// The cells of an input that resembles one of these; there must be one.
pub(in crate::campaign::sources) fn mutated(
    seeds: &[Seed],
    vocabulary: &Vocabulary,
    rng: &mut Rng,
) -> Vec<Cell> {
    // newer ones more often: they are where the search got to
    let from_end = rng.below(seeds.len()).min(rng.below(seeds.len()));
    let seed = &seeds[seeds.len() - 1 - from_end];
    let mut cells = seed.cells.clone();
    if cells.is_empty() {
        return cells;
    }
    let n_changes = 1 + rng.below(MAX_CHANGES).min(rng.below(MAX_CHANGES));
    for _ in 0..n_changes {
        let at = seed.place(rng);
        match cells[at].kind {
            CellKind::Value => {
                let elsewhere = seed.place(rng);
                change_value(&mut cells, at, elsewhere, seeds, vocabulary, rng);
            }
            CellKind::Size { most } | CellKind::Count { most } => {
                cells[at].value = size(cells[at].value, most, rng);
            }
            CellKind::Choice { n_options } | CellKind::Option { n_options } => {
                cells[at].value = rng.below(n_options.max(1) as usize) as u64;
            }
        }
    }
    cells
}

fn size(size: u64, most: u32, rng: &mut Rng) -> u64 {
    match rng.below(3) {
        0 => (size + 1).min(u64::from(most)),
        1 => size.saturating_sub(1),
        _ => rng.below(most.min(LARGEST_SIZE) as usize + 1) as u64,
    }
}

fn change_value(
    cells: &mut [Cell],
    at: usize,
    elsewhere: usize,
    seeds: &[Seed],
    vocabulary: &Vocabulary,
    rng: &mut Rng,
) {
    let mask = u64::MAX >> (64 - cells[at].width.clamp(1, 64));
    let value = cells[at].value;
    let changed = match rng.below(13) {
        0 | 1 => random_value(cells[at].width, rng),
        2 => value.wrapping_add(rng.below(33) as u64).wrapping_sub(16),
        3 => value ^ 1 << rng.below(cells[at].width.clamp(1, 64) as usize),
        4 | 11 => vocabulary.constant(mask, rng).unwrap_or(value ^ 1),
        5 => cells[elsewhere].value,
        6 => {
            let from = &seeds[rng.below(seeds.len())].cells;
            let start = if from.is_empty() { 0 } else { rng.below(from.len()) };
            return copy(&from[start..], cells, at, 1 + rng.below(MAX_RUN));
        }
        7 => {
            let from = cells.to_vec();
            return copy(&from[elsewhere..], cells, at, 1 + rng.below(MAX_RUN));
        }
        8 if !vocabulary.words.is_empty() && cells[at].width == 8 => {
            let word = &vocabulary.words[rng.below(vocabulary.words.len())];
            let spelled = word.iter().map(|&byte| Cell { value: byte.into(), ..cells[at] });
            return copy(&spelled.collect::<Vec<Cell>>(), cells, at, MAX_WORD);
        }
        9 | 10 => return shift(cells, at, rng),
        12 => {
            let from = vec![cells[elsewhere]; 1 + rng.below(MAX_RUN)];
            return copy(&from, cells, at, MAX_RUN);
        }
        _ => rng.bits(),
    };
    cells[at].value = changed & mask;
}

/// Leaves some values out, or makes room for them, and moves those behind, as long as the cells are alike.
fn shift(cells: &mut [Cell], at: usize, rng: &mut Rng) {
    let like = cells[at];
    let alike = cells[at..].iter().take_while(|cell| (cell.width, cell.kind) == (like.width, like.kind));
    let values: Vec<u64> = alike.map(|cell| cell.value).collect();
    let n_moved = 1 + rng.below(MAX_RUN).min(rng.below(MAX_RUN));
    let (room, rest) = if rng.below(2) == 0 { (n_moved, 0) } else { (0, n_moved.min(values.len())) };
    for (cell, value) in cells[at + room.min(values.len())..].iter_mut().zip(&values[rest..]) {
        if (cell.width, cell.kind) != (like.width, like.kind) {
            break;
        }
        cell.value = *value;
    }
}

/// Copies values to a place on, as long as the cells are alike.
fn copy(from: &[Cell], to: &mut [Cell], at: usize, n_cells: usize) {
    let pairs = from.iter().zip(&mut to[at..]).take(n_cells);
    for (from, to) in pairs.take_while(|(from, to)| (from.width, from.kind) == (to.width, to.kind)) {
        to.value = from.value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> Vec<Cell> {
        let cell = |(key, byte): (u64, &u8)| Cell {
            key,
            value: u64::from(*byte),
            node: 0,
            width: 8,
            kind: CellKind::Value,
        };
        (0..).zip(bytes).map(cell).collect()
    }

    fn seed(cells: Vec<Cell>) -> Seed {
        Seed::new(cells, &BTreeSet::new())
    }

    #[test]
    fn idle_cells_are_seldom_changed() {
        let vocabulary = Vocabulary { constants: vec![], words: vec![] };
        let seeds = [Seed::new(text(b"abcd"), &[0, 2, 3].map(Key).into())];
        let mut rng = Rng::new(5);
        let n_changes = |rng: &mut Rng| (0..1000).filter(|_| seeds[0].place(rng) != 1).count();
        assert!((1..250).contains(&n_changes(&mut rng)));
        assert!((0..100).any(|_| mutated(&seeds, &vocabulary, &mut rng)[1].value != u64::from(b'b')));
    }

    #[test]
    fn changed_values_fit_their_cells() {
        let mut inputs = vec![text(b"hello, world"), text(b"")];
        inputs.push(vec![
            Cell { key: 1, value: 3, node: 0, width: 32, kind: CellKind::Size { most: 5 } },
            Cell { key: 2, value: 0, node: 0, width: 8, kind: CellKind::Choice { n_options: 3 } },
            Cell { key: 3, value: 1, node: 0, width: 13, kind: CellKind::Value },
        ]);
        let seeds: Vec<Seed> = inputs.into_iter().map(seed).collect();
        let vocabulary = Vocabulary { constants: vec![300, 1 << 40], words: vec![b"null".to_vec()] };
        let mut rng = Rng::new(5);
        for cell in (0..2000).flat_map(|_| mutated(&seeds, &vocabulary, &mut rng)) {
            let fits = match cell.kind {
                CellKind::Size { most } | CellKind::Count { most } => cell.value <= u64::from(most),
                CellKind::Choice { n_options } | CellKind::Option { n_options } => {
                    cell.value < u64::from(n_options)
                }
                CellKind::Value => cell.value >> cell.width == 0,
            };
            assert!(fits, "{cell:?}");
        }
    }

    #[test]
    fn a_value_is_repeated() {
        let vocabulary = Vocabulary { constants: vec![], words: vec![] };
        let mut rng = Rng::new(5);
        let repeated = (0..2000).any(|_| {
            let cells = mutated(&[seed(text(b"abcdefgh"))], &vocabulary, &mut rng);
            cells[..6].iter().all(|cell| cell.value == cells[0].value)
        });
        assert!(repeated);
    }

    #[test]
    fn words_of_the_program_are_spelled() {
        let vocabulary = Vocabulary { constants: vec![], words: vec![b"null".to_vec()] };
        let mut rng = Rng::new(5);
        let spelled = (0..2000).any(|_| {
            let cells = mutated(&[seed(text(b"aaaaaa"))], &vocabulary, &mut rng);
            cells.windows(4).any(|run| run.iter().map(|cell| cell.value).eq(b"null".map(u64::from)))
        });
        assert!(spelled);
    }
}
