//! Which text does a format of `scanf` read?
//!
//! Method: what stands in the format as it is, and for each conversion a number of its width, a word or a character. Limit: where a
//! literal in the format is also a digit or a letter, what is read may end elsewhere.

/// What is put where a conversion reads.
pub trait Filling {
    /// A number of at most so many digits.
    fn number(&mut self, most_digits: usize) -> Vec<u8>;
    fn word(&mut self) -> Vec<u8>;
    fn character(&mut self) -> u8;
}

/// A text that the format reads to its end.
pub fn formatted(format: &[u8], filling: &mut dyn Filling) -> Vec<u8> {
    let (mut text, mut rest) = (Vec::new(), format);
    while let [byte, behind @ ..] = rest {
        rest = behind;
        if *byte != b'%' {
            text.push(*byte);
            continue;
        }
        let is_part = |byte: &u8| byte.is_ascii_digit() || b"*hlLjzt".contains(byte);
        let n = rest.iter().take_while(|byte| is_part(byte)).count();
        let Some(conversion) = rest.get(n) else { break };
        let width = rest[..n].iter().filter(|byte| byte.is_ascii_digit());
        let width = width
            .fold(0_usize, |width, digit| width.saturating_mul(10).saturating_add(usize::from(digit - b'0')));
        let width = if width == 0 { usize::MAX } else { width };
        rest = &rest[n + 1..];
        match conversion {
            b'd' | b'i' | b'u' | b'x' | b'o' | b'X' | b'p' => text.extend(filling.number(width)),
            b'f' | b'g' | b'e' | b'a' | b'F' | b'G' | b'E' | b'A' => {
                text.extend(filling.number(width));
                if width > 3 {
                    text.extend(b".5");
                }
            }
            b'c' => text.push(filling.character()),
            b'[' => {
                let end = rest.iter().skip(1).position(|byte| *byte == b']').map_or(rest.len(), |at| at + 2);
                let set = &rest[..end.min(rest.len())];
                text.push(set.first().copied().filter(|byte| *byte != b'^').unwrap_or(b'a'));
                rest = &rest[end.min(rest.len())..];
            }
            b's' => {
                let word = filling.word();
                text.extend(&word[..word.len().min(width)]);
            }
            b'%' => text.push(b'%'),
            _ => {}
        }
        // conversions need something between them, unless their width says where they end
        if rest.first().is_some_and(|next| *next == b'%') && width == usize::MAX && *conversion != b'n' {
            text.push(b' ');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Counting(u64);

    impl Filling for Counting {
        fn number(&mut self, most_digits: usize) -> Vec<u8> {
            self.0 += 1;
            (self.0 * 1111).to_string().into_bytes().into_iter().take(most_digits).collect()
        }

        fn word(&mut self) -> Vec<u8> {
            b"word".to_vec()
        }

        fn character(&mut self) -> u8 {
            b'x'
        }
    }

    fn text(format: &[u8]) -> Vec<u8> {
        formatted(format, &mut Counting(0))
    }

    #[test]
    fn literals_stay_and_widths_are_kept() {
        assert_eq!(text(b"%4d-%2d-%2d"), b"1111-22-33");
        assert_eq!(text(b"(%d,%3ld):%s"), b"(1111,222):word");
    }

    #[test]
    fn conversions_are_kept_apart() {
        assert_eq!(text(b"%[abc]%d"), b"a 1111");
        assert_eq!(text(b"%2d%c%lf"), b"11x 2222.5");
    }
}
