//! Values that are dealt piece by piece, in memory that does not grow with them.
//!
//! Each part but the last one is what a generator of its own gives, at any place of it; the last one is the value minus these. So any bytes of
//! any server's body can be made again at any time, from the seed that the generators are drawn from and the value. In R the value is read once more
//! beforehand, for the commitments. The shares are others than [`deal`](crate::deal) makes of the same generator, and as uniform.

use std::io;
use std::ops::Range;

use madrigal_core::{Digest256, Party, Zeroizing, bits};
use madrigal_engine::{Element, Held, Shares, Sharing, with_ring};
use madrigal_kernels::{Prg, rings, xor_into};
use sha2::Digest as _;

use crate::body::{SALT_BYTES, Salt, commitment, part_bytes};
use crate::error::ShareFault;
use crate::header::{Header, Named, Purpose};
use crate::submission::{SEED_BYTES, seeded_generator};

/// Bytes that are made at once.
const CHUNK: u64 = 1 << 16;

/// Places of generators are whole blocks.
const BLOCK: u64 = 16;

/// A clear value that is read in pieces, as often as it takes.
pub trait Elements: Send + Sync {
    /// The elements from `start` on, `len` of them, as a clear value: of bits from a multiple of 8 on.
    ///
    /// # Errors
    /// [`io::Error`]: they cannot be read.
    fn read(&self, start: usize, len: usize) -> io::Result<Shares>;
}

/// A value in memory.
impl Elements for Shares {
    fn read(&self, start: usize, len: usize) -> io::Result<Shares> {
        Ok(self.slice(start..start + len))
    }
}

/// A value that several have.
impl Elements for std::sync::Arc<dyn Elements> {
    fn read(&self, start: usize, len: usize) -> io::Result<Shares> {
        (**self).read(start, len)
    }
}

/// A value that is dealt piece by piece.
pub struct StreamDealer {
    header: Header,
    /// Seeds of the generators of all parts but the last one.
    seeds: Vec<Zeroizing<[u8; SEED_BYTES]>>,
    salts: Vec<Salt>,
    elements: Box<dyn Elements>,
}

impl std::fmt::Debug for StreamDealer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StreamDealer({})", self.header.in_words())
    }
}

impl StreamDealer {
    /// Deals a value of `element`s for servers that keep it in `sharing`, with a nonce that other inputs of the client may have too. In R the
    /// whole value is read.
    ///
    /// # Errors
    /// [`ShareFault`]: names, shape or number of servers that no file may have; a value that cannot be read, or has other elements.
    pub fn new(
        named: Named,
        (sharing, element): (Sharing, Element),
        servers: usize,
        nonce: [u8; 32],
        elements: Box<dyn Elements>,
        rng: &mut Prg,
    ) -> Result<Self, ShareFault> {
        let header = Header::new(Purpose::Input, named, (sharing, element), servers, nonce)?;
        let seeds = 1..header.parts().count(servers);
        let seeds = seeds.map(|_| {
            let mut seed = Zeroizing::new([0; SEED_BYTES]);
            rng.fill(&mut *seed);
            seed
        });
        let seeds = seeds.collect();
        let salts = (0..header.commitments_needed()).map(|_| {
            let mut salt = Zeroizing::new([0; SALT_BYTES]);
            rng.fill(&mut *salt);
            salt
        });
        let mut dealer = Self {
            salts: salts.collect(),
            header,
            seeds,
            elements,
        };
        let commitments: Result<_, ShareFault> = (0..dealer.salts.len())
            .map(|part| dealer.commitment(part))
            .collect();
        dealer.header = dealer.header.committed(commitments?);
        Ok(dealer)
    }

    /// Header, which the bodies of all servers have in common.
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// Makes the bytes of a server's body from `offset` on.
    ///
    /// # Errors
    /// [`ShareFault`]: the value cannot be read, or has other elements now.
    ///
    /// # Panics
    /// If there is no such server, or the body ends before.
    pub fn body(&self, place: Party, offset: u64, out: &mut [u8]) -> Result<(), ShareFault> {
        let salt_bytes = if self.salts.is_empty() { 0 } else { SALT_BYTES };
        let each = salt_bytes as u64 + part_bytes(self.header.sort());
        assert!(
            offset + out.len() as u64 <= self.header.body_bytes(place),
            "{} bytes at {offset} of a body",
            out.len()
        );
        let held = self.header.held_by(place);
        let (mut at, mut rest) = (offset, out);
        while !rest.is_empty() {
            let part = held[(at / each) as usize];
            let within = at % each;
            let before = (salt_bytes as u64).saturating_sub(within) as usize;
            let length = match before {
                0 => (each - within).min(rest.len() as u64).min(CHUNK) as usize,
                _ => before.min(rest.len()),
            };
            let (now, after) = rest.split_at_mut(length);
            match before {
                0 => self.part(part, within - salt_bytes as u64, now)?,
                _ => now.copy_from_slice(&self.salts[part][within as usize..][..length]),
            }
            rest = after;
            at += length as u64;
        }
        Ok(())
    }

    fn commitment(&self, part: usize) -> Result<Digest256, ShareFault> {
        let mut hash = commitment(&self.header, part, &self.salts[part]);
        let all = part_bytes(self.header.sort());
        let mut chunk = Zeroizing::new(Vec::new());
        for at in (0..all).step_by(CHUNK as usize) {
            chunk.resize((all - at).min(CHUNK) as usize, 0);
            self.part(part, at, &mut chunk)?;
            hash.update(&*chunk);
        }
        Ok(hash.finalize().into())
    }

    /// Makes bytes of a part.
    fn part(&self, part: usize, offset: u64, out: &mut [u8]) -> Result<(), ShareFault> {
        let all = part_bytes(self.header.sort());
        let end = offset + out.len() as u64;
        // Whole blocks of generators, and so whole elements.
        let range = offset / BLOCK * BLOCK..end.next_multiple_of(BLOCK).min(all);
        let skipped = (offset - range.start) as usize;
        let whole = match self.header.sort().element {
            Element::Ring(width) => with_ring!(width, T => self.numbers::<T>(part, range)?),
            Element::Bits(_) => self.planes(part, range)?,
        };
        out.copy_from_slice(&whole[skipped..][..out.len()]);
        Ok(())
    }

    /// The generator of a part, at a place of it.
    fn generator(&self, part: usize, offset: u64) -> Prg {
        let mut generator = seeded_generator(&self.seeds[part]);
        generator.seek(offset / BLOCK);
        generator
    }

    fn numbers<T: Held>(
        &self,
        part: usize,
        range: Range<u64>,
    ) -> Result<Zeroizing<Vec<u8>>, ShareFault> {
        let each = size_of::<T>() as u64;
        let count = ((range.end - range.start) / each) as usize;
        let drawn = |part| {
            let mut drawn = Zeroizing::<Vec<T>>::zeros(count);
            let mut generator = self.generator(part, range.start);
            generator.fill(rings::as_bytes_mut(&mut drawn));
            drawn
        };
        let made = if part < self.seeds.len() {
            drawn(part)
        } else {
            let value = self.value((range.start / each) as usize, count)?;
            let mut left = Zeroizing::new(value.component::<T>(0).to_vec());
            (0..self.seeds.len()).for_each(|part| rings::sub_into(&mut left, &drawn(part)));
            left
        };
        Ok(Zeroizing::new(rings::as_bytes(&made).to_vec()))
    }

    fn planes(&self, part: usize, range: Range<u64>) -> Result<Zeroizing<Vec<u8>>, ShareFault> {
        let len = self.header.sort().len;
        let each = bits::bytes_for(len) as u64;
        let count = (range.end - range.start) as usize;
        let drawn = |part| {
            let mut drawn = Zeroizing::<Vec<u8>>::zeros(count);
            self.generator(part, range.start).fill(&mut drawn);
            drawn
        };
        let mut made = if part < self.seeds.len() {
            drawn(part)
        } else {
            let mut left = Zeroizing::<Vec<u8>>::zeros(count);
            let mut at = range.start;
            while at < range.end {
                let (plane, byte) = (at / each, at % each);
                let end = each.min(byte + range.end - at);
                let start = 8 * byte as usize;
                let value = self.value(start, len.min(8 * end as usize) - start)?;
                let bytes = (end - byte) as usize;
                let to = &mut left[(at - range.start) as usize..][..bytes];
                to.copy_from_slice(&value.plane(plane as usize, 0)[..bytes]);
                at += end - byte;
            }
            (0..self.seeds.len()).for_each(|part| xor_into(&mut left, &drawn(part)));
            left
        };
        // The bits after the last element of a plane are none.
        if !len.is_multiple_of(8) {
            let first = range.start / each * each + each - 1;
            for at in (first..range.end)
                .step_by(each as usize)
                .filter(|at| range.contains(at))
            {
                made[(at - range.start) as usize] &= (1 << (len % 8)) - 1;
            }
        }
        Ok(made)
    }

    /// Reads some of the value.
    fn value(&self, start: usize, len: usize) -> Result<Shares, ShareFault> {
        let value = self.elements.read(start, len)?;
        let (sort, element) = (value.sort(), self.header.sort().element);
        let clear = value.is_known() && sort.sharing.is_clear();
        match clear && sort.len == len && sort.element == element {
            true => Ok(value),
            false => Err(ShareFault::Value {
                got: sort.len,
                got_element: sort.element,
                expected: len,
                element,
            }),
        }
    }
}
