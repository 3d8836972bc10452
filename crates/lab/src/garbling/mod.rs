//! `madrigal-lab garbling`: AND gates garbled and evaluated on one thread, beside the ceiling that this machine's
//! AES sets.
//!
//! Garbler and evaluator take turns, with a window of tables between them that stays in the cache; each
//! has its own clock. Labels of inputs are drawn, and outputs compared with the circuit's, off the clock:
//! nothing wrong has a rate. With N parties, who all do both, it is one of them that is measured.

mod bmr;
mod run;

use std::time::Instant;

use madrigal_circuit::{Builder, Layered, Rows};
use madrigal_garbling::{
    Block, Chunk, Evaluator, Garbler, Instance, Offset, Program, Scheme, Shape, colours,
};
use madrigal_kernels::{Kernels, Prg, ceilings, meter};
use serde::Serialize;

use crate::args::BenchGarbling;
use crate::exit::{Failure, Result};
use crate::known::Known;
use crate::measured::{self, Own, RateRows, Runs, Watch, is_wanted, nothing, per_second};
use crate::numbers::{count, rate, seconds};
use crate::progress::Steps;
use run::{CHUNK, GarblingRun};

/// Bytes of the tables that are between the two at a time, at most, where one layer has not more.
const WINDOW: usize = 128 << 10;

/// ANDs of a layer, and layers, of the circuit that has nothing else.
const WIDTH: u32 = 64;
const DEPTH: u32 = 16;

/// Numbers of parties that garble together, by BMR.
const PARTIES: [usize; 2] = [2, 3];

/// Who garbles, and how.
#[derive(Clone, Copy)]
enum Kind {
    /// One of two parties.
    Two(Scheme),
    /// All parties, of this number.
    All(usize),
}

/// A circuit that is garbled: the last part of a name, the circuit, the lanes of a block.
struct Workload {
    name: &'static str,
    program: Layered,
    lanes: usize,
}

fn workloads() -> Result<[Workload; 3]> {
    let aes = Layered::compile(&Known::Aes.netlist()?);
    let ands = only_ands();
    Ok([
        Workload {
            name: "wide",
            lanes: Shape::lanes_in_cache(ands.rows()),
            program: ands,
        },
        Workload {
            name: "aes",
            lanes: Shape::lanes_in_cache(aes.rows()),
            program: aes.clone(),
        },
        Workload {
            name: "aes1",
            lanes: 1,
            program: aes,
        },
    ])
}

/// Layers of ANDs without any XOR between them.
fn only_ands() -> Layered {
    let mut builder = Builder::new("ANDs");
    let mut wires = builder.input(WIDTH);
    for layer in 1..=DEPTH as usize {
        let other = |place: usize| wires[(place + layer) % wires.len()];
        wires = (0..wires.len())
            .map(|place| builder.and(wires[place], other(place)))
            .collect();
    }
    builder.output(&wires);
    Layered::compile(&builder.finish())
}

pub fn run(args: &BenchGarbling) -> Result<()> {
    let workloads = workloads()?;
    let mut wanted = Vec::new();
    let mut others = Vec::new();
    let two = [
        (Scheme::HalfGates, "half"),
        (Scheme::ThreeHalves, "threehalves"),
    ]
    .map(|(scheme, word)| (Kind::Two(scheme), word.to_owned(), &workloads[..]));
    let all = PARTIES.map(|n| (Kind::All(n), format!("bmr{n}"), &workloads[..1]));
    for (kind, word, workloads) in two.into_iter().chain(all) {
        for workload in workloads {
            let names =
                ["garble", "evaluate"].map(|what| format!("{what}/{word}/{}", workload.name));
            if names.iter().any(|name| is_wanted(&args.only, name)) {
                wanted.push((names, kind, workload));
            } else {
                others.extend(names);
            }
        }
    }
    if wanted.is_empty() {
        return Err(nothing(others.iter().map(String::as_str)));
    }
    let kernels = Kernels::detect();
    let at_first = ceilings::measure(kernels).aes.rate;
    let watch = Watch::new(1);
    let steps = Steps::new(wanted.len() as u64 * u64::from(args.repeat), args.json);
    let mut lines = RateRows::new(args.json);
    for (names, kind, workload) in &wanted {
        steps.name(&format!("{} and {}", names[0], names[1]));
        let mut runs = Vec::new();
        let lanes = match *kind {
            Kind::Two(scheme) => {
                let ready = Program::new(&workload.program);
                let mut bench = Bench::new(scheme, workload)?;
                for _ in 0..args.repeat {
                    steps.advance();
                    watch.look();
                    runs.push(bench.run(&ready, args.count.0)?);
                }
                workload.lanes
            }
            Kind::All(parties) => {
                let mut bench = bmr::Bench::new(&workload.program, parties)?;
                for _ in 0..args.repeat {
                    steps.advance();
                    watch.look();
                    runs.push(bench.run(args.count.0)?);
                }
                bench.lanes()
            }
        };
        watch.look();
        let (aes, cores_free) = (watch.aes(), watch.least());
        for (side, name) in names.iter().enumerate() {
            if is_wanted(&args.only, name) {
                lines.add(&line(name, side, &runs, lanes, aes, cores_free))?;
            }
        }
    }
    steps.clear();
    lines.print(|| {
        format!(
            "{} ANDs a run, median of {} runs, one thread; {}, {}.",
            count(args.count.0 as u64),
            args.repeat,
            kernels.level().name(),
            rate(at_first, " AES blocks/s"),
        )
    })
}

/// Both sides, between two blocks of lanes.
struct Bench<'w> {
    workload: &'w Workload,
    shape: Shape,
    random: Prg,
    offset: Offset,
    garbler: Garbler,
    evaluator: Evaluator,
    /// The number of the next block's first piece.
    first: u64,
    window: Vec<u8>,
}

impl<'w> Bench<'w> {
    fn new(scheme: Scheme, workload: &'w Workload) -> Result<Self> {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).map_err(Failure::bug)?;
        let (seed, session) = secret.split_at(16);
        let mut random = Prg::new(Block::from_bytes(seed.try_into().map_err(Failure::bug)?));
        let mut instance = Instance {
            session: [0; 32],
            garbler: 0,
            evaluator: 1,
            stream: 0,
        };
        instance.session[..16].copy_from_slice(session);
        let shape = Shape {
            scheme,
            rows: workload.program.rows(),
            lanes: workload.lanes,
        };
        let offset = Offset::random(&mut random);
        Ok(Self {
            workload,
            shape,
            garbler: Garbler::new(instance, shape, 0, &offset, random.next_block()),
            evaluator: Evaluator::new(instance, shape, 0),
            random,
            offset,
            first: 0,
            window: Vec::new(),
        })
    }

    /// Runs as many blocks of lanes as have `ands` ANDs, one at least.
    fn run(&mut self, ready: &Program<'_>, ands: usize) -> Result<GarblingRun> {
        let mut run = GarblingRun::default();
        while run.ands == 0 || run.ands < ands {
            self.block(ready, &mut run)?;
        }
        let [garbled, evaluated] = [0, 1].map(|side| run.aes[side]);
        let blocks = run.ands / (self.workload.program.and_count() * self.shape.lanes);
        let layers = || self.workload.program.layers().map(|layer| layer.ands.len());
        let declared = [
            layers()
                .map(|ands| self.shape.garble_aes(ands))
                .sum::<u64>()
                * blocks as u64,
            layers()
                .map(|ands| self.shape.evaluate_aes(ands))
                .sum::<u64>()
                * blocks as u64,
        ];
        if [garbled, evaluated] != declared {
            return Err(Failure::bug(format!(
                "{garbled} and {evaluated} AES blocks were computed where {declared:?} are declared"
            )));
        }
        Ok(run)
    }

    fn block(&mut self, ready: &Program<'_>, run: &mut GarblingRun) -> Result<()> {
        let program = ready.layered();
        self.garbler.restart(self.shape, self.first);
        self.evaluator.restart(self.shape, self.first);
        self.first += self.shape.pieces_of(program);
        let inputs = self.inputs()?;
        let mut waiting: Vec<Chunk<'_>> = Vec::new();
        let mut bytes = 0;
        let mut all = ready.chunks(self.shape, CHUNK).peekable();
        while let Some(chunk) = all.next() {
            bytes += self.shape.table_bytes(chunk.ands.len());
            waiting.push(chunk);
            let next = all.peek().map_or(usize::MAX, |next| next.ands.len());
            if next == usize::MAX || bytes + self.shape.table_bytes(next) > WINDOW {
                self.tables(&waiting, bytes, run)?;
                waiting.clear();
                bytes = 0;
            }
        }
        run.ands += program.and_count() * self.shape.lanes;
        run.bytes += self.shape.table_bytes_of(program);
        self.check(&inputs)
    }

    /// Random inputs, and their labels.
    fn inputs(&mut self) -> Result<Rows> {
        let (program, lanes) = (&self.workload.program, self.shape.lanes);
        let mut inputs = Rows::new(program.input_bits(), lanes);
        self.random.fill(inputs.as_bytes_mut());
        inputs.clear_padding();
        let (mut zero, mut labels) = (vec![Block::ZERO; lanes], vec![Block::ZERO; lanes]);
        for (row, &wire) in program.inputs().iter().enumerate() {
            self.random.fill_blocks(&mut zero);
            let bits = inputs.row(wire as usize);
            self.offset.encode(&zero, bits, &mut labels);
            self.garbler.set(row, &zero).map_err(Failure::bug)?;
            self.evaluator.set(row, &labels).map_err(Failure::bug)?;
        }
        Ok(inputs)
    }

    /// Garbles some chunks, whose tables have `bytes` bytes, and evaluates them.
    fn tables(&mut self, chunks: &[Chunk<'_>], bytes: usize, run: &mut GarblingRun) -> Result<()> {
        let shape = self.shape;
        if self.window.len() < bytes {
            self.window.resize(bytes, 0);
        }
        let window = &mut self.window[..bytes];
        let (garbler, evaluator) = (&mut self.garbler, &mut self.evaluator);
        let start = Instant::now();
        let (done, aes) = meter::metered(|| {
            let mut rest = &mut *window;
            chunks.iter().try_for_each(|chunk| {
                let bytes = shape.table_bytes(chunk.ands.len());
                let table = rest.split_off_mut(..bytes).unwrap_or_default();
                garbler.garble(chunk, table)
            })
        });
        run.seconds[0] += start.elapsed().as_secs_f64();
        done.map_err(Failure::bug)?;
        run.aes[0] += aes;
        let start = Instant::now();
        let (done, aes) = meter::metered(|| {
            let mut rest = &*window;
            chunks.iter().try_for_each(|chunk| {
                let bytes = shape.table_bytes(chunk.ands.len());
                let table = rest.split_off(..bytes).unwrap_or_default();
                evaluator.evaluate(chunk, table)
            })
        });
        run.seconds[1] += start.elapsed().as_secs_f64();
        done.map_err(Failure::bug)?;
        run.aes[1] += aes;
        Ok(())
    }

    /// Compares the outputs with the circuit's own.
    fn check(&self, inputs: &Rows) -> Result<()> {
        let program = &self.workload.program;
        let expected = program.interpret(inputs).map_err(Failure::bug)?;
        let bytes = self.shape.lanes.div_ceil(8);
        let (mut ours, mut theirs) = (vec![0; bytes], vec![0; bytes]);
        for (output, &row) in program.outputs().iter().enumerate() {
            colours(self.garbler.labels(row as usize), &mut ours);
            colours(self.evaluator.labels(row as usize), &mut theirs);
            let sums = ours.iter().zip(&theirs).map(|(ours, theirs)| ours ^ theirs);
            if !sums.eq(expected.row(output)[..bytes].iter().copied()) {
                return Err(Failure::bug(format!("garbled output {output} is wrong")));
            }
        }
        Ok(())
    }
}

/// Makes the line of one side, 0 for the garbler.
fn line(
    name: &str,
    side: usize,
    runs: &[GarblingRun],
    lanes: usize,
    aes: f64,
    cores_free: f64,
) -> RateRow {
    // All runs do the same.
    let first = runs.first();
    let runs = Runs {
        ops: first.map_or(0, |run| run.ands),
        seconds: runs.iter().map(|run| run.seconds[side]).collect(),
        bytes: first.map_or(0, |run| run.bytes) as f64,
        aes: first.map_or(0, |run| run.aes[side]) as f64,
    };
    let ceiling = aes * runs.ops as f64 / runs.aes;
    let own = Figures {
        count: runs.ops,
        lanes,
    };
    RateRow::new(name.to_owned(), &runs, Some(ceiling), cores_free, own)
}

type RateRow = measured::RateRow<Figures>;

#[derive(Serialize)]
struct Figures {
    /// ANDs of one run.
    count: usize,
    /// Lanes of a block.
    lanes: usize,
}

impl Own for Figures {
    const HEADER: &'static [&'static str] = &[
        "name",
        "ANDs",
        "least",
        "most",
        "lanes of a block",
        "bytes of an AND",
        "AES blocks",
        "AES ceiling",
        "reached",
        "time of a run",
    ];

    fn row(line: &RateRow) -> Vec<String> {
        vec![
            line.name.clone(),
            per_second(line.per_second),
            per_second(line.minimum_per_second),
            per_second(line.maximum_per_second),
            line.own.lanes.to_string(),
            format!("{:.3}", line.bytes_per_op),
            format!("{:.2}", line.aes_blocks_per_op),
            line.ceiling_per_second.map(per_second).unwrap_or_default(),
            line.reached(),
            seconds(line.seconds),
        ]
    }
}
