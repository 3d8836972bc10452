//! What two servers' disks say that cannot both be so: the kind stops, and the text names both and what to do.

use std::sync::Arc;

use madrigal_core::Party;
use madrigal_vault::Id;
use madrigal_vault::agreement::{
    Action, Batch, Closed, Contradiction, Event, Follower, Hello, Host, Leader, Message, Outcome,
    Preparation, Restored, Rules, Waiting, batch_digest,
};

const KIND: &str = "votes";
const GENERATION: u64 = 5;

struct Nothing;

impl Host for Nothing {
    fn waiting(&self, _: u64, _: usize) -> Vec<Waiting> {
        Vec::new()
    }

    fn still(&self, waiting: &[Waiting]) -> Vec<bool> {
        vec![false; waiting.len()]
    }

    fn is_overdue(&self, _: u64) -> bool {
        false
    }

    fn have(&self, ids: &[Id]) -> Vec<bool> {
        vec![false; ids.len()]
    }

    fn overdue(&self, _: Option<(u64, Id)>, _: &dyn Fn(&Id) -> bool, _: usize) -> Vec<(u64, Id)> {
        Vec::new()
    }

    fn least(&self) -> u64 {
        1
    }

    fn refuses(&self, _: u64, _: &[Id]) -> Option<String> {
        None
    }
}

fn ids(n: u64) -> Arc<[Id]> {
    [[n as u8; 32]].as_slice().into()
}

fn closed(n: u64, run: u32) -> Closed {
    Closed {
        n,
        ids: ids(n),
        digest: batch_digest(KIND, n, &ids(n)),
        outcome: Outcome::Final { run },
    }
}

fn open(n: u64, run: u32, done: u32) -> Batch {
    Batch {
        n,
        ids: ids(n),
        digest: batch_digest(KIND, n, &ids(n)),
        refused: None,
        run,
        broken: 0,
        done,
    }
}

fn restored(closed: Option<Closed>, open: Option<Batch>) -> Restored {
    Restored { closed, open }
}

/// What a follower with this on disk says first.
fn hello(disk: &Restored) -> Hello {
    let closed = disk.closed.clone();
    let prepared = disk.open.as_ref().map(|open| Preparation {
        n: open.n,
        digest: open.digest,
        refused: None,
        done: open.done,
    });
    Hello {
        ended: closed.map(|closed| (closed.n, closed.digest, closed.outcome)),
        prepared,
    }
}

/// What the leader finds when parties 1 and 2 say what they have.
fn greet(leader: Restored, follower: &Restored) -> Option<Contradiction> {
    let mut machine = Leader::new(KIND, 3, Rules::default(), leader.clone());
    machine.handle(
        Event::SessionUp {
            generation: GENERATION,
        },
        &Nothing,
    );
    // Party 2 says what fits.
    let fitting = Restored {
        open: None,
        ..leader
    };
    let mut all = Vec::new();
    for (from, disk) in [(2, &fitting), (1, follower)] {
        let message = Message::Hello(hello(disk));
        let (from, generation) = (Party::new(from), GENERATION);
        let event = Event::Message {
            from,
            generation,
            message,
        };
        all.extend(machine.handle(event, &Nothing));
    }
    let found = all.iter().find_map(|action| match action {
        Action::Report(contradiction) => Some(contradiction.clone()),
        _ => None,
    });
    if found.is_some() {
        let to_2 = all.iter().any(|action| {
            matches!(action, Action::Send { to, message: Message::Halted { .. } } if to.index() == 2)
        });
        assert!(to_2);
        assert!(machine.handle(Event::Trigger, &Nothing).is_empty());
    }
    found
}

#[test]
fn a_leader_finds_what_cannot_be() {
    let none = || restored(None, None);
    let ended = |n, run| restored(Some(closed(n, run)), None);
    let failed = |n| {
        let reason = "broken".to_owned();
        let outcome = Outcome::Failed { reason };
        restored(
            Some(Closed {
                outcome,
                ..closed(n, 1)
            }),
            None,
        )
    };
    let within =
        |n, run, done| restored((n > 1).then(|| closed(n - 1, 1)), Some(open(n, run, done)));
    let mut other = open(1, 0, 0);
    other.digest = batch_digest(KIND, 1, &ids(9));
    let other = restored(None, Some(other));
    // Leader, follower, and the name of what is found.
    let cases = [
        (none(), ended(1, 1), "Ahead"),
        (ended(1, 1), ended(3, 1), "Ahead"),
        (within(1, 1, 0), ended(1, 1), "Ahead"),
        (ended(2, 1), none(), "Behind"),
        (within(2, 1, 0), none(), "Behind"),
        (ended(1, 1), ended(1, 2), "Differs"),
        (within(1, 0, 0), other.clone(), "Differs"),
        (ended(1, 1), other, "Differs"),
        (none(), within(1, 0, 0), "Unknown"),
        (ended(1, 1), within(2, 0, 0), "Unknown"),
        (within(1, 1, 0), within(1, 1, 2), "Unknown"),
        (ended(1, 1), within(1, 1, 2), "Unknown"),
        (ended(1, 1), none(), "Lost"),
        (ended(2, 1), ended(1, 1), "Lost"),
        (ended(1, 2), within(1, 0, 1), "Lost"),
    ];
    for (leader, follower, expected) in cases {
        let case = format!("{leader:?} {follower:?}");
        let found = greet(leader, &follower).unwrap_or_else(|| panic!("{case}"));
        assert!(
            format!("{found:?}").starts_with(expected),
            "{case}: {found:?}"
        );
        let text = found.to_string();
        for part in ["party 1", "this server", KIND] {
            assert!(text.contains(part), "{text}");
        }
        assert!(
            text.contains("estore") || text.contains("compare"),
            "{text}"
        );
    }
    let fits = [
        (none(), none()),
        (ended(1, 1), ended(1, 1)),
        (ended(1, 1), within(1, 0, 1)),
        (failed(1), none()),
        (failed(1), within(1, 0, 1)),
        (failed(2), ended(1, 1)),
        (within(1, 2, 0), none()),
        (within(1, 2, 0), within(1, 0, 2)),
        (within(2, 2, 0), within(2, 0, 1)),
    ];
    for (leader, follower) in fits {
        assert_eq!(greet(leader, &follower), None);
    }
}

#[test]
fn a_follower_finds_what_cannot_be() {
    let hear = |disk: Restored, message: Message| {
        let mut machine = Follower::new(KIND, disk);
        machine.handle(
            Event::SessionUp {
                generation: GENERATION,
            },
            &Nothing,
        );
        let (from, generation) = (Party::new(0), GENERATION);
        let event = Event::Message {
            from,
            generation,
            message,
        };
        let halted = matches!(
            event,
            Event::Message {
                message: Message::Halted { .. },
                ..
            }
        );
        let actions = machine.handle(event, &Nothing);
        let found = actions.iter().find_map(|action| match action {
            Action::Report(contradiction) => Some(contradiction.to_string()),
            _ => None,
        });
        // The leader hears of it, unless it was the leader that stopped.
        let tells = |action: &Action| {
            matches!(
                action,
                Action::Send {
                    message: Message::Halted { .. },
                    ..
                }
            )
        };
        assert_eq!(actions.iter().any(tells), found.is_some() && !halted);
        if found.is_some() {
            let generation = GENERATION + 1;
            let next = machine.handle(Event::SessionUp { generation }, &Nothing);
            assert_eq!(next.is_empty(), !halted);
        }
        found
    };
    let digest = |n| batch_digest(KIND, n, &ids(n));
    let end = |n, run| Message::End {
        n,
        digest: digest(n),
        outcome: Outcome::Final { run },
    };
    let disk = |done| restored(None, Some(open(1, 0, done)));
    let ended = || restored(Some(closed(1, 1)), None);
    let wrong = [
        (disk(0), end(1, 1)),
        (disk(1), end(1, 2)),
        (disk(1), end(2, 1)),
        (ended(), end(1, 2)),
        (ended(), end(2, 1)),
        (disk(1), Message::Run { n: 1, run: 1 }),
        (disk(1), Message::Run { n: 2, run: 2 }),
        (ended(), Message::Run { n: 1, run: 2 }),
        (disk(0), Message::Ended { n: 1 }),
        (disk(0), Message::Barred { ids: vec![[3; 32]] }),
        (
            disk(0),
            Message::Halted {
                reason: "a reason".to_owned(),
            },
        ),
    ];
    for (disk, message) in wrong {
        let case = format!("{disk:?} {message:?}");
        let text = hear(disk, message).unwrap_or_else(|| panic!("{case}"));
        assert!(text.contains("party 0") && text.contains(KIND), "{text}");
    }
    assert_eq!(hear(disk(1), end(1, 1)), None);
    assert_eq!(hear(ended(), end(1, 1)), None);
    assert_eq!(hear(disk(1), Message::Run { n: 1, run: 2 }), None);
}

#[test]
fn a_leader_stops_with_a_follower_and_tells_the_others() {
    let mut machine = Leader::new(KIND, 3, Rules::default(), Restored::default());
    let generation = GENERATION;
    let mut actions = machine.handle(Event::SessionUp { generation }, &Nothing);
    let reason = "a reason".to_owned();
    for (from, message) in [
        (1, Message::Hello(Hello::default())),
        (2, Message::Hello(Hello::default())),
        (1, Message::Halted { reason }),
    ] {
        let from = Party::new(from);
        let event = Event::Message {
            from,
            generation,
            message,
        };
        actions.extend(machine.handle(event, &Nothing));
    }
    let [
        ..,
        Action::Send {
            to,
            message: Message::Halted { reason },
        },
        Action::Report(told),
    ] = &actions[..]
    else {
        panic!("{actions:?}");
    };
    assert_eq!(to.index(), 2);
    assert!(
        reason.contains("party 1 has stopped kind votes: a reason"),
        "{reason}"
    );
    assert_eq!(&told.to_string(), reason);
    assert!(machine.handle(Event::Trigger, &Nothing).is_empty());
    // In the next session it is tried again.
    let generation = GENERATION + 1;
    machine.handle(Event::SessionUp { generation }, &Nothing);
    let mut actions = Vec::new();
    for from in [1, 2] {
        let (from, message) = (Party::new(from), Message::Hello(Hello::default()));
        let event = Event::Message {
            from,
            generation,
            message,
        };
        actions.extend(machine.handle(event, &Nothing));
    }
    let proposes = |action: &&Action| {
        matches!(
            action,
            Action::Send {
                message: Message::Propose { .. },
                ..
            }
        )
    };
    assert_eq!(actions.iter().filter(proposes).count(), 2);
}
