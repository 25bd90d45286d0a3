//! Same input, same trace; and what the trace says.

use engine::executor::Executor;
use engine::self_check::check;
use engine::terms::Expressions;
use engine::trace::{Choice, Tracer};

use crate::build::{Built, LONG, SYMBOLIC, input, with_cells, with_flags};

const TEXT: &str = r#"
    #include <stdlib.h>
    struct node { struct node *next; int value; };
    int f(int a, int b) {
        struct node *list = 0;
        for (int i = 0; i < (a & 7); i++) {
            struct node *node = malloc(sizeof *node);
            node->next = list; node->value = b + i; list = node;
        }
        int sum = 0;
        for (struct node *node = list; node; node = node->next) if (node->value % 3 == 1) sum += node->value;
        switch (sum) { case 4: return 1; case 11: return 2; default: return sum > 100; }
    }"#;

fn program() -> Built {
    with_cells(TEXT, 2, "f(a, b)")
}

#[test]
fn same_input_same_trace_byte_for_byte() {
    let program = program();
    let (mut server, mut other, mut fresh) = (program.server(), program.server(), program.fresh());
    let first = program.run(&mut server, &[5, 1], LONG);
    program.run(&mut server, &[2, 40], LONG);
    assert!(first.n_nodes > 10 && first.log.len() > 10, "{first:?}");
    let runs = [
        program.run(&mut server, &[5, 1], LONG),
        program.run(&mut other, &[5, 1], LONG),
        program.run(&mut fresh, &[5, 1], LONG),
        program.run(&mut fresh, &[5, 1], LONG),
    ];
    for run in runs {
        assert_eq!(run.log, first.log);
        assert_eq!((run.n_nodes, &run.cells, run.end), (first.n_nodes, &first.cells, first.end));
        assert_eq!(run.trace, first.trace);
    }
}

#[test]
fn expressions_agree_with_the_run() {
    let program = program();
    let mut server = program.server();
    for values in [[0, 0], [5, 1], [7, 0xffff_fff0], [3, 2], [1, 4]] {
        let input = input(&values);
        let execution = server.execute(&input, SYMBOLIC, LONG).expect("a run");
        let trace = Tracer::new(&program.program).trace(&execution, None, &|| false).expect("a path");
        let found =
            check(&program.program, &Expressions::of(&execution), &trace, &input).expect("sound nodes");
        assert_eq!(found, [], "{values:?}");
    }
}

#[test]
fn symbolic_steps_are_loops_conditions_and_switches() {
    let program = program();
    let left = program.run(&mut program.server(), &[1, 4], LONG);
    // two tests of the loop, one of the remainder, the switch: the list's own pointers are concrete
    let taken: Vec<Choice> = left.trace.steps.iter().map(|step| step.taken).collect();
    assert_eq!(
        taken,
        [Choice::Outcome(true), Choice::Outcome(false), Choice::Outcome(true), Choice::Case(0)]
    );
}

#[test]
fn a_run_without_symbols_has_the_same_path() {
    let program = program();
    let mut server = program.server();
    let symbolic = program.run(&mut server, &[5, 1], LONG);
    let execution = server.execute(&input(&[5, 1]), wire::Flags::default(), LONG).expect("a run");
    assert_eq!((execution.nodes.len(), execution.cells.len()), (0, 2));
    let trace = Tracer::new(&program.program).trace(&execution, None, &|| false).expect("a path");
    assert_eq!(trace.steps.len(), 0);
    assert_eq!(
        (trace.n_outcomes, trace.observations),
        (symbolic.trace.n_outcomes, symbolic.trace.observations)
    );
}

#[test]
fn a_32_bit_program_takes_the_same_path() {
    let (wide, narrow) = (program(), with_flags(TEXT, 2, "f(a, b)", &["-m32"]));
    assert_eq!((wide.program.pointer_bits, narrow.program.pointer_bits), (64, 32));
    let wide = wide.run(&mut wide.server(), &[5, 1], LONG);
    let narrow = narrow.run(&mut narrow.server(), &[5, 1], LONG);
    assert_eq!(wide.end, narrow.end);
    let taken = |left: &crate::build::Left| -> Vec<Choice> {
        left.trace.steps.iter().map(|step| step.taken).collect()
    };
    assert_eq!(taken(&wide), taken(&narrow));
}
