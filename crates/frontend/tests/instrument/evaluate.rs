//! An evaluator of nodes that also checks their widths, and the two checks built on it.

use wire::{Event, Node, NodeId, NodeOp, Operand, row_of};

use crate::numbers;
use crate::server::{Server, Trace};

fn mask(width: u8) -> u64 {
    if width == 64 { u64::MAX } else { (1 << width) - 1 }
}

fn signed(value: u64, width: u8) -> i64 {
    let shift = 64 - u32::from(width);
    (value << shift).cast_signed() >> shift
}

fn binary(op: NodeOp, width: u8, a: u64, b: u64) -> u64 {
    let (sa, sb) = (signed(a, width), signed(b, width));
    let in_range = b < u64::from(width);
    let result = match op {
        NodeOp::Add => a.wrapping_add(b),
        NodeOp::Sub => a.wrapping_sub(b),
        NodeOp::Mul => a.wrapping_mul(b),
        NodeOp::Udiv => a.checked_div(b).unwrap_or(u64::MAX),
        NodeOp::Urem => a.checked_rem(b).unwrap_or(a),
        NodeOp::Sdiv if b == 0 => {
            if sa < 0 {
                1
            } else {
                u64::MAX
            }
        }
        NodeOp::Sdiv => sa.wrapping_div(sb).cast_unsigned(),
        NodeOp::Srem if b == 0 => a,
        NodeOp::Srem => sa.wrapping_rem(sb).cast_unsigned(),
        NodeOp::And => a & b,
        NodeOp::Or => a | b,
        NodeOp::Xor => a ^ b,
        NodeOp::Shl => {
            if in_range {
                a << b
            } else {
                0
            }
        }
        NodeOp::Lshr => {
            if in_range {
                a >> b
            } else {
                0
            }
        }
        NodeOp::Ashr => (sa >> b.min(63)).cast_unsigned(),
        NodeOp::Eq => u64::from(a == b),
        NodeOp::Ne => u64::from(a != b),
        NodeOp::Ult => u64::from(a < b),
        NodeOp::Ule => u64::from(a <= b),
        NodeOp::Slt => u64::from(sa < sb),
        NodeOp::Sle => u64::from(sa <= sb),
    };
    result & mask(width)
}

/// Value of every node under these cell values.
pub fn evaluate(nodes: &[Node], cell: impl Fn(u32) -> u64) -> Vec<u64> {
    let mut values: Vec<u64> = Vec::new();
    for (k, node) in nodes.iter().enumerate() {
        let operand = |id: NodeId| {
            let index = id.0 as usize - 1;
            assert!(index < k, "{id} is used by node {} before it exists", k + 1);
            (values[index], nodes[index].width())
        };
        let pair = |a: Operand, b: Operand| {
            let given = [a, b].map(|side| match side {
                Operand::Node(id) => Some(operand(id)),
                Operand::Constant(_) => None,
            });
            let own = given[0].or(given[1]).expect("one operand is a node").1;
            let [a, b] = [a, b].map(|side| match side {
                Operand::Node(id) => operand(id),
                Operand::Constant(value) => (value, own),
            });
            assert_eq!(a.1, b.1, "operands of node {} differ in width: {node:?}", k + 1);
            assert_eq!((a.0 | b.0) & !mask(own), 0, "constant of node {} is too wide", k + 1);
            (own, a.0, b.0)
        };
        let value = match *node {
            Node::Constant { value, .. } => value,
            Node::Input { cell: index, .. } => cell(index),
            Node::Binary { op, width, a, b } => {
                let (own, a, b) = pair(a, b);
                assert_eq!(width, if op.is_compare() { 1 } else { own }, "node {}: {node:?}", k + 1);
                binary(op, own, a, b)
            }
            Node::FloatBinary { op, width, a, b } => {
                let (own, a, b) = pair(a, b);
                assert_eq!(width, if op.is_compare() { 1 } else { own }, "node {}: {node:?}", k + 1);
                numbers::binary(op, own, a, b)
            }
            Node::FloatUnary { op, width, a } => numbers::unary(op, width, operand(a).1, operand(a).0),
            Node::FloatFused { width, a, b, c } => {
                numbers::fused(width, operand(a).0, operand(b).0, operand(c).0)
            }
            Node::Opaque { width, value, .. } => {
                assert_eq!(operand(value).1, width);
                operand(value).0
            }
            Node::Not { width, a } => {
                assert_eq!(operand(a).1, width);
                !operand(a).0
            }
            Node::Zext { width, a } => {
                assert!(operand(a).1 < width, "node {} does not extend", k + 1);
                operand(a).0
            }
            Node::Sext { width, a } => {
                assert!(operand(a).1 < width, "node {} does not extend", k + 1);
                signed(operand(a).0, operand(a).1).cast_unsigned()
            }
            Node::Extract { width, a, low } => {
                assert!(low + u16::from(width) <= u16::from(operand(a).1), "node {} takes too much", k + 1);
                operand(a).0 >> low
            }
            Node::Concat { width, high, low } => {
                assert_eq!(operand(high).1 + operand(low).1, width);
                operand(high).0 << operand(low).1 | operand(low).0
            }
            Node::Ite { width, condition, then, otherwise } => {
                assert_eq!((operand(condition).1, operand(then).1, operand(otherwise).1), (1, width, width));
                if operand(condition).0 == 1 { operand(then).0 } else { operand(otherwise).0 }
            }
            Node::Table { width, index, first, n } => {
                let rows: Vec<_> = (first.0..first.0 + n).map(|row| operand(NodeId(row))).collect();
                assert!(rows.iter().all(|row| row.1 == width), "rows of node {} differ in width", k + 1);
                rows[row_of(operand(index).0, n) as usize].0
            }
            Node::Same { width, a } => {
                assert_eq!(operand(a).1, width);
                operand(a).0
            }
        };
        values.push(value & mask(node.width()));
    }
    values
}

/// Whether an event would be the same under these node values.
fn holds(event: &Event, own: &[u64], other: &[u64]) -> bool {
    let at = |values: &[u64], id: NodeId| values[id.0 as usize - 1];
    match *event {
        Event::Outcome { taken, node: Some(id) } => at(other, id) == u64::from(taken),
        Event::Switch { node: Some(id), .. } => at(own, id) == at(other, id),
        Event::Pin { node, value, .. }
        | Event::Size { node, value, .. }
        | Event::Pointer { node, value, .. } => at(other, node) == value,
        Event::Assume { node } | Event::Bounds { node, .. } => at(other, node) == 1,
        Event::Outcome { node: None, .. }
        | Event::Switch { node: None, .. }
        | Event::Callee { .. }
        | Event::Callback { .. }
        | Event::Setjmp { .. }
        | Event::Address { .. }
        | Event::Jump { .. }
        | Event::Unfollowed { .. }
        | Event::Outside
        | Event::Prefer { .. } => true,
    }
}

/// Evaluates the trace on its own input: every node must have the value the run saw.
pub fn self_check(trace: &Trace) -> Vec<u64> {
    let values = evaluate(&trace.nodes, |cell| trace.cells[cell as usize].value);
    for (k, event) in trace.events.iter().enumerate() {
        assert!(holds(event, &values, &values), "event {k} {event:?} does not hold on its own input");
    }
    values
}

/// Without nodes: what another run on the same path must log too.
fn shape(event: &Event) -> Event {
    match *event {
        Event::Outcome { taken, .. } => Event::Outcome { taken, node: None },
        Event::Switch { case, .. } => Event::Switch { case, node: None },
        Event::Pin { node, place, .. } => Event::Pin { node, value: 0, place },
        Event::Size { node, place, .. } => Event::Size { node, value: 0, place },
        Event::Pointer { node, place, .. } => Event::Pointer { node, value: 0, place },
        other => other,
    }
}

/// Runs both inputs; as long as the first trace's events hold on the second input, the second run must do the same.
/// This finds every dependence on the input that the shadows miss. Returns how many events were predicted.
pub fn check_prediction(server: &mut Server, first: &[(u64, u64)], second: &[(u64, u64)]) -> usize {
    let a = server.run(first);
    let own = self_check(&a);
    let b = server.run(second);
    self_check(&b);
    if a.header.marks.nodes_full {
        return 0; // after that the run went on without expressions
    }
    let cut_short = b.header.marks.log_full || libc::WIFSIGNALED(b.wait_status);
    let value_of = |key: u64| second.iter().find(|(k, _)| *k == key).map(|(_, value)| *value);
    let masked = |cell: u32| {
        let cell = a.cells[cell as usize];
        value_of(cell.key).unwrap_or(cell.value) & mask(u8::try_from(cell.width).expect("a width"))
    };
    let other = evaluate(&a.nodes, masked);
    for (k, event) in a.events.iter().enumerate() {
        if !holds(event, &own, &other) {
            return k;
        }
        if cut_short && k == b.events.len() {
            return k;
        }
        let seen = b.events.get(k).map(shape);
        assert_eq!(seen, Some(shape(event)), "event {k} after {first:x?} was to hold for {second:x?}");
    }
    a.events.len()
}

/// A deterministic source of numbers with many small and extreme ones.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let (kind, value) = (self.0 >> 60, self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        match kind {
            0..=4 => value % 8,
            5 | 6 => value % 256,
            7 => (value % 8).wrapping_neg(),
            8 => 1 << (value % 64),
            9 => (1u64 << (value % 64)).wrapping_sub(1),
            10 | 11 => value % 65536,
            _ => value,
        }
    }
}

/// Checks predictions between random inputs over keys `0..n_keys`; some near the first input, some anywhere.
pub fn check_predictions(server: &mut Server, n_keys: u64, rounds: usize) {
    let mut numbers = Numbers(0x1234_5678_9abc_def1);
    let mut predicted = 0;
    for round in 0..rounds {
        let first: Vec<_> = (0..n_keys).map(|key| (key, numbers.next())).collect();
        let mut second = first.clone();
        if round % 3 == 0 {
            second = (0..n_keys).map(|key| (key, numbers.next())).collect();
        } else {
            let changed = numbers.next() % n_keys;
            second[usize::try_from(changed).expect("small")].1 = numbers.next();
        }
        predicted += check_prediction(server, &first, &second);
    }
    assert!(predicted > 0, "no event was ever predicted");
}
