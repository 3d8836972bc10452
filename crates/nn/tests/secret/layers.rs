//! Layers: what the model's nodes are, and which operations of a plan belong to them.

use std::collections::BTreeMap;

use madrigal_core::time::{Link, Rates};

use super::*;

fn graph() -> Graph {
    let numbers = |count: usize| -> Vec<f32> { (0..count).map(|i| i as f32 / 16.0).collect() };
    let net = Net::new(13)
        .input("x", &[2, 1, 6, 6])
        .constant("f", &[2, 1, 3, 3], &numbers(18))
        .constant("w", &[2, 32], &numbers(64))
        .node("c = Conv(x, f)")
        .node("r = Relu(c)")
        .node("h = HardSwish(r)")
        .node("s = Add(h, c)")
        .node("d = Flatten(s)")
        .node("y = Gemm(d, w)")
        .int("transB", 1)
        .output("y");
    net.import().unwrap()
}

#[test]
fn layers_are_the_models_nodes() {
    let graph = graph();
    let network = lowered(&graph, &roles(2));
    let layers = network.layers();
    let operators: Vec<&str> = layers.iter().map(|layer| &layer.operator[..]).collect();
    let expected = ["Conv", "Relu", "HardSwish", "Add", "Flatten", "Gemm"];
    assert_eq!(operators, expected);
    // Several primitive operators are one of the model's.
    assert!(graph.nodes().len() > layers.len());
    let reads: Vec<&[usize]> = layers.iter().map(|layer| &layer.reads[..]).collect();
    assert_eq!(reads, [&[][..], &[0], &[1], &[0, 2], &[3], &[4]]);
    let inputs: Vec<bool> = layers.iter().map(|layer| layer.reads_input).collect();
    assert_eq!(inputs, [true, false, false, false, false, false]);
    assert_eq!(layers[0].shape, [2, 2, 4, 4]);
    assert_eq!(layers[5].multiplications, 2 * 2 * 32);
    let shown = network.shown(&graph);
    assert_eq!(shown.to_owner, 18 + 64);
    let public = Roles {
        public_model: true,
        ..roles(2)
    };
    let public = lowered(&graph, &public).shown(&graph);
    assert_eq!((public.to_owner, public.to_all), (0, shown.to_all + 82));
}

/// Costs of layers are those of the whole, in every mix.
#[test]
fn layers_add_up_to_the_plan() {
    let graph = graph();
    let (rates, link) = (Rates::ZEN_5, Link::default());
    for (mix, parties) in [
        (Mix::AB, 2),
        (Mix::ALPHA_BETA, 2),
        (Mix::ALPHA_Y2, 2),
        (Mix::R, 3),
        (Mix::AY, 3),
    ] {
        let network = lowered(&graph, &roles(parties));
        let planned = network.program().plan(mix, None, &|_| {}).unwrap();
        let plan = &planned.plan;
        for party in Party::all(parties) {
            let groups =
                plan.group_estimates(party, &rates, &link, |at| planned.executable.part(at));
            let whole = plan.cost(party);
            let sent: u64 = groups.values().map(|group| group.online.bytes_sent).sum();
            assert_eq!(sent, whole.online.bytes_sent, "{mix}, {party}");
            let messages: u64 = groups.values().map(|group| group.online.messages).sum();
            assert_eq!(messages, whole.online.messages, "{mix}, {party}");
            let mut needs = BTreeMap::new();
            for (kind, count) in groups.values().flat_map(|group| group.needs.kinds()) {
                *needs.entry(kind.to_string()).or_insert(0) += count;
            }
            let expected = plan.needs().kinds().into_iter();
            let expected = expected.map(|(kind, count)| (kind.to_string(), count));
            assert_eq!(needs, expected.collect(), "{mix}, {party}");
            for (part, group) in &groups {
                assert!(
                    group.online.rounds <= whole.online.rounds,
                    "{mix}: {part:?}"
                );
                assert!(group.online_time.total.is_finite() && group.operations > 0);
            }
            // Moving elements costs nothing; products do.
            let conv = &groups[&Some(0)];
            assert!(conv.online_time.total > 0.0 && !conv.sharings.is_empty());
            assert!(groups.contains_key(&None));
        }
    }
}
