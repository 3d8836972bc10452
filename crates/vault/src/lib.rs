//! Submissions and results on a server's disk, and how servers agree about them.
//!
//! A server that stays up takes *submissions* from clients: shares of their values. Batches of submissions become jobs, which all servers compute
//! together, and whose results they keep until they are fetched. Two things are here, and neither knows a network:
//! - [`Vault`]: submissions, batches and results at rest, in one file, sealed under the server's key. A server may lose power at any moment: what
//!   it has acknowledged is there afterwards, and nothing is half there.
//! - [`agreement`]: the state machines by which servers agree about batches, so that each accepted submission counts exactly once.
//!
//! ```
//! use madrigal_vault::{Begun, Limits, Submission, Vault, VaultKey};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("server.vault");
//! let vault = Vault::open(&path, &VaultKey::generate()?, Limits::default())?;
//! let body = b"a share".to_vec();
//! let submission = Submission::new([7; 32], "votes", "alice", b"a header".to_vec(), &body);
//! // A future; `wait` blocks a plain thread until the submission is on disk. Clocks are the caller's: seconds.
//! let begun = vault.submit(submission, body, 1000).wait()?;
//! assert_eq!(begun, Begun::Accepted { at: 1000 });
//! assert_eq!(&vault.body(&[7; 32])?[..], b"a share");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod agreement;

mod error;
mod folder;
mod group;
mod kept;
mod key;
mod limits;
mod pending;
mod seal;
mod store;
mod submission;
mod vault;
mod view;
mod writer;

pub use error::VaultError;
pub use kept::{BatchInfo, OutputInfo};
pub use key::VaultKey;
pub use limits::{Limits, Quota, Shares, Usage};
pub use madrigal_core::chain::{Chain, PIECE as PIECE_BYTES};
pub use pending::Pending;
pub use store::{Ages, Swept};
pub use submission::{Begun, Content, Id, MAX_HEADER, MAX_NAME, State, Status, Submission};
pub use vault::Vault;
pub use view::{Policy, View};

/// Where a vault's bytes are, if not in a file: redb's trait, which tests implement with disks that lose power.
pub use redb::StorageBackend;
