//! The page as a whole.

use madrigal_app::numbers::{bytes, count, seconds};
use madrigal_core::PhaseCost;

use super::network::{Layer, network};
use super::seen::Scene;
use super::timeline::{Timeline, timeline};
use crate::html::{escaped, name, row, table};

/// All that a page tells.
#[derive(Debug)]
pub(crate) struct Page {
    /// The model's file.
    pub(crate) title: String,
    pub(crate) facts: Vec<(&'static str, String)>,
    pub(crate) spent: Vec<Spent>,
    /// How bytes of layers were checked.
    pub(crate) checked: String,
    pub(crate) layers: Vec<Layer>,
    pub(crate) timelines: Vec<Timeline>,
    pub(crate) scene: Scene,
}

/// A phase of a party.
#[derive(Debug)]
pub(crate) struct Spent {
    pub(crate) party: usize,
    pub(crate) phase: &'static str,
    pub(crate) seconds: f64,
    pub(crate) cost: PhaseCost,
}

const STYLE: &str = include_str!("style.css");

impl Page {
    pub(crate) fn html(&self) -> String {
        let title = name(&self.title);
        let sections = [
            ("Totals", self.totals()),
            ("Who saw what", self.scene.html()),
            ("The network", self.network()),
            ("What ran when", self.timeline()),
        ];
        let sections: String = sections
            .map(|(heading, content)| {
                format!("<section>\n<h2>{heading}</h2>\n{content}</section>\n")
            })
            .concat();
        // Nothing is fetched, whatever the page holds, and no script runs.
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title} on secrets</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
             <h1>{title} <small>on secrets</small></h1>\n{sections}</main>\n</body>\n</html>\n"
        )
    }

    fn totals(&self) -> String {
        let facts = self.facts.iter();
        let facts: String = facts
            .map(|(what, value)| format!("<div><dt>{what}</dt><dd>{}</dd></div>\n", escaped(value)))
            .collect();
        let rows = self.spent.iter().map(|spent| {
            row([
                spent.party.to_string(),
                spent.phase.to_owned(),
                seconds(spent.seconds),
                bytes(spent.cost.bytes_sent),
                bytes(spent.cost.bytes_received),
                count(spent.cost.messages),
                count(spent.cost.rounds),
            ])
        });
        let rows: String = rows.collect();
        let header = [
            "party", "phase", "time", "sent", "received", "messages", "rounds",
        ];
        format!("<dl>\n{facts}</dl>\n{}", table("numbers", &header, &rows))
    }

    fn network(&self) -> String {
        format!(
            "{}<p>Of each layer the party here that has most. Bytes in setup are those of the layer's correlations made \
             by themselves, without base OTs. {} Rounds are those of the layer by itself. Time is from when a part of it \
             could begin until it had ended, what lies between parts left out; the dark part of a bar is what was \
             computed, the rest was waiting: for messages, or for the processor. Bits after the point are cut off for \
             the layer that reads a number.</p>\n",
            network(&self.layers),
            escaped(&self.checked),
        )
    }

    fn timeline(&self) -> String {
        let apart = match self.timelines.len() {
            0 | 1 => "",
            _ => " Each party's clock begins when it opens the job.",
        };
        format!(
            "<p>Setup depends on no input; online begins when layers do.{apart} A layer begins when what it reads is \
             there; a bar names it where the pointer rests.</p>\n{}",
            timeline(&self.timelines)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::layers::LayerFigures;
    use madrigal_app::flags::TransportArg;
    use madrigal_core::Party;
    use madrigal_program::lower::Sharing;

    fn page(text: &str) -> Page {
        Page {
            title: text.into(),
            facts: vec![("protocol", text.into())],
            spent: vec![Spent {
                party: 1,
                phase: "online",
                seconds: 0.5,
                cost: PhaseCost::default(),
            }],
            checked: text.into(),
            layers: vec![Layer {
                figures: LayerFigures {
                    name: text.into(),
                    operator: text.into(),
                    sharings: vec![text.into()],
                    ..LayerFigures::default()
                },
                ..Layer::default()
            }],
            timelines: vec![Timeline {
                online: [0.0, 1.0],
                bars: vec![super::super::timeline::Bar {
                    name: text.into(),
                    operator: text.into(),
                    reads: text.into(),
                    from: 0.0,
                    to: 1.0,
                }],
                ..Timeline::default()
            }],
            scene: Scene {
                parties: 2,
                model: 0,
                data: Party::new(1).into(),
                to: vec![Party::new(1).into()],
                public_model: false,
                shown: [1, 2],
                trained: 2,
                sharings: [Sharing::A, Sharing::B],
                transport: TransportArg::Tcp,
                local: true,
                me: None,
            },
        }
    }

    /// Names of a model that somebody else made.
    #[test]
    fn names_inject_nothing() {
        for text in [
            "</style><script>alert(1)</script>",
            "\"><img src=x onerror=alert(1)>",
            "' onmouseover='alert(1)",
            "<!-- ",
            "]]>&lt;",
        ] {
            let plain = page("name").html();
            let made = page(text).html();
            // As many tags as with a harmless name, and no quotes that end an attribute.
            for mark in ["<", ">", "\"", "'"] {
                let [expected, found] = [&plain, &made].map(|page| page.matches(mark).count());
                assert_eq!(found, expected, "{mark} of {text}");
            }
        }
    }

    #[test]
    fn the_page_is_whole_and_needs_nothing_else() {
        let made = page("model.onnx").html();
        for part in ["Totals", "Who saw what", "The network", "What ran when"] {
            assert!(made.contains(&format!("<h2>{part}</h2>")), "{part}");
        }
        for foreign in [
            "http://", "https://", "src=", "@import", "url(", "<script", "<link",
        ] {
            assert!(!made.contains(foreign), "{foreign}");
        }
        for tag in ["table", "section", "svg", "div", "p", "ul", "main", "span"] {
            let opened = made.matches(&format!("<{tag}>")).count()
                + made.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, made.matches(&format!("</{tag}>")).count(), "{tag}");
        }
        assert!(made.contains("prefers-color-scheme: dark") && made.contains("@media print"));
    }
}
