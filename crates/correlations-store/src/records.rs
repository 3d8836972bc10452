//! The two small files: the header says what a store is, the journal says how much of it is used.
//!
//! Both are numbers, least significant byte first, and end with HMAC-SHA256 of all that comes before.

use std::fs;
use std::io;
use std::path::Path;

use aws_lc_rs::hmac;
use madrigal_core::domains::{STORE_HEADER, STORE_JOURNAL};
use sha2::{Digest, Sha256};

use crate::error::{Result, StoreError};
use crate::files::{HEADER, JOURNAL};
use crate::id::StoreId;
use crate::key::{KEY_BYTES, Keys, StoreKey};
use madrigal_correlations::{Kind, Needs};

/// Version of both files and of the chunks.
pub(crate) const VERSION: u32 = 1;
const CODE_BYTES: usize = 32;

/// By what a directory is told from a copy of it: its inode, and when it was born, which no copy
/// inherits; where the file system does not know the birth, the device, which may change when the
/// machine starts again. All zero where the platform has none of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Place {
    inode: u64,
    /// Nanoseconds since 1970.
    born: u64,
    device: u64,
}

impl Place {
    pub(crate) fn of(directory: &Path) -> io::Result<Self> {
        let data = fs::metadata(directory)?;
        let born = data
            .created()
            .ok()
            .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
            .map_or(0, |since| since.as_nanos() as u64);
        #[cfg(unix)]
        let (inode, device) = {
            use std::os::unix::fs::MetadataExt as _;
            (data.ino(), data.dev())
        };
        #[cfg(not(unix))]
        let (inode, device) = (0, 0);
        Ok(Self {
            inode,
            born,
            device: if born == 0 { device } else { 0 },
        })
    }
}

/// Description of a store. Written once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Header {
    pub(crate) id: StoreId,
    pub(crate) party: u32,
    pub(crate) parties: u32,
    pub(crate) place: Place,
    /// For the derivation of keys; random.
    pub(crate) salt: [u8; KEY_BYTES],
    pub(crate) holds: Needs,
}

impl Header {
    /// The file.
    pub(crate) fn seal(&self, keys: &Keys) -> Result<Vec<u8>> {
        let mut bytes = self.write();
        let code = hmac::sign(&keys.of_code(HEADER)?, &bytes);
        bytes.extend_from_slice(code.as_ref());
        Ok(bytes)
    }

    /// Reads the file.
    pub(crate) fn open(bytes: &[u8], key: &StoreKey) -> Result<(Self, Keys)> {
        let (header, signed, code) = Self::parse(bytes)?;
        let keys = key.with_salt(&header.salt);
        if !keys.vouch_for(HEADER, signed, code)? {
            return Err(StoreError::Header);
        }
        Ok((header, keys))
    }

    /// Gives the digest that binds all else to this header.
    pub(crate) fn digest(&self) -> [u8; 32] {
        Sha256::digest(self.write()).into()
    }

    fn write(&self) -> Vec<u8> {
        let mut bytes = STORE_HEADER.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(self.id.0);
        bytes.extend(self.party.to_le_bytes());
        bytes.extend(self.parties.to_le_bytes());
        for number in [self.place.inode, self.place.born, self.place.device] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(self.salt);
        let holds = self.holds.to_string();
        bytes.extend((holds.len() as u32).to_le_bytes());
        bytes.extend(holds.as_bytes());
        bytes
    }

    /// The fields, not authenticated yet, with the signed bytes and the code.
    fn parse(bytes: &[u8]) -> Result<(Self, &[u8], &[u8])> {
        let damaged = || StoreError::Header;
        let (signed, code) = bytes.split_last_chunk::<CODE_BYTES>().ok_or_else(damaged)?;
        let mut rest = signed;
        if take(&mut rest).ok_or_else(damaged)? != STORE_HEADER {
            return Err(damaged());
        }
        let number = |rest: &mut &[u8]| take(rest).map(|bytes| u32::from_le_bytes(*bytes));
        let found = number(&mut rest).ok_or_else(damaged)?;
        if found != VERSION {
            let ours = VERSION;
            return Err(StoreError::Version { found, ours });
        }
        let mut read = || {
            let id = StoreId(*take(&mut rest)?);
            let (party, parties) = (number(&mut rest)?, number(&mut rest)?);
            let mut long = || take(&mut rest).map(|bytes| u64::from_le_bytes(*bytes));
            let place = Place {
                inode: long()?,
                born: long()?,
                device: long()?,
            };
            let salt = *take(&mut rest)?;
            let length = number(&mut rest)? as usize;
            let text = std::str::from_utf8(rest).ok()?;
            let holds: Needs = (text.len() == length).then(|| text.parse().ok())??;
            let canonical = holds.to_string() == text;
            canonical.then_some(Self {
                id,
                party,
                parties,
                place,
                salt,
                holds,
            })
        };
        let header = read().ok_or_else(damaged)?;
        Ok((header, signed, code))
    }
}

/// For each kind of a store, in order, the index of the first item that was never reserved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Marks(pub(crate) Vec<u64>);

impl Marks {
    /// The file.
    pub(crate) fn seal(&self, header: &Header, keys: &Keys) -> Result<Vec<u8>> {
        let mut bytes = STORE_JOURNAL.to_vec();
        bytes.extend(header.digest());
        bytes.extend((self.0.len() as u32).to_le_bytes());
        for mark in &self.0 {
            bytes.extend(mark.to_le_bytes());
        }
        let code = hmac::sign(&keys.of_code(JOURNAL)?, &bytes);
        bytes.extend_from_slice(code.as_ref());
        Ok(bytes)
    }

    /// Reads the file.
    pub(crate) fn open(bytes: &[u8], header: &Header, keys: &Keys) -> Result<Self> {
        let damaged = |what| StoreError::damaged(JOURNAL, what);
        let Journal {
            marks,
            bound,
            signed,
            code,
        } = Journal::parse(bytes).ok_or_else(|| damaged("it is no journal"))?;
        if !keys.vouch_for(JOURNAL, signed, code)? {
            return Err(damaged("its authentication code is wrong"));
        }
        if *bound != header.digest() {
            return Err(damaged("it is another store's"));
        }
        let kinds = header.holds.kinds();
        let within = |(mark, (_, count)): (&u64, &(Kind, usize))| *mark <= *count as u64;
        if marks.0.len() != kinds.len() || !marks.0.iter().zip(&kinds).all(within) {
            return Err(damaged("its marks are impossible"));
        }
        Ok(marks)
    }
}

/// A journal that is not authenticated yet.
struct Journal<'a> {
    marks: Marks,
    /// The digest of its header.
    bound: &'a [u8; 32],
    signed: &'a [u8],
    code: &'a [u8],
}

impl<'a> Journal<'a> {
    fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (signed, code) = bytes.split_last_chunk::<CODE_BYTES>()?;
        let mut rest = signed;
        let magic: &[u8; 16] = take(&mut rest)?;
        let bound = take(&mut rest)?;
        let count = u32::from_le_bytes(*take(&mut rest)?) as usize;
        if magic != STORE_JOURNAL || rest.len() != count.checked_mul(8)? {
            return None;
        }
        let marks = rest
            .as_chunks()
            .0
            .iter()
            .map(|mark| u64::from_le_bytes(*mark));
        Some(Self {
            marks: Marks(marks.collect()),
            bound,
            signed,
            code,
        })
    }
}

/// Takes the first bytes off.
fn take<'a, const LENGTH: usize>(rest: &mut &'a [u8]) -> Option<&'a [u8; LENGTH]> {
    let (first, others) = rest.split_first_chunk()?;
    *rest = others;
    Some(first)
}

/// Reads bytes as a header and as a journal; what is read is written as it was. For fuzzing.
#[doc(hidden)]
pub fn fuzz_records(bytes: &[u8]) {
    if let Ok((header, signed, _)) = Header::parse(bytes) {
        assert_eq!(header.write(), signed);
    }
    let _ = Journal::parse(bytes);
    let key = StoreKey::generate();
    if let Ok(key) = key {
        assert!(Header::open(bytes, &key).is_err(), "nobody knows this key");
    }
}
