//! Which variable of which activation lies at an address?

use std::collections::BTreeMap;

use analysis::dataflow::{DataFlow, ObjectId};
use model::VariableId;

/// Where a variable lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Region {
    pub(super) address: u64,
    pub(super) size: u64,
    pub(super) variable: VariableId,
    /// The number of the activation, counted from the outermost.
    pub(super) activation: usize,
}

/// The variables that lie somewhere now.
#[derive(Clone, Debug, Default)]
pub(super) struct Regions {
    /// By address; no two overlap.
    regions: BTreeMap<u64, Region>,
    /// Local ones in the order in which they began.
    begun: Vec<(usize, u64)>,
}

impl Regions {
    /// A variable lies here from now on; what lay here before is gone.
    pub(super) fn begin(&mut self, region: Region) {
        let end = region.address.saturating_add(region.size.max(1));
        let overlapping = self.regions.range(..end).rev();
        let gone: Vec<u64> = overlapping
            .take_while(|(_, other)| other.address.saturating_add(other.size) > region.address)
            .map(|(address, _)| *address)
            .collect();
        gone.iter().for_each(|address| _ = self.regions.remove(address));
        self.regions.insert(region.address, region);
        self.begun.push((region.activation, region.address));
    }

    /// Activations from this one on were left: their local variables are gone.
    pub(super) fn end(&mut self, activation: usize, is_local: impl Fn(VariableId) -> bool) {
        while let Some((of, address)) = self.begun.last().copied().filter(|(of, _)| *of >= activation) {
            self.begun.pop();
            let is_gone = |region: &Region| region.activation == of && is_local(region.variable);
            if self.regions.get(&address).is_some_and(is_gone) {
                self.regions.remove(&address);
            }
        }
    }

    /// The objects in so many bytes at an address, each with the activation it belongs to. With 0 bytes nobody knows how many:
    /// from the start of a variable it is all of it, from elsewhere the object that begins there.
    pub(super) fn touched(&self, flow: &DataFlow, address: u64, size: u64) -> Vec<(ObjectId, usize)> {
        let Some((_, region)) = self.regions.range(..=address).next_back() else { return Vec::new() };
        let offset = address - region.address;
        if offset >= region.size.max(1) {
            return Vec::new();
        }
        let is_met = |id: &ObjectId| {
            let object = flow.object(*id);
            match size {
                0 => offset == 0 || object.offset == offset,
                size => {
                    object.offset < offset.saturating_add(size)
                        && offset < object.offset.saturating_add(object.size)
                }
            }
        };
        flow.objects_of(region.variable).filter(is_met).map(|id| (id, region.activation)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(address: u64, variable: u32, activation: usize) -> Region {
        Region { address, size: 8, variable: VariableId(variable), activation }
    }

    #[test]
    fn what_an_activation_had_is_gone_with_it() {
        let mut regions = Regions::default();
        regions.begin(region(0x100, 0, 0));
        regions.begin(region(0x200, 1, 1));
        regions.end(1, |_| true);
        assert_eq!(regions.regions.keys().copied().collect::<Vec<_>>(), [0x100]);
    }

    #[test]
    fn statics_outlive_the_activation_that_told_of_them() {
        let mut regions = Regions::default();
        regions.begin(region(0x100, 0, 0));
        regions.end(0, |_| false);
        assert_eq!(regions.regions.len(), 1);
    }

    #[test]
    fn a_variable_takes_the_place_of_those_it_covers() {
        let mut regions = Regions::default();
        regions.begin(region(0x100, 0, 0));
        regions.begin(region(0x104, 1, 1));
        assert_eq!(regions.regions.keys().copied().collect::<Vec<_>>(), [0x104]);
    }
}
