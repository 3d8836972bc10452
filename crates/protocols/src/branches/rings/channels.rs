//! Channels of conditionals on ring elements.

use madrigal_core::{Party, Ring, Zeroizing};
use madrigal_correlations::RingTriples;
use madrigal_net::{Context, Result};

use crate::Opening;
use crate::arithmetic::ArithmeticGmw;
use crate::branches::channels::Branches;

/// Ring elements, wiped when dropped.
pub type Elements<T> = Zeroizing<Vec<T>>;

/// The interactive part, on channels of its own.
pub struct RingBranches {
    pub(super) branches: Branches,
    pub(super) numbers: ArithmeticGmw,
    pub(super) everyone: Vec<Party>,
}

impl std::fmt::Debug for RingBranches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RingBranches({:?})", self.numbers)
    }
}

impl RingBranches {
    /// Opens the channels of steps of `context`.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] in the same cases as [`Context::channels`].
    pub fn new(context: &Context, opening: Opening) -> Result<Self> {
        Ok(Self {
            branches: Branches::new(context.step("choice"), opening)?,
            numbers: ArithmeticGmw::new(context.step("numbers"), opening)?,
            everyone: Party::all(context.parties()).collect(),
        })
    }

    /// Counts rounds from now on in `context`.
    pub fn count_in(&mut self, context: &Context) {
        self.branches.count_in(context);
        self.numbers.count_in(context);
    }

    /// Number of this party.
    pub fn me(&self) -> Party {
        self.branches.me()
    }

    pub(super) fn parties(&self) -> usize {
        self.everyone.len()
    }

    /// Opens masked elements to all.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    pub async fn open<T: Ring>(&mut self, masked: &mut [T]) -> Result<()> {
        let everyone = self.everyone.clone();
        let opened = self.numbers.open_strings(masked, &mut [], &everyone);
        opened.await.map(drop)
    }

    /// Shares of x y, element by element: see [`ArithmeticGmw::mul`].
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    pub async fn mul<T: Ring>(
        &mut self,
        triples: &mut RingTriples<T>,
        x: &[T],
        y: &[T],
        z: &mut [T],
    ) -> Result<()> {
        self.numbers.mul(triples, x, y, z).await
    }

    /// Opens masked elements to all, and in the same message whole bytes of masked bits.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    pub async fn open_both<T: Ring>(&mut self, masked: &mut [T], bits: &mut [u8]) -> Result<()> {
        let everyone = self.everyone.clone();
        let opened = self.numbers.open_strings(masked, bits, &everyone);
        opened.await.map(drop)
    }
}
