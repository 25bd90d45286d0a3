//! Programs that take their inputs from calls, as in Test-Comp: how their suites are exported and measured.

use std::fs;

use crate::support::Bench;

const COUNTER: &str = "\
extern int __VERIFIER_nondet_int(void);
extern unsigned char __VERIFIER_nondet_uchar(void);
extern void __VERIFIER_assume(int);
int main(void)
{
    int n = __VERIFIER_nondet_int();
    __VERIFIER_assume(n > 3);
    if (n == 77 && __VERIFIER_nondet_uchar() == 200)
        return 1;
    return 0;
}
";

#[test]
fn values_are_exported_in_the_order_of_calls() {
    let bench = Bench::new(&[("counter.c", COUNTER)]);
    bench.quarry(&["gen", "counter.c", "--function", "main", "-o", "out"]).check(0, &[]);
    let ran = bench.quarry(&["export", "out", "--format", "testcomp", "-o", "suite"]);
    ran.check(0, &[]).shows(&["2 tests in suite"]);
    let text = |name: &str| fs::read_to_string(bench.path("suite").join(name)).expect("exported");
    let metadata = text("metadata.xml");
    for part in ["<programfile>counter.c<", "<architecture>64bit<", "<entryfunction>main<", "@DECISIONEDGE"] {
        assert!(metadata.contains(part), "{metadata}");
    }
    let all = text("testcase-1.xml") + &text("testcase-2.xml");
    let wanted = "  <input type=\"int\">77</input>\n  <input type=\"uchar\">200</input>\n";
    assert!(all.contains(wanted), "{all}");
}

#[test]
fn what_cannot_be_exported_is_refused_with_advice() {
    let bench = Bench::new(&[("f.c", "int f(int a) { return a > 3; }\n")]);
    bench.quarry(&["export", "nowhere", "--format", "testcomp"]).check(2, &["it has no run.json"]);
    let ran = bench.quarry(&["gen", "f.c", "--format", "testcomp"]);
    ran.check(2, &["not for the function f", "--function main"]);
    bench.quarry(&["export", "out", "--format", "junit"]).check(2, &["possible values: c, unity"]);
}

#[test]
fn a_run_that_an_assumption_ends_counts_as_far_as_it_came() {
    let bench = Bench::new(&[
        ("counter.c", COUNTER),
        ("excluded.json", "{\"__VERIFIER_nondet_*()\": [{\"int\": 3}]}"),
    ]);
    fs::create_dir(bench.path("suite")).expect("created");
    fs::rename(bench.path("excluded.json"), bench.path("suite/excluded.json")).expect("moved");
    let ran = bench.quarry(&["cover", "counter.c", "suite", "--function", "main"]);
    ran.check(0, &[]).shows(&["exited with 0: covers 0 goals", "0 of 2 branches covered"]);
    // a list that is too short is zeros behind its end, one that is too long does no harm
    fs::write(
        bench.path("suite/excluded.json"),
        "{\"__VERIFIER_nondet_*()\": [{\"int\": 77}, {\"uchar\": 200}, {\"int\": 5}]}",
    )
    .expect("written");
    bench
        .quarry(&["cover", "counter.c", "suite", "--function", "main"])
        .check(0, &[])
        .shows(&["1 of 2 branches"]);
}
