//! `model calibrate`: numbers with a fixed point that suffice for sample data.

use std::path::{Path, PathBuf};

use madrigal_app::failure::{Failure, Result};
use madrigal_app::files::{self, Output as Written};
use madrigal_app::numbers::table;
use madrigal_app::progress::Steps;
use madrigal_app::wanted::is_wanted;
use madrigal_nn::secret::{Format, Roles};
use madrigal_nn::{Data, Element, Graph, Tensor, with_note};
use madrigal_program::{Party, Rounding, Type};
use serde::Serialize;

use super::compare::{Compared, compared, read};
use super::onnx::wrong;
use super::told::Told;
use crate::args::{Calibrate, NumberArg, Ranges};
use crate::cores::on_all_cores;
use crate::models;

/// The answer, as JSON has it: numbers by how many bits they have.
#[derive(Serialize)]
struct Calibrated {
    /// Bits of room that were asked for.
    spare: u32,
    /// Comparisons for numbers of 32 and of 64 bits, where they suffice.
    choices: Vec<Compared>,
    /// Numbers of the first choice that keeps results within `--error` and their greatest numbers in place; `null` if
    /// none does.
    chosen: Option<[u32; 2]>,
}

/// The fewest bits after the point that are proposed.
const LEAST: u32 = 4;

pub(super) fn calibrate(args: &Calibrate, given: Option<Vec<Tensor>>) -> Result<Told> {
    args.sample.begin();
    let Calibrate { sample, spare, .. } = args;
    let written = Written {
        flag: "--output",
        action: "write the model",
        path: args.output.as_deref(),
    };
    let inputs = sample.inputs.iter().chain([&sample.file]);
    files::check(inputs.map(PathBuf::as_path), &[written])?;
    let (_, graph, data) = read(sample, given)?;
    let mut choices = Vec::new();
    let widths = [32, 64];
    let steps = Steps::new(widths.len() as u64, sample.json);
    for bits in widths {
        steps.name(&format!("numbers of {bits} bits"));
        let number = graph.calibrated(bits, *spare, &data);
        let mut number = number.map_err(|error| wrong(&sample.file, error))?;
        // Weights, data or sums may be out of range where results are not.
        while let Some(one) = number {
            is_wanted()?;
            let fitting = compared(sample, &graph, &data, one).ok();
            let fitting = fitting.filter(|compared| compared.overflows.is_empty());
            if let Some(compared) = fitting {
                choices.push(compared);
                break;
            }
            let fraction = one.fraction() - 1;
            number = Type::fixed(bits, fraction).filter(|_| fraction >= LEAST);
        }
        steps.advance();
    }
    steps.clear();
    if choices.is_empty() {
        return Err(unsuited(
            sample.file.as_path(),
            "no numbers of 32 or 64 bits suffice for this sample: scale the data or the weights",
        ));
    }
    let precise = |choice: &&Compared| {
        let mut outputs = choice.outputs.iter();
        outputs.all(|output| {
            output.changed == 0 && output.largest_error <= args.error * output.greatest
        })
    };
    let chosen = choices.iter().find(precise).map(|choice| choice.numbers);
    if let Some(path) = &args.output {
        let [bits, fraction] = chosen.ok_or_else(|| {
            unsuited(
                sample.file.as_path(),
                "no numbers of 32 or 64 bits keep the results of this sample within --error: allow more",
            )
        })?;
        let number = Type::fixed(bits, fraction)
            .map(NumberArg)
            .unwrap_or_default();
        let file = models::bytes(&sample.file, &sample.sizes)?;
        let ranges = ranges(&graph, &data, number.0, *spare);
        let ranges = ranges.map_err(|problem| wrong(&sample.file, problem))?;
        let noted = with_note(file, NumberArg::NOTE, &number.to_string());
        let noted = with_note(noted, Ranges::NOTE, &ranges.to_string());
        files::write_bytes("write the model", path, noted)?;
    }
    let mut all = table(&[
        "--numbers",
        "output",
        "largest error",
        "rows",
        "other greatest number",
        "",
    ]);
    for choice in &choices {
        let [bits, fraction] = choice.numbers;
        let mark = match (chosen == Some(choice.numbers), &args.output) {
            (true, Some(_)) => "chosen, in the model",
            (true, None) => "chosen",
            (false, _) => "",
        };
        for output in &choice.outputs {
            all.add_row([
                format!("{bits}.{fraction}"),
                output.name.clone(),
                format!("{:.2e}", output.largest_error),
                output.rows.to_string(),
                output.changed.to_string(),
                mark.to_owned(),
            ]);
        }
    }
    let calibrated = Calibrated {
        spare: *spare,
        choices,
        chosen,
    };
    Told::new(format!("{all}\n"), &calibrated)
}

/// How far from zero the numbers of each input may be: as far as the sample's, times two to as many of the bits that are
/// spare as leave no result out of range when the whole sample is as much greater.
fn ranges(
    graph: &Graph,
    data: &[Tensor],
    number: Type,
    spare: u32,
) -> Result<Ranges, Box<dyn std::error::Error + Send + Sync>> {
    let (model, owner) = (Party::new(0), Party::new(1));
    let roles = Roles {
        parties: 2,
        model,
        data: owner.into(),
        to: vec![owner.into()],
        public_model: false,
    };
    let format = Format {
        number,
        rounding: Rounding::Exact,
    };
    let network = graph.on_secrets(&roles, format)?;
    let mut factor = 1.0;
    for _ in 0..spare {
        let greater: Vec<Tensor> = data.iter().map(|one| times(one, 2.0 * factor)).collect();
        let leaving = on_all_cores(|| network.leaving(graph, number, &greater));
        if leaving?.is_some() {
            break;
        }
        factor *= 2.0;
    }
    let end = 2_f64.powi(number.bits() as i32 - 1 - number.fraction() as i32);
    let range = |tensor: &Tensor| match tensor.element().is_float() {
        true => {
            let all = tensor.to_f64().into_iter().map(f64::abs);
            (factor * all.fold(0.0, f64::max)).min(end)
        }
        false => f64::INFINITY,
    };
    Ok(Ranges(data.iter().map(range).collect()))
}

/// Multiplies floats by a factor; other elements stay.
fn times(tensor: &Tensor, factor: f64) -> Tensor {
    let numbers = || tensor.to_f64().into_iter().map(|number| number * factor);
    let data = match tensor.element() {
        Element::F64 => Data::F64(numbers().collect()),
        element if element.is_float() => Data::F32(numbers().map(|number| number as f32).collect()),
        _ => return tensor.clone(),
    };
    let made = Tensor::new(tensor.element(), tensor.shape().to_vec(), data);
    made.expect("as many numbers of the same element")
}

fn unsuited(file: &Path, problem: &'static str) -> Failure {
    wrong(file, problem)
}
