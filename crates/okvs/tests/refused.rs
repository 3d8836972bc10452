//! What is refused, and in which words.

use madrigal_kernels::Block;
use madrigal_okvs::{OkvsError, Shape, decode, decode_each, encode};

use crate::{blocks, rng, values};

#[test]
fn a_key_that_comes_twice_is_told() {
    for n in [2, 3, 100, 5000] {
        let shape = Shape::for_keys(n as u64).unwrap();
        for (first, second) in [(0, n - 1), (n / 2 - 1, n / 2), (0, 1)] {
            if first == second {
                continue;
            }
            let mut keys = blocks(1, n);
            keys[second] = keys[first];
            let mut values = values::<u64>(2, n);
            for same_value in [false, true] {
                if same_value {
                    values[second] = values[first];
                }
                let error = encode(&shape, Block::ZERO, &keys, &values, &mut rng(3)).unwrap_err();
                assert_eq!(error, OkvsError::DuplicateKey { first, second });
            }
        }
    }
    let text = OkvsError::DuplicateKey {
        first: 3,
        second: 5,
    }
    .to_string();
    assert!(text.contains("places 3 and 5"), "{text}");
}

#[test]
fn lengths_that_do_not_fit_are_told() {
    let shape = Shape::for_keys(10).unwrap();
    let (keys, words) = (blocks(1, 10), values::<u64>(2, 10));
    let length = |what, expected, got| {
        Err::<(), _>(OkvsError::Length {
            what,
            expected,
            got,
        })
    };
    let coded = |keys: &[Block], values: &[u64]| {
        encode(&shape, Block::ZERO, keys, values, &mut rng(1)).map(drop)
    };
    assert_eq!(coded(&keys[1..], &words), length("keys", 10, 9));
    assert_eq!(coded(&keys, &words[1..]), length("values", 10, 9));
    assert_eq!(coded(&[], &[]), length("keys", 10, 0));
    let store = values::<u64>(3, shape.columns());
    let read = |store: &[u64], n: usize| decode(&shape, Block::ZERO, &keys, store, &mut vec![0; n]);
    assert_eq!(read(&store, 9), length("results", 10, 9));
    for columns in [0, 1, shape.columns() - 1] {
        let error = length("columns", shape.columns(), columns);
        assert_eq!(read(&store[..columns], 10), error);
        assert_eq!(
            decode_each(&shape, Block::ZERO, &keys, &store[..columns], |_| {}),
            error
        );
    }
    let text = length("columns", 5, 4).unwrap_err().to_string();
    assert!(
        text.starts_with("4 columns were given where 5 belong"),
        "{text}"
    );
}

#[test]
fn shapes_that_cannot_be_are_told() {
    let most = Shape::MOST_KEYS;
    assert_eq!(most, 1 << 28);
    for keys in [most + 1, u64::MAX] {
        let error = Err(OkvsError::TooManyKeys { keys, most });
        assert_eq!(Shape::for_keys(keys), error);
        assert_eq!(Shape::with_columns(keys, 256), error);
    }
    for columns in [0, 64, 192, 255, 257, 300, (1 << 31) + 64, u64::MAX] {
        assert_eq!(
            Shape::with_columns(1, columns),
            Err(OkvsError::Columns { columns })
        );
    }
    assert_eq!(Shape::with_columns(7, 1 << 31).unwrap().columns(), 1 << 31);
    assert_eq!(Shape::for_keys(0).unwrap().columns(), 256);
}

/// More keys than columns are dependent, and it is not a key's fault.
#[test]
fn rows_that_are_dependent_are_told() {
    let shape = Shape::with_columns(257, 256).unwrap();
    let error = encode(
        &shape,
        Block::ZERO,
        &blocks(1, 257),
        &values::<u64>(2, 257),
        &mut rng(1),
    )
    .unwrap_err();
    assert_eq!(error, OkvsError::Dependent);
    assert!(error.to_string().contains("another seed"), "{error}");
}
