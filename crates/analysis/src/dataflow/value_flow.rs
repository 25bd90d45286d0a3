//! Cut points of the pairs of a definition, whatever kind of object it defines.

use super::{DataFlow, DefinitionId, Home};
use crate::Place;
use crate::cut_points::{self, CutPoints, Dominance, Returned};

/// A definition, and how its value gets to its uses.
pub enum ValueFlow<'d, 'a> {
    /// It stays in memory.
    Stored(Box<cut_points::Downstream<'d, 'a>>),
    /// The function that put it together returns it.
    Returned(Returned<'d, 'a>),
}

impl DataFlow {
    /// What lies behind a definition; `None` for one that is nowhere.
    pub fn value_flow<'d, 'a>(
        &self,
        dominance: &'d Dominance<'a>,
        definition: DefinitionId,
    ) -> Option<ValueFlow<'d, 'a>> {
        let uses = self.uses_of(definition).filter_map(|use_| self.use_(use_).places.first().copied());
        let definition = self.definition(definition);
        let place = *definition.places.first()?;
        Some(match self.object(definition.object).home {
            Home::Result(_) => ValueFlow::Returned(dominance.returned(place)),
            Home::Local(_) | Home::Static => {
                let extent = self.extents[definition.object.index()];
                let uses: Vec<Place> = uses.collect();
                ValueFlow::Stored(Box::new(dominance.downstream_of(place, extent, &uses)))
            }
        })
    }
}

impl ValueFlow<'_, '_> {
    /// The cut points of the pair with this use; `None` when no path covers it.
    pub fn cut_points(&self, used: Place) -> Option<CutPoints> {
        match self {
            Self::Stored(downstream) => downstream.cut_points(used),
            Self::Returned(returned) => returned.cut_points(used),
        }
    }
}
