//! The circuits that are measured.

use madrigal_circuit::{Limits, Netlist};

use crate::exit::Result;
use crate::jobs::Source;

const SHA_256: &[u8] = include_bytes!("../circuits/sha256.txt");

/// A circuit that this program brings.
#[derive(Debug, Clone, Copy)]
pub enum Known {
    /// AES-128 of one block.
    Aes,
    /// One SHA-256 compression.
    Sha256,
}

impl Known {
    const SHA_256_NAME: &'static str = "SHA-256";

    pub fn netlist(self) -> Result<Netlist> {
        match self {
            Self::Aes => Source::Aes.netlist(),
            Self::Sha256 => Ok(Netlist::read(
                Self::SHA_256_NAME,
                SHA_256,
                &Limits::default(),
            )?),
        }
    }

    /// Says where a job's parties find it.
    pub fn source(self) -> Source {
        match self {
            Self::Aes => Source::Aes,
            Self::Sha256 => Source::File(Self::SHA_256_NAME.into()),
        }
    }

    /// Gives the text that parties are sent which are processes of their own, where they do not have it.
    pub fn text(self) -> Option<Vec<u8>> {
        match self {
            Self::Aes => None,
            Self::Sha256 => Some(SHA_256.to_vec()),
        }
    }
}
