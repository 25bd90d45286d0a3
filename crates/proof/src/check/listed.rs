//! Do the rows of a proof list all states in which control can arrive at its cuts?
//!
//! Method: every row is followed by itself: the scalars that it speaks of are given their values, and the terms of the segment are
//! computed ([`super::evaluate`]). What no row says is arbitrary: a comparison that depends on it is taken to be true and then to be
//! false. Where control arrives, the values must be in a row of that cut; if they are not, the solvers must say that the comparisons
//! cannot be as they were taken. Then each formula must hold in each row of its cut. Nothing is asked of the solvers while all is known, so
//! thousands of rows take seconds. Limit: a scalar whose new value is not computed from what is known must be left open by the rows.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::argument::Argument;
use super::evaluate::{Evaluator, Known, Values, equals};
use super::execute::Segment;
use super::inline::Point;
use super::state::State;
use super::terms::{Sort, Term};
use super::{Checked, Stop, arbitrary, begin, cut_point, invariants, rejected, smtlib, unknown};
use crate::{Answer, Assumption, Formula, Listing};

/// Terms that are computed in one check at most.
const MAX_STEPS: u64 = 4_000_000_000;
/// Ways of taking comparisons in one row at most.
const MAX_WAYS: usize = 100_000;

/// The rows of one cut, for lookups.
struct Table {
    /// By which scalars are open: the values of the others.
    by_mask: HashMap<Vec<bool>, HashSet<Vec<u64>>>,
}

impl Table {
    fn of(listing: &Listing) -> Self {
        let mut by_mask: HashMap<Vec<bool>, HashSet<Vec<u64>>> = HashMap::new();
        for row in &listing.rows {
            let mask = row.iter().map(Option::is_none).collect();
            by_mask.entry(mask).or_default().insert(row.iter().copied().flatten().collect());
        }
        Self { by_mask }
    }

    /// Whether some row allows these values; one that is not known must be left open.
    fn allows(&self, values: &[Option<u64>]) -> bool {
        self.by_mask.iter().any(|(mask, rows)| {
            let closed = mask.iter().zip(values).filter(|(is_open, _)| !**is_open);
            let closed: Option<Vec<u64>> = closed.map(|(_, value)| *value).collect();
            closed.is_some_and(|closed| rows.contains(&closed))
        })
    }
}

/// What a segment leads to.
struct Followed {
    /// What is known of memory and addresses whatever a row says.
    known: Vec<(Term, u128)>,
    /// By number of a listing: when control arrives at its cut, and what its scalars are then.
    arrivals: Vec<(usize, Term, Vec<Term>)>,
}

/// What all rows share.
#[derive(Default)]
struct Progress {
    values: Values,
    n_steps: u64,
    /// By query: whether it is impossible.
    asked: HashMap<String, bool>,
}

impl<'p> Argument<'_, 'p> {
    /// Whether the rows are closed under execution; how many queries it took.
    pub(super) fn listed(&mut self, listings: &[Listing]) -> Checked<usize> {
        let of_point = self.points(listings)?;
        let tables: Vec<Table> = listings.iter().map(Table::of).collect();
        let mut progress = Progress::default();
        let initial = self.proof.claim.assumptions.contains(&Assumption::InitialGlobals);
        let start = self.plan.inlined.start(0);
        let state = begin(self.plan, &mut self.world, initial);
        let arrived = match self.plan.cuts.contains(&start) {
            true => vec![(start, state)],
            false => self.segment(vec![(start, state)])?,
        };
        let followed = self.followed(arrived, &of_point, listings)?;
        self.follow(&followed, &[], &tables, &mut progress)?;
        for cut in &self.proof.cuts {
            let point = cut_point(&self.plan.inlined, cut)?;
            let state = arbitrary(self.plan, &mut self.world, point);
            let own = of_point.get(&point).map(|number| &listings[*number]);
            let scalars = own.map_or(Ok(Vec::new()), |own| self.scalars(&state, &own.scalars))?;
            let arrived = self.segment(vec![(point, state)])?;
            let followed = self.followed(arrived, &of_point, listings)?;
            for given in rows(own, &scalars) {
                if self.decide.is_over() {
                    return unknown("the time was over before all states were followed");
                }
                self.follow(&followed, &given, &tables, &mut progress)?;
            }
        }
        Ok(progress.asked.len())
    }

    /// Whether each formula holds in each row of its cut, whatever is open there.
    pub(super) fn hold_in_rows(&mut self, listings: &[Listing]) -> Checked<()> {
        let of_point = self.points(listings)?;
        let (mut values, mut n_steps) = (Values::default(), 0);
        for cut in &self.proof.cuts {
            let point = cut_point(&self.plan.inlined, cut)?;
            let state = arbitrary(self.plan, &mut self.world, point);
            let own = of_point.get(&point).map(|number| &listings[*number]);
            let scalars = own.map_or(Ok(Vec::new()), |own| self.scalars(&state, &own.scalars))?;
            let formula = self.formula(&state, cut)?;
            for given in rows(own, &scalars) {
                if self.decide.is_over() {
                    return unknown("the time was over before the formulas were seen to hold in all states");
                }
                let mut evaluator = Evaluator::new(&self.world.terms, &mut values);
                let mut n_ways = 0;
                loop {
                    give(&mut evaluator, &given);
                    if !evaluator.holds(formula) {
                        return rejected(
                            format!("cut {} {}", cut.context, cut.block),
                            "the formula does not hold in a row",
                        );
                    }
                    n_ways += 1;
                    if n_ways > MAX_WAYS || n_steps + evaluator.n_steps() > MAX_STEPS {
                        return unknown("a formula depends on too much that the rows leave open");
                    }
                    if !evaluator.next() {
                        break;
                    }
                }
                n_steps += evaluator.n_steps();
            }
        }
        Ok(())
    }

    /// By point, the number of the listing that is about it.
    fn points(&self, listings: &[Listing]) -> Checked<BTreeMap<Point, usize>> {
        let mut of_point = BTreeMap::new();
        for (number, listing) in listings.iter().enumerate() {
            let Some(cut) = self.proof.cuts.get(listing.cut as usize) else {
                return rejected("listed", format!("there is no cut {}", listing.cut));
            };
            if listing.rows.iter().any(|row| row.len() != listing.scalars.len()) {
                return rejected("listed", "a row has not as many values as there are scalars");
            }
            if of_point.insert(cut_point(&self.plan.inlined, cut)?, number).is_some() {
                return rejected("listed", "two lists are about the same cut");
            }
        }
        Ok(of_point)
    }

    fn segment(&mut self, starts: Vec<(Point, State)>) -> Checked<Vec<(Point, State)>> {
        Segment::new(self.plan, &mut self.world, &mut self.n_steps, &*self.decide).run(starts)
    }

    fn scalars(&mut self, state: &State, formulas: &[Formula]) -> Checked<Vec<Term>> {
        let mut terms = Vec::new();
        for formula in formulas {
            let term = match invariants::scalar(&mut self.world, &self.plan.inlined, state, formula) {
                Ok(term) => term,
                Err(why) => return rejected("listed", why),
            };
            if !matches!(self.world.terms.sort(term), Sort::Bits(1..=64)) {
                return rejected("listed", "a scalar has 1 to 64 bits");
            }
            terms.push(term);
        }
        Ok(terms)
    }

    fn followed(
        &mut self,
        arrived: Vec<(Point, State)>,
        of_point: &BTreeMap<Point, usize>,
        listings: &[Listing],
    ) -> Checked<Followed> {
        let (mut arrivals, mut roots) = (Vec::new(), Vec::new());
        for (point, state) in arrived {
            if let Some(number) = of_point.get(&point) {
                let scalars = self.scalars(&state, &listings[*number].scalars)?;
                roots.push(state.reached);
                roots.extend(&scalars);
                arrivals.push((*number, state.reached, scalars));
            }
        }
        let needed = smtlib::cone(&self.world.terms, &roots);
        let is_needed = |term: Term| needed.get(term.0 as usize) == Some(&true);
        let facts = self.world.with_facts(roots.clone()).split_off(roots.len());
        let mut known: Vec<(Term, u128)> = Vec::new();
        for fact in facts {
            known.extend(is_needed(fact).then_some((fact, 1)));
            known.extend(equals(&self.world.terms, fact).filter(|(term, _)| is_needed(*term)));
        }
        Ok(Followed { known, arrivals })
    }

    /// Follows one row; all that it leads to must be in a row.
    fn follow(
        &mut self,
        followed: &Followed,
        given: &[(Term, u128)],
        tables: &[Table],
        progress: &mut Progress,
    ) -> Checked<()> {
        let mut outside: Vec<Vec<(Term, bool)>> = Vec::new();
        let mut evaluator = Evaluator::new(&self.world.terms, &mut progress.values);
        let mut n_ways = 0;
        loop {
            give(&mut evaluator, &followed.known);
            give(&mut evaluator, given);
            for (number, reached, scalars) in &followed.arrivals {
                if !evaluator.holds(*reached) {
                    continue;
                }
                let mut values: Vec<Option<u64>> = Vec::new();
                for scalar in scalars {
                    values.push(match evaluator.evaluate(*scalar) {
                        Known::Exactly(value) => u64::try_from(value).ok(),
                        Known::Nothing => None,
                    });
                }
                if !tables[*number].allows(&values) {
                    outside.push(evaluator.taken());
                }
            }
            n_ways += 1;
            if n_ways > MAX_WAYS || progress.n_steps + evaluator.n_steps() > MAX_STEPS {
                return unknown("there are too many states, or too much that they leave open");
            }
            if !evaluator.next() {
                break;
            }
        }
        progress.n_steps += evaluator.n_steps();
        for comparisons in outside {
            if !self.is_impossible(&comparisons, given, &mut progress.asked)? {
                return rejected("listed", "a row leads to a state that no row lists");
            }
        }
        Ok(())
    }

    /// Whether comparisons cannot be as they were taken, where the scalars have these values.
    fn is_impossible(
        &mut self,
        taken: &[(Term, bool)],
        given: &[(Term, u128)],
        asked: &mut HashMap<String, bool>,
    ) -> Checked<bool> {
        let mut asserted: Vec<Term> = Vec::new();
        for (comparison, holds) in taken {
            asserted.push(if *holds { *comparison } else { self.world.terms.not(*comparison) });
        }
        let needed = smtlib::cone(&self.world.terms, &asserted);
        for (scalar, value) in given {
            if needed.get(scalar.0 as usize) == Some(&true) {
                let bits = self.world.terms.bits(*scalar);
                let value = self.world.terms.constant(bits, *value);
                asserted.push(self.world.terms.equal(*scalar, value));
            }
        }
        let asserted = self.world.with_facts(asserted);
        let script = smtlib::script(&self.world.terms, &asserted);
        if let Some(known) = asked.get(&script) {
            return Ok(*known);
        }
        let is_impossible = match self.decide.decide(&script) {
            Answer::Unsat => true,
            Answer::Sat => false,
            Answer::Unknown(why) => return unknown(why),
            Answer::Disagreement(who) => return Err(Stop::Disagreement(who)),
        };
        asked.insert(script, is_impossible);
        Ok(is_impossible)
    }
}

/// What each row gives; without a list, nothing is given, once.
fn rows<'l>(
    listing: Option<&'l Listing>,
    scalars: &'l [Term],
) -> impl Iterator<Item = Vec<(Term, u128)>> + 'l {
    let given = |row: &'l Vec<Option<u64>>| {
        let values = scalars.iter().zip(row);
        values.filter_map(|(scalar, value)| Some((*scalar, u128::from((*value)?)))).collect()
    };
    let nothing = listing.is_none().then(Vec::new);
    listing.into_iter().flat_map(|listing| &listing.rows).map(given).chain(nothing)
}

fn give(evaluator: &mut Evaluator<'_>, known: &[(Term, u128)]) {
    known.iter().for_each(|(term, value)| evaluator.give(*term, *value));
}
