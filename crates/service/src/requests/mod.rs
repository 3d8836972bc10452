//! Kinds of requests: what clients ask for, computed together with the other servers within milliseconds, without a disk.

mod batch;
mod key;
mod lanes;
mod pool;

use std::sync::Arc;

use madrigal_core::{Party, domains};
use madrigal_engine::{Given, Plan, RunError, Shares, run_program};
use madrigal_kernels::Block;
use madrigal_net::Session;
use madrigal_psi_programs::{KeyedError, SharedAes};
use sha2::{Digest as _, Sha256};

pub(crate) use self::batch::{Batch, Lanes, Run, SessionName};
pub(crate) use self::key::{Key, KeyTold, Settled};
pub(crate) use self::lanes::{ANSWER, REQUEST};
pub(crate) use self::pool::{Pool, Told};
use crate::config::RequestConfig;

/// The fewest lanes of a plan.
const LEAST: usize = 64;
/// Lanes of a plan over those of the next smaller one. Between two sizes lanes of zeros are computed, which cost as much as others.
const STEP: usize = 4;

/// A kind of requests.
#[derive(Debug)]
pub struct RequestKind {
    /// The kind, as the service's file has it.
    pub config: RequestConfig,
    /// Digest of all that the servers must have in common.
    pub digest: [u8; 32],
    cipher: Arc<Cipher>,
}

impl RequestKind {
    /// Plans batches of all sizes, on `threads` threads of each server.
    ///
    /// # Errors
    /// [`KeyedError`]: no plan for as many requests, or for as many threads.
    pub fn load(config: RequestConfig, threads: usize) -> Result<Self, KeyedError> {
        Ok(Self {
            digest: digest(&config),
            cipher: Arc::new(Cipher::new(config.most, threads)?),
            config,
        })
    }

    /// Bytes of a request at a server, and of its answer.
    pub const fn bytes() -> [u32; 2] {
        [REQUEST as u32, ANSWER as u32]
    }

    /// Memory of the largest batch at a server, in bytes.
    pub fn memory(&self) -> u64 {
        let plan = self.cipher.plans.last();
        plan.map_or(0, |(_, plan)| plan.memory(Party::new(0)) as u64)
    }

    /// Plans for as many threads as all servers have.
    ///
    /// # Errors
    /// [`KeyedError`]: no plan for as many threads.
    pub(crate) fn cipher(&self, threads: usize) -> Result<Arc<Cipher>, KeyedError> {
        match threads == self.cipher.threads {
            true => Ok(Arc::clone(&self.cipher)),
            false => Ok(Arc::new(Cipher::new(self.config.most, threads)?)),
        }
    }
}

/// Digest of all that the servers must have in common. Where the leader alone decides, they may differ.
fn digest(config: &RequestConfig) -> [u8; 32] {
    let mut hash = Sha256::new_with_prefix(domains::SERVICE_KIND);
    let mut put = |part: &[u8]| {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    };
    put(config.name.as_bytes());
    put(b"requests: aes-128, replicated sharing");
    put(&(config.most as u64).to_le_bytes());
    hash.finalize().into()
}

/// Plans of the key's schedule and of batches of all sizes.
#[derive(Debug)]
pub(crate) struct Cipher {
    aes: SharedAes,
    threads: usize,
    /// Plans by their numbers of lanes, from the smallest on.
    plans: Vec<(usize, Plan)>,
}

impl Cipher {
    fn new(most: usize, threads: usize) -> Result<Self, KeyedError> {
        let aes = SharedAes::new(threads)?;
        let mut plans = Vec::new();
        let mut lanes = LEAST;
        loop {
            plans.push((lanes, aes.blocks(lanes)?));
            if lanes >= most {
                break;
            }
            lanes *= STEP;
        }
        Ok(Self {
            aes,
            threads,
            plans,
        })
    }

    /// Computes the keys of all rounds, of a part of the key of each server.
    pub(crate) async fn keys(
        &self,
        session: &Session,
        job: u32,
        part: &Block,
        deadline: std::time::Duration,
    ) -> Result<Vec<Shares>, RunError> {
        let given = Given {
            inputs: self.aes.key_parts(session.me(), part),
            ..Given::default()
        };
        let plan = self.aes.schedule();
        let done = run_program(session, job, plan, given, Some(deadline), &|_| ());
        Ok(done.await?.outputs)
    }

    /// Encrypts a batch under the keys of all rounds. Gives this server's answers of all its lanes, side by side as the batch has them, and the bytes that were
    /// sent meanwhile.
    pub(crate) async fn encrypt(
        &self,
        session: &Session,
        job: u32,
        keys: &[Shares],
        batch: &Batch,
        deadline: std::time::Duration,
    ) -> Result<(Vec<u8>, u64), RunError> {
        let count = batch.lanes();
        let fits = self.plans.iter().find(|(lanes, _)| *lanes >= count);
        let Some((lanes, plan)) = fits else {
            return Err(RunError::Values {
                party: session.me(),
                problem: format!("no plan for {count} requests"),
            });
        };
        let mut inputs = keys.to_vec();
        let me = session.me();
        let part = lanes::to_part(me, batch.parts(), *lanes);
        inputs.extend(SharedAes::parts(me, part));
        let given = Given {
            inputs,
            ..Given::default()
        };
        let done = run_program(session, job, plan, given, Some(deadline), &|_| ()).await?;
        let encrypted = done.outputs.first();
        let encrypted = encrypted.ok_or_else(|| RunError::Values {
            party: session.me(),
            problem: "encrypted blocks are not there".to_owned(),
        })?;
        Ok((lanes::to_bytes(encrypted, count), done.wire_bytes_sent))
    }
}
