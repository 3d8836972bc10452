//! N parties who garble and evaluate a circuit, all in one place, with a dealer in the place of correlated OTs.

use madrigal_circuit::{Layered, Rows};
use madrigal_garbling::bmr::{
    ActiveKeys, BlockSeed, Choices, Evaluation, Garbling, Gates, Hashed, Instance, MaskWalk,
    PeerRows, Products, Shape, WireSetup,
};
use madrigal_garbling::{Block, Offset, Program};
use madrigal_kernels::{Prg, meter};

pub(crate) const INSTANCE: Instance = Instance {
    session: [9; 32],
    stream: 3,
};

/// Rows and choices that one party has of the OTs with its peers: sent to each, received from each, and its choices.
#[derive(Clone)]
pub(crate) struct Dealt {
    pub(crate) sent: Vec<Vec<Block>>,
    received: Vec<Vec<Block>>,
    choices: Vec<u8>,
}

impl Dealt {
    pub(crate) fn ots(&self) -> Vec<PeerRows<'_>> {
        let both = self.sent.iter().zip(&self.received);
        both.map(|(sent, received)| PeerRows { sent, received })
            .collect()
    }
}

/// Deals `count` OTs each way, with random choices of those who are among `choosers`, and 0 of others.
fn deal(
    offsets: &[Offset],
    count: usize,
    choosers: impl Fn(usize) -> bool,
    random: &mut Prg,
) -> Vec<Dealt> {
    let parties = offsets.len();
    let mut all: Vec<Dealt> = (0..parties)
        .map(|me| {
            let mut choices = vec![0; count.div_ceil(8)];
            if choosers(me) {
                random.fill(&mut choices);
            }
            let strings = vec![vec![Block::ZERO; count]; parties - 1];
            Dealt {
                sent: strings.clone(),
                received: strings,
                choices,
            }
        })
        .collect();
    let place = |me: usize, peer: usize| peer - usize::from(peer > me);
    for to in (0..parties).filter(|&to| choosers(to)) {
        for from in (0..parties).filter(|&from| from != to) {
            let mut q = vec![Block::ZERO; count];
            random.fill_blocks(&mut q);
            let choices = all[to].choices.clone();
            offsets[from].encode(&q, &choices, &mut all[to].received[place(to, from)]);
            all[from].sent[place(from, to)] = q;
        }
    }
    all
}

/// One party before it garbles.
pub(crate) struct Party {
    pub(crate) offset: Offset,
    pub(crate) seed: BlockSeed,
    pub(crate) inputs: WireSetup,
    pub(crate) dealt: Dealt,
    pub(crate) own: Choices,
    outputs: Rows,
}

/// All parties, with masks multiplied and all bits chosen.
pub(crate) struct All<'p> {
    program: &'p Layered,
    pub(crate) shape: Shape,
    first: u64,
    /// Flips of each party, for inputs.
    flips: Vec<Vec<u8>>,
    pub(crate) parties: Vec<Party>,
}

pub(crate) fn xor(to: &mut [u8], from: &[u8]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to ^= from);
}

pub(crate) fn sum(rows: impl Iterator<Item = Rows>) -> Rows {
    rows.reduce(|mut sum, rows| {
        xor(sum.as_bytes_mut(), rows.as_bytes());
        sum
    })
    .unwrap()
}

impl<'p> All<'p> {
    pub(crate) fn new(
        program: &'p Layered,
        parties: usize,
        lanes: usize,
        random: &mut Prg,
    ) -> Self {
        let shape = Shape {
            parties,
            rows: program.rows(),
            lanes,
            gates: Gates::TwoOts,
        };
        let offsets: Vec<_> = (0..parties).map(|_| Offset::random(random)).collect();
        // Inputs are made as if each were of one party, and some of all.
        let mut inputs = Vec::new();
        for me in 0..parties {
            let part = |wire: usize, random: &mut Prg| {
                let of = wire % (parties + 1);
                WireSetup::random(1, lanes, of == me || of == parties, random)
            };
            let parts: Vec<_> = (0..program.input_bits())
                .map(|wire| part(wire, random))
                .collect();
            inputs.push(match &parts[..] {
                [] => WireSetup::new(0, lanes),
                parts => WireSetup::concat(&parts.iter().collect::<Vec<_>>()).unwrap(),
            });
        }
        let dealt = deal(&offsets, shape.products(program), |_| true, random);
        let plane = shape.plane_bytes(program);
        let ready = Program::new(program);
        let mut walks = Vec::new();
        for (me, (offset, dealt)) in offsets.iter().zip(&dealt).enumerate() {
            let masks = &dealt.choices[..plane];
            let walk = MaskWalk::new(program, me == 0, masks, inputs[me].masks()).unwrap();
            let place = (INSTANCE, 5 << 10);
            let hash = || Hashed::new(&ready, place, me, offset, shape, &dealt.ots());
            let (hashed, blocks) = meter::metered(hash);
            assert_eq!(blocks, shape.hashed_aes(program), "hashing rows");
            walks.push((walk, hashed.unwrap()));
        }
        let flips: Vec<Vec<u8>> = inputs
            .iter()
            .zip(&dealt)
            .map(|(inputs, dealt)| {
                let mut flips = dealt.choices[2 * plane..].to_vec();
                if plane > 0 {
                    for wire in 0..inputs.rows() {
                        for lane in 0..lanes {
                            let bit = inputs.masks().row(wire)[lane / 8] >> (lane % 8) & 1;
                            let place = wire * lanes + lane;
                            flips[place / 8] ^= bit << (place % 8);
                        }
                    }
                }
                flips
            })
            .collect();
        let flipped = |of: &[usize]| {
            let mut inputs = Rows::new(program.input_bits(), lanes);
            for wire in 0..if plane > 0 { inputs.rows() } else { 0 } {
                for lane in 0..lanes {
                    let place = wire * lanes + lane;
                    let bits = of.iter().map(|&me| flips[me][place / 8] >> (place % 8) & 1);
                    inputs.row_mut(wire)[lane / 8] ^= bits.fold(0, |a, b| a ^ b) << (lane % 8);
                }
            }
            MaskWalk::new(program, false, &vec![0; plane], &inputs).unwrap()
        };
        // Everyone tells everyone, in turn.
        let told = |me: usize| -> Vec<u8> {
            let mut sum = vec![0; plane];
            for peer in (0..parties).filter(|&peer| peer != me) {
                let (walk, hashed) = &walks[peer];
                let place = me - usize::from(me > peer);
                xor(&mut sum, &hashed.message(place, walk).unwrap());
            }
            sum
        };
        let told: Vec<_> = (0..parties).map(told).collect();
        let mut corrections = vec![0; plane];
        let mut ready = Vec::new();
        for (me, ((walk, hashed), dealt)) in walks.into_iter().zip(&dealt).enumerate() {
            let others: Vec<_> = (0..parties).filter(|&peer| peer != me).collect();
            let walks = [flipped(&[me]), flipped(&others)];
            let flips = walks.each_ref().map(|walk| walk.operands()[0]);
            let product = hashed.share(&walk, &told[me], flips).unwrap();
            let mut correction = product.to_vec();
            xor(&mut correction, &dealt.choices[plane..2 * plane]);
            xor(&mut corrections, &correction);
            let (own, outputs) = walk.choices(&product).unwrap();
            ready.push((correction, own, outputs));
        }
        let ready = ready.into_iter().zip(offsets).zip(inputs).zip(dealt);
        let ready = ready.map(
            |((((correction, mut own, outputs), offset), inputs), dealt)| {
                // Adds the corrections of all others.
                own.add(&corrections).unwrap();
                own.add(&correction).unwrap();
                Party {
                    offset,
                    seed: BlockSeed::new(random.next_block()),
                    inputs,
                    dealt,
                    own,
                    outputs,
                }
            },
        );
        Self {
            program,
            shape,
            first: 77,
            flips,
            parties: ready.collect(),
        }
    }

    /// The setup: the tables, a column for each party, the parties' zero keys of the outputs beside.
    pub(crate) fn garble(&self, bytes: usize) -> (Vec<Vec<u8>>, Vec<WireSetup>) {
        let (shape, program) = (self.shape, Program::new(self.program));
        let total = shape.column_bytes(self.program.and_count());
        let mut tables = vec![vec![0; total]; shape.parties];
        let mut outputs = Vec::new();
        for (me, party) in self.parties.iter().enumerate() {
            let (offset, seed) = (&party.offset, &party.seed);
            let (ots, flips) = (party.dealt.ots(), self.flips_of_others(me));
            let products = Products {
                ots: &ots,
                own: &party.own,
                flips: &flips,
            };
            let mut garbling = if me == 0 {
                Garbling::new(INSTANCE, shape, self.first, me, offset, seed)
            } else {
                // In the memory of another block, whose rows are full.
                let mut other = Garbling::new(
                    INSTANCE,
                    other(shape),
                    3,
                    me,
                    offset,
                    &BlockSeed::new(Block::ONES),
                );
                if party.inputs.rows() > 0 {
                    for row in 0..other.shape().rows {
                        other.set(row, 0, party.inputs.zero(0), products).unwrap();
                    }
                }
                other.restart(INSTANCE, shape, self.first, seed);
                other
            };
            for (row, &wire) in self.program.inputs().iter().enumerate() {
                let zero = party.inputs.zero(wire as usize);
                garbling.set(row, wire as usize, zero, products).unwrap();
            }
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
    pub(crate) fn activate(&self, inputs: &Rows) -> ActiveKeys {
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
    pub(crate) fn evaluate(
        &self,
        me: usize,
        bytes: usize,
        inputs: &ActiveKeys,
        tables: &[Vec<u8>],
    ) -> ActiveKeys {
        let (shape, program) = (self.shape, Program::new(self.program));
        let party = &self.parties[me];
        let (offset, seed) = (&party.offset, &party.seed);
        let mut evaluation = if me == 0 {
            Evaluation::new(INSTANCE, shape, self.first, me, offset, seed)
        } else {
            let mut other = Evaluation::new(
                INSTANCE,
                other(shape),
                3,
                me,
                offset,
                &BlockSeed::new(Block::ONES),
            );
            let keys = vec![Block::ONES; shape.parties * shape.lanes];
            for row in 0..other.shape().rows {
                other.set(row, &keys).unwrap();
            }
            other.restart(INSTANCE, shape, self.first, seed);
            other
        };
        for (row, &wire) in self.program.inputs().iter().enumerate() {
            evaluation.set(row, inputs.row(wire as usize)).unwrap();
        }
        let columns = (0..shape.parties).filter(|&column| column != me);
        let mut columns: Vec<&[u8]> = columns.map(|column| &*tables[column]).collect();
        for chunk in shape.chunks(&program, bytes) {
            let work = || evaluation.evaluate(&chunk, &mut columns);
            let (done, blocks) = meter::metered(work);
            done.unwrap();
            assert_eq!(blocks, shape.evaluate_aes(chunk.ands.len()), "evaluating");
        }
        assert!(columns.iter().all(|left| left.is_empty()), "{columns:?}");
        let mut outputs = ActiveKeys::new(shape.parties, self.program.outputs().len(), shape.lanes);
        for (output, &row) in self.program.outputs().iter().enumerate() {
            let active = evaluation.active(row as usize);
            outputs.row_mut(output).copy_from_slice(active);
        }
        outputs
    }

    /// Garbles and evaluates as all parties, who cut into chunks as they like; they must agree, have the keys
    /// that the setup says, and by the colours the plain outputs.
    pub(crate) fn check(&self, inputs: &Rows, expected: &Rows, bytes: usize) {
        let (tables, outputs) = self.garble(bytes);
        let active = self.activate(inputs);
        let masks = sum(outputs.iter().map(|part| part.masks().clone()));
        for me in 0..self.shape.parties {
            // A party has no table of its own column.
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

impl All<'_> {
    pub(crate) fn flips_of_others(&self, me: usize) -> Vec<&[u8]> {
        let all = self.flips.iter().enumerate();
        all.filter(|(peer, _)| *peer != me)
            .map(|(_, flips)| &flips[..])
            .collect()
    }
}

/// Another block, with more rows.
fn other(shape: Shape) -> Shape {
    Shape {
        rows: shape.rows + 3,
        ..shape
    }
}
