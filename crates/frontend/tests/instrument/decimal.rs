//! The terms of atoi and its relatives, against what the library gives for other texts.

use frontend::instrument::Mode;
use wire::Event;

use crate::build::{Flags, instrumented};
use crate::evaluate::{Numbers, check_prediction, self_check};
use crate::server::Server;

const LENGTH: u64 = 24;

/// Every bit of each number is a condition.
const READS: &str = r#"
    #include <stdlib.h>
    void __quarry_harness(void) {
        char text[25]; for (int i = 0; i < 24; i++) { char c = 0; CELL(i, c); text[i] = c; } text[24] = 0;
        int whole = atoi(text); long size = atol(text + 1); long long wide = atoll(text + 2);
        for (unsigned bit = 0; bit < 32; bit++) if (__q(0, whole >> bit & 1)) ;
        for (unsigned bit = 0; bit < 8 * sizeof size; bit++) if (__q(1, size >> bit & 1)) ;
        for (unsigned bit = 0; bit < 64; bit++) if (__q(2, wide >> bit & 1)) ;
    }"#;

/// A text of mostly digits, now and then up to its last place.
fn text(numbers: &mut Numbers) -> Vec<(u64, u64)> {
    const ALPHABET: &[u8] = b"0123456789999\t +-x";
    let length = if numbers.next().is_multiple_of(4) { LENGTH } else { numbers.next() % 12 };
    let mut character = |place: u64| {
        let of = if place > 3 { 13 } else { ALPHABET.len() as u64 };
        u64::from(ALPHABET[(numbers.next() % of) as usize])
    };
    (0..LENGTH).map(|place| (place, if place < length { character(place) } else { 0 })).collect()
}

fn check(flags: &Flags) {
    let program = instrumented(READS, Mode::Symbolic, flags);
    let mut server = Server::start(&program.path);
    let mut numbers = Numbers(0x1234_5678_9abc_def1);
    let mut predicted = 0;
    for round in 0..120 {
        let first = text(&mut numbers);
        let mut second = first.clone();
        if round % 2 == 0 {
            second = text(&mut numbers);
        } else {
            let place = numbers.next() % 6;
            second[place as usize].1 = text(&mut numbers)[place as usize].1;
        }
        predicted += check_prediction(&mut server, &first, &second);
    }
    assert!(predicted > 60 * 32, "{predicted} events were predicted");
}

#[test]
fn a_number_in_text_is_one_term() {
    check(&Flags::default());
}

#[test]
fn a_number_in_text_is_one_term_in_32_bit_programs() {
    check(&Flags { target: vec!["-m32".to_owned()], ..Flags::default() });
}

#[test]
fn reading_a_number_takes_no_branch() {
    let text = "#include <stdlib.h>
        void __quarry_harness(void) { char text[9]; for (int i = 0; i < 9; i++) { char c = 0; CELL(i, c); text[i] = c; }
            text[8] = 0; if (__q(0, atoi(text) == 2718281)) ; }";
    let program = instrumented(text, Mode::Symbolic, &Flags::default());
    let trace = Server::start(&program.path).run(&[(0, u64::from(b'7'))]);
    self_check(&trace);
    let symbolic: Vec<_> =
        trace.events.iter().filter(|event| !matches!(event, Event::Outcome { node: None, .. })).collect();
    assert!(matches!(symbolic[..], [Event::Outcome { node: Some(_), .. }]), "{symbolic:?}");
}
