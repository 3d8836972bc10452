//! How a kind of correlation is made of OTs, as data.

use madrigal_correlations::AnyShares;
use madrigal_net::Context;

use crate::ot::base::Group;
use crate::ot::layout::CallLayout;
use crate::ot::links::OtCall;

/// Function that gives the layout of a call, by the numbers of parties and of items.
type LayoutOf = Box<dyn Fn(usize, usize) -> Box<dyn CallLayout> + Send + Sync>;
/// Function that begins a call, by the number of items.
type CallOf = Box<dyn Fn(&Context, usize) -> Box<dyn Making> + Send + Sync>;

/// How a kind is made of OTs.
pub(crate) struct Recipe {
    /// Group of extensions that the kind takes its OTs from.
    pub(crate) group: Group,
    /// OTs that making an item is worth: calls are shared out among threads by it.
    pub(crate) ots: usize,
    /// Layout of one thread's call, of which its messages and its cost follow.
    pub(crate) layout: LayoutOf,
    /// Call of one thread, which makes shares of OTs.
    pub(crate) call: CallOf,
}

/// A call that makes shares of a kind.
pub(crate) trait Making: OtCall {
    /// Gives the shares, after all parts have gone through all steps.
    fn finish(self: Box<Self>) -> AnyShares;
}
