//! What must be there when the power is back, and when all is calm.

use std::collections::BTreeSet;

use madrigal_vault::PIECE_BYTES;
use madrigal_vault::State;
use madrigal_vault::agreement::{Event, Outcome};

use super::{SERVERS, World, result};
use crate::submissions::{KIND, body, id};

impl World {
    /// Compares a server's vault with what it has acknowledged.
    pub(super) fn check(&self, i: usize) {
        let server = &self.servers[i];
        let vault = server.vault.as_ref().unwrap();
        for (number, length) in &self.lengths {
            let status = vault.status(&id(*number)).unwrap();
            let told = server.acknowledged.accepted.get(number);
            let Some(status) = status else {
                assert!(told.is_none(), "submission {number} is lost at party {i}");
                continue;
            };
            match status.state {
                State::Receiving { offset } => {
                    assert!(told.is_none(), "submission {number} is half there");
                    let acknowledged = server.acknowledged.offsets.get(number);
                    assert!(offset >= acknowledged.copied().unwrap_or(0));
                }
                State::Accepted | State::InBatch { .. } => {
                    let whole = vault.body(&id(*number)).unwrap();
                    assert!(whole[..] == body(*number, *length)[..]);
                    assert!(told.is_none_or(|at| status.accepted == Some(*at)));
                }
                State::Counted { n, .. } => {
                    assert!(vault.members(KIND, n).unwrap().contains(&id(*number)));
                }
                other => panic!("submission {number} is {other:?}"),
            }
        }
        let counter = vault.noted("uploads").unwrap();
        let counter = counter.map_or(0, |value| u64::from_le_bytes(value[..].try_into().unwrap()));
        let told = server.acknowledged.counter;
        assert!((told..=told + 1).contains(&counter), "{counter} for {told}");
        let restored = vault.restored(KIND).unwrap();
        let ended = restored.closed.map_or(0, |closed| closed.n);
        assert!(ended >= server.acknowledged.batches);
        if let Some(open) = restored.open {
            assert_eq!(vault.members(KIND, open.n).unwrap()[..], open.ids[..]);
        }
    }

    /// Lets all that waits be counted, then compares the servers.
    pub(super) fn calm(&mut self) {
        for server in &self.servers {
            server.disk.lose_after(u64::MAX);
        }
        for number in 0..self.lengths.len() as u64 {
            self.upload(Some(number));
        }
        self.new_session();
        self.talk();
        self.event(0, Event::Trigger);
        self.talk();
        let mut counted = BTreeSet::new();
        let last = self
            .vault(0)
            .unwrap()
            .restored(KIND)
            .unwrap()
            .closed
            .unwrap()
            .n;
        for n in 1..=last {
            let first = self.vault(0).unwrap().batch(KIND, n).unwrap().unwrap();
            let Some((Outcome::Final { run }, _)) = first.ended else {
                panic!("batch {n} failed");
            };
            for id in self.vault(0).unwrap().members(KIND, n).unwrap() {
                assert!(counted.insert(id), "counted twice");
            }
            for i in 0..SERVERS {
                let vault = self.vault(i).unwrap();
                let other = vault.batch(KIND, n).unwrap().unwrap();
                assert_eq!(other.digest, first.digest);
                assert_eq!(other.ended.unwrap().0, Outcome::Final { run });
                let expected = result(n, run, i);
                assert_eq!(
                    vault.outputs(KIND, n).unwrap()[0].length,
                    expected.len() as u64
                );
                for offset in (0..expected.len()).step_by(PIECE_BYTES) {
                    let piece = vault.output(KIND, n, "sum", offset as u64).unwrap();
                    assert!(expected[offset..].starts_with(&piece) && !piece.is_empty());
                }
            }
        }
        assert_eq!(counted.len(), self.lengths.len(), "not all are counted");
        for i in 0..SERVERS {
            self.check(i);
            let used = self.vault(i).unwrap().usage_of_all();
            assert_eq!((used.submissions, used.bytes), (0, 0));
            assert_eq!(used.remembered, self.lengths.len() as u64);
        }
    }
}
