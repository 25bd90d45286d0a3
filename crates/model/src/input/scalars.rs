//! Which scalars does an input have?
//!
//! Method: visits the input along its shape: what pointers point to, as many elements as there are, the calls it has values
//! for. Limit: scalars of calls without values are unknown.

use super::calls::calls;
use super::{Cell, Input, Kind, Node, Objects, Pointed, Shape};

impl Shape {
    /// The scalars that an input has, whether it gives them a value or not.
    pub fn scalars(&self, input: &Input) -> Vec<Cell> {
        let mut walk = Walk { input, objects: Objects::of(self, input), found: Vec::new() };
        self.roots.iter().chain(&self.stubs).for_each(|root| walk.node(root));
        walk.found
    }
}

struct Walk<'a> {
    input: &'a Input,
    objects: Objects,
    found: Vec<Cell>,
}

impl Walk<'_> {
    fn node(&mut self, node: &Node) {
        match &node.kind {
            Kind::Scalar(cell) => self.found.push(cell.clone()),
            Kind::Array { elements, .. } => elements.iter().for_each(|element| self.node(element)),
            Kind::Struct { members } => members.iter().for_each(|member| self.node(member)),
            Kind::Sized(sized) => sized.elements(self.input).iter().for_each(|element| self.node(element)),
            Kind::Pointer(pointer) => {
                // what is shared is met at its owner
                if let Pointed::Own(index) = self.objects.pointed(pointer) {
                    let object = self.objects.objects[index].node.clone();
                    self.node(&object);
                }
            }
            Kind::Union(union) => {
                union.chosen(self.input).iter().for_each(|member| self.node(member));
            }
            Kind::Stream(stream) => {
                stream.bytes.elements(self.input).iter().for_each(|byte| self.node(byte));
            }
            Kind::Results(results) => {
                results.results(self.input).iter().for_each(|result| self.node(result));
            }
            Kind::Sequence { root, results } => {
                calls(*root, results, self.input).iter().for_each(|call| self.node(&call.value));
            }
            Kind::Optional { present, to } => {
                if self.input.values.get(&present.key).copied().unwrap_or(0) != 0 {
                    self.node(to);
                }
            }
            Kind::Function(_) | Kind::Unsupported { .. } => {}
        }
    }
}
