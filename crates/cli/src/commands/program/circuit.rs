//! `program circuit`: a program of a circuit.

use madrigal_app::failure::{Fault, Status};
use madrigal_app::files::write_results;
use madrigal_core::Party;
use madrigal_program::{Client, Computation, Holder, OfCircuit as Circuit, OfCircuitError};
use madrigal_program_file::{GeneralError, ProgramFile, choices, general};

use crate::args::{Holding, OfCircuit};
use crate::exit::{Failure, Result};
use crate::jobs::{ReadCircuit, read_circuit};

/// Lengths of the axis that the program is recorded for, to find out how it depends on them: primes, in no relation.
const SAMPLES: [usize; 5] = [2, 3, 5, 11, 23];

/// A circuit that no program can be made of as it is asked for.
#[derive(Debug, thiserror::Error)]
enum Unfit {
    #[error("--input and --output: {0}")]
    Circuit(OfCircuitError),
    #[error(
        "--{flag} {name}={owner}: it is neither the number of a party, 0 to {most}, nor the name of one client: letters, digits, `-`, `_` and `.`"
    )]
    Owner {
        flag: &'static str,
        name: String,
        owner: String,
        most: usize,
    },
    #[error("--parties {got}: 2 to 64 parties compute")]
    Parties { got: u8 },
    #[error("--each {name}: the circuit makes no program for any length: {problem}")]
    General { name: String, problem: GeneralError },
}

impl Fault for Unfit {
    fn status(&self) -> Status {
        Status::Usage
    }
}

/// Makes the program's file.
pub(super) fn make(of: &OfCircuit) -> Result<()> {
    if !(2..=64).contains(&of.parties) {
        return Err(Unfit::Parties { got: of.parties }.into());
    }
    let parties = usize::from(of.parties);
    let holders = |flag: &'static str, holding: &Holding| {
        let all = holding.holders.iter().map(|owner| {
            holder(owner, parties).ok_or_else(|| Unfit::Owner {
                flag,
                name: holding.name.clone(),
                owner: owner.clone(),
                most: parties - 1,
            })
        });
        all.collect::<std::result::Result<Vec<Holder>, Unfit>>()
    };
    let mut inputs = Vec::new();
    for input in &of.inputs {
        let mut owners = holders("input", input)?;
        if owners.len() != 1 {
            return Err(Unfit::Owner {
                flag: "input",
                name: input.name.clone(),
                owner: input.holders.join(","),
                most: parties - 1,
            }
            .into());
        }
        inputs.push((input.name.clone(), owners.remove(0)));
    }
    let mut outputs = Vec::new();
    for output in &of.outputs {
        outputs.push((output.name.clone(), holders("output", output)?));
    }
    let text = read_circuit(&of.file)?;
    let netlist = ReadCircuit::of(&of.file, &text, of.widths.as_deref())?.netlist();
    let program = |places: Option<usize>| -> Result<Computation> {
        let circuit = Circuit {
            parties,
            inputs: inputs.clone(),
            outputs: outputs.clone(),
            places,
        };
        Ok(circuit.program(&netlist).map_err(Unfit::Circuit)?)
    };
    let file = |places| ProgramFile::of(&program(places)?).map_err(Failure::bug);
    let made = match &of.each {
        None => file(None)?,
        Some(name) => {
            debug_assert_eq!(SAMPLES.len(), choices(1));
            let samples = SAMPLES.map(|places| Ok((vec![places], file(Some(places))?)));
            let samples: Result<Vec<_>> = samples.into_iter().collect();
            let all = general(std::slice::from_ref(name), &samples?);
            all.map_err(|problem| Unfit::General {
                name: name.clone(),
                problem,
            })?
        }
    };
    write_results(&[(of.save.clone(), made.to_bytes())])
}

/// A party by its number, or a client by its name.
fn holder(text: &str, parties: usize) -> Option<Holder> {
    match text.parse::<usize>() {
        Ok(number) => Party::checked(number, parties).ok().map(Holder::from),
        Err(_) => Client::checked(text).map(Holder::from),
    }
}
