//! Values as HyCC writes them.

use std::collections::BTreeMap;

use madrigal_hycc::{Type, Values};

fn int(bits: u32) -> Type {
    Type::Integer { bits, signed: true }
}

fn array(len: u32, element: Type) -> Type {
    let element = Box::new(element);
    Type::Array { len, element }
}

fn types() -> BTreeMap<&'static str, Type> {
    let members = vec![
        ("a".to_owned(), array(3, int(8))),
        ("ok".to_owned(), Type::Bool),
    ];
    let unsigned = Type::Integer {
        bits: 64,
        signed: false,
    };
    [
        ("INPUT_A", int(32)),
        ("INPUT_A_u", unsigned),
        ("INPUT_B", Type::Struct(members)),
        ("INPUT_B_m", array(2, array(2, int(16)))),
        (
            "wide",
            Type::Integer {
                bits: 130,
                signed: true,
            },
        ),
    ]
    .into()
}

fn read(text: &str) -> Result<Values, String> {
    let types = types();
    Values::read(text, &|name| types.get(name)).map_err(|error| error.to_string())
}

fn shown(values: &Values, run: usize, name: &str) -> String {
    values.text(run, name, &types()[name]).unwrap()
}

#[test]
fn values_are_read_and_written() {
    let values = read(
        "INPUT_A := -5; INPUT_B := {a: [1, -2, 3]; ok: true;};\nprint; return_value == 8;\n\
         INPUT_A_u := 18446744073709551615\n---\nINPUT_A := 0xffffffff\r\nINPUT_B := { ok: 0, a: [127,\n\n-128,0] }\n\
         INPUT_B_m := [[1, 2], [3, 4],]; wide := -1;\n",
    )
    .unwrap();
    assert_eq!(values.runs(), 2);
    assert_eq!(shown(&values, 0, "INPUT_A"), "-5");
    assert_eq!(shown(&values, 0, "INPUT_A_u"), u64::MAX.to_string());
    assert_eq!(shown(&values, 0, "INPUT_B"), "{a: [1, -2, 3]; ok: 1;}");
    assert_eq!(shown(&values, 1, "INPUT_A"), "-1");
    assert_eq!(shown(&values, 1, "INPUT_B"), "{a: [127, -128, 0]; ok: 0;}");
    assert_eq!(shown(&values, 1, "INPUT_B_m"), "[[1, 2], [3, 4]]");
    assert_eq!(shown(&values, 1, "wide"), format!("0x3{}", "f".repeat(32)));
    // A written value is read as the same value.
    let again = format!("INPUT_B := {};", shown(&values, 0, "INPUT_B"));
    assert_eq!(
        read(&again).unwrap().bits(0, "INPUT_B"),
        values.bits(0, "INPUT_B")
    );
    // Bits as one number, and numbers without brackets.
    let flat = read("INPUT_B_m := 0x4000300020001;").unwrap();
    assert_eq!(shown(&flat, 0, "INPUT_B_m"), "[[1, 2], [3, 4]]");
    let bare = read("INPUT_B_m := 1 2, 3 4\nINPUT_A := 7").unwrap();
    assert_eq!(bare.bits(0, "INPUT_B_m"), flat.bits(0, "INPUT_B_m"));
    let mut one = Values::new(1);
    one.set(0, "INPUT_B", &types()["INPUT_B"], "\n1\n-2,3 1\n")
        .unwrap();
    assert_eq!(shown(&one, 0, "INPUT_B"), "{a: [1, -2, 3]; ok: 1;}");
    assert_eq!(format!("{values:?}"), "Values { runs: 2, .. }");
}

#[test]
fn mistakes_are_told_with_their_line_and_without_values() {
    for (text, told) in [
        (
            "\nINPUT_X := 5;",
            "line 2: the program has no input \"INPUT_X\"",
        ),
        (
            "INPUT_A := 5;\nINPUT_A := 6;",
            "line 2: INPUT_A has a value already",
        ),
        ("INPUT_A = 5;", "line 1: expected NAME := VALUE;"),
        (":= 5;", "line 1: expected NAME := VALUE;"),
        (
            "INPUT_A := 2147483648;",
            "line 1: INPUT_A is int32: a number in the range",
        ),
        ("INPUT_A := -2147483649;", "a number in the range"),
        ("INPUT_A := 0x100000000;", "a number in the range"),
        ("INPUT_A := 0x;", "a number in the range"),
        ("INPUT_A := 0x-1;", "a number in the range"),
        ("INPUT_A := +1;", "a number in the range"),
        ("INPUT_A := ;", "a number in the range"),
        ("INPUT_A := 4242x;", "a number in the range"),
        ("INPUT_A_u := -1;", "a number in the range"),
        (
            "INPUT_B := {a: [1,\n2]; ok: 1;};",
            "line 2: INPUT_B is {a: int8[3], ok: bool}: a comma",
        ),
        ("INPUT_B := {a: [1, 2, 3, 4]; ok: 1;};", "the array's end"),
        (
            "INPUT_B := {a: [1, 2, 3]; a: [1, 2, 3];};",
            "another member",
        ),
        ("INPUT_B := {a: [1, 2, 3]; no: 1;};", "a member"),
        ("INPUT_B := {a: [1, 2, 3];};", "a member"),
        ("INPUT_B := {a: [1, 2, 300]; ok: 1;};", "in element 3"),
        ("INPUT_B := {a: [1, 2, 3]; ok: 2;};", "0 or 1"),
        ("INPUT_B_m := 1, 2, 3\nINPUT_A := 1", "in element 4"),
        (
            "INPUT_B_m := 0x10004000300020001;\n",
            "a number of as many bits",
        ),
    ] {
        let found = read(text).unwrap_err();
        assert!(found.contains(told), "{text}: {found}");
        assert!(
            !found.contains("300,") && !found.contains("4242"),
            "{found}"
        );
    }
    let mut values = Values::new(1);
    let more = values.set(0, "INPUT_A", &int(32), "1 2").unwrap_err();
    assert!(more.to_string().contains("no more"), "{more}");
}
