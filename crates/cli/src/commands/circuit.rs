//! `circuit`: what a file holds, the other format, the result in the clear.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use madrigal_circuit::branches::{Branching, Random};
use madrigal_circuit::{Format, Netlist, Rows, values};
use serde::Serialize;

use crate::args::{Circuit, FormatArg};
use crate::commands::run::count_lanes;
use crate::exit::{Failure, Result, Usage};
use crate::figures::{print, print_json};
use crate::files::{self, Output, named};
use crate::jobs::{CircuitFigures, Input, ReadCircuit, bits_of, check_room, read_circuit};
use crate::numbers::{count, table};
use crate::show::write_result;

/// The answer of `info`, as JSON has it.
#[derive(Serialize)]
struct Info {
    /// Format of the file: `bristol`, `bristol-fashion`, `aby` or `branches`.
    format: &'static str,
    /// Conditionals of a circuit with branches, those in branches included; its counts of gates are those of all branches and
    /// multiplexers.
    conditionals: usize,
    /// The most branches of a conditional.
    most_branches: usize,
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
            check(&[&file], output.as_deref())?;
            let read = ReadCircuit::of(&file, &read_circuit(&file)?, None)?;
            write_result(&written(read, to)?, named(output.as_deref()))
        }
        Circuit::Random {
            branches,
            ands,
            xors,
            layers,
            inputs,
            outputs,
            seed,
            to,
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
            let made = made.map_err(madrigal_app::failure::Usage::Branches)?;
            let text = match to {
                FormatArg::Branches => made.write(),
                // Each branch as it stands, as the papers count.
                _ => written(ReadCircuit::Netlist(made.flatten_apart()), to)?,
            };
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

/// A circuit as a text of a format.
fn written(circuit: ReadCircuit, to: FormatArg) -> Result<Vec<u8>> {
    let format = match to {
        FormatArg::Bristol => Format::Bristol,
        FormatArg::BristolFashion => Format::BristolFashion,
        FormatArg::Branches => {
            return Ok(match circuit {
                ReadCircuit::Netlist(netlist) => Branching::netlist(Arc::new(netlist)).write(),
                ReadCircuit::Branches(branching) => branching.write(),
            });
        }
    };
    Ok(circuit.netlist().write_as(format)?)
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
    let read = ReadCircuit::of(file, &text, None)?;
    let circuit = read.compiled();
    let stats = circuit.stats();
    let (conditionals, most_branches) = match &read {
        ReadCircuit::Branches(branching) => branching.conditionals(),
        ReadCircuit::Netlist(_) => (0, 0),
    };
    let info = Info {
        format: match &read {
            ReadCircuit::Branches(_) => "branches",
            ReadCircuit::Netlist(_) if Netlist::is_aby(&text) => "aby",
            ReadCircuit::Netlist(netlist) => match netlist.format() {
                Format::Bristol => "bristol",
                Format::BristolFashion => "bristol-fashion",
            },
        },
        conditionals,
        most_branches,
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
        ("conditionals", count(info.conditionals as u64)),
        ("branches of one, at most", count(info.most_branches as u64)),
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
    let read = ReadCircuit::of(file, &read_circuit(file)?, None)?;
    let (expected, outputs) = read.widths();
    if expected.is_empty() == input.is_some() {
        return Err(Usage::EvalInput {
            circuit: file.to_owned(),
            values: expected.len(),
        }
        .into());
    }
    let input = [input.map(Input::read).transpose()?];
    let lanes = count_lanes(&input, lanes)?;
    check_room(lanes, bits_of(expected, outputs))?;
    let [input] = input;
    let inputs = match input {
        Some(input) => {
            let limits = values::ValueLimits::default();
            values::read(&input.name, &input.text, expected, &limits)?
        }
        None => Rows::new(0, usize::try_from(lanes).map_err(Failure::bug)?),
    };
    values::write(&read.evaluate(&inputs)?, outputs).map_err(Failure::bug)
}
