//! Round functions of a kind of correlation, which make it of OTs.

use std::ops::Range;

use madrigal_core::Party;
use madrigal_ot::OtError;

use super::masks::{Answer, Ask};
use crate::ot::layout::CallLayout;

/// Reason why nothing is made after a call that did not come to its end.
pub(crate) const OUT_OF_STEP: &str =
    "an earlier call for correlations failed or was given up; start a new job";

/// Round functions of a call, which make something of its OTs without the network.
///
/// Peers are answered in their order for one part; for the rest, the steps of all parts and peers
/// may come in any order that the messages allow.
pub(crate) trait OtCall {
    fn layout(&self) -> Box<dyn CallLayout>;

    /// As the receiver of OTs from `peer`, for items of one part.
    fn ask(&mut self, peer: Party, items: &Range<usize>, ots: Ask<'_>) -> Result<(), OtError>;

    /// As the sender of OTs to `peer`, with corrections to write as long as the layout says.
    fn answer(
        &mut self,
        peer: Party,
        items: &Range<usize>,
        ots: Answer<'_>,
        corrections: &mut [u8],
    ) -> Result<(), OtError>;

    /// As the receiver, after [`ask`](Self::ask): the corrections of `peer`, of the length that the
    /// layout says, or what is wrong with them.
    fn correct(
        &mut self,
        peer: Party,
        items: &Range<usize>,
        corrections: &[u8],
    ) -> Result<(), &'static str>;

    /// A part has gone through all steps with all peers, and those before it have too.
    fn done(&mut self, _: &Range<usize>) {}

    /// Gives the progress that a part counts for.
    fn made(&self, items: &Range<usize>) -> usize {
        items.len()
    }
}
