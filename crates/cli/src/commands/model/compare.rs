//! `model compare` and `model calibrate`: a network with a fixed point on sample data.

use std::fs;
use std::path::{Path, PathBuf};

use madrigal_nn::secret::{Comparison, Format};
use madrigal_nn::{Graph, Options, Tensor};
use madrigal_program::{Rounding, Type};
use serde::Serialize;

use super::{plot, wrong};
use crate::args::Sample;
use crate::data::Files;
use crate::exit::{Failure, Result};
use crate::files::{self, Output as Written};
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
    let data = Files::read(&sample.inputs, &sample.pixels)?;
    let file = &sample.file;
    let model = super::model(file)?;
    let options = Options {
        batch: data.batch(model.inputs()),
        ..Options::default()
    };
    let graph = model.import(&options).map_err(|error| wrong(file, error))?;
    let data = data.tensors(&graph)?;
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

pub fn compare(sample: &Sample, number: Type, plot: Option<&Path>) -> Result<()> {
    let written = Written {
        flag: "--plot",
        action: "write the plot",
        path: plot,
    };
    let inputs = sample.inputs.iter().chain([&sample.file]);
    files::check(inputs.map(PathBuf::as_path), &[written])?;
    let (graph, data) = read(sample)?;
    let compared = compared(sample, &graph, &data, number)?;
    if let Some(path) = plot {
        let layers = compared.layers.iter();
        let points: Vec<plot::Point> = layers.map(Layer::point).collect();
        let [bits, fraction] = compared.numbers;
        let lost = match points.iter().any(|point| point.lost) {
            true => "; red: out of range",
            false => "",
        };
        let caption = format!("Largest error by layer, numbers {bits}.{fraction}{lost}");
        let drawn = plot::draw(&caption, &points).map_err(Failure::bug)?;
        fs::write(path, drawn).map_err(Failure::file("write the plot", path))?;
    }
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

impl Layer {
    fn point(&self) -> plot::Point<'_> {
        plot::Point {
            name: &self.name,
            error: self.largest_error,
            lost: self.room < 0.0,
        }
    }
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
