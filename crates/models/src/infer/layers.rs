//! Costs of each layer of a network in a run, and the times when it was at work.

use std::time::Duration;

use madrigal_app::groups::groups;
use madrigal_core::Party;
use madrigal_core::time::Rates;
use madrigal_program::{Ended, Planned};
use serde::Serialize;

/// A layer in a run, by the party here that has most of each.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct LayerFigures {
    /// The layer, unless it is what belongs to none.
    #[serde(skip)]
    pub(crate) part: Option<usize>,
    /// Node of the model.
    pub(crate) name: String,
    /// Operator of the node.
    pub(crate) operator: String,
    /// Sharings of its values.
    pub(crate) sharings: Vec<String>,
    /// Payload of its correlations and of what is prepared, by the party that sends most, as planned.
    pub(crate) setup_bytes_sent: u64,
    /// Payload online, by the party that sends most, as planned, which is what the counters of a run come to.
    pub(crate) online_bytes_sent: u64,
    /// Rounds of its longest chain of messages online.
    pub(crate) rounds: u64,
    /// Time while something of the layer was under way, waiting included, at the party here that took longest;
    /// measured.
    pub(crate) online_seconds: f64,
    /// Time of that which was spent computing, on all threads together; measured.
    pub(crate) worked_seconds: f64,
    /// When it was under way at each party here.
    #[serde(skip)]
    pub(crate) spans: Vec<(Party, Vec<Span>)>,
}

/// From when until when, since the job began.
pub(crate) type Span = (Duration, Duration);

/// The sharing of the data and the opening of the results.
pub(crate) const OUTSIDE: &str = "inputs and results";

/// All layers in order, and at the end what belongs to none of them. `layers` has their names and operators.
pub(crate) fn layers(
    layers: &[(String, String)],
    planned: &Planned,
    done: &[(Party, Ended)],
) -> Vec<LayerFigures> {
    let outside = (OUTSIDE.to_owned(), String::new());
    let names = layers.iter().chain([&outside]);
    let mut made: Vec<LayerFigures> = names
        .enumerate()
        .map(|(at, (name, operator))| LayerFigures {
            part: Some(at).filter(|at| *at < layers.len()),
            name: name.clone(),
            operator: operator.clone(),
            ..LayerFigures::default()
        })
        .collect();
    let last = layers.len();
    let place = |part: Option<u32>| part.map_or(last, |part| (part as usize).min(last));
    // Rates and line are of no matter to what is taken here.
    for group in groups(planned, &Rates::ZEN_5, &planned.plan.spec().line) {
        let layer = &mut made[place(group.part)];
        layer.sharings = group.sharings;
        layer.setup_bytes_sent = group.setup.bytes_sent;
        layer.online_bytes_sent = group.online.bytes_sent;
        layer.rounds = group.online.rounds;
    }
    for (party, ended) in done {
        let mut spans: Vec<Vec<Span>> = vec![Vec::new(); made.len()];
        let mut worked = vec![Duration::ZERO; made.len()];
        for task in &ended.outcome.tasks {
            let at = place(planned.executable.part(task.operation));
            spans[at].push((task.ready, task.ended));
            worked[at] += task.worked;
        }
        for ((layer, spans), worked) in made.iter_mut().zip(spans).zip(worked) {
            let spans = union(spans);
            let all: Duration = spans
                .iter()
                .map(|(from, to)| to.saturating_sub(*from))
                .sum();
            layer.online_seconds = layer.online_seconds.max(all.as_secs_f64());
            layer.worked_seconds = layer.worked_seconds.max(worked.as_secs_f64());
            layer.spans.push((*party, spans));
        }
    }
    made
}

/// Joins times that overlap, and puts them in order.
fn union(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    let mut joined: Vec<Span> = Vec::new();
    for (from, to) in spans {
        match joined.last_mut() {
            Some((_, end)) if *end >= from => *end = (*end).max(to),
            _ => joined.push((from, to)),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_overlap_count_once() {
        let spans = [(5, 7), (0, 2), (1, 3), (3, 4), (6, 6)];
        let seconds = |(from, to)| (Duration::from_secs(from), Duration::from_secs(to));
        let joined = union(spans.map(seconds).into());
        assert_eq!(joined, [(0, 4), (5, 7)].map(seconds));
        assert!(union(Vec::new()).is_empty());
    }
}
