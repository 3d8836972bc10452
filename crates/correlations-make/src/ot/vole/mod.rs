//! VOLE with one peer: the party that has Delta and makes keys, and the one that makes values and their tags.
//!
//! Unlike other correlations these are of one direction and of one use, and no stock keeps them.

mod costs;
mod keys;
mod start;
mod values;

use std::fmt;
use std::sync::OnceLock;

use madrigal_core::{Party, PhaseCost};
use madrigal_net::{Context, Error, Result};
use madrigal_ot::vole;

use crate::ot::base::{Base, BasePair, base_cost};

pub use self::costs::{VoleCost, VoleCosts};
pub use self::keys::{VoleAnswerer, VoleKeys, VoleKeysBegun};
pub use self::values::VoleValues;
pub use madrigal_ot::vole::Expected as VoleExpected;

/// Elements that are made at a time: a message of a few megabytes, so that both sides compute at once.
const PIECE: usize = 1 << 20;

/// Bytes of a challenge of VOLE.
pub const VOLE_CHALLENGE_BYTES: usize = vole::CHALLENGE_BYTES;

/// Bytes of the answer to a challenge of VOLE.
pub const VOLE_ANSWER_BYTES: usize = vole::ANSWER_BYTES;

/// Behaviour of a party that a protocol withstands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Security {
    /// It follows the protocol, and looks at what it sees.
    #[default]
    SemiHonest,
    /// It does what it likes: either side's deviations are found, as [the protocol's documentation](madrigal_ot::vole#malicious-parties) says.
    Malicious,
}

/// Base OTs with the one peer of a session of two, from which instances of VOLE start, one for each thread and
/// direction. All of them withstand the same behaviour: they have one Delta, which an unchecked instance would give away for the others.
pub struct VoleBase {
    base: Base,
    security: OnceLock<Security>,
}

impl VoleBase {
    /// Runs the base OTs, in both directions. Two rounds; [`VoleBase::cost`].
    ///
    /// # Errors
    /// [`Error`] of the network; of a peer's malformed message.
    pub async fn new(context: &Context) -> Result<Self> {
        let base = context.metered(Base::new(context)).await?;
        Ok(Self {
            base,
            security: OnceLock::new(),
        })
    }

    /// Cost of [`VoleBase::new`].
    pub fn cost() -> PhaseCost {
        base_cost(2)
    }

    fn with(&self, peer: Party, security: Security) -> Result<&BasePair> {
        if *self.security.get_or_init(|| security) != security {
            let problem = "checked and unchecked instances of VOLE from the same base OTs";
            return Err(Error::bug(problem));
        }

        let pair = self.base.peers().find(|pair| pair.peer == peer);
        pair.ok_or_else(|| Error::bug(format!("no base OTs with {peer}")))
    }
}

impl fmt::Debug for VoleBase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VoleBase").finish_non_exhaustive()
    }
}

/// Cuts a call for `m` elements into messages: places of the elements of each, and whether the mask of the call's check is with them.
fn pieces(m: usize, security: Security) -> impl Iterator<Item = (std::ops::Range<usize>, bool)> {
    let checked = security == Security::Malicious;
    // A mask needs a message, also if it is alone.
    let count = m.div_ceil(PIECE).max(checked.into());
    (0..count).map(move |i| {
        let range = i * PIECE..m.min((i + 1) * PIECE);
        (range, checked && i + 1 == count)
    })
}

/// The step of an instance: both sides have it.
fn name(keys: Party, line: u32) -> String {
    format!("VOLE with keys of {keys}, thread {line}")
}
