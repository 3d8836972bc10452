//! Modules: gates on words and bits, and calls of each other.

use std::ops::Range;

use super::types::Type;

/// An input of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// Name of the input, one of its kind in the module.
    pub name: String,
    /// The party that brings it, if the module is the program's main one: 0 is Alice, 1 is Bob.
    pub owner: u8,
    /// Type of the input.
    pub ty: Type,
}

/// An output of a module, or an argument or return of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Name of the variable.
    pub name: String,
    /// Type of the variable.
    pub ty: Type,
}

/// A call of another module. Arguments and returns are the callee's inputs and outputs of the same names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The module that is called.
    pub callee: String,
    /// Arguments of the call.
    pub arguments: Vec<Variable>,
    /// Results of the call.
    pub returns: Vec<Variable>,
    /// Wires of each argument.
    pub(super) from: Vec<Vec<u32>>,
    /// Pins of each return.
    pub(super) to: Vec<Range<u32>>,
}

/// A gate. Operands are wires; words are numbers modulo 2^width.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the operands are in the variant's line")]
pub enum Gate {
    /// `a & b`
    And(u32, u32),
    /// `a | b`
    Or(u32, u32),
    /// `a ^ b`
    Xor(u32, u32),
    /// `!a`
    Not(u32),
    /// The bit 1.
    One,
    /// `a + b`
    Add(u32, u32),
    /// `a - b`
    Sub(u32, u32),
    /// `a * b`
    Mul(u32, u32),
    /// `-a`
    Neg(u32),
    /// A public word.
    Constant { width: u8, value: u64 },
    /// The word of these bits, the lowest first.
    Combine(Vec<u32>),
    /// The bits of a word, the lowest first: a wire for each.
    Split(u32),
}

/// A module of a HyCC program: checked gates, without what it calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    pub(super) file: String,
    pub(super) name: String,
    pub(super) inputs: Vec<Input>,
    pub(super) outputs: Vec<Variable>,
    pub(super) calls: Vec<Call>,
    pub(super) gates: Vec<Gate>,
    /// Width of each wire: pins of the inputs, of what calls return, then those that gates make.
    pub(super) widths: Vec<u8>,
    /// The first wire of each gate.
    pub(super) first: Vec<u32>,
    /// Pins of each input.
    pub(super) pins: Vec<Range<u32>>,
    /// Wires of each output.
    pub(super) from: Vec<Vec<u32>>,
    /// Gates and calls, each after what it needs.
    pub(super) order: Vec<Item>,
}

/// Items that a module does at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    /// The gate of this number.
    Gate(u32),
    /// The call of this number.
    Call(u32),
}

impl Module {
    /// The file's name, as it was given.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Name that calls refer to: a function with the types of its arguments.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Inputs of the module. Their order means nothing: variants of one module differ in it.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// Outputs of the module.
    pub fn outputs(&self) -> &[Variable] {
        &self.outputs
    }

    /// Calls of the module, in no order that means anything.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// Whether any of its wires is a word.
    pub fn has_words(&self) -> bool {
        self.widths.iter().any(|&width| width > 1)
    }

    /// Whether any of its wires is a bit.
    pub fn has_bits(&self) -> bool {
        self.widths.contains(&1)
    }

    /// Gates of the module itself.
    pub fn gates(&self) -> &[Gate] {
        &self.gates
    }

    /// Bytes of memory that its gates, wires and pins take.
    pub fn bytes(&self) -> u64 {
        let lists = self.gates.iter().map(|gate| match gate {
            Gate::Combine(bits) => size_of_val(&bits[..]),
            _ => 0,
        });
        let joined = self.calls.iter().flat_map(|call| &call.from);
        let joined = joined.chain(&self.from).map(|from| size_of_val(&from[..]));
        let own = size_of_val(&self.gates[..])
            + size_of_val(&self.widths[..])
            + size_of_val(&self.first[..])
            + size_of_val(&self.order[..]);
        (lists.chain(joined).sum::<usize>() + own) as u64
    }
}
