//! Table of what each party saw of the model, the data and the results.

use madrigal_app::flags::TransportArg;
use madrigal_app::numbers::{count, counted};
use madrigal_app::seen::{Cell, ONE_MACHINE, Seen, Thing, corruption, line};
use madrigal_program::Holder;
use madrigal_program::lower::Sharing;

use crate::html::{row, table};

/// Facts of a run that decide who sees what.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    pub(crate) parties: usize,
    pub(crate) model: usize,
    pub(crate) data: Holder,
    pub(crate) to: Vec<Holder>,
    pub(crate) public_model: bool,
    /// Constants of the model that are part of the program, and those that its owner brought.
    pub(crate) shown: [u64; 2],
    /// Numbers other than 0 that weights are made of in the file from which this page's party read the model.
    pub(crate) trained: u64,
    /// Sharings of the values.
    pub(crate) sharings: [Sharing; 2],
    pub(crate) transport: TransportArg,
    /// Whether all parties were one process.
    pub(crate) local: bool,
    /// The party that wrote the page, if it was one alone.
    pub(crate) me: Option<usize>,
}

/// A cell: what the party of a column saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Saw {
    /// It brought it.
    Own,
    Yes,
    No,
    /// The party read this many of the numbers in its own file.
    Read(u64),
    /// The run did not show the numbers; this page's party does not know what the other's file had.
    NotByRun,
}

impl Saw {
    fn told(self) -> Cell {
        match self {
            Self::Own => Cell::own("brought it"),
            Self::Yes => Cell::yes("saw it"),
            Self::No => Cell::no("did not see it"),
            Self::Read(of) => {
                let of = counted(of, "number");
                Cell::yes(&format!("has {of} in its own file"))
            }
            Self::NotByRun => Cell::no("not shown to it"),
        }
    }

    fn cell(self) -> String {
        let Cell { kind, text } = self.told();
        format!("<span class=\"{kind}\">{text}</span>")
    }
}

impl Scene {
    fn all(&self, of: impl Fn(usize) -> Saw) -> Vec<Saw> {
        (0..self.parties).map(of).collect()
    }

    /// Tells what a party saw of the weights, in the run and in its own file.
    fn weights(&self, party: usize) -> Saw {
        match self.me {
            _ if party == self.model => Saw::Own,
            Some(me) if me != party => Saw::NotByRun,
            Some(_) if self.trained > 0 => Saw::Read(self.trained),
            Some(_) => Saw::No,
            // All parties here read one file; each is to have its own.
            None => Saw::NotByRun,
        }
    }

    /// Each thing, and what each party saw of it.
    pub(crate) fn rows(&self) -> Vec<(String, Vec<Saw>)> {
        let [open, hidden] = self.shown;
        let yes = |_| Saw::Yes;
        let brought = |party| match party_of(&self.data) == Some(party) {
            true => Saw::Own,
            false => Saw::No,
        };
        let mut rows = vec![(
            "architecture: operators, shapes, attributes, how many inputs at once".to_owned(),
            self.all(yes),
        )];
        if open > 0 {
            let what = match self.public_model {
                true => "weights and other constants",
                false => {
                    "constants that are architecture: integers, Booleans, single numbers without dimensions"
                }
            };
            let what = format!("{what} ({})", counted(open, "number"));
            rows.push((what, self.all(yes)));
        }
        if hidden > 0 {
            let what = format!("weights ({})", counted(hidden, "number"));
            rows.push((what, self.all(|party| self.weights(party))));
        }
        rows.push(("data".to_owned(), self.all(brought)));
        rows.push(("what layers make of it".to_owned(), self.all(|_| Saw::No)));
        let gets = |party| self.to.iter().any(|to| party_of(to) == Some(party));
        let result = |party| match gets(party) {
            true => Saw::Yes,
            false => Saw::No,
        };
        rows.push(("results".to_owned(), self.all(result)));
        rows
    }

    /// On what that rests, a sentence or two each.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = vec![self.corruption(), self.line()];
        if self.local {
            notes.push(ONE_MACHINE.to_owned());
        }
        if let Some(me) = self.me {
            notes.push(format!(
                "Party {me} wrote this, from what the parties agreed on before they computed: the program, which \
                 says who brings and who gets what, and the protocols. Party {me} does not know what others' machines \
                 do beside that."
            ));
        }
        if self.shown[1] > 0 {
            notes.push(self.files());
        }
        let receivers: Vec<String> = self.to.iter().map(ToString::to_string).collect();
        let of = match self.shown[1] {
            0 => "the data",
            _ => "the data and, asked for often enough, the weights",
        };
        notes.push(format!(
            "Results tell something of what they were made of: whoever gets them ({}) learns what follows from them \
             of {of}.",
            receivers.join(", "),
        ));
        notes.push(
            "Lengths, directions and times of messages follow from the architecture alone, not from weights or data."
                .to_owned(),
        );
        notes
    }

    /// On what it rests that weights are not known.
    fn files(&self) -> String {
        let rule = "The run shows weights to nobody but party";
        let rest = "a party whose file of the model has them has seen them there. `madrigal model strip` writes a file \
                    without them.";
        let own = match (self.me, self.trained) {
            (Some(me), 1..) if me != self.model => format!(
                " Party {me} read the model from a file that has {} of them.",
                count(self.trained)
            ),
            (Some(me), _) if me != self.model => {
                format!(" The file from which party {me} read the model has none of them.")
            }
            _ => String::new(),
        };
        format!("{rule} {}; {rest}{own}", self.model)
    }

    fn corruption(&self) -> String {
        corruption(self.parties, self.sharings.contains(&Sharing::R))
    }

    fn line(&self) -> String {
        line(self.transport).to_owned()
    }

    /// The table for other forms than the page's.
    pub(crate) fn seen(&self) -> Seen {
        let thing = |(what, saw): (String, Vec<Saw>)| Thing {
            what,
            seen: saw.into_iter().map(Saw::told).collect(),
        };
        Seen {
            who: (0..self.parties).map(|party| self.title(party)).collect(),
            rows: self.rows().into_iter().map(thing).collect(),
            notes: self.notes(),
        }
    }

    /// The section's content.
    pub(crate) fn html(&self) -> String {
        let parties: Vec<String> = (0..self.parties).map(|party| self.title(party)).collect();
        let mut header = vec![""];
        header.extend(parties.iter().map(String::as_str));
        let rows: String = self
            .rows()
            .into_iter()
            .map(|(what, saw)| row([what].into_iter().chain(saw.into_iter().map(Saw::cell))))
            .collect();
        let page =
            "No weight, no datum and no result is in this page; names of layers are.".to_owned();
        let notes = self.notes().into_iter().chain([page]);
        let notes: String = notes.map(|note| format!("<li>{note}</li>\n")).collect();
        format!("{}<ul>\n{notes}</ul>\n", table("seen", &header, &rows))
    }

    fn title(&self, party: usize) -> String {
        let role = match party {
            party if party == self.model => ": model",
            party if party_of(&self.data) == Some(party) => ": data",
            _ => "",
        };
        format!("party {party}{role}")
    }
}

/// Number of a party.
fn party_of(holder: &Holder) -> Option<usize> {
    holder.party().map(|party| party.index())
}

#[cfg(test)]
mod tests {
    use madrigal_core::Party;
    use madrigal_program::Client;

    use super::*;

    fn scene() -> Scene {
        Scene {
            parties: 3,
            model: 0,
            data: Party::new(1).into(),
            to: vec![Party::new(1).into()],
            public_model: false,
            shown: [3, 1000],
            trained: 0,
            sharings: [Sharing::R; 2],
            transport: TransportArg::Tls,
            local: false,
            me: Some(2),
        }
    }

    fn saw(scene: &Scene, what: &str) -> Vec<Saw> {
        let mut rows = scene.rows().into_iter();
        rows.find(|(name, _)| name.starts_with(what))
            .map(|(_, saw)| saw)
            .unwrap_or_default()
    }

    #[test]
    fn the_table_follows_the_flags() {
        use Saw::{No, NotByRun, Own, Read, Yes};
        let scene = scene();
        assert_eq!(saw(&scene, "architecture"), [Yes; 3]);
        assert_eq!(saw(&scene, "constants"), [Yes; 3]);
        assert_eq!(saw(&scene, "weights"), [Own, NotByRun, No]);
        // A party whose own file has weights has seen them.
        let read = Scene {
            trained: 900,
            ..scene.clone()
        };
        assert_eq!(saw(&read, "weights"), [Own, NotByRun, Read(900)]);
        assert!(read.html().contains("has 900 numbers in its own file"));
        let notes = read.notes().join("\n");
        assert!(notes.contains("a file that has 900 of them"), "{notes}");
        let notes = scene.notes().join("\n");
        assert!(notes.contains("has none of them"), "{notes}");
        // The owner does not know what others' files have.
        let owner = Scene {
            me: Some(0),
            trained: 900,
            ..scene.clone()
        };
        assert_eq!(saw(&owner, "weights"), [Own, NotByRun, NotByRun]);
        assert_eq!(saw(&scene, "data"), [No, Own, No]);
        assert_eq!(saw(&scene, "what layers"), [No; 3]);
        assert_eq!(saw(&scene, "results"), [No, Yes, No]);
        let open = Scene {
            public_model: true,
            shown: [1003, 0],
            to: [0, 2].map(|party| Party::new(party).into()).into(),
            ..scene
        };
        assert_eq!(saw(&open, "weights"), [Yes; 3]);
        assert_eq!(saw(&open, "results"), [Yes, No, Yes]);
        let notes = open.notes().join("\n");
        assert!(!notes.contains("the weights."), "{notes}");
        assert!(notes.contains("party 0, party 2"), "{notes}");
        let client = Holder::from(Client::new("alice"));
        let apart = Scene {
            data: client.clone(),
            to: vec![client],
            ..open
        };
        assert_eq!(saw(&apart, "data"), [No; 3]);
        assert_eq!(saw(&apart, "results"), [No; 3]);
        let notes = apart.notes().join("\n");
        assert!(notes.contains("(client alice)"), "{notes}");
    }

    #[test]
    fn notes_say_on_what_it_rests() {
        let three = scene().notes().join("\n");
        assert!(
            three.contains("no two of the three") && three.contains("TLS 1.3"),
            "{three}"
        );
        assert!(three.contains("Party 2 wrote") && !three.contains("one process"));
        let two = Scene {
            parties: 2,
            sharings: [Sharing::ALPHA, Sharing::BETA],
            transport: TransportArg::Tcp,
            local: true,
            me: None,
            ..scene()
        };
        let two = two.notes().join("\n");
        for part in [
            "neither party deviates",
            "without encryption",
            "one process",
        ] {
            assert!(two.contains(part), "{part}: {two}");
        }
        let four = Scene {
            parties: 4,
            sharings: [Sharing::A, Sharing::B],
            ..scene()
        };
        assert!(four.notes()[0].contains("all 3 others together"));
        assert!(four.html().contains("party 1: data"));
    }
}
