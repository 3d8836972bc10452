//! Tests of needs as text.

use madrigal_core::{Convolution, MAX_PARTIES, MatrixShape, Party};
use proptest::prelude::*;

use super::*;
use crate::text::MAX_SIDE;
use crate::width::Width;

/// The longest vectors, in bits.
const MAX_VECTOR: usize = 1 << 30;

fn convolution() -> impl Strategy<Value = Convolution> {
    let small = || 1..5_usize;
    let sizes = (small(), small(), small(), [5..3000_usize, 5..9], small());
    let moves = (
        [small(), small()],
        [1..3_usize, 1..3],
        [[0..3_usize, 0..3], [0..3, 0..3]],
    );
    (sizes, moves).prop_map(|((images, groups, channels, image, filters), moves)| {
        let (stride, dilation, padding) = moves;
        Convolution {
            images,
            groups,
            channels: groups * channels,
            image,
            filters: groups * filters,
            filter: [2, 3],
            stride,
            dilation,
            padding,
        }
    })
}

fn kind() -> impl Strategy<Value = Kind> {
    let width = || proptest::sample::select(Width::ALL.to_vec());
    let side = || 1..=MAX_SIDE;
    prop_oneof![
        Just(Kind::BitTriples),
        (1..=MAX_VECTOR).prop_map(|length| Kind::VectorTriples { length }),
        width().prop_map(Kind::RingTriples),
        width().prop_map(Kind::SquarePairs),
        width().prop_map(Kind::SharedBits),
        (width(), 0..MAX_PARTIES)
            .prop_map(|(width, owner)| Kind::ChosenNumbers(width, Party::new(owner))),
        (width(), side(), side(), side()).prop_map(|(width, rows, inner, columns)| {
            let shape = MatrixShape {
                rows,
                inner,
                columns,
            };
            Kind::MatrixTriples(width, shape)
        }),
        (width(), convolution())
            .prop_map(|(width, convolution)| Kind::ConvolutionTriples(width, convolution)),
        (width(), convolution(), 0..2_usize).prop_map(|(width, convolution, left)| {
            Kind::SplitConvolutionTriples(width, convolution, Party::new(left))
        }),
        (width(), side(), side(), 0..2_usize).prop_map(|(width, rows, inner, left)| {
            let shape = MatrixShape {
                rows,
                inner,
                columns: 1,
            };
            Kind::SplitMatrixTriples(width, shape, Party::new(left))
        }),
    ]
}

fn count() -> impl Strategy<Value = usize> {
    let unit = proptest::sample::select(vec![1, 1000, 1_000_000, 1_000_000_000]);
    (1..100_000_usize, unit).prop_map(|(count, unit)| count * unit)
}

proptest! {
    #[test]
    fn what_is_written_is_read(parts in proptest::collection::vec((kind(), count()), 1..8)) {
        let mut needs = Needs::new();
        for (kind, count) in parts {
            needs.add(kind, count);
        }
        let text = needs.to_string();
        if needs.share_bytes() > MAX_BYTES {
            prop_assert_eq!(text.parse::<Needs>(), Err(NeedsError::TooLarge));
        } else {
            prop_assert_eq!(text.parse::<Needs>(), Ok(needs));
        }
    }

    #[test]
    fn no_text_confuses_it(text in "[a-z0-9=,x-]{0,40}|.{0,20}") {
        if let Ok(needs) = text.parse::<Needs>() {
            prop_assert_eq!(needs.to_string().parse::<Needs>(), Ok(needs));
        }
    }
}

#[test]
fn the_grammar_is_that_of_the_manual() {
    let text = "bits=10M,vectors-128=10k,u64=100k,squares-u32=5k,shared-u32=1k,matrix-u64-128x128x128=3,conv-u32-1x3x8x8-4x3x3-stride2x2-padding1x1x1x1=2";
    let needs: Needs = text.parse().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(needs.of(Kind::BitTriples), 10_000_000);
    assert_eq!(needs.of(Kind::SharedBits(Width::W32)), 1000);
    let convolution = 4 * 4 * 4 * 27;
    assert_eq!(
        needs.steps(),
        10_116_000 + 3 * 128 * 128 * 128 + 2 * convolution
    );
    assert_eq!(needs.to_string().parse(), Ok(needs));
}

#[test]
fn what_is_wrong_is_named() {
    let error = |text: &str| match text.parse::<Needs>() {
        Ok(needs) => panic!("{text} was read as {needs}"),
        Err(error) => error,
    };
    assert_eq!(error(" "), NeedsError::Nothing);
    let of = |text: &str| text.to_owned();
    assert_eq!(error("bits"), NeedsError::Part { text: of("bits") });
    for count in [
        "",
        "0",
        "-1",
        "1e9",
        "01",
        "+1",
        "k",
        "99999999999999999999",
        "300000G",
    ] {
        let text = of(count);
        assert_eq!(error(&format!("bits={count}")), NeedsError::Count { text });
    }
    for kind in [
        "bit",
        "u7",
        "u063",
        "squares",
        "squares-8",
        "vectors-0",
        "vectors-99999999999",
        "matrix-u8",
        "matrix-u8-1x2",
        "matrix-u8-1x2x3x4",
        "matrix-u8-1x0x3",
        "matrix-u8-1x99999x3",
        "conv-u8",
        "conv-u8-1x1x1x1",
        "conv-u8-1x1x1x1-1x2x1",
        "conv-u8-1x1x1x1-1x1x1-groups1",
        "conv-u8-1x3x1x1-1x1x1-groups2",
        "conv-u8-1x1x4x4-1x1x1-stride0x1",
        "conv-u8-1x1x4x4-1x1x1-padding1x1x1",
        "conv-u8-1x1x4x4-1x1x1-dilation2x1-stride2x1",
    ] {
        let found = error(&format!("{kind}=1"));
        assert!(matches!(found, NeedsError::Kind(_)), "{kind}");
        let start = format!("there is no kind `{kind}`; there are bits, ");
        assert!(found.to_string().starts_with(&start), "{found}");
    }
    let kind = Box::new(Kind::RingTriples(Width::W8));
    assert_eq!(error("u8=1,bits=3,u8=2"), NeedsError::Twice { kind });
    assert_eq!(
        error("matrix-u128-65536x65536x65536=200G"),
        NeedsError::TooLarge
    );
}
