//! Which numbers say how long something else is?
//!
//! Method: an integer beside a pointer whose name says a length (`len`, `n`, `buf_size`, `nvalues`) counts what the pointer
//! points to. It may stand behind it or before it; behind several pointers of one type it counts each of them. Limit: names
//! only; the user switches a wrong guess off with `--no-couple`, `--len` or an assumption about the number.

/// A parameter or member as far as coupling asks.
pub struct Part<'a, T> {
    pub name: &'a str,
    pub role: Role<T>,
}

/// What a part may be in a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role<T> {
    /// Points to an array whose size varies; what kind of array, and whether it is text.
    Array(T, bool),
    Integer,
    Other,
}

/// For each part, the numbers of the parts whose elements it counts.
pub fn couplings<T: Copy + PartialEq>(parts: &[Part<'_, T>]) -> Vec<Vec<usize>> {
    let mut counted: Vec<Vec<usize>> = vec![Vec::new(); parts.len()];
    for at in 0..parts.len() {
        if parts[at].role != Role::Integer {
            continue;
        }
        let before = at.checked_sub(1).map(|before| match parts[before].role {
            Role::Array(..) => arrays_before(parts, at),
            // `data, len, cap`: both count the same
            Role::Integer => counted[before].clone(),
            Role::Other => Vec::new(),
        });
        let of_before = before.unwrap_or_default();
        if of_before.iter().any(|array| says_length(parts[at].name, parts[*array].name)) {
            counted[at] = of_before;
        } else if let Some(next) = parts.get(at + 1)
            && matches!(next.role, Role::Array(..))
            && says_length(parts[at].name, next.name)
            && !parts.get(at + 2).is_some_and(|after| is_count_of(after, next.name))
        {
            counted[at] = vec![at + 1];
        }
    }
    counted
}

fn is_count_of<T: PartialEq>(part: &Part<'_, T>, array: &str) -> bool {
    part.role == Role::Integer && says_length(part.name, array)
}

/// The array right before `at`, and those before it that are alike. Strings carry their own end and stand alone.
fn arrays_before<T: Copy + PartialEq>(parts: &[Part<'_, T>], at: usize) -> Vec<usize> {
    let nearest = parts[at - 1].role;
    let mut arrays = vec![at - 1];
    if matches!(nearest, Role::Array(_, false)) {
        arrays.extend((0..at - 1).rev().take_while(|before| parts[*before].role == nearest));
    }
    arrays
}

const LENGTHS: [&str; 24] = [
    "len", "length", "size", "sz", "siz", "n", "num", "number", "count", "cnt", "nbytes", "nbyte", "bytes",
    "cap", "capacity", "nmemb", "nelem", "nelems", "nitems", "elements", "l", "maxlen", "avail", "used",
];

/// Whether a number of this name counts the elements behind a pointer called `array`.
fn says_length(name: &str, array: &str) -> bool {
    let (name, array) = (name.to_ascii_lowercase(), array.to_ascii_lowercase());
    let (name, array) = (name.trim_matches('_'), array.trim_matches('_'));
    if LENGTHS.contains(&name) {
        return true;
    }
    let ends = [
        "_len",
        "_length",
        "_size",
        "_sz",
        "_count",
        "_cnt",
        "_n",
        "_num",
        "_bytes",
        "_cap",
        "_capacity",
        "len",
        "size",
        "length",
        "count",
    ];
    let starts = ["n_", "num_", "nr_", "len_", "size_"];
    let of_array = |rest: &str| !array.is_empty() && rest.trim_matches('_') == array;
    ends.iter().any(|end| name.ends_with(end))
        || starts.iter().any(|start| name.starts_with(start))
        || name.strip_prefix('n').is_some_and(of_array)
        || name.strip_prefix(array).is_some_and(|rest| LENGTHS.contains(&rest.trim_matches('_')))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parts as `name:role`, where `a` and `b` are arrays of two kinds, `t` text, `i` an integer, `o` something else.
    #[track_caller]
    fn check(parts: &str, expected: &str) {
        let parse = |part: &'static str| {
            let (name, role) = part.split_once(':').expect("name:role");
            let role = match role {
                "i" => Role::Integer,
                "o" => Role::Other,
                array => Role::Array(array, array == "t"),
            };
            Part { name, role }
        };
        let leaked: &'static str = parts.to_owned().leak();
        let parts: Vec<_> = leaked.split(' ').map(parse).collect();
        let mut found = Vec::new();
        for (part, counted) in parts.iter().zip(couplings(&parts)) {
            found.extend(counted.iter().map(|array| format!("{}>{}", part.name, parts[*array].name)));
        }
        assert_eq!(found.join(" "), expected);
    }

    #[test]
    fn a_number_beside_a_pointer_counts_its_elements() {
        check("buf:a len:i", "len>buf");
        check("n:i v:a", "n>v");
        check("values:a nvalues:i", "nvalues>values");
        check("s:t flags:i", "");
        check("p:a mode:i n:i", "");
        check("data:a len:i cap:i", "len>data cap>data");
    }

    #[test]
    fn a_number_behind_like_arrays_counts_each() {
        check("x:a y:a n:i", "n>y n>x");
        check("x:b y:a n:i", "n>y");
        check("name:t data:t n:i", "n>data");
        check("n:i x:a m:i", "n>x");
        check("xlen:i x:a xlen2:i n:i y:a ylen:i", "xlen>x ylen>y");
    }
}
