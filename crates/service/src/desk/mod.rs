//! The desk, where clients come: they submit, ask, and fetch.

mod answers;
mod connection;
mod offer;
mod office;
mod port;
mod reply;
mod uploads;
mod visitor;

pub(crate) use self::office::{Desk, DeskSetup, check_welcome};
pub(crate) use self::port::{Connections, Port};
