//! A program ready to run: prepared functions, the code of each function id, globals with their initial bytes.

use super::Limits;
use super::library;
use super::memory::{Layout, Region, State};
use super::prepare::prepare;
use super::step::{Code, Target};
use crate::{FunctionId, GlobalId, Linkage, Program, RelocationTarget};

/// Distance of function addresses.
const FUNCTION_STRIDE: u64 = 16;
/// Variables of the C library that hold the standard streams.
const STREAMS: [&str; 3] = ["stdin", "stdout", "stderr"];

/// A program ready to run.
pub(super) struct Prepared {
    pub(super) layout: Layout,
    pub(super) codes: Vec<Code>,
    /// Runs nothing; the caller of the function that a run starts with.
    pub(super) idle: Code,
    /// Who is behind each function id.
    pub(super) targets: Vec<Target>,
    /// Globals as they are at the start; `None` when they exceed the limit.
    pub(super) globals: Option<Region>,
    /// By global.
    pub(super) addresses: Vec<u64>,
    /// Addresses that stand for the standard streams.
    pub(super) streams: [u64; 3],
}

impl Prepared {
    pub(super) fn new(program: &Program, limits: Limits) -> Self {
        let layout = Layout::of(program.pointer_bits);
        let targets = (0..program.functions.len()).map(|index| target(program, FunctionId::new(index)));
        let mut prepared = Self {
            layout,
            codes: Vec::new(),
            idle: Code::default(),
            targets: targets.collect(),
            globals: None,
            addresses: Vec::new(),
            streams: [0; 3],
        };
        let addresses = prepared.place_globals(program, limits);
        for function in &program.functions {
            let code = prepare(program, &prepared, &addresses, function);
            prepared.codes.push(code);
        }
        prepared.addresses = addresses;
        prepared
    }

    pub(super) fn address_of(&self, function: FunctionId) -> u64 {
        self.layout.functions + u64::from(function.0) * FUNCTION_STRIDE
    }

    pub(super) fn function_at(&self, address: u64) -> Option<Target> {
        let distance = address.checked_sub(self.layout.functions)?;
        let index = usize::try_from(distance / FUNCTION_STRIDE).ok()?;
        if distance.is_multiple_of(FUNCTION_STRIDE) { self.targets.get(index).copied() } else { None }
    }

    /// Gives every global its address and, if they fit the limit, its initial bytes.
    fn place_globals(&mut self, program: &Program, limits: Limits) -> Vec<u64> {
        let total = program.globals.iter().try_fold(0u64, |sum, global| sum.checked_add(global.size));
        if total.is_none_or(|total| total > limits.memory) {
            return vec![0; program.globals.len()];
        }
        let mut region = Region::new(self.layout.globals, self.layout.heap);
        let mut fits = true;
        let mut place = |region: &mut Region, size, align, state| {
            region.place(size, align, state).unwrap_or_else(|| {
                fits = false;
                0
            })
        };
        for stream in &mut self.streams {
            *stream = place(&mut region, 8, 8, State::Live);
        }
        let mut addresses = Vec::new();
        for (index, global) in program.globals.iter().enumerate() {
            let external = global.linkage == Linkage::External && !STREAMS.contains(&global.name.as_str());
            let state = match (external, global.constant) {
                (true, _) => State::Outside(GlobalId::new(index)),
                (false, true) => State::Constant,
                (false, false) => State::Live,
            };
            addresses.push(place(&mut region, global.size, global.align.into(), state));
        }
        if fits {
            self.fill_globals(program, &mut region, &addresses);
            self.globals = Some(region);
        }
        addresses
    }

    fn fill_globals(&self, program: &Program, region: &mut Region, addresses: &[u64]) {
        let pointer_bytes = program.pointer_bits as usize / 8;
        for (global, &base) in program.globals.iter().zip(addresses) {
            region.bytes_of(base, global.bytes.len()).copy_from_slice(&global.bytes);
            for relocation in &global.relocations {
                let target = match relocation.target {
                    RelocationTarget::Global(id) => addresses[id.index()],
                    RelocationTarget::Function(id) => self.address_of(id),
                };
                let value = target.wrapping_add_signed(relocation.addend).to_le_bytes();
                let place = region.bytes_of(base + relocation.offset, pointer_bytes);
                place.copy_from_slice(&value[..pointer_bytes]);
            }
            let stream = STREAMS.iter().position(|name| *name == global.name);
            if let Some(stream) = stream
                && global.linkage == Linkage::External
                && global.size == pointer_bytes as u64
            {
                let value = self.streams[stream].to_le_bytes();
                region.bytes_of(base, pointer_bytes).copy_from_slice(&value[..pointer_bytes]);
            }
        }
    }
}

/// How the names of models of library functions start.
const MODEL_PREFIX: &str = "__quarry_lib_";

fn target(program: &Program, id: FunctionId) -> Target {
    let function = program.function(id);
    // variable arguments are not run, but the functions of the library that have them are known here
    let known =
        function.name.strip_prefix(MODEL_PREFIX).filter(|_| function.variadic).and_then(library::find);
    match (known, function.is_defined()) {
        (Some(native), _) => Target::Native(native),
        (None, true) => Target::Code(id),
        (None, false) => library::find(&function.name).map_or(Target::Missing(id), Target::Native),
    }
}
