//! Models on secrets: what they mean against the model in the clear, and runs by all parties.

mod comparisons;
mod guards;
mod integers;
mod layers;
mod masks;
mod operators;
mod quotients;
mod runs;

use madrigal_circuit::Goal;
use madrigal_core::Party;
use madrigal_nn::secret::{Format, Network, Roles};
use madrigal_nn::{Graph, Limits, Model, Options, Tensor, npy};
use madrigal_program::lower::Mix;
use madrigal_program::{Inputs, Rounding, Type};
use madrigal_testkit::shared_data;

use crate::common::{Net, Random, tensor};

pub(super) const FORMAT: Format = Format {
    number: match Type::fixed(64, 16) {
        Some(number) => number,
        None => panic!("a type"),
    },
    rounding: Rounding::Exact,
};

/// The first owns the model, the second the data and the results.
pub(super) fn roles(parties: usize) -> Roles {
    Roles {
        parties,
        model: Party::new(0),
        data: Party::new(1).into(),
        to: vec![Party::new(1).into()],
        public_model: false,
    }
}

pub(super) fn lowered(graph: &Graph, roles: &Roles) -> Network {
    match graph.on_secrets(roles, FORMAT) {
        Ok(network) => network,
        Err(error) => panic!("{error}"),
    }
}

pub(super) fn given(network: &Network, graph: &Graph, data: &[Tensor]) -> Inputs {
    let inputs = network.with_weights(graph, Inputs::new()).unwrap();
    network.with_data(data, inputs).unwrap()
}

/// Gives the meaning of the program, without running it.
pub(super) fn meant(graph: &Graph, data: &[Tensor]) -> Vec<Tensor> {
    let network = lowered(graph, &roles(2));
    let outputs = network.program().simulate(&given(&network, graph, data));
    let results = network.results(&outputs.unwrap());
    results.into_iter().map(|(_, one)| one.unwrap()).collect()
}

/// Gives the results that all parties compute, of which the second one learns them, at the declared cost.
pub(super) fn computed(graph: &Graph, data: &[Tensor], mix: Mix, parties: usize) -> Vec<Tensor> {
    let network = lowered(graph, &roles(parties));
    let planned = network.program().plan(mix, Some(Goal::Size), &|_| {});
    let planned = planned.unwrap_or_else(|error| panic!("{mix}: {error}"));
    let inputs = given(&network, graph, data);
    let ended = planned.run_locally(network.program(), &inputs).unwrap();
    for (me, one) in Party::all(parties).zip(&ended) {
        let spent = [one.outcome.setup.spent, one.outcome.online.spent];
        let cost = planned.plan.cost(me);
        assert_eq!(spent, [cost.setup, cost.online], "{me} in {mix}");
        let known = network.results(&one.outputs);
        assert!(
            known
                .iter()
                .all(|(_, one)| one.is_some() == (me.index() == 1))
        );
    }
    let results = network.results(&ended[1].outputs);
    results.into_iter().map(|(_, one)| one.unwrap()).collect()
}

/// Tensors of the same shapes whose numbers differ by `bound` at most; of integers and truth values not at all.
#[track_caller]
pub(super) fn close(found: &[Tensor], expected: &[Tensor], bound: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found.shape(), expected.shape(), "{what}");
        assert_eq!(found.element(), expected.element(), "{what}");
        let bound = if found.element().is_float() {
            bound
        } else {
            0.0
        };
        let pairs = found.to_f64().into_iter().zip(expected.to_f64());
        for (place, (a, b)) in pairs.enumerate() {
            assert!((a - b).abs() <= bound, "{what}, {place}: {a}, not {b}");
        }
    }
}

/// A model of one node on `x` of a shape, whose other operands are weights.
pub(super) fn on_x(shape: &[i64], text: &str) -> Net {
    Net::new(18).input("x", shape).node(text)
}

/// Random data for a model.
pub(super) fn floats_for(graph: &Graph, random: &mut Random) -> Vec<Tensor> {
    let inputs = graph.inputs().iter();
    inputs
        .map(|(_, id)| random.tensor(&graph.value(*id).ty.shape))
        .collect()
}
