//! Values as people write them.

use madrigal_program::{Array, Everyone, Fixed, Inputs, Party, Plain, Program, TextError};

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
