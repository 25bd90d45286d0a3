//! Which variables a term depends on, for every term at once.
//!
//! Method: sets are hash-consed binary tries over blocks of 64 variables, so that the sets of a chain of terms, each
//! with one variable more, cost a logarithmic number of nodes per term and equal sets have equal ids.

use super::Var;
use super::hash::FastMap;

/// A set of variables held in [`VarSets`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct VarSet(u32);

impl VarSet {
    /// The set without variables.
    pub(crate) const EMPTY: VarSet = VarSet(0);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Trie {
    Empty,
    /// Variables of one block, one bit each.
    Leaf(u64),
    /// Covers `2^height` blocks, half of them in each child.
    Branch {
        height: u8,
        left: VarSet,
        right: VarSet,
    },
}

/// All sets of one store. A set's root is as low as possible, so equal sets are the same node.
#[derive(Debug, Clone)]
pub(crate) struct VarSets {
    nodes: Vec<Trie>,
    ids: FastMap<Trie, VarSet>,
    unions: FastMap<(VarSet, VarSet), VarSet>,
}

/// The variables of one term, in order of creation.
#[derive(Clone, Copy)]
pub struct Vars<'s> {
    pub(super) sets: &'s VarSets,
    pub(super) set: VarSet,
}

impl VarSets {
    pub(crate) fn new() -> VarSets {
        VarSets { nodes: vec![Trie::Empty], ids: FastMap::default(), unions: FastMap::default() }
    }

    pub(crate) fn singleton(&mut self, var: Var) -> VarSet {
        let block = var.index() / 64;
        let mut set = self.intern(Trie::Leaf(1 << (var.index() % 64)));
        let n_levels = usize::BITS - block.leading_zeros();
        for level in 0..n_levels {
            let height = u8::try_from(level + 1).expect("a block number has few bits");
            set = if block >> level & 1 == 0 {
                self.intern(Trie::Branch { height, left: set, right: VarSet::EMPTY })
            } else {
                self.intern(Trie::Branch { height, left: VarSet::EMPTY, right: set })
            };
        }
        set
    }

    pub(crate) fn union(&mut self, a: VarSet, b: VarSet) -> VarSet {
        if a == b || b == VarSet::EMPTY {
            return a;
        }
        if a == VarSet::EMPTY {
            return b;
        }
        let key = if a.0 < b.0 { (a, b) } else { (b, a) };
        if let Some(&known) = self.unions.get(&key) {
            return known;
        }
        let result = self.compute_union(a, b);
        self.unions.insert(key, result);
        result
    }

    /// Recursion is as deep as a trie is high: at most 26 levels.
    fn compute_union(&mut self, a: VarSet, b: VarSet) -> VarSet {
        let (height_a, height_b) = (self.height(a), self.height(b));
        if height_a < height_b {
            return self.compute_union(b, a);
        }
        match (self.nodes[a.0 as usize], self.nodes[b.0 as usize]) {
            (Trie::Leaf(mask_a), Trie::Leaf(mask_b)) => self.intern(Trie::Leaf(mask_a | mask_b)),
            (Trie::Branch { height, left, right }, _) if height_a > height_b => {
                // A lower root holds the first blocks only.
                let left = self.union(left, b);
                self.intern(Trie::Branch { height, left, right })
            }
            (Trie::Branch { height, left, right }, Trie::Branch { left: left_b, right: right_b, .. }) => {
                let left = self.union(left, left_b);
                let right = self.union(right, right_b);
                self.intern(Trie::Branch { height, left, right })
            }
            (Trie::Empty, _) => b,
            (_, Trie::Empty) => a,
            (Trie::Leaf(_), Trie::Branch { .. }) | (Trie::Branch { .. }, Trie::Leaf(_)) => {
                unreachable!("the higher trie is on the left, and leaves have height 0")
            }
        }
    }

    fn height(&self, set: VarSet) -> u8 {
        match self.nodes[set.0 as usize] {
            Trie::Empty | Trie::Leaf(_) => 0,
            Trie::Branch { height, .. } => height,
        }
    }

    fn intern(&mut self, trie: Trie) -> VarSet {
        *self.ids.entry(trie).or_insert_with(|| {
            self.nodes.push(trie);
            VarSet(u32::try_from(self.nodes.len() - 1).expect("fewer than 2^32 variable sets"))
        })
    }

    fn collect(&self, set: VarSet, first_block: usize, out: &mut Vec<Var>) {
        match self.nodes[set.0 as usize] {
            Trie::Empty => {}
            Trie::Leaf(mask) => {
                let bits = (0..64).filter(|bit| mask >> bit & 1 == 1);
                out.extend(bits.map(|bit| Var::from_index(first_block * 64 + bit)));
            }
            Trie::Branch { height, left, right } => {
                self.collect(left, first_block, out);
                self.collect(right, first_block + (1 << (height - 1)), out);
            }
        }
    }
}

impl Vars<'_> {
    /// The variables, sorted.
    pub fn to_vec(self) -> Vec<Var> {
        let mut vars = Vec::new();
        self.sets.collect(self.set, 0, &mut vars);
        vars
    }

    /// Whether the term is a constant.
    pub fn is_empty(self) -> bool {
        self.set == VarSet::EMPTY
    }
}

impl IntoIterator for Vars<'_> {
    type Item = Var;
    type IntoIter = std::vec::IntoIter<Var>;

    fn into_iter(self) -> Self::IntoIter {
        self.to_vec().into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_of(sets: &mut VarSets, indices: &[usize]) -> VarSet {
        indices.iter().fold(VarSet::EMPTY, |set, &index| {
            let single = sets.singleton(Var::from_index(index));
            sets.union(set, single)
        })
    }

    #[test]
    fn equal_sets_are_the_same_set_however_they_were_built() {
        let mut sets = VarSets::new();
        let forward = set_of(&mut sets, &[0, 5, 63, 64, 200, 1_000_000]);
        let backward = set_of(&mut sets, &[1_000_000, 200, 64, 64, 63, 5, 0]);
        assert_eq!(forward, backward);
    }

    #[test]
    fn a_set_lists_its_variables_in_order() {
        let mut sets = VarSets::new();
        let indices = [129, 3, 70_000, 64, 0, 127, 128];
        let set = set_of(&mut sets, &indices);
        let listed: Vec<usize> = Vars { sets: &sets, set }.into_iter().map(Var::index).collect();
        assert_eq!(listed, [0, 3, 64, 127, 128, 129, 70_000]);
    }
}
