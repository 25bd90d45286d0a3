//! The parameters and globals of a harness: for each, its plan, the code that fills it and its node in the tree.

use model::ctype::declare::{declaration, parameter_object};
use model::ctype::{CFunction, CGlobal, CParameter, CStatic, CTypeKind, CTypes};
use model::input::{
    Allocations, Cell, Function, Key, Kind, Node, Pointer, Reach, Results, Scalar, Shape, Sized, Stream,
    Union,
};

use super::HarnessOptions;
use super::couple::{Part, Role, couplings};
use super::fill::{Filler, point_functions, stub_functions};
use super::plan::{Plan, Planner};

/// Builds the tree and the code side by side.
pub struct Cells<'a> {
    types: &'a CTypes,
    planner: Planner<'a>,
    filler: Filler<'a>,
    roots: Vec<Node>,
    next_key: u64,
    reasons: Vec<String>,
    couplings: Vec<String>,
}

/// What a harness is made of.
pub struct Parts {
    /// Functions that set pointers.
    pub functions: String,
    pub body: String,
    pub shape: Shape,
    /// The first key that is not taken.
    pub next_key: u64,
    /// What is not built.
    pub reasons: Vec<String>,
    /// Which numbers were taken for lengths, as text.
    pub couplings: Vec<String>,
}

impl<'a> Cells<'a> {
    /// `functions` are those that the harness can name, with their types.
    pub fn new(types: &'a CTypes, options: &'a HarnessOptions, functions: Vec<(&'a str, &'a str)>) -> Self {
        Self {
            types,
            planner: Planner::new(types, options, functions),
            filler: Filler::new(types, options.max_depth),
            roots: Vec::new(),
            next_key: 0,
            reasons: Vec::new(),
            couplings: Vec::new(),
        }
    }

    /// The code, the tree, and what to report.
    pub fn finish(mut self) -> Parts {
        let targets = std::mem::take(&mut self.planner.targets);
        let template = |target: &super::plan::Target| Node {
            name: String::new(),
            c_type: target.element_type.clone(),
            kind: kind(&target.plan, &mut 0),
        };
        for target in &targets {
            explain(&format!("*({} *)", target.element_type), &target.plan, &mut self.reasons);
        }
        let max_depth = self.planner.options.max_depth;
        let stubs = std::mem::take(&mut self.planner.stubs);
        let calls = |(number, stub): (u64, &super::plan::CallbackStub)| {
            let (name, c_type) = (format!("stub_{number}"), stub.c_type.clone());
            let result =
                Node { name: String::new(), c_type: String::new(), kind: kind(&stub.result, &mut 0) };
            let key = Key(self.next_key + number);
            Node { name, c_type, kind: Kind::Results(Results { key, result: Box::new(result) }) }
        };
        let most = self.planner.options.failing_allocations;
        let mut next_key = self.next_key + stubs.len() as u64;
        let allocations = (most > 0).then_some(Allocations { key: Key(next_key), most });
        next_key += u64::from(allocations.is_some());
        let shape = Shape {
            stubs: (0..).zip(&stubs).map(calls).collect(),
            targets: targets.iter().map(template).collect(),
            roots: self.roots,
            max_depth,
            allocations,
        };
        let stubs = stub_functions(self.types, &stubs, self.next_key);
        Parts {
            next_key,
            functions: format!("{stubs}{}", point_functions(self.types, &targets, max_depth)),
            body: self.filler.text,
            shape,
            reasons: self.reasons,
            couplings: self.couplings,
        }
    }

    /// Fills a global in place.
    pub fn global(&mut self, global: &CGlobal) {
        let plan = match &self.types[global.ty].kind {
            CTypeKind::Pointer { to, const_target } => self.planner.pointer(*to, *const_target, 0, false),
            _ => self.planner.plan(global.ty, 0),
        };
        let key = self.take_keys(&plan);
        self.filler.fill(&global.name, ".", key, &plan);
        self.add(&global.name, &self.types[global.ty].spelling, key, &plan);
    }

    /// Fills a static variable of a function in place.
    pub fn static_variable(&mut self, variable: &CStatic) {
        let plan = self.planner.plan(variable.ty, 0);
        let key = self.take_keys(&plan);
        self.filler.fill(&super::statics::harness_name(variable), ".", key, &plan);
        self.add(&variable.qualified_name(), &self.types[variable.ty].spelling, key, &plan);
    }

    /// Says of something that it is no input.
    pub fn leave_out(&mut self, what: String) {
        self.reasons.push(what);
    }

    /// Declares and fills the variables of all parameters.
    pub fn parameters(&mut self, function: &CFunction, names: &[String]) {
        let counts = self.counting_parameters(function, names);
        let mut counted = Vec::new();
        for (index, (parameter, name)) in function.parameters.iter().zip(names).enumerate() {
            let is_counted = counts.iter().any(|counts| counts.contains(&index));
            let plan = self.parameter(parameter, name, is_counted);
            let key = self.take_keys(&plan);
            let c_type = &self.types[parameter.ty].spelling;
            self.add(name, c_type, key, &plan);
            self.declare(parameter, name);
            if counts[index].is_empty() {
                self.filler.fill(name, ".", key, &plan);
            } else {
                counted.push((name, key, plan, counts[index].clone()));
            }
        }
        // when what they count is there
        let first = self.roots.len() - names.len();
        for (name, key, plan, pointers) in counted {
            let is_built = |pointer: &&usize| matches!(self.roots[first + **pointer].kind, Kind::Pointer(_));
            let built: Vec<usize> = pointers.iter().filter(is_built).copied().collect();
            if built.is_empty() {
                self.filler.fill(name, ".", key, &plan);
                continue;
            }
            built.iter().for_each(|pointer| is_counted(&mut self.roots[first + *pointer].kind, Key(key)));
            let pointers: Vec<_> = built.iter().map(|pointer| names[*pointer].clone()).collect();
            self.filler.count(name, key, &plan, &pointers);
            self.couplings
                .push(format!("{name} is at most the number of elements of {}", pointers.join(", ")));
        }
    }

    fn parameter(&mut self, parameter: &CParameter, name: &str, is_counted: bool) -> Plan {
        match &self.types[parameter.ty].kind {
            CTypeKind::Pointer { to, const_target } => match self.fixed_length(parameter, name) {
                Some(length) => self.planner.fixed(*to, length),
                None => {
                    let stream = self.planner.stream(*to);
                    stream.unwrap_or_else(|| self.planner.pointer(*to, *const_target, 1, is_counted))
                }
            },
            _ => self.planner.plan(parameter.ty, 0),
        }
    }

    fn fixed_length(&self, parameter: &CParameter, name: &str) -> Option<u64> {
        self.planner.options.lengths.get(name).copied().or(parameter.declared_length)
    }

    /// For each parameter, the parameters whose elements it counts.
    fn counting_parameters(&self, function: &CFunction, names: &[String]) -> Vec<Vec<usize>> {
        let options = self.planner.options;
        if !options.couple {
            return vec![Vec::new(); names.len()];
        }
        let part = |(parameter, name): (&CParameter, &'_ String)| {
            let is_stated = self.fixed_length(parameter, name).is_some() || is_assumed(options, name);
            let role = if is_stated { Role::Other } else { self.planner.role(parameter.ty) };
            (name.clone(), role)
        };
        let named: Vec<_> = function.parameters.iter().zip(names).map(part).collect();
        let parts: Vec<_> = named.iter().map(|(name, role)| Part { name, role: *role }).collect();
        couplings(&parts)
    }

    fn declare(&mut self, parameter: &CParameter, name: &str) {
        let node = self.roots.last().expect("the parameter was added");
        let zero = match self.types[parameter.ty].kind {
            CTypeKind::Struct { .. } | CTypeKind::Array { .. } | CTypeKind::Other => "{0}",
            CTypeKind::Pointer { .. } if matches!(node.kind, Kind::Array { .. }) => "{0}",
            _ => "0",
        };
        let declared = match node.kind {
            Kind::Array { pointer: true, .. } => parameter_object(self.types, parameter.ty, node, name),
            _ => declaration(self.types, parameter.ty, name),
        };
        self.filler.line(&format!("{declared} = {zero};"));
    }

    fn take_keys(&mut self, plan: &Plan) -> u64 {
        let first = self.next_key;
        self.next_key += plan.n_cells();
        first
    }

    fn add(&mut self, name: &str, c_type: &str, mut key: u64, plan: &Plan) {
        let kind = kind(plan, &mut key);
        explain(name, plan, &mut self.reasons);
        self.roots.push(Node { name: name.to_owned(), c_type: c_type.to_owned(), kind });
    }
}

/// Notes that a number is taken for the number of elements of an array, or of what a pointer points to.
fn is_counted(kind: &mut Kind, by: Key) {
    match kind {
        Kind::Pointer(pointer) => match &mut pointer.reach {
            Reach::Counted(numbers) => numbers.push(by),
            reach @ (Reach::Open | Reach::Text) => *reach = Reach::Counted(vec![by]),
        },
        Kind::Sized(sized) => sized.counted_by.push(by),
        Kind::Scalar(_)
        | Kind::Array { .. }
        | Kind::Struct { .. }
        | Kind::Union(_)
        | Kind::Function(_)
        | Kind::Stream(_)
        | Kind::Results(_)
        | Kind::Sequence { .. }
        | Kind::Optional { .. }
        | Kind::Unsupported { .. } => {}
    }
}

/// Whether an assumption speaks of the parameter.
fn is_assumed(options: &HarnessOptions, name: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    options.assume.iter().any(|text| text.split(|c| !is_word(c)).any(|word| word == name))
}

/// Notes what below `path` is not built.
pub fn explain(path: &str, plan: &Plan, reasons: &mut Vec<String>) {
    match plan {
        Plan::Scalar(_)
        | Plan::BitField { .. }
        | Plan::Pointer { .. }
        | Plan::Function { .. }
        | Plan::Stream { .. } => {}
        Plan::Array { element, .. } | Plan::Sized { element, .. } => {
            explain(&format!("{path}[]"), element, reasons);
        }
        Plan::Struct(members) | Plan::Union { members, .. } => {
            for member in members {
                explain(&format!("{path}.{}", member.name), &member.plan, reasons);
            }
        }
        Plan::Unsupported(reason) => reasons.push(format!("{path}: {reason}")),
    }
}

/// The part of the input that a plan describes; its first cell has the number `key`, which moves behind its last.
pub fn kind(plan: &Plan, key: &mut u64) -> Kind {
    let mut next = || {
        *key += 1;
        Key(*key - 1)
    };
    match plan {
        Plan::Scalar(scalar) | Plan::BitField { scalar, .. } => {
            Kind::Scalar(Cell { key: next(), scalar: scalar.clone() })
        }
        Plan::Array { element, element_type, length, pointer } => {
            let node = |index: u64, key: &mut u64| Node {
                name: format!("[{index}]"),
                c_type: element_type.clone(),
                kind: kind(element, key),
            };
            Kind::Array { elements: (0..*length).map(|index| node(index, key)).collect(), pointer: *pointer }
        }
        Plan::Struct(members) => {
            let node = |member: &super::plan::Member, key: &mut u64| Node {
                name: member.name.clone(),
                c_type: member.c_type.clone(),
                kind: kind(&member.plan, key),
            };
            let mut nodes: Vec<Node> = members.iter().map(|member| node(member, key)).collect();
            for (number, member) in members.iter().enumerate() {
                let Some(by) = nodes[number].kind.scalar().map(|cell| cell.key) else { continue };
                member.counts.iter().for_each(|counted| is_counted(&mut nodes[*counted].kind, by));
            }
            Kind::Struct { members: nodes }
        }
        Plan::Sized { element, element_type, first, least, most, zero_ended } => {
            let element =
                Node { name: String::new(), c_type: element_type.clone(), kind: kind(element, &mut 0) };
            let (first, most, zero_ended) = (*first, *most, *zero_ended);
            Kind::Sized(Sized {
                size: next(),
                first,
                least: *least,
                most,
                element: Box::new(element),
                zero_ended,
                counted_by: Vec::new(),
            })
        }
        Plan::Pointer { target, first, is_constant_text } => {
            let reach = if *is_constant_text { Reach::Text } else { Reach::Open };
            Kind::Pointer(Pointer { choice: next(), first: *first, target: *target, reach })
        }
        Plan::Union { members, first } => {
            let member = |member: &super::plan::Member| Node {
                name: member.name.clone(),
                c_type: member.c_type.clone(),
                kind: kind(&member.plan, &mut 0),
            };
            let members = members.iter().map(member).collect();
            Kind::Union(Union { choice: next(), first: *first as u64, members })
        }
        Plan::Stream { most } => {
            let scalar = Scalar::Char { signed: false };
            let kind = Kind::Scalar(Cell { key: Key(0), scalar });
            let element = Box::new(Node { name: String::new(), c_type: "unsigned char".to_owned(), kind });
            let (size, most, counted_by) = (next(), *most, Vec::new());
            let bytes = Sized { size, first: 0, least: 0, most, element, zero_ended: false, counted_by };
            Kind::Stream(Stream { bytes, is_missing: next() })
        }
        Plan::Function { options } => {
            Kind::Function(Function { choice: next(), first: 1, options: options.clone() })
        }
        Plan::Unsupported(reason) => Kind::Unsupported { reason: reason.clone() },
    }
}
