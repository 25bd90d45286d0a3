//! SHA-256, by which Test-Comp names the program that a suite is for.

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
const ROUND: [u32; 64] = round_constants();

/// The hash in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    // of the square roots of the first 8 primes
    let mut state: [u32; 8] = [
        0x6a09_e667,
        0xbb67_ae85,
        0x3c6e_f372,
        0xa54f_f53a,
        0x510e_527f,
        0x9b05_688c,
        0x1f83_d9ab,
        0x5be0_cd19,
    ];
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    padded.resize(padded.len().next_multiple_of(64), 0);
    if padded.len() - bytes.len() < 9 {
        padded.resize(padded.len() + 64, 0);
    }
    let end = padded.len() - 8;
    padded[end..].copy_from_slice(&(bytes.len() as u64 * 8).to_be_bytes());
    for block in padded.chunks_exact(64) {
        compress(&mut state, block);
    }
    state.iter().map(|word| format!("{word:08x}")).collect()
}

fn compress(state: &mut [u32; 8], block: &[u8]) {
    let mut schedule = [0u32; 64];
    for (word, bytes) in schedule.iter_mut().zip(block.chunks_exact(4)) {
        *word = u32::from_be_bytes(bytes.try_into().expect("four bytes"));
    }
    for at in 16..64 {
        let (a, b) = (schedule[at - 15], schedule[at - 2]);
        let small = a.rotate_right(7) ^ a.rotate_right(18) ^ a >> 3;
        let large = b.rotate_right(17) ^ b.rotate_right(19) ^ b >> 10;
        schedule[at] =
            schedule[at - 16].wrapping_add(small).wrapping_add(schedule[at - 7]).wrapping_add(large);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (constant, word) in ROUND.iter().zip(schedule) {
        let choice = e & f ^ !e & g;
        let high = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let first = h.wrapping_add(high).wrapping_add(choice).wrapping_add(*constant).wrapping_add(word);
        let majority = a & b ^ a & c ^ b & c;
        let low = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let second = low.wrapping_add(majority);
        (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(first), c, b, a, first.wrapping_add(second));
    }
    for (word, added) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *word = word.wrapping_add(added);
    }
}

/// Computed, because sixty-four numbers are easier mistyped than their definition.
const fn round_constants() -> [u32; 64] {
    let mut constants = [0; 64];
    let (mut prime, mut found) = (2u128, 0);
    while found < 64 {
        let (mut divisor, mut is_prime) = (2, true);
        while divisor * divisor <= prime {
            is_prime &= prime % divisor != 0;
            divisor += 1;
        }
        if is_prime {
            constants[found] = cube_root_bits(prime);
            found += 1;
        }
        prime += 1;
    }
    constants
}

/// 32 bits behind the point: the root of `number` times 2^96, by halving.
const fn cube_root_bits(number: u128) -> u32 {
    let (mut low, mut high) = (0u128, 1 << 36);
    while low + 1 < high {
        let middle = (low + high) / 2;
        if middle * middle * middle <= number << 96 {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low & 0xffff_ffff) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_standard() {
        assert_eq!(sha256(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(sha256(&[b'a'; 119]), "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb");
    }
}
