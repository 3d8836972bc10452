//! A real vault beside the simulated disk: both do the same, and must say the same.

use madrigal_vault::agreement::{Host, Record, Waiting};
use madrigal_vault::{
    Begun, Id, Limits, Policy, State as VaultState, Submission, Vault, VaultError, View,
};

use super::disk::{Disk, KIND, State};
use super::node::OVERDUE;
use crate::power;

struct Old;

impl Policy for Old {
    fn least(&self) -> u64 {
        1
    }

    fn overdue(&self) -> u64 {
        OVERDUE
    }

    fn refuses(&self, _: u64, _: &[Id]) -> Option<String> {
        None
    }
}

/// A vault that does what a simulated disk does.
#[derive(Debug)]
pub(crate) struct Shadow(Vault);

impl Shadow {
    pub(crate) fn new() -> Self {
        let key = crate::submissions::key();
        Self(Vault::open_on(power::Disk::default(), &key, Limits::default()).unwrap())
    }

    pub(crate) fn accept(&self, id: Id, at: u64, kept: bool) {
        let body = vec![7; 40 + 1000 * usize::from(id[0] % 2)];
        let submission = Submission::new(id, KIND, "alice", Vec::new(), &body);
        match self.0.submit(submission, body, at).wait() {
            Ok(Begun::Accepted { .. }) => assert!(kept),
            Err(VaultError::Expired) => assert!(!kept),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn results(&self, n: u64, run: u32, value: u64) {
        // A vault refuses results of batches that have ended; the simulated disk does not look.
        let _ = self
            .0
            .result(KIND, (n, run), "value", 0, value.to_le_bytes().to_vec())
            .wait();
    }

    pub(crate) fn record(&self, record: Record, expected: &Result<Vec<Id>, String>) {
        let now = 1_000_000;
        let done = self.0.write(KIND, record.clone(), now).wait();
        match (done, expected) {
            (Ok(ids), Ok(expected)) => assert_eq!(&ids, expected),
            (Err(VaultError::Contradiction { .. }), Err(_)) => {}
            other => panic!("{record:?}: {other:?}"),
        }
    }

    /// Compares all that machines and clients can see.
    pub(crate) fn compare(&self, disk: &Disk) {
        assert_eq!(self.0.restored(KIND).unwrap(), disk.restored());
        let ids: Vec<Id> = disk.ids.keys().copied().collect();
        let now = 150;
        let view = View::new(&self.0, KIND, &Old, now);
        let have = view.have(&ids);
        let waiting = view.waiting(0, usize::MAX);
        assert_eq!(view.still(&waiting), vec![true; waiting.len()]);
        let none = |_: &Id| false;
        let mut overdue = view.overdue(None, &none, 100);
        assert!(overdue.is_sorted());
        overdue.sort_unstable_by_key(|(_, id)| *id);
        assert!(view.error().is_none());
        // A vault's orders go on after a restart from what waits; they rise in the same way.
        let model = disk.waiting();
        let of = |all: &[Waiting]| -> Vec<(Id, u64)> {
            all.iter().map(|one| (one.id, one.at)).collect()
        };
        assert_eq!(of(&waiting), of(&model));
        assert_eq!(self.0.usage(KIND).waiting, model.len() as u64);
        if let [_, rest @ ..] = &waiting[..] {
            assert_eq!(view.waiting(waiting[0].order, usize::MAX), rest);
            assert_eq!(view.waiting(0, 1), &waiting[..1]);
        }
        let model: Vec<(Id, u64)> = disk.accepted().collect();
        let late = model.iter().filter(|(_, at)| at + OVERDUE <= now);
        assert!(overdue.iter().map(|(_, id)| id).eq(late.map(|(id, _)| id)));
        for ((id, have), state) in ids.iter().zip(have).zip(disk.ids.values()) {
            assert_eq!(have, matches!(state, State::Accepted { .. }));
            let theirs = self.0.status(id).unwrap().unwrap().state;
            let same = match (state, theirs) {
                (State::Accepted { .. }, VaultState::Accepted)
                | (State::Expired, VaultState::Expired) => true,
                (State::InBatch { n }, VaultState::InBatch { n: theirs })
                | (State::Ended { n }, VaultState::Counted { n: theirs, .. })
                | (State::Ended { n }, VaultState::Failed { n: theirs, .. }) => *n == theirs,
                _ => false,
            };
            assert!(same, "{state:?}");
        }
    }
}
