//! Where circuits come from.

use std::fs;
use std::path::{Path, PathBuf};

use madrigal_circuit::{Builder, Gate, Limits, Netlist, Wire};
use serde::{Deserialize, Serialize};

use crate::exit::{Failure, Result};

const AES_128: &[u8] = include_bytes!("../../circuit/tests/data/aes_128.txt");
const SHA_256: &[u8] = include_bytes!("../circuits/sha256.txt");

/// Where a circuit comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    File(PathBuf),
    /// AES-128 of one block, built in.
    Aes,
    /// One SHA-256 compression, built in.
    Sha256,
    /// A block of AES-128 in counter mode: [`counter_mode`].
    AesCtr,
}

impl Source {
    pub fn netlist(&self) -> Result<Netlist> {
        let built_in = |name, text| Ok(Netlist::read(name, text, &Limits::default())?);
        match self {
            Self::File(path) => read_netlist(path),
            Self::Aes => built_in("AES-128", AES_128),
            Self::Sha256 => built_in("SHA-256", SHA_256),
            Self::AesCtr => Ok(counter_mode(&Self::Aes.netlist()?)),
        }
    }

    /// For messages.
    pub fn name(&self) -> PathBuf {
        match self {
            Self::File(path) => path.clone(),
            Self::Aes => "AES-128".into(),
            Self::Sha256 => "SHA-256".into(),
            Self::AesCtr => "AES-128-CTR".into(),
        }
    }
}

pub fn read_netlist(path: &Path) -> Result<Netlist> {
    netlist_of(path, &read_circuit(path)?)
}

/// The text of a circuit.
pub fn read_circuit(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(Failure::file("read the circuit", path))
}

/// What the text in the file `path` means.
pub fn netlist_of(path: &Path, text: &[u8]) -> Result<Netlist> {
    let name = path.display().to_string();
    Ok(Netlist::read(&name, text, &Limits::default())?)
}

/// AES-128 in counter mode for one block. Values: key, counter, plaintext; the ciphertext.
fn counter_mode(aes: &Netlist) -> Netlist {
    let mut builder = Builder::new("AES-128-CTR");
    let [key, counter, plaintext] = [(); 3].map(|()| builder.input(128));
    let stream = embed(&mut builder, aes, &[key, counter].concat());
    let sum = |(&a, &b): (&Wire, &Wire)| builder.xor(a, b);
    let ciphertext: Vec<Wire> = stream.iter().zip(&plaintext).map(sum).collect();
    builder.output(&ciphertext);
    builder.finish()
}

/// Adds a copy of `netlist` over the given input wires; gives its output wires.
fn embed(builder: &mut Builder, netlist: &Netlist, inputs: &[Wire]) -> Vec<Wire> {
    let mut wires: Vec<Option<Wire>> = vec![None; netlist.wires() as usize];
    for (slot, &wire) in wires.iter_mut().zip(inputs) {
        *slot = Some(wire);
    }
    // A netlist assigns each wire before it is read.
    let at = |wires: &[Option<Wire>], wire: u32| wires[wire as usize].unwrap_or(inputs[0]);
    for &gate in netlist.gates() {
        let (out, wire) = match gate {
            Gate::Xor { a, b, out } => (out, builder.xor(at(&wires, a), at(&wires, b))),
            Gate::And { a, b, out } => (out, builder.and(at(&wires, a), at(&wires, b))),
            Gate::Or { a, b, out } => (out, builder.or(at(&wires, a), at(&wires, b))),
            Gate::Inv { a, out } => (out, builder.not(at(&wires, a))),
            Gate::Copy { a, out } => (out, at(&wires, a)),
            Gate::Const { bit, out } => (out, builder.constant(bit)),
            Gate::Mand(gate) => {
                let mand = netlist.mand(gate);
                for ((&x, &y), &z) in mand.x.iter().zip(mand.y).zip(mand.z) {
                    wires[z as usize] = Some(builder.and(at(&wires, x), at(&wires, y)));
                }
                continue;
            }
        };
        wires[out as usize] = Some(wire);
    }
    netlist
        .output_wires()
        .map(|wire| at(&wires, wire))
        .collect()
}
