//! Circuits garbled by N parties give what the circuits give: all parties in one function, with a dealer in the
//! place of triples and correlated OTs.

use madrigal_circuit::{Builder, Layered, Rows};
use madrigal_garbling::bmr::{
    ActiveKeys, BlockSeed, Choices, Evaluation, Garbling, Instance, MaskWalk, Products, Shape,
    WireSetup,
};
use madrigal_garbling::{Block, GarblingError, Offset, Program};
use madrigal_kernels::{Prg, meter};
use proptest::prelude::*;

use crate::support::{circuit, random, random_rows, read};

const INSTANCE: Instance = Instance {
    session: [9; 32],
    stream: 3,
};

/// One party before it garbles.
struct Party {
    offset: Offset,
    seed: BlockSeed,
    inputs: WireSetup,
    choices: Choices,
    outputs: Rows,
}

/// All parties, with masks multiplied and all bits chosen.
struct All<'p> {
    program: &'p Layered,
    shape: Shape,
    first: u64,
    parties: Vec<Party>,
}

fn xor(to: &mut [u8], from: &[u8]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to ^= from);
}

fn sum(rows: impl Iterator<Item = Rows>) -> Rows {
    rows.reduce(|mut sum, rows| {
        xor(sum.as_bytes_mut(), rows.as_bytes());
        sum
    })
    .unwrap()
}

impl<'p> All<'p> {
    fn new(program: &'p Layered, parties: usize, lanes: usize, random: &mut Prg) -> Self {
        let shape = Shape {
            parties,
            rows: program.rows(),
            lanes,
        };
        let mut walks = Vec::new();
        for me in 0..parties {
            let offset = Offset::random(random);
            let seed = BlockSeed::new(random.next_block());
            // As if each input were of one party, and some of all.
            let parts: Vec<_> = (0..program.input_bits())
                .map(|wire| {
                    let masked = wire % (parties + 1) == me || wire % (parties + 1) == parties;
                    WireSetup::random(1, lanes, masked, random)
                })
                .collect();
            let parts: Vec<_> = parts.iter().collect();
            let mut inputs = WireSetup::concat(&parts).unwrap();
            if parts.is_empty() {
                inputs = WireSetup::new(0, lanes);
            }
            let walk = || MaskWalk::new(program, me == 0, &seed, inputs.masks());
            let (walk, blocks) = meter::metered(walk);
            assert_eq!(blocks, shape.masks_aes(program), "walking masks");
            walks.push((offset, seed, inputs, walk.unwrap()));
        }
        // Shares of the products of masks.
        let bytes = shape.plane_bytes(program);
        let open = |k: usize| {
            let mut plane = vec![0; bytes];
            walks
                .iter()
                .for_each(|(_, _, _, walk)| xor(&mut plane, walk.operands()[k]));
            plane
        };
        let mut last: Vec<u8> = open(0).iter().zip(open(1)).map(|(a, b)| a & b).collect();
        let mut shares: Vec<Vec<u8>> = (1..parties)
            .map(|_| {
                let mut share = vec![0; bytes];
                random.fill(&mut share);
                xor(&mut last, &share);
                share
            })
            .collect();
        shares.push(last);
        let ready = walks.into_iter().zip(shares);
        let ready = ready.map(|((offset, seed, inputs, walk), product)| {
            let (choices, outputs) = walk.choices(&product).unwrap();
            Party {
                offset,
                seed,
                inputs,
                choices,
                outputs,
            }
        });
        Self {
            program,
            shape,
            first: 77,
            parties: ready.collect(),
        }
    }

    /// The rows of all parties, by what a dealer of correlated OTs gives: `[i][j]`.
    fn rows(&self, random: &mut Prg) -> Vec<Vec<Vec<Block>>> {
        let (parties, count) = (self.parties.len(), self.shape.products(self.program));
        let mut all = vec![vec![vec![Block::ZERO; count]; parties]; parties];
        for i in 0..parties {
            for j in (0..parties).filter(|&j| j != i) {
                let mut q = vec![Block::ZERO; count];
                random.fill_blocks(&mut q);
                let delta = self.parties[j].offset.expose();
                let bits = self.parties[i].choices.bits();
                for (place, q) in q.into_iter().enumerate() {
                    let bit = bits[place / 8] >> (place % 8) & 1 == 1;
                    all[i][j][place] = if bit { q ^ delta } else { q };
                    all[j][j][place] ^= q;
                }
            }
        }
        all
    }

    /// The setup: the tables, a column for each party, the parties' zero keys of the outputs beside.
    fn garble(&self, bytes: usize, random: &mut Prg) -> (Vec<Vec<u8>>, Vec<WireSetup>) {
        let (shape, program) = (self.shape, Program::new(self.program));
        let total = shape.column_bytes(self.program.and_count());
        let mut tables = vec![vec![0; total]; shape.parties];
        let rows = self.rows(random);
        let mut outputs = Vec::new();
        for (me, party) in self.parties.iter().enumerate() {
            let (offset, seed) = (&party.offset, &party.seed);
            let mut garbling = Garbling::new(INSTANCE, shape, self.first, me, offset, seed);
            for (row, &wire) in self.program.inputs().iter().enumerate() {
                garbling.set(row, party.inputs.zero(wire as usize)).unwrap();
            }
            let rows: Vec<_> = rows[me].iter().map(|rows| &rows[..]).collect();
            let products = Products::uncorrected(&rows, &party.choices);
            let mut at = 0;
            for chunk in shape.chunks(&program, bytes) {
                let len = shape.column_bytes(chunk.ands.len());
                let mut share = vec![vec![0xa5; len]; shape.parties];
                let mut columns: Vec<_> = share.iter_mut().map(|column| &mut column[..]).collect();
                let work = || garbling.garble(&chunk, products, &mut columns);
                let (done, blocks) = meter::metered(work);
                done.unwrap();
                assert_eq!(blocks, shape.garble_aes(chunk.ands.len()), "garbling");
                for (table, share) in tables.iter_mut().zip(&share) {
                    xor(&mut table[at..at + len], share);
                }
                at += len;
            }
            assert_eq!(at, total);
            let mut part = WireSetup::new(self.program.outputs().len(), shape.lanes);
            for (output, &row) in self.program.outputs().iter().enumerate() {
                let zero = garbling.zero(row as usize);
                part.zero_mut(output).copy_from_slice(zero);
            }
            part.masks_mut()
                .as_bytes_mut()
                .copy_from_slice(party.outputs.as_bytes());
            outputs.push(part);
        }
        (tables, outputs)
    }

    /// The active keys of inputs with these bits.
    fn activate(&self, inputs: &Rows) -> ActiveKeys {
        let masks = self
            .parties
            .iter()
            .map(|party| party.inputs.masks().clone());
        let mut colours = sum(masks);
        xor(colours.as_bytes_mut(), inputs.as_bytes());
        let mut all = ActiveKeys::new(self.parties.len(), inputs.rows(), inputs.lanes());
        for (me, party) in self.parties.iter().enumerate() {
            let keys = party.inputs.activate(&party.offset, &colours).unwrap();
            let bytes: Vec<u8> = keys.iter().flat_map(|key| key.to_bytes()).collect();
            all.set_party(me, &bytes).unwrap();
        }
        all
    }

    /// The outputs' active keys, as one party has them.
    fn evaluate(
        &self,
        me: usize,
        bytes: usize,
        inputs: &ActiveKeys,
        tables: &[Vec<u8>],
    ) -> ActiveKeys {
        let (shape, program) = (self.shape, Program::new(self.program));
        let party = &self.parties[me];
        let (offset, seed) = (&party.offset, &party.seed);
        let mut evaluation = Evaluation::new(INSTANCE, shape, self.first, me, offset, seed);
        for (row, &wire) in self.program.inputs().iter().enumerate() {
            evaluation.set(row, inputs.row(wire as usize)).unwrap();
        }
        let mut at = 0;
        for chunk in shape.chunks(&program, bytes) {
            let len = shape.column_bytes(chunk.ands.len());
            let columns: Vec<_> = (0..shape.parties)
                .filter(|&column| column != me)
                .map(|column| &tables[column][at..at + len])
                .collect();
            let work = || evaluation.evaluate(&chunk, &columns);
            let (done, blocks) = meter::metered(work);
            done.unwrap();
            assert_eq!(blocks, shape.evaluate_aes(chunk.ands.len()), "evaluating");
            at += len;
        }
        let mut outputs = ActiveKeys::new(shape.parties, self.program.outputs().len(), shape.lanes);
        for (output, &row) in self.program.outputs().iter().enumerate() {
            let active = evaluation.active(row as usize);
            outputs.row_mut(output).copy_from_slice(active);
        }
        outputs
    }

    /// Garbles and evaluates as all parties, who cut into chunks as they like; they must agree, have the keys
    /// that the setup says, and by the colours the plain outputs.
    fn check(&self, inputs: &Rows, expected: &Rows, bytes: usize, random: &mut Prg) {
        let (tables, outputs) = self.garble(bytes, random);
        let active = self.activate(inputs);
        let masks = sum(outputs.iter().map(|part| part.masks().clone()));
        for me in 0..self.shape.parties {
            // Of its own column a party has nothing.
            let mut tables = tables.clone();
            tables[me].fill(0);
            let got = self.evaluate(me, bytes / 2, &active, &tables);
            for (owner, part) in outputs.iter().enumerate() {
                let colours = got.colours(owner);
                let mut bits = colours.clone();
                xor(bits.as_bytes_mut(), masks.as_bytes());
                assert!(bits == *expected, "party {me}, by the keys of {owner}");
                let wanted = part.activate(&self.parties[owner].offset, &colours);
                let lanes = self.shape.lanes;
                let keys = wanted.unwrap();
                for (row, keys) in keys.chunks(lanes.max(1)).enumerate() {
                    let got = &got.row(row)[owner * lanes..][..lanes];
                    assert!(got == keys, "party {me}, keys of {owner}");
                }
            }
        }
    }
}

/// In the clear.
fn plain(program: &Layered, inputs: &Rows) -> Rows {
    program.interpret(inputs).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Whatever the circuit, the parties, the lanes and the chunks.
    #[test]
    fn random_circuits(
        netlist in circuit(), parties in 2usize..6, lanes in 0usize..150, bytes in 0usize..20000,
        seed: u64,
    ) {
        let program = Layered::compile(&netlist);
        let mut random = Prg::new(Block::new(seed, 2));
        let inputs = random_rows(program.input_bits(), lanes, &mut random);
        let expected = netlist.evaluate(&inputs).unwrap();
        let all = All::new(&program, parties, lanes, &mut random);
        all.check(&inputs, &expected, bytes, &mut random);
    }
}

#[test]
fn aes_for_any_number_of_lanes() {
    let mut random = random();
    let program = Layered::compile(&read("aes_128.txt"));
    for (parties, lanes) in [(2, 1), (2, 7), (2, 64), (2, 100), (3, 1), (3, 9), (5, 2)] {
        let inputs = random_rows(program.input_bits(), lanes, &mut random);
        let all = All::new(&program, parties, lanes, &mut random);
        all.check(&inputs, &plain(&program, &inputs), 1 << 16, &mut random);
    }
}

/// Outputs that are constants, inputs, and negations of either.
#[test]
fn what_needs_no_table() {
    let mut builder = Builder::new("local");
    let input = builder.input(2);
    let (one, zero) = (builder.constant(true), builder.constant(false));
    let (not, sum) = (builder.not(input[0]), builder.xor(input[0], input[1]));
    builder.output(&[one, zero, not, sum, input[1], not]);
    let netlist = builder.finish();
    let program = Layered::compile(&netlist);
    let mut random = random();
    let inputs = random_rows(2, 11, &mut random);
    let all = All::new(&program, 3, 11, &mut random);
    let expected = netlist.evaluate(&inputs).unwrap();
    all.check(&inputs, &expected, 1000, &mut random);
}

/// A wrong table gives wrong bits of the ANDs that read it, and no panic.
#[test]
fn tampered_tables_are_not_noticed() {
    let mut builder = Builder::new("and");
    let input = builder.input(2);
    let product = builder.and(input[0], input[1]);
    builder.output(&[product]);
    let program = Layered::compile(&builder.finish());
    let mut random = random();
    let inputs = random_rows(2, 64, &mut random);
    let all = All::new(&program, 2, 64, &mut random);
    let (mut tables, outputs) = all.garble(1000, &mut random);
    let masks = sum(outputs.iter().map(|part| part.masks().clone()));
    // The colour in the first coefficient of lane 5.
    tables[1][16 * 5] ^= 1;
    let got = all.evaluate(0, 1000, &all.activate(&inputs), &tables);
    let mut bits = got.colours(1);
    xor(bits.as_bytes_mut(), masks.as_bytes());
    xor(bits.as_bytes_mut(), plain(&program, &inputs).as_bytes());
    assert_eq!(bits.row(0), (1_u64 << 5).to_le_bytes());
    // Anything of the right length gives something.
    for _ in 0..20 {
        tables.iter_mut().for_each(|table| random.fill(table));
        all.evaluate(0, 1000, &all.activate(&inputs), &tables);
    }
}

#[test]
fn wrong_lengths_are_refused() {
    let mut builder = Builder::new("and");
    let input = builder.input(2);
    let product = builder.and(input[0], input[1]);
    builder.output(&[product]);
    let program = Layered::compile(&builder.finish());
    let mut random = random();
    let all = All::new(&program, 2, 3, &mut random);
    let (shape, party) = (all.shape, &all.parties[0]);
    let ready = Program::new(&program);
    let chunk = shape.chunks(&ready, 1000).next().unwrap();
    let rows = vec![Block::ZERO; shape.products(&program)];
    let rows = [&rows[..], &rows[..]];
    let products = Products::uncorrected(&rows, &party.choices);
    let new = |first| Garbling::new(INSTANCE, shape, first, 0, &party.offset, &party.seed);
    let (mut x, mut y, mut short) = ([0; 144], [0; 144], [0; 143]);
    let refused = |result: Result<(), GarblingError>, words: &str| {
        let error = result.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    let mut garbling = new(0);
    refused(garbling.garble(&chunk, products, &mut [&mut x]), "columns");
    refused(
        garbling.garble(&chunk, products, &mut [&mut x, &mut short]),
        "bytes of a column: 144 are due and 143",
    );
    let few = [&rows[0][1..], &rows[1][1..]];
    let few = Products {
        rows: &few,
        ..products
    };
    refused(garbling.garble(&chunk, few, &mut [&mut x, &mut y]), "rows");
    garbling
        .garble(&chunk, products, &mut [&mut x, &mut y])
        .unwrap();
    // The block has no second chunk, and a plane of whole bytes room for a few more.
    garbling
        .garble(&chunk, products, &mut [&mut x, &mut y])
        .unwrap();
    refused(
        garbling.garble(&chunk, products, &mut [&mut x, &mut y]),
        "products of a block: 9 are due and 8",
    );
    refused(
        new(u64::MAX).garble(&chunk, products, &mut [&mut x, &mut y]),
        "start an instance",
    );
    refused(new(0).set(0, &[Block::ZERO; 2]), "keys of a row: 3");
    let mut evaluation = Evaluation::new(INSTANCE, shape, 0, 0, &party.offset, &party.seed);
    refused(evaluation.evaluate(&chunk, &[&x, &y]), "columns of others");
    refused(evaluation.evaluate(&chunk, &[&short]), "bytes of a column");
    let shown = format!(
        "{garbling:?} {evaluation:?} {:?} {:?}",
        party.seed, party.inputs
    );
    assert!(!shown.contains("Block("), "{shown}");
}
