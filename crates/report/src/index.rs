//! The page of several functions: the totals, and a line for each with a link to its own page. It needs no scripts.

use std::fmt::Write;

use crate::PAGE_FILE;
use crate::confirmation::Confirmation;
use crate::functions::{FunctionEntry, conclusion};
use crate::page::{CSS, escaped};
use crate::record::{Counts, State, Summary};
use crate::words::goal_word;

/// The page; links lead from the directory that it is in to those of the functions.
pub fn html(entries: &[FunctionEntry], total: &Summary, confirmation: Option<&Confirmation>) -> String {
    let mut rows = String::new();
    for entry in entries {
        rows.push_str(&row(entry));
    }
    let cards: String =
        total.per_criterion.iter().map(|(criterion, counts)| card(criterion, *counts)).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>Quarry</title>\n\
         <link rel=\"icon\" href=\"data:,\">\n<style>\n{CSS}</style>\n</head>\n<body>\n\
         <header id=\"top\"><span class=\"brand\">quarry</span> <h1>all functions</h1></header>\n\
         <main class=\"overview\">\n\
         <section aria-labelledby=\"sum\"><h2 id=\"sum\">{}</h2>\n\
         <p class=\"lead\">{} executions in {:.1} s. Goals that several functions reach count for each.</p></section>\n\
         <section class=\"cards\" aria-label=\"By criterion\">{cards}</section>\n\
         {}\
         <section aria-labelledby=\"functions\"><h3 id=\"functions\">By function</h3>\n\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Functions\"><table class=\"functions\">\n\
         <thead><tr><th scope=\"col\">function</th><th scope=\"col\" class=\"wide\"></th>\
         <th scope=\"col\" class=\"number\">goals</th><th scope=\"col\" class=\"number\">tests</th>\
         <th scope=\"col\" class=\"number\">crashes</th><th scope=\"col\" class=\"number\">seconds</th>\
         <th scope=\"col\">end</th></tr></thead>\n<tbody>\n{rows}</tbody></table></div></section>\n\
         </main>\n</body>\n</html>\n",
        escaped(&conclusion(entries, total)),
        grouped(total.executions as usize),
        total.seconds,
        confirmation.map(confirmed).unwrap_or_default(),
    )
}

/// What other tools say: a sentence per criterion, then what they object to and what they found.
fn confirmed(confirmation: &Confirmation) -> String {
    let mut text = "<section aria-labelledby=\"confirmed\"><h3 id=\"confirmed\">Results of llvm-cov and the sanitizers</h3>\n"
        .to_owned();
    for sentence in confirmation.sentences() {
        text.push_str(&format!("<p>{}</p>\n", escaped(&sentence)));
    }
    let denied = confirmation.disagreements.iter().map(|one| {
        let test = one.tests.first().map(String::as_str).unwrap_or_default();
        let what = match one.state {
            State::Infeasible => "is called infeasible and counted",
            State::Covered | State::Undecided => "is not counted",
        };
        item(&one.at, &format!("{} {what}", one.demand), test, &format!("goal/{}", one.goal))
    });
    let found = confirmation.findings.iter().map(|one| {
        let what = format!("{}: {}", one.kind, one.message);
        item(&one.at(), &what, &one.test, "finding")
    });
    for (class, items) in [("warning", denied.collect::<String>()), ("", found.collect::<String>())] {
        if !items.is_empty() {
            text.push_str(&format!("<div class=\"{class}\"><ul class=\"goals\">\n{items}</ul></div>\n"));
        }
    }
    text + "</section>\n"
}

/// A place, what is there, and the way to the function whose test shows it.
fn item(at: &str, what: &str, test: &str, view: &str) -> String {
    let (directory, _) = test.split_once('/').unwrap_or_default();
    format!(
        "<li><span class=\"place\">{}</span> {} <a class=\"chip\" href=\"../{}/{PAGE_FILE}#{view}\">{}</a></li>\n",
        escaped(at),
        escaped(what),
        escaped(directory),
        escaped(test.trim_end_matches(".json")),
    )
}

fn card(criterion: &str, counts: Counts) -> String {
    format!(
        "<div class=\"card\"><div>{}</div><div class=\"figure\">{}<small> {} of {}</small></div>{}</div>",
        escaped(goal_word(criterion)),
        percent(counts),
        grouped(counts.covered),
        grouped(counts.feasible()),
        bar(counts),
    )
}

fn row(entry: &FunctionEntry) -> String {
    let name = if entry.function.is_empty() { &entry.file } else { &entry.function };
    let name = match (&entry.directory, &entry.result) {
        (Some(directory), Some(_)) => {
            format!("<a href=\"../{}/{PAGE_FILE}\">{}</a>", escaped(directory), escaped(name))
        }
        (Some(_) | None, _) => escaped(name),
    };
    let mut row = format!("<tr><th scope=\"row\">{name}</th>");
    match &entry.result {
        None => {
            let reason = entry.reason.as_deref().unwrap_or("not started");
            write!(row, "<td colspan=\"6\">{}</td>", escaped(reason))
        }
        Some(result) => {
            let (covered, possible) = (result.goals.covered, result.goals.feasible());
            let class = if covered == possible { "full" } else { "" };
            let crashes = if result.crashes == 0 { String::new() } else { result.crashes.to_string() };
            write!(
                row,
                "<td class=\"wide\">{}</td><td class=\"number\" data-label=\"goals\"><span class=\"{class}\">{}</span> \
                 <small>{}/{}</small></td><td class=\"number\" data-label=\"tests\">{}</td>\
                 <td class=\"number zero\" data-label=\"crashes\">{crashes}</td>\
                 <td class=\"number\" data-label=\"seconds\">{:.1}</td><td data-label=\"end\">{}</td>",
                bar(result.goals),
                percent(result.goals),
                grouped(covered),
                grouped(possible),
                grouped(result.tests),
                result.seconds,
                result.stop.describe(),
            )
        }
    }
    .expect("writing to a string succeeds");
    row + "</tr>\n"
}

/// `66.7 %` as the pages of functions write it, and never `100 %` when something is missing.
fn percent(counts: Counts) -> String {
    match counts.percentage() {
        whole if whole == 0.0 || whole == 100.0 => format!("{whole:.0} %"),
        part => format!("{:.1} %", part.min(99.9)),
    }
}

/// `12,345`.
fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(|group| String::from_utf8_lossy(group));
    groups.collect::<Vec<_>>().join(",")
}

fn bar(counts: Counts) -> String {
    if counts.total == 0 {
        return "<small>no goals</small>".to_owned();
    }
    let part = |n_goals: usize| 100.0 * n_goals as f64 / counts.total as f64;
    format!(
        "<div class=\"bar\" role=\"img\" aria-label=\"{} of {} goals covered\">\
         <i class=\"covered\" style=\"width:{:.2}%\"></i><i class=\"infeasible\" style=\"width:{:.2}%\"></i>\
         <i class=\"undecided\" style=\"width:{:.2}%\"></i></div>",
        counts.covered,
        counts.feasible(),
        part(counts.covered),
        part(counts.infeasible + counts.infeasible_bounded),
        part(counts.undecided),
    )
}
