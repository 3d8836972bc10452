//! Residues in messages: 50 bits each.

use madrigal_core::packing::{BitReader, BitWriter};
use madrigal_kernels::marks;

use crate::error::LatticeError;
use crate::modulus::{BITS, Modulus};

/// Writes residues to exactly the bytes they take.
pub(crate) fn write(residues: &[u64], out: &mut [u8]) {
    let mut writer = BitWriter::new(out);
    for &residue in residues {
        writer.push(residue, BITS);
    }
    writer.finish();
}

/// Reads as many residues modulo each modulus, which fill `message`.
pub(crate) fn read<'a>(
    moduli: impl Iterator<Item = &'a Modulus>,
    message: &[u8],
    residues: &mut [u64],
) -> Result<(), LatticeError> {
    let used = residues.len() * BITS;
    // A message that is well formed shows no more than that it is, and only others are refused: these
    // verdicts are public though the residues may not be.
    let mut clear = madrigal_core::bits::tail_is_clear(message, used);
    marks::public(&mut clear);
    if !clear {
        return Err(LatticeError::Padding);
    }
    let moduli: Vec<&Modulus> = moduli.collect();
    let each = residues.len() / moduli.len().max(1);
    let mut reader = BitReader::new(message);
    for (modulus, residues) in moduli.iter().zip(residues.chunks_exact_mut(each.max(1))) {
        let mut highest = 0;
        for residue in residues {
            *residue = reader.pull(BITS);
            highest = highest.max(*residue);
        }
        let mut reduced = highest < modulus.prime();
        marks::public(&mut reduced);
        if !reduced {
            return Err(LatticeError::Residue);
        }
    }
    Ok(())
}

/// Whether a message is as long as it should be.
pub(crate) fn expect(message: &[u8], expected: usize) -> Result<(), LatticeError> {
    match message.len() {
        got if got == expected => Ok(()),
        got => Err(LatticeError::Length { expected, got }),
    }
}
