//! ONNX models, or anything else.
#![no_main]

use madrigal_nn::{Data, Element, Limits, Model, Options, Tensor, Type};

/// Small, so that what is announced and not there shows as memory.
const LIMITS: Limits = Limits {
    bytes: 1 << 20,
    parts: 1 << 12,
    elements: 1 << 16,
    work: 1 << 22,
    memory: 4 << 20,
};

/// A tensor of ones.
fn ones(ty: &Type) -> Tensor {
    let count = ty.elements();
    let data = match ty.element {
        Element::F16 | Element::BF16 | Element::F32 => Data::F32(vec![1.0; count]),
        Element::F64 => Data::F64(vec![1.0; count]),
        Element::Bool => Data::Bool(vec![true; count]),
        _ => Data::Int(vec![1; count]),
    };
    Tensor::new(ty.element, ty.shape.clone(), data).expect("the shape is the graph's")
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let model = match Model::read(bytes.to_vec(), &LIMITS) {
        Ok(model) => model,
        Err(error) => return drop(error.to_string()),
    };
    let graph = match model.import(&Options::batch(2)) {
        Ok(graph) => graph,
        Err(error) => return drop(error.to_string()),
    };
    // Without its weights it is refused, or the same network.
    if let Ok(bare) = model.without_weights(&Options::batch(2)) {
        let again = Model::read(bare.file, &Limits::default()).expect("it was written here");
        let again = again.import(&Options::batch(2)).expect("it was imported");
        assert_eq!(again.trained(), 0);
    }
    if graph.count().steps > 1 << 22 {
        return;
    }
    let inputs = graph.inputs().iter();
    let inputs: Vec<Tensor> = inputs.map(|(_, id)| ones(&graph.value(*id).ty)).collect();
    // What comes is what was inferred.
    let seen = |_: &_, _: &_, id, tensor: &Tensor| {
        assert_eq!(Type::of(tensor), graph.value(id).ty);
    };
    match graph.evaluate_with(&inputs, &mut { seen }) {
        Ok(made) => assert_eq!(made.len(), graph.outputs().len()),
        Err(error) => drop(error.to_string()),
    }
});
