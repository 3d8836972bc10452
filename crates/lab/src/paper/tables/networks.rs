//! Table 5 of MOTION and Tables 1 to 3 of MOTION2NX: networks, between the owner of the weights and that of the data.

use std::path::Path;
use std::sync::Arc;

use madrigal_circuit::hycc::BitSharing;
use madrigal_core::{Party, budget};
use madrigal_nn::secret::{Format, Roles};
use madrigal_nn::{Graph, Limits, Model, Options, Tensor, known};
use madrigal_program::lower::Mix;
use madrigal_program::{Inputs, Rounding, Type};

use super::gates::{self, Shape};
use super::{Jobs, of_one, run, run_recorded, setting};
use crate::exit::{Failure, Result, UnfitModel};
use crate::graphs::Measured;
use crate::paper::bench::{Bench, Job, Quantity};
use crate::paper::estimate::Estimate;
use crate::paper::published::Place;
use crate::programs::measure::of_gates;
use crate::programs::workloads::{Random, Recorded};

/// Copies of a network in the paper's SIMD rows.
const COPIES: usize = 16;

/// How a network is computed.
#[derive(Clone, Copy)]
enum Way {
    /// The network is computed by operations on tensors, in a mix, on numbers of this many bits.
    Tensors(Mix, u32),
    /// The network is computed gate by gate, as HyCC compiles it, in A and its bits or in alpha, this many copies side by
    /// side.
    Gates(BitSharing, bool, usize),
}

/// Quantities that are told of a network.
#[derive(Clone, Copy, PartialEq)]
enum Whats {
    /// Everything, base OTs included.
    Total,
    /// Setup without base OTs, and online.
    Phases,
    Online,
}

/// A model, read or made when it is first needed.
#[derive(Clone)]
struct Source {
    path: Option<Arc<Path>>,
    make: fn() -> known::Network,
}

impl Source {
    fn new(bench: &Bench<'_>, make: fn() -> known::Network) -> Self {
        let path = bench.args.model.as_deref().map(Arc::from);
        Self { path, make }
    }

    fn graph(&self) -> Result<Graph> {
        let Some(path) = &self.path else {
            let file = (self.make)().file();
            let model = Model::read(file, &Limits::default()).map_err(Failure::bug)?;
            return model.import(&Options::default()).map_err(Failure::bug);
        };
        let limits = Limits::default();
        let bytes = budget::read_regular(path, limits.bytes as u64);
        let bytes = bytes.map_err(|error| Failure::file("read the model", path)(error.into()))?;
        let unfit = |problem| UnfitModel {
            path: path.to_path_buf(),
            problem,
        };
        let model = Model::read_at(bytes, path, &limits).map_err(|error| unfit(error.into()))?;
        let graph = model.import(&Options::default());
        Ok(graph.map_err(|error| unfit(error.into()))?)
    }
}

/// Table 5 of MOTION.
pub fn of_motion(bench: &Bench<'_>, place: &Place) -> Jobs {
    let source = Source::new(bench, known::cryptonets);
    let garbled = match place.parties {
        2 => Mix::AY2,
        _ => Mix::AY,
    };
    let ways = [
        ("gates/A+B", Way::Gates(BitSharing::Gmw, false, 1)),
        ("gates/A+Y", Way::Gates(BitSharing::Yao, false, 1)),
        ("A+B", Way::Tensors(Mix::AB, 32)),
        ("A+Y", Way::Tensors(garbled, 32)),
    ];
    let job = |(row, way)| job(row, way, &source, Whats::Total);
    Ok(ways.into_iter().map(job).collect())
}

pub fn cryptonets(bench: &Bench<'_>, place: &Place) -> Jobs {
    of_motion2nx(bench, place, known::cryptonets)
}

pub fn minionn_mnist(bench: &Bench<'_>, place: &Place) -> Jobs {
    of_motion2nx(bench, place, known::minionn_mnist)
}

/// Tables 1 and 2 of MOTION2NX.
fn of_motion2nx(bench: &Bench<'_>, _: &Place, make: fn() -> known::Network) -> Jobs {
    let source = Source::new(bench, make);
    let (layers, ands) = (BitSharing::Gmw, BitSharing::Yao);
    let mixes = [
        ("A+B", Mix::AB, layers, false),
        ("A+Y", Mix::AY2, ands, false),
        ("alpha+beta", Mix::ALPHA_BETA, layers, true),
        ("alpha+Y", Mix::ALPHA_Y2, ands, true),
    ];
    let mut jobs = Vec::new();
    for (name, mix, bits, alpha) in mixes {
        let ways = [
            (format!("gates/{name}/32"), Way::Gates(bits, alpha, 1)),
            (
                format!("gates/{name}/32/{COPIES}"),
                Way::Gates(bits, alpha, COPIES),
            ),
            (format!("{name}/32"), Way::Tensors(mix, 32)),
        ];
        let job = |(row, way): (String, Way)| job(&row, way, &source, Whats::Phases);
        jobs.extend(ways.into_iter().map(job));
    }
    Ok(jobs)
}

/// Table 3 of MOTION2NX.
pub fn minionn_cifar10(bench: &Bench<'_>, _: &Place) -> Jobs {
    let source = Source::new(bench, known::minionn_cifar10);
    let mixes = [
        ("A+B", Mix::AB),
        ("A+Y", Mix::AY2),
        ("alpha+beta", Mix::ALPHA_BETA),
        ("alpha+Y", Mix::ALPHA_Y2),
    ];
    let mut jobs = Vec::new();
    for bits in [32, 64] {
        for (name, mix) in mixes {
            let (row, way) = (format!("{name}/{bits}"), Way::Tensors(mix, bits));
            jobs.push(job(&row, way, &source, Whats::Online));
        }
    }
    Ok(jobs)
}

impl Whats {
    fn quantities(self, row: &str) -> Vec<Quantity> {
        let names: &[&str] = match self {
            Self::Total => &["total"],
            Self::Phases => &["setup", "online"],
            Self::Online => &["online"],
        };
        let of = |name: &&str| Quantity::seconds(row, *name);
        names.iter().map(of).collect()
    }

    fn told(self, measured: &Measured, copies: usize) -> Vec<Estimate> {
        let online = || of_one(measured, copies, |times| times.online);
        match self {
            Self::Total => vec![of_one(measured, copies, |times| times.total)],
            Self::Phases => {
                let setup = of_one(measured, copies, |times| times.setup_beyond_base_ots);
                vec![setup, online()]
            }
            Self::Online => vec![online()],
        }
    }
}

fn job(row: &str, way: Way, source: &Source, whats: Whats) -> Job<'static> {
    let source = source.clone();
    Job::new(whats.quantities(row), move |bench, place| {
        let graph = source.graph()?;
        let phases = whats != Whats::Total;
        match way {
            Way::Tensors(mix, bits) => {
                let path = source.path.as_deref();
                let recorded = program(&graph, path, bits, place.parties)?;
                run_recorded(bench, place, (mix, phases), &recorded, |measured| {
                    whats.told(measured, 1)
                })
            }
            Way::Gates(bits, alpha, copies) => {
                let shape = Shape {
                    parties: place.parties,
                    bits,
                    alpha,
                    copies,
                };
                let gates = gates::network(&graph, shape)?;
                let setting = setting(bench, place, phases)?;
                run(bench, &of_gates(gates, &setting)?, &setting, |measured| {
                    whats.told(measured, copies)
                })
            }
        }
    })
}

/// Makes the program that computes a network on random data, with weights of the first party and data of the second.
fn program(graph: &Graph, path: Option<&Path>, bits: u32, parties: usize) -> Result<Recorded> {
    let unfit = |problem: Box<dyn std::error::Error + Send + Sync>| match path {
        Some(path) => UnfitModel {
            path: path.to_owned(),
            problem,
        }
        .into(),
        None => Failure::bug(problem),
    };
    // As much after the point as the trained networks need: 10 bits of 32, 18 of 64.
    let number = Type::fixed(bits, bits / 4 + 2);
    let number = number.ok_or_else(|| Failure::bug(format!("no numbers of {bits} bits")))?;
    let roles = Roles {
        parties,
        model: Party::new(0),
        data: Party::new(1).into(),
        to: vec![Party::new(1).into()],
        public_model: false,
    };
    let format = Format {
        number,
        rounding: Rounding::Exact,
    };
    let network = graph.on_secrets(&roles, format);
    let network = network.map_err(|error| unfit(error.into()))?;
    let mut random = Random::new()?;
    let mut data = Vec::new();
    for (_, id) in graph.inputs() {
        let shape = graph.value(*id).ty.shape.clone();
        let words = random.words(shape.iter().product()).into_iter();
        let pixels = words.map(|word| (word >> 56) as f32 / 255.0).collect();
        data.push(Tensor::f32(shape, pixels).map_err(Failure::bug)?);
    }
    let inputs = network.with_weights(graph, Inputs::new());
    let inputs = inputs.and_then(|inputs| network.with_data(&data, inputs));
    let inputs = inputs.map_err(|error| unfit(error.into()))?;
    let program = network.program().clone();
    Ok(Recorded { program, inputs })
}
