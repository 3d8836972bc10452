//! Shares dealt and combined: every element, number of parties and length; what each party's share tells.

use madrigal_correlations::Width;
use madrigal_kernels::Block;

use super::*;
use crate::backend::Backend;

const LENGTHS: [usize; 8] = [0, 1, 7, 63, 64, 65, 129, 10_001];

/// The sharings that values are kept in, with the numbers of parties that are tried.
const KEPT: [(Sharing, &[usize]); 3] = [
    (Sharing::A, &[2, 3, 5]),
    (Sharing::B, &[2, 3, 5]),
    (Sharing::R, &[3]),
];

fn keeping(sharing: Sharing) -> &'static Keeping {
    &Backend::of(sharing).kept
}

fn generator(seed: u64) -> Prg {
    Prg::numbered(Block::new(seed, 1), 1)
}

/// Elements that a sharing has.
fn elements(sharing: Sharing) -> Vec<Element> {
    let rings = Width::ALL.map(Element::Ring);
    let bits = [0, 1, 2, 8, 16, 31, 32, 64, 128].map(Element::Bits);
    match sharing {
        Sharing::A => rings.to_vec(),
        Sharing::B => bits.to_vec(),
        _ => rings.into_iter().chain(bits).collect(),
    }
}

/// The least, the greatest, the ends of the signed range, and whatever `seed` gives.
fn values(element: Element, len: usize, seed: u64) -> Shares {
    let sort = Sort::new(Sharing::PUBLIC, element, len);
    let mut rng = generator(seed);
    match element {
        Element::Bits(_) => {
            let mut bits = random_bits(sort, &mut rng);
            let ends = [0x00, 0xff, 0x80, 0x7f];
            for plane in 0..element.bits() {
                for (byte, end) in bits.plane_mut(plane, 0).iter_mut().zip(ends) {
                    *byte = end;
                }
            }
            clear_padding(&mut bits);
            bits
        }
        Element::Ring(width) => with_ring!(width, T => {
            let mut numbers = random_numbers::<T>(len, &mut rng);
            let ends = [0, T::MAX, 1 << (T::BITS - 1), T::MAX >> 1];
            for (number, end) in numbers.component_mut::<T>(0).iter_mut().zip(ends) {
                *number = end;
            }
            numbers
        }),
    }
}

fn same(one: &Shares, other: &Shares) -> bool {
    one.sort() == other.sort()
        && (0..one.sort().sharing.components())
            .all(|part| difference(&component_of(one, part), &component_of(other, part)).is_none())
}

fn each(check: impl Fn(&Keeping, Element, usize, usize)) {
    for (sharing, numbers) in KEPT {
        for element in elements(sharing) {
            for &parties in numbers {
                for len in LENGTHS {
                    check(keeping(sharing), element, parties, len);
                }
            }
        }
    }
}

#[test]
fn what_is_dealt_combines_to_the_value() {
    each(|keeping, element, parties, len| {
        let value = values(element, len, 1);
        let shares = keeping.deal(&value, parties, &mut generator(2));
        assert_eq!(shares.len(), parties);
        for (party, share) in Party::all(parties).zip(&shares) {
            let sort = Sort::new(keeping.sharing, element, len);
            assert_eq!(share.sort(), &sort, "{party}");
            assert_eq!(
                share.sort().sharing.components(),
                keeping.parts.held_by(party, parties).len()
            );
        }
        for share in shares
            .iter()
            .filter(|_| matches!(element, Element::Bits(_)))
        {
            let mut clean = share.clone();
            clear_padding(&mut clean);
            assert!(share.words() == clean.words(), "padding is zero");
        }
        let combined = keeping.combine(&shares).unwrap();
        assert!(same(&combined, &value), "{value:?} of {parties}");
    });
}

/// For any two values and the same draws the shares of all parties coincide but for those that hold one part, whichever
/// part that is: these parties know nothing of the value.
#[test]
fn shares_without_one_part_do_not_depend_on_the_value() {
    each(|keeping, element, parties, len| {
        let all = values(element, len, 3);
        let none = Shares::zeros(*all.sort());
        for rest in 0..keeping.parts.count(parties) {
            let deal = |value| keeping.deal_around(value, parties, rest, &mut generator(4));
            let (of_all, of_none) = (deal(&all), deal(&none));
            let (mut blind, mut see) = (0, 0);
            for party in Party::all(parties) {
                let i = party.index();
                match keeping.parts.held_by(party, parties).contains(&rest) {
                    false => {
                        assert!(
                            same(&of_all[i], &of_none[i]),
                            "{party} of {parties}, {element}"
                        );
                        blind += 1;
                    }
                    true => see += usize::from(!same(&of_all[i], &of_none[i])),
                }
            }
            let holders = keeping.parts.holders(rest, parties).len();
            assert_eq!(blind, parties - holders);
            let differ = len > 0 && element.bits() > 0;
            assert!(
                !differ || same(&all, &none) || see == holders,
                "the part has the value"
            );
        }
    });
}

/// Each byte value comes about as often in each party's share, whatever the value is: the statistic is chi squared with
/// 255 degrees of freedom, whose mean is 255 and whose deviation is 22.6.
#[test]
fn each_share_is_uniform() {
    const LEN: usize = 50_000;
    for (sharing, numbers) in KEPT {
        let element = match sharing {
            Sharing::B => Element::Bits(8),
            _ => Element::Ring(Width::W8),
        };
        for &parties in numbers {
            for fill in [0u8, 0xff] {
                let value = match element {
                    Element::Bits(_) => Shares::bits_of(Sharing::PUBLIC, 8, &[fill; LEN]),
                    Element::Ring(_) => Shares::ring_of(Sharing::PUBLIC, vec![fill; LEN]),
                };
                let shares = keeping(sharing).deal(&value, parties, &mut generator(5));
                for share in &shares {
                    for component in 0..sharing.components() {
                        let part = component_of(share, component);
                        let mut counts = [0u32; 256];
                        let bytes = match element {
                            Element::Bits(_) => part.to_numbers::<u8>().unwrap().to_vec(),
                            Element::Ring(_) => part.component::<u8>(0).to_vec(),
                        };
                        bytes
                            .iter()
                            .for_each(|&byte| counts[usize::from(byte)] += 1);
                        let mean = LEN as f64 / 256.0;
                        let square = |&count: &u32| (f64::from(count) - mean).powi(2) / mean;
                        let statistic: f64 = counts.iter().map(square).sum();
                        assert!(
                            (165.0..345.0).contains(&statistic),
                            "{share:?}: {statistic}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn copies_that_differ_are_named() {
    for element in elements(Sharing::R) {
        let len = 100;
        if element.bits() == 0 {
            continue;
        }
        let value = values(element, len, 6);
        let shares = keeping(Sharing::R).deal(&value, 3, &mut generator(7));
        for liar in 0..3 {
            for component in 0..2 {
                let mut wrong = shares.clone();
                match element {
                    Element::Bits(planes) => {
                        wrong[liar].plane_mut(planes - 1, component)[12] ^= 0b1000
                    }
                    Element::Ring(width) => with_ring!(width, T => {
                        let numbers = wrong[liar].component_mut::<T>(component);
                        numbers[99] = madrigal_core::Ring::add(numbers[99], 1);
                    }),
                }
                let error = keeping(Sharing::R).combine(&wrong).unwrap_err();
                let CombineError::Copies {
                    part,
                    first,
                    second,
                    element,
                } = error
                else {
                    panic!("{error}");
                };
                assert_eq!((part, element), ((liar + component) % 3, 99));
                assert!([first.index(), second.index()].contains(&liar));
            }
        }
    }
}

#[test]
fn shares_that_do_not_go_together_are_refused() {
    let value = values(Element::Ring(Width::W32), 5, 8);
    let deal = |sharing, parties| keeping(sharing).deal(&value, parties, &mut generator(9));
    let wrong = |sharing, shares: &[Shares]| keeping(sharing).combine(shares).unwrap_err();
    assert!(matches!(
        wrong(Sharing::A, &[]),
        CombineError::Count { got: 0, .. }
    ));
    assert!(matches!(
        wrong(Sharing::A, &deal(Sharing::A, 2)[..1]),
        CombineError::Count { got: 1, .. }
    ));
    assert!(matches!(
        wrong(Sharing::R, &deal(Sharing::R, 3)[..2]),
        CombineError::Count { got: 2, .. }
    ));
    let mut shorter = deal(Sharing::A, 3);
    shorter[2] = shorter[2].slice(0..4);
    let error = wrong(Sharing::A, &shorter);
    assert!(
        matches!(&error, CombineError::Sort { party, .. } if party.index() == 2),
        "{error}"
    );
    assert!(matches!(
        wrong(Sharing::R, &deal(Sharing::A, 3)),
        CombineError::Sort { .. }
    ));
}

/// In A and B any parts are a sharing of some value: whoever deals cannot do so wrongly.
#[test]
fn any_parts_are_a_sharing_where_each_is_there_once() {
    for sharing in [Sharing::A, Sharing::B] {
        for element in elements(sharing) {
            let any: Vec<Shares> = (0..3)
                .map(|i| values(element, 65, 10 + i).as_shared(sharing))
                .collect();
            keeping(sharing).combine(&any).unwrap();
        }
    }
}
