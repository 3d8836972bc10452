//! Tables 1 to 3 of MOTION2NX: networks, between the owner of the weights and that of the data.

use std::path::Path;

use madrigal_nn::Tensor;
use madrigal_program::lower::Mix;
use madrigal_program::{Inputs, Type};

use super::super::super::programs::measure::Times;
use super::super::super::programs::workloads::{Made as Measured, Random};
use super::{Bench, Row};
use crate::args::{NumberArg, Receivers};
use crate::commands::infer::made::{Asked, Made, read};
use crate::exit::{Failure, Result};
use crate::stats::Spread;

/// A mix and bits of a number, and milliseconds of setup and online in LAN and WAN, where the paper has them.
struct Entry {
    name: &'static str,
    mix: Mix,
    bits: u32,
    lan: [Option<f64>; 2],
    wan: [Option<f64>; 2],
}

const fn both(name: &'static str, mix: Mix, lan: [f64; 2], wan: [f64; 2]) -> Entry {
    Entry {
        name,
        mix,
        bits: 32,
        lan: [Some(lan[0]), Some(lan[1])],
        wan: [Some(wan[0]), Some(wan[1])],
    }
}

/// Table 3 tells of online alone.
const fn online(name: &'static str, mix: Mix, bits: u32, [lan, wan]: [f64; 2]) -> Entry {
    Entry {
        name,
        mix,
        bits,
        lan: [None, Some(lan)],
        wan: [None, Some(wan)],
    }
}

/// The rows of what the paper calls its NN operations.
const CRYPTONETS: [Entry; 4] = [
    both("A+B/32", Mix::AB, [111.2, 11.1], [1005.7, 1047.4]),
    both("A+Y/32", Mix::AY2, [103.4, 11.1], [1062.4, 858.6]),
    both(
        "alpha+beta/32",
        Mix::ALPHA_BETA,
        [129.1, 28.1],
        [1766.7, 982.2],
    ),
    both("alpha+Y/32", Mix::ALPHA_Y2, [136.6, 8.7], [1539.4, 858.6]),
];
const MINIONN_MNIST: [Entry; 4] = [
    both("A+B/32", Mix::AB, [649.7, 171.5], [4826.6, 5138.1]),
    both("A+Y/32", Mix::AY2, [523.8, 126.7], [4476.5, 2574.9]),
    both(
        "alpha+beta/32",
        Mix::ALPHA_BETA,
        [737.0, 151.6],
        [6424.5, 4654.0],
    ),
    both("alpha+Y/32", Mix::ALPHA_Y2, [676.1, 81.8], [5908.9, 1235.7]),
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
            let times = bench.times(entry.mix, &program(model, entry.bits)?, network)?;
            let median =
                |pick: fn(&Times) -> f64| Spread::of(times.iter().map(pick).collect()).median;
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

/// The network on random data, with weights of one party and data of the other.
fn program(path: &Path, bits: u32) -> Result<Measured> {
    let file = read(path)?;
    // As much after the point as the trained networks need: 10 bits of 32, 18 of 64.
    let number = Type::fixed(bits, bits / 4 + 2);
    let number = number.ok_or_else(|| Failure::bug(format!("no numbers of {bits} bits")))?;
    let made = Made::new(
        &file,
        &Asked {
            model: path,
            parties: 2,
            batch: None,
            to: &Receivers::These(vec![1]),
            public_model: false,
            number: Some(NumberArg(number)),
        },
    )?;
    let mut random = Random::new()?;
    let mut data = Vec::new();
    for (_, id) in made.graph.inputs() {
        let shape = made.graph.value(*id).ty.shape.clone();
        let words = random.words(shape.iter().product()).into_iter();
        let pixels = words.map(|word| (word >> 56) as f32 / 255.0).collect();
        data.push(Tensor::f32(shape, pixels).map_err(Failure::bug)?);
    }
    let inputs = made.with_weights(path, Inputs::new())?;
    let inputs = made.with_data(&data, inputs)?;
    Ok(Measured {
        program: made.network.program().clone(),
        inputs,
    })
}
