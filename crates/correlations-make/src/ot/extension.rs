//! OT extensions that correlations are made with.

use std::fmt;
use std::str::FromStr;

use madrigal_ot::KAPPA;
use madrigal_ot::cost::{self, Cost};
use madrigal_ot::silent::SilentParams;
use madrigal_ot::softspoken::FieldBits;

/// An OT extension: what makes many OTs of a few base OTs. All are for semi-honest parties.
///
/// In text they are `iknp`, `softspoken2` to `softspoken8`, and `silent`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Extension {
    /// [SoftSpoken](madrigal_ot::softspoken), whose field has k bits: 128 / k bits of communication
    /// for an OT. k = 1 is IKNP, message for message.
    SoftSpoken(FieldBits),
    /// [Silent OT](madrigal_ot::silent) with [`SilentParams::LARGE`]: three quarters of a bit for an
    /// OT with a random choice, one more for a given one. It begins with 0.19 MB each way, 3 ms of work
    /// and two rounds more than the others, and keeps some 20 MB for each peer and kind of
    /// correlation.
    Silent,
}

/// The silent instances of a source.
pub(crate) const SILENT: SilentParams = SilentParams::LARGE;
/// The extension that makes what silent instances start from. They need few OTs: bytes count.
pub(crate) const SILENT_BASE: FieldBits = FieldBits::MAX;

impl Default for Extension {
    /// SoftSpoken with k = 4: a quarter of IKNP's bytes for the same work.
    fn default() -> Self {
        Self::SoftSpoken(match FieldBits::new(4) {
            Ok(k) => k,
            Err(_) => FieldBits::MIN,
        })
    }
}

impl Extension {
    /// IKNP.
    pub const IKNP: Self = Self::SoftSpoken(FieldBits::MIN);

    /// All of them, those with the most bytes first.
    pub fn all() -> impl Iterator<Item = Self> {
        let soft = FieldBits::all().map(Self::SoftSpoken);
        soft.chain(std::iter::once(Self::Silent))
    }

    pub(crate) fn is_silent(self) -> bool {
        self == Self::Silent
    }

    /// Bytes of the receiver's first message.
    pub(crate) fn setup_len(self) -> usize {
        match self {
            Self::SoftSpoken(k) => k.setup_len(),
            Self::Silent => SILENT_BASE.setup_len() + SILENT_BASE.message_len(SILENT.base_rows()),
        }
    }

    /// Gives the cost of that message, in the roles of the OTs, with what silent ones draw: the receiver's
    /// choices, a seed of the sender's.
    pub(crate) fn setup_cost(self) -> Cost {
        match self {
            Self::SoftSpoken(k) => cost::softspoken_setup(k),
            Self::Silent => {
                let rows = SILENT.base_rows() as u64;
                let drawn = Cost {
                    sender_aes: 1,
                    receiver_aes: rows.div_ceil(KAPPA as u64),
                    ..Cost::default()
                };
                cost::softspoken_setup(SILENT_BASE) + cost::softspoken(SILENT_BASE, rows) + drawn
            }
        }
    }
}

impl fmt::Display for Extension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            &Self::IKNP => f.write_str("iknp"),
            Self::SoftSpoken(k) => write!(f, "softspoken{}", k.get()),
            Self::Silent => f.write_str("silent"),
        }
    }
}

/// A text that names no extension.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no OT extension `{name}`; choose one of iknp, softspoken2 to softspoken8, silent"
)]
pub struct ExtensionError {
    name: String,
}

impl FromStr for Extension {
    type Err = ExtensionError;

    fn from_str(name: &str) -> Result<Self, ExtensionError> {
        Self::all()
            .find(|extension| extension.to_string() == name)
            .ok_or_else(|| ExtensionError { name: name.into() })
    }
}

/// OTs of one part in one direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Batch {
    pub(crate) ots: usize,
    /// OTs of one item, which is never cut.
    pub(crate) unit: usize,
    /// Whether the extension may choose, if it can do that for less.
    pub(crate) free: bool,
}

impl Batch {
    /// OTs that are extended at a time, as (first, number): whole items, and whole vectors for the
    /// generators but for less than one item's OTs of padding.
    pub(crate) fn runs(self) -> impl Iterator<Item = (usize, usize)> {
        let size = madrigal_ot::softspoken::CHUNK / self.unit * self.unit;
        (0..self.ots)
            .step_by(size)
            .map(move |first| (first, size.min(self.ots - first)))
    }

    /// Whether the extension chooses.
    pub(crate) fn random(self, extension: Extension) -> bool {
        self.free && extension.is_silent()
    }

    /// Bytes of the receiver's message.
    pub(crate) fn message_len(self, extension: Extension) -> usize {
        if self.random(extension) {
            return 0;
        }
        let len = |ots: usize| match extension {
            Extension::SoftSpoken(k) => k.message_len(ots),
            Extension::Silent => ots.div_ceil(8),
        };
        self.runs().map(|(_, ots)| len(ots)).sum()
    }
}
