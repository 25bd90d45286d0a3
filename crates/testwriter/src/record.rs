//! A program that records what each test's call changes and returns, on a native build.
//!
//! Method: like the replay program, with records of all leaves before and after the call on a separate descriptor. Objects
//! that the call frees are not read again: the linker wraps `free` and `realloc`. What a returned pointer points to is read
//! only if the kernel says that it is readable. Limit: memory freed inside the C library is not noticed.

use std::collections::BTreeMap;
use std::fmt::Write;

use model::ctype::CTypeKind;
use model::ctype::declare::declaration;
use model::input::Input;

use crate::frame::{Frame, Scene};
use crate::leaves::{Group, Leaf, LeafKind, Seen};
use crate::test::{FunctionUnderTest, Test};

/// Functions that the linker must wrap.
pub const WRAPPED: &str = "-Wl,--wrap=free,--wrap=realloc";

const RECORDER: &str = concat!(include_str!("support/readable.c"), include_str!("support/recorder.c"));

/// A program that notes, and what its notes mean.
pub struct Recorder {
    pub text: String,
    tests: Vec<Notes>,
}

/// What the notes of one test mean.
struct Notes {
    leaves: Vec<Leaf>,
    /// How many of them, from the first, are returned.
    n_returned: usize,
    objects: Vec<String>,
}

/// What was seen of a test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// Whether the call came back.
    pub returned: bool,
    /// What it returned and what it changed, by expression, in the order of the leaves.
    pub values: Vec<(Leaf, Seen)>,
    /// The objects of the test that it freed, by their variables.
    pub freed: Vec<String>,
    /// Whether memory that it allocated is still there.
    pub leaves_memory: bool,
}

/// The program that notes what `tests` do; its argument is the number of the test to run, from 0.
pub fn recorder(under_test: &FunctionUnderTest<'_>, tests: &[Test<Input>]) -> Recorder {
    let frame = Frame::new(under_test);
    // its functions need what strict standards hide; what the source says itself stays as it is
    let mut text = "#ifndef _GNU_SOURCE\n#define _GNU_SOURCE 1\n#endif\n".to_owned();
    text.push_str(&frame.inclusion());
    text.push_str(&frame.definitions());
    frame.undefined.definitions(&mut text);
    text.push_str(RECORDER);
    let mut notes = Vec::new();
    for (number, test) in tests.iter().enumerate() {
        notes.push(frame.recorded(&mut text, number, &test.input));
    }
    text.push_str("\nint main(int argc, char **argv)\n{\n    switch (argc > 1 ? atoi(argv[1]) : -1) {\n");
    for number in 0..tests.len() {
        let _ = writeln!(text, "    case {number}: quarry_record_{number}(); break;");
    }
    text.push_str("    default: return 2;\n    }\n    fflush(stdout);\n    return 0;\n}\n");
    Recorder { text, tests: notes }
}

impl Frame<'_> {
    fn recorded(&self, text: &mut String, number: usize, input: &Input) -> Notes {
        let _ = writeln!(text, "\nstatic void quarry_record_{number}(void)\n{{");
        let scene = self.scene(text, input);
        for (name, _) in &scene.objects {
            let _ = writeln!(text, "    quarry_object({name}, malloc_usable_size((void *){name}));");
        }
        for (name, _) in &scene.arrays {
            let _ = writeln!(text, "    quarry_object({name}, sizeof {name});");
        }
        let objects = scene.objects.iter().chain(&scene.arrays).map(|(name, _)| name.clone()).collect();
        let mut leaves = self.returned(&scene);
        let n_direct = leaves.len();
        leaves.extend(self.behind(&scene));
        let n_returned = leaves.len();
        let groups = self.changeable(&scene, input);
        text.push_str("    int quarry_called = 0;\nquarry_again:\n");
        text.push_str("    quarry_phase(quarry_called ? 'a' : 'b');\n");
        for Group { object, leaves: own } in groups {
            let (open, close) = match object {
                Some(index) => (format!("    if (quarry_lives({index})) {{\n"), "    }\n"),
                None => ("    {\n".to_owned(), "    }\n"),
            };
            text.push_str(&open);
            for leaf in own {
                let _ = writeln!(text, "        {}", note(leaves.len(), &leaf));
                leaves.push(leaf);
            }
            text.push_str(close);
        }
        text.push_str("    if (quarry_called)\n        return;\n    quarry_called = 1;\n");
        self.recorded_call(text, &scene, &leaves[..n_returned], n_direct);
        text.push_str("    goto quarry_again;\n}\n");
        Notes { leaves, n_returned, objects }
    }

    fn recorded_call(&self, text: &mut String, scene: &Scene, leaves: &[Leaf], n_direct: usize) {
        let types = &self.declarations.types;
        let Scene { call, result, .. } = scene;
        if matches!(types[self.function.result].kind, CTypeKind::Void) {
            let _ = writeln!(
                text,
                "    quarry_before_call();\n    quarry_fill_stack();\n    {call};\n    quarry_after_call();\n    quarry_phase('r');"
            );
            return;
        }
        let declared = declaration(types, self.function.result, result);
        let _ = writeln!(
            text,
            "    {{\n    quarry_before_call();\n    quarry_fill_stack();\n    {declared} = {call};\n    quarry_after_call();\n    (void){result};\n    \
             quarry_phase('r');"
        );
        for (number, leaf) in leaves[..n_direct].iter().enumerate() {
            let _ = writeln!(text, "        {}", note(number, leaf));
        }
        if leaves.len() > n_direct {
            let _ = writeln!(
                text,
                "    if (quarry_is_elsewhere({result}) && quarry_readable({result}, sizeof *{result})) {{"
            );
            for (number, leaf) in leaves.iter().enumerate().skip(n_direct) {
                let _ = writeln!(text, "        {}", note(number, leaf));
            }
            text.push_str("    }\n");
        }
        text.push_str("    }\n");
    }
}

/// The statement that notes a leaf.
fn note(number: usize, leaf: &Leaf) -> String {
    let function = match leaf.kind {
        LeafKind::Signed { .. } => "quarry_signed",
        LeafKind::Unsigned { .. } => "quarry_unsigned",
        LeafKind::Truth => "quarry_truth",
        LeafKind::Float { bits: 32 } => "quarry_float",
        LeafKind::Float { .. } => "quarry_double",
        LeafKind::Pointer => return format!("quarry_pointer({number}, (const void *){});", leaf.expression),
        LeafKind::Text => return format!("quarry_text({number}, (const void *){});", leaf.expression),
    };
    format!("{function}({number}, {});", leaf.expression)
}

impl Recorder {
    /// What the notes of a test say; a note that makes no sense says nothing.
    pub fn read(&self, test: usize, record: &[u8]) -> Observed {
        let Some(notes) = self.tests.get(test) else { return Observed::default() };
        let mut phase = "";
        let mut seen: BTreeMap<(&str, usize), Seen> = BTreeMap::new();
        let text = String::from_utf8_lossy(record);
        let (mut returned, mut freed, mut leaves_memory) = (false, Vec::new(), false);
        for line in text.lines() {
            if line == "K" {
                leaves_memory = true;
                continue;
            }
            if let Some(object) = line.strip_prefix("F ").and_then(|number| number.parse::<usize>().ok()) {
                freed.extend(notes.objects.get(object).cloned());
                continue;
            }
            if matches!(line, "a" | "b" | "r") {
                phase = line;
                returned |= line != "b";
                continue;
            }
            let mut words = line.split(' ');
            let number = words.next().and_then(|word| word.parse::<usize>().ok());
            if let (Some(number), Some(value)) = (number, notes.value(&mut words)) {
                seen.insert((phase, number), value);
            }
        }
        let value = |(number, leaf): (usize, &Leaf)| {
            let phase = if number < notes.n_returned { "r" } else { "a" };
            let after = seen.get(&(phase, number))?;
            (seen.get(&("b", number)) != Some(after)).then(|| (leaf.clone(), after.clone()))
        };
        let values = notes.leaves.iter().enumerate().filter_map(value).collect();
        Observed { returned, values, freed, leaves_memory }
    }
}

impl Notes {
    fn value<'w>(&self, words: &mut impl Iterator<Item = &'w str>) -> Option<Seen> {
        Some(match (words.next()?, words.next()) {
            ("i", Some(number)) => Seen::Number(number.parse().ok()?),
            ("b", Some(truth)) => Seen::Truth(truth == "1"),
            ("f", Some(bits)) => Seen::Float(u64::from_str_radix(bits, 16).ok()?),
            ("n", None) => Seen::Null,
            ("x", None) => Seen::Elsewhere,
            ("t", text) => Seen::Text(from_hexadecimal(text.unwrap_or_default())?),
            ("o", Some(object)) => {
                let object = self.objects.get(object.parse::<usize>().ok()?)?.clone();
                Seen::Inside { object, offset: words.next()?.parse().ok()? }
            }
            _ => return None,
        })
    }
}

fn from_hexadecimal(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}
