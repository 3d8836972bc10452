//! A circuit ready to be planned: compiled, with the widths of its values.

use std::sync::{Arc, OnceLock};

use madrigal_circuit::branches::Branching;
use madrigal_circuit::{Layered, Netlist, Round, Rounds, Stats, Sums};
use madrigal_garbling::{Program, Walk};

use crate::variants::{Ands, Variants};
use crate::vectors::{self, VectorLayer};

/// A compiled circuit.
#[derive(Debug, Clone)]
pub struct Circuit {
    name: String,
    inputs: Vec<u32>,
    outputs: Vec<u32>,
    digest: [u8; 32],
    stats: Stats,
    layered: Layered,
    rounds: Rounds,
    /// The circuit with its branches, which the compiled program computes all of.
    branching: Option<Arc<Branching>>,
    /// Products of bits and vectors among the ANDs of each layer, where these are to be done as such.
    vectors: Option<Arc<[VectorLayer]>>,
    variants: Variants,
    /// Digest of the compiled program; every job compares it.
    compiled_digest: [u8; 32],
    /// Made when it is first garbled.
    labels: OnceLock<Arc<Walk>>,
    /// Made when it is first evaluated by sums.
    sums: OnceLock<Arc<Digested>>,
}

/// A program of sums, with its digest.
#[derive(Debug)]
struct Digested {
    sums: Sums,
    digest: [u8; 32],
}

impl Circuit {
    /// Compiles a netlist.
    pub fn new(netlist: &Netlist) -> Self {
        let layered = Layered::compile(netlist);
        Self {
            name: netlist.name().to_owned(),
            inputs: netlist.inputs().to_vec(),
            outputs: netlist.outputs().to_vec(),
            digest: netlist.digest(),
            stats: netlist.stats(),
            compiled_digest: layered.digest(),
            rounds: Rounds::of_one(&layered),
            layered,
            branching: None,
            vectors: None,
            variants: Variants::default(),
            labels: OnceLock::new(),
            sums: OnceLock::new(),
        }
    }

    /// Compiles a circuit with branches: all of them, and multiplexers. Protocols whose branches share their cost evaluate the
    /// [circuit itself](Self::branching).
    pub fn with_branches(branching: &Arc<Branching>) -> Self {
        let (conditionals, _) = branching.conditionals();
        let shares = conditionals > 0 && !branching.inputs().is_empty();
        Self {
            digest: branching.digest(),
            branching: shares.then(|| Arc::clone(branching)),
            ..Self::new(&branching.flatten())
        }
    }

    /// Makes the same circuit, to be evaluated two layers in a round where they can be, by [masked bits](madrigal_engine::Sharing::BETA):
    /// these then take one round more in setup, up to 25 times the triples of the second one of two layers, and as
    /// few as half the rounds online. Of other protocols each round is a layer.
    pub fn in_pairs(&self) -> Self {
        let layered = self.layered.in_pairs();
        let rounds = Rounds::of_two(&layered);
        if !rounds.has_pairs() {
            return self.clone();
        }
        Self {
            compiled_digest: layered.digest(),
            layered,
            rounds,
            vectors: None,
            labels: OnceLock::new(),
            sums: OnceLock::new(),
            ..self.clone()
        }
    }

    /// Makes the same circuit, of which [`Sharing::B`](madrigal_engine::Sharing::B) does ANDs of a layer with an operand in
    /// common by vector triples, if there are any: a multiplexer of many bits takes one triple instead of one for each
    /// bit. Other protocols do as before. ANDs that take no triples have none of vectors either.
    pub fn in_vectors(&self) -> Option<Self> {
        if self.variants.ands == Ands::Ots {
            return None;
        }
        let layers = vectors::layers(&self.layered)?;
        Some(Self {
            vectors: Some(layers.into()),
            ..self.clone()
        })
    }

    /// Makes the same circuit, to be evaluated in these ways.
    #[must_use]
    pub fn with_variants(&self, variants: Variants) -> Self {
        Self {
            variants,
            vectors: match variants.ands {
                Ands::Triples => self.vectors.clone(),
                Ands::Ots => None,
            },
            ..self.clone()
        }
    }

    /// Ways in which it is evaluated.
    pub fn variants(&self) -> Variants {
        self.variants
    }

    /// Products of bits and vectors among the ANDs of each layer, if they are to be done [as such](Self::in_vectors).
    pub(crate) fn vectors(&self) -> Option<&[VectorLayer]> {
        self.vectors.as_deref()
    }

    /// The name that the netlist was read under.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Widths of the input values, in bits.
    pub fn inputs(&self) -> &[u32] {
        &self.inputs
    }

    /// Widths of the output values, in bits.
    pub fn outputs(&self) -> &[u32] {
        &self.outputs
    }

    /// The circuit with its branches, if it has any: a conditional of two branches or more, and inputs.
    pub fn branching(&self) -> Option<&Arc<Branching>> {
        self.branching.as_ref()
    }

    /// SHA-256 of the netlist's meaning, or of that of the circuit with branches.
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// SHA-256 of the [compiled program](Self::layered), with the order of its gates.
    pub fn compiled_digest(&self) -> [u8; 32] {
        self.compiled_digest
    }

    /// Counts of the file. The compiled program may have fewer ANDs.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// The compiled program.
    pub fn layered(&self) -> &Layered {
        &self.layered
    }

    /// Number of rounds that the layers take where two can be done at once.
    pub fn round_count(&self) -> usize {
        self.rounds.count()
    }

    /// The rounds of a protocol that does two layers at once where it is [to](Self::in_pairs).
    pub(crate) fn rounds(&self) -> impl Iterator<Item = Round<'_>> + Clone {
        self.rounds.of(&self.layered)
    }

    /// Rows that such a protocol keeps beside those of the program.
    pub(crate) fn overwritten(&self) -> usize {
        self.rounds.overwritten()
    }

    /// Products of masks that it needs beside those of each AND's operands.
    pub(crate) fn beside(&self) -> usize {
        let takes = self.rounds().filter_map(|round| round.second);
        let beside = takes.map(|(_, takes)| {
            let single: usize = takes.operands().iter().map(Vec::len).sum();
            2 * single + 4 * takes.both().len()
        });
        beside.sum()
    }

    /// The compiled program, ready to be garbled.
    pub(crate) fn garbled(&self) -> Program<'_> {
        let labels = self
            .labels
            .get_or_init(|| Program::new(&self.layered).walk());
        Program::again(&self.layered, Arc::clone(labels))
    }

    fn digested_sums(&self) -> &Digested {
        self.sums.get_or_init(|| {
            let sums = Sums::of(&self.layered);
            let digest = sums.digest();
            Arc::new(Digested { sums, digest })
        })
    }

    /// The compiled program as sums of products.
    pub fn sums(&self) -> &Sums {
        &self.digested_sums().sums
    }

    /// SHA-256 of these.
    pub fn sums_digest(&self) -> [u8; 32] {
        self.digested_sums().digest
    }

    /// Bits of all output values together.
    pub(crate) fn output_bits(&self) -> usize {
        self.outputs.iter().map(|&width| width as usize).sum()
    }
}
