//! Correlations from files that somebody whom all parties trust has made for them: a source of one's own.
//!
//! There is a file for each party, with multiplication triples of 64 bits, and beside it one that says how many
//! have been used. A job reserves what it needs before it uses any of it: the parties tell each other where they
//! stand, take the furthest, and write down how far they will get. So no triple is used twice, also where a job
//! fails at some of the parties.
//!
//! ```
//! use madrigal::{Origin, PlanSpec};
//! use own_operation::trusted_files::TrustedFiles;
//!
//! /// The same job, with triples from the notary's files.
//! fn trusting(spec: PlanSpec) -> PlanSpec {
//!     let origin = Origin::own(TrustedFiles::new("from-the-notary".as_ref()));
//!     PlanSpec { origin, ..spec }
//! }
//! ```

use std::fs::{File, read_to_string};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use futures_util::future::LocalBoxFuture;
use madrigal::correlations::{Call, Kind, Maker, Needs, Provider, Strings, Width};
use madrigal::net::{Context, Error, Result};
use madrigal::{Party, PhaseCost};

const TRIPLES: Kind = Kind::RingTriples(Width::W64);
const NAME: &str = "own/trusted-files/1";

/// The files of one directory. A party needs its own alone.
#[derive(Debug)]
pub struct TrustedFiles {
    directory: PathBuf,
}

impl TrustedFiles {
    /// Those that [`write`] has made, or some of them.
    pub fn new(directory: &Path) -> Self {
        let directory = directory.into();
        Self { directory }
    }

    fn triples(&self, me: Party) -> PathBuf {
        self.directory.join(format!("triples-{}", me.index()))
    }

    fn used(&self, me: Party) -> PathBuf {
        self.directory.join(format!("used-{}", me.index()))
    }
}

/// Makes files with `count` triples for so many parties. Who runs this can read all inputs of jobs that use
/// them; `random` gives numbers that nobody else can guess.
///
/// # Errors
/// Those of the disk.
pub fn write(
    directory: &Path,
    parties: usize,
    count: u64,
    mut random: impl FnMut() -> u64,
) -> std::io::Result<()> {
    let files = TrustedFiles::new(directory);
    let mut shares = vec![Vec::new(); parties];
    for _ in 0..count {
        let [a, b] = [random(), random()];
        for value in [a, b, a.wrapping_mul(b)] {
            let mut rest = value;
            for share in &mut shares[1..] {
                let one = random();
                rest = rest.wrapping_sub(one);
                share.extend(one.to_le_bytes());
            }
            shares[0].extend(rest.to_le_bytes());
        }
    }
    for (me, share) in Party::all(parties).zip(shares) {
        std::fs::write(files.triples(me), share)?;
        std::fs::write(files.used(me), "0")?;
    }
    Ok(())
}

fn failed(problem: impl ToString) -> Error {
    Error::Correlations {
        name: NAME.into(),
        problem: problem.to_string(),
    }
}

impl Provider for TrustedFiles {
    fn name(&self) -> String {
        NAME.into()
    }

    fn serves(&self, kind: Kind) -> bool {
        kind == TRIPLES
    }

    /// Each tells each where it stands.
    fn start(&self, _: Party, parties: usize, _: &Needs) -> PhaseCost {
        let peers = parties as u64 - 1;
        PhaseCost {
            rounds: 1,
            bytes_sent: 8 * peers,
            bytes_received: 8 * peers,
            messages: peers,
            ..PhaseCost::default()
        }
    }

    /// What is in a file costs nothing more.
    fn bill(&self, _: &Call<'_>) -> PhaseCost {
        PhaseCost::default()
    }

    fn open<'a>(
        &'a self,
        context: &'a Context,
        needs: &'a Needs,
    ) -> LocalBoxFuture<'a, Result<Box<dyn Maker>>> {
        Box::pin(async move {
            let me = context.me();
            let used = read_to_string(self.used(me)).map_err(failed)?;
            let mut first: u64 = used.trim().parse().map_err(failed)?;
            let mut channels = context.channels()?;
            for channel in &mut channels {
                channel.send(first.to_le_bytes().to_vec()).await?;
            }
            for channel in &mut channels {
                let theirs = channel.recv(8).await?;
                let mut word = [0; 8];
                word.copy_from_slice(&theirs);
                first = first.max(u64::from_le_bytes(word));
            }
            let mut file = File::open(self.triples(me)).map_err(failed)?;
            let there = file.metadata().map_err(failed)?.len() / 24;
            let end = first.saturating_add(needs.of(TRIPLES) as u64);
            if end > there {
                return Err(failed(format!(
                    "{end} triples are wanted with those used before, and the file has {there}; ask for new files"
                )));
            }
            let mut used = File::create(self.used(me)).map_err(failed)?;
            used.write_all(end.to_string().as_bytes()).map_err(failed)?;
            used.sync_all().map_err(failed)?;
            file.seek(SeekFrom::Start(24 * first)).map_err(failed)?;
            Ok(Box::new(Reserved { file }) as Box<dyn Maker>)
        })
    }
}

/// What a job has reserved, read once.
struct Reserved {
    file: File,
}

impl Maker for Reserved {
    fn make<'a>(
        &'a mut self,
        kind: Kind,
        count: usize,
        made: &'a dyn Fn(usize),
    ) -> LocalBoxFuture<'a, Result<Strings>> {
        Box::pin(async move {
            // A triple stands in 24 bytes, and is wanted as three strings.
            let lengths = kind.strings(count).into_iter();
            let mut strings: Strings = lengths.map(|len| Vec::with_capacity(len).into()).collect();
            let mut triple = [0; 24];
            for _ in 0..count {
                self.file.read_exact(&mut triple).map_err(failed)?;
                for (string, share) in strings.iter_mut().zip(triple.chunks_exact(8)) {
                    string.extend_from_slice(share);
                }
            }
            made(count);
            Ok(strings)
        })
    }
}
