//! Symbolic bytes that are given to code which is not followed are never lost silently.

use frontend::instrument::Mode;
use wire::{Event, LogPlace};

use crate::build::{Flags, instrumented};
use crate::server::Server;

/// What a run of this harness says is not followed, by name.
fn unfollowed(body: &str) -> Vec<String> {
    let text = format!(
        "#define _GNU_SOURCE\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <time.h>\n#include <getopt.h>\n
         void __quarry_harness(void) {{ char text[8] = \"12\"; int number = 3; CELL(0, text); CELL(1, number);
         {body} }}"
    );
    let program = instrumented(&text, Mode::Symbolic, &Flags::default());
    let trace = Server::start(&program.path).run(&[(0, 0x3332_3130), (1, 7)]);
    let sites = trace.events.iter().filter_map(|event| match event {
        Event::Unfollowed { site } => Some(program.sites[*site as usize].what.clone()),
        _ => None,
    });
    sites.collect()
}

#[test]
fn symbolic_arguments_and_what_they_point_to_are_noticed_once() {
    let cases: &[(&str, &[&str])] = &[
        // a number, also where nobody looks at the result but memory is written
        ("char out[16]; snprintf(out, sizeof out, \"%d\", number);", &["snprintf"]),
        // a string, in a loop
        ("for (int i = 0; i < 3; i++) if (__q(0, strverscmp(text, \"7\") > 0)) ;", &["strverscmp"]),
        // a list of strings
        (
            "char *list[] = {\"p\", text, 0}; if (__q(0, getopt_long(2, list, \"a\", 0, 0) == -1)) ;",
            &["getopt_long"],
        ),
        // nothing symbolic
        ("if (__q(0, strverscmp(\"9\", \"7\") > 0)) ;", &[]),
        // output alone
        ("printf(\"%d %s\", number, text); puts(text);", &[]),
    ];
    for (body, expected) in cases {
        assert_eq!(unfollowed(body), *expected, "{body}");
    }
}

#[test]
fn pins_say_where_they_stand() {
    let text = "#define _GNU_SOURCE\n#include <stdlib.h>\n#include <string.h>\nint t[512]; void __quarry_harness(void) { unsigned i = 0; CELL(0, i);
                t[i & 511] = 1; if (__q(0, t[3])) ; if (__q(1, random_of(i) > 0)) ; }";
    let text = text.replace("random_of(i)", "atoi(strsignal((int)(i & 15)))");
    let program = instrumented(&text, Mode::Symbolic, &Flags::default());
    let trace = Server::start(&program.path).run(&[(0, 5)]);
    let places: Vec<Option<LogPlace>> = trace
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Pin { place, .. } => Some(*place),
            _ => None,
        })
        .collect();
    assert!(matches!(places[..], [Some(LogPlace::Span(_)), Some(LogPlace::Site(_))]), "{places:?}");
    let Some(LogPlace::Site(site)) = places[1] else { unreachable!() };
    assert_eq!(program.sites[site as usize].what, "strsignal");
}
