//! `model compare` and `model calibrate`: a network with a fixed point on sample data.

use std::fs;

use madrigal_nn::secret::{Comparison, Format};
use madrigal_nn::{Graph, Options, Tensor, npy};
use madrigal_program::{Rounding, Type};
use serde::Serialize;

use super::wrong;
use crate::args::Sample;
use crate::exit::{Failure, Result};
use crate::numbers::table;
use crate::stats::{print, print_json};

/// What `compare` tells, as JSON has it.
#[derive(Serialize)]
struct Compared {
    numbers: [u32; 2],
    outputs: Vec<Output>,
    layers: Vec<Layer>,
    overflows: Vec<String>,
}

#[derive(Serialize)]
struct Output {
    name: String,
    largest_error: f64,
    rows: usize,
    changed: usize,
}

#[derive(Serialize)]
struct Layer {
    name: String,
    operator: String,
    greatest: f64,
    room: f64,
    largest_error: f64,
}

/// What `calibrate` tells: numbers by how many bits they have.
#[derive(Serialize)]
struct Calibrated {
    spare: u32,
    choices: Vec<Compared>,
}

/// The model for the batch of the data, and the data.
fn read(sample: &Sample) -> Result<(Graph, Vec<Tensor>)> {
    let mut data = Vec::new();
    for path in &sample.inputs {
        let bytes = fs::read(path).map_err(Failure::file("read", path))?;
        data.push(npy::read(&bytes).map_err(|error| wrong(path, error))?);
    }
    let file = &sample.file;
    let model = super::model(file)?;
    let batch = data
        .first()
        .and_then(|first| first.shape().first().copied());
    let options = Options {
        batch,
        ..Options::default()
    };
    let graph = model.import(&options).map_err(|error| wrong(file, error))?;
    Ok((graph, data))
}

fn compared(sample: &Sample, graph: &Graph, data: &[Tensor], number: Type) -> Result<Compared> {
    let format = Format {
        number,
        rounding: Rounding::Exact,
    };
    let Comparison {
        outputs,
        layers,
        overflows,
    } = graph
        .compare(format, data)
        .map_err(|error| wrong(&sample.file, error))?;
    let outputs = outputs.into_iter().map(|one| Output {
        name: one.name,
        largest_error: one.largest_error,
        rows: one.rows,
        changed: one.changed,
    });
    let layers = layers.into_iter().map(|one| Layer {
        name: one.name,
        operator: one.operator,
        greatest: one.greatest,
        room: one.room,
        largest_error: one.largest_error,
    });
    Ok(Compared {
        numbers: [number.bits(), number.fraction()],
        outputs: outputs.collect(),
        layers: layers.collect(),
        overflows,
    })
}

pub fn compare(sample: &Sample, number: Type) -> Result<()> {
    let (graph, data) = read(sample)?;
    let compared = compared(sample, &graph, &data, number)?;
    match sample.json {
        true => print_json(&compared),
        false => print(compared.text().as_bytes()),
    }
}

/// The fewest bits after the point that are proposed.
const LEAST: u32 = 4;

pub fn calibrate(sample: &Sample, spare: u32) -> Result<()> {
    let (graph, data) = read(sample)?;
    let mut choices = Vec::new();
    for bits in [32, 64] {
        let number = graph.calibrated(bits, spare, &data);
        let mut number = number.map_err(|error| wrong(&sample.file, error))?;
        // Weights, data or sums may be out of range where results are not.
        while let Some(one) = number {
            let fitting = compared(sample, &graph, &data, one).ok();
            let fitting = fitting.filter(|compared| compared.overflows.is_empty());
            if let Some(compared) = fitting {
                choices.push(compared);
                break;
            }
            let fraction = one.fraction() - 1;
            number = Type::fixed(bits, fraction).filter(|_| fraction >= LEAST);
        }
    }
    if choices.is_empty() {
        let problem =
            "no numbers of 32 or 64 bits suffice for this sample: scale the data or the weights";
        return Err(wrong(&sample.file, std::io::Error::other(problem)));
    }
    if sample.json {
        return print_json(&Calibrated { spare, choices });
    }
    let mut all = table(&[
        "--numbers",
        "output",
        "largest error",
        "rows",
        "other greatest number",
    ]);
    for choice in &choices {
        let [bits, fraction] = choice.numbers;
        for output in &choice.outputs {
            all.add_row([
                format!("{bits}.{fraction}"),
                output.name.clone(),
                format!("{:.2e}", output.largest_error),
                output.rows.to_string(),
                output.changed.to_string(),
            ]);
        }
    }
    print(format!("{all}\n").as_bytes())
}

impl Compared {
    fn text(&self) -> String {
        let mut layers = table(&["layer", "operator", "greatest", "room", "largest error"]);
        for layer in &self.layers {
            let room = match layer.room {
                room if room < 0.0 => "out of range".to_owned(),
                room => format!("{room:.1} bits"),
            };
            layers.add_row([
                layer.name.clone(),
                layer.operator.clone(),
                format!("{:.3}", layer.greatest),
                room,
                format!("{:.2e}", layer.largest_error),
            ]);
        }
        let mut outputs = table(&["output", "largest error", "rows", "other greatest number"]);
        for output in &self.outputs {
            outputs.add_row([
                output.name.clone(),
                format!("{:.2e}", output.largest_error),
                output.rows.to_string(),
                output.changed.to_string(),
            ]);
        }
        let mut text = format!("{layers}\n\n{outputs}\n");
        for operation in &self.overflows {
            text += &format!("a number left its range in: {operation}\n");
        }
        text
    }
}
