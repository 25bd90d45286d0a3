//! `quarry completions` and `quarry man`: generated from the command line itself, so they cannot disagree with it.

use clap::CommandFactory;

use crate::arguments::{CommandLine, Completions, Man};
use crate::exit::{Exit, Failure};
use crate::say::{say, show};
use report::words::counted;

/// Prints completions for a shell.
pub fn completions(arguments: &Completions) -> Exit {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut CommandLine::command(), "quarry", &mut text);
    show(&text);
    Exit::Done
}

/// Writes a manual page for `quarry` and one for each command.
pub fn pages(arguments: &Man) -> Result<Exit, Failure> {
    let directory = &arguments.directory;
    let cannot =
        |error| Failure::usage(format!("cannot write manual pages to {}: {error}", directory.display()));
    std::fs::create_dir_all(directory).map_err(cannot)?;
    let mut command = CommandLine::command();
    command.build();
    let mut n_pages = 0;
    let hidden = |command: &&clap::Command| !command.is_hide_set() && command.get_name() != "help";
    let commands = command.get_subcommands().filter(hidden).cloned();
    for page in std::iter::once(command.clone()).chain(commands) {
        // `quarry gen` has the page quarry-gen
        let name = page.get_display_name().unwrap_or(page.get_name()).to_owned();
        let mut text = Vec::new();
        clap_mangen::Man::new(page.display_name(name.clone())).render(&mut text).map_err(cannot)?;
        std::fs::write(directory.join(format!("{name}.1")), text).map_err(cannot)?;
        n_pages += 1;
    }
    say(format_args!("{} in {}", counted(n_pages, "page"), directory.display()));
    Ok(Exit::Done)
}
