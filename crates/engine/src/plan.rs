//! What will be done, in which parts, and what it costs: known before the first byte is sent, the
//! same at all parties.

use std::ops::Range;
use std::sync::Arc;

use madrigal_circuit::Rows;
use madrigal_core::{MAX_PARTIES, Party, bits};
use madrigal_correlations::{MAX_THREADS, Needs, Origin};
use madrigal_net::Fact;
use madrigal_protocols::Opening;
use sha2::{Digest, Sha256};

use crate::circuit::Circuit;
use crate::protocol::Protocol;

/// The order of the two phases.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phases {
    /// All of setup before any of online: nothing depends on inputs until every triple is there.
    Sequential,
    /// In parts: the triples of the next part are made while the current one computes. Memory
    /// follows the part, not the job.
    Interleaved,
}

impl std::fmt::Display for Phases {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Sequential => "sequential",
            Self::Interleaved => "interleaved",
        })
    }
}

/// What is to be computed, by whom and how.
#[derive(Debug, Clone)]
pub struct JobSpec {
    /// Which protocol computes.
    pub protocol: Protocol,
    /// How many parties there are.
    pub parties: usize,
    /// What is computed, in each lane.
    pub circuit: Arc<Circuit>,
    /// The owner of each input value.
    pub owners: Vec<Party>,
    /// Who gets the output.
    pub to: Vec<Party>,
    /// How many times the circuit is evaluated, side by side.
    pub lanes: usize,
    /// Where correlations come from.
    pub origin: Origin,
    /// How masked values become known, in protocol B.
    pub opening: Opening,
    /// The order of the phases; `None` is sequential where the triples fit `memory`.
    pub phases: Option<Phases>,
    /// Bytes that the triples kept by one party may take.
    pub memory: usize,
    /// Threads that each party computes with when online, 1 to [`MAX_THREADS`]. All parties have as
    /// many, whatever their cores: the number decides what goes side by side. Those of the origin are
    /// others; interleaved phases have both at work.
    pub threads: usize,
    /// Facts of the caller's own that all parties must agree on, beside those of the plan.
    pub also: Vec<Fact>,
}

impl JobSpec {
    /// One lane of `circuit` in protocol B: value i belongs to party i mod `parties`, all get the
    /// output, the rest as usual. Change what is to be otherwise.
    pub fn new(circuit: Arc<Circuit>, parties: usize) -> Self {
        let owner = |value| Party::new(value % parties.max(1));
        Self {
            protocol: Protocol::default(),
            parties,
            owners: (0..circuit.inputs().len()).map(owner).collect(),
            to: Party::all(parties.min(MAX_PARTIES)).collect(),
            circuit,
            lanes: 1,
            origin: Origin::default(),
            opening: Opening::Direct,
            phases: None,
            memory: TRIPLE_MEMORY,
            threads: 1,
            also: Vec::new(),
        }
    }
}

impl JobSpec {
    /// The same, on this many threads, before the online phase and in it.
    #[must_use]
    pub fn on_threads(self, threads: usize) -> Self {
        let origin = match self.origin {
            Origin::Ot { extension, .. } => Origin::Ot { extension, threads },
            other => other,
        };
        Self {
            origin,
            threads,
            ..self
        }
    }

    /// The most threads of a phase, and the least.
    fn threads(&self) -> [usize; 2] {
        match self.origin {
            Origin::Ot { threads, .. } => [threads.max(self.threads), threads.min(self.threads)],
            _ => [self.threads; 2],
        }
    }

    /// How often the triples of a part are in memory while they are made: those of several threads
    /// are put together.
    fn copies(&self) -> usize {
        match self.origin {
            Origin::Ot { threads, .. } if threads > 1 => 2,
            _ => 1,
        }
    }
}

/// The usual limit for a party's triples: 192 MiB.
pub const TRIPLE_MEMORY: usize = 192 << 20;

/// The fact that names the origin of the correlations.
pub(crate) const CORRELATIONS: &str = "correlations";

/// Bytes that the rows of one block of lanes should take: a core's second-level cache, about. Fewer
/// lanes would stay in it more surely, and pay more for the messages; measured, this is the best.
const BLOCK_BYTES: usize = 1 << 20;
/// Lanes of the longest piece of a row that kernels take at once; blocks have whole ones.
const PIECE_LANES: usize = 2048;
/// Lanes of a cache line.
const LINE_LANES: usize = 512;
/// The most lanes of a block: layers beyond this gain nothing.
const MAX_BLOCK_LANES: usize = 1 << 16;
/// Blocks under way at once on a thread: one computes while the other's messages travel.
const WORKERS: usize = 2;
/// Parts that an interleaved job has at least, where there are lanes enough.
const MIN_PARTS: usize = 4;

/// Why something cannot be planned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Too few or too many parties.
    #[error("protocol {protocol} is for {} parties, not {parties}", among(*.protocol))]
    Parties {
        /// Which protocol was asked for.
        protocol: Protocol,
        /// How many were asked for.
        parties: usize,
    },
    /// No room for the dealer in the session.
    #[error(
        "with a dealer at most {} parties compute, not {parties}; take fewer, or other correlations", MAX_PARTIES - 1
    )]
    NoRoomForDealer {
        /// How many were asked for.
        parties: usize,
    },
    /// No threads, or too many.
    #[error("a party computes with 1 to {MAX_THREADS} threads, not {threads}; take another number")]
    Threads {
        /// How many were asked for.
        threads: usize,
    },
    /// The number of owners is not that of input values.
    #[error(
        "the circuit has {values} input values and {owners} owners are named: name one party for each"
    )]
    Owners {
        /// Input values of the circuit.
        values: usize,
        /// Owners given.
        owners: usize,
    },
    /// A party that does not exist.
    #[error("there is no party {party} among {parties}; parties are counted from 0")]
    NoSuchParty {
        /// The number given.
        party: usize,
        /// How many there are.
        parties: usize,
    },
    /// Nobody gets the output.
    #[error("nobody gets the output: name a party that does")]
    NoReceiver,
    /// Nothing to compute on.
    #[error("there are no lanes: the input files are empty")]
    NoLanes,
    /// Too many lanes for any machine.
    #[error(
        "{lanes} lanes of {bits} bits each are more than this machine can count; give fewer lanes"
    )]
    TooManyLanes {
        /// Lanes asked for.
        lanes: usize,
        /// Bits of triples, inputs and outputs in each lane.
        bits: usize,
    },
    /// The triples do not fit.
    #[error(
        "sequential phases keep all {needed} bytes of triples, more than the {memory} bytes that are allowed; interleave the phases, or allow more"
    )]
    Memory {
        /// Bytes needed.
        needed: usize,
        /// Bytes allowed.
        memory: usize,
    },
}

/// A job, cut into parts and blocks.
///
/// A *part* is what triples are made for at once; its lanes are cut into *blocks*, which stay in
/// cache; the blocks of a part are shared out among [`workers`](Plan::workers) that run side by
/// side.
#[derive(Debug, Clone)]
pub struct Plan {
    spec: JobSpec,
    phases: Phases,
    part_lanes: usize,
    block_lanes: usize,
}

impl Plan {
    /// Checks a specification and cuts it up.
    ///
    /// # Errors
    /// What does not fit together.
    pub fn new(mut spec: JobSpec) -> Result<Self, PlanError> {
        let parties = spec.parties;
        let protocol = spec.protocol;
        if !protocol.parties().contains(&parties) {
            return Err(PlanError::Parties { protocol, parties });
        }
        if parties + spec.origin.helpers() > MAX_PARTIES {
            return Err(PlanError::NoRoomForDealer { parties });
        }
        let wrong = |threads: &usize| !(1..=MAX_THREADS).contains(threads);
        if let Some(threads) = spec.threads().into_iter().find(wrong) {
            return Err(PlanError::Threads { threads });
        }
        let values = spec.circuit.inputs().len();
        if spec.owners.len() != values {
            return Err(PlanError::Owners {
                values,
                owners: spec.owners.len(),
            });
        }
        if let Some(party) = spec
            .owners
            .iter()
            .chain(&spec.to)
            .find(|party| party.index() >= parties)
        {
            return Err(PlanError::NoSuchParty {
                party: party.index(),
                parties,
            });
        }
        spec.to.sort();
        spec.to.dedup();
        if spec.to.is_empty() {
            return Err(PlanError::NoReceiver);
        }
        if spec.lanes == 0 {
            return Err(PlanError::NoLanes);
        }
        let layered = spec.circuit.layered();
        // Below, and in what the plan is asked later, no product of these overflows.
        let inputs: usize = spec
            .circuit
            .inputs()
            .iter()
            .map(|&width| width as usize)
            .sum();
        let bits =
            3 * layered.and_count() + 2 * layered.rows() + inputs + spec.circuit.output_bits();
        if spec
            .lanes
            .checked_next_multiple_of(64)
            .and_then(|lanes| lanes.checked_mul(64 * bits.max(1)))
            .is_none()
        {
            let lanes = spec.lanes;
            return Err(PlanError::TooManyLanes { lanes, bits });
        }
        let triples = protocol.triples_per_and() * layered.and_count();
        let triple_bytes = |lanes: usize| 3 * bits::bytes_for(triples * lanes);
        let needed = spec.copies() * triple_bytes(spec.lanes);
        let phases = match spec.phases {
            _ if triples == 0 => Phases::Sequential,
            Some(Phases::Sequential) if needed > spec.memory => {
                return Err(PlanError::Memory {
                    needed,
                    memory: spec.memory,
                });
            }
            Some(phases) => phases,
            None if needed > spec.memory => Phases::Interleaved,
            None => Phases::Sequential,
        };

        let (part_lanes, block_lanes) = lanes_at_once(&spec, phases, triple_bytes(8));
        Ok(Self {
            spec,
            phases,
            part_lanes,
            block_lanes,
        })
    }

    /// What was asked for.
    pub fn spec(&self) -> &JobSpec {
        &self.spec
    }

    /// The order of the phases.
    pub fn phases(&self) -> Phases {
        self.phases
    }

    /// Lanes of a part, but for the last one.
    pub fn part_lanes(&self) -> usize {
        self.part_lanes
    }

    /// Lanes of a block, but for the last one of a part.
    pub fn block_lanes(&self) -> usize {
        self.block_lanes
    }

    /// Blocks that are under way at once.
    pub fn workers(&self) -> usize {
        let blocks = self.part_lanes.div_ceil(self.block_lanes);
        blocks.min(WORKERS * self.spec.threads)
    }

    /// ANDs in all lanes together.
    pub fn ands(&self) -> usize {
        self.spec.circuit.layered().and_count() * self.spec.lanes
    }

    /// Boolean triples that each party gets a share of.
    pub fn triples(&self) -> usize {
        self.spec.protocol.triples_per_and() * self.ands()
    }

    /// Where correlations come from, in words: `none` where there is nothing to make and nobody who
    /// would.
    pub fn correlations(&self) -> String {
        match self.spec.origin {
            origin if self.triples() == 0 && origin.helpers() == 0 => "none".to_owned(),
            origin => origin.to_string(),
        }
    }

    /// All correlations of the job.
    pub fn needs(&self) -> Needs {
        let mut needs = Needs::new();
        needs.bit_triples(self.triples());
        needs
    }

    /// Bytes of triples that one party keeps at most at a time.
    pub fn triple_bytes(&self) -> usize {
        let one = 3 * bits::bytes_for(self.part_triples(&(0..self.part_lanes)));
        let parts = match self.phases {
            Phases::Interleaved if self.part_lanes < self.spec.lanes => 2,
            _ => 1,
        };
        (parts - 1 + self.spec.copies()) * one
    }

    /// Bytes that one party's rows take: blocks under way, inputs and outputs.
    pub fn row_bytes(&self, party: Party) -> usize {
        let layered = self.spec.circuit.layered();
        let blocks = self.workers()
            * Rows::stride_for(self.block_lanes.min(self.spec.lanes))
            * layered.rows()
            * self.spec.protocol.components();
        let stride = Rows::stride_for(self.spec.lanes);
        let outputs = if self.spec.to.contains(&party) {
            self.spec.circuit.output_bits()
        } else {
            0
        };
        blocks + stride * (self.input_bits_of(party) + outputs)
    }

    /// Input bits that a party owns, in each lane.
    pub fn input_bits_of(&self, party: Party) -> usize {
        let owned = self.spec.owners.iter().zip(self.spec.circuit.inputs());
        owned
            .filter(|(owner, _)| **owner == party)
            .map(|(_, &width)| width as usize)
            .sum()
    }

    pub(crate) fn part_triples(&self, lanes: &Range<usize>) -> usize {
        self.spec.protocol.triples_per_and() * self.spec.circuit.layered().and_count() * lanes.len()
    }

    /// The parts, as ranges of lanes.
    pub fn parts(&self) -> impl ExactSizeIterator<Item = Range<usize>> + Clone + use<> {
        cut(0..self.spec.lanes, self.part_lanes)
    }

    /// The blocks of a part, as ranges of lanes. Block `i` is worker `i % workers`'s.
    pub fn blocks(
        &self,
        part: Range<usize>,
    ) -> impl ExactSizeIterator<Item = Range<usize>> + Clone + use<> {
        cut(part, self.block_lanes)
    }

    /// What all parties must agree on.
    pub fn facts(&self) -> Vec<Fact> {
        let spec = &self.spec;
        let list = |parties: &[Party]| {
            parties
                .iter()
                .map(|party| party.index().to_string())
                .collect::<Vec<_>>()
                .join(",")
        };
        let hex = |digest: &[u8]| {
            digest
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect::<String>()
        };
        // People compare a few digits; collisions of so few can be made.
        let short = |digest: [u8; 32]| hex(&digest[..8]);
        let (circuit, compiled) = (spec.circuit.digest(), spec.circuit.layered().digest());
        let mut facts: Vec<Fact> = [
            ("protocol", spec.protocol.to_string()),
            ("circuit", short(circuit)),
            ("parties", spec.parties.to_string()),
            ("lanes", spec.lanes.to_string()),
            ("owners", list(&spec.owners)),
            ("receivers", list(&spec.to)),
            ("broadcast", spec.opening.to_string()),
            ("threads", spec.threads.to_string()),
            (CORRELATIONS, self.correlations()),
            ("phases", self.phases.to_string()),
            ("lanes in a part", self.part_lanes.to_string()),
            ("lanes in a block", self.block_lanes.to_string()),
            ("compiled circuit", short(compiled)),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        facts.extend(spec.also.iter().cloned());
        // Long lists are cut when they are announced, digests of circuits are shown in part; this
        // digest is of all of them.
        let mut digest = Sha256::new();
        digest.update(circuit);
        digest.update(compiled);
        for (name, value) in &facts {
            digest.update((name.len() as u64).to_le_bytes());
            digest.update(name);
            digest.update((value.len() as u64).to_le_bytes());
            digest.update(value);
        }
        facts.push(("plan".to_owned(), hex(&digest.finalize())));
        facts
    }
}

/// Lanes of a part and of a block; `triple_bytes` are those of eight lanes.
fn lanes_at_once(spec: &JobSpec, phases: Phases, triple_bytes: usize) -> (usize, usize) {
    // A block of lanes takes at least one cache line per row.
    let rows = spec.circuit.layered().rows().max(1) * spec.protocol.components();
    let fitting = (BLOCK_BYTES / rows * 8).clamp(LINE_LANES, MAX_BLOCK_LANES);
    let unit = if fitting < PIECE_LANES {
        LINE_LANES
    } else {
        PIECE_LANES
    };
    let mut block_lanes = fitting / unit * unit;
    let wanted = match phases {
        Phases::Sequential => spec.lanes,
        Phases::Interleaved => {
            // One part computes while the next is made. No more than the job has.
            let parts = 1 + spec.copies();
            let fitting = spec.memory / parts / triple_bytes.max(1) * 8;
            spec.lanes.div_ceil(MIN_PARTS).min(fitting).max(1)
        }
    };
    if spec.threads > 1 {
        // As many blocks in a part as workers at least, where there are lanes enough.
        let even = wanted / (WORKERS * spec.threads) / LINE_LANES * LINE_LANES;
        block_lanes = block_lanes.min(even.max(LINE_LANES));
    }
    let part_lanes = match phases {
        Phases::Sequential => spec.lanes,
        Phases::Interleaved => {
            let unit = if wanted >= block_lanes {
                block_lanes
            } else {
                64
            };
            (wanted / unit * unit).max(unit).min(spec.lanes)
        }
    };
    (part_lanes, block_lanes)
}

/// The number of parties of a protocol, for messages.
fn among(protocol: Protocol) -> String {
    let (least, most) = protocol.parties().into_inner();
    if least == most {
        return least.to_string();
    }
    format!("{least} to {most}")
}

fn cut(whole: Range<usize>, size: usize) -> impl ExactSizeIterator<Item = Range<usize>> + Clone {
    let end = whole.end;
    whole
        .step_by(size.max(1))
        .map(move |start| start..end.min(start + size.max(1)))
}
