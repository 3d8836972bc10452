//! Machines that are sent anything, in any order: they answer, or stop and say why.

use std::sync::Arc;

use madrigal_core::Party;
use madrigal_vault::Id;
use madrigal_vault::agreement::{
    Action, Bits, Chosen, Event, Hello, Host, Machine, Message, Outcome, Preparation, Record,
    Restored, Rules, Waiting, batch_digest,
};

use crate::random::Random;

const KIND: &str = "votes";

/// Has the first few ids.
struct Few;

fn ids(count: usize) -> Arc<[Id]> {
    (0..count).map(|i| [i as u8; 32]).collect()
}

impl Host for Few {
    fn waiting(&self, above: u64, most: usize) -> Vec<Waiting> {
        let all = ids(3);
        let all = all.iter().zip(1..).map(|(&id, order)| Waiting {
            id,
            order,
            at: u64::from(id[0] == 0),
        });
        all.filter(|one| one.order > above).take(most).collect()
    }

    fn still(&self, waiting: &[Waiting]) -> Vec<bool> {
        vec![true; waiting.len()]
    }

    fn is_overdue(&self, at: u64) -> bool {
        at == 1
    }

    fn have(&self, asked: &[Id]) -> Vec<bool> {
        asked.iter().map(|id| ids(3).contains(id)).collect()
    }

    fn overdue(&self, _: Option<(u64, Id)>, but: &dyn Fn(&Id) -> bool, _: usize) -> Vec<(u64, Id)> {
        let all = ids(1);
        all.iter()
            .filter(|id| !but(id))
            .map(|id| (1, *id))
            .collect()
    }

    fn least(&self) -> u64 {
        0
    }

    fn refuses(&self, n: u64, _: &[Id]) -> Option<String> {
        n.is_multiple_of(3).then(|| "policy".to_owned())
    }
}

fn message(random: &mut Random) -> Message {
    let n = 1 + random.below(2) as u64;
    let run = 1 + random.below(2) as u32;
    let attempt = random.below(3) as u64;
    let count = random.below(4);
    let digest = batch_digest(KIND, n, &ids(count));
    let bits = || Bits::new([true; 3][..count].iter().copied());
    let outcome = match random.below(2) {
        0 => Outcome::Final { run },
        _ => Outcome::Failed {
            reason: "no".to_owned(),
        },
    };
    let reason = "reason".to_owned();
    match random.below(14) {
        0 | 1 => Message::Hello(Hello {
            ended: random.one_in(2).then_some((n, digest, outcome)),
            prepared: random.one_in(2).then_some(Preparation {
                n,
                digest,
                refused: None,
                done: run - 1,
            }),
        }),
        2 => Message::Propose {
            attempt,
            n,
            ids: ids(count),
            overdue: bits(),
        },
        3 => Message::Have {
            attempt,
            n,
            least: 0,
            have: bits(),
            overdue: ids(count).to_vec(),
        },
        4 => Message::Barred {
            ids: ids(count).to_vec(),
        },
        5 => Message::Prepare {
            n,
            digest,
            chosen: Chosen::Of {
                attempt,
                bits: bits(),
            },
        },
        6 => Message::Prepare {
            n,
            digest,
            chosen: Chosen::Ids(ids(count)),
        },
        7 => Message::Prepared { n, digest },
        8 => Message::Refused { n, digest, reason },
        9 => Message::Run { n, run },
        10 => Message::Done { n, run },
        11 => Message::Broken { n, run, reason },
        12 => Message::End { n, digest, outcome },
        _ => Message::Ended { n },
    }
}

/// Something that happens to a machine; records that it wants are on disk now and then.
fn event(random: &mut Random, writes: &mut Vec<(u64, Record)>, parties: usize) -> Event {
    let n = 1 + random.below(2) as u64;
    let run = 1 + random.below(2) as u32;
    match random.below(16) {
        0 => Event::SessionUp {
            generation: 1 + random.below(2) as u64,
        },
        1 if random.one_in(2) => Event::Overdue,
        1 => Event::Trigger,
        2 => Event::JobDone { n, run },
        3 => Event::JobBroken {
            n,
            run,
            reason: "no".to_owned(),
        },
        4..8 if !writes.is_empty() => {
            let (token, record) = writes.swap_remove(random.below(writes.len()));
            let ids = match record {
                Record::Bar { ids } => ids,
                _ => Vec::new(),
            };
            Event::Written { token, ids }
        }
        _ => Event::Message {
            from: Party::new(random.below(parties + 1)),
            generation: 1 + random.below(2) as u64,
            message: message(random),
        },
    }
}

/// A machine to which all this has happened.
fn after(leads: bool, parties: usize, events: &[Event]) -> Machine {
    let me = Party::new(usize::from(!leads));
    let restored = Restored::default();
    let mut machine = Machine::new(KIND, me, parties, Rules::default(), restored);
    for event in events {
        machine.handle(event.clone(), &Few);
    }
    machine
}

/// What stops a machine is left out afterwards, so that others get as far as the end of a batch.
#[test]
fn machines_take_anything_in_any_order() {
    let mut random = Random::new(madrigal_testkit::seed());
    let (mut reports, mut jobs, mut ends) = (0, 0, 0);
    for round in 0..1500 {
        let parties = 2 + random.below(2);
        let leads = round % 2 == 0;
        let mut events = Vec::new();
        let mut machine = after(leads, parties, &events);
        let mut writes = Vec::new();
        for step in 0..300 {
            let before = writes.clone();
            let event = match step {
                0 => Event::SessionUp { generation: 1 },
                _ => event(&mut random, &mut writes, parties),
            };
            let mut stopped = false;
            for action in machine.handle(event.clone(), &Few) {
                assert!(!stopped);
                match action {
                    Action::Write { token, record } => writes.push((token, record)),
                    Action::Send { to, message } => {
                        assert!(to.index() < parties && (to.index() == 0) != leads);
                        assert_eq!(Message::decode(&message.encode()), Ok(message));
                    }
                    Action::Report(contradiction) => {
                        let text = contradiction.to_string();
                        assert!(text.contains(KIND) && text.len() < 2000, "{text}");
                        stopped = true;
                        reports += 1;
                    }
                    Action::StartJob { .. } => jobs += 1,
                    Action::Ended { .. } => ends += 1,
                    Action::StopJob { .. } | Action::NoBatch { .. } => {}
                }
            }
            if stopped {
                assert!(machine.handle(Event::Trigger, &Few).is_empty());
                machine = after(leads, parties, &events);
                writes = before;
            } else {
                events.push(event);
            }
        }
    }
    println!("{reports} reports, {jobs} jobs, {ends} ends");
    assert!(reports > 1000 && jobs > 50 && ends > 5);
}
