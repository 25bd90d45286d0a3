//! Headers as sources: the code of a header-only library is in its header.

use crate::support::Bench;

/// A library as they are written: inline functions for everybody, the others where a macro asks for them.
const RING: &str = "\
#ifndef RING_H
#define RING_H
static inline int ring_index(int position, int size)
{
    if (position >= size)
        return position - size;
    return position;
}
int ring_classify(int position, int size);
#endif
#ifdef RING_IMPLEMENTATION
int ring_classify(int position, int size)
{
    if (size <= 0 || position < 0)
        return -1;
    return ring_index(position, size) == 3 ? 1 : 0;
}
#endif
";

#[test]
fn an_inline_function_of_a_header_has_goals_at_its_own_lines() {
    let bench = Bench::new(&[("ring.h", RING)]);
    bench.quarry(&["goals", "ring.h"]).check(0, &[]).shows(&["5:9", "2 goals for branch"]);
    bench
        .quarry(&["gen", "ring.h", "--function", "ring_index"])
        .check(0, &[])
        .shows(&["2 of 2 branches covered"]);
    bench.quarry(&["replay", "quarry.out"]).check(0, &[]).shows(&["tests cover what they covered before"]);
}

#[test]
fn an_implementation_macro_makes_the_functions_of_a_header_testable() {
    let bench = Bench::new(&[("ring.h", RING)]);
    let subject = ["ring.h", "--function", "ring_classify"];
    let flags = ["--", "-DRING_IMPLEMENTATION"];
    let quarry = |words: &[&str]| bench.quarry(&[words, &flags].concat());
    let gen_words = [&["gen", "--budget", "20s", "--confirm"], &subject[..]].concat();
    quarry(&gen_words).check(0, &[]).shows(&["ring.h:14:9", "6 of 6 branches covered"]);
    let covered = quarry(&[&["cover"], &subject[..1], &["quarry.out"], &subject[1..]].concat());
    covered.check(0, &[]).shows(&["6 of 6 branches covered"]);
    bench.quarry(&["confirm", "quarry.out"]).check(0, &[]);
    bench.quarry(&["export", "quarry.out", "--format", "c", "-o", "exported"]).check(0, &[]);
    let unit = std::fs::read_to_string(bench.path("exported/quarry_unit.h")).expect("readable");
    assert!(unit.contains("ring.h"), "{unit}");
}

#[test]
fn a_header_is_compiled_beside_the_file_that_needs_its_functions() {
    let user =
        "#include \"ring.h\"\nint twice(int p, int n)\n{\n    return ring_classify(p, n) == 1 ? 2 : 0;\n}\n";
    let bench = Bench::new(&[("ring.h", RING), ("user.c", user)]);
    let words = ["gen", "user.c", "ring.h", "--function", "twice", "--budget", "20s", "--"];
    let ran = bench.quarry(&[&words[..], &["-DRING_IMPLEMENTATION=1"]].concat());
    // the macro holds for both files here, so the function is defined twice
    ran.check(20, &["ring_classify"]);
    let own = user.replace("#include \"ring.h\"", "int ring_classify(int position, int size);");
    std::fs::write(bench.path("user.c"), own).expect("writable");
    let ran = bench.quarry(&[&words[..], &["-DRING_IMPLEMENTATION=1"]].concat());
    ran.check(0, &[]).shows(&["8 of 8 branches covered"]);
    bench.quarry(&["confirm", "quarry.out"]).check(0, &[]);
    bench.quarry(&["export", "quarry.out", "--format", "c", "-o", "exported"]).check(0, &[]);
    let cmake = std::fs::read_to_string(bench.path("exported/CMakeLists.txt")).expect("readable");
    assert!(cmake.contains("ring.h\" PROPERTIES LANGUAGE C)"), "{cmake}");
    let built = std::process::Command::new("sh")
        .args(["-c", "cmake -B build . && cmake --build build && ctest --test-dir build"])
        .current_dir(bench.path("exported"))
        .output()
        .expect("sh starts");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stdout));
}
