//! The operation against its plain version, its bill, wrong inputs and faults, by Madrigal's own check.

use std::sync::Arc;

use madrigal::Party;
use madrigal::engine::operations::{ArithmeticGmwTool, ReplicatedTool, Rings};
use madrigal::engine::{Element, Sharing, Sort, Width};
use madrigal_opcheck::{Case, Check};
use own_operation::MultiplyKnown;

/// Numbers of this width, which the second party knows.
fn case<P: Rings>(width: Width, len: usize) -> Case {
    let owner = Party::new(1);
    Case {
        operation: Arc::new(MultiplyKnown::<P>::new(owner)),
        inputs: vec![
            Sort::new(P::BITS, Element::Bits(1), len),
            Sort::new(Sharing::clear(&[owner]), Element::Ring(width), len),
        ],
    }
}

#[test]
fn among_any_parties() {
    for width in [Width::W8, Width::W64] {
        Check::new(move |_, len| case::<ArithmeticGmwTool>(width, len)).run();
    }
}

#[test]
fn among_three_servers() {
    let check = Check::new(|_, len| case::<ReplicatedTool>(Width::W32, len));
    check.among(&[3]).run();
}
