//! The parts of a share as bytes: ring elements one after the other, little-endian; bits plane by plane, each in whole
//! bytes.

use madrigal_core::{Digest256, Zeroizing, bits, domains};
use madrigal_engine::{Element, Shares, Sort, with_ring};
use madrigal_kernels::rings;
use sha2::{Digest, Sha256};

use crate::error::ShareFault;
use crate::header::Header;

/// Bytes of a salt.
pub(crate) const SALT_BYTES: usize = 16;

/// A random string that hides a part under its commitment.
pub(crate) type Salt = Zeroizing<[u8; SALT_BYTES]>;

/// Bytes of one part of a value.
pub(crate) fn part_bytes(sort: &Sort) -> u64 {
    match sort.element {
        Element::Bits(planes) => planes as u64 * bits::bytes_for(sort.len) as u64,
        Element::Ring(width) => (width.bits() / 8) as u64 * sort.len as u64,
    }
}

/// Hands the bytes of a component to `take`, in runs.
pub(crate) fn write_component(
    share: &Shares,
    component: usize,
    take: &mut dyn FnMut(&[u8]) -> Result<(), ShareFault>,
) -> Result<(), ShareFault> {
    match share.sort().element {
        Element::Bits(planes) => {
            let length = bits::bytes_for(share.len());
            for plane in 0..planes {
                let plane = &share.plane(plane, component)[..length];
                let mut plane = Zeroizing::new(plane.to_vec());
                bits::clear_tail(&mut plane, share.len());
                take(&plane)?;
            }
            Ok(())
        }
        Element::Ring(width) => with_ring!(width, T => {
            take(rings::as_bytes(share.component::<T>(component)))
        }),
    }
}

/// Reads what [`write_component`] wrote.
pub(crate) fn read_component(
    share: &mut Shares,
    component: usize,
    fill: &mut dyn FnMut(&mut [u8]) -> Result<(), ShareFault>,
) -> Result<(), ShareFault> {
    let len = share.len();
    match share.sort().element {
        Element::Bits(planes) => {
            let length = bits::bytes_for(len);
            for plane in 0..planes {
                let plane = &mut share.plane_mut(plane, component)[..length];
                fill(plane)?;
                if !bits::tail_is_clear(plane, len) {
                    let what = "what follows the last element of a row of bits";
                    return Err(ShareFault::Damaged { what });
                }
            }
            Ok(())
        }
        Element::Ring(width) => with_ring!(width, T => {
            fill(rings::as_bytes_mut(share.component_mut::<T>(component)))
        }),
    }
}

/// Begins the commitment to a part: its bytes follow.
pub(crate) fn commitment(header: &Header, part: usize, salt: &Salt) -> Sha256 {
    Sha256::new_with_prefix(domains::SHARE_PART)
        .chain_update(header.nonce())
        .chain_update([part as u8])
        .chain_update(**salt)
}

/// The commitment to the part that is a component of a share.
pub(crate) fn commit(
    header: &Header,
    part: usize,
    salt: &Salt,
    share: &Shares,
    component: usize,
) -> Digest256 {
    let mut hash = commitment(header, part, salt);
    let done = write_component(share, component, &mut |bytes| {
        hash.update(bytes);
        Ok(())
    });
    debug_assert!(done.is_ok(), "hashing does not fail");
    hash.finalize().into()
}
