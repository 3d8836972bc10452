//! Tables of the file, and their keys. Values are sealed but for those said to be open; keys are open: ids, names of kinds, numbers and times.

use redb::TableDefinition;

use crate::submission::Id;

pub(crate) type Definition = TableDefinition<'static, &'static [u8], &'static [u8]>;

/// `version`, `salt`, `check`: open.
pub(crate) const META: Definition = TableDefinition::new("meta");
/// Number of an opening: the salt of its key, open.
pub(crate) const KEYS: Definition = TableDefinition::new("keys");
/// Id: the submission.
pub(crate) const SUBMISSIONS: Definition = TableDefinition::new("submissions");
/// Id, number of the piece: a piece of a body that is not in its submission's row.
pub(crate) const PIECES: Definition = TableDefinition::new("pieces");
/// Kind, time, id: accepted submissions that no batch has taken, oldest first. Their orders, open.
pub(crate) const ACCEPTED: Definition = TableDefinition::new("accepted");
/// Kind, order: 40 bytes, time and id, of an accepted submission that no batch has taken, open. Orders grow, whatever clocks do.
pub(crate) const ARRIVED: Definition = TableDefinition::new("arrived");
/// Time, id: submissions that were begun and are not whole. No values.
pub(crate) const RECEIVING: Definition = TableDefinition::new("receiving");
/// Time, id: submissions that have ended or expired. No values.
pub(crate) const ENDED: Definition = TableDefinition::new("ended");
/// Kind, number: a batch.
pub(crate) const BATCHES: Definition = TableDefinition::new("batches");
/// Kind, number: a batch that has results. No values.
pub(crate) const DONE: Definition = TableDefinition::new("done");
/// Kind, number, part: ids of a batch.
pub(crate) const MEMBERS: Definition = TableDefinition::new("members");
/// Kind, number, run, name: length of a result.
pub(crate) const OUTPUTS: Definition = TableDefinition::new("outputs");
/// Kind, number, run, name, number of the piece: a piece of a result.
pub(crate) const RESULTS: Definition = TableDefinition::new("results");
/// Name: a note.
pub(crate) const NOTES: Definition = TableDefinition::new("notes");
/// Kind: what it uses.
pub(crate) const USAGE: Definition = TableDefinition::new("usage");
/// Kind, number: an account, with its name and what it uses.
pub(crate) const ACCOUNTS: Definition = TableDefinition::new("accounts");

/// A name as the beginning of a key: none begins another one, as names have no control characters.
pub(crate) fn of_kind(kind: &str) -> Vec<u8> {
    let mut key = Vec::with_capacity(kind.len() + 160);
    key.extend(kind.as_bytes());
    key.push(0);
    key
}

/// Name of the kind that a key begins with.
pub(crate) fn kind_of(key: &[u8]) -> String {
    let end = key.iter().position(|byte| *byte == 0).unwrap_or(0);
    String::from_utf8_lossy(&key[..end]).into_owned()
}

pub(crate) fn of_batch(kind: &str, n: u64) -> Vec<u8> {
    let mut key = of_kind(kind);
    key.extend(n.to_be_bytes());
    key
}

pub(crate) fn of_run(kind: &str, n: u64, run: u32) -> Vec<u8> {
    let mut key = of_batch(kind, n);
    key.extend(run.to_be_bytes());
    key
}

pub(crate) fn of_output(kind: &str, n: u64, run: u32, name: &str) -> Vec<u8> {
    let mut key = of_run(kind, n, run);
    key.extend(name.as_bytes());
    key.push(0);
    key
}

pub(crate) fn of_accepted(kind: &str, at: u64, id: &Id) -> Vec<u8> {
    let mut key = of_batch(kind, at);
    key.extend(id);
    key
}

pub(crate) fn of_arrived(kind: &str, order: u64) -> Vec<u8> {
    of_batch(kind, order)
}

pub(crate) fn of_account(kind: &str, number: u64) -> Vec<u8> {
    of_batch(kind, number)
}

pub(crate) fn of_time(at: u64, id: &Id) -> [u8; 40] {
    let mut key = [0; 40];
    key[..8].copy_from_slice(&at.to_be_bytes());
    key[8..].copy_from_slice(id);
    key
}

pub(crate) fn of_piece(id: &Id, piece: u32) -> [u8; 36] {
    let mut key = [0; 36];
    key[..32].copy_from_slice(id);
    key[32..].copy_from_slice(&piece.to_be_bytes());
    key
}

/// The id at the end of a key.
pub(crate) fn id_of(key: &[u8]) -> Option<Id> {
    key.last_chunk().copied()
}

/// The number at the end of a key, or alone in a value.
pub(crate) fn order_of(key: &[u8]) -> Option<u64> {
    key.last_chunk().copied().map(u64::from_be_bytes)
}

/// Time before an id at the end of a key.
pub(crate) fn time_of(key: &[u8]) -> Option<u64> {
    let time = key.get(key.len().checked_sub(40)?..key.len() - 32)?;
    Some(u64::from_be_bytes(time.try_into().ok()?))
}

/// The first key after all that begin with `prefix`: keys are never all ones.
pub(crate) fn after(prefix: &[u8]) -> Vec<u8> {
    let mut key = prefix.to_vec();
    while let Some(last) = key.pop() {
        if last < u8::MAX {
            key.push(last + 1);
            break;
        }
    }
    key
}
