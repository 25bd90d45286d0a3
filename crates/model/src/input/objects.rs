//! What does each pointer of an input point to?
//!
//! Method: visits the input in the order in which the harness builds it: roots in order, an object when the pointer to it
//! is visited, its own members before what follows the pointer. So the numbers of choices mean the same objects here as in
//! the run. `__quarry_pointer` of the runtime does the same with addresses.

use std::collections::BTreeMap;

use super::{Input, Key, Kind, Node, Pointer, Reach, Shape};

/// How many objects that are there already a pointer may choose from; the runtime's `Q_ALIASES`.
const ALIASES: usize = 6;

/// How many pointers deep structures are built when the input does not say: more would make thousands of them. What ends a
/// chain, such as a string, is built wherever it is.
pub const OBJECT_DEPTH: u32 = 2;

/// An object that a pointer points to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Number of its template.
    pub target: usize,
    /// The pointer whose own it is, as C writes it: `list->next`.
    pub name: String,
    /// The object itself.
    pub node: Node,
    /// How far the function may go in it.
    pub reach: Reach,
}

/// What a pointer points to; objects by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pointed {
    Null,
    /// An object of its own.
    Own(usize),
    /// An object that another pointer owns.
    Shared(usize),
}

/// The objects of an input, in the order in which they are built.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    pub objects: Vec<Object>,
    /// By choice: what it means, and how many objects there were before.
    pointers: BTreeMap<Key, (Pointed, usize)>,
}

impl Objects {
    /// The objects that an input builds.
    pub fn of(shape: &Shape, input: &Input) -> Self {
        let mut objects = Self::default();
        let walk = Walk { shape, input };
        for root in &shape.roots {
            walk.visit(&mut objects, root, &root.name, ".", 0);
        }
        objects
    }

    /// What a pointer points to.
    pub fn pointed(&self, pointer: &Pointer) -> Pointed {
        self.pointers.get(&pointer.choice).map_or(Pointed::Null, |(pointed, _)| *pointed)
    }

    /// The choice that makes a pointer share the object that the pointer called `name` owns.
    pub fn choice_of(&self, pointer: &Pointer, name: &str) -> Option<u64> {
        let (_, n_before) = self.pointers.get(&pointer.choice)?;
        let at = self.shareable(pointer, *n_before).position(|index| self.objects[index].name == name)?;
        Some(2 + at as u64)
    }

    /// The names of the objects that a pointer may share.
    pub fn names_for(&self, pointer: &Pointer) -> Vec<&str> {
        let n_before = self.pointers.get(&pointer.choice).map_or(0, |(_, n_before)| *n_before);
        self.shareable(pointer, n_before).map(|index| self.objects[index].name.as_str()).collect()
    }

    fn shareable(&self, pointer: &Pointer, n_before: usize) -> impl Iterator<Item = usize> {
        let target = pointer.target;
        (0..n_before).filter(move |index| self.objects[*index].target == target).take(ALIASES)
    }
}

struct Walk<'a> {
    shape: &'a Shape,
    input: &'a Input,
}

impl Walk<'_> {
    /// `arrow` is what joins `path` and a member.
    fn visit(&self, objects: &mut Objects, node: &Node, path: &str, arrow: &str, depth: u32) {
        match &node.kind {
            Kind::Scalar(_)
            | Kind::Function(_)
            | Kind::Results(_)
            | Kind::Stream(_)
            | Kind::Sequence { .. }
            | Kind::Optional { .. }
            | Kind::Unsupported { .. } => {}
            Kind::Array { elements, .. } => {
                for element in elements {
                    self.visit(objects, element, &format!("{path}{}", element.name), ".", depth);
                }
            }
            Kind::Sized(sized) => {
                for element in sized.elements(self.input) {
                    self.visit(objects, &element, &format!("{path}{}", element.name), ".", depth);
                }
            }
            Kind::Struct { members } => {
                for member in members {
                    let arrow_below = if member.is_anonymous() { arrow } else { "." };
                    self.visit(objects, member, &member.joined(path, arrow), arrow_below, depth);
                }
            }
            Kind::Union(union) => {
                if let Some(member) = union.chosen(self.input) {
                    self.visit(objects, &member, &member.joined(path, arrow), ".", depth);
                }
            }
            Kind::Pointer(pointer) => self.follow(objects, pointer, path, depth),
        }
    }

    /// Whether a pointer leads to a structure.
    fn is_object(&self, pointer: &Pointer) -> bool {
        self.shape.targets[pointer.target].kind.has_members()
    }

    fn follow(&self, objects: &mut Objects, pointer: &Pointer, path: &str, depth: u32) {
        if depth >= self.shape.max_depth {
            return;
        }
        let n_before = objects.objects.len();
        let first = if depth < OBJECT_DEPTH || !self.is_object(pointer) { pointer.first } else { 0 };
        let choice = self.input.values.get(&pointer.choice).copied().unwrap_or(first);
        let shared = usize::try_from(choice)
            .ok()
            .and_then(|choice| objects.shareable(pointer, n_before).nth(choice.checked_sub(2)?));
        let pointed = match shared {
            Some(index) => Pointed::Shared(index),
            None if choice == 1 => Pointed::Own(n_before),
            None => Pointed::Null,
        };
        objects.pointers.insert(pointer.choice, (pointed, n_before));
        if pointed == Pointed::Own(n_before) {
            let node = self.shape.targets[pointer.target].instance(pointer.choice);
            let (target, name, reach) = (pointer.target, path.to_owned(), pointer.reach.clone());
            objects.objects.push(Object { target, name, node: node.clone(), reach });
            self.visit(objects, &node, path, "->", depth + 1);
        }
    }
}
