//! NumPy's files.
#![no_main]

use madrigal_nn::{Element, npy};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let read = match npy::read(bytes) {
        Ok(read) => read,
        Err(error) => return drop(error.to_string()),
    };
    // What is written is read as the same; narrow floats are written as wide ones, and NaN is not itself.
    let again = npy::read(&npy::write(&read)).expect("what was written can be read");
    assert_eq!(again.shape(), read.shape());
    if read.element() != Element::F16 {
        assert_eq!(again.element(), read.element());
        assert_eq!(npy::write(&again), npy::write(&read));
    }
});
