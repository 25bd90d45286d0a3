//! Random programs over two inputs of four bits: what is proved, no input covers, and the checker accepts it.
//!
//! The interpreter runs every input, and the code that counts coverage says what was covered; pairs of data flow are read off
//! the blocks that were executed. Programs take turns with the engines. `PROVER_PROGRAMS` is the number of programs; the
//! checker looks at the first proofs of each.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use coverage::observe::{Observations, Observer};
use coverage::{Demand, Marking};
use model::interpret::{End, Interpreter, Limits, PathLog, Value};
use model::walk::{Completeness, Script, walk};
use model::{BlockId, ConditionId, DecisionId, FunctionId, InstrId, Op, Operand, Program, text, verify};
use proof::{Checker, Goal, Proof, Solvers, Verdict};
use prover::{Effort, Engine, Known, Refutation, Task, prove, refutations};

const PREDICATES: [&str; 6] = ["eq", "ne", "ult", "ule", "slt", "sge"];
const OPERATIONS: [&str; 6] = ["add", "sub", "mul", "and", "or", "xor"];

/// A function in the making: blocks as text, and the decisions of its conditions.
struct Maker {
    random: u64,
    blocks: Vec<String>,
    at: usize,
    n_instrs: usize,
    decisions: Vec<String>,
    n_conditions: usize,
}

impl Maker {
    fn below(&mut self, bound: usize) -> usize {
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) as usize % bound
    }

    fn instr(&mut self, text: &str) -> String {
        let id = format!("%{}", self.n_instrs);
        self.n_instrs += 1;
        writeln!(self.blocks[self.at], "  {id} = {text}").expect("a string takes everything");
        id
    }

    fn end(&mut self, text: &str) {
        writeln!(self.blocks[self.at], "  {text}").expect("a string takes everything");
    }

    fn block(&mut self) -> usize {
        self.blocks.push(String::new());
        self.blocks.len() - 1
    }

    fn value(&mut self) -> String {
        if self.below(3) == 0 {
            return (self.below(16) as i64 - 8).to_string();
        }
        let local = self.below(3);
        self.instr(&format!("load i4, %{local}"))
    }

    fn condition(&mut self) -> (usize, String) {
        let (left, right) = (self.value(), self.value());
        let predicate = PREDICATES[self.below(6)];
        let compared = self.instr(&format!("compare {predicate} i4 {left}, {right}"));
        let condition = self.n_conditions;
        self.n_conditions += 1;
        (condition, self.instr(&format!("mark c{condition} {compared}")))
    }

    /// Ends the block with a decision of one condition or of two.
    fn decide(&mut self, then: usize, otherwise: usize) {
        let (first, mark) = self.condition();
        let shape = match self.below(3) {
            0 => {
                let second = self.block();
                self.end(&format!("branch {mark}, b{second}, b{otherwise} decided c{first}"));
                self.at = second;
                Some("&&")
            }
            1 => {
                let second = self.block();
                self.end(&format!("branch {mark}, b{then}, b{second} decided c{first}"));
                self.at = second;
                Some("||")
            }
            _ => {
                self.end(&format!("branch {mark}, b{then}, b{otherwise} decided c{first}"));
                None
            }
        };
        let shape = match shape {
            Some(operator) => {
                let (second, mark) = self.condition();
                self.end(&format!("branch {mark}, b{then}, b{otherwise} decided c{second}"));
                format!("(c{first} {operator} c{second})")
            }
            None => format!("c{first}"),
        };
        self.decisions.push(shape);
    }

    fn statement(&mut self, depth: usize) {
        match self.below(if depth == 0 { 2 } else { 6 }) {
            0 | 1 => {
                let (left, right) = (self.value(), self.value());
                let operation = OPERATIONS[self.below(6)];
                let value = self.instr(&format!("{operation} i4 {left}, {right}"));
                let local = self.below(3);
                self.instr(&format!("store i4 {value}, %{local}"));
            }
            2 => {
                let (head, body, after) = (self.block(), self.block(), self.block());
                self.end(&format!("jump b{head}"));
                self.at = head;
                self.decide(body, after);
                self.at = body;
                self.statement(depth - 1);
                let local = self.below(3);
                let old = self.instr(&format!("load i4, %{local}"));
                let new = self.instr(&format!("add i4 {old}, 1"));
                self.instr(&format!("store i4 {new}, %{local}"));
                self.end(&format!("jump b{head}"));
                self.at = after;
            }
            _ => {
                let (then, otherwise, join) = (self.block(), self.block(), self.block());
                self.decide(then, otherwise);
                for block in [then, otherwise] {
                    self.at = block;
                    self.statement(depth - 1);
                    self.end(&format!("jump b{join}"));
                }
                self.at = join;
            }
        }
    }
}

fn random_program(seed: u64) -> Program {
    let mut maker = Maker {
        random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15),
        blocks: vec![String::new()],
        at: 0,
        n_instrs: 0,
        decisions: Vec::new(),
        n_conditions: 0,
    };
    for _ in 0..3 {
        maker.instr("alloca 1 align 1");
    }
    for (local, value) in ["p0", "p1", "0"].into_iter().enumerate() {
        maker.instr(&format!("store i4 {value}, %{local}"));
    }
    for _ in 0..4 {
        maker.statement(2);
    }
    maker.end("return 0");
    let mut tables = String::from("program pointer 64\nfile file0 \"t.c\"\nspan s0 file0:1:1\n");
    let mut conditions = vec![String::new(); maker.n_conditions];
    for (id, shape) in maker.decisions.iter().enumerate() {
        writeln!(tables, "decision d{id} if f0 at s0 {shape} \"\"").expect("a string takes everything");
        for word in shape.split(|char: char| !char.is_alphanumeric()).filter(|word| word.starts_with('c')) {
            let number: usize = word[1..].parse().expect("a number");
            conditions[number] = format!("condition {word} of d{id} at s0 \"\"\n");
        }
    }
    tables.push_str(&conditions.concat());
    tables.push_str("function f0 \"f\" exported (i4, i4) -> i4 {\n");
    for (number, block) in maker.blocks.iter().enumerate() {
        write!(tables, "b{number}:\n{block}").expect("a string takes everything");
    }
    tables.push_str("}\n");
    let program = text::parse(&tables).unwrap_or_else(|error| panic!("{error}\n{tables}"));
    assert_eq!(verify(&program).first().map(ToString::to_string), None, "{tables}");
    program
}

/// What each input shows; a run that does not end shows what it did until it was stopped.
fn observe(program: &Program) -> Vec<Observations> {
    let interpreter = Interpreter::new(program, Limits { steps: 5_000, memory: 1 << 16 });
    let (marking, script) = (Marking::new(program), Script::new(program, None));
    let run = |input: u128| {
        let arguments = [input & 15, input >> 4].map(|value| Value::Int { bits: 4, value });
        let mut log = PathLog::default();
        let run = interpreter.run_observed(FunctionId(0), &arguments, &mut log);
        let is_whole = matches!(run.end, End::Returned(_));
        let completeness = if is_whole { Completeness::Complete } else { Completeness::Partial };
        let mut observer = Observer::new(&marking);
        let entries = log.entries.iter().copied();
        walk(&script, FunctionId(0), entries, completeness, &mut observer)
            .unwrap_or_else(|error| panic!("{error}"));
        observer.finish()
    };
    (0..256).map(run).collect()
}

fn demands(program: &Program) -> Vec<Demand> {
    let mut demands = Vec::new();
    for condition in (0..program.conditions.len()).map(ConditionId::new) {
        for value in [true, false] {
            demands.push(Demand::Condition(condition, value));
            demands.push(Demand::Independent(condition, value));
        }
    }
    for decision in (0..program.decisions.len()).map(DecisionId::new) {
        demands.extend([true, false].map(|value| Demand::Decision(decision, value)));
        let n_vectors = analysis::decision::n_vectors(&program.decision(decision).shape);
        demands.extend((0..n_vectors as u32).map(|number| Demand::Vector(decision, number)));
    }
    demands
}

const ENGINES: [Engine; 7] = [
    Engine::Houdini,
    Engine::KInduction,
    Engine::Cegar,
    Engine::Unrolled,
    Engine::Auto,
    Engine::States,
    Engine::Pdr,
];

/// The blocks of a run, in order.
#[derive(Default)]
struct Blocks(Vec<BlockId>);

impl model::interpret::Observer for Blocks {
    fn block(&mut self, _function: FunctionId, block: BlockId) {
        self.0.push(block);
    }
}

/// Stores and loads of the same local that some input executes one after the other, with no other store between.
fn pairs_seen(program: &Program) -> BTreeSet<(InstrId, InstrId)> {
    let interpreter = Interpreter::new(program, Limits { steps: 5_000, memory: 1 << 16 });
    let code = program.function(FunctionId(0));
    let mut seen = BTreeSet::new();
    for input in 0..256 {
        let arguments = [input & 15, input >> 4].map(|value| Value::Int { bits: 4, value });
        let mut blocks = Blocks::default();
        let run = interpreter.run_observed(FunctionId(0), &arguments, &mut blocks);
        if !matches!(run.end, End::Returned(_)) {
            blocks.0.pop(); // it may have been stopped within
        }
        let mut last: BTreeMap<InstrId, InstrId> = BTreeMap::new();
        for id in blocks.0.iter().flat_map(|block| &code.block(*block).instrs) {
            match code.instr(*id).op {
                Op::Store { address: Operand::Result(local), .. } => _ = last.insert(local, *id),
                Op::Load { address: Operand::Result(local), .. } => {
                    seen.extend(last.get(&local).map(|store| (*store, *id)));
                }
                _ => {}
            }
        }
    }
    seen
}

/// Some stores with some loads of the same local.
fn pairs(program: &Program) -> Vec<(Goal, (InstrId, InstrId))> {
    let (function, code) = (FunctionId(0), program.function(FunctionId(0)));
    let accesses = |is_load: bool| {
        let all = (0..code.instrs.len()).map(InstrId::new);
        all.filter_map(move |id| match code.instr(id).op {
            Op::Load { address: Operand::Result(local), .. } if is_load => Some((local, id)),
            Op::Store { address: Operand::Result(local), .. } if !is_load => Some((local, id)),
            _ => None,
        })
    };
    let all = accesses(false).flat_map(|(local, store)| {
        let loads = accesses(true).filter(move |(of, _)| *of == local);
        loads.map(move |(_, load)| (local, store, load))
    });
    let goal = |(local, store, load)| {
        let (definitions, uses) = (BTreeSet::from([store]), BTreeSet::from([load]));
        (Goal::Pair { function, local, definitions, uses }, (store, load))
    };
    all.step_by(5).take(16).map(goal).collect()
}

#[test]
fn what_is_proved_is_covered_by_no_input_and_accepted_by_the_checker() {
    let n_programs = std::env::var("PROVER_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(14);
    let (mut n_uncovered, mut n_proved, mut n_checked) = ([0; ENGINES.len()], [0; ENGINES.len()], 0);
    for seed in 0..n_programs {
        let program = random_program(seed);
        let turn = seed as usize % ENGINES.len();
        let demands = demands(&program);
        let to_goal =
            |demand: &Demand| prover::goal_of(&program, None, *demand).expect("proofs have this goal");
        let pairs = pairs(&program);
        let goals = demands.iter().map(to_goal).chain(pairs.iter().map(|(goal, _)| goal.clone())).collect();
        let task = Task {
            program: &program,
            goals,
            under_test: None,
            inputs: Vec::new(),
            misled: BTreeSet::new(),
            engine: ENGINES[turn],
        };
        let proofs = prove(&task, &mut Known::default(), &Effort::new(60_000, || false)).proofs;
        let seen = observe(&program);
        let pairs_seen = pairs_seen(&program);
        let is_covered = |number: usize| match demands.get(number) {
            Some(demand) => seen.iter().any(|seen| seen.satisfy(*demand)),
            None => pairs_seen.contains(&pairs[number - demands.len()].1),
        };
        n_uncovered[turn] += (0..task.goals.len()).filter(|number| !is_covered(*number)).count();
        n_proved[turn] += proofs.len();
        let checker = Checker::new(&program);
        for (at, (number, proof)) in proofs.iter().enumerate() {
            let goal = &task.goals[*number];
            assert!(!is_covered(*number), "seed {seed}: {goal:?}\n{}", text::print(&program));
            if seed < 10 && at % 20 < 2 {
                let said = checker.check(proof, &mut Solvers::installed());
                let shown = proof::text::print(proof);
                assert!(matches!(said, Verdict::Accepted { .. }), "seed {seed}: {said:?}\n{shown}");
                n_checked += 1;
            }
        }
    }
    // most of what no input covers is found without counting values; a prover that finds nothing must not pass
    let enough = n_proved.iter().zip(&n_uncovered).all(|(proved, uncovered)| 2 * proved > *uncovered);
    let said =
        format!("{ENGINES:?}: {n_proved:?} of {n_uncovered:?} uncovered goals, {n_checked} proofs checked");
    assert!(n_checked > 0 && enough, "{said}");
    println!("{said}");
}

/// Outcomes of conditions, by the head of a loop that came last.
struct Outcomes {
    heads: BTreeSet<BlockId>,
    head: Option<BlockId>,
    seen: BTreeSet<Refutation>,
}

impl model::interpret::Observer for Outcomes {
    fn block(&mut self, _function: FunctionId, block: BlockId) {
        if self.heads.contains(&block) {
            self.head = Some(block);
        }
    }

    fn condition(&mut self, condition: ConditionId, value: bool) {
        self.seen.insert(Refutation { condition, value, head: self.head });
    }
}

fn outcomes_seen(program: &Program) -> BTreeSet<Refutation> {
    let interpreter = Interpreter::new(program, Limits { steps: 5_000, memory: 1 << 16 });
    let heads = analysis::loops::loop_heads(program.function(FunctionId(0)));
    let mut seen = BTreeSet::new();
    for input in 0..256 {
        let arguments = [input & 15, input >> 4].map(|value| Value::Int { bits: 4, value });
        let mut outcomes = Outcomes { heads: heads.clone(), head: None, seen: BTreeSet::new() };
        interpreter.run_observed(FunctionId(0), &arguments, &mut outcomes);
        seen.extend(outcomes.seen);
    }
    seen
}

#[test]
fn what_proofs_exclude_behind_a_loop_no_input_does() {
    let (mut n_refuted, mut n_only_there) = (0, 0);
    for seed in 100..130 {
        let program = random_program(seed);
        let goals: Vec<Goal> = (0..program.conditions.len())
            .map(ConditionId::new)
            .flat_map(|condition| [true, false].map(|value| Goal::Outcome { condition, value }))
            .collect();
        let task = Task {
            program: &program,
            goals,
            under_test: None,
            inputs: Vec::new(),
            misled: BTreeSet::new(),
            engine: Engine::Houdini,
        };
        let effort = || Effort::new(20_000, || false);
        let proofs: Vec<Proof> =
            prove(&task, &mut Known::default(), &effort()).proofs.into_values().collect();
        let found = refutations(&program, &BTreeSet::from([FunctionId(0)]), &proofs, &effort());
        let seen = outcomes_seen(&program);
        for refutation in found {
            assert!(!seen.contains(&refutation), "seed {seed}: {refutation:?}\n{}", text::print(&program));
            // runs come there, and go the other way, and elsewhere they go this way
            let is_met = seen.contains(&Refutation { value: !refutation.value, ..refutation });
            let Refutation { condition, value, .. } = refutation;
            let is_elsewhere = seen.iter().any(|other| (other.condition, other.value) == (condition, value));
            n_refuted += usize::from(is_met);
            n_only_there += usize::from(is_met && is_elsewhere);
        }
    }
    assert!(
        n_refuted > 20 && n_only_there > 0,
        "{n_refuted} refuted, {n_only_there} of them only behind one loop"
    );
}
