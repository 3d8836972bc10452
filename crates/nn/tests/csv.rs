//! Tables: read and written, and refused.

use madrigal_core::text::OwnData;
use madrigal_nn::csv::{CsvError, read, write};
use madrigal_nn::{Data, Element, Tensor, Type};

fn floats(shape: &[usize]) -> Type {
    Type {
        element: Element::F64,
        shape: shape.to_vec(),
    }
}

fn error(text: &str) -> CsvError {
    read(text.as_bytes()).unwrap_err()
}

#[test]
fn lines_are_rows() {
    let found = read("\u{feff}1, -2.5,3e2\r\n4\t,+5,6.\r\n\n \n".as_bytes()).unwrap();
    assert_eq!((found.lines(), found.columns()), (2, 3));
    assert_eq!(found.numbers(), [1.0, -2.5, 300.0, 4.0, 5.0, 6.0]);
    assert_eq!(format!("{found:?}"), "Table(2 lines of 3 numbers)");
    for shape in [&[2, 3][..], &[2, 3, 1], &[2, 1, 1, 3]] {
        let tensor = found.clone().into_input("x", &floats(shape)).unwrap();
        assert_eq!(
            (tensor.shape(), tensor.to_f64()),
            (shape, found.numbers().to_vec())
        );
    }
    let one = read(b"7").unwrap();
    for shape in [&[][..], &[1]] {
        let tensor = one.clone().into_input("x", &floats(shape)).unwrap();
        assert_eq!(tensor.to_f64(), [7.0]);
    }
}

/// Integers beyond 2^53 used to be refused, as they were kept as floats.
#[test]
fn integers_are_exact() {
    let of = |text: &str, element: Element| {
        let shape = vec![1, 2];
        read(text.as_bytes())
            .unwrap()
            .into_input("x", &Type { element, shape })
    };
    let large = of("9007199254740993,-9223372036854775808", Element::I64).unwrap();
    assert_eq!(
        large.as_ints(),
        Some(&[9_007_199_254_740_993, i64::MIN][..])
    );
    let large = of("18446744073709551615,3e2", Element::U64).unwrap();
    assert_eq!(large.as_ints(), Some(&[-1, 300][..]));
    let truths = of("1,0", Element::Bool).unwrap();
    assert_eq!(truths.as_bools(), Some(&[true, false][..]));
    for (text, element, column, found) in [
        (
            "1,9223372036854775808",
            Element::I64,
            2,
            "9223372036854775808",
        ),
        ("0.5,1", Element::I32, 1, "0.5"),
        ("1,256", Element::U8, 2, "256"),
        ("9007199254740993,-0.25", Element::I64, 2, "-0.25"),
        ("2,0", Element::Bool, 1, "2"),
    ] {
        let error = of(text, element).unwrap_err();
        let held = CsvError::Held {
            line: 1,
            column,
            found: OwnData::new("the number", found),
            element,
        };
        assert_eq!(error, held);
        assert!(
            error.to_string().contains(&format!("no {element}")),
            "{error}"
        );
    }
}

/// A number that is closer to 0 than any other is 0, as for everybody who reads decimal numbers.
#[test]
fn extreme_numbers() {
    let found = read(b"1.7976931348623157e308,5e-324,-1e-999,-0").unwrap();
    let bits: Vec<u64> = found.numbers().iter().map(|one| one.to_bits()).collect();
    let minus = (-0.0_f64).to_bits();
    assert_eq!(bits, [f64::MAX.to_bits(), 1, minus, minus]);
}

fn own(text: &str) -> OwnData {
    OwnData::new("what stands there", text)
}

#[test]
fn refused() {
    for text in ["", "\n\n", " \t\r\n", "\u{feff}"] {
        assert_eq!(error(text), CsvError::Empty);
        assert_eq!(error(text).line(), None);
    }
    let number = |line, column, found: &str| CsvError::Number {
        line,
        column,
        found: own(found),
    };
    for (text, line, column, found) in [
        ("a,b\n1,2\n", 1, 1, "a"),
        ("1,2\n1,x\n", 2, 2, "x"),
        ("1,2\n\n1,2\n", 2, 1, ""),
        ("\n1,2\n", 1, 1, ""),
        ("1,,2\n", 1, 2, ""),
        ("1,2,\n", 1, 3, ""),
        ("1;2\n", 1, 1, "1;2"),
        ("1\r2\n", 1, 1, "1\r2"),
        ("1,0x10\n", 1, 2, "0x10"),
        ("1,\"2\"\n", 1, 2, "\"2\""),
        ("1,2\0\n", 1, 2, "2\0"),
    ] {
        assert_eq!(error(text), number(line, column, found), "{text:?}");
        assert_eq!(error(text).line(), Some(line));
    }
    let long = "\u{e9}".repeat(1000);
    assert_eq!(error(&long), number(1, 1, &long[..48]));
    for found in ["nan", "-NaN", "inf", "-Infinity", "1e999", "-1e99999999999"] {
        let infinite = CsvError::Infinite {
            line: 2,
            column: 2,
            found: own(found),
        };
        assert_eq!(error(&format!("1,2\n3, {found} \n")), infinite);
        assert_eq!(infinite.line(), Some(2));
    }
    for (line, found) in [("1", 1), ("1,2,3", 3)] {
        let ragged = CsvError::Ragged {
            line: 3,
            expected: 2,
            found,
        };
        assert_eq!(error(&format!("1,2\n3,4\n{line}\n5,6\n")), ragged);
        assert_eq!(ragged.line(), Some(3));
    }
}

#[test]
fn what_is_no_text_is_found() {
    for (file, line, column, byte) in [
        (&b"\xff\xfe1\0,\0"[..], 1, 1, 0xff),
        (b"1,2\n3,4,\xe9\n", 2, 3, 0xe9),
        (b"1,2\n3\xc3", 2, 1, 0xc3),
        (b"\n\n\x80", 3, 1, 0x80),
    ] {
        let text = CsvError::Text { line, column, byte };
        assert_eq!(read(file), Err(text.clone()));
        assert_eq!(text.line(), Some(line));
    }
}

#[test]
fn what_does_not_fit_is_told() {
    let table = read(b"1,2\n3,4\n").unwrap();
    let huge = usize::MAX;
    for (shape, part) in [
        (&[2, 1, 3][..], "\"x\" 2 of 3 (1 x 3)"),
        (&[1, 2], "1 of 2"),
        (&[4], "4 of 1"),
        (&[], "1 of 1"),
        (&[2, 0], "2 of 0"),
        // Their products wrap around to 1 and 2.
        (&[2, huge, huge], "2 of 18446744073709551615 x"),
        (&[2, huge / 2 + 2, 2], "2 of 9223372036854775809 x 2"),
    ] {
        let error = table.clone().into_input("x", &floats(shape)).unwrap_err();
        let fit = CsvError::Fit {
            lines: 2,
            columns: 2,
            name: "x".to_owned(),
            shape: shape.to_owned(),
        };
        assert_eq!(error, fit);
        assert_eq!(error.line(), None);
        let told = error.to_string();
        assert!(
            told.contains("2 lines of 2") && told.contains(part),
            "{told}"
        );
    }
}

#[test]
fn errors_say_where_and_what_was_expected() {
    for (text, parts) in [
        (
            "a,b\n1,2\n",
            &[
                "line 1, column 1",
                "what stands there is no number",
                "names the columns",
            ][..],
        ),
        ("1,2\n1,zz9\n", &["line 2, column 2", "separated by commas"]),
        (
            "1,2\n1\n",
            &["line 2", "has 1 numbers", "expected 2, as line 1"],
        ),
        (
            "1,nan\n",
            &["line 1, column 2", "there is infinite", "1.79e308"],
        ),
        ("", &["empty", "a line of numbers for each input"]),
    ] {
        let told = error(text).to_string();
        for part in parts {
            assert!(told.contains(part), "{part} is not in {told}");
        }
        // A cell is the owner's, and messages go to logs.
        assert!(!told.contains("nan") && !told.contains("zz9"), "{told}");
    }
    // Names of columns are not the reason here.
    assert!(!error("1,2\nx,y").to_string().contains("names"));
    let told = read(b"1,\xff").unwrap_err().to_string();
    assert!(
        told.contains("line 1, column 2") && told.contains("0xff is not UTF-8"),
        "{told}"
    );
}

#[test]
fn results_are_lines() {
    let tensor = Tensor::f32(vec![2, 2], vec![0.1, -1.0, 1e-7, 3.0]).unwrap();
    assert_eq!(write(&tensor), "0.1,-1\n0.0000001,3\n");
    let tensor = Tensor::i64(vec![3], vec![1, i64::MIN, i64::MAX]).unwrap();
    assert_eq!(
        write(&tensor),
        "1\n-9223372036854775808\n9223372036854775807\n"
    );
    let tensor = Tensor::new(Element::U64, vec![1, 1, 2], Data::Int(vec![-1, 0])).unwrap();
    assert_eq!(write(&tensor), "18446744073709551615,0\n");
    let tensor = Tensor::bool(vec![1, 2], vec![true, false]).unwrap();
    assert_eq!(write(&tensor), "1,0\n");
    let tensor = Tensor::f32(vec![0, 3], vec![]).unwrap();
    assert_eq!(write(&tensor), "");
    let tensor = Tensor::f32(vec![], vec![2.5]).unwrap();
    assert_eq!(write(&tensor), "2.5\n");
}

#[test]
fn written_is_read() {
    let numbers = vec![1e300, -0.0, 5e-324, 0.1, -1.0 / 3.0, 7.0];
    let tensor = Tensor::new(Element::F64, vec![3, 2], Data::F64(numbers.clone())).unwrap();
    let found = read(write(&tensor).as_bytes()).unwrap();
    assert_eq!((found.lines(), found.columns()), (3, 2));
    let bits = |numbers: &[f64]| numbers.iter().map(|one| one.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(found.numbers()), bits(&numbers));
}
