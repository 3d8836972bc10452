//! The file of a state: what was asked, then the answers of partitions as they came.
//!
//! The first line tells the format. Four bytes with the length of the header follow, the lowest first, the header in JSON, and its checksum. All that is there before anything of the
//! list is told, the query counted included. Then records: first one with the sizes of both lists and the number of partitions, once these are known; then for each partition its number
//! and that of its keys that match (four bytes each), places of these keys, their payloads where the run has some (eight bytes each), and a checksum. The record after the last partition's has
//! no number of one: with it the other party has what it needs, too. A checksum is half of SHA-256, over the salt as well, so that records of other runs count for nothing.
//!
//! A process that is killed leaves a record that is cut, at worst: all from the first record on that is not whole is as if it had not been written.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use madrigal_core::Zeroizing;
use madrigal_core::budget::open_regular;
use madrigal_lists::Listed;
use madrigal_psi::Matched;
use serde::{Deserialize, Serialize};
use sha2::Digest as _;

use super::error::{StateError, failed};
use super::sizes::{Cut, OF_SIZES};
use super::sums::{CHECK, check, first, hash, word};
use crate::partitions::{CELLS, MOST};

/// Name of the file.
pub(super) const NAME: &str = "matched.state";
/// Name of it until it is whole.
pub(super) const PART: &str = "matched.state.part";
/// The first line.
const FORMAT: &[u8] = b"psi state of madrigal 1\n";
/// First line of any version.
const FORMATS: &[u8] = b"psi state of madrigal ";
/// Bytes of the longest header: names of all columns of all keys, in whatever letters.
const MOST_HEADER: u32 = 4 << 20;
/// Number in the place of a partition's, once both parties have all.
const ALL: u32 = u32::MAX;
/// Bytes of a key in a record, at most: its place, and its payload.
const OF_KEY: u64 = 4 + 8;
/// Bytes of the longest state.
const MOST_BYTES: u64 = 1024 + MOST_HEADER as u64 + records(MOST);
/// Bytes that are read at once.
const BUFFER: usize = 256 << 10;

/// Beginning of a state.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Header {
    /// Salt of the digests.
    pub(crate) salt: [u8; 32],
    /// Parts of the question by their names.
    pub(crate) question: Vec<(String, String)>,
    /// Name of the run in its party's ledger.
    pub(crate) id: String,
    /// Time in UTC at which the run began.
    pub(crate) begun: String,
    /// Whether keys that match have payloads.
    pub(crate) payloads: bool,
    /// Sum over the list's digests and payloads.
    pub(crate) sum: [u64; 2],
}

madrigal_core::opaque!(Header);

/// Bytes of all records at most, and of one that was cut, of a list of this many keys.
const fn records(keys: u64) -> u64 {
    (CELLS as u64 + 2) * (8 + CHECK as u64) + OF_KEY * keys
}

/// A record's place.
struct Record {
    at: u64,
    partition: usize,
    keys: usize,
}

/// A state that is there.
pub(crate) struct Kept {
    path: PathBuf,
    header: Header,
    cut: Option<Cut>,
    records: Vec<Record>,
    done: [bool; CELLS as usize],
    all: bool,
    /// End of the last record that was whole when it was opened.
    end: u64,
    file: Mutex<File>,
    /// Whether nothing is written any more; it changes while the file is held.
    closed: AtomicBool,
}

impl Kept {
    /// Writes a new state, whole or not at all.
    pub(super) fn begin(folder: &Path, header: Header) -> Result<Self, StateError> {
        let path = folder.join(NAME);
        let failed = |source| failed(&path, source);
        let made =
            Zeroizing::new(serde_json::to_vec(&header).map_err(|error| failed(error.into()))?);
        if made.len() > MOST_HEADER as usize {
            let problem = "names of columns are too long for a state";
            return Err(failed(io::Error::other(problem)));
        }
        // Nobody else writes to it: the directory is this run's alone. What a run that was killed has left there is of no use.
        let part = folder.join(PART);
        let mut options = File::options();
        options.create(true).truncate(true).read(true).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&part).map_err(failed)?;
        let written = (|| {
            file.write_all(FORMAT)?;
            file.write_all(&(made.len() as u32).to_le_bytes())?;
            file.write_all(&made)?;
            file.write_all(&check(b"header", &header.salt, [&made[..]]))?;
            file.sync_all()?;
            fs::rename(&part, &path)
        })();
        written.map_err(failed)?;
        // The name is the directory's.
        #[cfg(unix)]
        File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(failed)?;
        Ok(Self {
            path,
            header,
            cut: None,
            records: Vec::new(),
            done: [false; CELLS as usize],
            all: false,
            end: 0,
            file: Mutex::new(file),
            closed: AtomicBool::new(false),
        })
    }

    /// Reads what a directory has, and leaves it as it is; nothing if there is no state.
    pub(super) fn read(folder: &Path) -> Result<Option<Self>, StateError> {
        let path = folder.join(NAME);
        let failed = |source| failed(&path, source);
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            _ => {}
        }
        let (read, length) =
            open_regular(&path, MOST_BYTES).map_err(|error| failed(error.into()))?;
        let mut from = BufReader::with_capacity(BUFFER, read);
        let wrong = |problem: &str| StateError::Content {
            path: path.clone(),
            problem: problem.to_owned(),
        };
        let none = || wrong("it is no state of a run, or is damaged");
        let mut format = [0; FORMAT.len()];
        from.read_exact(&mut format).map_err(|_| none())?;
        if format != FORMAT {
            return Err(match format.starts_with(FORMATS) {
                true => wrong("it is of another version of this program"),
                false => none(),
            });
        }
        let header_bytes = word(&mut from).map_err(|_| none())?;
        if header_bytes > MOST_HEADER {
            return Err(none());
        }
        let mut made = Zeroizing::<Vec<u8>>::zeros(header_bytes as usize);
        let mut sum = [0; CHECK];
        let read = from
            .read_exact(&mut made)
            .and_then(|()| from.read_exact(&mut sum));
        read.map_err(|_| none())?;
        let header: Header = serde_json::from_slice(&made).map_err(|_| none())?;
        let is_whole = check(b"header", &header.salt, [&made[..]]) == sum;
        if !is_whole {
            return Err(none());
        }
        let begin = (FORMAT.len() + 4 + made.len() + CHECK) as u64;
        let mut options = File::options();
        let file = options.read(true).write(true).open(&path).map_err(failed)?;
        let mut kept = Self {
            path: path.clone(),
            header,
            cut: None,
            records: Vec::new(),
            done: [false; CELLS as usize],
            all: false,
            end: 0,
            file: Mutex::new(file),
            closed: AtomicBool::new(false),
        };
        kept.read_records(&mut from, begin, length)
            .map_err(failed)?;
        Ok(Some(kept))
    }

    /// Reads all records that are whole.
    fn read_records(&mut self, from: &mut impl Read, begin: u64, length: u64) -> io::Result<()> {
        self.end = begin;
        self.cut = Cut::read(from, &self.header.salt, length - begin)?;
        if self.cut.is_none() {
            return Ok(());
        }
        let mut at = begin + OF_SIZES as u64;
        // A key matches once, in one of the partitions.
        let mut left = self.cut.map_or(0, |cut| cut.sizes[0].max(cut.sizes[1]));
        let mut buffer = Zeroizing::<Vec<u8>>::zeros(BUFFER);
        while let Some((partition, keys)) = self.next(from, (at, length), &mut buffer)? {
            left = match left.checked_sub(keys as u64) {
                Some(left) => left,
                None => break,
            };
            match usize::try_from(partition) {
                _ if partition == ALL => self.all = true,
                Ok(partition) => {
                    self.done[partition] = true;
                    self.records.push(Record {
                        at,
                        partition,
                        keys,
                    });
                }
                Err(_) => break,
            }
            at += self.bytes(keys);
        }
        self.end = at;
        Ok(())
    }

    /// Cuts off what is not whole, so that more can be written. The directory is this run's alone.
    pub(super) fn cut(&mut self) -> Result<(), StateError> {
        let file = self.file.get_mut().unwrap_or_else(PoisonError::into_inner);
        let cut = file
            .set_len(self.end)
            .and_then(|()| file.seek(SeekFrom::End(0)));
        cut.map(drop).map_err(|source| failed(&self.path, source))
    }

    /// Reads the next record, and gives its partition and the number of its keys; nothing if it is not whole, or one that cannot be.
    fn next(
        &self,
        from: &mut impl Read,
        (at, length): (u64, u64),
        buffer: &mut [u8],
    ) -> io::Result<Option<(u32, usize)>> {
        if length - at < self.bytes(0) {
            return Ok(None);
        }
        let (partition, keys) = (word(from)?, word(from)?);
        let known = match partition {
            ALL => keys == 0,
            _ => (partition as usize) < self.partitions() && !self.done[partition as usize],
        };
        let bytes = self.bytes(keys as usize);
        if !known || bytes > length - at {
            return Ok(None);
        }
        let mut hash = hash(b"record", &self.header.salt);
        hash.update(partition.to_le_bytes());
        hash.update(keys.to_le_bytes());
        let mut left = bytes - 8 - CHECK as u64;
        while left > 0 {
            let piece = left.min(buffer.len() as u64) as usize;
            from.read_exact(&mut buffer[..piece])?;
            hash.update(&buffer[..piece]);
            left -= piece as u64;
        }
        let mut sum = [0; CHECK];
        from.read_exact(&mut sum)?;
        Ok((first(hash) == sum).then_some((partition, keys as usize)))
    }

    /// Bytes of a record of some keys.
    fn bytes(&self, keys: usize) -> u64 {
        let of_key = if self.header.payloads { 12 } else { 4 };
        8 + CHECK as u64 + of_key * keys as u64
    }

    /// Checks that the question is that of the state.
    pub(super) fn check_question(&self, question: &[(String, String)]) -> Result<(), StateError> {
        let then = &self.header.question;
        let of = |all: &[(String, String)], name: &str| {
            let found = all.iter().find(|(one, _)| one == name);
            found.map_or("not there".to_owned(), |(_, value)| format!("{value:?}"))
        };
        let names = then.iter().chain(question).map(|(name, _)| name);
        for name in names {
            let (then, now) = (of(then, name), of(question, name));
            if then != now {
                return Err(StateError::Question {
                    path: self.folder(),
                    what: name.clone(),
                    then,
                    now,
                });
            }
        }
        Ok(())
    }

    /// Checks that the list has the keys and payloads that it had.
    pub(crate) fn check_list(&self, listed: &Listed) -> Result<(), StateError> {
        match self.header.sum == listed.sum() {
            true => Ok(()),
            false => Err(StateError::Changed {
                path: self.folder(),
            }),
        }
    }

    /// Checks that both lists have the sizes that they had.
    pub(crate) fn check_sizes(&self, now: [u64; 2]) -> Result<(), StateError> {
        let path = self.folder();
        match self.cut.map(|cut| cut.sizes) {
            Some(then) if then != now => Err(StateError::Sizes { path, then, now }),
            _ => Ok(()),
        }
    }

    /// The error of a state whose answers are none of the list's.
    pub(crate) fn damaged(&self) -> StateError {
        StateError::Content {
            path: self.path.clone(),
            problem: "it has keys that the list does not have".to_owned(),
        }
    }

    fn folder(&self) -> PathBuf {
        self.path.parent().unwrap_or(&self.path).to_owned()
    }

    /// Salt of the digests.
    pub(crate) fn salt(&self) -> [u8; 32] {
        self.header.salt
    }

    /// Name of the run in its party's ledger.
    pub(crate) fn id(&self) -> &str {
        &self.header.id
    }

    /// Time at which the run began.
    pub(crate) fn begun(&self) -> &str {
        &self.header.begun
    }

    /// Sizes of both lists and the number of partitions, where both were known before the run was lost.
    pub(crate) fn of_lists(&self) -> Option<Cut> {
        self.cut
    }

    /// Partitions of the lists; 0 where they are not known.
    fn partitions(&self) -> usize {
        self.cut.map_or(0, |cut| cut.partitions)
    }

    /// Whether the answer of a partition is here, by the partitions' order.
    pub(crate) fn done(&self) -> impl Iterator<Item = bool> + '_ {
        self.done.iter().copied().take(self.partitions())
    }

    /// Whether the answer of each partition is here.
    pub(crate) fn is_done(&self) -> bool {
        self.cut.is_some() && self.done().all(|done| done)
    }

    /// Whether the answer of a partition was here when it was opened.
    pub(crate) fn has(&self, partition: usize) -> bool {
        self.done.get(partition) == Some(&true)
    }

    /// Whether both parties have all that they need.
    pub(crate) fn is_all(&self) -> bool {
        self.all
    }

    /// Name of the run, the same at both parties.
    pub(super) fn run(&self) -> [u8; 32] {
        hash(b"name", &self.header.salt).finalize().into()
    }

    /// Writes sizes and the number of partitions, before anything is matched. They are on the disk then.
    pub(crate) fn tell_sizes(&mut self, cut: Cut) -> Result<(), StateError> {
        self.write(&cut.record(&self.header.salt))?;
        self.cut = Some(cut);
        Ok(())
    }

    /// Writes a partition's answer. It is on the disk then.
    pub(crate) fn add(&self, partition: usize, matched: &Matched) -> Result<(), StateError> {
        self.append(partition as u32, matched)
    }

    /// Notes that both parties have all that they need.
    pub(crate) fn finish(&self) -> Result<(), StateError> {
        match self.all {
            true => Ok(()),
            false => self.append(ALL, &Matched::default()),
        }
    }

    fn append(&self, partition: u32, matched: &Matched) -> Result<(), StateError> {
        let keys = matched.places.len();
        let mut record = Zeroizing::new(Vec::with_capacity(self.bytes(keys) as usize));
        record.extend_from_slice(&partition.to_le_bytes());
        record.extend_from_slice(&(keys as u32).to_le_bytes());
        for place in &matched.places {
            record.extend_from_slice(&place.to_le_bytes());
        }
        for payload in matched.payloads.iter() {
            record.extend_from_slice(&payload.to_le_bytes());
        }
        let sum = check(b"record", &self.header.salt, [&record[..]]);
        record.extend_from_slice(&sum);
        self.write(&record)
    }

    fn write(&self, record: &[u8]) -> Result<(), StateError> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if self.closed.load(Relaxed) {
            return Err(failed(&self.path, io::ErrorKind::BrokenPipe.into()));
        }
        let written = file.write_all(record).and_then(|()| file.sync_data());
        written.map_err(|source| failed(&self.path, source))
    }

    /// Ends writing; what is being written now comes first.
    pub(crate) fn close(&self) {
        let _file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        self.closed.store(true, Relaxed);
    }

    /// Tells all answers that were here when it was opened.
    pub(crate) fn each<E: From<StateError>>(
        &self,
        mut see: impl FnMut(usize, Matched) -> Result<(), E>,
    ) -> Result<(), E> {
        for record in &self.records {
            let matched = self
                .load(record)
                .map_err(|source| failed(&self.path, source))?;
            see(record.partition, matched)?;
        }
        Ok(())
    }

    fn load(&self, record: &Record) -> io::Result<Matched> {
        let bytes = self.bytes(record.keys) - 8 - CHECK as u64;
        let mut content = Zeroizing::<Vec<u8>>::zeros(bytes as usize);
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(record.at + 8))?;
        file.read_exact(&mut content)?;
        // Records are appended.
        file.seek(SeekFrom::End(0))?;
        let (places, payloads) = content.split_at(4 * record.keys);
        Ok(Matched {
            places: places
                .as_chunks()
                .0
                .iter()
                .map(|word| u32::from_le_bytes(*word))
                .collect(),
            payloads: Zeroizing::new(
                payloads
                    .as_chunks()
                    .0
                    .iter()
                    .map(|word| u64::from_le_bytes(*word))
                    .collect(),
            ),
        })
    }
}
