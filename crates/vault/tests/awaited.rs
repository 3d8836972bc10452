//! Clients without whose submissions there is no batch.

use std::collections::VecDeque;

use madrigal_core::Party;
use madrigal_vault::agreement::{Action, Event, Host, Machine, Outcome, Rules};
use madrigal_vault::{Id, Policy, Vault, View};

use crate::power::Disk;
use crate::submissions::{KIND, body, id, submission, vault};

/// Waits for some accounts.
struct Awaits(&'static [&'static str]);

impl Policy for Awaits {
    fn least(&self) -> u64 {
        1
    }

    fn overdue(&self) -> u64 {
        1000
    }

    fn awaited(&self) -> Vec<&str> {
        self.0.to_vec()
    }

    fn refuses(&self, _: u64, _: &[Id]) -> Option<String> {
        None
    }
}

/// Two servers with what each waits for.
struct Servers {
    servers: Vec<(Vault, Machine, Awaits)>,
    ends: Vec<Outcome>,
}

impl Servers {
    fn new(most: usize, awaits: [&'static [&'static str]; 2]) -> Self {
        let rules = Rules {
            most,
            window: 8,
            ..Rules::default()
        };
        let server = |(i, awaits)| {
            let vault = vault(&Disk::default());
            let machine =
                Machine::new(KIND, Party::new(i), 2, rules, vault.restored(KIND).unwrap());
            (vault, machine, Awaits(awaits))
        };
        let servers = awaits.into_iter().enumerate().map(server).collect();
        let ends = Vec::new();
        let mut all = Self { servers, ends };
        all.event(0, Event::SessionUp { generation: 1 });
        all.event(1, Event::SessionUp { generation: 1 });
        all
    }

    fn submit(&self, to: &[usize], number: u64, account: &str) {
        for i in to {
            let body = body(number, 20);
            let mut submission = submission(number, &body);
            submission.account = account.to_owned();
            let _ = self.servers[*i]
                .0
                .submit(submission, body, 1)
                .wait()
                .unwrap();
        }
    }

    fn event(&mut self, i: usize, event: Event) {
        let mut events = VecDeque::from([(i, event)]);
        while let Some((i, event)) = events.pop_front() {
            let (vault, machine, awaits) = &mut self.servers[i];
            let view = View::new(vault, KIND, awaits, 2);
            for action in machine.handle(event, &view) {
                match action {
                    Action::Send { to, message } => {
                        let event = Event::Message {
                            from: Party::new(i),
                            generation: 1,
                            message,
                        };
                        events.push_back((to.index(), event));
                    }
                    Action::Write { token, record } => {
                        let written = vault.write(KIND, record, 2).wait();
                        events.push_back((i, Vault::written(token, written).unwrap()));
                    }
                    Action::StartJob { n, run, .. } => {
                        events.push_back((i, Event::JobDone { n, run }));
                    }
                    Action::Ended { outcome, .. } if i == 0 => self.ends.push(outcome),
                    Action::Report(why) => panic!("{why}"),
                    _ => {}
                }
            }
        }
    }

    /// Looks for a batch; gives its ids, or nothing.
    fn look(&mut self) -> Option<Vec<Id>> {
        let before = self.ends.len() as u64;
        self.event(0, Event::Trigger);
        let after = self.ends.len() as u64;
        (after > before).then(|| self.servers[0].0.members(KIND, after).unwrap())
    }
}

#[test]
fn a_batch_has_whom_it_waits_for_at_all_servers() {
    let mut servers = Servers::new(2, [&["ann"], &["ann"]]);
    // More than a proposal has ids come before her.
    for number in 0..30 {
        servers.submit(&[0, 1], number, "bob");
    }
    assert_eq!(servers.look(), None);
    // She has come to the leader alone.
    servers.submit(&[0], 100, "ann");
    assert_eq!(servers.look(), None);
    servers.submit(&[1], 100, "ann");
    let mut ids = servers.look().unwrap();
    ids.sort_by_key(|one| *one != id(100));
    assert_eq!((ids.len(), ids[0]), (2, id(100)));
    assert!(matches!(servers.ends[0], Outcome::Final { .. }));
    // Somebody who goes by her name is not her.
    servers.submit(&[0, 1], 101, "");
    assert_eq!(servers.look(), None);
    servers.submit(&[0, 1], 102, "ann");
    assert!(servers.look().unwrap().contains(&id(102)));
}

/// A leader that does not wait is stopped by a follower that does.
#[test]
fn followers_see_to_it_themselves() {
    let mut servers = Servers::new(5, [&[], &["ann", "dora"]]);
    servers.submit(&[0, 1], 1, "bob");
    servers.submit(&[0, 1], 2, "ann");
    assert!(servers.look().is_some());
    match &servers.ends[0] {
        Outcome::Failed { reason } => assert!(reason.contains("submission of dora"), "{reason}"),
        other => panic!("{other:?}"),
    }
    let view = View::new(&servers.servers[1].0, KIND, &servers.servers[1].2, 2);
    assert_eq!(view.groups(&[id(1), id(2)]), [vec![1], vec![]]);
}
