//! Protocols of nodes, and the stages in which nodes are computed at once.
//!
//! A node's *stage* counts the changes of protocol and the layers of products before it. Gates of one
//! protocol and one stage become one circuit, products of one stage one operation; sums cost nothing and
//! stay in the stage of their operands.

use madrigal_circuit::hycc::{BitSharing, Flat, Op};
use madrigal_engine::Sharing;
use madrigal_operations::Backend;

/// A protocol for bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BitProtocol {
    /// Boolean GMW.
    B,
    /// Circuits that all parties garble.
    Y,
    /// Circuits that party 0 garbles and party 1 evaluates.
    Y2,
}

impl BitProtocol {
    /// Letter of the protocol.
    pub const fn letter(self) -> &'static str {
        self.sharing().name()
    }

    /// Sharing of the protocol's bits.
    pub const fn sharing(self) -> Sharing {
        match self {
            Self::B => Sharing::B,
            Self::Y => Sharing::Y,
            Self::Y2 => Sharing::Y2,
        }
    }

    /// Record of the protocol.
    pub(crate) fn backend(self) -> &'static Backend {
        Backend::of(self.sharing())
    }
}

/// Choices that replace the partition's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// The protocol of garbled circuits: Y2 between two parties and Y among more, where nothing is said.
    pub garbled: Option<BitProtocol>,
    /// One protocol for the bits of all modules, whatever the partition says.
    pub bits: Option<BitProtocol>,
}

impl Options {
    /// The protocol of bits that the partition wants shared so.
    pub fn protocol(&self, sharing: BitSharing, parties: usize) -> BitProtocol {
        let garbled = match parties {
            2 => BitProtocol::Y2,
            _ => BitProtocol::Y,
        };
        match (self.bits, sharing) {
            (Some(bits), _) => bits,
            (None, BitSharing::Gmw) => BitProtocol::B,
            (None, BitSharing::Yao) => self.garbled.unwrap_or(garbled),
        }
    }
}

/// Nodes that are made together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Group {
    /// Words or bits that a party brings, of this width.
    Input { owner: u8, width: u8 },
    /// Gates of a protocol in a stage.
    Circuit { stage: u32, protocol: BitProtocol },
    /// Words put together of bits, of this width.
    Combine { stage: u32, width: u8 },
    /// Products of words of this width; squares apart.
    Product { stage: u32, width: u8, square: bool },
    /// Sums of words.
    Linear { stage: u32 },
}

/// Groups that make each node that an output needs.
pub(crate) struct Stages {
    /// Nothing for nodes that no output needs, and for what all know.
    pub(crate) groups: Vec<Option<Group>>,
    /// Values of nodes that all parties know.
    pub(crate) known: Vec<Option<u64>>,
    /// The last stage.
    pub(crate) last: u32,
}

impl Stages {
    pub(crate) fn new(flat: &Flat, options: &Options, parties: usize) -> Self {
        let known = known(flat);
        let needed = needed(flat, &known);
        let owners = owners(flat);
        let mut stages = vec![0u32; flat.nodes.len()];
        let mut groups: Vec<Option<Group>> = vec![None; flat.nodes.len()];
        for (at, node) in flat.nodes.iter().enumerate() {
            if !needed[at] || known[at].is_some() {
                continue;
            }
            let width = node.width;
            let most = |operands: &[u32]| {
                let unknown = operands.iter().filter(|&&o| known[o as usize].is_none());
                unknown.map(|&o| stages[o as usize]).max().unwrap_or(0)
            };
            let group = match &node.op {
                Op::Input => Group::Input {
                    owner: owners[at],
                    width,
                },
                Op::Bit(_) | Op::Word(_) => continue,
                Op::And(..) | Op::Or(..) | Op::Xor(..) | Op::Not(_) | Op::Split { .. } => {
                    let protocol = options.protocol(node.sharing, parties);
                    let after = |operand: &u32| {
                        let (operand, stage) = (*operand as usize, stages[*operand as usize]);
                        match groups[operand] {
                            _ if known[operand].is_some() => 0,
                            Some(Group::Circuit { protocol: own, .. }) if own == protocol => stage,
                            _ => stage + 1,
                        }
                    };
                    let stage = operands(flat, &node.op).iter().map(after).max();
                    Group::Circuit {
                        stage: stage.unwrap_or(0).max(1),
                        protocol,
                    }
                }
                Op::Combine(bits) => Group::Combine {
                    stage: most(flat.combined(bits)) + 1,
                    width,
                },
                Op::Mul(a, b) if known[*a as usize].or(known[*b as usize]).is_none() => {
                    Group::Product {
                        stage: most(&[*a, *b]) + 1,
                        width,
                        square: a == b,
                    }
                }
                Op::Mul(a, b) | Op::Add(a, b) | Op::Sub(a, b) => Group::Linear {
                    stage: most(&[*a, *b]),
                },
                Op::Neg(a) => Group::Linear { stage: most(&[*a]) },
            };
            stages[at] = group.stage();
            groups[at] = Some(group);
        }
        Self {
            last: stages.iter().copied().max().unwrap_or(0),
            groups,
            known,
        }
    }
}

impl Group {
    pub(crate) fn stage(self) -> u32 {
        match self {
            Self::Input { .. } => 0,
            Self::Circuit { stage, .. }
            | Self::Combine { stage, .. }
            | Self::Product { stage, .. }
            | Self::Linear { stage } => stage,
        }
    }
}

/// The nodes that an operation reads.
pub(crate) fn operands(flat: &Flat, op: &Op) -> Vec<u32> {
    match op {
        Op::Input | Op::Bit(_) | Op::Word(_) => Vec::new(),
        Op::Not(a) | Op::Neg(a) | Op::Split { word: a, .. } => vec![*a],
        Op::And(a, b)
        | Op::Or(a, b)
        | Op::Xor(a, b)
        | Op::Add(a, b)
        | Op::Sub(a, b)
        | Op::Mul(a, b) => vec![*a, *b],
        Op::Combine(bits) => flat.combined(bits).to_vec(),
    }
}

/// Values that follow from constants alone, and the products with 0.
fn known(flat: &Flat) -> Vec<Option<u64>> {
    let mut known: Vec<Option<u64>> = vec![None; flat.nodes.len()];
    for (at, node) in flat.nodes.iter().enumerate() {
        let of = |a: &u32| known[*a as usize];
        let both = |a: &u32, b: &u32, f: fn(u64, u64) -> u64| Some(f(of(a)?, of(b)?));
        let value = match &node.op {
            Op::Input => None,
            Op::Bit(bit) => Some(u64::from(*bit)),
            Op::Word(value) => Some(*value),
            Op::And(a, b) if of(a) == Some(0) || of(b) == Some(0) => Some(0),
            Op::Or(a, b) if of(a) == Some(1) || of(b) == Some(1) => Some(1),
            Op::Mul(a, b) if of(a) == Some(0) || of(b) == Some(0) => Some(0),
            Op::And(a, b) => both(a, b, |a, b| a & b),
            Op::Or(a, b) => both(a, b, |a, b| a | b),
            Op::Xor(a, b) => both(a, b, |a, b| a ^ b),
            Op::Not(a) => of(a).map(|a| !a),
            Op::Split { word, bit } => of(word).map(|word| word >> bit & 1),
            Op::Add(a, b) => both(a, b, u64::wrapping_add),
            Op::Sub(a, b) => both(a, b, u64::wrapping_sub),
            Op::Mul(a, b) => both(a, b, u64::wrapping_mul),
            Op::Neg(a) => of(a).map(u64::wrapping_neg),
            Op::Combine(bits) => {
                let mut bits = (0..).zip(flat.combined(bits));
                bits.try_fold(0, |word, (place, bit)| Some(word | of(bit)? << place))
            }
        };
        known[at] = value.map(|value| value & (u64::MAX >> (64 - node.width)));
    }
    known
}

/// Nodes that an output needs.
fn needed(flat: &Flat, known: &[Option<u64>]) -> Vec<bool> {
    let mut needed = vec![false; flat.nodes.len()];
    for &node in flat.output_nodes.iter().flatten() {
        needed[node as usize] = true;
    }
    for at in (0..flat.nodes.len()).rev() {
        if needed[at] && known[at].is_none() {
            for operand in operands(flat, &flat.nodes[at].op) {
                needed[operand as usize] = true;
            }
        }
    }
    needed
}

/// Party that brings each input node.
fn owners(flat: &Flat) -> Vec<u8> {
    let mut owners = vec![0; flat.nodes.len()];
    for (input, nodes) in flat.inputs.iter().zip(&flat.input_nodes) {
        nodes
            .iter()
            .for_each(|&node| owners[node as usize] = input.owner);
    }
    owners
}
