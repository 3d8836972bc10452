//! The conversion against its plain version, its bill, wrong inputs and faults, by Madrigal's own check.

use std::sync::Arc;

use madrigal::engine::operations::{ArithmeticGmwTool, ReplicatedTool, Rings};
use madrigal::engine::{Element, Sort, Width};
use madrigal_opcheck::{Case, Check};
use own_operation::gray::FromGray;

/// Codes of so many bits.
fn case<P: Rings>(width: Width, bits: usize, len: usize) -> Case {
    Case {
        operation: Arc::new(FromGray::<P>::new(width)),
        inputs: vec![Sort::new(P::BITS, Element::Bits(bits), len)],
    }
}

#[test]
fn among_any_parties() {
    Check::new(|_, len| case::<ArithmeticGmwTool>(Width::W32, 13, len)).run();
}

#[test]
fn among_three_servers() {
    let check = Check::new(|_, len| case::<ReplicatedTool>(Width::W64, 64, len));
    check.among(&[3]).run();
}
