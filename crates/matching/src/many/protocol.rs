//! The flag `--protocol` of three parties and more.

use clap::ValueEnum;
use madrigal_engine::Sharing;
use madrigal_operations::Backend;

/// Protocol in which three parties or more match their lists.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProtocolArg {
    /// Three parties; safe unless two of them put together what they have
    #[value(name = "R")]
    R,
    /// Any number of parties; safe even if all but one put together what they have
    #[value(name = "B")]
    B,
}

impl ProtocolArg {
    /// Record of the protocol.
    pub(super) fn backend(self) -> &'static Backend {
        Backend::of(match self {
            Self::R => Sharing::R,
            Self::B => Sharing::B,
        })
    }
}
