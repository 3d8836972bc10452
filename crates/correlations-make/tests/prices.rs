//! What correlations are said to take of a core, beside what is exact of them.

use madrigal_core::Party;
use madrigal_core::time::Rates;
use madrigal_correlations::{Kind, Needs, Width};
use madrigal_correlations_make::{Extension, OtCosts, SupplyCosts};

fn seconds(kind: Kind, count: usize) -> f64 {
    let mut needs = Needs::new();
    needs.add(kind, count);
    let costs = OtCosts::new(Extension::default(), Party::new(0), 2);
    let work = SupplyCosts::Ot(costs).work(&needs);
    work.seconds(&Rates::ZEN_5)
}

/// It was priced as an OT for each of its bits, so that mixes with many of them seemed many times as slow as they are.
#[test]
fn a_shared_bit_takes_one_ot_whatever_its_width() {
    const COUNT: usize = 1 << 20;
    let triple = seconds(Kind::BitTriples, COUNT);
    let [short, long] = [Width::W32, Width::W64].map(|width| {
        let bits = seconds(Kind::SharedBits(width), COUNT);
        assert!((1.0..8.0).contains(&(bits / triple)), "{bits} {triple}");
        bits
    });
    assert_eq!(short, long);
    // A product of numbers does take one for each.
    let product = seconds(Kind::RingTriples(Width::W64), COUNT);
    assert!(product > 30.0 * triple, "{product} {triple}");
}
