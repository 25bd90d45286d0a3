//! Random numbers: the same seed gives the same campaign on every machine.
//!
//! Method: xoshiro256** seeded by SplitMix64, after Blackman and Vigna. Ours rather than `rand`, whose generators and ways of drawing from
//! a range may change with a version: the numbers that belong to a seed are part of what a report promises.

/// A generator of pseudo-random numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// The generator for this seed.
    pub fn new(seed: u64) -> Self {
        let mut counter = seed;
        let mut next = || {
            counter = counter.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let value = (counter ^ counter >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            value ^ value >> 31
        };
        Self { state: [next(), next(), next(), next()] }
    }

    /// 64 bits.
    pub fn bits(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let result = b.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let (c, d) = (c ^ a, d ^ b);
        self.state = [a ^ d, b ^ c, c ^ b << 17, d.rotate_left(45)];
        result
    }

    /// A number below `bound`.
    ///
    /// # Panics
    /// When `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        assert!(bound > 0, "there is no number below 0");
        let wide = u128::from(self.bits()) * bound as u128;
        (wide >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_from_the_seed() {
        let draw = |seed| {
            let mut rng = Rng::new(seed);
            [rng.bits(), rng.bits(), rng.bits()]
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }

    #[test]
    fn numbers_below_a_bound_reach_all_of_them() {
        let mut rng = Rng::new(1);
        let mut seen = [0; 5];
        (0..1000).for_each(|_| seen[rng.below(5)] += 1);
        assert!(seen.iter().all(|n| *n > 100), "{seen:?}");
    }

    #[test]
    fn the_generator_is_the_published_one() {
        let mut rng = Rng { state: [1, 2, 3, 4] };
        assert_eq!(
            [rng.bits(), rng.bits(), rng.bits(), rng.bits()],
            [11520, 0, 1509978240, 1215971899390074240]
        );
    }
}
