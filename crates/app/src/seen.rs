//! Who sees what of a computation, and on what that rests: a table of what there is, with a column for each party and client.

use madrigal_core::Party;
use madrigal_program::ir::TensorType;
use madrigal_program::lower::Mix;
use madrigal_program::{Client, Computation, Holder};
use serde::Serialize;

use crate::flags::TransportArg;
use crate::numbers::count;

/// The table, as JSON has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Seen {
    /// Heads of the columns: the parties, and clients after them.
    pub who: Vec<String>,
    /// Rows.
    pub rows: Vec<Thing>,
    /// On what it rests, a sentence or two each.
    pub notes: Vec<String>,
}

/// Something that there is in a computation, and what each saw of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Thing {
    /// Name and type.
    pub what: String,
    /// Cells, column by column.
    pub seen: Vec<Cell>,
}

/// Cell of the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// Whether the thing was that party's own (`own`), or seen (`yes`) or not (`no`) by it.
    pub kind: &'static str,
    /// Text.
    pub text: String,
}

impl Cell {
    /// It is their own.
    pub fn own(text: &str) -> Self {
        Self::new("own", text)
    }

    /// They see it.
    pub fn yes(text: &str) -> Self {
        Self::new("yes", text)
    }

    /// They do not see it.
    pub fn no(text: &str) -> Self {
        Self::new("no", text)
    }

    fn new(kind: &'static str, text: &str) -> Self {
        let text = text.to_owned();
        Self { kind, text }
    }
}

/// Surroundings of a program, as far as they decide who sees what and what is told of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Transport between the parties, where it is known.
    pub transport: Option<TransportArg>,
    /// Whether all parties are of one process.
    pub local: bool,
    /// Whether lengths are those of the computation; else the table tells no types.
    pub lengths: bool,
}

impl Seen {
    /// Tells it of a program in a mix of protocols, from what the program says: all that parties open, they open by it.
    pub fn of_program(program: &Computation, mix: Mix, place: Place) -> Self {
        let mut who: Vec<Holder> = Party::all(program.parties()).map(Holder::from).collect();
        let clients = program
            .inputs()
            .iter()
            .filter_map(|port| port.owner.client());
        let receivers = program.outputs().iter().flat_map(|port| port.clients());
        let mut clients: Vec<&Client> = clients.chain(receivers).collect();
        clients.sort_by_key(|client| client.name());
        clients.dedup_by_key(|client| client.name());
        who.extend(clients.into_iter().cloned().map(Holder::from));
        let all = |of: &dyn Fn(&Holder) -> Cell| who.iter().map(of).collect();
        let parties = |text: &'static str| {
            move |one: &Holder| match one.party() {
                Some(_) => Cell::yes(text),
                None => Cell::no("need not know it"),
            }
        };
        let mut rows = vec![Thing {
            what: "the program: operations, types, lengths, who brings and who learns what"
                .to_owned(),
            seen: all(&parties("knows it")),
        }];
        let hidden = || Cell::no("does not see it");
        let named = |kind: &str, at: usize, name: &Option<String>, typed: &TensorType| {
            let name = name.clone().unwrap_or_else(|| at.to_string());
            match place.lengths {
                true => format!("{kind} {name}: {typed}"),
                false => format!("{kind} {name}"),
            }
        };
        for (at, port) in program.inputs().iter().enumerate() {
            rows.push(Thing {
                what: named("input", at, &port.name, &port.tensor_type),
                seen: all(&|one| match *one == port.owner {
                    true => Cell::own("brings it"),
                    false => hidden(),
                }),
            });
        }
        rows.push(Thing {
            what: "what is computed on the way".to_owned(),
            seen: all(&|_| hidden()),
        });
        for requirement in program.requirements() {
            rows.push(Thing {
                what: format!("whether this is met: {requirement}"),
                seen: all(&|one| match one.party() {
                    Some(_) => Cell::yes("learns it"),
                    None => Cell::no("gets nothing if not"),
                }),
            });
        }
        for (at, port) in program.outputs().iter().enumerate() {
            rows.push(Thing {
                what: named("output", at, &port.name, &port.tensor_type),
                seen: all(&|one| match port.to.contains(one) {
                    true => Cell::yes("learns it"),
                    false => hidden(),
                }),
            });
        }
        let honest_majority = mix.withstands(program.parties()) + 1 < program.parties();
        let mut notes = vec![corruption(program.parties(), honest_majority)];
        notes.extend(place.transport.map(|transport| line(transport).to_owned()));
        notes.extend(place.local.then(|| ONE_MACHINE.to_owned()));
        notes.push(
            "Outputs tell something of what they were made of: whoever learns one learns what follows from it.".to_owned(),
        );
        notes.push(
            "Lengths, directions and times of messages follow from the program alone, not from anybody's values."
                .to_owned(),
        );
        Self {
            who: who.iter().map(ToString::to_string).collect(),
            rows,
            notes,
        }
    }
}

/// Note for parties of one process.
pub const ONE_MACHINE: &str = "All parties were threads of one process on one machine: whoever controls it could see \
    everything. The table is what it is when each party has a machine of its own.";

/// Note on who may be corrupted so that the table still holds.
pub fn corruption(parties: usize, honest_majority: bool) -> String {
    let who = match honest_majority {
        true => "no two of the three parties put together what they have".to_owned(),
        false if parties == 2 => "neither party deviates from the protocol".to_owned(),
        false => format!(
            "a party keeps its own to itself: all {} others together would learn no more than the table says of them",
            count(parties as u64 - 1)
        ),
    };
    let follow = match parties {
        2 => "",
        _ => ", and all follow the protocol",
    };
    format!("This holds as long as {who}{follow}. Nothing here detects a party that cheats.")
}

/// Note on what was between the parties.
pub fn line(transport: TransportArg) -> &'static str {
    match transport {
        TransportArg::Tls => {
            "Between the parties was TLS 1.3, each with the key that the others expected."
        }
        TransportArg::Tcp => {
            "Between the parties was TCP without encryption: who saw all packets saw all shares, and so everything."
        }
        TransportArg::Memory => "Messages went through the memory of one process.",
    }
}

#[cfg(test)]
mod tests {
    use madrigal_program::{Everyone, Program};

    use super::*;

    #[test]
    fn the_table_says_what_the_program_says() {
        let mut p = Program::new(3);
        let press = Client::new("press");
        let pay = p.input_named::<u64>("pay", Party::new(0), 4);
        let rate = p.input_named::<u64>("rate", Client::new("ada"), 4);
        p.require_named("positive", &pay.gt(&rate).all(0));
        p.open_named("total", pay.sum(0), Everyone);
        p.open_named("least", rate.least(0), &press);
        let program = p.finish().unwrap();
        let place = Place {
            transport: None,
            local: false,
            lengths: true,
        };
        let seen = Seen::of_program(&program, Mix::R, place);
        assert_eq!(
            seen.who,
            [
                "party 0",
                "party 1",
                "party 2",
                "client ada",
                "client press"
            ]
        );
        let kinds = |what: &str| {
            let row = seen.rows.iter().find(|row| row.what.starts_with(what));
            let cells = row
                .unwrap_or_else(|| panic!("{what}: {seen:?}"))
                .seen
                .iter();
            cells.map(|cell| cell.kind).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(kinds("the program"), "yes yes yes no no");
        assert_eq!(kinds("input pay"), "own no no no no");
        assert_eq!(kinds("input rate"), "no no no own no");
        assert_eq!(kinds("what is computed"), "no no no no no");
        assert_eq!(
            kinds("whether this is met: \"positive\""),
            "yes yes yes no no"
        );
        assert_eq!(kinds("output total"), "yes yes yes no no");
        assert_eq!(kinds("output least"), "no no no no yes");
        assert!(seen.notes[0].contains("no two of the three"));
        assert!(seen.rows[1].what.starts_with("input pay: "), "{seen:?}");
        let place = Place {
            lengths: false,
            ..place
        };
        let other = Seen::of_program(&program, Mix::AB, place);
        assert_eq!(other.rows[1].what, "input pay");
        assert!(other.notes[0].contains("all 2 others together"));
    }
}
