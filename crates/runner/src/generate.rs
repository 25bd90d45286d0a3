//! A suite for what a spec names: one function or program, or each of several functions.

use std::path::Path;

use crate::background::{wait_for, wait_quietly};
use crate::campaign::{self, Ended, Entered, Order, enter, write_format};
use crate::error::Error;
use crate::export;
use crate::fingerprint::Fingerprint;
use crate::front;
use crate::import;
use crate::session::{Session, Since};
use crate::several::{self, Found, SeveralEnded};

/// What came of it.
pub enum Generated {
    One(Ended),
    Several(Box<SeveralEnded>),
}

/// Runs a campaign, or one for each function when none is named and there are several.
pub fn generate(mut order: Order, session: &mut Session<'_>) -> Result<Generated, Error> {
    let clock = Since::now(session.clock);
    // what the spec alone says is checked before anything is done
    order.spec.check()?;
    if let Some(format) = order.format {
        export::restrict(format, &mut order.spec)?;
    }
    order.spec.sources = front::with_all_sources(&order.spec.sources, &order.root)?;
    make_room_for_tests(&mut order, session)?;
    let asked = (order.clone(), session.cache.clone());
    let fingerprint = wait_quietly(None, session, "looking for changes", move || {
        Fingerprint::of(&asked.0.spec, &asked.0.root, &asked.1)
    })?;
    let (output, run) = match enter(&order, fingerprint, session)? {
        Entered::Work(entered) => *entered,
        Entered::Done(root, summary) => {
            let exported = write_format(&order, &root, session.interrupt, session.cache)?;
            return Ok(Generated::One(Ended::NothingLeft { root, summary, exported }));
        }
    };
    let mut front = None;
    if order.spec.is_open() {
        let asked = (order.clone(), output.work(), session.cache.clone());
        match wait_for(session, "reading", move || several::find(&asked.0, &asked.1, &asked.2))? {
            Found::One(marked) => front = Some(marked),
            Found::Several(_) if !order.spec.tests.tests.is_empty() => {
                return Err(Error::usage("tests are for one function, or for a whole program")
                    .help("name it with --function, or add --program"));
            }
            Found::Several(found) => {
                let ended = several::run(&order, found, &output, run, &clock, session)?;
                return Ok(Generated::Several(Box::new(ended)));
            }
        }
    }
    campaign::run(&order, front, &output, run, session).map(Generated::One)
}

/// Raises limits to what tests need that are there already, and takes over what their runs say.
fn make_room_for_tests(order: &mut Order, session: &mut Session<'_>) -> Result<(), Error> {
    if order.spec.tests.tests.is_empty() {
        return Ok(());
    }
    let Order { spec, root, out, .. } = order;
    for place in &spec.tests.tests {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if real(&root.join(place)).starts_with(real(out)) {
            return Err(Error::usage(format!("the tests {} lie in the output directory", place.display()))
                .help("choose another output directory with -o"));
        }
    }
    let mut found = import::read(spec, root)?;
    import::take_over(spec, &found);
    import::widen(spec, &mut found);
    found.notes.iter().for_each(|note| session.watcher.remark(note));
    Ok(())
}
