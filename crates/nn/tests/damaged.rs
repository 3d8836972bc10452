//! Valid files with a few bytes changed: they end in errors, or are models.

use madrigal_nn::{Limits, Model, Options, Tensor, proto};

use crate::common::{Net, Random};

/// Models of most operators, to be damaged.
fn valid() -> Vec<Vec<u8>> {
    let image = || Net::new(13).input("x", &[1, 2, 6, 6]);
    let kernel = [0.5; 36];
    let nets = [
        image()
            .constant("w", &[2, 2, 3, 3], &kernel)
            .node("c = Conv(x, w)")
            .int_list("pads", &[1, 1, 1, 1])
            .node("r = Relu(c)")
            .node("p = MaxPool(r)")
            .int_list("kernel_shape", &[2, 2])
            .int_list("strides", &[2, 2])
            .node("y = Flatten(p)"),
        image()
            .constant("w", &[2, 2, 3, 3], &kernel)
            .node("c = ConvTranspose(x, w)")
            .int_list("strides", &[2, 2])
            .node("p = AveragePool(c)")
            .int_list("kernel_shape", &[3, 3])
            .int("ceil_mode", 1)
            .int("count_include_pad", 1)
            .node("y = GlobalAveragePool(p)"),
        image()
            .ints("starts", &[1, 0])
            .ints("ends", &[-1, 9])
            .ints("axes", &[2, -1])
            .ints("shape", &[0, -1])
            .node("s = Slice(x, starts, ends, axes)")
            .node("t = Transpose(s)")
            .int_list("perm", &[0, 2, 3, 1])
            .node("f = Reshape(t, shape)")
            .node("a b = Split(f)")
            .int("axis", 1)
            .node("y = Concat(b, a)")
            .int("axis", -1),
        image()
            .ints("k", &[3])
            .ints("pads", &[0, 0, 1, 2, 0, 0, 2, 1])
            .node("p = Pad(x, pads)")
            .text("mode", "reflect")
            .node("s = Softmax(p)")
            .node("m i = TopK(s, k)")
            .node("a = ArgMax(m)")
            .node("g = Gather(s, a)")
            .node("y = ReduceMean(g)")
            .int_list("axes", &[1, 2]),
        image()
            .constant("roi", &[0], &[])
            .constant("scales", &[4], &[1.0, 1.0, 2.0, 0.5])
            .node("r = Resize(x, roi, scales)")
            .text("mode", "cubic")
            .node("d = DepthToSpace(r)")
            .int("blocksize", 1)
            .node("y = LRN(d)")
            .int("size", 3),
        image()
            .tensor(proto::Tensor {
                name: "q".into(),
                dims: vec![2, 2, 1, 1],
                data_type: 3,
                int32_data: vec![1, -2, 3, -4],
                ..Default::default()
            })
            .constant("scale", &[2], &[0.5, 0.25])
            .ints("bounds", &[3, 1])
            .ints("from", &[0, -1])
            .node("w = DequantizeLinear(q, scale)")
            .int("axis", 0)
            .node("c = Conv(x, w)")
            .node("s = Shape(c)")
            .node("g = Gather(s, from)")
            .node("f = Flatten(c)")
            .node("e = Expand(f, bounds)")
            .node("t = ConstantOfShape(g)")
            .node("d = ReduceSum(t)")
            .node("z = Add(e, d)")
            .node("y = Tile(z, bounds)"),
    ];
    nets.map(|net| net.output("y").file()).to_vec()
}

#[test]
fn what_is_to_be_damaged_is_valid() {
    for file in valid() {
        let graph = Model::read(file, &Limits::default())
            .unwrap()
            .import(&Options::default())
            .unwrap();
        assert_eq!(graph.outputs().len(), 1);
    }
}

#[test]
fn damaged_files_end_in_errors_or_run() {
    let mut random = Random::new();
    let limits = Limits {
        bytes: 1 << 16,
        parts: 1 << 10,
        elements: 1 << 14,
        work: 1 << 18,
        memory: 1 << 20,
    };
    let rounds = std::env::var("MADRIGAL_MUTATIONS").map_or(3000, |n| n.parse().unwrap());
    let (mut imported, mut computed, mut stripped) = (0, 0, 0);
    for file in valid() {
        for _ in 0..rounds {
            let mut file = file.clone();
            for _ in 0..=random.below(4) {
                let at = random.below(file.len());
                match random.below(5) {
                    0 => file[at] = random.below(256) as u8,
                    1 => file[at] ^= 1 << random.below(8),
                    2 => file.insert(at, random.below(256) as u8),
                    3 => drop(file.remove(at)),
                    // Large numbers and negative ones are ten bytes.
                    _ => drop(file.splice(at..at + 1, [0xff; 9].into_iter().chain([1]))),
                }
            }
            let Ok(model) = Model::read(file, &limits) else {
                continue;
            };
            let graph = match model.import(&Options::batch(2)) {
                Ok(graph) => graph,
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    continue;
                }
            };
            imported += 1;
            // Without its weights it is refused, or read and imported alike.
            if let Ok(bare) = model.without_weights(&Options::batch(2)) {
                let again = Model::read(bare.file, &Limits::default()).unwrap();
                let again = again.import(&Options::batch(2)).unwrap();
                assert_eq!(again.trained(), 0);
                stripped += 1;
            }
            if graph.count().steps > 1 << 18 {
                continue;
            }
            let ty = graph
                .inputs()
                .iter()
                .map(|(_, id)| graph.value(*id).ty.clone());
            let ones: Option<Vec<Tensor>> = ty
                .map(|ty| Tensor::f32(ty.shape.clone(), vec![1.0; ty.elements()]).ok())
                .collect();
            computed += usize::from(graph.evaluate(&ones.unwrap()).is_ok());
        }
    }
    println!("{imported} imported, {computed} computed, {stripped} stripped");
    assert!(computed > rounds / 10 && stripped > imported / 2);
}
