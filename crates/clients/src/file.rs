//! One server's file of a submission: written and read.
//!
//! `schema/SHARES.md` has the bytes. The header is in the clear, so that whoever has a file can see what it
//! is, and is bound to the sealing, so that nobody can change it.

use std::fmt;
use std::io::{BufReader, Read, Write};
use std::path::Path;

use madrigal_core::budget::{Budget, open_regular};
use madrigal_core::{Digest256, MAX_PARTIES, Party, Zeroizing, domains};
use madrigal_engine::Shares;
use madrigal_net::roster::is_name;
use madrigal_net::sealing::{KEY_BYTES, PublicSealingKey, SealingKey};

use crate::body::{SALT_BYTES, Salt, commitment, part_bytes, read_component, write_component};
use crate::error::{ShareFault, ShareFileError};
use crate::header::Header;
use crate::limits::MAX_HEADER;
use crate::pieces::{BodyReader, BodyWriter, In, Out, check_of, stored};
use sha2::Digest as _;

/// Version of the format.
const VERSION: u16 = 1;

/// Bytes before the header.
const PREAMBLE_BYTES: usize = 56;

/// The longest file that is read: of 2^40 elements of 16 bytes, in two parts, sealed, it is less.
const MAX_FILE: u64 = 1 << 46;

/// A server's file of a submission: what all files have in common, and this server's share. Wiped when dropped.
#[derive(Clone)]
pub struct ShareFile {
    pub(crate) header: Header,
    pub(crate) place: Party,
    /// A salt for each part that the server holds, if the client commits to parts.
    pub(crate) salts: Vec<Salt>,
    pub(crate) shares: Shares,
}

/// Beginning of a file, before its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preamble {
    /// Server whose share it is.
    pub place: Party,
    /// Key that the share is sealed for; none if it is in the clear.
    pub recipient: Option<PublicSealingKey>,
    /// Fields that all files of the submission have in common.
    pub header: Header,
}

impl ShareFile {
    /// The usual name of the file, as [`file_name`] gives it.
    pub fn file_name(&self, server: &str) -> String {
        let names = self.header.named();
        file_name(&names.name, &names.client, server)
    }
}

/// The usual name of a file: of the value and the client, and `server`, the name of the server whose share it is.
/// Characters that names of parties do not have are `_`.
pub fn file_name(value: &str, client: &str, server: &str) -> String {
    let plain = |c: char| {
        if is_name(c.encode_utf8(&mut [0; 4])) {
            c
        } else {
            '_'
        }
    };
    let value: String = value.chars().map(plain).collect();
    format!("{value}.{client}.{server}.share")
}

impl fmt::Debug for ShareFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (place, words) = (self.place.index(), self.header.in_words());
        write!(f, "ShareFile(server {place}, {words})")
    }
}

impl Preamble {
    fn to_bytes(&self) -> Vec<u8> {
        let header = self.header.to_bytes();
        let mut to = Vec::with_capacity(PREAMBLE_BYTES + header.len());
        to.extend(domains::SHARE_FILE);
        to.extend(VERSION.to_le_bytes());
        to.push(u8::from(self.recipient.is_some()));
        to.push(self.place.index() as u8);
        to.extend((header.len() as u32).to_le_bytes());
        let recipient = self.recipient.as_ref().map(PublicSealingKey::as_bytes);
        to.extend(recipient.unwrap_or(&[0; KEY_BYTES]));
        to.extend(header);
        to
    }

    /// Reads the beginning of a file of `length` bytes.
    ///
    /// # Errors
    /// [`ShareFault`]: it is no share file, of another version, damaged, or shorter or longer than its header says.
    pub fn read(from: &mut dyn Read, length: u64) -> Result<Self, ShareFault> {
        let mut first = [0; PREAMBLE_BYTES];
        let known = length.min(PREAMBLE_BYTES as u64) as usize;
        from.read_exact(&mut first[..known])?;
        if known == 0 {
            return Err(ShareFault::Empty);
        }
        let magic = domains::SHARE_FILE;
        if !first.starts_with(&magic[..magic.len().min(known)]) {
            return Err(ShareFault::NotOne);
        }
        let truncated = |expected: u64| ShareFault::Truncated {
            got: length,
            expected,
        };
        if known < PREAMBLE_BYTES {
            return Err(truncated(PREAMBLE_BYTES as u64));
        }
        let version = u16::from_le_bytes([first[16], first[17]]);
        if version != VERSION {
            return Err(ShareFault::Version {
                got: version,
                ours: VERSION,
            });
        }
        let header = u32::from_le_bytes([first[20], first[21], first[22], first[23]]);
        if header as usize > MAX_HEADER {
            return Err(ShareFault::LongHeader { got: header.into() });
        }
        if length < u64::from(header) + PREAMBLE_BYTES as u64 {
            return Err(truncated(u64::from(header) + PREAMBLE_BYTES as u64));
        }
        let mut key = [0; KEY_BYTES];
        key.copy_from_slice(&first[24..]);
        let recipient = match first[18] {
            0 if key == [0; KEY_BYTES] => None,
            1 => Some(PublicSealingKey::from_bytes(key)),
            _ => {
                return Err(ShareFault::Damaged {
                    what: "the kind of its sealing",
                });
            }
        };
        let mut bytes = vec![0; header as usize];
        from.read_exact(&mut bytes)?;
        let header = Header::from_bytes(&bytes)?;
        let place = usize::from(first[19]);
        if place >= header.servers().min(MAX_PARTIES) {
            return Err(ShareFault::Damaged {
                what: "the number of its server",
            });
        }
        let read = Self {
            place: Party::new(place),
            recipient,
            header,
        };
        let capsule = read.recipient.map_or(0, |_| KEY_BYTES);
        let before = (PREAMBLE_BYTES + bytes.len() + capsule) as u64;
        let expected =
            before + stored(read.header.body_bytes(read.place), read.recipient.is_some());
        match length.cmp(&expected) {
            std::cmp::Ordering::Less => Err(truncated(expected)),
            std::cmp::Ordering::Equal => Ok(read),
            std::cmp::Ordering::Greater => Err(ShareFault::Extended {
                got: length,
                expected,
            }),
        }
    }
}

impl Header {
    /// Bytes that the body of a server's file has before it is sealed: its parts, each after its salt where there are commitments.
    ///
    /// # Panics
    /// If there is no such server.
    pub fn body_bytes(&self, place: Party) -> u64 {
        assert!(
            place.index() < self.servers(),
            "{place} of {} servers",
            self.servers()
        );
        let held = self.held_by(place).len() as u64;
        let salt = match self.commitments_needed() {
            0 => 0,
            _ => SALT_BYTES as u64,
        };
        held * (salt + part_bytes(self.sort()))
    }
}

impl ShareFile {
    /// Header, which all files of the submission have in common.
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// Server whose share it is.
    pub const fn place(&self) -> Party {
        self.place
    }

    /// The server's share.
    pub const fn shares(&self) -> &Shares {
        &self.shares
    }

    /// The server's share, to keep.
    pub fn into_shares(self) -> Shares {
        self.shares
    }

    /// Writes the file, sealed for `recipient`. Without one the share is in the clear, for everybody who has the
    /// file: whoever has the files of enough servers has the value.
    ///
    /// # Errors
    /// [`ShareFault`]: sealing failed, or writing did.
    pub fn write(
        &self,
        to: &mut dyn Write,
        recipient: Option<&PublicSealingKey>,
    ) -> Result<(), ShareFault> {
        let preamble = Preamble {
            place: self.place,
            recipient: recipient.copied(),
            header: self.header.clone(),
        };
        let before = preamble.to_bytes();
        to.write_all(&before)?;
        let out = match recipient {
            Some(key) => {
                let (capsule, sealer) = key.seal(&info(&before)).map_err(ShareFault::Sealing)?;
                to.write_all(&capsule)?;
                Out::Sealed(sealer)
            }
            None => Out::Clear(check_of(&before)),
        };
        let mut body = BodyWriter::new(to, out);
        self.put_body(&mut |bytes| body.put(bytes))?;
        body.finish()
    }

    /// Writes the body alone, in the clear: [`Header::body_bytes`] bytes. Whoever sends it says what it is, and protects it.
    ///
    /// # Errors
    /// [`ShareFault`]: writing failed.
    pub fn write_body(&self, to: &mut dyn Write) -> Result<(), ShareFault> {
        self.put_body(&mut |bytes| Ok(to.write_all(bytes)?))
    }

    fn put_body(
        &self,
        put: &mut dyn FnMut(&[u8]) -> Result<(), ShareFault>,
    ) -> Result<(), ShareFault> {
        for component in 0..self.header.held_by(self.place).len() {
            if let Some(salt) = self.salts.get(component) {
                put(&**salt)?;
            }
            write_component(&self.shares, component, put)?;
        }
        Ok(())
    }

    /// Reads a body in the clear as the share that `header` describes, and takes no byte beyond it ([`Header::body_bytes`]). The memory of the share is taken off `budget`, and its parts are held against the client's commitments.
    ///
    /// # Errors
    /// [`ShareFault`]: too little memory, too few bytes, bits beyond the last element, or parts that are not the ones that were
    /// committed to.
    ///
    /// # Panics
    /// If there is no such server.
    pub fn of_body(
        header: Header,
        place: Party,
        from: &mut dyn Read,
        budget: &Budget,
    ) -> Result<Self, ShareFault> {
        assert!(
            place.index() < header.servers(),
            "{place} of {} servers",
            header.servers()
        );
        budget.take(header.sort().bytes() as u64)?;
        let (file, wrong) = Self::fill_body(header, place, &mut |out| Ok(from.read_exact(out)?))?;
        match wrong {
            Some(part) => Err(ShareFault::Commitment { part }),
            None => Ok(file),
        }
    }

    /// Reads a body, and tells the first part that the commitments do not fit.
    fn fill_body(
        header: Header,
        place: Party,
        fill: &mut dyn FnMut(&mut [u8]) -> Result<(), ShareFault>,
    ) -> Result<(Self, Option<usize>), ShareFault> {
        let mut shares = Shares::zeros(*header.sort());
        let mut salts = Vec::new();
        let mut wrong = None;
        for (component, part) in header.held_by(place).into_iter().enumerate() {
            let Some(told) = header.commitments().get(part) else {
                read_component(&mut shares, component, fill)?;
                continue;
            };
            let mut salt: Salt = Zeroizing::new([0; SALT_BYTES]);
            fill(&mut *salt)?;
            let mut hash = commitment(&header, part, &salt);
            read_component(&mut shares, component, &mut |out| {
                fill(out)?;
                hash.update(&*out);
                Ok(())
            })?;
            if *told != Digest256::from(hash.finalize()) {
                wrong = wrong.or(Some(part));
            }
            salts.push(salt);
        }
        let file = Self {
            header,
            place,
            salts,
            shares,
        };
        Ok((file, wrong))
    }

    /// Reads a file of `length` bytes, taking the memory of its share off `budget`. A sealed one is opened with `key`.
    /// A server's parts are held against the client's commitments.
    ///
    /// # Errors
    /// [`ShareFault`]: as [`Preamble::read`], and a file for another key, one that was changed, or parts that are not the
    /// ones that were committed to.
    pub fn read(
        from: &mut dyn Read,
        length: u64,
        key: Option<&SealingKey>,
        budget: &Budget,
    ) -> Result<Self, ShareFault> {
        let preamble = Preamble::read(from, length)?;
        Self::read_body(preamble, from, key, budget)
    }

    fn read_body(
        preamble: Preamble,
        from: &mut dyn Read,
        key: Option<&SealingKey>,
        budget: &Budget,
    ) -> Result<Self, ShareFault> {
        budget.take(preamble.header.sort().bytes() as u64)?;
        let before = preamble.to_bytes();
        let length = preamble.header.body_bytes(preamble.place);
        let input = match (preamble.recipient, key) {
            (None, _) => In::Clear(check_of(&before)),
            (Some(recipient), None) => return Err(ShareFault::Sealed { recipient }),
            (Some(recipient), Some(key)) if recipient != key.public() => {
                let ours = key.public();
                return Err(ShareFault::OtherKey { recipient, ours });
            }
            (Some(_), Some(key)) => {
                let mut capsule = [0; KEY_BYTES];
                from.read_exact(&mut capsule)?;
                let opener = key.open(&capsule, &info(&before));
                let what = "its capsule";
                In::Sealed(opener.map_err(|source| ShareFault::Unopened { what, source })?)
            }
        };
        let Preamble { place, header, .. } = preamble;
        let mut body = BodyReader::new(from, input, length);
        let (file, wrong) = Self::fill_body(header, place, &mut |out| body.fill(out))?;
        // Damage that the sealing or the digest shows is told first.
        body.finish()?;
        match wrong {
            Some(part) => Err(ShareFault::Commitment { part }),
            None => Ok(file),
        }
    }
}

/// Words that a file is sealed with: everything before the body, so that a changed header does not open.
fn info(before: &[u8]) -> Vec<u8> {
    [domains::SHARE_SEAL, before].concat()
}

/// Reads a share file of any origin. A sealed one is opened with `key`; the memory that it takes is bounded by its length.
///
/// # Errors
/// [`ShareFileError`], which names the file and, where its header could be read, the value.
pub fn read_file(path: &Path, key: Option<&SealingKey>) -> Result<ShareFile, ShareFileError> {
    read_checked(path, key, &|_| Ok(()))
}

/// Reads a share file whose beginning passes a check, which comes before anything else is read.
pub(crate) fn read_checked(
    path: &Path,
    key: Option<&SealingKey>,
    check: &dyn Fn(&Preamble) -> Result<(), ShareFault>,
) -> Result<ShareFile, ShareFileError> {
    let error = |value, fault| ShareFileError {
        file: path.to_owned(),
        value,
        fault: Box::new(fault),
    };
    let (file, length) = open_regular(path, MAX_FILE).map_err(|fault| error(None, fault.into()))?;
    let mut from = BufReader::new(file);
    let preamble = Preamble::read(&mut from, length).map_err(|fault| error(None, fault))?;
    let value = Some(preamble.header.in_words());
    if let Err(fault) = check(&preamble) {
        return Err(error(value, fault));
    }
    let budget = Budget::of_file(usize::try_from(length).unwrap_or(usize::MAX));
    let read = ShareFile::read_body(preamble, &mut from, key, &budget);
    read.map_err(|fault| error(value, fault))
}

/// Reads any bytes, and the same ones with a right digest at their end; what is a file is written as it was.
#[doc(hidden)]
pub fn fuzz_read(bytes: &[u8]) {
    let length = bytes.get(20..24).and_then(|length| length.try_into().ok());
    let before = length.map_or(0, u32::from_le_bytes) as usize + PREAMBLE_BYTES;
    let (before, body) = bytes.split_at(before.min(bytes.len()));
    let check = check_of(before).chain_update(body).finalize();
    for candidate in [bytes.to_vec(), [bytes, &check[..]].concat()] {
        let budget = Budget::of_file(candidate.len());
        let length = candidate.len() as u64;
        let Ok(file) = ShareFile::read(&mut &candidate[..], length, None, &budget) else {
            continue;
        };
        let mut again = Vec::new();
        assert!(
            file.write(&mut again, None).is_ok(),
            "what we read, we write"
        );
        assert!(again == candidate, "a file has one text");
    }
}
