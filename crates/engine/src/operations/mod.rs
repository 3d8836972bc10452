//! The operations that come with the engine, and what a protocol does to have them.
//!
//! | operation | of values in | in |
//! |---|---|---|
//! | inputs, openings, public constants | every sharing | `edges.rs` |
//! | Boolean circuits | every [`Boolean`] protocol | `netlist.rs` |
//! | sums, products, dot products, matrices | A, R | `ring.rs` |
//! | conversions | A to B, B to A, within R | `convert.rs` |
//! | rearrangements, broadcasts, sums along an axis | every sharing | `local.rs` |

mod boolean_gmw;
mod edges;
mod netlist;
mod replicated;

use std::future::Future;
use std::sync::Arc;

use madrigal_core::Party;
use madrigal_correlations::Stock;
use madrigal_net::Result;
use madrigal_circuit::And;

use crate::arena::Arena;
use crate::bill::Bill;
use crate::operation::{Mismatch, Tool};
use crate::shares::Shares;
use crate::sort::{Element, Sharing, Sort};

pub use boolean_gmw::BooleanGmwTool;
pub use edges::{Constant, Open, Share};
pub use netlist::Netlist;
pub use replicated::ReplicatedTool;

/// A protocol that values can be brought into and opened from.
pub trait Protocol: Tool {
    /// What its values are.
    const SHARING: Sharing;

    /// Whether it has values of this element, among so many parties.
    ///
    /// # Errors
    /// Why not.
    fn holds(element: Element, parties: usize) -> std::result::Result<(), Mismatch>;

    /// Shares of clear values of `owner`'s, which are unknown to the others: bits, or all of one ring.
    fn share(
        &mut self,
        owner: Party,
        values: &[Arc<Shares>],
    ) -> impl Future<Output = Result<Vec<Shares>>>;

    /// Its cost.
    fn share_bill(owner: Party, sorts: &[Sort], bill: &mut Bill);

    /// The values, at the parties `to`: bits, or all of one ring.
    fn open(
        &mut self,
        values: &[Arc<Shares>],
        to: &[Party],
    ) -> impl Future<Output = Result<Vec<Shares>>>;

    /// Its cost.
    fn open_bill(sorts: &[Sort], to: &[Party], bill: &mut Bill);

    /// Shares of a value that all know. No message.
    fn constant(me: Party, value: &Shares) -> Shares;
}

/// A protocol that evaluates Boolean circuits.
pub trait Boolean: Protocol {
    /// The components of `me`'s shares that public constants are added to.
    fn leads(me: Party) -> [bool; 2];

    /// A layer of ANDs of rows.
    fn ands(
        &mut self,
        ands: &[And],
        arena: &mut Arena,
        stock: &mut Stock,
    ) -> impl Future<Output = Result<()>>;

    /// Its cost.
    fn ands_bill(ands: usize, lanes: usize, bill: &mut Bill);
}

/// That values are all bits, or all of one ring: they can share a message.
fn same_ring(sorts: &[Sort]) -> std::result::Result<(), Mismatch> {
    let ring = |sort: &Sort| match sort.element {
        Element::Bits(_) => None,
        Element::Ring(width) => Some(width),
    };
    if sorts.windows(2).any(|pair| ring(&pair[0]) != ring(&pair[1])) {
        let problem = "values of several rings, or of rings and bits, in one operation";
        return Err(Mismatch::new(problem));
    }
    Ok(())
}

/// That a value is in this sharing.
fn in_sharing(sharing: Sharing, sort: &Sort) -> std::result::Result<(), Mismatch> {
    if sort.sharing == sharing {
        return Ok(());
    }
    let problem = format!("a value in {sharing} wanted, {sort} given; convert it first");
    Err(Mismatch::new(problem))
}
