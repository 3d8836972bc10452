//! Tables of columns in R, and in B and A of two parties: sorted by keys of several kinds, and shuffled.
#![allow(clippy::unwrap_used)] // helpers of tests

use std::sync::Arc;

use madrigal_core::Party;
use madrigal_engine::{Element, Operation, Origin, PlanSpec, Shares, Sharing, Sort, Value, Width};
use madrigal_operations::{
    ArithmeticGmwTool, BooleanGmwTool, Depth, KeyOrder, PlaceRows, PlaceTable, ReplicatedTool,
    ShuffleRows, ShuffleTable, SortRows, SortTable,
};
use madrigal_testkit::seed;
use madrigal_testkit::transcripts::must_agree;

use crate::programs::{Built, check, check_all};
use crate::transcripts::ones_of_values;

const ORDERS: [KeyOrder; 4] = [
    KeyOrder {
        signed: false,
        descending: false,
    },
    KeyOrder {
        signed: true,
        descending: true,
    },
    KeyOrder {
        signed: true,
        descending: false,
    },
    KeyOrder {
        signed: false,
        descending: true,
    },
];

/// A table with keys of few and many bits, of which the first ones are often equal, and columns of bits and numbers, long ones among them.
fn table(built: &mut Built, rows: usize) -> Vec<madrigal_engine::Value> {
    let keys = [1, 2, 5, 66].map(|bits| built.bits::<ReplicatedTool>(bits, rows));
    let bits = [1, 8, 130, 300].map(|bits| built.bits::<ReplicatedTool>(bits, rows));
    let numbers =
        [Width::W8, Width::W64, Width::W128].map(|width| built.ring::<ReplicatedTool>(width, rows));
    [&keys[..], &bits, &numbers].concat()
}

#[test]
fn rows_are_sorted_by_several_keys() {
    let seed = seed();
    for (rows, depth) in [
        (0, None),
        (1, None),
        (2, Some(Depth::Ripple)),
        (100, None),
        (400, Some(Depth::Tree)),
    ] {
        let mut built = Built::new(3, seed);
        let table = table(&mut built, rows);
        let sort = Arc::new(SortRows::new(ORDERS, depth));
        for value in built.graph.add(sort, &table).unwrap() {
            built.open_to_all::<ReplicatedTool>(value);
        }
        check(&built, built.spec(), seed);
    }
}

/// Keys of 1 to 5 bits in all, of which the first ones are counted: one key or two.
#[test]
fn rows_are_sorted_by_short_keys() {
    let seed = seed();
    for bits in [&[1][..], &[2], &[1, 1], &[1, 2], &[4], &[3, 1], &[3, 2]] {
        for rows in [0, 1, 2, 65, 300] {
            let mut built = Built::new(3, seed);
            let keys: Vec<Value> = bits
                .iter()
                .map(|&bits| built.bits::<ReplicatedTool>(bits, rows))
                .collect();
            let columns = [
                built.bits::<ReplicatedTool>(9, rows),
                built.ring::<ReplicatedTool>(Width::W64, rows),
            ];
            for orders in [&ORDERS[..keys.len()], &ORDERS[1..=keys.len()]] {
                let sort = Arc::new(SortRows::new(orders, None));
                let sorted = built.graph.add(sort, &[&keys[..], &columns].concat());
                for value in sorted.unwrap() {
                    built.open_to_all::<ReplicatedTool>(value);
                }
            }
            check(&built, built.spec(), seed);
        }
    }
}

/// Keys of up to 16 bits in all are counted digit by digit where rows are many, others compared.
#[test]
fn rows_are_sorted_by_digits() {
    let seed = seed();
    for (bits, rows) in [
        (&[8][..], 300),
        (&[9, 7], 257),
        (&[3, 1, 5], 1000),
        (&[16], 256),
        (&[17], 300),
        (&[2], 40),
    ] {
        let mut built = Built::new(3, seed);
        let keys: Vec<Value> = bits
            .iter()
            .map(|&bits| built.bits::<ReplicatedTool>(bits, rows))
            .collect();
        let columns = [
            built.bits::<ReplicatedTool>(9, rows),
            built.ring::<ReplicatedTool>(Width::W64, rows),
        ];
        let orders = &ORDERS[1..=keys.len()];
        let sort = SortRows::new(orders, Some(Depth::Tree)).by_digits();
        assert!(sort.name().ends_with(", tree, digits"), "{}", sort.name());
        let columns = [&keys[..], &columns].concat();
        for value in built.graph.add(Arc::new(sort), &columns).unwrap() {
            built.open_to_all::<ReplicatedTool>(value);
        }
        check(&built, built.spec(), seed);
    }
}

/// On several threads, in parts, with blocks of other operations before and behind; keys alone, too.
#[test]
fn sorts_stand_between_other_operations() {
    let seed = seed();
    let mut built = Built::new(3, seed);
    let table = table(&mut built, 700);
    let sorted = built
        .graph
        .add(Arc::new(SortRows::new(ORDERS, None)), &table)
        .unwrap();
    let again = [sorted[3], sorted[0], sorted[9]];
    let again = built
        .graph
        .add(Arc::new(SortRows::new([ORDERS[2]], None)), &again)
        .unwrap();
    let alone = built
        .graph
        .add(Arc::new(SortRows::new([ORDERS[3]], None)), &sorted[2..3])
        .unwrap();
    let keys = [&sorted[..2], &sorted[6..7]].concat();
    let counted = built
        .graph
        .add(Arc::new(SortRows::new(&ORDERS[..2], None)), &keys)
        .unwrap();
    for value in [
        again[0], again[1], again[2], alone[0], sorted[6], counted[2],
    ] {
        built.open_to_all::<ReplicatedTool>(value);
    }
    check_all(&built, seed);
}

/// Sorted afterwards, as no test knows the order: rows stay together.
#[test]
fn a_shuffle_keeps_rows_together() {
    let seed = seed();
    let mut built = Built::new(3, seed);
    let table = table(&mut built, 130);
    let shuffled = built.graph.add(Arc::new(ShuffleRows), &table).unwrap();
    let sorted = built
        .graph
        .add(Arc::new(SortRows::new(ORDERS, None)), &shuffled)
        .unwrap();
    for value in sorted {
        built.open_to_all::<ReplicatedTool>(value);
    }
    check(&built, built.spec(), seed);
}

/// Places of rows, each once as rows goes through all residues, as numbers or as bits.
fn places(rows: usize, bits: bool) -> Shares {
    let places: Vec<u32> = (0..rows as u32).map(|row| row * 7 % rows as u32).collect();
    match bits {
        true => Shares::bits_of(Sharing::PUBLIC, 32, &places),
        false => Shares::ring(Sharing::PUBLIC, vec![places.into()]),
    }
}

/// Rows go where their places say; places that are none are refused.
#[test]
fn three_parties_place_rows() {
    let seed = seed();
    for rows in [0, 1, 2, 65, 300, 1000] {
        for bits in [false, true] {
            let mut built = Built::new(3, seed);
            let table = table(&mut built, rows);
            let places = built.share::<ReplicatedTool>(places(rows, bits));
            let placed = built
                .graph
                .add(Arc::new(PlaceRows), &[&[places], &table[..]].concat())
                .unwrap();
            assert_eq!(placed.len(), table.len());
            for value in placed {
                built.open_to_all::<ReplicatedTool>(value);
            }
            match rows {
                65 => check_all(&built, seed),
                _ => {
                    check(&built, built.spec(), seed);
                }
            }
        }
    }
    let column = Shares::bits_of(Sharing::PUBLIC, 3, &[0_u8; 3]);
    for places in [[0, 1, 1], [0, 1, 3], [u32::MAX, 0, 1]] {
        let numbers = Shares::ring(Sharing::PUBLIC, vec![places.to_vec().into()]);
        let bits = Shares::bits_of(Sharing::PUBLIC, 32, &places);
        assert!(PlaceRows.plain(&[&numbers, &column]).is_err());
        assert!(PlaceRows.plain(&[&bits, &column]).is_err());
        assert!(PlaceTable.plain(&[&bits, &column]).is_err());
    }
    let of = |element, len| Sort::new(Sharing::R, element, len);
    let bits = of(Element::Bits(3), 5);
    let refused = |inputs: &[Sort], parties| {
        let refused = PlaceRows.sorts(inputs, parties).unwrap_err();
        refused.to_string()
    };
    for places in [Element::Ring(Width::W32), Element::Bits(32)] {
        let places = of(places, 5);
        assert_eq!(PlaceRows.sorts(&[places, bits], 3).unwrap(), [bits]);
        assert_eq!(refused(&[places], 3), "no columns to place");
        assert_eq!(
            refused(&[places, bits.of_len(6)], 3),
            "columns of 5 rows and of 6"
        );
        assert!(refused(&[places, bits], 2).contains("three parties"));
    }
    assert_eq!(
        refused(&[bits, bits], 3),
        "5 x 3 bits (R) where places of rows are wanted, numbers of 32 bits"
    );
}

/// A party sees the same whether rows stay where they are or change places.
#[test]
fn opened_places_of_three_parties_say_nothing() {
    for (to, bits) in [(0, false), (1, false), (2, false), (0, true), (2, true)] {
        let seed = seed();
        let owner = (to + 1) % 3;
        let built = |places: [u32; 6]| {
            let mut built = Built::new(3, seed);
            let of = |places: [u32; 6]| match bits {
                true => Shares::bits_of(Sharing::PUBLIC, 32, &places),
                false => Shares::ring(Sharing::PUBLIC, vec![places.to_vec().into()]),
            };
            for _ in 0..owner {
                built.share::<ReplicatedTool>(of([0; 6]));
            }
            let places = built.share::<ReplicatedTool>(of(places));
            let placed = built.graph.add(Arc::new(PlaceRows), &[places, places]);
            built.open::<ReplicatedTool>(placed.unwrap()[0], &[owner]);
            built
        };
        let [stay, move_on] = [[0, 1, 2, 3, 4, 5], [5, 0, 4, 1, 3, 2]].map(built);
        let plan = madrigal_engine::Plan::new(stay.spec()).unwrap();
        let to = Party::new(to);
        let a = ones_of_values(&plan, &stay.inputs, to, seed);
        let b = ones_of_values(&plan, &move_on.inputs, to, seed ^ 0x5555_0000_0000_0000);
        must_agree(&a, &b, &format!("places of rows in R, to {to}, {bits}"));
    }
}

#[test]
fn wrong_tables_are_refused() {
    let of = |sharing, element, len| Sort::new(sharing, element, len);
    let bits = of(Sharing::R, Element::Bits(3), 5);
    let number = of(Sharing::R, Element::Ring(Width::W64), 5);
    let sort = SortRows::new([ORDERS[0]], None);
    let refused = |inputs: &[Sort], parties| sort.sorts(inputs, parties).unwrap_err().to_string();
    assert_eq!(sort.sorts(&[bits, number], 3).unwrap(), [bits, number]);
    assert_eq!(refused(&[], 3), "a sort by 1 keys of 0 values");
    assert_eq!(
        refused(&[number], 3),
        "keys are compared bit by bit, and 5 x u64 (R) is no bits; convert it first"
    );
    assert_eq!(
        refused(&[bits, number.of_len(6)], 3),
        "columns of 5 rows and of 6"
    );
    assert_eq!(
        refused(&[bits, of(Sharing::B, Element::Bits(1), 5)], 3),
        "a value in R wanted, 5 x 1 bits (B) given; convert it first"
    );
    assert_eq!(
        refused(&[bits], 2),
        "rows are shuffled among three parties, not 2"
    );
    let problem = ShuffleRows.sorts(&[], 3).unwrap_err().to_string();
    assert_eq!(problem, "no columns to shuffle");
}

/// A party sees the same whether all keys are alike or all are different: opened results of comparisons and opened places tell nothing.
#[test]
fn what_sorts_open_says_nothing() {
    for (to, bits) in [(0, 3), (1, 3), (2, 3), (0, 5), (1, 5), (2, 5)] {
        let seed = seed();
        let owner = (to + 1) % 3;
        let built = |keys: [u8; 6]| {
            let mut built = Built::new(3, seed);
            for _ in 0..owner {
                built.share::<ReplicatedTool>(Shares::bits_of(Sharing::PUBLIC, bits, &[0_u8; 6]));
            }
            let keys = Shares::bits_of(Sharing::PUBLIC, bits, &keys);
            let keys = built.share::<ReplicatedTool>(keys);
            let sort = SortRows::new([ORDERS[0]], None);
            let sorted = built.graph.add(Arc::new(sort), &[keys]).unwrap();
            built.open::<ReplicatedTool>(sorted[0], &[owner]);
            built
        };
        let [alike, different] = [[7; 6], [5, 0, 4, 1, 3, 2]].map(built);
        let plan = madrigal_engine::Plan::new(alike.spec()).unwrap();
        let to = Party::new(to);
        let a = ones_of_values(&plan, &alike.inputs, to, seed);
        let b = ones_of_values(&plan, &different.inputs, to, seed ^ 0x5555_0000_0000_0000);
        must_agree(&a, &b, &format!("a sort in R by {bits} bits, to {to}"));
    }
}

/// Such a table of two parties.
fn table_of_two(built: &mut Built, rows: usize) -> Vec<Value> {
    let keys = [1, 2, 5, 66].map(|bits| built.bits::<BooleanGmwTool>(bits, rows));
    let bits = [1, 8, 130].map(|bits| built.bits::<BooleanGmwTool>(bits, rows));
    let numbers = [Width::W8, Width::W64, Width::W128];
    let numbers = numbers.map(|width| built.ring::<ArithmeticGmwTool>(width, rows));
    [&keys[..], &bits, &numbers].concat()
}

/// Opens a value of B or of A.
fn open_of_two(built: &mut Built, value: Value) {
    match built.graph.sort(value).sharing {
        Sharing::A => built.open_to_all::<ArithmeticGmwTool>(value),
        _ => built.open_to_all::<BooleanGmwTool>(value),
    }
}

#[test]
fn two_parties_sort_rows_by_several_keys() {
    let seed = seed();
    for (rows, depth) in [
        (0, None),
        (1, None),
        (2, Some(Depth::Ripple)),
        (100, None),
        (400, Some(Depth::Ripple)),
    ] {
        let mut built = Built::new(2, seed);
        let table = table_of_two(&mut built, rows);
        let sort = Arc::new(SortTable::new(ORDERS, depth));
        for value in built.graph.add(sort, &table).unwrap() {
            open_of_two(&mut built, value);
        }
        // By OT, too.
        let origin = match rows {
            400 => Origin::Dealer,
            _ => built.spec().origin,
        };
        let spec = PlanSpec {
            origin,
            ..built.spec()
        };
        check(&built, spec, seed);
    }
}

/// Rows go where their places say; places that are none are refused.
#[test]
fn two_parties_place_rows() {
    let seed = seed();
    for (rows, bits) in [
        (0, true),
        (0, false),
        (1, false),
        (2, true),
        (65, false),
        (300, true),
    ] {
        let mut built = Built::new(2, seed);
        let table = table_of_two(&mut built, rows);
        let places = places(rows, bits);
        let places = match bits {
            true => built.share::<BooleanGmwTool>(places),
            false => built.share::<ArithmeticGmwTool>(places),
        };
        let placed = built
            .graph
            .add(Arc::new(PlaceTable), &[&[places], &table[..]].concat())
            .unwrap();
        assert_eq!(placed.len(), table.len());
        for value in placed {
            open_of_two(&mut built, value);
        }
        match rows {
            65 => check_all(&built, seed),
            _ => {
                check(&built, built.spec(), seed);
            }
        }
    }
    let column = Shares::bits_of(Sharing::PUBLIC, 3, &[0_u8; 3]);
    for places in [[0, 1, 1], [0, 1, 3], [u32::MAX, 0, 1]] {
        let places = Shares::ring(Sharing::PUBLIC, vec![places.to_vec().into()]);
        assert!(PlaceTable.plain(&[&places, &column]).is_err());
    }
}

/// The other party sees the same whether rows stay where they are or change places.
#[test]
fn opened_places_say_nothing() {
    for (to, bits) in [(0, false), (1, false), (0, true), (1, true)] {
        let seed = seed();
        let owner = 1 - to;
        let built = |places: [u32; 6]| {
            let mut built = Built::new(2, seed);
            let mut share = |places: [u32; 6]| match bits {
                true => {
                    let places = Shares::bits_of(Sharing::PUBLIC, 32, &places);
                    built.share::<BooleanGmwTool>(places)
                }
                false => {
                    let places = Shares::ring(Sharing::PUBLIC, vec![places.to_vec().into()]);
                    built.share::<ArithmeticGmwTool>(places)
                }
            };
            for _ in 0..owner {
                share([0; 6]);
            }
            let places = share(places);
            let placed = built.graph.add(Arc::new(PlaceTable), &[places, places]);
            let placed = placed.unwrap()[0];
            match bits {
                true => built.open::<BooleanGmwTool>(placed, &[owner]),
                false => built.open::<ArithmeticGmwTool>(placed, &[owner]),
            }
            built
        };
        let [stay, move_on] = [[0, 1, 2, 3, 4, 5], [5, 0, 4, 1, 3, 2]].map(built);
        let plan = madrigal_engine::Plan::new(stay.spec()).unwrap();
        let to = Party::new(to);
        let a = ones_of_values(&plan, &stay.inputs, to, seed);
        let b = ones_of_values(&plan, &move_on.inputs, to, seed ^ 0x5555_0000_0000_0000);
        must_agree(&a, &b, &format!("places of rows, to {to}"));
    }
}

/// On several threads, in parts, with phases that overlap, from a dealer; a shuffle before, as no test knows its order: rows stay together.
#[test]
fn sorts_of_two_parties_stand_between_other_operations() {
    let seed = seed();
    let mut built = Built::new(2, seed);
    let table = table_of_two(&mut built, 70);
    let shuffled = built.graph.add(Arc::new(ShuffleTable), &table).unwrap();
    let sorted = built
        .graph
        .add(Arc::new(SortTable::new(ORDERS, None)), &shuffled)
        .unwrap();
    let again = [sorted[3], sorted[0], sorted[9]];
    let sort = SortTable::new([ORDERS[2]], Some(Depth::Ripple));
    let again = built.graph.add(Arc::new(sort), &again).unwrap();
    let alone = built
        .graph
        .add(Arc::new(SortTable::new([ORDERS[3]], None)), &sorted[2..3])
        .unwrap();
    for value in [again[0], again[1], again[2], alone[0], sorted[6], sorted[8]] {
        open_of_two(&mut built, value);
    }
    check_all(&built, seed);
}

#[test]
fn wrong_tables_of_two_parties_are_refused() {
    let of = |sharing, element, len| Sort::new(sharing, element, len);
    let bits = of(Sharing::B, Element::Bits(3), 5);
    let number = of(Sharing::A, Element::Ring(Width::W64), 5);
    let sort = SortTable::new([ORDERS[0]], None);
    let refused = |inputs: &[Sort], parties| sort.sorts(inputs, parties).unwrap_err().to_string();
    assert_eq!(sort.sorts(&[bits, number], 2).unwrap(), [bits, number]);
    assert_eq!(refused(&[], 2), "a sort by 1 keys of 0 values");
    assert_eq!(
        refused(&[number], 2),
        "keys are compared bit by bit, and 5 x u64 (A) is no bits; convert it first"
    );
    assert_eq!(
        refused(&[bits, number.of_len(6)], 2),
        "columns of 5 rows and of 6"
    );
    assert_eq!(
        refused(&[bits, of(Sharing::ALPHA, Element::Ring(Width::W8), 5)], 2),
        "a value in A wanted, 5 x u8 (alpha) given; convert it first"
    );
    assert_eq!(
        refused(&[of(Sharing::Y, Element::Bits(1), 5)], 2),
        "a value in B wanted, 5 x 1 bits (Y) given; convert it first"
    );
    assert_eq!(
        refused(&[bits], 3),
        "rows in B are shuffled between two parties, not 3"
    );
    let problem = ShuffleTable.sorts(&[], 2).unwrap_err().to_string();
    assert_eq!(problem, "no columns to shuffle");
    let refused = |inputs: &[Sort]| PlaceTable.sorts(inputs, 2).unwrap_err().to_string();
    let places = of(Sharing::A, Element::Ring(Width::W32), 5);
    assert_eq!(PlaceTable.sorts(&[places, bits], 2).unwrap(), [bits]);
    assert_eq!(refused(&[]), "no places of rows");
    assert_eq!(refused(&[places]), "no columns to place");
    assert_eq!(
        refused(&[number, bits]),
        "5 x u64 (A) where places of rows are wanted, numbers of 32 bits"
    );
}
