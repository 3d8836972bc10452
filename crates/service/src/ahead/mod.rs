//! Correlations that are made ahead, in idle time, and kept on the disk in *units*: each is a store of what one job needs, made by all servers
//! in a job of their session, used by later ones.
//!
//! The stores see to it that nothing is used twice ([`madrigal_correlations_store`], "At most once"): a job raises the marks of its unit at all
//! servers, on their disks, before the first item is read, and begins at the largest of all marks; a unit's name is compared before. What is
//! decided here, which unit a run takes and which are removed, can cost time and no more.

mod filling;
mod shelf;
mod shelves;

pub(crate) use filling::{Filled, Filling, refuse};
pub(crate) use shelf::Taken;
pub(crate) use shelves::{Shelves, Told};
