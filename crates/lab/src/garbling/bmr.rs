//! N parties: what one of them, party 0, computes. A dealer in the place of correlated OTs, and
//! the other parties' shares, are off the clock.

use std::time::Instant;

use madrigal_circuit::{Layered, Rows};
use madrigal_core::bits;
use madrigal_garbling::bmr::{
    ActiveKeys, BlockSeed, Choices, Evaluation, Garbling, Gates, Hashed, Instance, MaskWalk,
    PeerRows, Products, Shape, WireSetup,
};
use madrigal_garbling::{Block, Offset, Program};
use madrigal_kernels::{self as kernels, Prg, meter};

use super::run::{CHUNK, GarblingRun};
use crate::exit::{Failure, Result};

/// All parties, between two blocks of lanes.
pub(super) struct Bench<'w> {
    program: &'w Layered,
    ready: Program<'w>,
    instance: Instance,
    shape: Shape,
    random: Prg,
    offsets: Vec<Offset>,
    first: u64,
    first_row: u64,
    share: Vec<Vec<u8>>,
}

/// One party of a block.
struct Party {
    seed: BlockSeed,
    inputs: WireSetup,
    dealt: Dealt,
    own: Choices,
    outputs: Rows,
}

/// Correlated OTs of a party: its choices, the rows that it sent to each peer, and those that it received.
struct Dealt {
    choices: Vec<u8>,
    sent: Vec<Vec<Block>>,
    received: Vec<Vec<Block>>,
}

impl Dealt {
    fn ots(&self) -> Vec<PeerRows<'_>> {
        let both = self.sent.iter().zip(&self.received);
        both.map(|(sent, received)| PeerRows { sent, received })
            .collect()
    }
}

/// The place of a peer among a party's peers.
fn place(me: usize, peer: usize) -> usize {
    peer - usize::from(peer > me)
}

impl<'w> Bench<'w> {
    pub(super) fn new(program: &'w Layered, parties: usize) -> Result<Self> {
        let mut secret = [0; 48];
        getrandom::fill(&mut secret).map_err(Failure::bug)?;
        let (seed, session) = secret.split_at(16);
        let mut random = Prg::new(Block::from_bytes(seed.try_into().map_err(Failure::bug)?));
        let rows = program.rows();
        Ok(Self {
            program,
            ready: Program::new(program),
            instance: Instance {
                session: session.try_into().map_err(Failure::bug)?,
                stream: 0,
            },
            shape: Shape {
                parties,
                rows,
                lanes: Shape::lanes_in_cache(rows, parties),
                gates: Gates::TwoOts,
            },
            offsets: (0..parties).map(|_| Offset::random(&mut random)).collect(),
            random,
            first: 0,
            first_row: 0,
            share: vec![Vec::new(); parties],
        })
    }

    pub(super) fn lanes(&self) -> usize {
        self.shape.lanes
    }

    /// Runs as many blocks of lanes as have `ands` ANDs, one at least.
    pub(super) fn run(&mut self, ands: usize) -> Result<GarblingRun> {
        let mut run = GarblingRun::default();
        while run.ands == 0 || run.ands < ands {
            self.block(&mut run)?;
        }
        let done = run.ands / self.shape.lanes;
        let declared = [self.shape.garble_aes(done), self.shape.evaluate_aes(done)];
        if run.aes != declared {
            return Err(Failure::bug(format!(
                "{:?} AES blocks were computed where {declared:?} are declared",
                run.aes
            )));
        }
        Ok(run)
    }

    fn block(&mut self, run: &mut GarblingRun) -> Result<()> {
        let shape = self.shape;
        let total = shape.column_bytes(self.program.and_count());
        let parties = self.parties()?;
        let mut tables = vec![vec![0; total]; shape.parties];
        let mut masks = Rows::new(self.program.outputs().len(), shape.lanes);
        for (me, party) in parties.iter().enumerate() {
            self.garble(me, party, &mut tables, run)?;
            kernels::xor_into(masks.as_bytes_mut(), party.outputs.as_bytes());
        }
        let mut inputs = Rows::new(self.program.input_bits(), shape.lanes);
        self.random.fill(inputs.as_bytes_mut());
        inputs.clear_padding();
        let colours = self.evaluate(&parties, &inputs, &tables, run)?;
        kernels::xor_into(masks.as_bytes_mut(), colours.as_bytes());
        let expected = self.program.interpret(&inputs).map_err(Failure::bug)?;
        if masks != expected {
            return Err(Failure::bug("the outputs are wrong"));
        }
        self.first += shape.pieces_of(self.program);
        run.ands += shape.and_lanes(self.program);
        run.bytes += (total * (shape.parties - 1)) as u64;
        Ok(())
    }

    /// Deals this many OTs each way.
    fn deal(&mut self, count: usize) -> Vec<Dealt> {
        let (parties, random) = (self.shape.parties, &mut self.random);
        let strings = || vec![vec![Block::ZERO; count]; parties - 1];
        let mut all: Vec<Dealt> = Vec::new();
        for _ in 0..parties {
            let mut choices = vec![0; count.div_ceil(8)];
            random.fill(&mut choices);
            let (sent, received) = (strings(), strings());
            all.push(Dealt {
                choices,
                sent,
                received,
            });
        }
        let mut q = vec![Block::ZERO; count];
        for to in 0..parties {
            for from in (0..parties).filter(|&from| from != to) {
                random.fill_blocks(&mut q);
                let Dealt {
                    choices, received, ..
                } = &mut all[to];
                self.offsets[from].encode(&q, choices, &mut received[place(to, from)]);
                all[from].sent[place(from, to)].copy_from_slice(&q);
            }
        }
        all
    }

    /// All parties, with masks multiplied.
    fn parties(&mut self) -> Result<Vec<Party>> {
        let (shape, program) = (self.shape, self.program);
        let (lanes, wires) = (shape.lanes, program.input_bits());
        let dealt = self.deal(shape.products(program));
        let plane = shape.plane_bytes(program);
        let (mut inputs, mut walks) = (Vec::new(), Vec::new());
        for (me, dealt) in dealt.iter().enumerate() {
            // Masks of inputs that are the OTs' choices: nothing is to be flipped.
            let mut part = WireSetup::random(wires, lanes, false, &mut self.random);
            for wire in 0..wires {
                let to = &mut part.masks_mut().row_mut(wire)[..lanes.div_ceil(8)];
                bits::take(&dealt.choices[2 * plane..], wire * lanes, to, lanes);
            }
            let masks = &dealt.choices[..plane];
            let walk = MaskWalk::new(program, me == 0, masks, part.masks());
            let (number, offset) = ((self.instance, self.first_row), &self.offsets[me]);
            let hashed = Hashed::new(&self.ready, number, me, offset, shape, &dealt.ots());
            walks.push((walk.map_err(Failure::bug)?, hashed.map_err(Failure::bug)?));
            inputs.push(part);
        }
        let none = vec![0; plane];
        self.first_row += shape.hashed_rows(program);
        let mut told = Vec::new();
        for me in 0..shape.parties {
            let mut sum = vec![0; plane];
            for peer in (0..shape.parties).filter(|&peer| peer != me) {
                let (walk, hashed) = &walks[peer];
                let message = hashed.message(place(peer, me), walk);
                kernels::xor_into(&mut sum, &message.map_err(Failure::bug)?);
            }
            told.push(sum);
        }
        let mut corrections = vec![0; plane];
        let mut all = Vec::new();
        let walks = walks.into_iter().zip(told);
        for (((walk, hashed), told), (inputs, dealt)) in walks.zip(inputs.into_iter().zip(dealt)) {
            let product = hashed.share(&walk, &told, [&none[..]; 2]);
            let product = product.map_err(Failure::bug)?;
            let mut correction = product.to_vec();
            kernels::xor_into(&mut correction, &dealt.choices[plane..2 * plane]);
            kernels::xor_into(&mut corrections, &correction);
            let (mut own, outputs) = walk.choices(&product).map_err(Failure::bug)?;
            // Our own correction is among the sum of all, and cancels out.
            own.add(&correction).map_err(Failure::bug)?;
            all.push(Party {
                seed: BlockSeed::new(self.random.next_block()),
                inputs,
                dealt,
                own,
                outputs,
            });
        }
        for party in &mut all {
            party.own.add(&corrections).map_err(Failure::bug)?;
        }
        Ok(all)
    }

    /// Adds one party's shares to the tables.
    fn garble(
        &mut self,
        me: usize,
        party: &Party,
        tables: &mut [Vec<u8>],
        run: &mut GarblingRun,
    ) -> Result<()> {
        let (shape, offset) = (self.shape, &self.offsets[me]);
        let mut garbling = Garbling::new(self.instance, shape, self.first, me, offset, &party.seed);
        let ots = party.dealt.ots();
        let none = vec![0; shape.flip_bytes(self.program)];
        let products = Products {
            ots: &ots,
            own: &party.own,
            flips: &vec![&none[..]; shape.parties - 1],
        };
        for (row, &wire) in self.program.inputs().iter().enumerate() {
            let zero = party.inputs.zero(wire as usize);
            let set = garbling.set(row, wire as usize, zero, products);
            set.map_err(Failure::bug)?;
        }
        let mut at = 0;
        for chunk in shape.chunks(&self.ready, CHUNK) {
            let len = shape.column_bytes(chunk.ands.len());
            let share = self.share.iter_mut().map(|share| {
                share.resize(len, 0);
                &mut share[..]
            });
            let mut share: Vec<_> = share.collect();
            let start = Instant::now();
            let (done, aes) = meter::metered(|| garbling.garble(&chunk, products, &mut share));
            if me == 0 {
                run.seconds[0] += start.elapsed().as_secs_f64();
                run.aes[0] += aes;
            }
            done.map_err(Failure::bug)?;
            for (table, share) in tables.iter_mut().zip(&share) {
                kernels::xor_into(&mut table[at..at + len], share);
            }
            at += len;
        }
        Ok(())
    }

    /// The outputs' colours, as party 0 has them.
    fn evaluate(
        &mut self,
        parties: &[Party],
        inputs: &Rows,
        tables: &[Vec<u8>],
        run: &mut GarblingRun,
    ) -> Result<Rows> {
        let (shape, program) = (self.shape, self.program);
        let mut colours = inputs.clone();
        for party in parties {
            let masks = party.inputs.masks();
            kernels::xor_into(colours.as_bytes_mut(), masks.as_bytes());
        }
        let mut active = ActiveKeys::new(shape.parties, inputs.rows(), shape.lanes);
        for (me, party) in parties.iter().enumerate() {
            let keys = party.inputs.activate(&self.offsets[me], &colours);
            let keys = keys.map_err(Failure::bug)?;
            let bytes = kernels::blocks_as_bytes(&keys);
            active.set_party(me, bytes).map_err(Failure::bug)?;
        }
        let (offset, seed) = (&self.offsets[0], &parties[0].seed);
        let mut evaluation = Evaluation::new(self.instance, shape, self.first, 0, offset, seed);
        for (row, &wire) in program.inputs().iter().enumerate() {
            let keys = active.row(wire as usize);
            evaluation.set(row, keys).map_err(Failure::bug)?;
        }
        let start = Instant::now();
        let (done, aes) = meter::metered(|| {
            let mut columns: Vec<&[u8]> = tables[1..].iter().map(|table| &**table).collect();
            let mut chunks = shape.chunks(&self.ready, CHUNK);
            chunks.try_for_each(|chunk| evaluation.evaluate(&chunk, &mut columns))
        });
        run.seconds[1] += start.elapsed().as_secs_f64();
        run.aes[1] += aes;
        done.map_err(Failure::bug)?;
        let mut outputs = ActiveKeys::new(shape.parties, program.outputs().len(), shape.lanes);
        for (output, &row) in program.outputs().iter().enumerate() {
            let keys = evaluation.active(row as usize);
            outputs.row_mut(output).copy_from_slice(keys);
        }
        Ok(outputs.colours(1))
    }
}
