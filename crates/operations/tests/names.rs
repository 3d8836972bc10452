//! Names of operations where parties compare what they do.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::sync::Arc;

use madrigal_circuit::Builder;
use madrigal_core::Party;
use madrigal_engine::{Operation, Width};
use madrigal_operations::{
    AlphaTool, ArithmeticGmwTool, Circuit, ComposeLabels, Constant, Garbling, HalfGates, Netlist,
    Open, Share, SplitLabels, ThreeHalves, ToLabels, YaoTool,
};

/// Every operation that makes or reads garbled circuits of two parties.
fn operations<G: Garbling>() -> Vec<(&'static str, Arc<dyn Operation>)> {
    let mut builder = Builder::new("and");
    let [a, b] = [builder.input(1), builder.input(1)];
    let and = builder.and(a[0], b[0]);
    builder.output(&[and]);
    let circuit = Arc::new(Circuit::new(&builder.finish()));
    let party = Party::new(0);
    vec![
        ("share", Arc::new(Share::<YaoTool<G>>::new(party))),
        ("constant", Arc::new(Constant::<YaoTool<G>>::new())),
        ("open", Arc::new(Open::<YaoTool<G>>::new(vec![party]))),
        ("netlist", Arc::new(Netlist::<YaoTool<G>>::new(circuit, 1))),
        ("to labels", Arc::new(ToLabels::<G>::new())),
        (
            "split labels, A",
            Arc::new(SplitLabels::<ArithmeticGmwTool, G>::new(false)),
        ),
        (
            "split labels, alpha",
            Arc::new(SplitLabels::<AlphaTool, G>::new(true)),
        ),
        (
            "compose labels",
            Arc::new(ComposeLabels::<G>::new(Width::W32, true)),
        ),
    ]
}

/// Parties that garble by two schemes would send each other tables and labels that the other cannot read: the names are
/// what they compare before.
#[test]
fn operations_on_garbled_circuits_name_the_scheme() {
    let two = operations::<HalfGates>();
    for ((what, halves), (_, thirds)) in two.into_iter().zip(operations::<ThreeHalves>()) {
        assert_ne!(halves.name(), thirds.name(), "{what}");
    }
}
