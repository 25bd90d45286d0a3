//! Sorts compiler flags by the step they belong to.

use std::path::Path;

/// Flags by step.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Sorted {
    pub preprocess: Vec<String>,
    pub compile: Vec<String>,
    pub link: Vec<String>,
}

/// The step a flag belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Changes which text the preprocessor yields, and nothing after.
    Preprocess,
    /// Changes the language or the target, so both the text and its meaning.
    Language,
    /// Both the text and the link.
    PreprocessAndLink,
    LanguageAndLink,
    Link,
    Dropped,
}

/// Flags whose value is the next word, unless it is attached.
const WITH_VALUE: &[(&str, Step)] = &[
    ("-include", Step::Preprocess),
    ("-imacros", Step::Preprocess),
    ("-isystem", Step::Preprocess),
    ("-isysroot", Step::Preprocess),
    ("-iquote", Step::Preprocess),
    ("-idirafter", Step::Preprocess),
    ("-iprefix", Step::Preprocess),
    ("-iwithprefixbefore", Step::Preprocess),
    ("-iwithprefix", Step::Preprocess),
    ("-Xpreprocessor", Step::Preprocess),
    ("-Xclang", Step::Language),
    ("-mllvm", Step::Language),
    ("-target", Step::LanguageAndLink),
    ("-arch", Step::LanguageAndLink),
    ("-Xlinker", Step::Link),
    ("-framework", Step::Link),
    ("-MF", Step::Dropped),
    ("-MT", Step::Dropped),
    ("-MQ", Step::Dropped),
    ("-MJ", Step::Dropped),
    ("-Xassembler", Step::Dropped),
    ("-dumpbase", Step::Dropped),
    ("--param", Step::Dropped),
];

/// One-letter flags whose value is attached or the next word.
const LETTERS: &[(u8, Step)] = &[
    (b'I', Step::Preprocess),
    (b'D', Step::Preprocess),
    (b'U', Step::Preprocess),
    (b'L', Step::Link),
    (b'l', Step::Link),
    (b'T', Step::Link),
    (b'z', Step::Link),
    (b'u', Step::Link),
    (b'o', Step::Dropped),
    (b'x', Step::Dropped),
];

/// Beginnings of flags without separate value; the first that fits decides.
const BEGINNINGS: &[(&str, Step)] = &[
    ("-Wl,", Step::Link),
    ("-Wp,", Step::Preprocess),
    ("-W", Step::Dropped),
    ("-pedantic", Step::Dropped),
    ("-M", Step::Dropped),
    // Optimisation is Quarry's choice, but __OPTIMIZE__ and _FORTIFY_SOURCE change the text.
    ("-O", Step::Preprocess),
    ("-g", Step::Dropped),
    ("-fsanitize", Step::Dropped),
    ("-fno-sanitize", Step::Dropped),
    ("-fprofile", Step::Dropped),
    ("-fcoverage", Step::Dropped),
    ("-ftest-coverage", Step::Dropped),
    ("--coverage", Step::Dropped),
    ("-flto", Step::Dropped),
    ("-fno-lto", Step::Dropped),
    ("-ffat-lto", Step::Dropped),
    ("-fuse-linker-plugin", Step::Dropped),
    ("-fdiagnostics", Step::Dropped),
    ("-fcolor-diagnostics", Step::Dropped),
    ("-fmax-errors", Step::Dropped),
    ("-fanalyzer", Step::Dropped),
    ("-fplugin", Step::Dropped),
    ("-fmodules", Step::Dropped),
    // Threads are not followed: without these, the pragmas are ignored and the program is the sequential one.
    ("-fopenmp", Step::Dropped),
    ("-fopenacc", Step::Dropped),
    ("-save-temps", Step::Dropped),
    ("-std=", Step::Language),
    ("-static", Step::Link),
    ("-shared", Step::Dropped),
    ("-nostdinc", Step::Preprocess),
    ("-nostdlib", Step::Link),
    ("-nodefaultlibs", Step::Link),
    ("-nostartfiles", Step::Link),
    ("-no-pie", Step::Link),
    ("-rdynamic", Step::Link),
    ("-fuse-ld=", Step::Link),
    ("-undef", Step::Preprocess),
    ("--sysroot", Step::PreprocessAndLink),
    ("--target=", Step::LanguageAndLink),
];

/// Flags that are one word exactly.
const WORDS: &[(&str, Step)] = &[
    ("-pthread", Step::PreprocessAndLink),
    ("-m32", Step::LanguageAndLink),
    ("-m64", Step::LanguageAndLink),
    ("-mx32", Step::LanguageAndLink),
    ("-c", Step::Dropped),
    ("-S", Step::Dropped),
    ("-E", Step::Dropped),
    ("-C", Step::Dropped),
    ("-CC", Step::Dropped),
    ("-P", Step::Dropped),
    ("-H", Step::Dropped),
    ("-w", Step::Dropped),
    ("-v", Step::Dropped),
    ("-p", Step::Dropped),
    ("-pg", Step::Dropped),
    ("-s", Step::Dropped),
    ("-pipe", Step::Dropped),
    ("-pie", Step::Dropped),
];

/// Sorts `flags`; relative paths of the link step start at `directory`, since linking runs elsewhere.
pub fn sort(flags: &[String], directory: &Path) -> Sorted {
    let mut sorted = Sorted::default();
    let mut words = flags.iter();
    while let Some(flag) = words.next() {
        let (step, takes_next) = classify(flag);
        let mut parts = vec![flag.clone()];
        if takes_next {
            parts.extend(words.next().cloned());
        }
        if step == Step::Link {
            resolve(&mut parts, directory);
        }
        sorted.push(step, parts);
    }
    sorted
}

impl Sorted {
    fn push(&mut self, step: Step, parts: Vec<String>) {
        match step {
            Step::Preprocess => self.preprocess.extend(parts),
            Step::Language => {
                self.preprocess.extend(parts.iter().cloned());
                self.compile.extend(parts);
            }
            Step::PreprocessAndLink => {
                self.preprocess.extend(parts.iter().cloned());
                self.link.extend(parts);
            }
            Step::LanguageAndLink => {
                self.preprocess.extend(parts.iter().cloned());
                self.compile.extend(parts.iter().cloned());
                self.link.extend(parts);
            }
            Step::Link => self.link.extend(parts),
            Step::Dropped => {}
        }
    }
}

/// The step of a flag, and whether the next word belongs to it.
fn classify(flag: &str) -> (Step, bool) {
    if !flag.starts_with('-') || flag == "-" {
        // An object file or library; another source file has been named as a source of its own.
        let linked = [".o", ".a", ".so"].iter().any(|end| flag.ends_with(end)) || flag.contains(".so.");
        return (if linked { Step::Link } else { Step::Dropped }, false);
    }
    if let Some((_, step)) = WORDS.iter().find(|(word, _)| *word == flag) {
        return (*step, false);
    }
    if let Some((name, step)) = WITH_VALUE.iter().find(|(name, _)| flag.starts_with(name)) {
        return (*step, flag == *name);
    }
    if let Some((_, step)) = BEGINNINGS.iter().find(|(beginning, _)| flag.starts_with(beginning)) {
        return (*step, false);
    }
    let letter = LETTERS.iter().find(|(letter, _)| flag.as_bytes()[1] == *letter);
    letter.map_or((Step::Language, false), |(_, step)| (*step, flag.len() == 2))
}

fn resolve(parts: &mut [String], directory: &Path) {
    let (prefix, path) = match parts {
        [attached] if attached.starts_with("-L") => ("-L", attached[2..].to_owned()),
        [flag, path] if flag == "-L" => ("", path.clone()),
        [file] if !file.starts_with('-') => ("", file.clone()),
        _ => return,
    };
    if let Some(last) = parts.last_mut() {
        *last = format!("{prefix}{}", directory.join(path).display());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(flags: &str) -> Sorted {
        let flags: Vec<_> = flags.split_whitespace().map(str::to_owned).collect();
        sort(&flags, Path::new("/src"))
    }

    #[test]
    fn each_flag_goes_to_its_steps() {
        let sorted = sorted(
            "-c -I inc -Iother -DA=1 -include pre.h -std=c99 -m32 -fwrapv -O3 -g3 -Wall -Wl,-z,now -L lib -Lx -lm \
             -MD -MF a.d -o a.o -pthread y.o z.c -fsanitize=address",
        );
        assert_eq!(
            sorted.preprocess.join(" "),
            "-I inc -Iother -DA=1 -include pre.h -std=c99 -m32 -fwrapv -O3 -pthread"
        );
        assert_eq!(sorted.compile.join(" "), "-std=c99 -m32 -fwrapv");
        assert_eq!(sorted.link.join(" "), "-m32 -Wl,-z,now -L /src/lib -L/src/x -lm -pthread /src/y.o");
    }
}
