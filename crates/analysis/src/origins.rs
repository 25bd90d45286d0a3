//! Which of some functions does a value come from: from their result, or from memory that was passed to them?
//!
//! Method: backwards from the value through operands, through stores to the memory that it was loaded from, through calls
//! into the results of callees and out of parameters to the arguments of callers. Memory is identified by the variable,
//! parameter or global that its address starts from, whatever lies in between. Limits: one name stands for everything
//! reachable from it, so the result may be too large; calls through pointers are not followed.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use model::{Callee, Function, FunctionId, GlobalId, InstrId, Op, Operand, Program, Terminator};

/// What is asked about a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Whether what it returns is looked for.
    pub result: bool,
    /// Whether memory that it is handed is.
    pub memory: bool,
}

/// Answers for one program.
pub struct Origins<'p> {
    program: &'p Program,
    asked: &'p BTreeMap<FunctionId, Asked>,
    /// By function: the calls of it.
    calls: BTreeMap<FunctionId, Vec<(FunctionId, InstrId)>>,
    /// By where memory starts: the instructions that store to it, store its address, or hand it on. Made when first asked for:
    /// looking through the program for each value would take minutes in large ones.
    touching: OnceCell<BTreeMap<Root, Vec<(FunctionId, InstrId)>>>,
    /// Whether memory behind a pointer that was loaded belongs to what the pointer was loaded from.
    follows_pointers: bool,
    /// Whether values are followed into callees and callers.
    crosses_calls: bool,
}

/// Where an address starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Root {
    /// A variable on the stack, or memory that a call gave.
    Instr(FunctionId, InstrId),
    Parameter(FunctionId, u32),
    Global(GlobalId),
}

/// What is still to be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Open {
    Instr(FunctionId, InstrId),
    Parameter(FunctionId, u32),
    Memory(Root),
}

impl<'p> Origins<'p> {
    /// For these functions.
    pub fn new(program: &'p Program, asked: &'p BTreeMap<FunctionId, Asked>) -> Self {
        let mut calls: BTreeMap<FunctionId, Vec<(FunctionId, InstrId)>> = BTreeMap::new();
        for (caller, id, op) in written(program) {
            if let Op::Call { callee: Callee::Direct(callee), .. } = op {
                calls.entry(*callee).or_default().push((caller, id));
            }
        }
        let touching = OnceCell::new();
        Self { program, asked, calls, touching, follows_pointers: true, crosses_calls: true }
    }

    /// The same without memory behind pointers that are themselves in memory: what is found is likelier, and may be too little.
    #[must_use]
    pub fn without_pointers(self) -> Self {
        Self { follows_pointers: false, touching: OnceCell::new(), ..self }
    }

    /// The same without what comes from callers, or from code within callees.
    #[must_use]
    pub fn within_functions(self) -> Self {
        Self { crosses_calls: false, ..self }
    }

    /// The calls of a function.
    pub fn calls(&self, function: FunctionId) -> &[(FunctionId, InstrId)] {
        self.calls.get(&function).map(Vec::as_slice).unwrap_or_default()
    }

    /// The first of the functions that a value of this function comes from.
    pub fn of(&self, function: FunctionId, value: Operand) -> Option<FunctionId> {
        let mut search =
            Search { origins: self, seen: BTreeSet::new(), open: Vec::new(), found: BTreeSet::new() };
        search.value(function, value);
        while let Some(open) = search.open.pop() {
            match open {
                Open::Instr(function, id) => search.instr(function, id),
                Open::Parameter(function, number) => search.parameter(function, number),
                Open::Memory(root) => search.memory(root),
            }
        }
        search.found.pop_first()
    }

    /// The instructions that do something with memory that starts there.
    fn touching(&self, root: Root) -> &[(FunctionId, InstrId)] {
        let touching = self.touching.get_or_init(|| {
            let mut touching: BTreeMap<Root, Vec<(FunctionId, InstrId)>> = BTreeMap::new();
            for (function, id, op) in written(self.program) {
                let named: Vec<Operand> = match op {
                    Op::Store { address, value, .. } => vec![*address, *value],
                    Op::Memory { to, .. } => vec![*to],
                    Op::Call { arguments, .. } => arguments.iter().map(|(_, argument)| *argument).collect(),
                    _ => continue,
                };
                let roots: BTreeSet<Root> =
                    named.into_iter().filter_map(|operand| self.root(function, operand)).collect();
                for root in roots {
                    touching.entry(root).or_default().push((function, id));
                }
            }
            touching
        });
        touching.get(&root).map(Vec::as_slice).unwrap_or_default()
    }

    fn function(&self, id: FunctionId) -> &'p Function {
        self.program.function(id)
    }

    /// Where an address starts; nothing for a constant.
    fn root(&self, function: FunctionId, address: Operand) -> Option<Root> {
        let mut address = address;
        loop {
            address = match address {
                Operand::Parameter(number) => return Some(Root::Parameter(function, number)),
                Operand::Global { global, .. } => return Some(Root::Global(global)),
                Operand::Int { .. }
                | Operand::Float { .. }
                | Operand::Null
                | Operand::Function(_)
                | Operand::Undefined(_) => return None,
                Operand::Result(id) => match &self.function(function).instr(id).op {
                    Op::Address { base: from, .. } | Op::Cast(_, _, from) | Op::Freeze(from) => *from,
                    Op::Load { address: from, .. } if self.follows_pointers => *from,
                    Op::Load { .. } => return None,
                    _ => return Some(Root::Instr(function, id)),
                },
            };
        }
    }
}

/// The instructions of the user's code.
fn written(program: &Program) -> impl Iterator<Item = (FunctionId, InstrId, &Op)> {
    let functions = program.functions.iter().enumerate().filter(|(_, function)| !function.generated);
    functions.flat_map(|(index, function)| {
        let of_function = move |(id, op)| (FunctionId::new(index), id, op);
        instrs(function).map(of_function)
    })
}

fn instrs(function: &Function) -> impl Iterator<Item = (InstrId, &Op)> {
    function.blocks.iter().flat_map(|block| &block.instrs).map(|id| (*id, &function.instr(*id).op))
}

struct Search<'a, 'p> {
    origins: &'a Origins<'p>,
    seen: BTreeSet<Open>,
    open: Vec<Open>,
    found: BTreeSet<FunctionId>,
}

impl Search<'_, '_> {
    fn look_at(&mut self, open: Open) {
        if self.seen.insert(open) {
            self.open.push(open);
        }
    }

    fn value(&mut self, function: FunctionId, value: Operand) {
        match value {
            Operand::Result(id) => self.look_at(Open::Instr(function, id)),
            Operand::Parameter(number) => self.look_at(Open::Parameter(function, number)),
            Operand::Int { .. }
            | Operand::Float { .. }
            | Operand::Null
            | Operand::Global { .. }
            | Operand::Function(_)
            | Operand::Undefined(_) => {}
        }
    }

    fn behind(&mut self, function: FunctionId, address: Operand) {
        if let Some(root) = self.origins.root(function, address) {
            self.look_at(Open::Memory(root));
        }
    }

    fn instr(&mut self, function: FunctionId, id: InstrId) {
        let op = &self.origins.function(function).instr(id).op;
        match op {
            Op::Load { address, .. } => self.behind(function, *address),
            Op::Call { callee: Callee::Direct(callee), .. } => self.returned(*callee),
            _ => {}
        }
        // what a function outside of the program makes of its arguments comes from them
        let is_outside = match op {
            Op::Call { callee: Callee::Direct(callee), .. } => {
                self.origins.function(*callee).blocks.is_empty()
            }
            _ => false,
        };
        for operand in op.operands() {
            self.value(function, operand);
            if is_outside {
                self.behind(function, operand);
            }
        }
    }

    fn returned(&mut self, callee: FunctionId) {
        if self.origins.asked.get(&callee).is_some_and(|asked| asked.result) {
            self.found.insert(callee);
        }
        let function = self.origins.function(callee);
        if function.generated || !self.origins.crosses_calls {
            return;
        }
        for block in &function.blocks {
            if let Terminator::Return(Some(value)) = block.terminator {
                self.value(callee, value);
            }
        }
    }

    fn parameter(&mut self, function: FunctionId, number: u32) {
        if !self.origins.crosses_calls {
            return;
        }
        for (caller, id) in self.origins.calls(function) {
            if let Op::Call { arguments, .. } = &self.origins.function(*caller).instr(*id).op
                && let Some((_, argument)) = arguments.get(number as usize)
            {
                self.value(*caller, *argument);
            }
        }
    }

    /// What is stored to the memory, by whom, and who was handed it.
    fn memory(&mut self, root: Root) {
        let origins = self.origins;
        match root {
            Root::Instr(function, id) => self.look_at(Open::Instr(function, id)),
            Root::Parameter(function, number) => {
                self.look_at(Open::Parameter(function, number));
                for (caller, id) in origins.calls(function) {
                    if let Op::Call { arguments, .. } = &origins.function(*caller).instr(*id).op
                        && let Some((_, argument)) = arguments.get(number as usize)
                    {
                        self.behind(*caller, *argument);
                    }
                }
            }
            Root::Global(_) => {}
        }
        for (function, id) in origins.touching(root) {
            self.touches(*function, &origins.function(*function).instr(*id).op, root);
        }
    }

    fn touches(&mut self, function: FunctionId, op: &Op, root: Root) {
        let is_root = |operand: Operand| self.origins.root(function, operand) == Some(root);
        match op {
            Op::Store { address, value, .. } if is_root(*address) => {
                self.value(function, *value);
                self.behind(function, *value);
            }
            // another name for it
            Op::Store { address, value, .. } if is_root(*value) => self.behind(function, *address),
            Op::Memory { to, from, .. } if is_root(*to) => self.behind(function, *from),
            Op::Call { callee: Callee::Direct(callee), arguments } => {
                let handed: Vec<u32> = (0..)
                    .zip(arguments)
                    .filter(|(_, (_, argument))| is_root(*argument))
                    .map(|(n, _)| n)
                    .collect();
                for number in handed {
                    if self.origins.asked.get(callee).is_some_and(|asked| asked.memory) {
                        self.found.insert(*callee);
                    }
                    let is_known = !self.origins.function(*callee).blocks.is_empty();
                    if is_known && !self.origins.function(*callee).generated {
                        self.look_at(Open::Memory(Root::Parameter(*callee, number)));
                    }
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use model::text;

    use super::*;

    /// Whether the value of `%3` in this body comes from `outside`, which is given a pointer and returns a number.
    fn comes_from_outside(body: &str, asked: Asked) -> bool {
        let program = text::parse(&format!(
            "program pointer 64 root f0\n\
             function f0 \"f\" internal (ptr) -> void {{\nb0:\n{body}\n return\n}}\n\
             function f1 \"outside\" external (ptr) -> i32\n\
             function f2 \"passes\" internal (ptr) -> i32 {{\nb0:\n %0 = alloca 8 align 8\n \
             %1 = store ptr p0, %0\n %2 = load ptr, %0\n %3 = call i32 f1(ptr %2)\n return %3\n}}\n"
        ));
        let program = program.unwrap_or_else(|error| panic!("{error}"));
        let asked = BTreeMap::from([(FunctionId::new(1), asked)]);
        let value = Operand::Result(InstrId::new(3));
        Origins::new(&program, &asked).of(FunctionId::new(0), value).is_some()
    }

    const RESULT: Asked = Asked { result: true, memory: false };
    const MEMORY: Asked = Asked { result: false, memory: true };

    #[test]
    fn memory_that_was_handed_out_comes_from_there() {
        let body = " %0 = alloca 4 align 4\n %1 = alloca 4 align 4\n \
                    %2 = call i32 f1(ptr %0)\n %3 = load i32, ";
        assert!(comes_from_outside(&format!("{body}%0"), MEMORY));
        assert!(!comes_from_outside(&format!("{body}%1"), MEMORY));
        assert!(!comes_from_outside(&format!("{body}%0"), RESULT));
    }

    #[test]
    fn results_and_memory_come_through_other_functions() {
        let body = " %0 = alloca 4 align 4\n %1 = call i32 f2(ptr %0)\n %2 = load i32, %0\n ";
        assert!(comes_from_outside(&format!("{body}%3 = add i32 %1, 1"), RESULT));
        assert!(!comes_from_outside(&format!("{body}%3 = add i32 %2, 1"), RESULT));
        assert!(comes_from_outside(&format!("{body}%3 = add i32 %2, 1"), MEMORY));
    }
}
