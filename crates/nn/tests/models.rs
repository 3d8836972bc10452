//! Trained networks, against what onnxruntime made of the same inputs.

use madrigal_nn::{Limits, Model, Options, Tensor, npy};
use madrigal_testkit::shared_data;

/// Classes of rows of logits.
fn classes(logits: &[f32], count: usize) -> Vec<usize> {
    let rows = logits.chunks(count);
    rows.map(|row| {
        (0..count)
            .max_by(|&a, &b| row[a].total_cmp(&row[b]))
            .unwrap()
    })
    .collect()
}

fn check(name: &str) {
    let Some(shared) = shared_data() else { return };
    let folder = shared.join("data/models").join(name);
    let load = |file: &str| npy::read(&std::fs::read(folder.join(file)).unwrap()).unwrap();
    let (images, expected) = (load("images.npy"), load("logits.npy"));
    let file = std::fs::read(folder.join(format!("{name}.onnx"))).unwrap();
    let model = Model::read(file, &Limits::default()).unwrap();
    let graph = model.import(&Options::batch(images.shape()[0])).unwrap();
    let found: Vec<Tensor> = graph.evaluate(&[images]).unwrap();
    let (found, expected) = (found[0].as_f32().unwrap(), expected.as_f32().unwrap());
    assert_eq!(found.len(), expected.len());
    let errors = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
    let worst = errors.fold(0.0, f32::max);
    println!("{name}: largest error {worst:e}");
    assert!(worst < 1e-3, "{name}: {worst}");
    assert_eq!(classes(found, 10), classes(expected, 10), "{name}");
}

#[test]
fn cryptonets_relu() {
    check("cryptonets_relu");
}

#[test]
fn cryptonets_square() {
    check("cryptonets_square");
}

#[test]
fn minionn_mnist() {
    check("minionn_mnist");
}

#[test]
fn minionn_cifar10() {
    check("minionn_cifar10");
}

#[test]
fn mlp() {
    check("mlp_784_128_128_10");
}
