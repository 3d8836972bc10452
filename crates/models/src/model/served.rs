//! `model program`: a network as a program of two clients, for servers that hold the weights of the one and compute on the data of the other.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

use madrigal_app::failure::{Failure, Result};
use madrigal_app::files;
use madrigal_app::numbers::counted;
use madrigal_core::Party;
use madrigal_nn::secret::{Format, Network, Roles};
use madrigal_nn::{Data, Element, Graph, Model as Onnx, Tensor, npy};
use madrigal_program::{Array, Client, Inputs, Rounding, Type};
use madrigal_program_file::{ProgramFile, choices, general, proto};

use super::Told;
use super::onnx::{model, wrong};
use crate::args::{NumberArg, ServedModel};

/// The dimension of the program: the number of inputs that are computed at once.
const DIMENSION: &str = "inputs";
/// Numbers of inputs that the program is recorded for.
const SAMPLES: [usize; 5] = [2, 3, 5, 11, 23];
/// The party that stands for the owner of the weights while the program is recorded.
const OWNER: Party = Party::new(0);

/// Writes the program, and the weights as arrays.
pub(super) fn write(args: &ServedModel) -> Result<Told> {
    debug_assert_eq!(SAMPLES.len(), choices(1));
    let onnx = model(&args.file, &args.sizes)?;
    let number = NumberArg::or_of(args.numbers, &onnx);
    let number = number.map_err(|problem| wrong(&args.file, problem))?;
    let mut samples = Vec::new();
    for inputs in SAMPLES {
        let (_, network) = on_secrets(args, &onnx, number, inputs)?;
        let file = ProgramFile::of(network.program());
        let file = file.map_err(|error| wrong(&args.file, error))?;
        samples.push((vec![inputs], owned(args, &network, &file)));
    }
    let program = general(&[DIMENSION.to_owned()], &samples);
    let program = program.map_err(|error| wrong(&args.file, error))?;
    // All that a service asks of it, one input at a time among it.
    let whole = program.bind(&[(DIMENSION, 1)]);
    let whole = whole.map_err(|error| wrong(&args.file, error))?;
    let (graph, network) = on_secrets(args, &onnx, number, 1)?;
    let weights = network.with_weights(&graph, Inputs::new());
    let weights = weights.map_err(|error| wrong(&args.file, error))?;
    files::write_bytes("write the program", &args.output, program.to_bytes())?;
    let mut text = format!(
        "a program for {}, any number of {DIMENSION} at once\n",
        counted(args.parties.into(), "server")
    );
    let own = network.program().inputs();
    for (place, port) in whole.inputs().iter().enumerate() {
        let name = port.name.as_deref().unwrap_or_default();
        let typed = &port.tensor_type;
        let (element, axes) = (typed.element, typed.shape.axes());
        let _ = writeln!(text, "{name}: {element} {axes:?} of {}", port.owner);
        let Some(array) = weights.value(own, place) else {
            continue;
        };
        if let Some(folder) = &args.weights {
            let file = folder.join(format!("{name}.npy"));
            write_array(&file, &array)?;
        }
    }
    Ok(Told { text, json: None })
}

/// The network for this many inputs at once, with clients that bring the data and learn the results.
fn on_secrets(
    args: &ServedModel,
    onnx: &Onnx,
    number: Type,
    inputs: usize,
) -> Result<(Graph, Network)> {
    let graph = onnx.import(&args.sizes.options(Some(inputs)));
    let graph = graph.map_err(|error| wrong(&args.file, error))?;
    let data = Client::new(&args.data);
    let roles = Roles {
        parties: args.parties.into(),
        model: OWNER,
        data: data.clone().into(),
        to: vec![data.into()],
        public_model: false,
    };
    let format = Format {
        number,
        rounding: Rounding::Exact,
    };
    let network = graph.on_secrets(&roles, format);
    let network = network.map_err(|error| wrong(&args.file, error))?;
    Ok((graph, network))
}

/// The program with the weights as inputs of a client: `w1`, `w2` and so on, and all else under the model's own names.
fn owned(args: &ServedModel, network: &Network, file: &ProgramFile) -> ProgramFile {
    let names: HashMap<&str, &str> = network.names().collect();
    let own = |name: &str| plain(names.get(name).copied().unwrap_or(name));
    let mut message = file.message().clone();
    let mut weights = 0;
    for input in &mut message.inputs {
        use proto::holder::Who;
        let owner = input.owner.as_mut().and_then(|owner| owner.who.as_mut());
        match owner {
            Some(who @ Who::Party(_)) => {
                *who = Who::Client(args.owner.clone());
                weights += 1;
                input.name = format!("w{weights}");
            }
            _ => input.name = own(&input.name),
        }
    }
    for output in &mut message.outputs {
        output.name = own(&output.name);
    }
    ProgramFile::of_message(message)
}

/// A name without characters that flags and files do not take.
fn plain(name: &str) -> String {
    let letter = |letter: char| match letter {
        letter if letter.is_ascii_alphanumeric() || "-_.".contains(letter) => letter,
        _ => '_',
    };
    name.chars().map(letter).collect()
}

/// Writes weights as they are on secrets: what is read of the file again is the same.
fn write_array(file: &Path, array: &Array) -> Result<()> {
    let shape = array.shape().axes().to_vec();
    let element = array.element();
    let tensor = match element.fraction() {
        0 if element.bits() == 1 => {
            let data = array.codes().map(|code| code != 0).collect();
            Tensor::new(Element::Bool, shape, Data::Bool(data))
        }
        0 => {
            let data = array.to_f64().iter().map(|&number| number as i64).collect();
            Tensor::new(Element::I64, shape, Data::Int(data))
        }
        _ => Tensor::new(Element::F64, shape, Data::F64(array.to_f64())),
    };
    let tensor = tensor.map_err(Failure::bug)?;
    files::write_bytes("write the weights", file, npy::write(&tensor))
}
