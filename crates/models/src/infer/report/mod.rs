//! A page that tells of a run: one file of HTML that needs nothing else, and no scripts.

mod lanes;
mod network;
mod page;
mod seen;
mod timeline;

use std::path::Path;

use madrigal_app::explain::origin;
use madrigal_app::numbers::{count, counted};
use madrigal_core::{Party, Phase};
use madrigal_program::Ended;

use super::layers::LayerFigures;
use super::planned::PlannedRun;
use crate::args::Infer;
use network::Layer;
use page::{Page, Spent};
use seen::Scene;
use timeline::{Bar, Timeline};

/// The most layers that are named as those that one reads.
const NAMED: usize = 3;

/// A run that has ended.
pub(crate) struct ReportedRun<'a> {
    pub(crate) args: &'a Infer,
    pub(crate) work: &'a PlannedRun,
    pub(crate) done: &'a [(Party, Ended)],
    /// The layers in order, and at the end what belongs to none.
    pub(crate) layers: &'a [LayerFigures],
}

/// The page.
pub(crate) fn page(run: &ReportedRun<'_>) -> String {
    Page {
        title: run.title(),
        facts: run.facts(),
        spent: run.spent(),
        checked: run.checked(),
        layers: run.layers(),
        timelines: run.timelines(),
        scene: run.scene(),
    }
    .html()
}

impl ReportedRun<'_> {
    fn title(&self) -> String {
        let file = self.args.model.file_name().map(Path::new);
        file.map_or_else(String::new, |file| file.display().to_string())
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let PlannedRun { made, planned, .. } = self.work;
        let counted_in = made.graph.count();
        let (bits, fraction) = (made.number.bits(), made.number.fraction());
        // Half of the range is below 0.
        let most = 2_f64.powi(bits as i32 - 1 - fraction as i32);
        let chosen = match self.args.protocol {
            None => " (the fastest by an estimate)",
            Some(_) => "",
        };
        let network = match &self.args.net.network[..] {
            "none" => "as it is".to_owned(),
            shaped => format!("made to behave like {shaped}"),
        };
        let check = match self.args.check_range {
            true => "one bit was opened to all parties: no number has left its range",
            false => "none (--check-range)",
        };
        vec![
            ("protocol", format!("{}{chosen}", self.work.planned.mix)),
            (
                "numbers",
                format!(
                    "{bits} bits, {fraction} of them after the point: from −{most:.1e} to {most:.1e} in steps of {:.1e}",
                    2_f64.powi(-(fraction as i32))
                ),
            ),
            (
                "inputs at once",
                made.batch()
                    .map_or_else(String::new, |batch| count(batch as u64)),
            ),
            ("parameters", count(counted_in.parameters)),
            ("multiplications", count(counted_in.multiplications)),
            ("correlations", origin(&planned.plan)),
            ("phases", planned.plan.phases().to_string()),
            (
                "threads of each party",
                self.work.planned.plan.spec().threads.to_string(),
            ),
            ("network", network),
            ("check of ranges", check.to_owned()),
            ("madrigal", env!("CARGO_PKG_VERSION").to_owned()),
        ]
    }

    fn spent(&self) -> Vec<Spent> {
        let of = |(party, ended): &(Party, Ended)| {
            let outcome = &ended.outcome;
            [("setup", &outcome.setup), ("online", &outcome.online)].map(|(phase, report)| Spent {
                party: party.index(),
                phase,
                seconds: report.time.as_secs_f64(),
                cost: report.spent,
            })
        };
        self.done.iter().flat_map(of).collect()
    }

    /// Whether the counters came to what the plan said.
    fn checked(&self) -> String {
        let plan = &self.work.planned.plan;
        let differs = |(party, ended): &&(Party, Ended)| {
            let planned = plan.cost(*party);
            let spent = [&ended.outcome.setup, &ended.outcome.online].map(|report| report.spent);
            Phase::ALL.map(|phase| planned.phase(phase).bytes_sent)
                != spent.map(|cost| cost.bytes_sent)
        };
        let differing = self.done.iter().filter(differs).count();
        match differing {
            0 => "Bytes of layers are those of the plan; the counters of this run came to exactly the plan's sums."
                .to_owned(),
            parties => format!(
                "Bytes of layers are those of the plan; the counters of {} came to other sums.",
                counted(parties as u64, "party").replace("partys", "parties")
            ),
        }
    }

    /// Lists the layers, behind what belongs to none: that stands for the inputs.
    fn layers(&self) -> Vec<Layer> {
        let Some((outside, layers)) = self.layers.split_last() else {
            return Vec::new();
        };
        let made = self.work.made.network.layers().iter();
        let layer = |(of, one): (&madrigal_nn::secret::Layer, &LayerFigures)| {
            let input = of.reads_input.then_some(0);
            Layer {
                shape: of.shape.clone(),
                reads: input
                    .into_iter()
                    .chain(of.reads.iter().map(|read| read + 1))
                    .collect(),
                figures: one.clone(),
            }
        };
        let layers = made.zip(layers).map(layer);
        let outside = Layer {
            figures: outside.clone(),
            ..Layer::default()
        };
        std::iter::once(outside).chain(layers).collect()
    }

    fn timelines(&self) -> Vec<Timeline> {
        let all = self.work.made.network.layers();
        let parties = self.work.made.roles.parties;
        let reads = |figures: &LayerFigures| {
            let own = figures.part.and_then(|part| all.get(part));
            let reads = own.iter().flat_map(|layer| &layer.reads);
            let names: Vec<&str> = reads.take(NAMED).map(|&read| &all[read].name[..]).collect();
            names.join(", ")
        };
        let of = |(party, ended): &(Party, Ended)| {
            let outcome = &ended.outcome;
            let tasks = outcome.tasks.iter();
            let from = tasks.clone().map(|task| task.ready).min();
            let to = tasks.clone().map(|task| task.ended).max();
            let spans = self.layers.iter().flat_map(|layer| {
                let own = layer.spans.iter().filter(|(of, _)| of == party);
                own.flat_map(move |(_, spans)| spans.iter().map(move |span| (layer, span)))
            });
            let bars = spans.map(|(layer, (from, to))| Bar {
                name: layer.name.clone(),
                operator: layer.operator.clone(),
                reads: reads(layer),
                from: from.as_secs_f64(),
                to: to.as_secs_f64(),
            });
            Timeline {
                party: party.index(),
                others: match parties {
                    2 => format!("party {}", 1 - party.index()),
                    _ => "other parties".to_owned(),
                },
                agreed: outcome.agreed.as_secs_f64(),
                setup: outcome.setup.time.as_secs_f64(),
                online: [from, to].map(|time| time.unwrap_or_default().as_secs_f64()),
                worked: tasks.map(|task| task.worked.as_secs_f64()).sum(),
                threads: self.work.planned.plan.spec().threads,
                total: outcome.total.as_secs_f64(),
                bars: bars.collect(),
            }
        };
        self.done.iter().map(of).collect()
    }

    pub(crate) fn scene(&self) -> Scene {
        let PlannedRun { made, planned, .. } = self.work;
        let mix = planned.mix;
        let (roles, shown) = (&made.roles, made.network.shown(&made.graph));
        Scene {
            parties: roles.parties,
            model: roles.model.index(),
            data: roles.data.clone(),
            to: roles.to.clone(),
            public_model: roles.public_model,
            shown: [shown.to_all, shown.to_owner],
            trained: made.graph.trained(),
            sharings: [mix.arithmetic(), mix.bits()],
            transport: self.work.transport,
            local: self.work.local,
            me: match (self.work.local, self.done) {
                (false, [(me, _)]) => Some(me.index()),
                _ => None,
            },
        }
    }
}
