//! Which values of a few cells bring a distance to zero, when only running the program shows it?
//!
//! Method: one cell at a time (Korel's alternating variable method): a step that helps is doubled as long as it helps and
//! then halved again. Floating-point numbers are stepped through in their order, so that the smallest step leads to the
//! next number. Where nothing helps any more, the search begins anew from a few plain numbers. Limits: it follows what it
//! measures into local minima; the number of trials is bounded.

/// How a cell's bits are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// As a two's complement integer of so many bits.
    Integer(u8),
    /// As a number of 32 or 64 bits.
    Float(u8),
}

/// How far a trial was off: steps of the path that are missing, then the distance at the last one. Nothing at all is what
/// is looked for.
pub(crate) type Miss = (u64, u64);

/// Powers of two tried as first steps.
const SCALES: [u32; 9] = [0, 6, 14, 24, 34, 44, 50, 54, 60];
/// Plain numbers to jump to.
const PLAIN: [f64; 8] = [0.0, 1.0, -1.0, 0.5, 10.0, -100.0, 1000.0, 1e6];

/// Looks for values with no miss, with at most `max_trials` calls of `measure`.
pub(crate) fn search<E>(
    orders: &[Order],
    start: &[u64],
    max_trials: u32,
    measure: &mut dyn FnMut(&[u64]) -> Result<Miss, E>,
) -> Result<Option<Vec<u64>>, E> {
    let miss = measure(start)?;
    let mut search = Search { orders, values: start.to_vec(), miss, trials_left: max_trials, measure };
    search.descend()?;
    for plain in PLAIN {
        if search.is_over() {
            break;
        }
        search.values = orders.iter().map(|order| order.bits_of(plain)).collect();
        search.miss = (search.measure)(&search.values)?;
        search.descend()?;
    }
    Ok((search.miss == (0, 0)).then_some(search.values))
}

struct Search<'a, E> {
    orders: &'a [Order],
    values: Vec<u64>,
    miss: Miss,
    trials_left: u32,
    measure: &'a mut dyn FnMut(&[u64]) -> Result<Miss, E>,
}

impl<E> Search<'_, E> {
    fn is_over(&self) -> bool {
        self.miss == (0, 0) || self.trials_left == 0
    }

    /// Improves cell after cell until none helps.
    fn descend(&mut self) -> Result<(), E> {
        let mut n_idle = 0;
        for cell in (0..self.orders.len()).cycle() {
            if self.is_over() || n_idle == self.orders.len() {
                break;
            }
            n_idle = if self.improve(cell)? { 0 } else { n_idle + 1 };
        }
        Ok(())
    }

    fn improve(&mut self, cell: usize) -> Result<bool, E> {
        for scale in SCALES {
            for step in [1_i128 << scale, -(1_i128 << scale)] {
                if self.step(cell, step)? {
                    self.follow(cell, step)?;
                    return Ok(true);
                }
            }
        }
        for plain in PLAIN {
            if self.set(cell, self.orders[cell].bits_of(plain))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Further in a direction that helped.
    fn follow(&mut self, cell: usize, mut step: i128) -> Result<(), E> {
        while self.step(cell, 2 * step)? {
            step *= 2;
        }
        while step.unsigned_abs() > 1 && !self.is_over() {
            step /= 2;
            if !self.step(cell, step)? {
                self.step(cell, -step)?;
            }
        }
        Ok(())
    }

    fn step(&mut self, cell: usize, step: i128) -> Result<bool, E> {
        let order = self.orders[cell];
        self.set(cell, order.at(order.rank(self.values[cell]) + step))
    }

    /// Keeps the value if it is nearer.
    fn set(&mut self, cell: usize, bits: u64) -> Result<bool, E> {
        let old = self.values[cell];
        if self.is_over() || bits == old {
            return Ok(false);
        }
        self.trials_left -= 1;
        self.values[cell] = bits;
        let miss = (self.measure)(&self.values)?;
        if miss < self.miss {
            self.miss = miss;
            return Ok(true);
        }
        self.values[cell] = old;
        Ok(false)
    }
}

impl Order {
    /// The place among all values of the cell; zeros share one, NaNs count as beyond infinity.
    fn rank(self, bits: u64) -> i128 {
        match self {
            Order::Integer(width) => i128::from(crate::values::signed(width, bits)),
            Order::Float(width) => {
                let magnitude = i128::from(bits & (u64::MAX >> (65 - width)));
                if bits >> (width - 1) & 1 == 1 { -magnitude } else { magnitude }
            }
        }
    }

    /// The value at a place, or the last one before it.
    fn at(self, rank: i128) -> u64 {
        match self {
            Order::Integer(width) => {
                let bound = 1_i128 << (width - 1);
                rank.clamp(-bound, bound - 1) as u64 & crate::values::mask(width)
            }
            Order::Float(width) => {
                let infinity = i128::from(if width == 32 { 0x7f80_0000 } else { f64::INFINITY.to_bits() });
                let rank = rank.clamp(-infinity, infinity);
                let sign = if rank < 0 { 1 << (width - 1) } else { 0 };
                rank.unsigned_abs() as u64 | sign
            }
        }
    }

    fn bits_of(self, plain: f64) -> u64 {
        match self {
            Order::Integer(width) => (plain as i64).cast_unsigned() & crate::values::mask(width),
            Order::Float(32) => u64::from((plain as f32).to_bits()),
            Order::Float(_) => plain.to_bits(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use crate::values::ulps_between;

    fn find(orders: &[Order], start: &[u64], measure: impl Fn(&[u64]) -> Miss) -> Option<Vec<u64>> {
        let found = search::<Infallible>(orders, start, 2000, &mut |values| Ok(measure(values)));
        found.unwrap_or_else(|never| match never {})
    }

    #[test]
    fn a_sine_is_brought_above_a_bound() {
        let wanted = |values: &[u64]| {
            let sine = f64::from_bits(values[0]).sin();
            if sine > 0.999 { (0, 0) } else { (0, ulps_between(64, sine.to_bits(), 0.999_f64.to_bits())) }
        };
        let found = find(&[Order::Float(64)], &[0], wanted).expect("there are many");
        assert!(f64::from_bits(found[0]).sin() > 0.999);
    }

    #[test]
    fn two_cells_are_turned_in_turn() {
        let wanted = |values: &[u64]| {
            let (x, n) = (f64::from_bits(values[0]), values[1] as i32);
            if x.powi(3) < 900.0 {
                return (1, ulps_between(64, x.powi(3).to_bits(), 900.0_f64.to_bits()));
            }
            (0, n.abs_diff(-77_777).into())
        };
        let found = find(&[Order::Float(64), Order::Integer(32)], &[0, 5], wanted).expect("there is one");
        assert_eq!(found[1] as i32, -77_777);
        assert!(f64::from_bits(found[0]).powi(3) >= 900.0);
    }

    #[test]
    fn a_nan_is_left_by_a_jump_and_the_trials_end() {
        let logarithm = |values: &[u64]| {
            let log = f32::from_bits(values[0] as u32).ln();
            if log.is_nan() { (0, u64::MAX) } else { (0, u64::from(log.to_bits() != 2.5_f32.to_bits())) }
        };
        assert_eq!(find(&[Order::Float(32)], &[0xffc0_0000], logarithm), None);
        let positive = |values: &[u64]| (0, u64::from(f32::from_bits(values[0] as u32).ln().is_nan()));
        assert!(find(&[Order::Float(32)], &[0xffc0_0000], positive).is_some());
    }

    #[test]
    fn places_and_values_are_each_others_inverse() {
        for bits in [0, 1, f64::MAX.to_bits(), f64::INFINITY.to_bits(), (-2.5_f64).to_bits()] {
            assert_eq!(Order::Float(64).at(Order::Float(64).rank(bits)), bits);
        }
        assert_eq!(Order::Float(32).at(-1), 0x8000_0001);
        assert_eq!(Order::Integer(8).at(Order::Integer(8).rank(0x80) - 1), 0x80);
        assert_eq!(Order::Integer(64).at(Order::Integer(64).rank(u64::MAX) + 1), 0);
    }
}
