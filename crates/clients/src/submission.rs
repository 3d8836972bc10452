//! Submissions: a value cut up, the files of many clients taken together, output shares combined.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use madrigal_core::{Digest256, Party, Zeroizing};
use madrigal_engine::{Shares, Sharing};
use madrigal_kernels::{Block, Prg};
use madrigal_operations::Backend;

use crate::body::{SALT_BYTES, Salt, commit};
use crate::check::difference;
use crate::error::{ShareFault, ShareFileError};
use crate::file::ShareFile;
use crate::header::{Header, Named, Purpose};

/// A share file that came from somewhere.
#[derive(Debug, Clone)]
pub struct Received {
    /// The file that it was read from.
    pub file: PathBuf,
    /// Content of the file.
    pub share: ShareFile,
}

impl Received {
    fn error(&self, fault: ShareFault) -> ShareFileError {
        ShareFileError {
            file: self.file.clone(),
            value: Some(self.share.header.in_words()),
            fault: Box::new(fault),
        }
    }
}

/// Bytes of a seed: a key of AES, and the number of its blocks.
pub const SEED_BYTES: usize = 24;

/// A seed from the operating system's randomness, for [`seeded_generator`].
///
/// # Errors
/// [`ShareFault::Randomness`].
pub fn private_seed() -> Result<Zeroizing<[u8; SEED_BYTES]>, ShareFault> {
    let mut seed = Zeroizing::new([0; SEED_BYTES]);
    let drawn = getrandom::fill(&mut *seed).map_err(io::Error::other);
    drawn.map_err(ShareFault::Randomness)?;
    Ok(seed)
}

/// The generator of a seed, as a client deals with: nobody else may have it, and it must deal one submission. A client that keeps the seed deals
/// the same shares of the same values again.
pub fn seeded_generator(seed: &[u8; SEED_BYTES]) -> Prg {
    let word = |i: usize| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&seed[8 * i..][..8]);
        u64::from_le_bytes(bytes)
    };
    Prg::numbered(Block::new(word(0), word(1)), word(2))
}

/// A generator from the operating system's randomness, as a client deals with: nobody else has it.
///
/// # Errors
/// [`ShareFault::Randomness`].
pub fn private_generator() -> Result<Prg, ShareFault> {
    Ok(seeded_generator(&*private_seed()?))
}

/// Nonce for a value, or for all that a client brings together ([`deal_with`]).
pub fn nonce(rng: &mut Prg) -> [u8; 32] {
    let mut nonce = [0; 32];
    rng.fill(&mut nonce);
    nonce
}

/// Cuts a clear value into one file for each server. `sharing` is one that values are kept in.
///
/// # Errors
/// [`ShareFault`]: names, shape or number of servers that no file may have; a value of another number of elements.
///
/// # Panics
/// If the value is not clear or not known here.
pub fn deal(
    named: Named,
    value: &Shares,
    sharing: Sharing,
    servers: usize,
    rng: &mut Prg,
) -> Result<Vec<ShareFile>, ShareFault> {
    let nonce = nonce(rng);
    deal_with(named, value, sharing, servers, nonce, rng)
}

/// Does what [`deal`] does with a nonce that other inputs of this client have too: whoever takes the files can tell by it that they
/// were made together.
///
/// # Errors
/// [`ShareFault`] as of [`deal`].
///
/// # Panics
/// If the value is not clear or not known here.
pub fn deal_with(
    named: Named,
    value: &Shares,
    sharing: Sharing,
    servers: usize,
    nonce: [u8; 32],
    rng: &mut Prg,
) -> Result<Vec<ShareFile>, ShareFault> {
    let element = value.sort().element;
    let header = Header::new(Purpose::Input, named, (sharing, element), servers, nonce)?;
    fits(&header, value)?;
    let shares = Backend::of(sharing).kept.deal(value, servers, rng);
    let salts: Vec<Salt> = (0..header.commitments_needed())
        .map(|_| {
            let mut salt = Zeroizing::new([0; SALT_BYTES]);
            rng.fill(&mut *salt);
            salt
        })
        .collect();
    let commitments = salts.iter().enumerate().map(|(part, salt)| {
        let holder = header.parts().holders(part, servers)[0];
        let component = header.held_by(holder).iter().position(|&held| held == part);
        let component = component.expect("a holder of the part");
        commit(&header, part, salt, &shares[holder.index()], component)
    });
    let commitments: Vec<Digest256> = commitments.collect();
    let header = header.committed(commitments);
    let files = Party::all(servers).zip(shares).map(|(place, shares)| {
        let held = header.held_by(place).into_iter();
        ShareFile {
            salts: held.filter_map(|part| salts.get(part).cloned()).collect(),
            header: header.clone(),
            place,
            shares,
        }
    });
    Ok(files.collect())
}

impl ShareFile {
    /// A server's share of an output, for the client that receives it. `run` names the run of the program, and
    /// is the same at all servers.
    ///
    /// # Errors
    /// [`ShareFault`]: names, shape or number of servers that no file may have; a share of another number of elements.
    pub fn of_output(
        named: Named,
        shares: Shares,
        place: Party,
        servers: usize,
        run: [u8; 32],
    ) -> Result<Self, ShareFault> {
        let form = (shares.sort().sharing, shares.sort().element);
        let header = Header::new(Purpose::Output, named, form, servers, run)?;
        fits(&header, &shares)?;
        Ok(Self {
            header,
            place,
            salts: Vec::new(),
            shares,
        })
    }
}

fn fits(header: &Header, value: &Shares) -> Result<(), ShareFault> {
    let (sort, got) = (header.sort(), value.sort());
    match sort.len == got.len && sort.element == got.element {
        true => Ok(()),
        false => Err(ShareFault::Value {
            got: got.len,
            got_element: got.element,
            expected: sort.len,
            element: sort.element,
        }),
    }
}

/// Takes one server's files of many clients for one input, and puts them in an order that is the same at all servers:
/// that of the clients' names.
///
/// # Errors
/// [`ShareFileError`]: a submission that is there twice, two of one client, or two with one nonce.
pub fn gather(files: Vec<Received>) -> Result<Vec<Received>, ShareFileError> {
    let mut files = files;
    files.sort_by(|one, other| client(one).cmp(client(other)));
    let mut nonces = BTreeMap::new();
    let mut previous: Option<&Received> = None;
    for this in &files {
        let header = this.share.header();
        if let Some(before) = nonces.insert(header.nonce(), this) {
            let other = before.file.clone();
            let fault = match difference(header, before.share.header()) {
                None => ShareFault::Duplicate { other },
                Some((field, ..)) => ShareFault::Nonce { other, field },
            };
            return Err(this.error(fault));
        }
        if let Some(before) = previous.filter(|before| client(before) == client(this)) {
            let other = before.file.clone();
            return Err(this.error(ShareFault::Twice { other }));
        }
        previous = Some(this);
    }
    Ok(files)
}

fn client(received: &Received) -> &str {
    &received.share.header().named().client
}

/// Puts the shares of all servers together, given in any order.
///
/// # Errors
/// [`ShareFileError`]: a server's share is missing or there twice; files of different values, runs or submissions; copies of a
/// part that differ, with the servers that hold them.
///
/// # Panics
/// If there are no files.
pub fn combine(files: Vec<Received>) -> Result<(Header, Shares), ShareFileError> {
    let mut files = files;
    let first = files[0].share.header().clone();
    let other = files[0].file.clone();
    for file in &files[1..] {
        if let Some((field, got, expected)) = difference(file.share.header(), &first) {
            let other = other.clone();
            return Err(file.error(ShareFault::Apart {
                other,
                field,
                got,
                expected,
            }));
        }
    }
    files.sort_by_key(|file| file.share.place());
    for pair in files.windows(2) {
        if pair[0].share.place() == pair[1].share.place() {
            let (server, other) = (pair[1].share.place().index(), pair[0].file.clone());
            return Err(pair[1].error(ShareFault::Again { server, other }));
        }
    }
    let servers = first.servers();
    let there = |server: &Party| files.iter().any(|file| file.share.place() == *server);
    if let Some(missing) = Party::all(servers).find(|server| !there(server)) {
        let server = missing.index();
        return Err(files[0].error(ShareFault::Missing { server, servers }));
    }
    let shares: Vec<Shares> = files
        .iter()
        .map(|file| file.share.shares().clone())
        .collect();
    let combined = Backend::of(first.sort().sharing).kept.combine(&shares);
    let value = combined.map_err(|error| files[0].error(error.into()))?;
    Ok((first, value))
}
