//! Tables of numbers.
#![no_main]

use madrigal_nn::{Element, Type, csv};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let table = match csv::read(bytes) {
        Ok(table) => table,
        Err(error) => {
            // What is said to be a line of it is one.
            let most = 1 + bytes.iter().filter(|&&byte| byte == b'\n').count();
            assert!(error.line().is_none_or(|line| (1..=most).contains(&line)));
            return drop(error.to_string());
        }
    };
    let shape = vec![table.lines(), table.columns()];
    let element = Element::F64;
    let tensor = table.clone().into_input("x", &Type { element, shape });
    let tensor = tensor.expect("it fits its own shape, and floats of 64 bits hold its numbers");
    assert!(tensor.to_f64().iter().all(|number| number.is_finite()));
    // What is written is read as the same, the sign of 0 too.
    let bits = |numbers: &[f64]| numbers.iter().map(|one| one.to_bits()).collect::<Vec<_>>();
    let again = csv::read(csv::write(&tensor).as_bytes()).expect("what was written can be read");
    assert_eq!(
        (again.lines(), again.columns()),
        (table.lines(), table.columns())
    );
    assert_eq!(bits(again.numbers()), bits(table.numbers()));
});
