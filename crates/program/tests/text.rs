//! Values as people write them.

use madrigal_program::lower::Mix;
use madrigal_program::{
    Array, Everyone, Fixed, Inputs, Party, Plain, Program, Shape, TextError, Type,
};

/// Reads a text as an input of this type and length: gives the outputs as texts.
fn read<T: Plain>(length: usize, text: &str) -> Result<Vec<String>, TextError> {
    let mut p = Program::new(2);
    let value = p.input::<T>(Party::new(0), [length]);
    p.open(value, Everyone);
    let program = p.finish().expect("a program that can be");
    let mut inputs = Inputs::new();
    inputs.read(program.inputs(), 0, text)?;
    let outputs = program.simulate(&inputs).expect("inputs as declared");
    let array: &Array = outputs.arrays().flatten().next().expect("an output");
    Ok(array.texts().collect())
}

#[test]
fn numbers_come_back_as_they_were_written() {
    assert_eq!(
        read::<i8>(4, "-128, 127\n0x7f;0").expect("numbers"),
        ["-128", "127", "127", "0"]
    );
    assert_eq!(
        read::<u128>(1, &u128::MAX.to_string()).expect("a number"),
        [u128::MAX.to_string()]
    );
    assert_eq!(
        read::<bool>(4, "1 true\t0\r\nfalse\n").expect("truth values"),
        ["true", "true", "false", "false"]
    );
    assert_eq!(
        read::<Fixed<i16, 8>>(3, "-1.5,0.00390625 127.99609375").expect("numbers"),
        ["-1.5", "0.00390625", "127.99609375"]
    );
}

#[test]
fn what_is_no_number_is_told_with_its_place() {
    for text in ["256", "-1", "+1", "1e2", "0x", "0x100", "1_0", "٣", "0x+1"] {
        let error = read::<u8>(2, &format!("7\n{text}")).expect_err("no number");
        let told = error.to_string();
        assert_eq!(told, "line 2: element 2 is no u8", "{text}");
    }
    for text in ["nan", "inf", "128", "-128.01", "x"] {
        assert!(read::<Fixed<i16, 8>>(1, text).is_err(), "{text}");
    }
    for text in ["-129", "128", "--1", "-0x81", ""] {
        assert!(read::<i8>(1, text).is_err(), "{text}");
    }
    assert_eq!(read::<i8>(1, "-0x80").expect("a number"), ["-128"]);
}

#[test]
fn elements_are_counted() {
    for (text, found) in [("1 2", 2), ("1 2 3 4", 4), ("", 0)] {
        let error = read::<u8>(3, text).expect_err("another number of elements");
        assert_eq!(error, TextError::Elements { expected: 3, found });
    }
}

#[test]
fn types_are_read_as_they_are_written() {
    let integers = [
        Type::BOOL,
        u8::TYPE,
        u16::TYPE,
        u32::TYPE,
        u64::TYPE,
        u128::TYPE,
        i8::TYPE,
        i16::TYPE,
        i32::TYPE,
        i64::TYPE,
        i128::TYPE,
    ];
    let fixed = [(16, 1), (16, 14), (32, 8), (64, 16), (128, 126)];
    let fixed = fixed.map(|(bits, fraction)| Type::fixed(bits, fraction).expect("a type"));
    for element in integers.into_iter().chain(fixed) {
        assert_eq!(element.to_string().parse(), Ok(element));
    }
    assert_eq!("fixed(64, 16)".parse(), Ok(Fixed::<i64, 16>::TYPE));
    for wrong in [
        "",
        "u9",
        "u256",
        "Bool",
        "fixed(64)",
        "fixed(64,63)",
        "fixed(64,0)",
        "fixed(8,2)",
        "Fixed<u64, 16>",
        "Fixed<i64, 16",
        "u32x",
    ] {
        let error = wrong.parse::<Type>().expect_err(wrong);
        assert!(error.to_string().contains(&format!("{wrong:?}")), "{error}");
    }
}

/// Arrays that no program asks for: read, made clear values in the form of each mix, and made arrays again.
#[test]
fn arrays_go_through_clear_values() {
    let texts = [
        (Type::BOOL, "1 0 0 1"),
        (u8::TYPE, "0 255 7 128"),
        (i16::TYPE, "-32768 32767 0 -1"),
        (Fixed::<i32, 8>::TYPE, "-1.5 0 0.25 100"),
        (i64::TYPE, "-9223372036854775808 9223372036854775807 0 -1"),
        (u128::TYPE, "340282366920938463463374607431768211455 0 1 2"),
    ];
    let shape = Shape::checked(&[2, 2]).expect("a shape");
    for (element, text) in texts {
        let array = Array::read(element, Some(&shape), text).expect("elements");
        for mix in Mix::all() {
            let (_, form) = mix.kept_form(element);
            let value = array.to_shares(form);
            assert_eq!(value.len(), 4);
            let again = Array::from_shares(element, &shape, &value).expect("the same elements");
            assert!(again == array, "{element} in {mix}");
            assert!(Array::from_shares(element, &Shape::scalar(), &value).is_none());
        }
        let vector = Array::read(element, None, text).expect("elements");
        assert_eq!(vector.shape().axes(), [4]);
        let few = Array::read(element, Some(&Shape::scalar()), text).expect_err("too many");
        assert_eq!(few.to_string(), "4 elements, where 1 are expected");
    }
}
