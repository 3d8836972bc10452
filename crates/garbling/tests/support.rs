//! Both sides in one function, and random circuits.

use madrigal_circuit::{Builder, Layered, Netlist, Rows};
use madrigal_garbling::{
    Block, Evaluator, Garbler, Instance, Offset, Program, Scheme, Shape, colours,
};
use madrigal_kernels::{Prg, meter};
use proptest::prelude::*;

pub(crate) const SCHEMES: [Scheme; 2] = [Scheme::HalfGates, Scheme::ThreeHalves];

pub(crate) const INSTANCE: Instance = Instance {
    session: [3; 32],
    garbler: 0,
    evaluator: 1,
    stream: 5,
};

/// A generator whose seed is printed, unless `MADRIGAL_TEST_SEED` sets it.
pub(crate) fn random() -> Prg {
    let seed = match std::env::var("MADRIGAL_TEST_SEED") {
        Ok(seed) => seed.parse().expect("a decimal number"),
        Err(_) => std::time::UNIX_EPOCH
            .elapsed()
            .map_or(1, |time| time.as_nanos() as u64),
    };
    println!("MADRIGAL_TEST_SEED={seed}");
    Prg::new(Block::new(seed, 1))
}

pub(crate) fn random_rows(rows: usize, lanes: usize, random: &mut Prg) -> Rows {
    let mut all = Rows::new(rows, lanes);
    random.fill(all.as_bytes_mut());
    all.clear_padding();
    all
}

/// One block of lanes, garbler and evaluator.
pub(crate) struct Both<'p> {
    pub(crate) program: &'p Layered,
    pub(crate) shape: Shape,
    pub(crate) garbler: Garbler,
    pub(crate) evaluator: Evaluator,
    pub(crate) offset: Offset,
}

impl<'p> Both<'p> {
    pub(crate) fn new(
        program: &'p Layered,
        scheme: Scheme,
        lanes: usize,
        random: &mut Prg,
    ) -> Self {
        let rows = program.rows();
        let shape = Shape {
            scheme,
            rows,
            lanes,
        };
        let offset = Offset::random(random);
        let seed = random.next_block();
        Self {
            program,
            shape,
            garbler: Garbler::new(INSTANCE, shape, 0, &offset, seed),
            evaluator: Evaluator::new(INSTANCE, shape, 0),
            offset,
        }
    }

    /// Labels for inputs that have these bits.
    pub(crate) fn encode(&mut self, inputs: &Rows, random: &mut Prg) {
        let lanes = self.shape.lanes;
        for (row, &wire) in self.program.inputs().iter().enumerate() {
            let (mut zero, mut labels) = (vec![Block::ZERO; lanes], vec![Block::ZERO; lanes]);
            random.fill_blocks(&mut zero);
            let bits = inputs.row(wire as usize);
            self.offset.encode(&zero, bits, &mut labels);
            self.garbler.set(row, &zero).unwrap();
            self.evaluator.set(row, &labels).unwrap();
        }
    }

    /// Garbles and evaluates, chunk by chunk of `bytes` bytes, with tables as `tamper` leaves them. Gives all
    /// bytes, and checks AES blocks and lengths against what is declared.
    pub(crate) fn run(&mut self, bytes: usize, mut tamper: impl FnMut(&mut [u8])) -> Vec<u8> {
        let mut all = Vec::new();
        let program = Program::new(self.program);
        for chunk in program.chunks(self.shape, bytes) {
            let ands = chunk.ands.len();
            let mut table = vec![0xa5; self.shape.table_bytes(ands)];
            let (done, blocks) = meter::metered(|| self.garbler.garble(&chunk, &mut table));
            done.unwrap();
            assert_eq!(blocks, self.shape.garble_aes(ands), "garbling {ands} ANDs");
            all.extend(&table);
            tamper(&mut table);
            let (done, blocks) = meter::metered(|| self.evaluator.evaluate(&chunk, &table));
            done.unwrap();
            assert_eq!(
                blocks,
                self.shape.evaluate_aes(ands),
                "evaluating {ands} ANDs"
            );
        }
        assert_eq!(all.len() as u64, self.shape.table_bytes_of(self.program));
        all
    }

    /// The outputs, by both sides' colours.
    pub(crate) fn decode(&self) -> Rows {
        let mut outputs = Rows::new(self.program.outputs().len(), self.shape.lanes);
        let bytes = self.shape.lanes.div_ceil(8);
        for (output, &row) in self.program.outputs().iter().enumerate() {
            let (mut ours, mut theirs) = (vec![0; bytes], vec![0; bytes]);
            colours(self.garbler.labels(row as usize), &mut ours);
            colours(self.evaluator.labels(row as usize), &mut theirs);
            let row = outputs.row_mut(output);
            for (out, (ours, theirs)) in row.iter_mut().zip(ours.iter().zip(&theirs)) {
                *out = ours ^ theirs;
            }
        }
        outputs
    }
}

/// Garbles and evaluates in the clear.
pub(crate) fn compute(
    program: &Layered,
    scheme: Scheme,
    inputs: &Rows,
    bytes: usize,
    random: &mut Prg,
) -> Rows {
    let mut both = Both::new(program, scheme, inputs.lanes(), random);
    both.encode(inputs, random);
    both.run(bytes, |_| ());
    both.decode()
}

/// A random circuit of a few inputs: the kind of each gate, and its operands modulo what there is.
pub(crate) fn circuit() -> impl Strategy<Value = Netlist> {
    let gates = prop::collection::vec((0u8..10, any::<u16>(), any::<u16>()), 0..120);
    (1u32..8, gates, 1usize..10).prop_map(|(inputs, gates, outputs)| {
        let mut builder = Builder::new("random");
        let mut wires = builder.input(inputs);
        for (kind, a, b) in gates {
            // Half of the operands are among the last eight wires, so that circuits become deep.
            let pick = |pick: u16| {
                let (place, recent) = (usize::from(pick / 2), pick % 2 == 1);
                let from = if recent {
                    wires.len().saturating_sub(8)
                } else {
                    0
                };
                wires[from + place % (wires.len() - from)]
            };
            let (a, b) = (pick(a), pick(b));
            let wire = match kind {
                0..=2 => builder.xor(a, b),
                3..=6 => builder.and(a, b),
                7 => builder.or(a, b),
                8 => builder.not(a),
                _ => builder.constant(kind & 1 == 1),
            };
            wires.push(wire);
        }
        let outputs = wires[wires.len().saturating_sub(outputs)..].to_vec();
        builder.output(&outputs);
        builder.finish()
    })
}

/// A circuit from the data of the circuits' crate.
pub(crate) fn read(file: &str) -> Netlist {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../circuit/tests/data");
    let text = std::fs::read(format!("{folder}/{file}")).unwrap();
    Netlist::read(file, &text, &Default::default()).unwrap()
}
