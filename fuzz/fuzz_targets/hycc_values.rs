//! Values as HyCC writes them.
#![no_main]

use madrigal_hycc::{Type, Values};

fn int(bits: u32, signed: bool) -> Type {
    Type::Integer { bits, signed }
}

fn array(len: u32, element: Type) -> Type {
    let element = Box::new(element);
    Type::Array { len, element }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let types = [
        ("a", int(32, true)),
        ("b", array(2, array(2, int(7, false)))),
        (
            "c",
            Type::Struct(vec![
                ("x".into(), int(8, true)),
                ("y".into(), array(3, Type::Bool)),
            ]),
        ),
        ("d", int(130, true)),
    ];
    let type_of = |name: &str| types.iter().find(|(own, _)| *own == name).map(|(_, ty)| ty);
    let Ok(values) = Values::read(text, &type_of) else {
        return;
    };
    // What is written is read as the same.
    for run in 0..values.runs() {
        for name in values.names(run) {
            let ty = type_of(name).expect("only these are read");
            let written = values.text(run, name, ty).expect("it has a value");
            let mut again = Values::new(1);
            again
                .set(0, name, ty, &written)
                .expect("what was written can be read");
            assert_eq!(again.bits(0, name), values.bits(run, name), "{name}");
        }
    }
});
