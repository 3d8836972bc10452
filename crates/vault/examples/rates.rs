//! How fast a vault is on this machine's disk: `cargo run --release -p madrigal-vault --example rates -- FOLDER`.
//!
//! In the folder, or where temporary files go, it makes a vault, submits 100,000 small submissions with 1,000 that wait at any time, makes
//! one batch of them, ends it, and opens the vault as a server does that lost power.
#![allow(clippy::print_stdout)] // for people

use std::collections::VecDeque;
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use madrigal_vault::agreement::{Host, Outcome, Record};
use madrigal_vault::{Id, Limits, PIECE_BYTES, Pending, Policy, Submission, Vault, VaultKey, View};

const COUNT: u64 = 100_000;
const WAITING: usize = 1000;
const BODY: usize = 200;
const KIND: &str = "votes";

struct All;

impl Policy for All {
    fn least(&self) -> u64 {
        1
    }

    fn overdue(&self) -> u64 {
        1000
    }

    fn refuses(&self, _: u64, _: &[Id]) -> Option<String> {
        None
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args()
        .nth(1)
        .map_or_else(std::env::temp_dir, PathBuf::from);
    let folder = tempfile::tempdir_in(folder)?;
    println!(
        "{:<46} {:>9.2} ms",
        "a page written and synced",
        sync(folder.path())?
    );
    let path = folder.path().join("server.vault");
    let key = VaultKey::generate()?;
    let vault = Vault::open(&path, &key, Limits::default())?;

    let one = Instant::now();
    for number in 0..200 {
        let (submission, body) = submission(COUNT + number);
        vault.submit(submission, body, 1).wait()?;
    }
    told("submissions one by one", 200, one.elapsed());
    let expired = (0..200).map(|number| id(COUNT + number)).collect();
    vault
        .write(KIND, Record::Expire { ids: expired }, 1)
        .wait()?;

    let before = std::fs::metadata(&path)?.len();
    let many = Instant::now();
    let mut waiting = VecDeque::new();
    for number in 0..COUNT {
        if waiting.len() == WAITING {
            waiting.pop_front().map_or(Ok(()), done)?;
        }
        let (submission, body) = submission(number);
        waiting.push_back(vault.submit(submission, body, 2));
    }
    waiting.into_iter().try_for_each(done)?;
    told("submissions, 1,000 waiting at once", COUNT, many.elapsed());
    let after = std::fs::metadata(&path)?.len();
    let each = (after - before) / COUNT;
    println!(
        "{:<46} {each:>9} bytes",
        format!("file, for a submission of {BODY} bytes")
    );

    let compact = Instant::now();
    vault.compact().wait()?;
    let each = std::fs::metadata(&path)?.len() / COUNT;
    let time = compact.elapsed().as_secs_f64() * 1e3;
    println!(
        "{:<46} {each:>9} bytes, {time:.0} ms",
        "after it was compacted"
    );

    // The file of a server that was killed: it was not closed.
    let killed = folder.path().join("killed.vault");
    std::fs::copy(&path, &killed)?;
    let open = Instant::now();
    drop(Vault::open(&killed, &key, Limits::default())?);
    told(
        "opened after a loss of power, submissions",
        COUNT,
        open.elapsed(),
    );

    let view = View::new(&vault, KIND, &All, 3);
    let list = Instant::now();
    let waiting = view.waiting(0, usize::MAX).into_iter();
    let mut ids: Vec<Id> = waiting.map(|one| one.id).collect();
    ids.sort_unstable();
    told("listed for a proposal", COUNT, list.elapsed());
    let have = Instant::now();
    assert!(view.have(&ids).into_iter().all(|have| have));
    told("answered for a proposal", COUNT, have.elapsed());
    let batch = Instant::now();
    let record = Record::Prepare {
        n: 1,
        ids: ids.as_slice().into(),
        refused: None,
    };
    vault.write(KIND, record, 4).wait()?;
    told("put into one batch", COUNT, batch.elapsed());
    let read = Instant::now();
    for id in &ids {
        vault.body(id)?;
    }
    told("bodies read", COUNT, read.elapsed());
    vault
        .write(KIND, Record::RunDone { n: 1, run: 1 }, 5)
        .wait()?;
    let end = Instant::now();
    let outcome = Outcome::Final { run: 1 };
    vault.write(KIND, Record::End { n: 1, outcome }, 6).wait()?;
    told("counted, and taken away", COUNT, end.elapsed());

    let body = vec![7; 64 << 20];
    let large = Submission::new([9; 32], KIND, "bob", Vec::new(), &body);
    vault.begin(large, 7).wait()?;
    let upload = Instant::now();
    let mut waiting = VecDeque::new();
    for (i, piece) in body.chunks(PIECE_BYTES).enumerate() {
        let offset = (i * PIECE_BYTES) as u64;
        waiting.push_back(vault.piece([9; 32], offset, piece.to_vec()));
        if waiting.len() == 16 {
            waiting.pop_front().map(Pending::wait).transpose()?;
        }
    }
    waiting
        .into_iter()
        .try_for_each(|piece| piece.wait().map(|_| ()))?;
    vault.accept([9; 32], 8).wait()?;
    let rate = 64.0 / upload.elapsed().as_secs_f64();
    println!(
        "{:<46} {rate:>9.0} MiB/s",
        "one body of 64 MiB, 16 pieces waiting"
    );
    Ok(())
}

fn id(number: u64) -> Id {
    // Ids are random: they come in any order.
    let word = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut id = [0; 32];
    id[..8].copy_from_slice(&(word ^ word >> 29).to_le_bytes());
    id[8..16].copy_from_slice(&number.to_le_bytes());
    id
}

fn submission(number: u64) -> (Submission, Vec<u8>) {
    let body = vec![number as u8; BODY];
    let header = vec![1; 64];
    (
        Submission::new(id(number), KIND, "alice", header, &body),
        body,
    )
}

fn done<T>(pending: Pending<T>) -> Result<(), Box<dyn Error>> {
    pending.wait()?;
    Ok(())
}

fn told(what: &str, count: u64, time: Duration) {
    let rate = count as f64 / time.as_secs_f64();
    let time = time.as_secs_f64() * 1e3;
    println!("{what:<46} {time:>9.2} ms {rate:>12.0} /s");
}

/// Milliseconds that a page takes to be written and synced.
fn sync(folder: &Path) -> Result<f64, Box<dyn Error>> {
    let mut file = std::fs::File::create(folder.join("page"))?;
    let begin = Instant::now();
    for _ in 0..200 {
        file.write_all(&[1; 4096])?;
        file.sync_data()?;
    }
    Ok(begin.elapsed().as_secs_f64() * 1e3 / 200.0)
}
