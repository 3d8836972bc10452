//! Protocols of nodes, and the stages in which nodes are computed at once.
//!
//! A node's *stage* counts the changes of protocol and the layers of products before it. Gates of one
//! protocol and one stage become one circuit, products of one stage one operation; sums cost nothing and
//! stay in the stage of their operands.

use std::collections::BTreeSet;

use madrigal_circuit::Goal;
use madrigal_circuit::hycc::{BitSharing, Flat, Op};
use madrigal_engine::Sharing;
use madrigal_operations::Backend;

/// A protocol that computes bits of a program, by its name, which puts groups in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Protocol(&'static str);

impl Protocol {
    /// None, which comes before all.
    pub(crate) const FIRST: Self = Self("");

    pub(crate) const fn of(sharing: Sharing) -> Self {
        Self(sharing.name())
    }

    /// Record of the protocol.
    pub(crate) fn backend(self) -> &'static Backend {
        Backend::named(self.0).expect("options were checked")
    }

    /// Goal of its circuits: few gates where they are garbled, else few layers.
    pub(crate) fn goal(self) -> Goal {
        match self.backend().sharing.has_labels() {
            true => Goal::Size,
            false => Goal::Depth,
        }
    }
}

/// Protocols of a program's modules: which one stands for each kind of module that a partition knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// The protocol of words, their sums and products: A, where nothing is said.
    pub words: Sharing,
    /// The protocol of modules for few layers of ANDs, which the partition wants in Boolean GMW: B, where nothing is said.
    pub layered: Sharing,
    /// The protocol of modules for few ANDs, which the partition wants garbled: Y2 between two parties and Y among more,
    /// where nothing is said.
    pub garbled: Option<Sharing>,
    /// One protocol for the bits of all modules, whatever the partition says.
    pub bits: Option<Sharing>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            words: Sharing::A,
            layered: Sharing::B,
            garbled: None,
            bits: None,
        }
    }
}

impl Options {
    /// The sharing of bits that the partition wants shared so.
    pub fn sharing(&self, partition: BitSharing, parties: usize) -> Sharing {
        let garbled = match parties {
            2 => Sharing::Y2,
            _ => Sharing::Y,
        };
        match (self.bits, partition) {
            (Some(bits), _) => bits,
            (None, BitSharing::Gmw) => self.layered,
            (None, BitSharing::Yao) => self.garbled.unwrap_or(garbled),
        }
    }

    /// The protocol of bits that the partition wants shared so.
    pub(crate) fn protocol(&self, partition: BitSharing, parties: usize) -> Protocol {
        Protocol::of(self.sharing(partition, parties))
    }

    /// Checks that `parties` parties can run these protocols and that conversions lead from each to each: their values are
    /// kept in the same way between stages.
    pub(crate) fn check(&self, parties: usize) -> Result<(), OptionsError> {
        let found = |sharing: Sharing| Backend::named(sharing.name());
        let words = found(self.words).filter(|backend| backend.numbers.is_some());
        let words = words.ok_or(OptionsError::Words(self.words))?;
        let bits = [BitSharing::Gmw, BitSharing::Yao].map(|own| self.sharing(own, parties));
        let kept = Backend::of(words.kept.sharing).numbers().with[0];
        let mut all = vec![words];
        for sharing in bits {
            let backend = found(sharing).filter(|backend| backend.bits.is_some());
            let backend = backend.ok_or(OptionsError::Bits(sharing))?;
            if backend.kept.sharing != kept {
                let words = self.words;
                return Err(OptionsError::Conversion {
                    words,
                    bits: sharing,
                });
            }
            all.push(backend);
        }
        match all.iter().find(|own| !own.parties.contains(&parties)) {
            Some(backend) => Err(OptionsError::Parties { backend, parties }),
            None => Ok(()),
        }
    }
}

/// Protocols that do not compute a program together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// A protocol without ring elements.
    #[error("words are in a protocol that computes on ring elements, A for one, not in {0}")]
    Words(Sharing),
    /// A protocol without bits.
    #[error("gates are in a protocol that computes on bits, B for one, not in {0}")]
    Bits(Sharing),
    /// Protocols without a way from one to the other.
    #[error(
        "no conversion leads from words in {words} to bits in {bits} and back; with R all is in R, and nothing without it"
    )]
    Conversion {
        /// The sharing of words.
        words: Sharing,
        /// The sharing of bits.
        bits: Sharing,
    },
    /// A protocol of another number of parties.
    #[error("{name} is for {allowed} parties, not {parties}", name = .backend.name, allowed = .backend.parties_in_words())]
    Parties {
        /// The protocol.
        backend: &'static Backend,
        /// Number of parties.
        parties: usize,
    },
}

/// Nodes that are made together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Group {
    /// Words or bits that a party brings, of this width.
    Input { owner: u8, width: u8 },
    /// Gates of a protocol in a stage.
    Circuit { stage: u32, protocol: Protocol },
    /// Words of this width put together of bits, which are in this protocol before.
    Combine {
        stage: u32,
        width: u8,
        protocol: Protocol,
    },
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
                Op::Combine(bits) => {
                    let bits = flat.combined(bits);
                    let made = |&bit: &u32| match groups[bit as usize] {
                        Some(Group::Circuit { protocol, .. }) => Some(protocol),
                        Some(_) => {
                            Some(options.protocol(flat.nodes[bit as usize].sharing, parties))
                        }
                        None => None,
                    };
                    let made: BTreeSet<Protocol> = bits.iter().filter_map(made).collect();
                    Group::Combine {
                        stage: most(bits) + 1,
                        width,
                        // Bits of several protocols meet in the one that needs no garbling.
                        protocol: match made.len() {
                            1 => made.into_iter().next().expect("there is one"),
                            _ => options.protocol(BitSharing::Gmw, parties),
                        },
                    }
                }
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
