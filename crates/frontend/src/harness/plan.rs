//! How the input of a type is built: a plan without keys.
//!
//! What a pointer points to is a *target*, planned once per type, so that types that refer to themselves end. A pointer to
//! scalars or characters is an array whose size varies; a pointer to a structure is one object, or such an array when a
//! number beside it counts its elements.

use model::ctype::{CMember, CSignature, CType, CTypeId, CTypeKind, CTypes};
use model::input::{Callee, Scalar};

use super::couple::{Part, Role, couplings};
use super::{DEFAULT_LENGTH, HarnessOptions};

/// More cells than this are no input a search can handle, and the tree would eat the memory.
const CELL_LIMIT: u64 = 1 << 16;

/// Nesting of structures; types cannot contain themselves, so this only bounds strange code.
const DEPTH_LIMIT: usize = 32;

/// Functions of the program that a pointer chooses from.
const MAX_FUNCTIONS: usize = 8;

/// A type's cells without keys: built once per element type, then repeated.
pub enum Plan {
    Scalar(Scalar),
    BitField {
        scalar: Scalar,
        ty: CTypeId,
    },
    Array {
        element: Box<Plan>,
        element_type: String,
        length: u64,
        pointer: bool,
    },
    Struct(Vec<Member>),
    Sized {
        element: Box<Plan>,
        element_type: String,
        first: u64,
        least: u64,
        most: u64,
        zero_ended: bool,
    },
    Pointer {
        target: usize,
        first: u64,
        /// Whether it points to a text that the function may not change: its end is a limit.
        is_constant_text: bool,
    },
    Union {
        members: Vec<Member>,
        first: usize,
    },
    Function {
        options: Vec<Callee>,
    },
    /// A stream over an input file of at most that many bytes.
    Stream {
        most: u64,
    },
    Unsupported(String),
}

/// A member of a structure.
pub struct Member {
    pub name: String,
    pub c_type: String,
    pub plan: Plan,
    /// The members whose elements it counts.
    pub counts: Vec<usize>,
}

/// What some pointers point to.
pub struct Target {
    pub ty: CTypeId,
    /// The type of one element, as C writes it.
    pub element_type: String,
    pub is_array: bool,
    pub plan: Plan,
}

/// A function made for pointers to functions.
pub struct CallbackStub {
    pub signature: CSignature,
    /// The type, as C writes it.
    pub c_type: String,
    pub result: Plan,
}

/// Plans for types, and the targets and stubs that they need.
pub struct Planner<'a> {
    pub types: &'a CTypes,
    pub options: &'a HarnessOptions,
    pub targets: Vec<Target>,
    pub stubs: Vec<CallbackStub>,
    /// The functions that the harness can name, with their types.
    functions: Vec<(&'a str, &'a str)>,
    /// Whether pointers get something to point to.
    pub follows_pointers: bool,
}

impl<'a> Planner<'a> {
    pub fn new(types: &'a CTypes, options: &'a HarnessOptions, functions: Vec<(&'a str, &'a str)>) -> Self {
        Self { types, options, targets: Vec::new(), stubs: Vec::new(), functions, follows_pointers: true }
    }

    /// A pointer to a function: one that returns inputs, or one of the program's own of the same type.
    fn function(&mut self, signature: &CSignature, c_type: &str) -> Plan {
        let mut options = Vec::new();
        if !signature.variadic {
            let known = |stub: &CallbackStub| stub.signature.canonical == signature.canonical;
            let number = self.stubs.iter().position(known).unwrap_or_else(|| {
                let result = match self.types[signature.result].kind {
                    // what a pointer would point to exists before the run only
                    CTypeKind::Pointer { .. } | CTypeKind::Void => Plan::Unsupported(String::new()),
                    _ => match self.plan(signature.result, 0) {
                        plan @ Plan::Scalar(_) => plan,
                        _ => Plan::Unsupported(String::new()),
                    },
                };
                let c_type = c_type.to_owned();
                self.stubs.push(CallbackStub { signature: signature.clone(), c_type, result });
                self.stubs.len() - 1
            });
            options.push(Callee::Stub(number));
        }
        let alike = self.functions.iter().filter(|(_, canonical)| *canonical == signature.canonical);
        options.extend(alike.take(MAX_FUNCTIONS).map(|(name, _)| Callee::Function((*name).to_owned())));
        if options.is_empty() {
            Plan::Unsupported("pointer to a variadic function".to_owned())
        } else {
            Plan::Function { options }
        }
    }

    /// A union: its largest member without pointers covers what the others hold; the others are tried later.
    fn union(&mut self, members: &[CMember], depth: usize) -> Plan {
        let mut parts = Vec::new();
        for member in members.iter().filter(|member| !member.name.is_empty() && member.bit_field.is_none()) {
            let plan = self.plan(member.ty, depth + 1);
            if plan.n_cells() > 0 {
                let c_type = self.types[member.ty].spelling.clone();
                parts.push(Member { name: member.name.clone(), c_type, plan, counts: Vec::new() });
            }
        }
        let first = (0..parts.len()).rev().max_by_key(|index| parts[*index].plan.n_bits());
        match first {
            Some(first) => Plan::Union { members: parts, first },
            None => Plan::Unsupported("union of nothing that is built".to_owned()),
        }
    }

    /// An object behind a pointer may end in an array whose size varies.
    fn with_tail(&mut self, ty: CTypeId, plan: Plan) -> Plan {
        let CTypeKind::Struct { members, union: false } = &self.types[ty].kind else { return plan };
        let Some(CMember { ty: last, name, .. }) = members.last() else { return plan };
        let CTypeKind::Array { element, length: None | Some(0) } = self.types[*last].kind else {
            return plan;
        };
        let Plan::Struct(mut parts) = plan else { return plan };
        let planned = self.plan(element, 1);
        let element_type = self.types[element].spelling.clone();
        if let Some(tail) = parts.last_mut()
            && tail.name == *name
            && planned.n_cells() > 0
        {
            let most = self.options.max_length;
            let first = DEFAULT_LENGTH.min(most);
            let element = Box::new(planned);
            tail.plan = Plan::Sized { element, element_type, first, least: 0, most, zero_ended: false };
            let at = parts.len() - 1;
            let counts = self.counting_members(members);
            for (member, counts) in members.iter().zip(counts) {
                if counts.contains(&(members.len() - 1))
                    && let Some(part) = parts.iter_mut().find(|part| part.name == member.name)
                {
                    part.counts = vec![at];
                }
            }
        }
        Plan::Struct(parts)
    }

    /// The elements of a pointer parameter whose number is fixed.
    pub fn fixed(&mut self, to: CTypeId, length: u64) -> Plan {
        let target = &self.types[to];
        let element = match self.pointee(to) {
            Ok(element) => element,
            Err(reason) => return Plan::Unsupported(reason),
        };
        let element_type = target.spelling.clone();
        limited(Plan::Array { element: Box::new(element), element_type, length, pointer: true })
    }

    /// A pointer. `first` is what it is when the input does not say; `counted` whether a number says how many there are.
    pub fn pointer(&mut self, to: CTypeId, to_const: bool, first: u64, counted: bool) -> Plan {
        let is_constant_text = to_const && self.types[to].is_text();
        if !self.follows_pointers {
            return Plan::Unsupported(format!("pointer to {}", self.types[to].spelling));
        }
        if let CTypeKind::Function(signature) = &self.types[to].kind {
            return self.function(signature, &self.types[to].spelling);
        }
        let is_array = counted || !self.is_object(to);
        let known = |target: &Target| self.is_same(target.ty, to) && target.is_array == is_array;
        if let Some(target) = self.targets.iter().position(known) {
            return self.pointer_to(target, first, is_constant_text);
        }
        let target = self.targets.len();
        let pointee = &self.types[to];
        let element_type = match pointee.kind {
            CTypeKind::Void => "unsigned char".to_owned(),
            _ => pointee.spelling.clone(),
        };
        // known before it is planned: the type may refer to itself
        let unplanned = Plan::Unsupported(String::new());
        self.targets.push(Target { ty: to, element_type: element_type.clone(), is_array, plan: unplanned });
        let plan = match self.pointee(to) {
            Ok(plan) if is_array => self.sized(to, plan, element_type),
            Ok(plan) => self.with_tail(to, plan),
            Err(reason) => Plan::Unsupported(reason),
        };
        self.targets[target].plan = plan;
        self.pointer_to(target, first, is_constant_text)
    }

    /// A pointer to a known target; while that is being planned, nothing speaks against it.
    fn pointer_to(&self, target: usize, first: u64, is_constant_text: bool) -> Plan {
        match &self.targets[target].plan {
            Plan::Unsupported(reason) if !reason.is_empty() => Plan::Unsupported(reason.clone()),
            _ => Plan::Pointer { target, first, is_constant_text },
        }
    }

    /// Whether two names are names of one type.
    fn is_same(&self, a: CTypeId, b: CTypeId) -> bool {
        let (named, other) = (&self.types[a], &self.types[b]);
        a == b || (named.identity != 0 && named.identity == other.identity && named.size == other.size)
    }

    fn sized(&self, to: CTypeId, element: Plan, element_type: String) -> Plan {
        let most = self.options.max_length;
        let first = match element {
            Plan::Pointer { .. } => 2,
            _ if self.is_object(to) => 1,
            _ => DEFAULT_LENGTH,
        };
        let zero_ended = self.types[to].is_text() || matches!(element, Plan::Pointer { .. });
        // with nothing behind it, the function could not even look
        let least = u64::from(!zero_ended).min(most);
        let first = first.clamp(least, most);
        Plan::Sized { element: Box::new(element), element_type, first, least, most, zero_ended }
    }

    /// A stream, if a pointer to this type is one.
    pub fn stream(&self, to: CTypeId) -> Option<Plan> {
        let is_stream = matches!(self.types[to].spelling.as_str(), "FILE" | "struct _IO_FILE");
        is_stream.then_some(Plan::Stream { most: self.options.max_length })
    }

    /// Whether a pointer to it is meant to point to one of them.
    fn is_object(&self, ty: CTypeId) -> bool {
        matches!(self.types[ty].kind, CTypeKind::Struct { .. })
    }

    /// One element of what a pointer points to, or why there is none.
    fn pointee(&mut self, to: CTypeId) -> Result<Plan, String> {
        let target = &self.types[to];
        let plan = match &target.kind {
            CTypeKind::Void => Plan::Scalar(Scalar::Char { signed: false }),
            _ if target.spelling.contains("*(void *)0") => {
                return Err("pointer to a type without a name".to_owned());
            }
            _ if target.size == 0 => return Err(format!("pointer to incomplete type {}", target.spelling)),
            _ => self.plan(to, 0),
        };
        match plan {
            Plan::Unsupported(reason) => Err(format!("pointer to {reason}")),
            plan => Ok(plan),
        }
    }

    /// A value of the type.
    pub fn plan(&mut self, ty: CTypeId, depth: usize) -> Plan {
        let id = ty;
        let ty = &self.types[ty];
        if depth > DEPTH_LIMIT {
            return Plan::Unsupported("structure nested too deeply".to_owned());
        }
        match &ty.kind {
            CTypeKind::Bool | CTypeKind::Char { .. } | CTypeKind::Integer { .. } | CTypeKind::Enum { .. } => {
                match scalar(ty) {
                    Some(scalar) if scalar.bits() <= 64 => Plan::Scalar(scalar),
                    _ => Plan::Unsupported(ty.spelling.clone()),
                }
            }
            CTypeKind::Array { element, length: Some(length) } => match self.plan(*element, depth + 1) {
                Plan::Unsupported(reason) => Plan::Unsupported(format!("array of {reason}")),
                plan => limited(Plan::Array {
                    element: Box::new(plan),
                    element_type: self.types[*element].spelling.clone(),
                    length: *length,
                    pointer: false,
                }),
            },
            CTypeKind::Array { length: None, .. } => Plan::Unsupported("array of unknown length".to_owned()),
            CTypeKind::Struct { members, union: false } => limited(self.structure(id, members, depth)),
            CTypeKind::Struct { members, union: true } => limited(self.union(members, depth)),
            CTypeKind::Pointer { to, const_target } => self.pointer(*to, *const_target, 1, false),
            CTypeKind::Float { bits: bits @ (32 | 64) } => Plan::Scalar(Scalar::Float { bits: *bits }),
            CTypeKind::Float { .. } => Plan::Unsupported(format!("floating-point {}", ty.spelling)),
            CTypeKind::Void | CTypeKind::Function(_) | CTypeKind::Other => {
                Plan::Unsupported(ty.spelling.clone())
            }
        }
    }

    fn structure(&mut self, id: CTypeId, members: &[CMember], depth: usize) -> Plan {
        let counts = self.counting_members(members);
        let mut parts = Vec::new();
        // where each member went, of those that went anywhere
        let mut places: Vec<Option<usize>> = Vec::new();
        for (index, member) in members.iter().enumerate() {
            let ty = &self.types[member.ty];
            places.push(None);
            let plan = match (member.bit_field, &ty.kind) {
                // A bit-field without a name is padding.
                (Some(_), _) if member.name.is_empty() => continue,
                (Some(_), _) if member.is_const => Plan::Unsupported("constant bit-field".to_owned()),
                (Some(width), _) => match scalar(ty) {
                    Some(scalar) => Plan::BitField { scalar: narrowed(scalar, width), ty: member.ty },
                    None => Plan::Unsupported(ty.spelling.clone()),
                },
                (None, CTypeKind::Pointer { to, const_target }) => {
                    let counted = counts.iter().any(|counts| counts.contains(&index));
                    // a way back to the structure itself would have no end
                    let first = u64::from(!self.reaches(*to, id));
                    self.pointer(*to, *const_target, first, counted)
                }
                (None, _) => self.plan(member.ty, depth + 1),
            };
            let c_type = ty.spelling.clone();
            match (member.name.is_empty(), plan) {
                // Members of an anonymous structure belong to the one around it.
                (true, Plan::Struct(inner)) => {
                    let moved = parts.len();
                    parts.extend(inner.into_iter().map(|mut member: Member| {
                        member.counts.iter_mut().for_each(|count| *count += moved);
                        member
                    }));
                }
                (is_anonymous, plan) => {
                    let n_before = parts.iter().filter(|part: &&Member| part.name.starts_with('(')).count();
                    let name = match (is_anonymous, n_before) {
                        (false, _) => member.name.clone(),
                        (true, 0) => "(union)".to_owned(),
                        (true, n) => format!("(union {})", n + 1),
                    };
                    places[index] = Some(parts.len());
                    parts.push(Member { name, c_type, plan, counts: Vec::new() });
                }
            }
        }
        let is_pointer = |place: &usize| matches!(parts[*place].plan, Plan::Pointer { .. });
        let placed = |counted: &usize| places[*counted].filter(is_pointer);
        let counted: Vec<Vec<usize>> =
            counts.iter().map(|counts| counts.iter().filter_map(placed).collect()).collect();
        for (place, counts) in places.iter().zip(counted) {
            if let Some(place) = place {
                parts[*place].counts = counts;
            }
        }
        Plan::Struct(parts)
    }

    /// For each member, the members whose elements it counts; only those before it.
    fn counting_members(&self, members: &[CMember]) -> Vec<Vec<usize>> {
        if !self.options.couple {
            return vec![Vec::new(); members.len()];
        }
        let part = |member: &'_ CMember| {
            let role = if member.bit_field.is_some() { Role::Other } else { self.role(member.ty) };
            (member.name.clone(), role)
        };
        let named: Vec<_> = members.iter().map(part).collect();
        let parts: Vec<_> = named.iter().map(|(name, role)| Part { name, role: *role }).collect();
        couplings(&parts)
    }

    /// What a parameter or member of this type may be in a pair of pointer and length.
    pub fn role(&self, ty: CTypeId) -> Role<CTypeId> {
        match &self.types[ty].kind {
            CTypeKind::Pointer { to, .. } => {
                let target = &self.types[*to];
                match target.kind {
                    CTypeKind::Function(_) | CTypeKind::Other => Role::Other,
                    CTypeKind::Void => Role::Array(*to, false),
                    _ if target.size == 0 => Role::Other,
                    _ => Role::Array(*to, target.is_text()),
                }
            }
            CTypeKind::Integer { bits, .. } if *bits <= 64 => Role::Integer,
            CTypeKind::Char { .. }
                if scalar(&self.types[ty]).is_some_and(|s| !matches!(s, Scalar::Char { .. })) =>
            {
                Role::Integer
            }
            CTypeKind::Array { element, length: None | Some(0) } => Role::Array(*element, false),
            _ => Role::Other,
        }
    }

    /// Whether pointers lead from one type to another.
    fn reaches(&self, from: CTypeId, to: CTypeId) -> bool {
        let mut seen = vec![from];
        let mut next = 0;
        while let Some(ty) = seen.get(next).copied() {
            if self.is_same(ty, to) {
                return true;
            }
            next += 1;
            let inner: Vec<CTypeId> = match &self.types[ty].kind {
                CTypeKind::Pointer { to, .. } => vec![*to],
                CTypeKind::Array { element, .. } => vec![*element],
                CTypeKind::Struct { members, .. } => members.iter().map(|member| member.ty).collect(),
                CTypeKind::Void
                | CTypeKind::Bool
                | CTypeKind::Char { .. }
                | CTypeKind::Integer { .. }
                | CTypeKind::Enum { .. }
                | CTypeKind::Float { .. }
                | CTypeKind::Function(_)
                | CTypeKind::Other => Vec::new(),
            };
            seen.extend(inner.into_iter().filter(|ty| !seen.contains(ty)).collect::<Vec<_>>());
        }
        false
    }
}

impl Plan {
    /// How many cells of its own it has; what exists in some runs only is not among them.
    pub fn n_cells(&self) -> u64 {
        match self {
            Self::Scalar(_)
            | Self::BitField { .. }
            | Self::Sized { .. }
            | Self::Pointer { .. }
            | Self::Union { .. }
            | Self::Function { .. } => 1,
            // its size, and whether it is there
            Self::Stream { .. } => 2,
            Self::Array { element, length, .. } => element.n_cells().saturating_mul(*length),
            Self::Struct(members) => {
                members.iter().fold(0, |sum, member| sum.saturating_add(member.plan.n_cells()))
            }
            Self::Unsupported(_) => 0,
        }
    }
}

impl Plan {
    /// How many bits of values it holds, without what varies in size or is no value.
    fn n_bits(&self) -> u64 {
        match self {
            Self::Scalar(scalar) | Self::BitField { scalar, .. } => u64::from(scalar.bits()),
            Self::Array { element, length, .. } => element.n_bits().saturating_mul(*length),
            Self::Struct(members) => members.iter().map(|member| member.plan.n_bits()).sum(),
            Self::Union { members, first } => members[*first].plan.n_bits(),
            Self::Sized { .. }
            | Self::Pointer { .. }
            | Self::Function { .. }
            | Self::Stream { .. }
            | Self::Unsupported(_) => 0,
        }
    }
}

/// Refuses what has too many cells.
fn limited(plan: Plan) -> Plan {
    if plan.n_cells() <= CELL_LIMIT {
        return plan;
    }
    Plan::Unsupported(format!("{} cells, more than {CELL_LIMIT}", plan.n_cells()))
}

fn scalar(ty: &CType) -> Option<Scalar> {
    match &ty.kind {
        CTypeKind::Bool => Some(Scalar::Bool),
        CTypeKind::Char { signed } if ty.spelling.contains("char") => Some(Scalar::Char { signed: *signed }),
        // `uint8_t` and the like are meant as numbers.
        CTypeKind::Char { signed } => Some(Scalar::Integer { bits: 8, signed: *signed }),
        CTypeKind::Integer { bits, signed } => Some(Scalar::Integer { bits: *bits, signed: *signed }),
        CTypeKind::Enum { bits, signed, enumerators } => {
            Some(Scalar::Enum { bits: *bits, signed: *signed, enumerators: enumerators.clone() })
        }
        CTypeKind::Void
        | CTypeKind::Float { .. }
        | CTypeKind::Pointer { .. }
        | CTypeKind::Array { .. }
        | CTypeKind::Struct { .. }
        | CTypeKind::Function(_)
        | CTypeKind::Other => None,
    }
}

/// A bit-field holds a number of its width, whatever its type.
fn narrowed(scalar: Scalar, width: u32) -> Scalar {
    match scalar {
        Scalar::Bool => Scalar::Bool,
        Scalar::Char { signed } | Scalar::Integer { signed, .. } => Scalar::Integer { bits: width, signed },
        Scalar::Enum { signed, enumerators, .. } => Scalar::Enum { bits: width, signed, enumerators },
        Scalar::Float { bits } => Scalar::Float { bits }, // C has no such bit-fields
    }
}
