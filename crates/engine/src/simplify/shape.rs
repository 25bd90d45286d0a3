//! The parts of a function's input, and simpler variants of each.

use model::input::calls::{calls, ends_behind, limit};
use model::input::{Cell, Input, Key, Kind, Node, Objects, Pointed, Scalar, Shape, Sized};

use super::scalar::{simpler, simpler_character, telling, telling_character};

/// A change of an input: values to set and to take away.
type Edit = Vec<(Key, Option<u64>)>;

/// Variants of the part with this number.
pub fn variants(shape: &Shape, input: &Input, part: usize) -> Option<Vec<Input>> {
    let edits = Parts::of(shape, input).all.into_iter().nth(part)?;
    Some(edits.iter().map(|edit| edited(input, edit)).collect())
}

/// Variants with another value of the scalar with this number, near the one it has; `None` behind the last.
pub fn telling_variants(shape: &Shape, input: &Input, number: usize) -> Option<Vec<Input>> {
    let (key, values) = Parts::of(shape, input).scalars.into_iter().nth(number)?;
    Some(values.into_iter().map(|value| edited(input, &vec![(key, Some(value))])).collect())
}

/// What an input has for calls of functions that are defined nowhere.
pub fn answers(shape: &Shape, input: &Input) -> Vec<(Key, u64)> {
    let mut keys = Vec::new();
    for root in &shape.roots {
        if let Kind::Sequence { root, results } = &root.kind {
            calls(*root, results, input).iter().for_each(|call| cells(&call.value, input, &mut keys));
        }
    }
    keys.into_iter().filter_map(|key| Some((key, *input.values.get(&key)?))).collect()
}

fn edited(input: &Input, edit: &Edit) -> Input {
    let mut input = input.clone();
    for (key, value) in edit {
        match value {
            Some(value) => {
                input.values.insert(*key, *value);
            }
            None => {
                input.values.remove(key);
            }
        }
    }
    input
}

struct Parts<'a> {
    input: &'a Input,
    objects: Objects,
    /// The edits of each part.
    all: Vec<Vec<Edit>>,
    /// The scalars, with values near theirs.
    scalars: Vec<(Key, Vec<u64>)>,
    /// Scalars of one type that have the same value.
    equal: Vec<(Scalar, u64, Vec<Key>)>,
}

impl<'a> Parts<'a> {
    fn of(shape: &Shape, input: &'a Input) -> Self {
        let objects = Objects::of(shape, input);
        let mut parts = Self { input, objects, all: Vec::new(), scalars: Vec::new(), equal: Vec::new() };
        if let Some(allocations) = &shape.allocations {
            let succeeds = |number: &u64| vec![(allocations.choice(*number), None)];
            parts.all.push(allocations.failing(input).iter().rev().map(succeeds).collect());
        }
        for root in shape.roots.iter().chain(&shape.stubs) {
            parts.node(root);
        }
        parts.equal_ones();
        parts
    }

    /// A part for each group of equal values, which may have to stay equal.
    fn equal_ones(&mut self) {
        for (scalar, value, keys) in std::mem::take(&mut self.equal) {
            if keys.len() > 1 {
                let all = |value: u64| keys.iter().map(|key| (*key, Some(value))).collect();
                self.all.push(simpler(&scalar, value).into_iter().map(all).collect());
            }
        }
    }

    fn value(&self, key: Key) -> u64 {
        self.input.values.get(&key).copied().unwrap_or(0)
    }

    fn node(&mut self, node: &Node) {
        match &node.kind {
            Kind::Scalar(cell) => self.scalar(cell),
            Kind::Array { elements, .. } => self.elements(elements),
            Kind::Struct { members } => members.iter().for_each(|member| self.node(member)),
            Kind::Sized(sized) => self.sized(sized),
            Kind::Pointer(pointer) => match self.objects.pointed(pointer) {
                Pointed::Null => {}
                Pointed::Shared(_) => self.set(pointer.choice, &[0]),
                Pointed::Own(index) => {
                    self.set(pointer.choice, &[0]);
                    let object = self.objects.objects[index].node.clone();
                    self.node(&object);
                }
            },
            Kind::Union(union) => {
                if let Some(member) = union.chosen(self.input) {
                    self.node(&member);
                }
            }
            Kind::Function(function) => {
                let choice = self.input.values.get(&function.choice).copied().unwrap_or(function.first);
                self.set(function.choice, &[0, 1].map(|simple: u64| simple.min(choice)));
            }
            Kind::Stream(stream) => {
                if stream.is_there(self.input) {
                    self.set(stream.is_missing, &[1]);
                    self.sized(&stream.bytes);
                }
            }
            Kind::Results(results) => {
                let results = results.results(self.input);
                self.last_call(results.last());
                results.iter().for_each(|result| self.node(result));
            }
            Kind::Sequence { root, results } => {
                let calls = calls(*root, results, self.input);
                if ends_behind(*root, calls.len(), self.input) {
                    self.set(limit(*root), &fewer(calls.len() as u64));
                }
                self.last_call(calls.last().map(|call| &call.value));
                calls.iter().for_each(|call| self.node(&call.value));
            }
            Kind::Optional { present, to } => {
                if self.value(present.key) != 0 {
                    self.set(present.key, &[0]);
                    self.node(to);
                }
            }
            Kind::Unsupported { .. } => {}
        }
    }

    /// A part with these values for one cell.
    fn set(&mut self, key: Key, values: &[u64]) {
        self.all.push(values.iter().map(|value| vec![(key, Some(*value))]).collect());
    }

    fn scalar(&mut self, cell: &Cell) {
        let value = self.value(cell.key);
        self.scalars.push((cell.key, telling(&cell.scalar, value, self.scalars.len())));
        self.set(cell.key, &simpler(&cell.scalar, value));
        let is_equal =
            |(scalar, known, _): &&mut (Scalar, u64, Vec<Key>)| *scalar == cell.scalar && *known == value;
        match self.equal.iter_mut().find(is_equal) {
            Some((_, _, keys)) => keys.push(cell.key),
            None => self.equal.push((cell.scalar.clone(), value, vec![cell.key])),
        }
    }

    /// Calls behind those that an input answers give zeros, so the last one may not be needed.
    fn last_call(&mut self, call: Option<&Node>) {
        let mut keys = Vec::new();
        if let Some(call) = call {
            cells(call, self.input, &mut keys);
        }
        if !keys.is_empty() {
            self.all.push(vec![keys.into_iter().map(|key| (key, None)).collect()]);
        }
    }

    fn sized(&mut self, sized: &Sized) {
        let elements = sized.elements(self.input);
        let n = elements.len() as u64;
        let shorter: Vec<u64> =
            [0, n / 2, n.saturating_sub(1)].into_iter().filter(|size| *size < n).collect();
        self.set(sized.size, &shorter);
        let removals = self.removals(sized, &elements);
        self.all.push(removals);
        self.elements(&elements);
    }

    /// Edits that remove runs of elements, long ones first.
    fn removals(&self, sized: &Sized, elements: &[Node]) -> Vec<Edit> {
        let keys: Option<Vec<Key>> =
            elements.iter().map(|element| scalar_cell(element).map(|cell| cell.key)).collect();
        let Some(keys) = keys else { return Vec::new() };
        let mut edits = Vec::new();
        let mut run = keys.len() / 2;
        while run > 0 {
            for start in (0..=keys.len() - run).step_by(run) {
                let moved = (start..keys.len() - run).map(|to| (keys[to], Some(self.value(keys[to + run]))));
                let size = (sized.size, Some((keys.len() - run) as u64));
                edits.push(moved.chain([size]).collect());
            }
            run /= 2;
        }
        edits
    }

    fn elements(&mut self, elements: &[Node]) {
        let is_text = elements.iter().all(|node| node.c_type == "char" && scalar_cell(node).is_some());
        if !is_text {
            elements.iter().for_each(|element| self.node(element));
            return;
        }
        let keys: Vec<Key> = elements.iter().filter_map(scalar_cell).map(|cell| cell.key).collect();
        let end = keys.iter().rposition(|key| self.value(*key) != 0).unwrap_or(0);
        for (index, key) in keys.iter().enumerate() {
            let is_last = index >= end;
            let byte = self.value(*key).to_le_bytes()[0];
            let telling = telling_character(byte, self.scalars.len());
            self.scalars.push((*key, telling.into_iter().map(u64::from).collect()));
            let simpler: Vec<u64> = simpler_character(byte, is_last).into_iter().map(u64::from).collect();
            self.set(*key, &simpler);
        }
    }
}

/// Smaller numbers of calls, in steps that become smaller.
fn fewer(n_calls: u64) -> Vec<u64> {
    let mut fewer: Vec<u64> = (1..=5).rev().map(|shift| n_calls >> shift).collect();
    fewer.extend((2..=7).map(|shift| n_calls - (n_calls >> shift)));
    fewer.push(n_calls.saturating_sub(1));
    fewer.retain(|fewer| (1..n_calls).contains(fewer));
    fewer.dedup();
    fewer
}

fn scalar_cell(node: &Node) -> Option<&Cell> {
    let simplifies = |cell: &&Cell| matches!(cell.scalar, Scalar::Integer { .. } | Scalar::Char { .. });
    node.kind.scalar().filter(simplifies)
}

/// The keys of what a call gives.
fn cells(node: &Node, input: &Input, keys: &mut Vec<Key>) {
    match &node.kind {
        Kind::Scalar(cell) => keys.push(cell.key),
        Kind::Array { elements, .. } => elements.iter().for_each(|element| cells(element, input, keys)),
        Kind::Struct { members } => members.iter().for_each(|member| cells(member, input, keys)),
        Kind::Optional { present, to } => {
            keys.push(present.key);
            cells(to, input, keys);
        }
        Kind::Union(union) => {
            keys.push(union.choice);
            union.chosen(input).iter().for_each(|member| cells(member, input, keys));
        }
        Kind::Sized(_)
        | Kind::Pointer(_)
        | Kind::Function(_)
        | Kind::Results(_)
        | Kind::Stream(_)
        | Kind::Sequence { .. }
        | Kind::Unsupported { .. } => {}
    }
}
