//! `model compare`: a network with a fixed point on sample data.

use std::path::PathBuf;

use madrigal_app::failure::Result;
use madrigal_app::files::{self, Output as Written};
use madrigal_app::numbers::table;
use madrigal_nn::secret::{Comparison, Format};
use madrigal_nn::{Graph, Model, Tensor};
use madrigal_program::{Rounding, Type};
use serde::Serialize;

use super::onnx::{model, wrong};
use super::plot;
use super::told::Told;
use crate::args::{Compare, NumberArg, Sample};
use crate::cores::on_all_cores;
use crate::data::Files;

/// The answer of `compare`, as JSON has it.
#[derive(Serialize)]
pub(super) struct Compared {
    /// Bits of a number, and how many of them are after the point.
    pub(crate) numbers: [u32; 2],
    /// Outputs of the model.
    pub(crate) outputs: Vec<Output>,
    /// Nodes that make floats, in order.
    layers: Vec<Layer>,
    /// Operations in which a number left its range, sums within a layer, too.
    pub(crate) overflows: Vec<String>,
}

#[derive(Serialize)]
pub(super) struct Output {
    /// Name of the output.
    pub(crate) name: String,
    /// Greatest magnitude in the clear.
    pub(crate) greatest: f64,
    /// Largest distance of its numbers with a fixed point from those in the clear.
    pub(crate) largest_error: f64,
    /// Rows along its first axis.
    pub(crate) rows: usize,
    /// Rows whose greatest number is at another place.
    pub(crate) changed: usize,
}

#[derive(Serialize)]
pub(super) struct Layer {
    /// Node of the model.
    name: String,
    /// Operator of the node.
    operator: String,
    /// Greatest magnitude in the clear.
    greatest: f64,
    /// Bits by which that could be greater before it leaves the range; below 0 it did. Products have twice as many
    /// bits after the point.
    room: f64,
    /// Largest distance of its numbers with a fixed point from those in the clear.
    largest_error: f64,
}

/// The model for the batch of the data, and the data.
pub(super) fn read(
    sample: &Sample,
    given: Option<Vec<Tensor>>,
) -> Result<(Model, Graph, Vec<Tensor>)> {
    let data = Files::read_or(given, &sample.inputs, &sample.pixels)?;
    let file = &sample.file;
    let model = model(file, &sample.sizes)?;
    let mut options = sample.sizes.options(data.batch(model.inputs()));
    let told = data.tell_sizes(&model, &mut options);
    told.map_err(|error| wrong(file, error))?;
    let graph = model.import(&options).map_err(|error| wrong(file, error))?;
    let data = data.tensors(&graph)?;
    Ok((model, graph, data))
}

pub(super) fn compared(
    sample: &Sample,
    graph: &Graph,
    data: &[Tensor],
    number: Type,
) -> Result<Compared> {
    let format = Format {
        number,
        rounding: Rounding::Exact,
    };
    let Comparison {
        outputs,
        layers,
        overflows,
    } = on_all_cores(|| graph.compare(format, data)).map_err(|error| wrong(&sample.file, error))?;
    let outputs = outputs.into_iter().map(|one| Output {
        name: one.name,
        greatest: one.greatest,
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

pub(super) fn compare(args: &Compare, given: Option<Vec<Tensor>>) -> Result<Told> {
    let Compare { sample, plot, .. } = args;
    let plot = plot.as_deref();
    sample.begin();
    let written = Written {
        flag: "--plot",
        action: "write the plot",
        path: plot,
    };
    let inputs = sample.inputs.iter().chain([&sample.file]);
    files::check(inputs.map(PathBuf::as_path), &[written])?;
    let (model, graph, data) = read(sample, given)?;
    let number =
        NumberArg::or_of(args.numbers, &model).map_err(|problem| wrong(&sample.file, problem))?;
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
        let drawn = plot::draw(&caption, &points);
        files::write_bytes("write the plot", path, drawn)?;
    }
    Told::new(compared.text(), &compared)
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
