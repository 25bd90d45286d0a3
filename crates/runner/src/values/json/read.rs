//! JSON to an input: every form that writing produces, and shorter ones.

use model::input::{
    Cell, Function, Input, Kind, LARGEST, Node, Objects, Pointer, Scalar, Shape, Sized, Union,
};
use serde_json::{Map, Value};

use super::{
    ALIAS, FAILING, SIZE, TEXT, ValueError, float_from_json, is_character, kind, object, size_of_text,
};

/// The input that a JSON object describes.
pub fn from_json(shape: &Shape, value: &Value) -> Result<Input, ValueError> {
    let mut reader = Reader { shape, input: Input::default(), depth: 0, aliases: Vec::new() };
    let roots: Vec<Node> = shape.roots.iter().chain(&shape.stubs).cloned().collect();
    let mut members = object(value, "the input")?.clone();
    if let Some(allocations) = &shape.allocations {
        for number in failing(members.remove(FAILING).as_ref())? {
            if number == 0 || number > allocations.most {
                let value = Value::from(number);
                return Err(kind(FAILING, &format!("numbers from 1 to {}", allocations.most), &value));
            }
            reader.input.values.insert(allocations.choice(number), 1);
        }
    }
    reader.members(&roots, &members, "")?;
    let Reader { mut input, aliases, .. } = reader;
    // all objects are known now, and sharing them makes no new ones
    let objects = Objects::of(shape, &input);
    for Alias { pointer, name, at } in aliases {
        let choice = objects.choice_of(&pointer, &name).ok_or_else(|| {
            let known = objects.names_for(&pointer).join(", ");
            let known = if known.is_empty() { "none before it".to_owned() } else { known };
            ValueError::NoObject { at, name, known }
        })?;
        input.values.insert(pointer.choice, choice);
    }
    Ok(input)
}

/// The numbers of allocations that fail.
pub fn failing(value: Option<&Value>) -> Result<Vec<u64>, ValueError> {
    let Some(value) = value else { return Ok(Vec::new()) };
    let numbers = value.as_array().ok_or_else(|| kind(FAILING, "an array", value))?;
    numbers
        .iter()
        .map(|number| number.as_u64().ok_or_else(|| kind(FAILING, "numbers from 1", number)))
        .collect()
}

/// A pointer that shares the object of the one with this name.
struct Alias {
    pointer: Pointer,
    name: String,
    at: String,
}

/// Reads JSON into an input.
pub(super) struct Reader<'a> {
    shape: &'a Shape,
    pub(super) input: Input,
    /// Pointers that were followed.
    depth: u32,
    aliases: Vec<Alias>,
}

impl Reader<'_> {
    fn members(
        &mut self,
        nodes: &[Node],
        members: &Map<String, Value>,
        path: &str,
    ) -> Result<(), ValueError> {
        if let Some(unknown) = members.keys().find(|name| !nodes.iter().any(|node| node.name == **name)) {
            let known: Vec<_> = nodes.iter().map(|node| node.name.as_str()).collect();
            return Err(ValueError::Unknown { at: join(path, unknown), known: known.join(", ") });
        }
        for node in nodes {
            if let Some(value) = members.get(&node.name) {
                self.node(node, value, &join(path, &node.name))?;
            }
        }
        Ok(())
    }

    pub(super) fn node(&mut self, node: &Node, value: &Value, at: &str) -> Result<(), ValueError> {
        match &node.kind {
            Kind::Scalar(cell) => {
                self.input.values.insert(cell.key, scalar_from_json(cell, value, at)?);
            }
            Kind::Array { elements, .. } => self.array(elements, value, at)?,
            Kind::Struct { members } => self.members(members, object(value, at)?, at)?,
            Kind::Sized(sized) => self.sized(sized, value, at)?,
            Kind::Pointer(pointer) => self.pointer(pointer, value, at)?,
            Kind::Union(union) => self.union(union, value, at)?,
            Kind::Function(function) => {
                let choice = callee_from_json(function, value, at)?;
                self.input.values.insert(function.choice, choice);
            }
            Kind::Results(calls) => {
                let results = value.as_array().ok_or_else(|| kind(at, "an array", value))?;
                for (result, call) in results.iter().zip(0..) {
                    self.node(&calls.result(call), result, &format!("{at}[{call}]"))?;
                }
            }
            Kind::Stream(stream) => {
                self.input.values.insert(stream.is_missing, u64::from(value.is_null()));
                if !value.is_null() {
                    self.sized(&stream.bytes, value, at)?;
                }
            }
            Kind::Sequence { root, results } => self.sequence(*root, results, value, at)?,
            Kind::Optional { present, to } => {
                self.input.values.insert(present.key, u64::from(!value.is_null()));
                if !value.is_null() {
                    self.node(to, value, at)?;
                }
            }
            Kind::Unsupported { .. } if value.is_null() => {}
            Kind::Unsupported { reason } => return Err(kind(at, &format!("null ({reason})"), value)),
        }
        Ok(())
    }

    fn array(&mut self, elements: &[Node], value: &Value, at: &str) -> Result<(), ValueError> {
        let values: Vec<Value> = match value {
            Value::Array(values) => values.clone(),
            Value::String(text) if elements.first().is_some_and(is_character) => {
                let mut values = characters_of(text);
                values.resize(values.len().max(elements.len()), Value::from(0));
                values
            }
            other => return Err(kind(at, "an array", other)),
        };
        if values.len() != elements.len() {
            let (expected, found) = (elements.len(), values.len());
            return Err(ValueError::Length { at: at.to_owned(), expected, found });
        }
        for (element, value) in elements.iter().zip(&values) {
            self.node(element, value, &format!("{at}{}", element.name))?;
        }
        Ok(())
    }

    fn sized(&mut self, sized: &Sized, value: &Value, at: &str) -> Result<(), ValueError> {
        let is_text = is_character(&sized.element);
        let mut values: Vec<Value> = match (value, value.get(TEXT), value.get(SIZE).and_then(Value::as_u64)) {
            (Value::Array(values), ..) => values.clone(),
            (Value::String(text), ..) if is_text => {
                let mut values = characters_of(text);
                values.resize(size_of_text(sized, text) as usize, Value::from(0));
                values
            }
            (Value::Object(_), Some(Value::String(text)), Some(size))
                if is_text && size <= sized.most.max(LARGEST) =>
            {
                let mut values = characters_of(text);
                values.resize(values.len().max(size as usize), Value::from(0));
                values
            }
            (other, ..) => return Err(kind(at, "an array", other)),
        };
        if values.len() as u64 > sized.most.max(LARGEST) {
            let (most, found) = (sized.most.max(LARGEST), values.len());
            return Err(ValueError::TooLong { at: at.to_owned(), most, found });
        }
        self.input.values.insert(sized.size, values.len() as u64);
        for (value, index) in values.iter_mut().zip(0..) {
            let element = sized.element(index);
            self.node(&element, value, &format!("{at}{}", element.name))?;
        }
        Ok(())
    }

    fn union(&mut self, union: &Union, value: &Value, at: &str) -> Result<(), ValueError> {
        let known = || union.members.iter().map(|member| member.name.as_str()).collect::<Vec<_>>().join(", ");
        let members = object(value, at)?;
        let (Some((name, value)), 1) = (members.iter().next(), members.len()) else {
            return Err(kind(at, &format!("an object with one of {}", known()), value));
        };
        let number = union.members.iter().position(|member| member.name == *name);
        let at = join(at, name);
        let Some(number) = number.map(|number| number as u64) else {
            return Err(ValueError::Unknown { at, known: known() });
        };
        self.input.values.insert(union.choice, number);
        union.member(number).map_or(Ok(()), |member| self.node(&member, value, &at))
    }

    fn pointer(&mut self, pointer: &Pointer, value: &Value, at: &str) -> Result<(), ValueError> {
        let alias =
            value.as_object().filter(|members| members.len() == 1).and_then(|members| members.get(ALIAS));
        if let Some(Value::String(name)) = alias {
            self.input.values.insert(pointer.choice, 0);
            self.aliases.push(Alias { pointer: pointer.clone(), name: name.clone(), at: at.to_owned() });
            return Ok(());
        }
        self.input.values.insert(pointer.choice, u64::from(!value.is_null()));
        if value.is_null() {
            return Ok(());
        }
        let max_depth = self.shape.max_depth;
        if self.depth >= max_depth {
            return Err(ValueError::TooDeep { at: at.to_owned(), max_depth });
        }
        self.depth += 1;
        self.node(&self.shape.targets[pointer.target].instance(pointer.choice), value, at)?;
        self.depth -= 1;
        Ok(())
    }
}

/// The choice that makes a pointer point to the function named.
fn callee_from_json(function: &Function, value: &Value, at: &str) -> Result<u64, ValueError> {
    let name = match value {
        Value::Null => return Ok(0),
        Value::String(name) => name,
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => "",
    };
    let names: Vec<String> = function.options.iter().map(ToString::to_string).collect();
    match names.iter().position(|known| known == name) {
        Some(index) => Ok(1 + index as u64),
        None => Err(kind(at, &format!("null or one of {}", names.join(", ")), value)),
    }
}

fn characters_of(text: &str) -> Vec<Value> {
    text.chars().map(|c| Value::from(u32::from(c))).collect()
}

/// The bits of a scalar, zero-extended.
fn scalar_from_json(cell: &Cell, value: &Value, at: &str) -> Result<u64, ValueError> {
    let number = match (&cell.scalar, value) {
        (Scalar::Float { bits }, _) => return float_from_json(*bits, value, at),
        (_, Value::Number(number)) => {
            let wide = number.as_i64().map(i128::from).or(number.as_u64().map(i128::from));
            wide.ok_or_else(|| kind(at, "a whole number", value))?
        }
        (_, Value::Bool(truth)) => i128::from(*truth),
        (Scalar::Enum { enumerators, .. }, Value::String(name)) => {
            let known = || enumerators.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
            let found = enumerators.iter().find(|(enumerator, _)| enumerator == name);
            found.ok_or_else(|| kind(at, &format!("one of {} or a number", known()), value))?.1
        }
        (Scalar::Char { .. }, Value::String(text)) if text.chars().count() == 1 => {
            i128::from(text.chars().next().map_or(0, u32::from))
        }
        (_, other) => return Err(kind(at, "a number", other)),
    };
    let bits = cell.scalar.bits();
    let fits = number >= -(1i128 << (bits - 1)) && number < 1i128 << bits;
    if !fits {
        return Err(ValueError::Range { at: at.to_owned(), number: number.to_string(), bits });
    }
    let mask = u64::MAX >> (64 - bits.min(64));
    Ok(u64::from_le_bytes(number.to_le_bytes()[..8].try_into().expect("eight bytes")) & mask)
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
