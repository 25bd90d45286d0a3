//! The header and the fixed-size records around the nodes and the log.

/// "QRRY" in little-endian.
pub const MAGIC: u32 = 0x5952_5251;
/// Changes whenever the layout does.
pub const WIRE_VERSION: u32 = 5;
/// Bytes reserved for the header.
pub const HEADER_SIZE: usize = 4096;
/// Where the records of tries lie.
pub const TRY_OFFSET: u64 = 4096;
/// Bytes of the record of a try.
pub const TRY_SIZE: usize = 16;
/// Tries that there is room for.
pub const MAX_TRIES: usize = 256;
/// Bytes of path log after which a try is cut off: no multiple of 256, because counters wrap.
pub const LONGEST_TRY: u32 = 1_000_000;
/// Bytes of an input record.
pub const INPUT_SIZE: usize = 16;
/// Bytes of a cell record.
pub const CELL_SIZE: usize = 32;

/// Byte offsets of the header's fields.
pub mod field {
    pub const MAGIC: usize = 0;
    pub const VERSION: usize = 4;
    pub const FLAGS: usize = 8;
    pub const N_INPUTS: usize = 12;
    pub const INPUT_OFFSET: usize = 16;
    pub const CELL_OFFSET: usize = 24;
    pub const NODE_OFFSET: usize = 32;
    pub const LOG_OFFSET: usize = 40;
    pub const TOTAL_SIZE: usize = 48;
    pub const INPUT_CAPACITY: usize = 56;
    pub const CELL_CAPACITY: usize = 60;
    pub const NODE_CAPACITY: usize = 64;
    pub const N_TRIES: usize = 68;
    pub const LOG_CAPACITY: usize = 72;
    pub const MEMORY_LIMIT: usize = 80;
    pub const FILE_LIMIT: usize = 88;
    pub const CPU_LIMIT_MS: usize = 96;
    pub const STATE: usize = 104;
    pub const MARKS: usize = 108;
    pub const N_CELLS: usize = 112;
    pub const N_NODES: usize = 116;
    pub const LOG_LENGTH: usize = 120;
    pub const EXIT_CODE: usize = 128;
    pub const N_TRIED: usize = 132;
    pub const FAULT_ADDRESS: usize = 136;
    pub const OUTSIDE_OFFSET: usize = 144;
    pub const OUTSIDE_SIZE: usize = 152;
    pub const OUTSIDE_BYTES: usize = 160;
    pub const OUTSIDE_OBJECT: usize = 164;
    pub const OUTSIDE_PLACE: usize = 168;
    pub const FRESH_REASON: usize = 172;
    pub const FRESH_DETAIL: usize = 176;
    pub const END: usize = 184;
}

/// What the engine asks of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Make input cells symbolic.
    pub symbolic: bool,
    /// Log where variables lie and pointers lead.
    pub addresses: bool,
    /// One try per process.
    pub alone: bool,
}

impl Flags {
    /// The header's encoding.
    pub fn bits(self) -> u32 {
        u32::from(self.symbolic) | u32::from(self.addresses) << 1 | u32::from(self.alone) << 2
    }
}

/// How far a run came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// Not started.
    Ready,
    /// Under way, or ended by a signal.
    Started,
    /// The harness or `main` came back.
    Returned,
    /// The program called `exit`.
    Exited,
    /// The stack ran out.
    StackOverflow,
}

impl RunState {
    /// Decodes the header's field.
    pub fn decode(bits: u32) -> Option<Self> {
        Some(match bits {
            0 => Self::Ready,
            1 => Self::Started,
            2 => Self::Returned,
            3 => Self::Exited,
            4 => Self::StackOverflow,
            _ => return None,
        })
    }
}

/// What went short in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// No more expression nodes: the rest of the run was concrete.
    pub nodes_full: bool,
    /// No more path log: the trace ends early.
    pub log_full: bool,
    /// No more cells: later ones were concrete.
    pub cells_full: bool,
    /// An allocation failed under the memory limit.
    pub out_of_memory: bool,
    /// Uninstrumented code wrote over symbolic bytes.
    pub overwritten: bool,
    /// The program asked for a thread or process and was refused.
    pub threads: bool,
    /// A read at a symbolic address had too many entries for a table.
    pub large_object: bool,
    /// An access went outside of its object.
    pub out_of_bounds: bool,
    /// An assumption of the program did not hold: the run counts for nothing.
    pub rejected: bool,
    /// The program itself asked for its abnormal end: the log is whole.
    pub aborts: bool,
}

impl Marks {
    /// Decodes the header's field.
    pub fn decode(bits: u32) -> Self {
        let bit = |k: u32| bits >> k & 1 != 0;
        Self {
            nodes_full: bit(0),
            log_full: bit(1),
            cells_full: bit(2),
            out_of_memory: bit(3),
            overwritten: bit(4),
            threads: bit(5),
            large_object: bit(6),
            out_of_bounds: bit(7),
            rejected: bit(8),
            aborts: bit(9),
        }
    }
}

/// What a run does that is not undone when its process runs again, or why a process cannot run again at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NotUndone {
    /// It opens files, or uses others than the standard streams.
    File,
    /// It handles signals or sets timers.
    Signal,
    /// It asks for a thread or a process.
    Thread,
    /// It maps memory in a way that is not undone.
    Mapping,
    /// It makes the system call of this number.
    Call(u32),
    /// There are so many KiB of memory to set back.
    TooLarge(u32),
    /// Memory lies in too many places, or these are not known.
    Regions,
    /// Memory is shared with other processes.
    Shared,
    /// The kernel lacks what is needed.
    Kernel,
}

impl NotUndone {
    /// Decodes the header's fields; `None` when nothing is to be told.
    pub fn decode(reason: u32, detail: u32) -> Option<Self> {
        Some(match reason {
            0 => return None,
            1 => Self::File,
            2 => Self::Signal,
            3 => Self::Thread,
            4 => Self::Mapping,
            6 => Self::TooLarge(detail),
            7 => Self::Regions,
            8 => Self::Shared,
            9 => Self::Kernel,
            _ => Self::Call(detail),
        })
    }

    /// Whether it holds for every run of the program.
    pub fn is_final(self) -> bool {
        match self {
            Self::TooLarge(_) | Self::Regions | Self::Shared | Self::Kernel => true,
            Self::File | Self::Signal | Self::Thread | Self::Mapping | Self::Call(_) => false,
        }
    }
}

/// What kind of object an access belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ObjectKind {
    Global,
    Local,
    Heap,
    /// A table of the C library.
    Foreign,
}

impl ObjectKind {
    /// Decodes the header's field.
    pub fn decode(bits: u32) -> Option<Self> {
        Some(match bits {
            1 => Self::Global,
            2 => Self::Local,
            3 => Self::Heap,
            4 => Self::Foreign,
            _ => return None,
        })
    }
}

/// An access outside of the object it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Outside {
    pub object: ObjectKind,
    /// Size of the object in bytes.
    pub size: u64,
    /// Where the access begins, from the start of the object.
    pub offset: i64,
    /// Bytes accessed.
    pub bytes: u32,
    pub is_write: bool,
    /// Number of the span of the access.
    pub place: u32,
}

impl Outside {
    const WRITE: u32 = 1 << 31;

    fn decode(page: &[u8]) -> Option<Self> {
        let bytes = u32_at(page, field::OUTSIDE_BYTES);
        Some(Self {
            object: ObjectKind::decode(u32_at(page, field::OUTSIDE_OBJECT))?,
            size: u64_at(page, field::OUTSIDE_SIZE),
            offset: u64_at(page, field::OUTSIDE_OFFSET).cast_signed(),
            bytes: bytes & !Self::WRITE,
            is_write: bytes & Self::WRITE != 0,
            place: u32_at(page, field::OUTSIDE_PLACE).checked_sub(1)?,
        })
    }
}

/// A value for the cell of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputRecord {
    /// Key of the cell.
    pub key: u64,
    /// Its bits, zero-extended.
    pub value: u64,
}

impl InputRecord {
    /// The record's bytes.
    pub fn encode(self) -> [u8; INPUT_SIZE] {
        let mut bytes = [0; INPUT_SIZE];
        bytes[..8].copy_from_slice(&self.key.to_le_bytes());
        bytes[8..].copy_from_slice(&self.value.to_le_bytes());
        bytes
    }
}

/// The record of a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TryRecord {
    /// The first of its input records.
    pub first_input: u32,
    /// How many it has.
    pub n_inputs: u32,
    /// What came of it; `None` when it has not been tried.
    pub verdict: Option<TryVerdict>,
    /// Bytes of its path log.
    pub n_logged: u32,
}

/// What came of a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryVerdict {
    /// It did nothing that no run before it did.
    Known,
    New,
}

impl TryRecord {
    /// The record's bytes.
    pub fn encode(self) -> [u8; TRY_SIZE] {
        let verdict = match self.verdict {
            None => 0,
            Some(TryVerdict::Known) => 1,
            Some(TryVerdict::New) => 2,
        };
        let mut bytes = [0; TRY_SIZE];
        for (at, word) in [self.first_input, self.n_inputs, verdict, self.n_logged].into_iter().enumerate() {
            bytes[4 * at..4 * at + 4].copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Decodes a record; a verdict of no meaning is none.
    pub fn decode(bytes: &[u8; TRY_SIZE]) -> Self {
        Self {
            first_input: u32_at(bytes, 0),
            n_inputs: u32_at(bytes, 4),
            verdict: match u32_at(bytes, 8) {
                1 => Some(TryVerdict::Known),
                2 => Some(TryVerdict::New),
                _ => None,
            },
            n_logged: u32_at(bytes, 12),
        }
    }
}

/// A cell a run asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Key of the cell.
    pub key: u64,
    /// The value it had.
    pub value: u64,
    /// Its input node, 0 when concrete.
    pub node: u32,
    /// Width in bits.
    pub width: u32,
    /// What it is for.
    pub kind: CellKind,
}

/// What a cell is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CellKind {
    /// A value like any other.
    #[default]
    Value,
    /// A number of elements; never symbolic.
    Size { most: u32 },
    /// Which of so many things is there.
    Choice { n_options: u32 },
    /// The same, but never symbolic.
    Option { n_options: u32 },
    /// A number of things that conditions of the program speak of.
    Count { most: u32 },
}

impl CellKind {
    /// Decodes the record's fields; a kind of no meaning is a value.
    fn decode(kind: u32, limit: u32) -> Self {
        match kind {
            1 => Self::Size { most: limit },
            2 => Self::Choice { n_options: limit },
            3 => Self::Option { n_options: limit },
            4 => Self::Count { most: limit },
            _ => Self::Value,
        }
    }
}

impl Cell {
    /// Decodes a record.
    pub fn decode(bytes: &[u8; CELL_SIZE]) -> Self {
        Self {
            key: u64_at(bytes, 0),
            value: u64_at(bytes, 8),
            node: u32_at(bytes, 16),
            width: u32_at(bytes, 20),
            kind: CellKind::decode(u32_at(bytes, 24), u32_at(bytes, 28)),
        }
    }
}

/// Where the parts of the shared memory lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Input records there is room for.
    pub input_capacity: u32,
    /// Cell records there is room for.
    pub cell_capacity: u32,
    /// Nodes there is room for (ids run from 1).
    pub node_capacity: u32,
    /// Bytes of path log there is room for.
    pub log_capacity: u64,
}

impl Default for Layout {
    /// Room for long runs; the memory is only taken when touched.
    fn default() -> Self {
        Self {
            input_capacity: 1 << 20,
            cell_capacity: 1 << 20,
            node_capacity: 1 << 25,
            log_capacity: 1 << 28,
        }
    }
}

impl Layout {
    /// Offset of the input records.
    pub fn input_offset(&self) -> u64 {
        page(TRY_OFFSET + (MAX_TRIES * TRY_SIZE) as u64)
    }

    /// Offset of the cell records.
    pub fn cell_offset(&self) -> u64 {
        page(self.input_offset() + u64::from(self.input_capacity) * INPUT_SIZE as u64)
    }

    /// Offset of node 0, which is never used.
    pub fn node_offset(&self) -> u64 {
        page(self.cell_offset() + u64::from(self.cell_capacity) * CELL_SIZE as u64)
    }

    /// Offset of the path log.
    pub fn log_offset(&self) -> u64 {
        page(self.node_offset() + (u64::from(self.node_capacity) + 1) * crate::NODE_SIZE as u64)
    }

    /// Bytes in all.
    pub fn total_size(&self) -> u64 {
        page(self.log_offset() + self.log_capacity)
    }
}

fn page(bytes: u64) -> u64 {
    bytes.next_multiple_of(4096)
}

/// The part of the header a run writes, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// How far the run came; `None` when the field holds no known state.
    pub state: Option<RunState>,
    /// What went short.
    pub marks: Marks,
    /// Cells asked for.
    pub n_cells: u32,
    /// Nodes made.
    pub n_nodes: u32,
    /// Bytes of path log.
    pub log_length: u64,
    /// Argument of `exit`.
    pub exit_code: i32,
    /// Tries that came to an end.
    pub n_tried: u32,
    /// Address of a faulting access, 0 if none.
    pub fault_address: u64,
    /// The first access that is known to have gone outside of its object.
    pub outside: Option<Outside>,
    /// Why the run was given up and needs a process of its own.
    pub not_undone: Option<NotUndone>,
}

impl Header {
    /// Decodes the header page.
    pub fn decode(page: &[u8]) -> Self {
        let marks = Marks::decode(u32_at(page, field::MARKS));
        Self {
            state: RunState::decode(u32_at(page, field::STATE)),
            marks,
            n_cells: u32_at(page, field::N_CELLS),
            n_nodes: u32_at(page, field::N_NODES),
            log_length: u64_at(page, field::LOG_LENGTH),
            exit_code: u32_at(page, field::EXIT_CODE).cast_signed(),
            n_tried: u32_at(page, field::N_TRIED),
            fault_address: u64_at(page, field::FAULT_ADDRESS),
            outside: if marks.out_of_bounds { Outside::decode(page) } else { None },
            not_undone: NotUndone::decode(
                u32_at(page, field::FRESH_REASON),
                u32_at(page, field::FRESH_DETAIL),
            ),
        }
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}
