//! `model explain`: what a network costs on secrets before it runs, by layer and by mix of protocols.

use madrigal_app::costs::Costs;
use madrigal_app::explain::{most_memory, origin, phases, slowest};
use madrigal_app::failure::Result;
use madrigal_app::groups::{Group, groups};
use madrigal_app::numbers::{bytes, count, counted, seconds, table};
use madrigal_app::rates;
use madrigal_app::reach::Network;
use madrigal_app::ways::{AGREED, Ways};
use madrigal_core::time::{Link, Rates};
use madrigal_program::Planned;
use madrigal_program::lower::Mix;
use serde::Serialize;

use super::onnx::sizes;
use super::told::Told;
use crate::args::ModelExplain;
use crate::infer::OUTSIDE;
use crate::infer::model_program::{Asked, ModelProgram, read};

/// The answer, as JSON has it.
#[derive(Serialize)]
struct Explanation {
    /// File of the model.
    model: String,
    /// Number of parties.
    parties: usize,
    /// Inputs computed at once.
    batch: Option<usize>,
    /// Bits of a number, and how many of them are after the point.
    numbers: [u32; 2],
    /// Network, as given.
    network: String,
    /// Threads that each party is taken to compute with.
    threads: usize,
    /// Mix that `madrigal infer` takes where no protocol is named; `null` with `--protocol`.
    chosen: Option<String>,
    /// Mixes of protocols, the fastest first by an estimate at fixed rates, on which parties agree.
    mixes: Vec<Estimate>,
}

/// A network in one mix, by the party that has most of each.
#[derive(Serialize)]
struct Estimate {
    /// Mix of protocols.
    protocol: String,
    /// Origin of the correlations.
    correlations: String,
    /// Order of setup and online.
    phases: String,
    /// Cost of setup, of the party that has most of each; counts are exact.
    setup: Costs,
    /// Cost of the online phase, of the party that has most of each; counts are exact.
    online: Costs,
    /// Time of the slowest party on a machine like this one, by an estimate.
    total_seconds: f64,
    /// Time at fixed rates, by which a mix is chosen.
    agreed_seconds: f64,
    /// Memory that a party keeps at most.
    memory_bytes: usize,
    /// Layers of the model, and first what belongs to none, `inputs and results`.
    layers: Vec<Layer>,
}

/// A layer, as [`Group`] has it.
#[derive(Serialize)]
struct Layer {
    /// Node of the model.
    name: String,
    /// Operator of the node.
    operator: String,
    /// Dimensions of its result.
    shape: Vec<usize>,
    /// Sharings of its values.
    sharings: Vec<String>,
    /// Cost of its correlations made by themselves, without base OTs, and of what is prepared.
    setup: Costs,
    /// Cost online; bytes are exact, rounds and seconds those of the layer by itself.
    online: Costs,
    /// Memory for all its correlations and values, fewer of which are there at once.
    memory_bytes: u64,
}

pub(super) fn explain(args: &ModelExplain) -> Result<Told> {
    let network = Network::parse(&args.network)?;
    let made = ModelProgram::new(
        &read(&args.file, &args.sizes)?,
        &Asked {
            model: &args.file,
            parties: args.among.parties(),
            options: args.sizes.options(Some(args.batch as usize)),
            data: args.data.as_deref(),
            to: &args.to,
            public_model: args.public_model,
            number: args.numbers,
            check_range: args.check_range,
            dishonest_majority: args.dishonest_majority,
        },
    )?;
    let mut over = args.over.clone();
    over.or_network(&args.network, args.among.here());
    let threads = args.threads.resolve(args.among.on_a_machine());
    let ways = Ways {
        over: &over,
        threads,
        matrices: args.matrices,
        stored: false,
        asked: &made.asked,
    };
    let mut mixes: Vec<(Mix, Planned)> = match args.protocol {
        Some(mix) => {
            let planned = made.plan(&ways, Some(mix))?;
            vec![(planned.mix, planned)]
        }
        None => {
            let all = ways.each(made.network.program(), &made.mixes);
            let able = all.into_iter();
            let able = able.filter_map(|(mix, planned)| Some((mix, planned.ok()?)));
            able.collect()
        }
    };
    if mixes.is_empty() {
        // Why not.
        made.plan(&ways, None)?;
    }
    // As it is chosen in a run; of equal ones the first stays the first.
    mixes.sort_by(|(_, a), (_, b)| a.seconds_at(&AGREED).total_cmp(&b.seconds_at(&AGREED)));
    let chosen = mixes.first().map(|(mix, _)| mix.to_string());
    let chosen = chosen.filter(|_| args.protocol.is_none());
    let link = match network.profile {
        Some(_) => network.link(),
        None => over.line(),
    };
    // Not by a trial of each plan's correlations: between matrices as small as a trial has them, messages count most.
    let rates = rates::measure(None)?;
    let estimates = mixes.iter();
    let estimates =
        estimates.map(|(mix, planned)| Estimate::new(*mix, &made, planned, &rates, &link));
    let explanation = Explanation {
        model: args.file.display().to_string(),
        parties: args.among.parties(),
        batch: made.batch(),
        numbers: [made.number.bits(), made.number.fraction()],
        network: args.network.clone(),
        threads,
        chosen,
        mixes: estimates.collect(),
    };
    Told::new(explanation.text(), &explanation)
}

impl Layer {
    /// Makes the figures of a layer, or, where none is named, of what belongs to no layer.
    fn new(of: Option<&madrigal_nn::secret::Layer>, group: Group) -> Self {
        Self {
            name: of.map_or(OUTSIDE, |layer| &layer.name).to_owned(),
            operator: of.map_or("", |layer| &layer.operator).to_owned(),
            shape: of.map_or_else(Vec::new, |layer| layer.shape.clone()),
            sharings: group.sharings,
            setup: group.setup,
            online: group.online,
            memory_bytes: group.memory_bytes,
        }
    }
}

impl Estimate {
    fn new(mix: Mix, made: &ModelProgram, planned: &Planned, rates: &Rates, link: &Link) -> Self {
        let plan = &planned.plan;
        let [setup, online] = phases(plan, rates, link);
        let groups = groups(planned, rates, link);
        // One that only reads elements elsewhere has no operation.
        let group = |part: Option<u32>| {
            let found = groups.iter().find(|group| group.part == part);
            found.cloned().unwrap_or_default()
        };
        let own = (0..).zip(made.network.layers());
        let own = own.map(|(part, of)| Layer::new(Some(of), group(Some(part))));
        Self {
            protocol: mix.to_string(),
            correlations: origin(plan),
            phases: plan.phases().to_string(),
            setup,
            online,
            total_seconds: slowest(plan, rates, link),
            agreed_seconds: planned.seconds_at(&AGREED),
            memory_bytes: most_memory(plan),
            layers: std::iter::once(Layer::new(None, group(None)))
                .chain(own)
                .collect(),
        }
    }

    /// Layer by layer.
    fn text(&self) -> String {
        let phase = |name: &str, costs: &Costs| {
            format!(
                "{name}: about {}, {} sent by the party that sends most, {}\n",
                costs.seconds.map_or_else(String::new, seconds),
                bytes(costs.bytes_sent),
                counted(costs.rounds, "round"),
            )
        };
        let mut layers = table(&[
            "layer",
            "operator",
            "result",
            "shared in",
            "setup",
            "sends in setup",
            "online",
            "sends online",
            "rounds",
            "memory",
        ]);
        for layer in &self.layers {
            let time = |costs: &Costs| costs.seconds.map_or_else(String::new, seconds);
            layers.add_row([
                layer.name.clone(),
                layer.operator.clone(),
                match &layer.shape[..] {
                    [] => String::new(),
                    shape => sizes(shape),
                },
                layer.sharings.join(", "),
                time(&layer.setup),
                bytes(layer.setup.bytes_sent),
                time(&layer.online),
                bytes(layer.online.bytes_sent),
                count(layer.online.rounds),
                bytes(layer.memory_bytes),
            ]);
        }
        format!(
            "Correlations {}, phases {}.\n{}{}together: about {}, at most {} of memory\n\n{layers}\n\n\
             The totals' bytes and rounds are exact, as are a layer's bytes online. What a layer costs in setup is that\n\
             of its correlations made by themselves, without base OTs; its rounds and times are its own, and layers\n\
             side by side share them; its memory is that of all its correlations and values, fewer of which are there at\n\
             once. Bits after the point are cut off for the layer that reads a number. Times are estimates for machines\n\
             like this one.\n",
            self.correlations,
            self.phases,
            phase("setup", &self.setup),
            phase("online", &self.online),
            seconds(self.total_seconds),
            bytes(self.memory_bytes as u64),
        )
    }
}

impl Explanation {
    fn text(&self) -> String {
        let [bits, fraction] = self.numbers;
        let batch = self
            .batch
            .map_or_else(String::new, |batch| format!(", batch {batch}"));
        let head = format!(
            "{}: {} parties of {} each{batch}, numbers {bits}.{fraction}, network {}",
            self.model,
            self.parties,
            counted(self.threads as u64, "thread"),
            self.network,
        );
        let (None, [one]) = (&self.chosen, &self.mixes[..]) else {
            return format!("{head}\n\n{}", self.compared());
        };
        format!("{head}, protocol {}\n{}", one.protocol, one.text())
    }

    fn compared(&self) -> String {
        let mut mixes = table(&[
            "protocol",
            "agreed",
            "here",
            "setup",
            "sends in setup",
            "online",
            "sends online",
            "rounds",
            "memory",
        ]);
        for one in &self.mixes {
            let time = |costs: &Costs| costs.seconds.map_or_else(String::new, seconds);
            mixes.add_row([
                one.protocol.clone(),
                seconds(one.agreed_seconds),
                seconds(one.total_seconds),
                time(&one.setup),
                bytes(one.setup.bytes_sent),
                time(&one.online),
                bytes(one.online.bytes_sent),
                count(one.setup.rounds + one.online.rounds),
                bytes(one.memory_bytes as u64),
            ]);
        }
        format!(
            "{mixes}\n\n\
             The first is what `madrigal infer` takes without --protocol: that with the least of the agreed times,\n\
             estimates at fixed rates, which are the same at all parties. All other times are estimates for machines\n\
             like this one; bytes and rounds are exact. `--protocol MIX` tells the cost layer by layer.\n"
        )
    }
}
