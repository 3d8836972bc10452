//! NumPy's files: written and read, and refused.

use madrigal_nn::npy::{NpyError, read, write};
use madrigal_nn::{Data, Element, Tensor};

/// A file with this header.
fn file(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
    let mut file = b"\x93NUMPY".to_vec();
    file.extend([version, 0]);
    match version {
        1 => file.extend((header.len() as u16).to_le_bytes()),
        _ => file.extend((header.len() as u32).to_le_bytes()),
    }
    file.extend(header.as_bytes());
    file.extend(data);
    file
}

fn header(kind: &str, fortran: &str, shape: &str) -> String {
    format!("{{'descr': '{kind}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n")
}

#[test]
fn written_is_read() {
    let ints = |element| Tensor::new(element, vec![2, 1], Data::Int(vec![-1, 3])).unwrap();
    let tensors = [
        Tensor::f32(vec![], vec![1.5]).unwrap(),
        Tensor::f32(vec![0, 3], vec![]).unwrap(),
        Tensor::new(Element::F64, vec![3], Data::F64(vec![1.0, -0.0, 1e300])).unwrap(),
        Tensor::bool(vec![2], vec![true, false]).unwrap(),
        ints(Element::I8),
        ints(Element::I16),
        ints(Element::I32),
        ints(Element::I64),
        ints(Element::U8),
        ints(Element::U16),
        ints(Element::U32),
        ints(Element::U64),
    ];
    for tensor in tensors {
        let file = write(&tensor);
        let end = file.iter().position(|&byte| byte == b'\n').unwrap() + 1;
        assert_eq!(end % 64, 0);
        assert_eq!(read(&file), Ok(tensor));
    }
}

/// Files that `numpy.save` wrote of `numpy.array([[1, 2, 3], [4, 5, 6]], order="F")` in int16 have this form.
#[test]
fn either_order_and_version() {
    let data: Vec<u8> = [1u16, 4, 2, 5, 3, 6]
        .iter()
        .flat_map(|v| v.to_le_bytes())
        .collect();
    for version in 1..=3 {
        let found = read(&file(version, &header("<i2", "True", "(2, 3)"), &data)).unwrap();
        assert_eq!(
            (found.element(), found.shape()),
            (Element::I16, &[2, 3][..])
        );
        assert_eq!(found.as_ints().unwrap(), [1, 2, 3, 4, 5, 6]);
    }
    let half = read(&file(
        1,
        &header("<f2", "False", "(2,)"),
        &[0, 0x3c, 0, 0xc0],
    ))
    .unwrap();
    assert_eq!(
        (half.element(), half.as_f32().unwrap()),
        (Element::F16, &[1.0, -2.0][..])
    );
}

#[test]
fn refused() {
    let of = |kind: &str, shape: &str| read(&file(1, &header(kind, "False", shape), &[0; 8]));
    assert!(matches!(of(">f4", "(2,)"), Err(NpyError::Element(_))));
    assert!(matches!(of("|O", "(2,)"), Err(NpyError::Element(_))));
    let length = NpyError::Length {
        expected: 12,
        found: 8,
    };
    assert_eq!(of("<f4", "(3,)"), Err(length));
    assert!(matches!(
        of("<f4", "(4000000000, 4000000000, 4)"),
        Err(NpyError::Shape(_))
    ));
    assert!(matches!(
        of("<f8", "(2305843009213693952,)"),
        Err(NpyError::Shape(_))
    ));
    assert!(matches!(
        of("<f4", "(0, 4000000000, 4000000000, 4)"),
        Err(NpyError::Shape(_))
    ));
    assert!(matches!(of("<f4", "(-1,)"), Err(NpyError::Fields(_))));
    assert!(matches!(of("<f4", "2"), Err(NpyError::Fields(_))));
    assert_eq!(read(b"PK\x03\x04"), Err(NpyError::Magic));
    assert_eq!(read(b"\x93NUMPY\x04\x00"), Err(NpyError::Version(4)));
    assert_eq!(read(b"\x93NUMPY\x01\x00\x10\x00{"), Err(NpyError::Cut));
    let mut long = b"\x93NUMPY\x02\x00".to_vec();
    long.extend(u32::MAX.to_le_bytes());
    assert_eq!(read(&long), Err(NpyError::Header(u32::MAX as usize)));
    let good = file(1, &header("<f4", "False", "(2,)"), &[0; 8]);
    for cut in 0..good.len() {
        assert!(read(&good[..cut]).is_err(), "{cut}");
    }
}
