//! Those who have values in the clear: parties, and clients, who compute nothing.

use std::fmt;
use std::sync::Arc;

use madrigal_core::Party;

/// Somebody who brings values or gets some, and computes nothing: a name, by which the parties of a program know them.
///
/// A client takes part in no session. Of what it brings, it makes a share for each party ([`Computation::deal`] in trials, the
/// crate `madrigal-clients` in files), and what it gets it puts together of the shares that all parties hand
/// it ([`Computation::put_together`]). A party alone learns nothing of either. The form of shares follows from the
/// type and the mix alone ([`Mix::kept_form`]), so a client needs to know nothing else of the program.
///
/// ```
/// use madrigal_program::{Client, Inputs, Program};
/// let (clinic, registry) = (Client::new("clinic"), Client::new("registry"));
/// let mut p = Program::new(3);
/// let cases = p.input_named::<u32>("cases", &clinic, [4]);
/// let total = p.open_named("total", cases.sum(0), &registry);
/// let program = p.finish()?;
/// let parties = program.run_locally(&Inputs::new().with([3u32, 1, 4, 1]))?;
/// assert_eq!(parties[0].get_if_known(total), None);
/// assert_eq!(program.put_together(&parties)?.get(total), [9]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// [`Computation::deal`]: crate::Computation::deal
/// [`Computation::put_together`]: crate::Computation::put_together
/// [`Mix::kept_form`]: crate::lower::Mix::kept_form
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Client(Arc<str>);

impl Client {
    /// The most bytes that a client's name has.
    pub const LONGEST: usize = 64;

    /// A client by its name: letters, digits, `-`, `_` and `.`, at most [`LONGEST`](Self::LONGEST) bytes. A program in which
    /// a client has another name is refused when it is finished.
    pub fn new(name: &str) -> Self {
        Self(name.into())
    }

    /// A client by its name, if that can be one.
    pub fn checked(name: &str) -> Option<Self> {
        Some(Self::new(name)).filter(Self::is_named_well)
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// Whether the name can be one: it stands in lists, in files and on terminals.
    pub(crate) fn is_named_well(&self) -> bool {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        (1..=Self::LONGEST).contains(&self.0.len()) && self.0.bytes().all(fits)
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "client {}", self.0)
    }
}

/// Somebody who has a value in the clear: who brings an input, or gets an output.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Holder {
    /// A party, which computes.
    Party(Party),
    /// A client, which does not.
    Client(Client),
}

impl Holder {
    /// The party, if it is one.
    pub fn party(&self) -> Option<Party> {
        match self {
            Self::Party(party) => Some(*party),
            Self::Client(_) => None,
        }
    }

    /// The client, if it is one.
    pub fn client(&self) -> Option<&Client> {
        match self {
            Self::Client(client) => Some(client),
            Self::Party(_) => None,
        }
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Party(party) => party.fmt(f),
            Self::Client(client) => client.fmt(f),
        }
    }
}

impl From<Party> for Holder {
    fn from(party: Party) -> Self {
        Self::Party(party)
    }
}

impl From<Client> for Holder {
    fn from(client: Client) -> Self {
        Self::Client(client)
    }
}

impl From<&Client> for Holder {
    fn from(client: &Client) -> Self {
        Self::Client(client.clone())
    }
}
