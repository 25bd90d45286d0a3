use super::*;

fn option(name: OptionName, value: OptionValue) -> Hint {
    Hint::Option(CommandOption { name, value })
}

#[test]
fn a_colon_says_that_an_option_has_a_value() {
    let short = |letter, value| option(OptionName::Short(letter), value);
    let found = options::short(b"+:ab:c::");
    let expected = [
        short(b'a', OptionValue::None),
        short(b'b', OptionValue::Required),
        short(b'c', OptionValue::Optional),
    ];
    assert_eq!(found, expected);
}

/// What a program says whose `main` is this text; `g0` is "add", `g1` a table that names it.
fn hints(main: &str) -> Vec<Hint> {
    let text = format!(
        "program pointer 64 root f0\nfile file0 \"t.c\"\nspan s0 file0:1:1\n\
         global g0 \".str\" internal constant size 4 align 1 bytes \"add\\x00\"\n\
         global g1 \".str.1\" internal constant size 2 align 1 bytes \"r\\x00\"\n\
         global g2 \".str.2\" internal constant size 2 align 1 bytes \"w\\x00\"\n\
         function f0 \"main\" exported (i32, ptr) -> i32 at s0 {{\nb0:\n %0 = alloca 4 align 4\n \
         %1 = alloca 8 align 8\n %2 = store i32 p0, %0\n %3 = store ptr p1, %1\n{main}}}\n\
         function f1 \"strcmp\" external (ptr, ptr) -> i32\n\
         function f2 \"atoi\" external (ptr) -> i32\n\
         function f3 \"fopen\" external (ptr, ptr) -> ptr\n"
    );
    let program = model::text::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    Dictionary::of(&program).hints.into_keys().collect()
}

#[test]
fn the_number_of_arguments_is_followed_through_variables() {
    let text = " %4 = load i32, %0\n %5 = compare slt i32 %4, 3\n return 0\n";
    assert_eq!(hints(text), [Hint::ArgumentCount(2)]);
}

#[test]
fn an_argument_that_is_read_as_a_number_is_told_from_other_text() {
    let text = " %4 = load ptr, %1\n %5 = address %4, 16\n %6 = load ptr, %5\n %7 = call i32 f2(ptr %6)\n \
                %8 = call i32 f1(ptr %6, ptr g0)\n return 0\n";
    let expected = [Hint::ArgumentCount(2), Hint::NumericArgument, Hint::Word(b"add".to_vec())];
    assert_eq!(hints(text), expected);
}

#[test]
fn files_that_are_only_written_are_no_input() {
    let opened = |name, mode| {
        hints(&format!(" %4 = load ptr, %1\n %5 = call ptr f3(ptr {name}, ptr {mode})\n return 0\n"))
    };
    assert_eq!(opened("%4", "g1"), [Hint::NamedFile]);
    assert_eq!(opened("g0", "g1"), [Hint::File(b"add".to_vec())]);
    assert!(opened("%4", "g2").is_empty() && opened("g0", "g2").is_empty());
}
