//! N parties: what one of them, party 0, computes. A dealer in the place of triples and correlated OTs, and
//! the other parties' shares, are off the clock.

use std::time::Instant;

use madrigal_circuit::{Layered, Rows};
use madrigal_garbling::bmr::{
    ActiveKeys, BlockSeed, Choices, Evaluation, Garbling, Instance, MaskWalk, Products, Shape,
    WireSetup,
};
use madrigal_garbling::{Block, Offset, Program};
use madrigal_kernels::{self as kernels, Prg, meter};

use super::{CHUNK, Run};
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
    share: Vec<Vec<u8>>,
}

/// One party of a block.
struct Party {
    seed: BlockSeed,
    inputs: WireSetup,
    choices: Choices,
    outputs: Rows,
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
            },
            offsets: (0..parties).map(|_| Offset::random(&mut random)).collect(),
            random,
            first: 0,
            share: vec![Vec::new(); parties],
        })
    }

    pub(super) fn lanes(&self) -> usize {
        self.shape.lanes
    }

    /// As many blocks of lanes as have `ands` ANDs, one at least.
    pub(super) fn run(&mut self, ands: usize) -> Result<Run> {
        let mut run = Run::default();
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

    fn block(&mut self, run: &mut Run) -> Result<()> {
        let shape = self.shape;
        let total = shape.column_bytes(self.program.and_count());
        let parties = self.parties()?;
        let rows = self.rows(&parties);
        let mut tables = vec![vec![0; total]; shape.parties];
        let mut masks = Rows::new(self.program.outputs().len(), shape.lanes);
        for (me, party) in parties.iter().enumerate() {
            self.garble(me, party, &rows[me], &mut tables, run)?;
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

    /// All parties, with masks multiplied.
    fn parties(&mut self) -> Result<Vec<Party>> {
        let (shape, program, random) = (self.shape, self.program, &mut self.random);
        let mut walks = Vec::new();
        for me in 0..shape.parties {
            let seed = BlockSeed::new(random.next_block());
            let inputs = WireSetup::random(program.input_bits(), shape.lanes, true, random);
            let walk = MaskWalk::new(program, me == 0, &seed, inputs.masks());
            walks.push((seed, inputs, walk.map_err(Failure::bug)?));
        }
        let plane = vec![0; shape.plane_bytes(program)];
        let [mut last, b] = [0, 1].map(|k| {
            let mut sum = plane.clone();
            walks
                .iter()
                .for_each(|(_, _, walk)| kernels::xor_into(&mut sum, walk.operands()[k]));
            sum
        });
        last.iter_mut().zip(&b).for_each(|(a, b)| *a &= b);
        let count = walks.len();
        let choose = |(me, (seed, inputs, walk)): (usize, (_, _, MaskWalk))| {
            let mut product = plane.clone();
            if me + 1 < count {
                random.fill(&mut product);
                kernels::xor_into(&mut last, &product);
            } else {
                product.copy_from_slice(&last);
            }
            let (choices, outputs) = walk.choices(&product).map_err(Failure::bug)?;
            Ok(Party {
                seed,
                inputs,
                choices,
                outputs,
            })
        };
        walks.into_iter().enumerate().map(choose).collect()
    }

    /// What correlated OTs give: `[i][j]`.
    fn rows(&mut self, parties: &[Party]) -> Vec<Vec<Vec<Block>>> {
        let (shape, count) = (self.shape, self.shape.products(self.program));
        let mut all = vec![vec![vec![Block::ZERO; count]; shape.parties]; shape.parties];
        let mut q = vec![Block::ZERO; count];
        for (i, party) in parties.iter().enumerate() {
            for j in (0..shape.parties).filter(|&j| j != i) {
                self.random.fill_blocks(&mut q);
                let sums = kernels::blocks_as_bytes_mut(&mut all[j][j]);
                kernels::xor_into(sums, kernels::blocks_as_bytes(&q));
                self.offsets[j].encode(&q, party.choices.bits(), &mut all[i][j]);
            }
        }
        all
    }

    /// Adds one party's shares to the tables.
    fn garble(
        &mut self,
        me: usize,
        party: &Party,
        rows: &[Vec<Block>],
        tables: &mut [Vec<u8>],
        run: &mut Run,
    ) -> Result<()> {
        let (shape, offset) = (self.shape, &self.offsets[me]);
        let mut garbling = Garbling::new(self.instance, shape, self.first, me, offset, &party.seed);
        for (row, &wire) in self.program.inputs().iter().enumerate() {
            let zero = party.inputs.zero(wire as usize);
            garbling.set(row, zero).map_err(Failure::bug)?;
        }
        let rows: Vec<_> = rows.iter().map(|rows| &rows[..]).collect();
        let products = Products::uncorrected(&rows, &party.choices);
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
        run: &mut Run,
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
            let mut at = 0;
            shape.chunks(&self.ready, CHUNK).try_for_each(|chunk| {
                let end = at + shape.column_bytes(chunk.ands.len());
                let columns: Vec<_> = tables[1..].iter().map(|table| &table[at..end]).collect();
                at = end;
                evaluation.evaluate(&chunk, &columns)
            })
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
