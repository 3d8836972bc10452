//! The header, which all files of a submission have in common, and its bytes.

use madrigal_core::text::is_plain;
use madrigal_core::{Digest256, MAX_PARTIES, Party, domains};
use madrigal_engine::{Element, Sharing, Sort, Width};
use madrigal_net::roster::is_name;
use madrigal_operations::{BACKENDS, Backend, Parts};
use sha2::{Digest, Sha256};

use crate::error::ShareFault;
use crate::limits::{MAX_ELEMENTS, MAX_RANK, MAX_TEXT};

/// Bytes of a nonce.
const NONCE_BYTES: usize = 32;

/// The submission that a file belongs to: a digest of its header. Files of one submission have the same header, so
/// servers that have the same submissions agree on everything in it.
pub type SubmissionId = Digest256;

/// Purposes of a file's shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// A client's value, for the servers.
    Input,
    /// A job's result, for a client.
    Output,
}

impl Purpose {
    /// The word for people.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Output => "output",
        }
    }
}

/// Names of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Name of the job.
    pub job: String,
    /// Name of the input or the output within the job.
    pub name: String,
    /// Name of the client that brings or receives the value: letters, digits, `-`, `_` and `.`, as a party's.
    pub client: String,
    /// Type of the elements, in words that client and servers agree on: it is compared as a text.
    pub element_type: String,
    /// Lengths of the axes; without any it is a single element.
    pub shape: Vec<usize>,
}

/// Everything that the files of a submission have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    purpose: Purpose,
    named: Named,
    sort: Sort,
    servers: usize,
    nonce: [u8; NONCE_BYTES],
    commitments: Vec<Digest256>,
}

impl Header {
    /// A header that keeps all rules. Elements are `element`s in `sharing`.
    ///
    /// # Errors
    /// [`ShareFault`]: a name or a shape that no file may have, or a sharing that nothing is kept in, or not by `servers` servers.
    pub(crate) fn new(
        purpose: Purpose,
        named: Named,
        (sharing, element): (Sharing, Element),
        servers: usize,
        nonce: [u8; NONCE_BYTES],
    ) -> Result<Self, ShareFault> {
        let texts = [
            ("job's name", &named.job),
            ("value's name", &named.name),
            ("type", &named.element_type),
        ];
        for (what, text) in texts {
            let fits = (1..=MAX_TEXT).contains(&text.len()) && text.chars().all(is_plain);
            if !fits {
                return Err(ShareFault::Text { what });
            }
        }
        if !is_name(&named.client) {
            return Err(ShareFault::Client);
        }
        let len = elements(&named.shape).ok_or(ShareFault::Shape)?;
        let backend = kept_in(sharing.name()).filter(|kept| kept.sharing == sharing);
        let backend = backend.ok_or_else(|| ShareFault::Sharing {
            name: sharing.name().into(),
        })?;
        let holds = match element {
            Element::Bits(planes) => backend.bits.is_some() && (1..=128).contains(&planes),
            Element::Ring(_) => backend.numbers.is_some(),
        };
        if !holds || servers > MAX_PARTIES || !backend.parties.contains(&servers) {
            let sharing = sharing.name();
            return Err(ShareFault::Unshared {
                sharing,
                element,
                servers,
            });
        }
        Ok(Self {
            purpose,
            named,
            sort: Sort::new(sharing, element, len),
            servers,
            nonce,
            commitments: Vec::new(),
        })
    }

    pub(crate) fn committed(self, commitments: Vec<Digest256>) -> Self {
        Self {
            commitments,
            ..self
        }
    }

    /// Purpose of the shares.
    pub const fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// Names and shape of the value.
    pub const fn named(&self) -> &Named {
        &self.named
    }

    /// Sharing, element and number of elements.
    pub const fn sort(&self) -> &Sort {
        &self.sort
    }

    /// Number of servers.
    pub const fn servers(&self) -> usize {
        self.servers
    }

    /// Nonce of an input, 32 random bytes that are the same in all files of a submission; of an output the run's identifier.
    pub const fn nonce(&self) -> &[u8; NONCE_BYTES] {
        &self.nonce
    }

    /// The commitments to all parts of the value, where parts are at several servers and a client deals them.
    pub fn commitments(&self) -> &[Digest256] {
        &self.commitments
    }

    /// The value for people, as in ``input `x` of client `alice` ``.
    pub fn in_words(&self) -> String {
        let Named { name, client, .. } = &self.named;
        let preposition = match self.purpose {
            Purpose::Input => "of",
            Purpose::Output => "for",
        };
        let purpose = self.purpose.in_words();
        format!("{purpose} `{name}` {preposition} client `{client}`")
    }

    /// Parts of the value and their holders.
    pub(crate) fn parts(&self) -> Parts {
        Backend::of(self.sort.sharing).kept.parts
    }

    /// The parts that a server holds.
    pub(crate) fn held_by(&self, server: Party) -> Vec<usize> {
        self.parts().held_by(server, self.servers)
    }

    /// Number of commitments that the header has to list.
    pub(crate) fn commitments_needed(&self) -> usize {
        match (self.purpose, self.parts()) {
            (Purpose::Input, Parts::TwoOfThree) => self.parts().count(self.servers),
            (Purpose::Input, Parts::OneEach) | (Purpose::Output, _) => 0,
        }
    }

    /// The submission's name: the same where the headers are the same in everything, above all in the commitments.
    pub fn submission(&self) -> SubmissionId {
        let hash = Sha256::new()
            .chain_update(domains::SHARE_SUBMISSION)
            .chain_update(self.to_bytes());
        hash.finalize().into()
    }

    /// The header's bytes, as `schema/SHARES.md` has them. Each part says how long it is, so none can be read in two
    /// ways.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut to = Vec::new();
        let Named {
            job,
            name,
            client,
            element_type,
            shape,
        } = &self.named;
        to.push(match self.purpose {
            Purpose::Input => 0,
            Purpose::Output => 1,
        });
        for text in [job, name, client, element_type, self.sort.sharing.name()] {
            to.extend((text.len() as u16).to_le_bytes());
            to.extend(text.as_bytes());
        }
        to.push(match self.sort.element {
            Element::Bits(_) => 0,
            Element::Ring(_) => 1,
        });
        to.push(self.sort.element.bits() as u8);
        to.push(self.servers as u8);
        to.push(shape.len() as u8);
        for &axis in shape {
            to.extend((axis as u64).to_le_bytes());
        }
        to.extend(self.nonce);
        to.push(self.commitments.len() as u8);
        for commitment in &self.commitments {
            to.extend(commitment.0);
        }
        to
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote; every other text is refused.
    ///
    /// # Errors
    /// [`ShareFault`]: a field that no file has, or that is missing.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ShareFault> {
        let mut from = Reader(bytes);
        let purpose = match from.byte("its purpose")? {
            0 => Purpose::Input,
            1 => Purpose::Output,
            _ => return Err(damaged("its purpose")),
        };
        let job = from.text("the job's name")?;
        let name = from.text("the value's name")?;
        let client = from.text("the client's name")?;
        let element_type = from.text("the type")?;
        let sharing = from.text("the sharing")?;
        let ring = from.byte("the element")?;
        let bits = usize::from(from.byte("the element")?);
        let width = Width::ALL.into_iter().find(|width| width.bits() == bits);
        let element = match (ring, width) {
            (0, _) => Element::Bits(bits),
            (1, Some(width)) => Element::Ring(width),
            _ => return Err(damaged("the element")),
        };
        let servers = usize::from(from.byte("the number of servers")?);
        let rank = usize::from(from.byte("the shape")?);
        if rank > MAX_RANK {
            return Err(damaged("the shape"));
        }
        let axes = (0..rank).map(|_| {
            let axis = from.array("the shape").map(u64::from_le_bytes)?;
            usize::try_from(axis).map_err(|_| damaged("the shape"))
        });
        let named = Named {
            shape: axes.collect::<Result<_, _>>()?,
            job,
            name,
            client,
            element_type,
        };
        let nonce = from.array("the nonce")?;
        let listed = from.byte("the commitments")?;
        let commitments = (0..listed).map(|_| from.array("the commitments").map(Digest256));
        let commitments: Vec<_> = commitments.collect::<Result<_, _>>()?;
        if !from.0.is_empty() {
            return Err(damaged("what follows the commitments"));
        }
        let Some(backend) = kept_in(&sharing) else {
            return Err(ShareFault::Sharing { name: sharing });
        };
        let form = (backend.sharing, element);
        let header = Self::new(purpose, named, form, servers, nonce)?.committed(commitments);
        match header.commitments.len() == header.commitments_needed() {
            true => Ok(header),
            false => Err(damaged("the number of commitments")),
        }
    }
}

/// Number of elements of a shape; nothing where it is none.
fn elements(shape: &[usize]) -> Option<usize> {
    // An empty axis does not excuse another that is too long.
    let mut most = shape
        .iter()
        .try_fold(1_usize, |all, &axis| all.checked_mul(axis.max(1)));
    most = most.filter(|&most| most <= MAX_ELEMENTS && shape.len() <= MAX_RANK);
    most.map(|_| shape.iter().product())
}

/// The protocol of that name, if values are kept in its sharing.
fn kept_in(name: &str) -> Option<&'static Backend> {
    let kept = |backend: &&Backend| backend.kept.sharing == backend.sharing;
    BACKENDS.iter().filter(kept).find(|kept| kept.name == name)
}

/// The sharing of that name, if values are kept in it.
pub fn sharing_named(name: &str) -> Option<Sharing> {
    kept_in(name).map(|backend| backend.sharing)
}

fn damaged(what: &'static str) -> ShareFault {
    ShareFault::Damaged { what }
}

/// Takes parts off the front.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take(&mut self, count: usize, what: &'static str) -> Result<&[u8], ShareFault> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(damaged(what))?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], ShareFault> {
        let taken = self.take(N, what)?;
        taken.try_into().map_err(|_| damaged(what))
    }

    fn byte(&mut self, what: &'static str) -> Result<u8, ShareFault> {
        self.array::<1>(what).map(|[byte]| byte)
    }

    fn text(&mut self, what: &'static str) -> Result<String, ShareFault> {
        let length = usize::from(u16::from_le_bytes(self.array(what)?));
        let text = std::str::from_utf8(self.take(length, what)?);
        text.map(str::to_owned).map_err(|_| damaged(what))
    }
}
