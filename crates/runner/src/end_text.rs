//! How an execution ended, in words.

use engine::campaign::Sighting;
use engine::executor::End;
use model::{Program, SpanId};
use report::place::place;

/// How a run ended, with the place of an access that went outside of its object.
pub fn end_text(program: &Program, end: End) -> String {
    match end {
        End::OutOfBounds(outside) => {
            let span = SpanId(outside.place);
            let span = Some(span).filter(|span| span.index() < program.spans.len());
            format!("{end}, at {}", place(program, span))
        }
        End::Returned
        | End::Exited(_)
        | End::Aborted
        | End::Signalled { .. }
        | End::TimedOut
        | End::OutOfMemory
        | End::StackOverflow => end.to_string(),
    }
}

/// What a native run showed, with its place.
pub fn sighting_text(program: &Program, sighting: &Sighting) -> String {
    let Sighting { kind, message, place: at, .. } = sighting;
    let what = if message.is_empty() { kind.clone() } else { format!("{kind}: {message}") };
    match at {
        Some(_) => format!("{what}, at {}", place(program, *at)),
        None => what,
    }
}
