//! Random programs over two inputs of four bits: what the checker accepts, no input covers.
//!
//! The interpreter runs every input, and the code that counts coverage says what was covered. Without loops the checker
//! must also accept every claim that holds, so that a test cannot pass because nothing is ever accepted. With loops the
//! proofs have random formulas, most of them wrong. `PROOF_PROGRAMS` is the number of programs of each kind.

#[path = "support/mod.rs"]
mod support;

use std::collections::BTreeSet;
use std::fmt::Write;

use coverage::observe::{Observations, Observer};
use coverage::{Case, Demand, Marking};
use model::interpret::{End, Interpreter, Limits, PathLog, Value};
use model::walk::{Completeness, Script, walk};
use model::{ConditionId, DecisionId, FunctionId, Program, SwitchId};
use support::{program, proof, verdict};

/// A program in the making: the code of one function.
struct Body<'r> {
    rng: &'r mut Rng,
    source: &'r mut Source,
    function: usize,
    n_instrs: usize,
    blocks: Vec<String>,
    at: usize,
    n_locals: usize,
    loops: bool,
    /// Calls of the second function.
    calls: Vec<usize>,
    /// Blocks that loops begin with.
    heads: Vec<usize>,
}

/// What all functions add to.
#[derive(Default)]
struct Source {
    decisions: Vec<String>,
    n_conditions: usize,
    switches: String,
    n_switches: usize,
}

enum Tree {
    Leaf(usize),
    Not(Box<Tree>),
    And(Box<Tree>, Box<Tree>),
    Or(Box<Tree>, Box<Tree>),
    Ternary(Box<Tree>, Box<Tree>, Box<Tree>),
    Differ(usize, usize),
}

impl Tree {
    fn text(&self) -> String {
        match self {
            Tree::Leaf(id) => format!("c{id}"),
            Tree::Not(inner) => format!("!{}", inner.text()),
            Tree::And(a, b) => format!("({} && {})", a.text(), b.text()),
            Tree::Or(a, b) => format!("({} || {})", a.text(), b.text()),
            Tree::Ternary(a, b, c) => format!("({} ? {} : {})", a.text(), b.text(), c.text()),
            Tree::Differ(a, b) => format!("(c{a} != c{b})"),
        }
    }
}

impl Body<'_> {
    fn instr(&mut self, text: &str) -> String {
        let id = format!("%{}", self.n_instrs);
        self.n_instrs += 1;
        writeln!(self.blocks[self.at], "  {id} = {text}").expect("writing to a string does not fail");
        id
    }

    fn end(&mut self, terminator: &str) {
        writeln!(self.blocks[self.at], "  {terminator}").expect("writing to a string does not fail");
    }

    fn block(&mut self) -> usize {
        self.blocks.push(String::new());
        self.blocks.len() - 1
    }

    fn expression(&mut self, depth: usize) -> String {
        match self.rng.below(if depth == 0 { 3 } else { 7 }) {
            0 => format!("{}", self.rng.below(16) as i64 - 8),
            1 | 2 => {
                let local = self.rng.below(self.n_locals);
                self.instr(&format!("load i4, %{local}"))
            }
            _ => {
                let (left, right) = (self.expression(depth - 1), self.expression(depth - 1));
                let op = self.rng.pick(&["add", "sub", "mul", "and", "or", "xor"]);
                self.instr(&format!("{op} i4 {left}, {right}"))
            }
        }
    }

    fn tree(&mut self, size: usize) -> Tree {
        let leaf = |body: &mut Self| {
            body.source.n_conditions += 1;
            body.source.n_conditions - 1
        };
        match self.rng.below(if size < 2 { 2 } else { 8 }) {
            0 => Tree::Leaf(leaf(self)),
            1 if size < 2 => Tree::Not(Box::new(Tree::Leaf(leaf(self)))),
            1 => Tree::Not(Box::new(self.tree(size - 1))),
            2 | 3 => Tree::And(Box::new(self.tree(size / 2)), Box::new(self.tree(size / 2))),
            4 | 5 => Tree::Or(Box::new(self.tree(size / 2)), Box::new(self.tree(size / 2))),
            6 => {
                let first = Box::new(self.tree(1));
                Tree::Ternary(first, Box::new(self.tree(1)), Box::new(self.tree(1)))
            }
            _ => {
                let first = leaf(self);
                Tree::Differ(first, leaf(self))
            }
        }
    }

    fn mark(&mut self, condition: usize) -> String {
        let (left, right) = (self.expression(1), self.expression(1));
        let predicate = self.rng.pick(&["eq", "ne", "ult", "ule", "slt", "sge"]);
        let holds = self.instr(&format!("compare {predicate} i4 {left}, {right}"));
        self.instr(&format!("mark c{condition} {holds}"))
    }

    fn decide(&mut self, tree: &Tree, then: usize, otherwise: usize) {
        match tree {
            Tree::Leaf(id) => {
                let mark = self.mark(*id);
                self.end(&format!("branch {mark}, b{then}, b{otherwise} decided c{id}"));
            }
            Tree::Not(inner) => self.decide(inner, otherwise, then),
            Tree::And(left, right) => {
                let next = self.block();
                self.decide(left, next, otherwise);
                self.at = next;
                self.decide(right, then, otherwise);
            }
            Tree::Or(left, right) => {
                let next = self.block();
                self.decide(left, then, next);
                self.at = next;
                self.decide(right, then, otherwise);
            }
            Tree::Ternary(condition, first, second) => {
                let (one, two) = (self.block(), self.block());
                self.decide(condition, one, two);
                self.at = one;
                self.decide(first, then, otherwise);
                self.at = two;
                self.decide(second, then, otherwise);
            }
            Tree::Differ(left, right) => {
                let (left, right) = (self.mark(*left), self.mark(*right));
                let differ = self.instr(&format!("xor i1 {left}, {right}"));
                self.end(&format!("branch {differ}, b{then}, b{otherwise}"));
            }
        }
    }

    fn decision(&mut self, then: usize, otherwise: usize) {
        let size = 1 + self.rng.below(4);
        let tree = self.tree(size);
        let id = self.source.decisions.len();
        self.source.decisions.push(format!("d{id} f{} {}", self.function, tree.text()));
        self.decide(&tree, then, otherwise);
    }

    fn statements(&mut self, depth: usize) {
        for _ in 0..1 + self.rng.below(2) {
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: usize) {
        match self.rng.below(if depth == 0 { 3 } else { 8 }) {
            0 | 1 => {
                let (value, local) = (self.expression(2), self.rng.below(self.n_locals));
                self.instr(&format!("store i4 {value}, %{local}"));
            }
            2 if self.function == 0 => {
                let (argument, local) = (self.expression(1), self.rng.below(self.n_locals));
                self.calls.push(self.n_instrs);
                let result = self.instr(&format!("call i4 f1(i4 {argument})"));
                self.instr(&format!("store i4 {result}, %{local}"));
            }
            3 => self.switch(depth),
            4 if self.loops => self.repeat(depth),
            _ => {
                let (then, otherwise, join) = (self.block(), self.block(), self.block());
                self.decision(then, otherwise);
                for (block, filled) in [(then, true), (otherwise, self.rng.below(2) == 0)] {
                    self.at = block;
                    if filled && depth > 0 {
                        self.statements(depth - 1);
                    }
                    self.end(&format!("jump b{join}"));
                }
                self.at = join;
            }
        }
    }

    fn switch(&mut self, depth: usize) {
        let value = self.expression(1);
        let blocks: Vec<usize> = (0..3).map(|_| self.block()).collect();
        let join = self.block();
        let has_default = self.rng.below(2) == 0;
        let default = if has_default { blocks[2] } else { join };
        let id = self.source.n_switches;
        self.source.n_switches += 1;
        let first = self.rng.below(8);
        self.end(&format!(
            "switch i4 {value} {{ {first}: b{}, -1: b{}, -2: b{}, default: b{default} }} source sw{id}",
            blocks[0], blocks[1], blocks[1]
        ));
        let last = if has_default { ", default at s0" } else { "" };
        writeln!(
            self.source.switches,
            "switch sw{id} f{} at s0 \"\" {{ case {first} at s0, case -2 ... -1 at s0{last} }}",
            self.function
        )
        .expect("writing to a string does not fail");
        for block in blocks {
            self.at = block;
            self.statement(depth.saturating_sub(2));
            self.end(&format!("jump b{join}"));
        }
        self.at = join;
    }

    /// A loop that counts a local up, which the body may change as well.
    fn repeat(&mut self, depth: usize) {
        let (head, body, after) = (self.block(), self.block(), self.block());
        let counter = self.rng.below(self.n_locals);
        self.end(&format!("jump b{head}"));
        self.heads.push(head);
        self.at = head;
        self.decision(body, after);
        self.at = body;
        self.statements(depth.saturating_sub(2));
        let step = 1 + self.rng.below(3);
        let old = self.instr(&format!("load i4, %{counter}"));
        let new = self.instr(&format!("add i4 {old}, {step}"));
        self.instr(&format!("store i4 {new}, %{counter}"));
        self.end(&format!("jump b{head}"));
        self.at = after;
    }
}

struct Made {
    program: Program,
    /// Calls of the second function in the first, and blocks that loops begin with.
    calls: Vec<usize>,
    heads: Vec<usize>,
}

fn make(rng: &mut Rng, loops: bool) -> Made {
    let mut source = Source::default();
    let mut code = String::new();
    let (mut calls, mut heads) = (Vec::new(), Vec::new());
    for (function, parameters) in [(0, 2), (1, 1)] {
        let mut body = Body {
            rng,
            source: &mut source,
            function,
            n_instrs: 0,
            blocks: vec![String::new()],
            at: 0,
            n_locals: 3,
            loops: loops && function == 0,
            calls: Vec::new(),
            heads: Vec::new(),
        };
        for _ in 0..3 {
            body.instr("alloca 1 align 1");
        }
        for local in 0..3 {
            let value = if local < parameters { format!("p{local}") } else { format!("{local}") };
            body.instr(&format!("store i4 {value}, %{local}"));
        }
        if function == 0 {
            body.statements(3);
        }
        body.statements(2);
        let result = body.expression(1);
        body.end(&format!("return {result}"));
        let blocks: Vec<String> =
            body.blocks.iter().enumerate().map(|(number, block)| format!("b{number}:\n{block}")).collect();
        let types = vec!["i4"; parameters].join(", ");
        writeln!(
            code,
            "function f{function} \"f{function}\" exported ({types}) -> i4 {{\n{}}}",
            blocks.concat()
        )
        .expect("writing to a string does not fail");
        if function == 0 {
            (calls, heads) = (body.calls, body.heads);
        }
    }
    let decisions: Vec<&str> = source.decisions.iter().map(String::as_str).collect();
    Made { program: program(&decisions, &format!("{}{code}", source.switches)), calls, heads }
}

/// What every input shows.
fn observe(program: &Program) -> Vec<Observations> {
    let interpreter = Interpreter::new(program, Limits { steps: 20_000, memory: 1 << 16 });
    let (marking, script) = (Marking::new(program), Script::new(program, None));
    let mut all = Vec::new();
    for input in 0..256_u128 {
        let arguments = [input & 15, input >> 4].map(|value| Value::Int { bits: 4, value });
        let mut log = PathLog::default();
        let run = interpreter.run_observed(FunctionId(0), &arguments, &mut log);
        let completeness = match run.end {
            End::Returned(_) => Completeness::Complete,
            _ => Completeness::Partial,
        };
        let mut observer = Observer::new(&marking);
        let entries = log.entries.iter().copied();
        walk(&script, FunctionId(0), entries, completeness, &mut observer)
            .unwrap_or_else(|error| panic!("{error}"));
        all.push(observer.finish());
    }
    all
}

/// Goals with the demands that say when they are covered.
fn goals(program: &Program) -> Vec<(String, Demand, FunctionId)> {
    let mut goals = Vec::new();
    for (number, condition) in program.conditions.iter().enumerate() {
        let id = ConditionId::new(number);
        let function = program.decision(condition.decision).function;
        for value in [true, false] {
            goals.push((format!("outcome {id} {value}"), Demand::Condition(id, value), function));
            goals.push((format!("independent {id} {value}"), Demand::Independent(id, value), function));
        }
    }
    for (number, decision) in program.decisions.iter().enumerate() {
        let id = DecisionId::new(number);
        for value in [true, false] {
            goals.push((format!("decision {id} {value}"), Demand::Decision(id, value), decision.function));
        }
        for vector in 0..analysis::decision::n_vectors(&decision.shape) as u32 {
            goals.push((format!("vector {id} {vector}"), Demand::Vector(id, vector), decision.function));
        }
    }
    for (number, switch) in program.switches.iter().enumerate() {
        let id = SwitchId::new(number);
        for label in 0..switch.labels.len() as u32 {
            let demand = Demand::Label(id, Case::Label(label));
            goals.push((format!("label {id} {label}"), demand, switch.function));
        }
        if switch.labels.len() == 2 {
            goals.push((
                format!("label {id} implicit"),
                Demand::Label(id, Case::ImplicitDefault),
                switch.function,
            ));
        }
    }
    goals
}

fn n_programs() -> usize {
    std::env::var("PROOF_PROGRAMS").ok().and_then(|number| number.parse().ok()).unwrap_or(2)
}

#[test]
fn without_loops_a_claim_is_accepted_exactly_when_no_input_covers_the_goal() {
    let (mut n_accepted, mut n_rejected) = (0, 0);
    for seed in 0..n_programs() {
        let rng = &mut Rng::new(seed as u64);
        let Made { program, calls, .. } = make(rng, false);
        let inline: Vec<String> = calls.iter().map(|call| format!("inline @.%{call}")).collect();
        let seen = observe(&program);
        let goals = goals(&program);
        // covered goals are many, and checks take time
        let (mut open, mut covered): (Vec<_>, Vec<_>) =
            goals.into_iter().partition(|(_, demand, _)| !seen.iter().any(|seen| seen.satisfy(*demand)));
        rng.shuffle(&mut open);
        rng.shuffle(&mut covered);
        for (goal, _, _) in open.iter().take(12) {
            let proof = proof(&program, &format!("entry f0 goal {goal} {} inductive", inline.join(" ")));
            let said = verdict(&program, &proof);
            assert_eq!(said, "accepted", "seed {seed}, {goal}\n{}", model::text::print(&program));
            n_accepted += 1;
        }
        for (goal, _, _) in covered.iter().take(12) {
            let proof = proof(&program, &format!("entry f0 goal {goal} {} inductive", inline.join(" ")));
            let said = verdict(&program, &proof);
            let text = model::text::print(&program);
            assert!(said.starts_with("rejected"), "seed {seed}, {goal}: {said}\n{text}");
            n_rejected += 1;
        }
    }
    assert!(n_accepted >= n_programs() && n_rejected >= n_programs(), "{n_accepted} {n_rejected}");
}

#[test]
fn with_loops_and_random_formulas_nothing_is_accepted_that_an_input_covers() {
    let mut accepted = BTreeSet::new();
    for seed in 0..n_programs() {
        let rng = &mut Rng::new(1000 + seed as u64);
        let Made { program, calls, heads } = make(rng, true);
        let inline: Vec<String> = calls.iter().map(|call| format!("inline @.%{call}")).collect();
        let seen = observe(&program);
        let mut goals = goals(&program);
        rng.shuffle(&mut goals);
        goals.sort_by_key(|(_, demand, _)| seen.iter().any(|seen| seen.satisfy(*demand)));
        let n = goals.len();
        for at in (0..n.min(8)).chain(n.saturating_sub(8)..n) {
            let (goal, demand, function) = &goals[at];
            let mut cuts = String::new();
            let body = match at % 4 {
                0 | 1 => "inductive".to_owned(),
                2 => format!("k-induction {}", 1 + rng.below(3)),
                _ => {
                    let cuts: Vec<String> =
                        (0..12).map(|_| rng.below(heads.len().max(1)).to_string()).collect();
                    format!("unrolled {}", cuts.join(" "))
                }
            };
            for head in &heads {
                let formula = if at % 4 == 3 { "true".to_owned() } else { formula(rng, 2) };
                // most cycles need their cut
                if rng.below(12) > 0 {
                    write!(cuts, "cut @ b{head} {formula} ").expect("writing to a string does not fail");
                }
            }
            let inline = if rng.below(6) == 0 { String::new() } else { inline.join(" ") };
            let proof = proof(&program, &format!("entry f0 goal {goal} {inline} {cuts} {body}"));
            let said = verdict(&program, &proof);
            if said == "accepted" {
                let covered = seen.iter().position(|seen| seen.satisfy(*demand));
                let text = model::text::print(&program);
                assert_eq!(covered, None, "seed {seed}, {goal} of {function}\n{cuts}\n{text}");
                accepted.insert((seed, goal.clone()));
            }
        }
    }
    assert!(!accepted.is_empty(), "nothing was accepted");
}

/// A formula over the locals of the entry.
fn formula(rng: &mut Rng, depth: usize) -> String {
    let term = |rng: &mut Rng| match rng.below(5) {
        0 => format!("i4:{}", rng.below(16) as i64 - 8),
        1 => format!("(parameter {})", rng.below(2)),
        _ => format!("(local @ %{})", rng.below(3)),
    };
    match rng.below(if depth == 0 { 4 } else { 9 }) {
        0 => "true".to_owned(),
        1..=3 => {
            let predicate = rng.pick(&["bvule", "bvslt", "=", "bvsge", "bvugt"]);
            format!("({predicate} {} {})", term(rng), term(rng))
        }
        4 | 5 => format!("(or {} {})", formula(rng, depth - 1), formula(rng, depth - 1)),
        6 => format!("(not {})", formula(rng, depth - 1)),
        7 => format!("(= (extract 0 0 {}) i1:{})", term(rng), rng.below(2)),
        _ => format!("(and {} {})", formula(rng, depth - 1), formula(rng, depth - 1)),
    }
}

/// Random numbers from a seed.
struct Rng(u64);

impl Rng {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def1)
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}
