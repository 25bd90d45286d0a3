//! `lcov.info`: lines, functions and branches as lcov's tools read them; MC/DC on request, which they support since 2.2.

use std::fmt::Write;

use crate::facts::DecisionFacts;
use crate::tally_by_file::{FileTally, Share};

/// The tracefile.
pub fn tracefile(tallies: &[FileTally<'_>], with_mcdc: bool) -> String {
    let mut text = String::new();
    for tally in tallies {
        record(&mut text, tally, with_mcdc).expect("writing to a string succeeds");
    }
    text
}

fn record(text: &mut String, tally: &FileTally<'_>, with_mcdc: bool) -> std::fmt::Result {
    writeln!(text, "TN:quarry\nSF:{}", tally.file.absolute.display())?;
    for function in &tally.functions {
        writeln!(text, "FN:{},{}", function.at.line, function.name)?;
    }
    for function in &tally.functions {
        writeln!(text, "FNDA:{},{}", function.hits.total(), function.name)?;
    }
    share(text, "FN", Share::of(tally.functions.iter().map(|function| function.hits.total())))?;
    for (line, groups) in &tally.branches {
        for (block, counts) in groups.iter().enumerate() {
            let is_reached = counts.iter().any(|n| *n > 0);
            for (branch, n) in counts.iter().enumerate() {
                let taken = if is_reached { n.to_string() } else { "-".to_owned() };
                writeln!(text, "BRDA:{line},{block},{branch},{taken}")?;
            }
        }
    }
    share(text, "BR", tally.branch_share(0, u32::MAX))?;
    if with_mcdc {
        mcdc(text, &tally.composites)?;
    }
    for (line, n) in &tally.lines {
        writeln!(text, "DA:{line},{n}")?;
    }
    share(text, "L", tally.line_share(0, u32::MAX))?;
    writeln!(text, "end_of_record")
}

fn share(text: &mut String, what: &str, Share { hit, all }: Share) -> std::fmt::Result {
    writeln!(text, "{what}F:{all}\n{what}H:{hit}")
}

/// A record per condition and value: whether an evaluation shows its effect.
fn mcdc(text: &mut String, decisions: &[&DecisionFacts]) -> std::fmt::Result {
    let mut shown = Share::default();
    for decision in decisions {
        for (index, condition) in decision.conditions.iter().enumerate() {
            for obligation in &condition.obligations {
                let (sense, taken) = (if obligation.value { 't' } else { 'f' }, obligation.shown_by.len());
                let (line, size) = (decision.at.line, decision.conditions.len());
                writeln!(text, "MCDC:{line},{size},{sense},{taken},{index},{}", condition.text)?;
                shown.all += 1;
                shown.hit += usize::from(taken > 0);
            }
        }
    }
    share(text, "MC", shown)
}
