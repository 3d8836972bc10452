//! Data that numbers with a fixed point cannot hold, or that would lead to such: its owner refuses it before anything is
//! sent, as far as it can see that.

use std::path::Path;

use madrigal_app::failure::Result;
use madrigal_nn::secret::place;
use madrigal_nn::{Model as File, Tensor};

use super::model_program::ModelProgram;
use super::place::Place;
use super::unfit::Unfit;
use crate::args::{Infer, NumberArg, Ranges};
use crate::cores::on_all_cores;

/// Holds data against the type of numbers, against what the model was calibrated for, and, where the weights are here
/// too, against what the model makes of it. It is told where a number stands, not what it is.
pub(crate) fn check(
    args: &Infer,
    file: &File,
    made: &ModelProgram,
    data: &[Tensor],
    weights_are_here: bool,
) -> Result<()> {
    let ranges = Ranges::of(file).map_err(|problem| Unfit::File {
        path: args.model.clone(),
        problem,
    })?;
    let number = made.number;
    let numbers = NumberArg(number);
    // Ranges for other numbers say nothing of these.
    let noted = NumberArg::or_of(None, file).ok();
    let ranges = ranges.filter(|_| noted == Some(number));
    let end = 2_f64.powi(number.bits() as i32 - 1 - number.fraction() as i32);
    for (at, ((name, id), tensor)) in made.graph.inputs().iter().zip(data).enumerate() {
        let ty = &made.graph.value(*id).ty;
        if !ty.element.is_float() || tensor.shape() != ty.shape {
            // Another shape is told where data is encoded.
            continue;
        }
        let values = tensor.to_f64();
        let find = |fits: &dyn Fn(f64) -> bool| {
            let found = values.iter().position(|&value| !fits(value));
            found.map(|at| Place(place(tensor.shape(), at)))
        };
        if let Some(place) = find(&|value| value.abs() < end) {
            let input = name.clone();
            return Err(Unfit::NoNumber {
                input,
                place,
                numbers,
            }
            .into());
        }
        let range = ranges.as_ref().map(|ranges| ranges.0[at]);
        let beyond = range.and_then(|range| Some((range, find(&|value| value.abs() <= range)?)));
        if let Some((range, place)) = beyond {
            let input = name.clone();
            return Err(Unfit::Beyond {
                input,
                place,
                range,
            }
            .into());
        }
    }
    match weights_are_here {
        true => leaves(&args.model, made, data),
        false => Ok(()),
    }
}

fn leaves(model: &Path, made: &ModelProgram, data: &[Tensor]) -> Result<()> {
    let leaving = on_all_cores(|| (made.network).leaving(&made.graph, made.number, data));
    // Data that does not fit the model is refused where it is encoded.
    match leaving.ok().flatten() {
        None => Ok(()),
        Some(leaving) => Err(Unfit::Leaving {
            path: model.to_owned(),
            node: leaving.node,
            operator: leaving.operator,
            place: Place(leaving.place),
            numbers: NumberArg(made.number),
        }
        .into()),
    }
}
