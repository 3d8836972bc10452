//! Data for networks: tables and images instead of arrays, and results as tables.

use std::path::Path;

use crate::command::{madrigal, write};
use crate::infer::{CLASSES, classes, digits};

/// The drawn digits, of 28 x 28 numbers from 0 to 1.
fn images() -> Vec<Vec<f32>> {
    let file = std::fs::read(format!("{}/digits.npy", digits())).unwrap();
    let numbers = file[128..].chunks_exact(4);
    let numbers: Vec<f32> = numbers
        .map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()))
        .collect();
    numbers.chunks(28 * 28).map(<[f32]>::to_vec).collect()
}

fn png(path: &Path, size: [u32; 2], color: png::ColorType, bytes: &[u8]) {
    let file = std::fs::File::create(path).unwrap();
    let mut encoder = png::Encoder::new(file, size[0], size[1]);
    encoder.set_color(color);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(bytes).unwrap();
    writer.finish().unwrap();
}

fn model() -> String {
    format!(
        "infer --model {}/minionn_mnist.onnx --local 3 --protocol R",
        digits()
    )
}

#[test]
fn tables_are_data_and_results() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let line = |image: &Vec<f32>| {
        let numbers: Vec<String> = image.iter().map(f32::to_string).collect();
        numbers.join(",") + "\r\n"
    };
    let table: String = images().iter().map(line).collect();
    write(path, "digits.csv", &table);
    let told = madrigal(path, &format!("{} --input digits.csv", model())).good();
    assert_eq!(classes(&told.stdout), CLASSES);
    madrigal(
        path,
        &format!("{} --input digits.csv --output out.csv -q", model()),
    )
    .good();
    let out = std::fs::read_to_string(path.join("out.csv")).unwrap();
    let greatest = |line: &str| {
        let numbers: Vec<f64> = line.split(',').map(|one| one.parse().unwrap()).collect();
        assert_eq!(numbers.len(), 10);
        let places = 0..numbers.len();
        places
            .max_by(|&a, &b| numbers[a].total_cmp(&numbers[b]))
            .unwrap()
            .to_string()
    };
    let found: Vec<String> = out.lines().map(greatest).collect();
    assert_eq!(found, CLASSES);
    let sample = format!(
        "model compare {}/minionn_mnist.onnx --input digits.csv",
        digits()
    );
    assert!(madrigal(path, &sample).good().stdout.contains("Conv"));
}

#[test]
fn images_are_a_batch() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let mut flags = String::new();
    for (at, image) in images().iter().enumerate() {
        let bytes: Vec<u8> = image
            .iter()
            .map(|one| (one * 255.0).round() as u8)
            .collect();
        png(
            &path.join(format!("{at}.png")),
            [28, 28],
            png::ColorType::Grayscale,
            &bytes,
        );
        flags += &format!(" --input {at}.png");
    }
    let told = madrigal(path, &format!("{}{flags}", model())).good();
    assert_eq!(classes(&told.stdout), CLASSES);
    // Numbers of the array come out in another way, too.
    let scaled = "--scale 1/127.5 --mean=1 --std 0.5,0.5";
    madrigal(path, &format!("{}{flags} {scaled}", model()))
        .bad(3, &["0.png", "--std", "2 numbers"]);
    let scaled = "--scale 1/127.5 --mean=0 --std 2";
    let told = madrigal(path, &format!("{}{flags} {scaled}", model())).good();
    assert_eq!(classes(&told.stdout), CLASSES);
}

#[test]
fn data_that_does_not_fit_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let bad = |flags: &str, status: i32, parts: &[&str]| {
        madrigal(path, &format!("{} {flags}", model())).bad(status, parts);
    };
    write(path, "short.csv", "1,2,3\n");
    bad(
        "--input short.csv",
        3,
        &["short.csv", "1 lines of 3", "1 of 784 (1 x 28 x 28)"],
    );
    write(path, "text.csv", "1,2\n1,two\n");
    bad(
        "--input text.csv",
        3,
        &["text.csv, line 2, column 2: what stands there is no number"],
    );
    png(
        &path.join("small.png"),
        [2, 2],
        png::ColorType::Grayscale,
        &[0; 4],
    );
    bad(
        "--input small.png",
        3,
        &["small.png", "2 x 2 pixels", "1 x 28 x 28"],
    );
    png(
        &path.join("colour.png"),
        [28, 28],
        png::ColorType::Rgb,
        &[0; 3 * 784],
    );
    bad(
        "--input colour.png",
        3,
        &["colour.png", "red, green and blue"],
    );
    write(path, "no.png", "no image");
    bad("--input no.png", 3, &["no.png", "no PNG"]);
    bad(
        "--input short.csv --mean 1",
        2,
        &["--mean", "no --input is a .png"],
    );
    bad(
        "--input short.csv --input short.csv",
        2,
        &["--input names 2 files"],
    );
    bad("--input gone.csv", 3, &["gone.csv"]);
    bad("--input small.png --scale 0", 2, &["--scale"]);
}
