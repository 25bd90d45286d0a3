//! Building a term with the simplifying constructors keeps its value: random expression trees are computed directly,
//! operator by operator, under several assignments at once, and compared with the evaluation of the term built from
//! them.

use proptest::prelude::*;
use proptest::test_runner::Config;
use smt::{Assignment, BinaryOp, Extension, Term, TermStore, UnaryOp, evaluate, value};

/// Few variables, so that operands coincide often and the rules about equal operands fire.
const N_VARS: usize = 3;

/// Assignments tried per tree: random ones, small ones, and all variables at an extreme.
const N_SAMPLES: usize = 12;

/// A value under each assignment.
type Samples = [u128; N_SAMPLES];

const BINARY_OPS: [BinaryOp; 12] = [
    BinaryOp::Add,
    BinaryOp::Mul,
    BinaryOp::Udiv,
    BinaryOp::Sdiv,
    BinaryOp::Urem,
    BinaryOp::Srem,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::Xor,
    BinaryOp::Shl,
    BinaryOp::Lshr,
    BinaryOp::Ashr,
];

const COMPARISONS: [Comparison; 10] = [
    Comparison::Eq,
    Comparison::Ne,
    Comparison::Ult,
    Comparison::Ule,
    Comparison::Ugt,
    Comparison::Uge,
    Comparison::Slt,
    Comparison::Sle,
    Comparison::Sgt,
    Comparison::Sge,
];

/// An expression that makes sense at any width: operands are brought to the width wanted.
#[derive(Debug, Clone)]
enum Tree {
    Variable(usize),
    /// Some bits of a 32-bit variable from this one on: neighbours to fuse.
    Part(usize, u32),
    /// A constant, from a set where identities hide.
    Constant(Special, u128),
    Unary(UnaryOp, Box<Tree>),
    Binary(BinaryOp, Box<Tree>, Box<Tree>),
    Sub(Box<Tree>, Box<Tree>),
    /// Inner width, whether sign extended.
    Extend(u32, bool, Box<Tree>),
    /// Bits dropped above and below.
    Extract(u32, u32, Box<Tree>),
    /// Width of the low part.
    Concat(u32, Box<Tree>, Box<Tree>),
    Ite(Box<Tree>, Box<Tree>, Box<Tree>),
    /// A comparison of operands of this width.
    Compare(Comparison, u32, Box<Tree>, Box<Tree>),
}

#[derive(Debug, Clone, Copy)]
enum Special {
    Any,
    Small,
    Ones,
    SignBit,
    PowerOfTwo,
    LowMask,
}

#[derive(Debug, Clone, Copy)]
enum Comparison {
    Eq,
    Ne,
    Ult,
    Ule,
    Ugt,
    Uge,
    Slt,
    Sle,
    Sgt,
    Sge,
}

/// A term and the value it must have.
#[derive(Clone, Copy)]
struct Built {
    term: Term,
    bits: Samples,
}

struct Builder<'s> {
    store: &'s mut TermStore,
    /// A value per variable and assignment; a variable exists once per width.
    values: [Samples; N_VARS],
    assignments: [Assignment; N_SAMPLES],
}

fn zip(left: Samples, right: Samples, compute: impl Fn(u128, u128) -> u128) -> Samples {
    std::array::from_fn(|sample| compute(left[sample], right[sample]))
}

impl Builder<'_> {
    fn build(&mut self, tree: &Tree, width: u32) -> Built {
        match tree {
            Tree::Variable(index) => self.variable(*index, width),
            Tree::Part(index, _) if width > 32 => self.variable(*index, width),
            Tree::Part(index, low) => {
                let whole = self.variable(*index, 32);
                let low = low % (33 - width);
                let high = low + width - 1;
                Built {
                    term: self.store.extract(whole.term, high, low),
                    bits: whole.bits.map(|bits| value::extract(bits, high, low)),
                }
            }
            Tree::Constant(special, seed) => {
                let bits = special.bits(*seed, width);
                Built { term: self.store.constant(width, bits), bits: [bits; N_SAMPLES] }
            }
            Tree::Unary(op, operand) => {
                let operand = self.build(operand, width);
                let term = match op {
                    UnaryOp::Not => self.store.not(operand.term),
                    UnaryOp::Neg => self.store.neg(operand.term),
                };
                Built { term, bits: operand.bits.map(|bits| value::unary(*op, width, bits)) }
            }
            Tree::Binary(op, left, right) => {
                let (left, right) = (self.build(left, width), self.build(right, width));
                Built {
                    term: self.binary(*op, left.term, right.term),
                    bits: zip(left.bits, right.bits, |left, right| value::binary(*op, width, left, right)),
                }
            }
            Tree::Sub(left, right) => {
                let (left, right) = (self.build(left, width), self.build(right, width));
                let bits =
                    zip(left.bits, right.bits, |left, right| left.wrapping_sub(right) & value::mask(width));
                Built { term: self.store.sub(left.term, right.term), bits }
            }
            Tree::Extend(inner, signed, operand) => self.extend(*inner, *signed, operand, width),
            Tree::Extract(above, below, operand) => {
                let below = below % (129 - width);
                let wide = (width + below + above).min(128);
                let operand = self.build(operand, wide);
                Built {
                    term: self.store.extract(operand.term, below + width - 1, below),
                    bits: operand.bits.map(|bits| value::extract(bits, below + width - 1, below)),
                }
            }
            Tree::Concat(_, high, _) if width == 1 => self.build(high, width),
            Tree::Concat(low_width, high, low) => {
                let low_width = 1 + low_width % (width - 1);
                let (high, low) = (self.build(high, width - low_width), self.build(low, low_width));
                Built {
                    term: self.store.concat(high.term, low.term),
                    bits: zip(high.bits, low.bits, |high, low| high << low_width | low),
                }
            }
            Tree::Ite(condition, then, otherwise) => {
                let condition = self.build(condition, 1);
                let (then, otherwise) = (self.build(then, width), self.build(otherwise, width));
                Built {
                    term: self.store.ite(condition.term, then.term, otherwise.term),
                    bits: std::array::from_fn(|sample| {
                        if condition.bits[sample] == 1 { then.bits[sample] } else { otherwise.bits[sample] }
                    }),
                }
            }
            Tree::Compare(comparison, operand_width, left, right) => {
                let (left, right) = (self.build(left, *operand_width), self.build(right, *operand_width));
                let truth = Built {
                    term: self.compare(*comparison, left.term, right.term),
                    bits: zip(left.bits, right.bits, |left, right| {
                        u128::from(comparison.holds(*operand_width, left, right))
                    }),
                };
                Built { term: self.store.zext(truth.term, width), bits: truth.bits }
            }
        }
    }

    fn variable(&mut self, index: usize, width: u32) -> Built {
        let term = self.store.var(format!("x{index}"), width);
        let bits = self.values[index].map(|bits| bits & value::mask(width));
        let var = self.store.var_of(term).expect("just made");
        for (assignment, bits) in self.assignments.iter_mut().zip(bits) {
            assignment.set(var, bits);
        }
        Built { term, bits }
    }

    fn extend(&mut self, inner: u32, signed: bool, operand: &Tree, width: u32) -> Built {
        let inner = 1 + inner % width;
        let operand = self.build(operand, inner);
        let (extension, term) = if signed {
            (Extension::Sign, self.store.sext(operand.term, width))
        } else {
            (Extension::Zero, self.store.zext(operand.term, width))
        };
        Built { term, bits: operand.bits.map(|bits| value::extend(extension, inner, width, bits)) }
    }

    fn binary(&mut self, op: BinaryOp, left: Term, right: Term) -> Term {
        let build = match op {
            BinaryOp::Add => TermStore::add,
            BinaryOp::Mul => TermStore::mul,
            BinaryOp::Udiv => TermStore::udiv,
            BinaryOp::Sdiv => TermStore::sdiv,
            BinaryOp::Urem => TermStore::urem,
            BinaryOp::Srem => TermStore::srem,
            BinaryOp::And => TermStore::and,
            BinaryOp::Or => TermStore::or,
            BinaryOp::Xor => TermStore::xor,
            BinaryOp::Shl => TermStore::shl,
            BinaryOp::Lshr => TermStore::lshr,
            BinaryOp::Ashr => TermStore::ashr,
            BinaryOp::Concat
            | BinaryOp::Eq
            | BinaryOp::Ult
            | BinaryOp::Ule
            | BinaryOp::Slt
            | BinaryOp::Sle => unreachable!("made by other trees"),
        };
        build(self.store, left, right)
    }

    fn compare(&mut self, comparison: Comparison, left: Term, right: Term) -> Term {
        let build = match comparison {
            Comparison::Eq => TermStore::eq,
            Comparison::Ne => TermStore::ne,
            Comparison::Ult => TermStore::ult,
            Comparison::Ule => TermStore::ule,
            Comparison::Ugt => TermStore::ugt,
            Comparison::Uge => TermStore::uge,
            Comparison::Slt => TermStore::slt,
            Comparison::Sle => TermStore::sle,
            Comparison::Sgt => TermStore::sgt,
            Comparison::Sge => TermStore::sge,
        };
        build(self.store, left, right)
    }
}

impl Special {
    fn bits(self, seed: u128, width: u32) -> u128 {
        let position = (seed % u128::from(width)) as u32;
        let bits = match self {
            Special::Any => seed,
            Special::Small => seed % 3,
            Special::Ones => u128::MAX - seed % 2,
            Special::SignBit => value::sign_bit(width).wrapping_sub(seed % 2),
            Special::PowerOfTwo => 1 << position,
            Special::LowMask => value::mask(position + 1),
        };
        bits & value::mask(width)
    }
}

impl Comparison {
    fn holds(self, width: u32, left: u128, right: u128) -> bool {
        let signed = |bits| value::to_signed(width, bits);
        match self {
            Comparison::Eq => left == right,
            Comparison::Ne => left != right,
            Comparison::Ult => left < right,
            Comparison::Ule => left <= right,
            Comparison::Ugt => left > right,
            Comparison::Uge => left >= right,
            Comparison::Slt => signed(left) < signed(right),
            Comparison::Sle => signed(left) <= signed(right),
            Comparison::Sgt => signed(left) > signed(right),
            Comparison::Sge => signed(left) >= signed(right),
        }
    }
}

fn width() -> impl Strategy<Value = u32> {
    prop_oneof![1..=8_u32, Just(32), Just(64), Just(127), Just(128)]
}

fn tree() -> impl Strategy<Value = Tree> {
    let special = prop_oneof![
        Just(Special::Any),
        Just(Special::Small),
        Just(Special::Ones),
        Just(Special::SignBit),
        Just(Special::PowerOfTwo),
        Just(Special::LowMask),
    ];
    let leaf = prop_oneof![
        (0..N_VARS).prop_map(Tree::Variable),
        (0..N_VARS, 0..8_u32).prop_map(|(index, low)| Tree::Part(index, low)),
        (special, any::<u128>()).prop_map(|(special, seed)| Tree::Constant(special, seed)),
    ];
    leaf.prop_recursive(6, 48, 3, |inner| {
        let sub = || inner.clone().prop_map(Box::new);
        prop_oneof![
            2 => (prop_oneof![Just(UnaryOp::Not), Just(UnaryOp::Neg)], sub()).prop_map(|(op, a)| Tree::Unary(op, a)),
            5 => (prop::sample::select(&BINARY_OPS[..]), sub(), sub()).prop_map(|(op, a, b)| Tree::Binary(op, a, b)),
            1 => (sub(), sub()).prop_map(|(a, b)| Tree::Sub(a, b)),
            2 => (any::<u32>(), any::<bool>(), sub()).prop_map(|(inner, signed, a)| Tree::Extend(inner, signed, a)),
            2 => (0..16_u32, 0..16_u32, sub()).prop_map(|(above, below, a)| Tree::Extract(above, below, a)),
            2 => (any::<u32>(), sub(), sub()).prop_map(|(low, a, b)| Tree::Concat(low, a, b)),
            2 => (sub(), sub(), sub()).prop_map(|(a, b, c)| Tree::Ite(a, b, c)),
            3 => (prop::sample::select(&COMPARISONS[..]), width(), sub(), sub()).prop_map(|(op, width, a, b)| Tree::Compare(op, width, a, b)),
        ]
    })
}

/// The first samples random, then small values, which meet small constants, then extremes.
fn samples() -> impl Strategy<Value = Samples> {
    any::<Samples>().prop_map(|mut samples| {
        for sample in &mut samples[4..8] {
            *sample %= 4;
        }
        samples[8..].copy_from_slice(&[0, u128::MAX, 1, u128::MAX - 1]);
        samples
    })
}

proptest! {
    #![proptest_config(Config { cases: 20_000, failure_persistence: None, ..Config::default() })]

    #[test]
    fn constructors_keep_the_value(tree in tree(), width in width(), values in [samples(), samples(), samples()]) {
        let mut store = TermStore::new();
        let mut builder = Builder { store: &mut store, values, assignments: Default::default() };
        let built = builder.build(&tree, width);
        let assignments = builder.assignments;
        prop_assert_eq!(store.width(built.term), width);
        // Restricted to the variables recorded for the term: they must be all it needs.
        let vars = store.vars_of(built.term).to_vec();
        for (assignment, expected) in assignments.iter().zip(built.bits) {
            let needed = assignment.restricted_to(&vars);
            prop_assert_eq!(evaluate(&store, built.term, &needed), expected);
        }
    }
}

/// Every operator over every operator, with every constant, at a width where all values can be tried.
#[test]
fn two_operators_with_constants_keep_every_value() {
    const WIDTH: u32 = 3;
    let operators: Vec<Tree> = shapes();
    for outer in &operators {
        for inner in &operators {
            for seeds in 0..64 {
                let inner = with_operands(inner, Tree::Variable(0), Tree::Constant(Special::Any, seeds % 8));
                let tree = with_operands(outer, inner, Tree::Constant(Special::Any, seeds / 8));
                let mut store = TermStore::new();
                let values = [std::array::from_fn(|sample| sample as u128), [0; N_SAMPLES], [0; N_SAMPLES]];
                let mut builder = Builder { store: &mut store, values, assignments: Default::default() };
                let built = builder.build(&tree, WIDTH);
                let assignments = builder.assignments;
                for (assignment, expected) in assignments.iter().zip(built.bits) {
                    assert_eq!(evaluate(&store, built.term, assignment), expected, "{tree:?}");
                }
            }
        }
    }
}

/// One tree per operator, its operands to be replaced.
fn shapes() -> Vec<Tree> {
    let hole = || Box::new(Tree::Variable(0));
    let mut shapes: Vec<Tree> = BINARY_OPS.into_iter().map(|op| Tree::Binary(op, hole(), hole())).collect();
    shapes.extend(COMPARISONS.into_iter().map(|op| Tree::Compare(op, 3, hole(), hole())));
    shapes.extend([UnaryOp::Not, UnaryOp::Neg].map(|op| Tree::Unary(op, hole())));
    shapes.push(Tree::Sub(hole(), hole()));
    for amount in 0..3 {
        shapes.extend([false, true].map(|signed| Tree::Extend(amount, signed, hole())));
        shapes.push(Tree::Extract(1, amount, hole()));
        shapes.push(Tree::Concat(amount, hole(), hole()));
    }
    shapes
}

/// The operator of `shape` with other operands.
fn with_operands(shape: &Tree, first: Tree, second: Tree) -> Tree {
    let (a, b) = (Box::new(first), Box::new(second));
    match shape.clone() {
        Tree::Binary(op, ..) => Tree::Binary(op, a, b),
        Tree::Compare(op, width, ..) => Tree::Compare(op, width, a, b),
        Tree::Unary(op, _) => Tree::Unary(op, a),
        Tree::Sub(..) => Tree::Sub(a, b),
        Tree::Extend(inner, signed, _) => Tree::Extend(inner, signed, a),
        Tree::Extract(above, below, _) => Tree::Extract(above, below, a),
        Tree::Concat(low, ..) => Tree::Concat(low, a, b),
        Tree::Variable(_) | Tree::Part(..) | Tree::Constant(..) | Tree::Ite(..) => {
            unreachable!("not among the shapes")
        }
    }
}
