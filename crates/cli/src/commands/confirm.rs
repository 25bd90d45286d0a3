//! `quarry confirm`: do tools that share no code with Quarry agree with its claims about a suite?

use cache::Cache;
use report::PAGE_FILE;
use report::confirmation::Confirmation;
use runner::confirm::confirm_claimed;
use runner::store::output::Claim;

use super::check_output;
use crate::arguments::Confirm;
use crate::exit::{Exit, Failure};
use crate::interrupt::{interrupt, requested};
use crate::say::{say, show};

/// Runs the command.
pub fn confirm(arguments: &Confirm, cache: &Cache) -> Result<Exit, Failure> {
    let directory = &arguments.run;
    check_output(directory)?;
    let page = std::path::absolute(directory.join(PAGE_FILE)).unwrap_or_else(|_| directory.join(PAGE_FILE));
    let confirmation = confirm_claimed(Claim::new(directory)?, arguments.timeout, &interrupt(), cache)?;
    show(confirmation.text().as_bytes());
    say(format_args!("report: {}", page.display()));
    Ok(exit_of(&confirmation))
}

fn exit_of(confirmation: &Confirmation) -> Exit {
    if requested() {
        Exit::Interrupted
    } else if !confirmation.disagreements.is_empty() {
        Exit::Unconfirmed
    } else if !confirmation.findings.is_empty() || !confirmation.not_asked.is_empty() {
        Exit::No
    } else {
        Exit::Done
    }
}
