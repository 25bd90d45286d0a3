//! The arena of terms: every distinct node exists once.
//!
//! Method: hash consing. Each node keeps its width and its set of variables, computed once from its operands.
//! Limit: nothing is ever freed; drop the store to free its terms.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use super::hash::FastMap;
use super::var_set::{VarSet, VarSets, Vars};
use super::{BinaryOp, Node, Term, Value, Var};

/// Tells stores apart, so that a cache never answers with terms of another store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StoreId(u64);

/// All terms of one analysis.
#[derive(Debug)]
pub struct TermStore {
    id: StoreId,
    nodes: Vec<Stored>,
    terms: FastMap<Node, Term>,
    vars: Vec<Declared>,
    vars_by_name: HashMap<String, Vec<Var>>,
    sets: VarSets,
}

#[derive(Debug, Clone, Copy)]
struct Stored {
    node: Node,
    width: u32,
    vars: VarSet,
}

#[derive(Debug)]
struct Declared {
    name: String,
    width: u32,
    term: Term,
}

impl TermStore {
    /// A store without terms.
    pub fn new() -> TermStore {
        static NEXT_ID: AtomicU64 = AtomicU64::new(0);
        TermStore {
            id: StoreId(NEXT_ID.fetch_add(1, Ordering::Relaxed)),
            nodes: Vec::new(),
            terms: FastMap::default(),
            vars: Vec::new(),
            vars_by_name: HashMap::new(),
            sets: VarSets::new(),
        }
    }

    /// Identifies this store.
    pub fn id(&self) -> StoreId {
        self.id
    }

    /// The number of distinct terms.
    pub fn n_terms(&self) -> usize {
        self.nodes.len()
    }

    /// The number of variables.
    pub fn n_vars(&self) -> usize {
        self.vars.len()
    }

    /// The variable of this name and width, created at first mention.
    ///
    /// # Panics
    /// When the width is not in `1..=MAX_WIDTH`.
    pub fn var(&mut self, name: impl Into<String>, width: u32) -> Term {
        let name = name.into();
        let known = self.vars_by_name.get(&name).into_iter().flatten();
        if let Some(declared) = known.map(|var| &self.vars[var.index()]).find(|var| var.width == width) {
            return declared.term;
        }
        let _checks_width = Value::new(width, 0);
        let var = Var::from_index(self.vars.len());
        let vars = self.sets.singleton(var);
        let term = self.push(Stored { node: Node::Variable(var), width, vars });
        self.vars_by_name.entry(name.clone()).or_default().push(var);
        self.vars.push(Declared { name, width, term });
        term
    }

    /// The variable a term is, if it is one.
    pub fn var_of(&self, term: Term) -> Option<Var> {
        match self.node(term) {
            Node::Variable(var) => Some(var),
            Node::Constant(_)
            | Node::Unary(..)
            | Node::Binary(..)
            | Node::Extract { .. }
            | Node::Extend { .. }
            | Node::Ite { .. }
            | Node::FloatUnary(..)
            | Node::FloatBinary(..)
            | Node::FloatFused(..) => None,
        }
    }

    /// The variable as a term.
    pub fn var_term(&self, var: Var) -> Term {
        self.vars[var.index()].term
    }

    /// The name a variable was created with.
    pub fn var_name(&self, var: Var) -> &str {
        &self.vars[var.index()].name
    }

    /// The width of a variable.
    pub fn var_width(&self, var: Var) -> u32 {
        self.vars[var.index()].width
    }

    /// The number of bits of a term.
    pub fn width(&self, term: Term) -> u32 {
        self.nodes[term.index()].width
    }

    /// How a term is built.
    pub fn node(&self, term: Term) -> Node {
        self.nodes[term.index()].node
    }

    /// The value of a term that is a constant.
    pub fn constant_of(&self, term: Term) -> Option<Value> {
        match self.node(term) {
            Node::Constant(value) => Some(value),
            Node::Variable(_)
            | Node::Unary(..)
            | Node::Binary(..)
            | Node::Extract { .. }
            | Node::Extend { .. }
            | Node::Ite { .. }
            | Node::FloatUnary(..)
            | Node::FloatBinary(..)
            | Node::FloatFused(..) => None,
        }
    }

    /// Whether the term is the truth value 1.
    pub fn is_true(&self, term: Term) -> bool {
        self.constant_of(term) == Some(Value::new(1, 1))
    }

    /// Whether the term is the truth value 0.
    pub fn is_false(&self, term: Term) -> bool {
        self.constant_of(term) == Some(Value::new(1, 0))
    }

    /// The variables a term depends on.
    pub fn vars_of(&self, term: Term) -> Vars<'_> {
        Vars { sets: &self.sets, set: self.var_set(term) }
    }

    /// The identity of the set of variables a term depends on.
    pub(crate) fn var_set(&self, term: Term) -> VarSet {
        self.nodes[term.index()].vars
    }

    /// The term of exactly this node, not simplified. Constructors check widths before they come here.
    pub(crate) fn intern(&mut self, node: Node) -> Term {
        if let Some(&term) = self.terms.get(&node) {
            return term;
        }
        let width = self.width_of_node(&node);
        let mut operand_sets = [VarSet::EMPTY; 3];
        let mut n_operands = 0;
        node.for_each_operand(|operand| {
            operand_sets[n_operands] = self.nodes[operand.index()].vars;
            n_operands += 1;
        });
        let vars = operand_sets.into_iter().fold(VarSet::EMPTY, |all, set| self.sets.union(all, set));
        let term = self.push(Stored { node, width, vars });
        self.terms.insert(node, term);
        term
    }

    fn push(&mut self, stored: Stored) -> Term {
        let term = Term::from_index(self.nodes.len());
        self.nodes.push(stored);
        term
    }

    fn width_of_node(&self, node: &Node) -> u32 {
        match *node {
            Node::Constant(value) => value.width(),
            Node::Variable(var) => self.var_width(var),
            Node::Unary(_, operand) => self.width(operand),
            Node::Binary(BinaryOp::Concat, left, right) => self.width(left) + self.width(right),
            Node::Binary(op, left, _) => {
                if op.is_predicate() {
                    1
                } else {
                    self.width(left)
                }
            }
            Node::Extract { high, low, .. } => high - low + 1,
            Node::Extend { width, .. } => width,
            Node::Ite { then, .. } => self.width(then),
            Node::FloatUnary(op, operand) => op.result_width(self.width(operand)),
            Node::FloatBinary(op, left, _) => {
                if op.is_predicate() {
                    1
                } else {
                    self.width(left)
                }
            }
            Node::FloatFused(a, ..) => self.width(a),
        }
    }
}

impl Default for TermStore {
    fn default() -> Self {
        TermStore::new()
    }
}
