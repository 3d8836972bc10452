//! Clients apart from servers: share files.
//!
//! A *client* brings values, or receives some, and computes nothing; it is no party of a session. It cuts a value
//! into one share for each server and writes each into a file that only this server can open; servers leave their
//! shares of an output as files of the same kind, which the client puts together (MOTION, section 3.3; Araki et al.,
//! section 4). `schema/SHARES.md` defines the format.
//!
//! | to | use |
//! |---|---|
//! | cut up a value | [`deal`], with a [`private_generator`] |
//! | cut up a value that does not fit into memory | [`StreamDealer`] |
//! | write a file, sealed or not | [`ShareFile::write`] |
//! | read one of any origin | [`ShareFile::read`], [`read_file`] |
//! | check at a server that it is what a job asks for | [`Expected::check`] |
//! | take the files of many clients | [`gather`] |
//! | put output shares together | [`combine`] |
//! | deal small requests without files | [`deal_bare`], [`combine_bare`] |
//!
//! # Who is protected from whom
//! A share of one server tells nothing of the value, as the protocol's sharing has it. Sealing keeps a file
//! from all but its server. A file does *not* prove who made it: a client's name is a claim, which whoever collects the
//! files has to know to be right.
//!
//! A client that lies about its own value is free to do so, in every sharing. In A and B any shares are shares of some
//! value. In R each part is at two servers, and copies that differ would make products wrong by what other clients' parts
//! are: so the client commits to the three parts, each server checks its two against the commitments, and the
//! commitments are part of the submission's [name](Header::submission), which servers compare before they compute. The
//! hash has to be collision resistant, so that a commitment binds; its salt, which only a part's holders get, hides the
//! part in the random oracle model, also where a value is one of few.
//!
//! ```
//! use madrigal_clients::{Named, combine, deal, private_generator};
//! use madrigal_core::Party;
//! use madrigal_engine::{Shares, Sharing};
//!
//! let named = Named {
//!     job: "survey".into(),
//!     name: "income".into(),
//!     client: "alice".into(),
//!     element_type: "u32".into(),
//!     shape: vec![2],
//! };
//! let value = Shares::ring_of(Sharing::PUBLIC, vec![31_000_u32, 45_000]);
//! let files = deal(named, &value, Sharing::A, 3, &mut private_generator()?)?;
//! assert_eq!(files[1].place(), Party::new(1));
//! assert_eq!(files[0].header().submission(), files[2].header().submission());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bare;
mod body;
mod check;
mod error;
mod field;
mod file;
mod header;
mod limits;
mod pieces;
mod stream;
mod submission;

pub use bare::{bare_bytes, combine_bare, deal_bare};
pub use check::{Expected, read_expected};
pub use error::{ShareFault, ShareFileError};
pub use field::Field;
pub use file::{Preamble, ShareFile, file_name, fuzz_read, read_file};
pub use header::{Header, Named, Purpose, SubmissionId, sharing_named};
pub use limits::{MAX_HEADER, MAX_TEXT};
pub use stream::{Elements, StreamDealer};
pub use submission::{
    Received, SEED_BYTES, combine, deal, deal_with, gather, nonce, private_generator, private_seed,
    seeded_generator,
};
