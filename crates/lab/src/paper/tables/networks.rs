//! Tables 1 to 3 of MOTION2NX: networks, between the owner of the weights and that of the data.

use std::path::Path;

use madrigal_circuit::hycc::BitSharing;
use madrigal_core::{Party, budget};
use madrigal_nn::secret::{Format, Roles};
use madrigal_nn::{Graph, Limits, Model, Options, Tensor};
use madrigal_program::lower::Mix;
use madrigal_program::{Inputs, Rounding, Type};

use super::bench::{Bench, Row};
use super::gates;
use crate::exit::{Failure, Result, UnfitModel};
use crate::graphs::Times;
use crate::programs::measure::measure_gates;
use crate::programs::workloads::{Random, Recorded};

/// How a network is computed.
#[derive(Clone, Copy)]
enum Way {
    /// The network is computed by operations on tensors, in a mix, on numbers of this many bits.
    Tensors(Mix, u32),
    /// The network is computed gate by gate, as HyCC compiles it, this many copies side by side.
    Gates(BitSharing, usize),
}

/// A row, and milliseconds of setup and online in LAN and WAN, where the paper has them.
struct Entry {
    name: &'static str,
    way: Way,
    lan: [Option<f64>; 2],
    wan: [Option<f64>; 2],
}

const fn both(name: &'static str, way: Way, lan: [f64; 2], wan: [f64; 2]) -> Entry {
    Entry {
        name,
        way,
        lan: [Some(lan[0]), Some(lan[1])],
        wan: [Some(wan[0]), Some(wan[1])],
    }
}

/// Table 3 tells of online alone.
const fn online(name: &'static str, mix: Mix, bits: u32, [lan, wan]: [f64; 2]) -> Entry {
    Entry {
        name,
        way: Way::Tensors(mix, bits),
        lan: [None, Some(lan)],
        wan: [None, Some(wan)],
    }
}

const AB: Way = Way::Tensors(Mix::AB, 32);
const AY2: Way = Way::Tensors(Mix::AY2, 32);
const ALPHA_BETA: Way = Way::Tensors(Mix::ALPHA_BETA, 32);
const ALPHA_Y2: Way = Way::Tensors(Mix::ALPHA_Y2, 32);
const GATES_B: Way = Way::Gates(BitSharing::Gmw, 1);
const GATES_Y: Way = Way::Gates(BitSharing::Yao, 1);
/// The paper tells the times of one copy of the sixteen.
const SIXTEEN_B: Way = Way::Gates(BitSharing::Gmw, 16);
const SIXTEEN_Y: Way = Way::Gates(BitSharing::Yao, 16);

/// The rows of what the paper calls its NN operations, and those of its own protocols on HyCC's circuits.
const CRYPTONETS: [Entry; 8] = [
    both("A+B/32", AB, [111.2, 11.1], [1005.7, 1047.4]),
    both("A+Y/32", AY2, [103.4, 11.1], [1062.4, 858.6]),
    both("alpha+beta/32", ALPHA_BETA, [129.1, 28.1], [1766.7, 982.2]),
    both("alpha+Y/32", ALPHA_Y2, [136.6, 8.7], [1539.4, 858.6]),
    both("gates/A+B/32", GATES_B, [2221.6, 2075.4], [5961.3, 3059.0]),
    both("gates/A+Y/32", GATES_Y, [1962.0, 2177.4], [5474.3, 2805.8]),
    both(
        "gates/A+B/32/16",
        SIXTEEN_B,
        [650.9, 145.3],
        [2810.5, 263.3],
    ),
    both(
        "gates/A+Y/32/16",
        SIXTEEN_Y,
        [645.5, 142.2],
        [2777.3, 223.7],
    ),
];
const MINIONN_MNIST: [Entry; 8] = [
    both("A+B/32", AB, [649.7, 171.5], [4826.6, 5138.1]),
    both("A+Y/32", AY2, [523.8, 126.7], [4476.5, 2574.9]),
    both(
        "alpha+beta/32",
        ALPHA_BETA,
        [737.0, 151.6],
        [6424.5, 4654.0],
    ),
    both("alpha+Y/32", ALPHA_Y2, [676.1, 81.8], [5908.9, 1235.7]),
    both(
        "gates/A+B/32",
        GATES_B,
        [6423.3, 49_712.7],
        [10_391.8, 46_298.3],
    ),
    both(
        "gates/A+Y/32",
        GATES_Y,
        [16_138.6, 15_073.4],
        [19_085.8, 16_387.4],
    ),
    both(
        "gates/A+B/32/16",
        SIXTEEN_B,
        [1239.6, 3037.3],
        [5163.2, 2903.6],
    ),
    both(
        "gates/A+Y/32/16",
        SIXTEEN_Y,
        [1514.1, 936.8],
        [6129.0, 1467.3],
    ),
];
const MINIONN_CIFAR10: [Entry; 7] = [
    online("A+B/32", Mix::AB, 32, [1167.7, 20_773.1]),
    online("A+Y/32", Mix::AY2, 32, [1246.8, 34_783.5]),
    online("alpha+beta/32", Mix::ALPHA_BETA, 32, [624.2, 7882.5]),
    online("alpha+Y/32", Mix::ALPHA_Y2, 32, [695.6, 6756.2]),
    online("A+B/64", Mix::AB, 64, [2024.6, 37_584.9]),
    online("A+Y/64", Mix::AY2, 64, [2231.1, 66_187.8]),
    online("alpha+beta/64", Mix::ALPHA_BETA, 64, [989.5, 11_768.9]),
];

pub(super) fn rows(bench: &Bench<'_>, model: &Path) -> Result<Vec<Row>> {
    let entries = match bench.number {
        1 => Vec::from(CRYPTONETS),
        2 => Vec::from(MINIONN_MNIST),
        _ => Vec::from(MINIONN_CIFAR10),
    };
    let entries = bench.wanted(entries, |entry| entry.name)?;
    let mut rows = Vec::new();
    for name in &bench.args.network {
        let network = crate::reach::Network::parse(name)?;
        for entry in &entries {
            bench.steps.name(&format!("{}, {name}", entry.name));
            let (measured, copies) = match entry.way {
                Way::Tensors(mix, bits) => {
                    let (_, recorded) = program(model, bits)?;
                    (bench.measure(mix, &recorded, network)?, 1)
                }
                Way::Gates(sharing, copies) => {
                    let (graph, _) = program(model, 32)?;
                    let gates = gates::network(&graph, sharing, copies)?;
                    (measure_gates(gates, &bench.setting(network))?, copies)
                }
            };
            let median = |pick: fn(&Times) -> f64| measured.median(pick) / copies as f64;
            let (total, ours) = (median(|times| times.total), median(|times| times.online));
            let [setup, online] = match &name[..] {
                "lan" => entry.lan,
                "wan" => entry.wan,
                _ => [None; 2],
            }
            .map(|milliseconds| milliseconds.map(|time| time * 1e-3));
            let paper = setup.zip(online).map(|(setup, online)| setup + online);
            let faster = paper.map(|paper| paper / total);
            let row = Row {
                ops: copies,
                online_seconds: Some(ours),
                paper_seconds: paper,
                paper_online_seconds: online,
                faster: faster.or(online.map(|online| online / ours)),
                ..bench.row(entry.name.to_owned(), 2, name, total)
            };
            bench.tell(&mut rows, row)?;
        }
    }
    Ok(rows)
}

/// Reads a network; gives it, and the program that computes it on random data, with weights of one party and data of
/// the other.
fn program(path: &Path, bits: u32) -> Result<(Graph, Recorded)> {
    let unfit = |problem: Box<dyn std::error::Error + Send + Sync>| UnfitModel {
        path: path.to_owned(),
        problem,
    };
    let limits = Limits::default();
    let bytes = budget::read_regular(path, limits.bytes as u64);
    let bytes = bytes.map_err(|error| Failure::file("read the model", path)(error.into()))?;
    let model = Model::read_at(bytes, path, &limits).map_err(|error| unfit(error.into()))?;
    let graph = model.import(&Options::default());
    let graph = graph.map_err(|error| unfit(error.into()))?;
    // As much after the point as the trained networks need: 10 bits of 32, 18 of 64.
    let number = Type::fixed(bits, bits / 4 + 2);
    let number = number.ok_or_else(|| Failure::bug(format!("no numbers of {bits} bits")))?;
    let roles = Roles {
        parties: 2,
        model: Party::new(0),
        data: Party::new(1),
        to: vec![Party::new(1)],
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
    let inputs = network.with_weights(&graph, Inputs::new());
    let inputs = inputs.and_then(|inputs| network.with_data(&data, inputs));
    let inputs = inputs.map_err(|error| unfit(error.into()))?;
    let program = network.program().clone();
    Ok((graph, Recorded { program, inputs }))
}
