//! Event sequences: what executions it takes to cover what depends on what happened before.

use std::collections::BTreeMap;
use std::time::Duration;

use coverage::{Cause, Status};
use engine::campaign::{Budget, CampaignOptions, CampaignResult};

use crate::build::{Built, built};
use crate::campaigns::campaign_for;

/// A function of an array of so many `unsigned char`.
fn with_bytes(text: &str, n: usize) -> Built {
    let harness = format!(
        "void __quarry_cell(unsigned long long, void *, unsigned, unsigned);
         void __quarry_harness(void) {{
             static unsigned char a[{n}];
             for (int i = 0; i < {n}; i++) {{ a[i] = 0; __quarry_cell(i, &a[i], 1, 8); }}
             f(a);
         }}"
    );
    built(text, Some(&harness), &[])
}

fn chained(built: &Built, strategy: &str, executions: u64) -> CampaignResult {
    let budget = Budget { time: Some(Duration::from_secs(60)), executions: Some(executions) };
    let options = CampaignOptions { budget, self_check: true, seed: 3, ..CampaignOptions::default() };
    campaign_for(built, &["branch"], strategy, &options)
}

fn open(result: &CampaignResult) -> Vec<(String, Cause)> {
    let goals = result.coverage.goals();
    let open = goals.filter_map(|(_, goal, status)| match status {
        Status::Undecided(reason) => Some((format!("{:?}", goal.demand), reason.cause.clone())),
        Status::Covered { .. } | Status::Infeasible { .. } => None,
    });
    open.collect()
}

/// Each unit, with the executions that suffice for all its branches.
const UNITS: &[(&str, &str, usize, u64)] = &[
    (
        "a flag that any of many elements clears",
        "
        void f(unsigned char *a) {
            int ok = 1;
            for (int i = 0; i < 20; i++) if (a[i] != 25) ok = 0;
            if (ok) a[0] = 1;
        }",
        20,
        8,
    ),
    (
        "a counter that must come out exact",
        "
        void f(unsigned char *a) {
            int n = 0;
            for (int i = 0; i < 24; i++) if (a[i] == 'x') n++;
            if (n == 17) a[0] = 1;
        }",
        24,
        10,
    ),
    (
        "a flag behind a pointer",
        "
        static void clear(int *flag) { *flag = 0; }
        void f(unsigned char *a) {
            int door = 1, window = 1;
            for (int i = 0; i < 12; i++) {
                if (a[i] < 100) clear(&door);
                else if (a[i] < 200) clear(&window);
            }
            if (door) { if (window) a[0] = 1; }
        }",
        12,
        40,
    ),
    (
        "a flag that a counter clears",
        "
        void f(unsigned char *a) {
            int hunger = 0, late = 0;
            for (int i = 0; i < 20; i++) {
                if (a[i] == 'f') hunger = 0; else hunger++;
                if (hunger > 5) late = 1;
            }
            if (!late) a[0] = 1;
        }",
        20,
        10,
    ),
    (
        "a result of a function that is kept",
        "
        static int fits(unsigned char *a, int n) {
            for (int i = 0; i < n; i++) if (a[i] < ' ' || a[i] > '~') return 0;
            return 1;
        }
        void f(unsigned char *a) {
            int first = fits(a, 6);
            int second = fits(a + 6, 6);
            if (first + second == 2) a[0] = 1;
        }",
        12,
        60,
    ),
];

#[test]
fn chaining_covers_what_depends_on_what_happened_before_in_a_few_executions() {
    for (what, text, n_bytes, executions) in UNITS {
        let built = with_bytes(text, *n_bytes);
        let result = chained(&built, "chaining", *executions);
        assert_eq!(open(&result), [], "{what}: after {} executions", result.executions);
        assert_eq!((result.n_troubles, result.n_mismatches), (0, 0), "{what}: {:?}", result.troubles);
    }
}

#[test]
fn distance_alone_does_not() {
    let (what, text, n_bytes, _) = UNITS[0];
    let result = chained(&with_bytes(text, n_bytes), "fitness", 300);
    assert_eq!(open(&result).len(), 1, "{what}");
}

#[test]
fn what_no_data_flow_helps_is_saturated_long_before_the_budget() {
    let text = "
        void f(unsigned char *a) {
            int n = 0;
            for (int i = 0; i < 8; i++) { if (a[i] == 'x' && n < 3) n++; }
            if (n > 3) a[0] = 1;
        }";
    let result = chained(&with_bytes(text, 8), "chaining", 2000);
    let causes: BTreeMap<_, _> = open(&result).into_iter().collect();
    assert_eq!(causes.into_values().collect::<Vec<_>>(), [Cause::Saturated]);
    assert!(result.executions < 300, "{}", result.executions);
    let reasons = result.coverage.goals().filter_map(|(.., status)| match status {
        Status::Undecided(reason) => Some(reason.describe(&with_bytes(text, 8).program)),
        Status::Covered { .. } | Status::Infeasible { .. } => None,
    });
    let reasons: Vec<String> = reasons.collect();
    assert!(reasons[0].contains("saturated: ") && reasons[0].contains("(n > 3)"), "{reasons:?}");
}

#[test]
fn the_same_seed_gives_the_same_chain() {
    let built = with_bytes(UNITS[3].1, UNITS[3].2);
    let inputs = |result: CampaignResult| -> Vec<_> {
        result.tests.into_iter().map(|test| (test.id, test.input)).collect()
    };
    let (first, second) = (chained(&built, "auto", 60), chained(&built, "auto", 60));
    assert_eq!(inputs(first), inputs(second));
}
