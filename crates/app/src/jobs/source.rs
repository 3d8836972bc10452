//! Where circuits come from.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use madrigal_circuit::branches::Branching;
use madrigal_circuit::{Builder, Format, Limits, Netlist, Rows, WidthsError, Wire};
use madrigal_operations::Circuit;
use serde::{Deserialize, Serialize};

use super::fault::Misuse;
use crate::failure::{Failure, Result};
use crate::read::read_file;

/// Where a circuit comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    /// A file, by its path.
    File(#[serde(with = "crate::paths")] PathBuf),
    /// AES-128 of one block, built in.
    Aes,
    /// A block of AES-128 in counter mode: `counter_mode`.
    AesCtr,
}

impl Source {
    /// Reads or builds the circuit.
    pub fn circuit(&self) -> Result<ReadCircuit> {
        Ok(match self {
            Self::File(path) => ReadCircuit::of(path, &read_circuit(path)?, None)?,
            Self::Aes => ReadCircuit::Netlist(aes()),
            Self::AesCtr => ReadCircuit::Netlist(counter_mode()),
        })
    }

    /// Reads or builds the circuit as a netlist, with all branches if it has any.
    pub fn netlist(&self) -> Result<Netlist> {
        Ok(self.circuit()?.netlist())
    }

    /// Names it in messages.
    pub fn name(&self) -> PathBuf {
        match self {
            Self::File(path) => path.clone(),
            Self::Aes => "AES-128".into(),
            Self::AesCtr => "AES-128-CTR".into(),
        }
    }
}

/// Reads the text of a circuit.
pub fn read_circuit(path: &Path) -> Result<Vec<u8>> {
    read_file("read the circuit", path)
}

/// Reads a netlist from the text of the file `path`.
fn netlist_of(path: &Path, text: &[u8]) -> Result<Netlist> {
    let name = path.display().to_string();
    Ok(Netlist::read(&name, text, &Limits::default())?)
}

/// A circuit as it was read: a netlist, or one with branches.
#[derive(Debug)]
pub enum ReadCircuit {
    /// A netlist of any format.
    Netlist(Netlist),
    /// A circuit with branches.
    Branches(Arc<Branching>),
}

impl ReadCircuit {
    /// Reads a circuit from the text of the file `path`, its input bits as values of the widths that `--widths` tells, if it
    /// is given.
    pub fn of(path: &Path, text: &[u8], widths: Option<&[u32]>) -> Result<Self> {
        if !Branching::is_text(text) {
            let netlist = netlist_of(path, text)?;
            return Ok(Self::Netlist(with_widths(netlist, path, widths)?));
        }
        let name = path.display().to_string();
        let branching = Branching::read(&name, text, &Limits::default())?;
        let branching = match widths {
            Some(widths) => {
                let branching = branching.with_inputs(widths);
                branching.map_err(|error| wrong_widths(path, error))?
            }
            None => branching,
        };
        Ok(Self::Branches(Arc::new(branching)))
    }

    /// Compiles it.
    pub fn compiled(&self) -> Circuit {
        match self {
            Self::Netlist(netlist) => Circuit::new(netlist),
            Self::Branches(branching) => Circuit::with_branches(branching),
        }
    }

    /// Makes a netlist of it, with all branches and multiplexers.
    pub fn netlist(self) -> Netlist {
        match self {
            Self::Netlist(netlist) => netlist,
            Self::Branches(branching) => branching.flatten(),
        }
    }

    /// Widths of the input values, and of the output values.
    pub fn widths(&self) -> (&[u32], &[u32]) {
        match self {
            Self::Netlist(netlist) => (netlist.inputs(), netlist.outputs()),
            Self::Branches(branching) => (branching.inputs(), branching.outputs()),
        }
    }

    /// Evaluates it in the clear.
    pub fn evaluate(&self, inputs: &Rows) -> Result<Rows> {
        match self {
            Self::Netlist(netlist) => netlist.evaluate(inputs).map_err(Failure::bug),
            Self::Branches(branching) => Ok(branching.evaluate(inputs)),
        }
    }

    /// Writes it so that it is [read](Self::of) as the same.
    pub fn write(&self) -> Result<Vec<u8>> {
        match self {
            Self::Netlist(netlist) => Ok(netlist.write_as(Format::BristolFashion)?),
            Self::Branches(branching) => Ok(branching.write()),
        }
    }
}

/// Gives a circuit whose input bits are values of the widths that `--widths` tells, if it is given.
fn with_widths(netlist: Netlist, path: &Path, widths: Option<&[u32]>) -> Result<Netlist> {
    let Some(widths) = widths else {
        return Ok(netlist);
    };
    let netlist = netlist.with_inputs(widths);
    netlist.map_err(|error| wrong_widths(path, error))
}

fn wrong_widths(path: &Path, error: WidthsError) -> Failure {
    let circuit = path.to_owned();
    Misuse::Widths { circuit, error }.into()
}

/// Builds AES-128 of one block. Values, as in Bristol Fashion's circuit: key, block; the ciphertext, numbers whose highest
/// byte is the first.
fn aes() -> Netlist {
    let mut builder = Builder::new("AES-128");
    let [key, block] = [(); 2].map(|()| builder.input(128));
    let ciphertext = encrypted(&mut builder, &key, &block);
    builder.output(&ciphertext);
    builder.finish()
}

/// Builds AES-128 in counter mode for one block. Values: key, counter, plaintext; the ciphertext.
fn counter_mode() -> Netlist {
    let mut builder = Builder::new("AES-128-CTR");
    let [key, counter, plaintext] = [(); 3].map(|()| builder.input(128));
    let stream = encrypted(&mut builder, &key, &counter);
    let sum = |(&a, &b): (&Wire, &Wire)| builder.xor(a, b);
    let ciphertext: Vec<Wire> = stream.iter().zip(&plaintext).map(sum).collect();
    builder.output(&ciphertext);
    builder.finish()
}

fn encrypted(builder: &mut Builder, key: &[Wire], block: &[Wire]) -> Vec<Wire> {
    let [key, block] = [key, block].map(bytes_reversed);
    bytes_reversed(&builder.aes128(&key, &block))
}

/// Takes numbers to strings of bytes, and back.
fn bytes_reversed(wires: &[Wire]) -> Vec<Wire> {
    wires.rchunks(8).flatten().copied().collect()
}
