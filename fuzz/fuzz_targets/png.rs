//! Images.
#![no_main]

use madrigal_nn::image::{self, Scaling};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let image = match image::read(bytes) {
        Ok(image) => image,
        Err(error) => return drop(error.to_string()),
    };
    let [channels, height, width] = [image.channels(), image.height(), image.width()];
    assert!((height * width) as u64 <= image::MOST_PIXELS);
    let scalings = vec![Scaling::default(); channels];
    let numbers = image.for_input("x", &[1, channels, height, width], &scalings);
    let numbers = numbers.expect("it fits its own shape");
    assert_eq!(numbers.len(), channels * height * width);
    assert!(numbers.iter().all(|number| (0.0..=1.0).contains(number)));
    let other = image.for_input("x", &[1, channels, height, width + 1], &scalings);
    drop(other.expect_err("it fits no other").to_string());
});
