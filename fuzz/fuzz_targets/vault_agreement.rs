//! Messages about batches: any bytes are read or refused, what is read has one form, and machines that hear it answer or stop.
#![no_main]

use libfuzzer_sys::fuzz_target;
use madrigal_core::Party;
use madrigal_vault::Id;
use madrigal_vault::agreement::{
    Action, Assembler, Event, Follower, Host, Leader, Message, Record, Restored, Rules, Waiting,
    frames,
};

/// A server that has three ids, of which one is overdue.
struct Three;

impl Host for Three {
    fn waiting(&self, above: u64, most: usize) -> Vec<Waiting> {
        let all = (0..3).map(|i| Waiting {
            id: [i; 32],
            order: 1 + u64::from(i),
            at: u64::from(i),
        });
        all.filter(|one| one.order > above).take(most).collect()
    }

    fn still(&self, waiting: &[Waiting]) -> Vec<bool> {
        vec![true; waiting.len()]
    }

    fn is_overdue(&self, at: u64) -> bool {
        at == 0
    }

    fn have(&self, ids: &[Id]) -> Vec<bool> {
        ids.iter().map(|id| id[0] < 3).collect()
    }

    fn overdue(
        &self,
        _: Option<(u64, Id)>,
        but: &dyn Fn(&Id) -> bool,
        most: usize,
    ) -> Vec<(u64, Id)> {
        let overdue = [(0, [0; 32])].into_iter();
        overdue.filter(|(_, id)| !but(id)).take(most).collect()
    }

    fn least(&self) -> u64 {
        1
    }

    fn refuses(&self, n: u64, _: &[Id]) -> Option<String> {
        (n > 2).then(|| "policy".to_owned())
    }
}

enum Machine {
    Leader(Leader),
    Follower(Follower),
}

/// Has a machine hear of an event, with all that it writes written at once.
fn handle(machine: &mut Machine, event: Event) {
    let mut events = vec![event];
    while let Some(event) = events.pop() {
        let actions = match machine {
            Machine::Leader(leader) => leader.handle(event, &Three),
            Machine::Follower(follower) => follower.handle(event, &Three),
        };
        for action in actions {
            match action {
                Action::Write { token, record } => {
                    let ids = match record {
                        Record::Bar { ids } => ids,
                        _ => Vec::new(),
                    };
                    events.push(Event::Written { token, ids });
                }
                Action::StartJob { n, run, .. } => events.push(Event::JobDone { n, run }),
                Action::Report(contradiction) => drop(contradiction.to_string()),
                _ => {}
            }
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    // As one message.
    if let Ok(message) = Message::decode(bytes) {
        assert_eq!(message.encode(), bytes);
        let mut assembler = Assembler::new();
        let mut last = None;
        for frame in frames(&message) {
            last = assembler.frame(&frame).unwrap();
        }
        assert_eq!(last, Some(message));
    }
    // As messages, each with its sender and its length before it, into a machine.
    let Some((&first, mut rest)) = bytes.split_first() else {
        return;
    };
    let mut machine = if first % 2 == 0 {
        Machine::Leader(Leader::new(
            "votes",
            3,
            Rules::default(),
            Restored::default(),
        ))
    } else {
        Machine::Follower(Follower::new("votes", Restored::default()))
    };
    handle(&mut machine, Event::SessionUp { generation: 1 });
    handle(&mut machine, Event::Trigger);
    handle(&mut machine, Event::Overdue);
    while let [from, low, high, content @ ..] = rest {
        let length = usize::from(u16::from_le_bytes([*low, *high])).min(content.len());
        let (message, after) = content.split_at(length);
        if let Ok(message) = Message::decode(message) {
            let from = Party::new(usize::from(from % 4));
            let generation = 1;
            handle(
                &mut machine,
                Event::Message {
                    from,
                    generation,
                    message,
                },
            );
        }
        rest = after;
    }
});
