//! Correlations as data: what makes a kind as strings of bytes is a source of all typed ones.

use std::future::ready;

use futures_util::future::LocalBoxFuture;
use madrigal_net::Result;

use crate::kind::Kind;
use crate::shares::{AnyShares, Strings};
use crate::source::Source;

/// One party's end of a source that makes correlations as strings of bytes: from a dealer, from stores, or
/// from a [`Provider`](crate::Provider) of a user's own. It is a [`Source`] of every kind that it makes.
///
/// A call is for many items, so that it does not matter what a call costs.
pub trait Maker {
    /// Makes this party's shares of `count` fresh items, at least one: all parties call it with the same numbers
    /// in the same order. `made` hears, as it goes, how many more [steps](Kind::steps) are done.
    ///
    /// An item that was given out is gone, also where the call fails later.
    ///
    /// # Errors
    /// [`Error`](madrigal_net::Error) of the network, and of all that it reads; a failure leaves the source unusable.
    fn make<'a>(
        &'a mut self,
        kind: Kind,
        count: usize,
        made: &'a dyn Fn(usize),
    ) -> LocalBoxFuture<'a, Result<Strings>>;

    /// Hears that nothing more is wanted. Part of every job that ends well.
    ///
    /// # Errors
    /// [`Error`](madrigal_net::Error) of the network.
    fn end(&mut self) -> LocalBoxFuture<'_, Result<()>> {
        Box::pin(ready(Ok(())))
    }
}

impl<M: Maker + ?Sized> Maker for Box<M> {
    fn make<'a>(
        &'a mut self,
        kind: Kind,
        count: usize,
        made: &'a dyn Fn(usize),
    ) -> LocalBoxFuture<'a, Result<Strings>> {
        (**self).make(kind, count, made)
    }

    fn end(&mut self) -> LocalBoxFuture<'_, Result<()>> {
        (**self).end()
    }
}

impl<M: Maker + ?Sized> Source for M {
    fn items<'a>(
        &'a mut self,
        kind: Kind,
        count: usize,
        made: &'a dyn Fn(usize),
    ) -> LocalBoxFuture<'a, Result<AnyShares>> {
        Box::pin(async move {
            let strings = match count {
                // Nothing is made.
                0 => Vec::new(),
                _ => self.make(kind, count, made).await?,
            };
            Ok(kind.shares(strings, count))
        })
    }

    fn close(&mut self) -> LocalBoxFuture<'_, Result<()>> {
        self.end()
    }
}
