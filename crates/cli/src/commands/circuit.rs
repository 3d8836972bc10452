//! `circuit`: what a file holds, the other format, the result in the clear.

use std::path::{Path, PathBuf};

use madrigal_circuit::branches::Random;
use madrigal_circuit::{Format, Netlist, Rows, values};
use madrigal_operations::Circuit as Compiled;
use serde::Serialize;

use crate::args::{Circuit, FormatArg};
use crate::commands::run::count_lanes;
use crate::exit::{Failure, Result, Usage};
use crate::figures::{print, print_json};
use crate::files::{self, Output, named};
use crate::jobs::{
    CircuitFigures, Input, bits_of, check_room, netlist_of, read_circuit, read_netlist,
};
use crate::numbers::{count, table};
use crate::show::write_result;

/// The answer of `info`, as JSON has it.
#[derive(Serialize)]
struct Info {
    /// Format of the file: `bristol`, `bristol-fashion` or `aby`.
    format: &'static str,
    #[serde(flatten)]
    circuit: CircuitFigures,
    /// Constants and copies, which the file has beside its gates.
    other: u64,
    /// ANDs of the widest layer of the compiled circuit.
    compiled_widest_layer: usize,
    /// The most bits of a lane that are live at once in the compiled circuit.
    compiled_rows: usize,
    /// Sums of ANDs of the circuit as it is compiled for R, which sends a bit for each.
    compiled_sums: usize,
}

pub fn run(command: Circuit) -> Result<()> {
    match command {
        Circuit::Info { file, json } => info(&file, json),
        Circuit::Convert { file, to, output } => {
            let format = match to {
                FormatArg::Bristol => Format::Bristol,
                FormatArg::BristolFashion => Format::BristolFashion,
            };
            check(&[&file], output.as_deref())?;
            let text = read_netlist(&file)?.write_as(format)?;
            write_result(&text, named(output.as_deref()))
        }
        Circuit::Random {
            branches,
            ands,
            xors,
            layers,
            inputs,
            outputs,
            seed,
            output,
        } => {
            check(&[], output.as_deref())?;
            let shape = Random {
                inputs,
                outputs,
                layers: layers as usize,
                ands: ands as usize,
                xors: xors as usize,
            };
            let made = shape.conditional(branches.into(), seed);
            let netlist = made
                .map_err(madrigal_app::failure::Usage::Branches)?
                .flatten_apart();
            let text = netlist.write_as(Format::BristolFashion)?;
            write_result(&text, named(output.as_deref()))
        }
        Circuit::Eval {
            file,
            input,
            lanes,
            show_values,
            output,
        } => {
            if show_values {
                madrigal_core::text::show_own_data();
            }
            let read: Vec<&Path> = [Some(&file), input.as_ref()]
                .into_iter()
                .flatten()
                .map(PathBuf::as_path)
                .collect();
            check(&read, output.as_deref())?;
            let text = evaluate(&file, input.as_deref(), lanes)?;
            write_result(&text, named(output.as_deref()))
        }
    }
}

fn check(read: &[&Path], output: Option<&Path>) -> Result<()> {
    let result = Output {
        flag: "--output",
        action: "write the result",
        path: output,
    };
    files::check(read.iter().copied(), &[result])
}

fn info(file: &Path, json: bool) -> Result<()> {
    let text = read_circuit(file)?;
    let netlist = netlist_of(file, &text)?;
    let circuit = Compiled::new(&netlist);
    let stats = circuit.stats();
    let info = Info {
        format: match netlist.format() {
            _ if Netlist::is_aby(&text) => "aby",
            Format::Bristol => "bristol",
            Format::BristolFashion => "bristol-fashion",
        },
        circuit: CircuitFigures::new(&circuit),
        other: stats.constant + stats.copy,
        compiled_widest_layer: circuit.layered().widest_layer(),
        compiled_rows: circuit.layered().rows(),
        compiled_sums: circuit.sums().sum_count(),
    };
    if json {
        return print_json(&info);
    }
    let figures = &info.circuit;
    let widths = |widths: &[u32]| {
        let texts: Vec<String> = widths.iter().map(u32::to_string).collect();
        format!("{} ({})", texts.len(), texts.join(" + "))
    };
    let mut table = table(&["", "in the file"]);
    for (name, value) in [
        ("format", info.format.to_owned()),
        ("input values (bits)", widths(&figures.inputs)),
        ("output values (bits)", widths(&figures.outputs)),
        ("gates", count(figures.gates)),
        ("wires", count(figures.wires)),
        ("AND", count(figures.and)),
        ("XOR", count(figures.xor)),
        ("INV", count(figures.inv)),
        ("OR", count(figures.or)),
        ("constants, copies", count(info.other)),
        ("depth in ANDs: rounds", count(figures.depth.into())),
        ("depth in all gates", count(figures.total_depth.into())),
        ("compiled: ANDs", count(figures.compiled_and as u64)),
        ("compiled: layers", count(figures.compiled_depth as u64)),
        (
            "compiled: widest layer",
            count(info.compiled_widest_layer as u64),
        ),
        ("compiled: rows alive", count(info.compiled_rows as u64)),
        (
            "compiled for R: sums of ANDs",
            count(info.compiled_sums as u64),
        ),
        ("digest", figures.digest[..16].to_owned()),
    ] {
        table.add_row([name.to_owned(), value]);
    }
    print(format!("{table}\n").as_bytes())
}

fn evaluate(file: &Path, input: Option<&Path>, lanes: Option<u64>) -> Result<Vec<u8>> {
    let netlist = read_netlist(file)?;
    let expected = netlist.inputs();
    if expected.is_empty() == input.is_some() {
        return Err(Usage::EvalInput {
            circuit: file.to_owned(),
            values: expected.len(),
        }
        .into());
    }
    let input = [input.map(Input::read).transpose()?];
    let lanes = count_lanes(&input, lanes)?;
    check_room(lanes, bits_of(expected, netlist.outputs()))?;
    let [input] = input;
    let inputs = match input {
        Some(input) => {
            let limits = values::ValueLimits::default();
            values::read(&input.name, &input.text, expected, &limits)?
        }
        None => Rows::new(0, usize::try_from(lanes).map_err(Failure::bug)?),
    };
    let outputs = netlist.evaluate(&inputs).map_err(Failure::bug)?;
    values::write(&outputs, netlist.outputs()).map_err(Failure::bug)
}
