//! Values as text against values bit by bit.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may fail, and says why it skips"
)]

use madrigal_circuit::Rows;
use madrigal_circuit::values::{self, Lines};
use proptest::prelude::*;

/// Bit `j` of the value is set exactly if digit `j / 4` from the right has bit `j % 4`.
fn bit(number: &str, j: usize) -> bool {
    let digits = number.trim_start_matches("0x").as_bytes();
    let digit = digits
        .len()
        .checked_sub(1 + j / 4)
        .map_or(0, |at| (digits[at] as char).to_digit(16).unwrap());
    digit >> (j % 4) & 1 == 1
}

fn number(width: u32) -> impl Strategy<Value = String> {
    prop::collection::vec(any::<bool>(), width as usize).prop_map(move |bits| {
        let digit = |bits: &[bool]| {
            bits.iter()
                .rev()
                .fold(0, |digit, &bit| digit << 1 | u32::from(bit))
        };
        let mut digits: Vec<_> = bits
            .chunks(4)
            .map(|b| char::from_digit(digit(b), 16).unwrap())
            .collect();
        digits.reverse();
        if width == 0 {
            "0".into()
        } else {
            String::from_iter(digits)
        }
    })
}

fn lanes() -> impl Strategy<Value = (Vec<u32>, Vec<Vec<String>>)> {
    prop::collection::vec(prop_oneof![0u32..10, 60u32..70, 120u32..140], 1..5).prop_flat_map(
        |widths| {
            let line = widths
                .iter()
                .map(|&width| number(width))
                .collect::<Vec<_>>();
            (Just(widths), prop::collection::vec(line, 1..70))
        },
    )
}

proptest! {
    #[test]
    fn read_and_written((widths, lanes) in lanes(), upper: bool, prefix: bool) {
        let plain: String = lanes.iter().map(|line| line.join(" ") + "\n").collect();
        let dressed = |n: &String| (if prefix { "0x" } else { "" }).to_owned() + &if upper { n.to_uppercase() } else { n.clone() };
        let text: Vec<String> = lanes.iter().map(|line| line.iter().map(dressed).collect::<Vec<_>>().join(" \t")).collect();
        let text = " ".to_owned() + &text.join(" \r\n");
        let rows = values::read("f", text.as_bytes(), &widths, &Default::default()).unwrap();
        prop_assert_eq!((rows.rows() as u32, rows.lanes()), (widths.iter().sum(), lanes.len()));
        for (lane, line) in lanes.iter().enumerate() {
            let mut row = 0;
            for (number, &width) in line.iter().zip(&widths) {
                for j in 0..width as usize {
                    prop_assert_eq!(rows.get(row, lane), bit(number, j));
                    row += 1;
                }
            }
        }
        let mut clear = rows.clone();
        clear.clear_padding();
        prop_assert!(clear == rows, "the padding is zero");
        prop_assert_eq!(String::from_utf8(values::write(&rows, &widths).unwrap()).unwrap(), plain);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[0-9a-fx \n]{0,80}", widths in prop::collection::vec(0u32..20, 0..4)) {
        let _ = values::read("f", text.as_bytes(), &widths, &Default::default());
    }
}

/// Leading digits may be left out; more lanes than one block.
#[test]
fn short_numbers_and_many_lanes() {
    let text: String = (0..5000)
        .map(|lane| format!("{lane:x} {}\n", lane % 2))
        .collect();
    let rows = values::read("f", text.as_bytes(), &[13, 1], &Default::default()).unwrap();
    let written = String::from_utf8(values::write(&rows, &[13, 1]).unwrap()).unwrap();
    let expected: String = (0..5000)
        .map(|lane| format!("{lane:04x} {}\n", lane % 2))
        .collect();
    assert_eq!(written, expected);
    let mut streamed = Vec::new();
    let lines = Lines::new(&rows, &[13, 1]).unwrap();
    lines.write_to(&mut streamed).unwrap();
    assert_eq!(
        (lines.bytes(), &streamed[..]),
        (expected.len(), expected.as_bytes())
    );
    // A writer that takes no more ends it.
    let mut short = vec![0; 9000];
    let error = lines.write_to(&mut &mut short[..]).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::WriteZero);
    assert_eq!(&short[..], &expected.as_bytes()[..9000]);
}

/// Writing takes no notice of the padding.
#[test]
fn padding_is_ignored() {
    let mut rows = Rows::new(3, 5);
    rows.as_bytes_mut().fill(0xff);
    assert_eq!(
        values::write(&rows, &[2, 1]).unwrap(),
        b"3 1\n3 1\n3 1\n3 1\n3 1\n"
    );
    assert_eq!(
        values::write(&rows, &[2])
            .unwrap_err()
            .to_string()
            .split(';')
            .next(),
        Some("expected 2 rows (one per wire, all values together), got 3")
    );
}
