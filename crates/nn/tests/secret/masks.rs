//! Numbers that mean infinity. All of these were refused before, for numbers that the type does not have.

use super::*;
use madrigal_nn::secret::UnfitError;

const MASKS: [f32; 4] = [f32::NEG_INFINITY, f32::MIN, -1e30, -1e10];

/// Gives the meaning of a model in a type, or why it is not to be had.
fn meant_in(net: &Net, data: &[Tensor], number: Type) -> Result<Vec<Tensor>, String> {
    let graph = net.import().unwrap();
    let format = Format { number, ..FORMAT };
    let network = graph.on_secrets(&roles(2), format);
    let network = network.map_err(|error: UnfitError| error.to_string())?;
    let inputs = network.with_weights(&graph, Inputs::new());
    let inputs = inputs.map_err(|error| error.to_string())?;
    let inputs = network.with_data(data, inputs).unwrap();
    let checked = network.program().check(&inputs).unwrap();
    assert!(checked.overflows.is_empty(), "{:?}", checked.overflows);
    let results = network.results(&checked.outputs).into_iter();
    Ok(results.map(|(_, one)| one.unwrap()).collect())
}

/// Types with much room above the point and with little.
fn types() -> [Type; 5] {
    [(64, 16), (64, 24), (64, 31), (32, 12), (16, 7)].map(|(b, f)| Type::fixed(b, f).unwrap())
}

/// A model comes to what it means in the clear, in every type.
#[track_caller]
fn same(net: &Net, data: &[Tensor], what: &str) {
    let expected = net.import().unwrap().evaluate(data).unwrap();
    for number in types() {
        // In the clear they are computed in single precision.
        let bound = (16.0 * 2f64.powi(-(number.fraction() as i32))).max(1e-6);
        let what = format!("{what} in {number}");
        let found = meant_in(net, data, number).unwrap_or_else(|error| panic!("{what}: {error}"));
        close(&found, &expected, bound, &what);
    }
}

fn scores() -> Tensor {
    tensor(&[2, 4], &[0.5, -1.25, 3.0, 2.0, -0.5, 1.0, 0.25, -3.0])
}

#[test]
fn masks_are_added_before_a_softmax() {
    for mask in MASKS {
        let rows = [0.0, mask, 0.0, mask, mask, 0.0, 0.0, 0.0];
        let net = Net::new(18)
            .input("x", &[2, 4])
            .constant("mask", &[2, 4], &rows)
            .node("m = Add(x, mask)")
            .node("y = Softmax(m)")
            .output("y");
        same(&net, &[scores()], &format!("{mask}"));
        // Two masks, one of them taken off, and their rows moved.
        let net = Net::new(18)
            .input("x", &[2, 4])
            .constant("mask", &[2, 4], &rows)
            .constant("other", &[4], &[0.0, -mask, 0.0, 0.0])
            .node("m = Add(x, mask)")
            .node("n = Sub(m, other)")
            .node("t = Transpose(n)")
            .node("y = Softmax(t)")
            .int("axis", 0)
            .output("y");
        same(&net, &[scores()], &format!("twice {mask}"));
        let net = Net::new(18)
            .input("x", &[2, 4])
            .constant("w", &[4, 4], &[0.25; 16])
            .constant("mask", &[2, 4], &rows)
            .constant("root", &[], &[2.0])
            .node("s = MatMul(x, w)")
            .node("m = Add(s, mask)")
            .node("d = Div(m, root)")
            .node("y = Softmax(d)")
            .output("y");
        same(&net, &[scores()], &format!("{mask} divided"));
    }
}

/// A mask among the data, as transformers make it: what is kept is 1.
#[test]
fn masks_are_made_of_data() {
    for mask in MASKS {
        if mask.is_infinite() {
            // 0 times infinity is no number.
            continue;
        }
        let net = Net::new(18)
            .input("x", &[2, 4])
            .input_of("kept", 7, &[2, 4])
            .constant("one", &[], &[1.0])
            .constant("mask", &[], &[mask])
            .node("k = Cast(kept)")
            .int("to", 1)
            .node("a = Sub(one, k)")
            .node("m = Mul(a, mask)")
            .node("s = Mul(x, x)")
            .node("t = Add(s, m)")
            .node("y = Softmax(t)")
            .output("y");
        let kept = Tensor::i64(vec![2, 4], vec![1, 0, 1, 1, 0, 1, 0, 1]).unwrap();
        let x = tensor(&[2, 4], &[0.5, -1.25, 1.0, 0.75, -0.5, 1.0, 0.25, -1.0]);
        same(&net, &[x, kept], &format!("{mask}"));
    }
}

#[test]
fn a_choice_may_be_minus_infinity() {
    for mask in MASKS {
        for rest in [
            "y = Softmax(c)",
            "y = Exp(c)",
            "y = Sigmoid(c)",
            "y = Relu(c)",
        ] {
            let net = Net::new(18)
                .input("x", &[2, 4])
                .constant("bound", &[], &[0.75])
                .constant("mask", &[], &[mask])
                .node("b = Less(x, bound)")
                .node("c = Where(b, x, mask)")
                .node(rest)
                .output("y");
            same(&net, &[scores()], &format!("{mask} {rest}"));
        }
        for rest in ["y = ReduceMax(c)", "y = ArgMax(c)"] {
            let net = Net::new(13)
                .input("x", &[2, 4])
                .constant("bound", &[], &[0.75])
                .constant("mask", &[], &[mask])
                .node("b = Less(x, bound)")
                .node("c = Where(b, x, mask)")
                .node(rest);
            let net = match rest.contains("Arg") {
                true => net.int("axis", 1),
                false => net.int_list("axes", &[1]),
            };
            same(&net.output("y"), &[scores()], &format!("{mask} {rest}"));
        }
    }
}

#[test]
fn bounds_may_bind_nothing() {
    for mask in MASKS {
        for (text, at) in [
            ("y = Max(x, c)", mask),
            ("y = Min(x, c)", -mask),
            ("b = Less(x, c)", -mask),
            ("b = Less(c, x)", mask),
            ("b = Greater(x, c)", mask),
            ("b = LessOrEqual(x, c)", mask),
            ("b = Equal(x, c)", mask),
        ] {
            for shape in [&[][..], &[4]] {
                let net = Net::new(18).input("x", &[2, 4]);
                let count = shape.iter().product::<i64>() as usize;
                let net = net.constant("c", shape, &vec![at; count]).node(text);
                let net = match text.starts_with('b') {
                    true => net.node("y = Cast(b)").int("to", 1),
                    false => net,
                };
                same(&net.output("y"), &[scores()], &format!("{at} {text}"));
            }
        }
    }
}

#[test]
fn padding_may_be_minus_infinity() {
    for mask in MASKS {
        let net = Net::new(18)
            .input("x", &[2, 4])
            .ints("pads", &[0, 1, 0, 2])
            .constant("mask", &[], &[mask])
            .node("p = Pad(x, pads, mask)")
            .node("y = Softmax(p)")
            .output("y");
        same(&net, &[scores()], &format!("{mask}"));
    }
}

/// Infinities are refused where nothing can stand for them, as before.
#[test]
fn infinities_that_reach_an_output_are_refused() {
    let base = || {
        Net::new(18)
            .input("x", &[2, 4])
            .constant("one", &[], &[f32::NEG_INFINITY])
            .constant("all", &[4], &[f32::NEG_INFINITY; 4])
            .constant("up", &[4], &[f32::INFINITY; 4])
            .constant("none", &[4], &[f32::NAN; 4])
    };
    for nodes in [
        &["y = Add(x, one)"][..],
        &["y = Add(x, all)"],
        &["y = Min(x, all)"],
        &["y = Max(x, up)"],
        &["y = Max(x, none)"],
        &["y = Mul(x, all)"],
        &["m = Mul(x, one)", "y = Softmax(m)"],
        &["m = Add(x, up)", "y = Softmax(m)"],
        &["m = Add(x, all)", "y = LogSoftmax(m)"],
        // A node that reads the mask also elsewhere decides.
        &["m = Add(x, all)", "s = Softmax(m)", "y = Add(s, all)"],
    ] {
        let net = nodes.iter().fold(base(), |net, node| net.node(node));
        let net = net.output("y");
        for number in types() {
            let told = meant_in(&net, &[scores()], number);
            let told = told.expect_err(&format!("{nodes:?} in {number}"));
            assert!(told.contains("inf") || told.contains("NaN"), "{told}");
        }
    }
}

/// The program is the same whatever the weights are: who does not know them has it, too.
#[test]
fn masks_decide_on_no_program() {
    let of = |mask: f32| {
        let net = Net::new(18)
            .input("x", &[2, 4])
            .constant("mask", &[4], &[0.0, mask, 0.0, 0.0])
            .node("m = Add(x, mask)")
            .node("y = Softmax(m)")
            .output("y");
        let network = lowered(&net.import().unwrap(), &roles(2));
        let planned = network
            .program()
            .plan(Mix::usual(2)[0], Some(Goal::Size), &|_| {});
        let planned = planned.unwrap();
        [0, 1].map(|me| planned.plan.cost(Party::new(me)))
    };
    assert_eq!(of(f32::NEG_INFINITY), of(0.0));
}

/// Guards against values that are no numbers never find one.
#[test]
fn a_number_is_a_number() {
    let net = Net::new(18)
        .input("x", &[2, 4])
        .constant("zero", &[], &[0.0])
        .node("n = IsNaN(x)")
        .node("y = Where(n, zero, x)")
        .output("y");
    same(
        &net,
        &[tensor(
            &[2, 4],
            &[0.5, -1.0, 1.0, 2.0, -0.5, 1.5, 0.25, -1.0],
        )],
        "guard",
    );
}

/// All parties compute what the program means.
#[test]
fn masked_attention_by_all_parties() {
    let net = Net::new(18)
        .input("x", &[2, 4])
        .constant(
            "mask",
            &[2, 4],
            &[0.0, f32::MIN, 0.0, 0.0, f32::MIN, 0.0, f32::MIN, 0.0],
        )
        .node("s = Mul(x, x)")
        .node("m = Add(s, mask)")
        .node("y = Softmax(m)")
        .output("y");
    let graph = net.import().unwrap();
    let expected = graph.evaluate(&[scores()]).unwrap();
    for (mix, parties) in [("A+B", 2), ("R", 3)] {
        let found = computed(&graph, &[scores()], mix.parse().unwrap(), parties);
        close(&found, &expected, 16.0 * 2f64.powi(-16), mix);
    }
}
