//! The C header states the same layout as this crate: a small C program prints its offsets, sizes and numbers.

use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use wire::{
    Event, Events, Flags, FloatOp, FloatUnary, Marks, Node, NodeId, NodeOp, ObjectKind, Operand, Rounding,
    RunState, TryRecord, TryVerdict, field,
};

/// Compiles a program that prints the C expressions, one value per line.
fn values_in_c(expressions: &[&str]) -> Vec<u64> {
    static N_DIRS: AtomicU32 = AtomicU32::new(0);
    let number = N_DIRS.fetch_add(1, Ordering::Relaxed);
    let dir = std::env::temp_dir().join(format!("quarry-c-layout-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("directory");
    let header = concat!(env!("CARGO_MANIFEST_DIR"), "/../../runtime/quarry_wire.h");
    let prints: String =
        expressions.iter().map(|e| format!("printf(\"%llu\\n\", (unsigned long long)({e}));\n")).collect();
    let text = format!(
        "#include <stddef.h>\n#include <stdio.h>\n#include \"{header}\"\n\
         #define AT(f) offsetof(struct q_header, f)\nint main(void) {{\n{prints}return 0; }}\n"
    );
    let (source, program) = (dir.join("layout.c"), dir.join("layout"));
    std::fs::write(&source, text).expect("source");
    let compiled = Command::new("cc").arg(&source).arg("-o").arg(&program).status().expect("a C compiler");
    assert!(compiled.success());
    let output = Command::new(&program).output().expect("runs").stdout;
    std::fs::remove_dir_all(&dir).ok();
    let output = String::from_utf8(output).expect("numbers");
    output.lines().map(|line| line.parse().expect("a number")).collect()
}

fn check(rows: &[(&str, usize)]) {
    let names: Vec<_> = rows.iter().map(|(name, _)| *name).collect();
    for ((name, here), there) in rows.iter().zip(values_in_c(&names)) {
        assert_eq!(*here as u64, there, "{name}");
    }
}

#[test]
fn header_matches_the_c_side() {
    check(&[
        ("AT(magic)", field::MAGIC),
        ("AT(version)", field::VERSION),
        ("AT(flags)", field::FLAGS),
        ("AT(n_inputs)", field::N_INPUTS),
        ("AT(input_offset)", field::INPUT_OFFSET),
        ("AT(cell_offset)", field::CELL_OFFSET),
        ("AT(node_offset)", field::NODE_OFFSET),
        ("AT(log_offset)", field::LOG_OFFSET),
        ("AT(total_size)", field::TOTAL_SIZE),
        ("AT(input_capacity)", field::INPUT_CAPACITY),
        ("AT(cell_capacity)", field::CELL_CAPACITY),
        ("AT(node_capacity)", field::NODE_CAPACITY),
        ("AT(n_tries)", field::N_TRIES),
        ("AT(log_capacity)", field::LOG_CAPACITY),
        ("AT(memory_limit)", field::MEMORY_LIMIT),
        ("AT(file_limit)", field::FILE_LIMIT),
        ("AT(cpu_limit_ms)", field::CPU_LIMIT_MS),
        ("AT(state)", field::STATE),
        ("AT(marks)", field::MARKS),
        ("AT(n_cells)", field::N_CELLS),
        ("AT(n_nodes)", field::N_NODES),
        ("AT(log_length)", field::LOG_LENGTH),
        ("AT(exit_code)", field::EXIT_CODE),
        ("AT(n_tried)", field::N_TRIED),
        ("AT(fault_address)", field::FAULT_ADDRESS),
        ("AT(outside_offset)", field::OUTSIDE_OFFSET),
        ("AT(outside_size)", field::OUTSIDE_SIZE),
        ("AT(outside_bytes)", field::OUTSIDE_BYTES),
        ("AT(outside_object)", field::OUTSIDE_OBJECT),
        ("AT(outside_place)", field::OUTSIDE_PLACE),
        ("AT(fresh_reason)", field::FRESH_REASON),
        ("AT(fresh_detail)", field::FRESH_DETAIL),
        ("sizeof(struct q_header)", field::END),
        ("Q_MAGIC", wire::MAGIC as usize),
        ("Q_WIRE_VERSION", wire::WIRE_VERSION as usize),
        ("Q_HEADER_SIZE", wire::HEADER_SIZE),
        ("Q_TRY_OFFSET", wire::TRY_OFFSET as usize),
        ("Q_MAX_TRIES", wire::MAX_TRIES),
        ("sizeof(struct q_try)", wire::TRY_SIZE),
        ("sizeof(struct q_input)", wire::INPUT_SIZE),
        ("sizeof(struct q_cell)", wire::CELL_SIZE),
        ("sizeof(struct q_node)", wire::NODE_SIZE),
        ("Q_SHM_FD", wire::SHM_FD as usize),
        ("Q_COMMAND_FD", wire::COMMAND_FD as usize),
        ("Q_REPLY_FD", wire::REPLY_FD as usize),
        ("Q_COMMAND_RUN", usize::from(wire::RUN_COMMAND)),
        ("Q_COMMAND_TRY", usize::from(wire::TRY_COMMAND)),
    ]);
}

#[test]
fn records_of_tries_match_the_c_side() {
    let field = |name: &str| format!("offsetof(struct q_try, {name})");
    let names = ["first_input", "n_inputs", "verdict", "n_logged"].map(field);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert_eq!(values_in_c(&names), [0, 4, 8, 12]);
    for (name, verdict) in
        [("Q_TRY_OPEN", None), ("Q_TRY_KNOWN", Some(TryVerdict::Known)), ("Q_TRY_NEW", Some(TryVerdict::New))]
    {
        let record = TryRecord { first_input: 7, n_inputs: 8, verdict, n_logged: 9 };
        let bytes = record.encode();
        check(&[(name, usize::from(bytes[8]))]);
        assert_eq!(TryRecord::decode(&bytes), record);
    }
}

#[test]
fn flags_marks_and_states_match_the_c_side() {
    let none = Flags::default();
    let flags = [
        ("Q_FLAG_SYMBOLIC", Flags { symbolic: true, ..none }),
        ("Q_FLAG_ADDRESSES", Flags { addresses: true, ..none }),
        ("Q_FLAG_ALONE", Flags { alone: true, ..none }),
    ];
    check(&flags.map(|(name, flags)| (name, flags.bits() as usize)));
    let marks = values_in_c(&[
        "Q_MARK_NODES_FULL",
        "Q_MARK_LOG_FULL",
        "Q_MARK_CELLS_FULL",
        "Q_MARK_OUT_OF_MEMORY",
        "Q_MARK_OVERWRITTEN",
        "Q_MARK_THREADS",
        "Q_MARK_LARGE_OBJECT",
        "Q_MARK_OUT_OF_BOUNDS",
        "Q_MARK_REJECTED",
        "Q_MARK_ABORTS",
    ]);
    let marks = marks.into_iter().map(|bit| Marks::decode(u32::try_from(bit).expect("a bit")));
    let none = Marks::default();
    let expected = [
        Marks { nodes_full: true, ..none },
        Marks { log_full: true, ..none },
        Marks { cells_full: true, ..none },
        Marks { out_of_memory: true, ..none },
        Marks { overwritten: true, ..none },
        Marks { threads: true, ..none },
        Marks { large_object: true, ..none },
        Marks { out_of_bounds: true, ..none },
        Marks { rejected: true, ..none },
        Marks { aborts: true, ..none },
    ];
    assert!(marks.eq(expected));
    let objects = values_in_c(&["Q_OBJECT_GLOBAL", "Q_OBJECT_LOCAL", "Q_OBJECT_HEAP", "Q_OBJECT_FOREIGN"]);
    let objects = objects.into_iter().map(|kind| ObjectKind::decode(u32::try_from(kind).expect("a kind")));
    let expected = [ObjectKind::Global, ObjectKind::Local, ObjectKind::Heap, ObjectKind::Foreign];
    assert!(objects.eq(expected.map(Some)));
    let states = values_in_c(&[
        "Q_STATE_READY",
        "Q_STATE_STARTED",
        "Q_STATE_RETURNED",
        "Q_STATE_EXITED",
        "Q_STATE_STACK_OVERFLOW",
    ]);
    let states = states.into_iter().map(|state| RunState::decode(u32::try_from(state).expect("a state")));
    let expected =
        [RunState::Ready, RunState::Started, RunState::Returned, RunState::Exited, RunState::StackOverflow];
    assert!(states.eq(expected.map(Some)));
}

#[test]
fn operations_match_the_c_side() {
    let binary = [
        ("Q_ADD", NodeOp::Add),
        ("Q_SUB", NodeOp::Sub),
        ("Q_MUL", NodeOp::Mul),
        ("Q_UDIV", NodeOp::Udiv),
        ("Q_SDIV", NodeOp::Sdiv),
        ("Q_UREM", NodeOp::Urem),
        ("Q_SREM", NodeOp::Srem),
        ("Q_AND", NodeOp::And),
        ("Q_OR", NodeOp::Or),
        ("Q_XOR", NodeOp::Xor),
        ("Q_SHL", NodeOp::Shl),
        ("Q_LSHR", NodeOp::Lshr),
        ("Q_ASHR", NodeOp::Ashr),
        ("Q_EQ", NodeOp::Eq),
        ("Q_NE", NodeOp::Ne),
        ("Q_ULT", NodeOp::Ult),
        ("Q_ULE", NodeOp::Ule),
        ("Q_SLT", NodeOp::Slt),
        ("Q_SLE", NodeOp::Sle),
    ];
    let names: Vec<_> = binary.iter().map(|(name, _)| *name).collect();
    let [a, b, c] = [NodeId(7), NodeId(8), NodeId(9)];
    for ((name, expected), op) in binary.iter().zip(values_in_c(&names)) {
        let [a, b] = [a, b].map(Operand::Node);
        assert_eq!(node(op), Node::Binary { op: *expected, width: 5, a, b }, "{name}");
    }
    let others = values_in_c(&[
        "Q_CONST",
        "Q_INPUT",
        "Q_NOT",
        "Q_ZEXT",
        "Q_SEXT",
        "Q_EXTRACT",
        "Q_CONCAT",
        "Q_ITE",
        "Q_TABLE",
        "Q_SAME",
    ]);
    let expected = [
        Node::Constant { width: 5, value: 8 | 9 << 32 },
        Node::Input { width: 5, cell: 7 },
        Node::Not { width: 5, a },
        Node::Zext { width: 5, a },
        Node::Sext { width: 5, a },
        Node::Extract { width: 5, a, low: 0 },
        Node::Concat { width: 5, high: a, low: b },
        Node::Ite { width: 5, condition: a, then: b, otherwise: c },
        Node::Table { width: 5, index: a, first: b, n: 9 },
        Node::Same { width: 5, a },
    ];
    assert!(others.into_iter().map(node).eq(expected));
}

#[test]
fn operations_on_numbers_match_the_c_side() {
    let binary = [
        ("Q_FADD", FloatOp::Add),
        ("Q_FSUB", FloatOp::Sub),
        ("Q_FMUL", FloatOp::Mul),
        ("Q_FDIV", FloatOp::Div),
        ("Q_FREM", FloatOp::Rem),
        ("Q_FEQ", FloatOp::Eq),
        ("Q_FLT", FloatOp::Lt),
        ("Q_FLE", FloatOp::Le),
    ];
    let [a, b, c] = [NodeId(7), NodeId(8), NodeId(9)];
    for ((name, expected), op) in binary.iter().zip(values_in_c(&binary.map(|(name, _)| name))) {
        let [a, b] = [a, b].map(Operand::Node);
        assert_eq!(node(op), Node::FloatBinary { op: *expected, width: 5, a, b }, "{name}");
    }
    let unary = [
        ("Q_FNAN", FloatUnary::IsNan),
        ("Q_FSQRT", FloatUnary::Sqrt),
        ("Q_FCONVERT", FloatUnary::Convert),
        ("Q_FFROM_SIGNED", FloatUnary::FromSigned),
        ("Q_FFROM_UNSIGNED", FloatUnary::FromUnsigned),
        ("Q_FTO_SIGNED", FloatUnary::ToSigned),
    ];
    for ((name, expected), op) in unary.iter().zip(values_in_c(&unary.map(|(name, _)| name))) {
        assert_eq!(node(op), Node::FloatUnary { op: *expected, width: 5, a }, "{name}");
    }
    let roundings = [
        ("Q_TO_EVEN", Rounding::ToEven),
        ("Q_AWAY", Rounding::Away),
        ("Q_UP", Rounding::Up),
        ("Q_DOWN", Rounding::Down),
        ("Q_TO_ZERO", Rounding::ToZero),
    ];
    let names: Vec<_> = ["Q_FROUND"].into_iter().chain(roundings.map(|(name, _)| name)).collect();
    let numbers = values_in_c(&names);
    for ((name, expected), aux) in roundings.iter().zip(&numbers[1..]) {
        let op = FloatUnary::Round(*expected);
        assert_eq!(node_with(numbers[0], *aux), Node::FloatUnary { op, width: 5, a }, "{name}");
    }
    let others = values_in_c(&["Q_FMA", "Q_OPAQUE"]);
    let expected =
        [Node::FloatFused { width: 5, a, b, c }, Node::Opaque { width: 5, a, b: Some(b), value: c }];
    assert!(others.into_iter().map(node).eq(expected));
}

/// The node with this operation, width 5 and the words 7, 8, 9.
fn node(op: u64) -> Node {
    node_with(op, 0)
}

fn node_with(op: u64, aux: u64) -> Node {
    let (op, aux) = (u8::try_from(op).expect("a byte"), u8::try_from(aux).expect("a byte"));
    Node::decode(&[op, 5, aux, 0, 7, 0, 0, 0, 8, 0, 0, 0, 9, 0, 0, 0]).expect("a node")
}

#[test]
fn log_entries_match_the_c_side() {
    let tags = values_in_c(&[
        "Q_EV_FALSE",
        "Q_EV_TRUE",
        "Q_EV_FALSE_SYMBOLIC",
        "Q_EV_TRUE_SYMBOLIC",
        "Q_EV_SWITCH",
        "Q_EV_SWITCH_SYMBOLIC",
        "Q_EV_CALLEE",
        "Q_EV_CALLBACK",
        "Q_EV_SETJMP",
        "Q_EV_PIN",
        "Q_EV_ASSUME",
        "Q_EV_ADDRESS",
        "Q_EV_JUMP",
        "Q_EV_PREFER",
        "Q_EV_BOUNDS",
        "Q_EV_SIZE",
        "Q_EV_POINTER",
        "Q_EV_UNFOLLOWED",
        "Q_EV_OUTSIDE",
    ]);
    let decode = |tag: u64| {
        let mut log = [1u8; 16];
        log[0] = u8::try_from(tag).expect("a byte");
        Events::new(&log).next().expect("an entry").expect("a known tag")
    };
    let (word, wide) = (0x0101_0101, 0x0101_0101_0101_0101);
    let (node, place) = (NodeId(word), None);
    let expected = [
        Event::Outcome { taken: false, node: None },
        Event::Outcome { taken: true, node: None },
        Event::Outcome { taken: false, node: Some(node) },
        Event::Outcome { taken: true, node: Some(node) },
        Event::Switch { case: 1, node: None },
        Event::Switch { case: 1, node: Some(node) },
        Event::Callee { function: Some(0) },
        Event::Callback { function: 1 },
        Event::Setjmp { activation: 1 },
        Event::Pin { node, value: wide, place },
        Event::Assume { node },
        Event::Address { address: wide, size: 1 },
        Event::Jump { successor: 1 },
        Event::Prefer { node },
        Event::Bounds { node, place: None, is_pinned: true },
        Event::Size { node, value: wide, place },
        Event::Pointer { node, value: wide, place },
        Event::Unfollowed { site: 0 },
        Event::Outside,
    ];
    assert!(tags.into_iter().map(decode).eq(expected));
}
