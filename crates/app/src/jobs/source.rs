//! Where circuits come from.

use std::path::{Path, PathBuf};

use madrigal_circuit::{Builder, Limits, Netlist, Wire};
use serde::{Deserialize, Serialize};

use super::fault::Misuse;
use crate::failure::Result;
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
    pub fn netlist(&self) -> Result<Netlist> {
        match self {
            Self::File(path) => read_netlist(path),
            Self::Aes => Ok(aes()),
            Self::AesCtr => Ok(counter_mode()),
        }
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

/// Reads a circuit.
pub fn read_netlist(path: &Path) -> Result<Netlist> {
    netlist_of(path, &read_circuit(path)?)
}

/// Reads the text of a circuit.
pub fn read_circuit(path: &Path) -> Result<Vec<u8>> {
    read_file("read the circuit", path)
}

/// Reads a circuit from the text of the file `path`.
pub fn netlist_of(path: &Path, text: &[u8]) -> Result<Netlist> {
    let name = path.display().to_string();
    Ok(Netlist::read(&name, text, &Limits::default())?)
}

/// Gives a circuit whose input bits are values of the widths that `--widths` tells, if it is given.
pub fn with_widths(netlist: Netlist, path: &Path, widths: Option<&[u32]>) -> Result<Netlist> {
    let Some(widths) = widths else {
        return Ok(netlist);
    };
    let netlist = netlist.with_inputs(widths);
    Ok(netlist.map_err(|error| Misuse::Widths {
        circuit: path.to_owned(),
        error,
    })?)
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
