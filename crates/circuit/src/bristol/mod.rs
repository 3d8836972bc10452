//! The two Bristol formats.
//!
//! Both start with `gates wires` and have one gate per line, `#in #out in... out... OP`; the inputs are
//! the first wires, the outputs the last ones.
//!
//! * The old format has one line `n1 n2 n3` of widths: input 1, input 2 (0 if there is none), output.
//!   Operations: XOR, AND, INV (NOT), OR.
//! * Bristol Fashion has two, `count width ... width` for the inputs and likewise for the outputs.
//!   Operations: XOR, AND, INV (NOT), OR, EQ (its operand is a constant), EQW, MAND.
//!
//! Both may have XNOR, NAND and NOR, which synthesis writes: each becomes two gates, with a wire of its own in between.
//! Text after a `#` is a comment.
//!
//! The third line that is not blank tells them apart: only in Bristol Fashion does it hold numbers
//! alone, for every gate ends with a word. File names tell nothing.

mod read;
mod write;

pub(crate) use read::read_part;

use crate::error::HeaderError;
use crate::netlist::MAX_WIRES;

/// Limits of the netlist that a reader accepts. Memory grows with the text itself, never with what a header
/// announces; input widths alone cost no text, so they have a limit of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most gates.
    pub gates: u32,
    /// Most wires; 2^30 at the utmost.
    pub wires: u32,
    /// Most bits of all input values together.
    pub input_bits: u32,
    /// Most input values, and most output values.
    pub values: u32,
    /// Most bytes of memory that a program of HyCC's modules may take with all of its calls, and while it is planned, or a
    /// circuit with branches: there a short text makes much, for the same part may be called many times.
    pub bytes: u64,
}

impl Default for Limits {
    /// 2^27 gates, 2^28 wires, 2^24 input bits, 2^16 values: a text of several gigabytes. 1 GiB for HyCC's programs and for
    /// circuits with branches.
    fn default() -> Self {
        Self {
            gates: 1 << 27,
            wires: 1 << 28,
            input_bits: 1 << 24,
            values: 1 << 16,
            bytes: 1 << 30,
        }
    }
}

/// Checks that a text has no more of something than its reader accepts.
pub(crate) fn within(what: &'static str, found: u64, limit: u32) -> Result<(), HeaderError> {
    let limit = u64::from(limit);
    match found > limit {
        true => Err(HeaderError::Limit { what, found, limit }),
        false => Ok(()),
    }
}

impl Limits {
    pub(crate) fn wires(&self) -> u32 {
        self.wires.min(MAX_WIRES)
    }
}
