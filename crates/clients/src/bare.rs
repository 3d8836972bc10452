//! Shares without a file: parts alone, for requests of some dozens of bytes, of which there are thousands each second.
//!
//! Nothing says what they are, and nothing commits to them: client and servers have agreed on a kind of requests before. So they are for answers, and for
//! values in sharings of which each part is at one server. A client that gives two servers different copies of a part makes products wrong by what
//! the other factor's parts are: where that is a secret of others, a key say, wrong answers tell of it. The key server takes its blocks as parts that
//! the servers share anew.

use madrigal_core::{Party, Zeroizing};
use madrigal_engine::{Shares, Sharing, Sort};
use madrigal_kernels::Prg;
use madrigal_operations::{Backend, CombineError};

use crate::body::{part_bytes, read_component, write_component};
use crate::error::ShareFault;

/// Bytes of a server's share of a value of this sort: its parts one after the other, as in the body of a share file without salts.
pub fn bare_bytes(sort: &Sort, place: Party, servers: usize) -> u64 {
    let parts = Backend::of(sort.sharing).kept.parts;
    parts.held_by(place, servers).len() as u64 * part_bytes(sort)
}

/// Cuts a clear value, and appends each server's share to its string.
///
/// # Errors
/// None: [`ShareFault`] is what writing to other places may give.
///
/// # Panics
/// If the value is not clear or not known here, or nothing is kept in the sharing by as many servers as there are strings.
pub fn deal_bare(
    value: &Shares,
    sharing: Sharing,
    rng: &mut Prg,
    to: &mut [Zeroizing<Vec<u8>>],
) -> Result<(), ShareFault> {
    let shares = Backend::of(sharing).kept.deal(value, to.len(), rng);
    for (share, to) in shares.iter().zip(to) {
        for component in 0..share.sort().sharing.components() {
            write_component(share, component, &mut |bytes| {
                to.extend_from_slice(bytes);
                Ok(())
            })?;
        }
    }
    Ok(())
}

/// Puts a value together of all servers' shares, in their order. `sort` is that of the shares.
///
/// # Errors
/// [`ShareFault`]: a share of another length, bits beyond the last element, copies of a part that differ.
pub fn combine_bare(sort: &Sort, shares: &[&[u8]]) -> Result<Shares, ShareFault> {
    let one = |(place, bytes): (usize, &&[u8])| {
        let expected = bare_bytes(sort, Party::new(place), shares.len());
        let got = bytes.len() as u64;
        match got.cmp(&expected) {
            std::cmp::Ordering::Less => return Err(ShareFault::Truncated { got, expected }),
            std::cmp::Ordering::Greater => return Err(ShareFault::Extended { got, expected }),
            std::cmp::Ordering::Equal => {}
        }
        let mut rest = *bytes;
        let mut share = Shares::zeros(*sort);
        for component in 0..sort.sharing.components() {
            read_component(&mut share, component, &mut |out| {
                let (taken, after) = rest.split_at(out.len());
                out.copy_from_slice(taken);
                rest = after;
                Ok(())
            })?;
        }
        Ok(share)
    };
    let shares = shares.iter().enumerate().map(one);
    let shares: Vec<Shares> = shares.collect::<Result<_, ShareFault>>()?;
    let combined: Result<Shares, CombineError> = Backend::of(sort.sharing).kept.combine(&shares);
    Ok(combined?)
}
