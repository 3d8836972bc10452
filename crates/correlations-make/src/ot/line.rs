//! One thread of a source: its extensions with all peers, and what it makes of them.

use std::ops::Range;
use std::sync::Arc;

use madrigal_core::Ring;
use madrigal_correlations::{
    AnyShares, CorrelatedOts, Direction, Kind, Pool, ProductTriples, Tripled, Width, with_ring,
};
use madrigal_net::{Context, Result};

use crate::ot::base::{Base, Group, Stream};
use crate::ot::bits::{BitCall, Taker};
use crate::ot::extension::Extension;
use crate::ot::links::{GroupOts, OtCall};
use crate::ot::matrices::{self, Encrypted};
use crate::ot::recipe::Recipe;
use crate::ot::rows::{RowsCall, RowsLayout};

/// The extensions of one thread with all peers, one for each group of kinds.
pub(crate) struct OtLine {
    pub(crate) number: u32,
    pub(crate) context: Context,
    base: Arc<Base>,
    extension: Extension,
    /// Bytes that a peer is sent before it has been heard of.
    unheard: usize,
    /// Extensions by [`Group`].
    groups: [Option<GroupOts>; Group::COUNT],
    /// Makes matrix triples in place of the extensions, where it can.
    encrypted: Option<Encrypted>,
    /// Memory of rows.
    pool: Pool,
}

impl OtLine {
    pub(crate) fn new(
        context: Context,
        base: &Arc<Base>,
        extension: Extension,
        number: u32,
        unheard: usize,
    ) -> Self {
        Self {
            number,
            unheard,
            base: Arc::clone(base),
            extension,
            groups: [const { None }; Group::COUNT],
            encrypted: None,
            pool: Pool::default(),
            context,
        }
    }

    /// From now on matrix triples are made by encryption.
    pub(crate) fn encrypt_matrices(&mut self) -> Result<()> {
        self.encrypted = Some(Encrypted::new(&self.context)?);
        Ok(())
    }

    /// Gives the extensions of a group, made first if they are not there yet, which is work even for no items.
    async fn group(&mut self, group: Group) -> Result<&mut GroupOts> {
        match &mut self.groups[group as usize] {
            Some(ots) => Ok(ots),
            place => {
                let stream = Stream {
                    group,
                    line: self.number,
                };
                let (context, base) = (&self.context, &self.base);
                let ots = GroupOts::new(context, base, self.extension, stream, self.unheard);
                Ok(place.insert(ots.await?))
            }
        }
    }

    async fn run(
        &mut self,
        group: Group,
        call: &mut dyn OtCall,
        made: &dyn Fn(usize),
    ) -> Result<()> {
        self.group(group).await?.run(call, made).await
    }

    /// Makes items of a kind by its recipe.
    pub(crate) async fn items(
        &mut self,
        kind: Kind,
        recipe: &Recipe,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<AnyShares> {
        if count == 0 {
            return Ok(kind.shares(Vec::new(), 0));
        }
        let mut call = (recipe.call)(&self.context, count);
        self.run(recipe.group, &mut *call, made).await?;
        Ok(call.finish())
    }

    /// Makes Boolean triples, given to `taker` part by part.
    pub(crate) async fn bit_triples_in_parts(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
        taker: Taker,
    ) -> Result<()> {
        let mut call = BitCall::in_parts(&self.context, count, taker);
        match count {
            0 => Ok(()),
            _ => self.run(Group::Bits, &mut call, made).await,
        }
    }

    /// Makes triples of a product.
    pub(crate) async fn products(
        &mut self,
        (width, one): (Width, Tripled),
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<AnyShares> {
        with_ring!(width, T => self.products_of::<T>(one, count, made).await)
    }

    /// Makes triples of several products together, all of which are made by encryption.
    pub(crate) async fn products_together(
        &mut self,
        width: Width,
        wanted: &[(Tripled, usize)],
        made: &dyn Fn(usize),
    ) -> Result<Vec<AnyShares>> {
        with_ring!(width, T => {
            let Some(encrypted) = &mut self.encrypted else {
                unreachable!("who encrypts nothing makes them one after the other");
            };
            let all = encrypted.triples::<T>(wanted, made).await?;
            let all = all.into_iter().map(|triples| AnyShares::new(ProductTriples::new(triples)));
            Ok(all.collect())
        })
    }

    async fn products_of<T: Ring>(
        &mut self,
        one: Tripled,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<AnyShares> {
        let context = self.context.clone();
        let encrypted = self.encrypted.as_mut().filter(|_| matrices::serves::<T>());
        let triples = if count == 0 || one.product.multiplications() == 0 {
            matrices::empty::<T>(&context, one, count)
        } else if let Some(encrypted) = encrypted {
            let mut all = encrypted.triples(&[(one, count)], made).await?;
            all.remove(0)
        } else {
            let ots = self.group(Group::Matrices).await?;
            matrices::triples(ots, &context, one, count, made).await?
        };
        Ok(AnyShares::new(ProductTriples::new(triples)))
    }

    pub(crate) async fn correlated_ots(
        &mut self,
        counts: &Arc<[(Direction, usize)]>,
        portion: Range<usize>,
        made: &dyn Fn(usize),
    ) -> Result<CorrelatedOts> {
        let any = !portion.is_empty();
        let layout = RowsLayout::new(self.context.me(), counts, portion);
        let mut call = RowsCall::new(&self.context, layout, &self.pool);
        if any {
            self.run(Group::Rows, &mut call, made).await?;
        }
        Ok(call.finish())
    }
}
