//! Shares add up to the product, messages are as long as the layout says, and what is no message is
//! refused.

#![allow(
    clippy::unwrap_used,
    reason = "a failed unwrap is a failed test with a location"
)]

use madrigal_core::{Convolution, Product, Ring};
use madrigal_kernels::crew::Crew;
use madrigal_kernels::{Block, Prg, meter};
use madrigal_lattice::{LatticeError, Layout, Owner, Responder};
use proptest::prelude::*;

fn elements<T: Ring>(prg: &mut Prg, count: usize) -> Vec<T> {
    (0..count)
        .map(|_| T::from_u128(prg.next_block().into()))
        .collect()
}

fn product<T: Ring>([p, k, q]: [usize; 3], x: &[T], y: &[T]) -> Vec<T> {
    let entry = |i: usize| {
        let terms = (0..k).map(|j| x[i / q * k + j].mul(y[j * q + i % q]));
        terms.fold(T::ZERO, T::add)
    };
    (0..p * q).map(entry).collect()
}

struct Both {
    layout: Layout,
    owner: Owner,
    responder: Responder,
}

fn both<T: Ring>([p, k, q]: [usize; 3], seed: u64) -> Both {
    both_of::<T>(Layout::new(T::BITS, p, k, q).unwrap(), seed)
}

fn both_of<T: Ring>(layout: Layout, seed: u64) -> Both {
    let mut owner = Owner::new(T::BITS, Block::new(seed, 1), 1).unwrap();
    let key = owner.public_key();
    assert_eq!(key.len() as u64, Responder::key_cost(T::BITS).unwrap()[0]);
    Both {
        layout,
        owner,
        responder: Responder::new(T::BITS, &key, Block::new(seed, 2), 2).unwrap(),
    }
}

impl Both {
    fn multiply<T: Ring>(&mut self, x: &[T], y: &[T], results: usize) -> [Vec<T>; 2] {
        let [mut z, mut w] = [(); 2].map(|()| vec![T::ZERO; results]);
        let Self {
            layout,
            owner,
            responder,
        } = self;
        for request in layout.requests() {
            let message = owner.request(layout, &request, x);
            assert_eq!(message.len(), layout.request_len(&request));
            let asked = responder.read(layout, &request, &message).unwrap();
            for columns in layout.answers() {
                let message = responder.answer(&asked, &columns, y, &mut w);
                assert_eq!(message.len(), layout.answer_len(&request, &columns));
                owner
                    .open(layout, &request, &columns, &message, &mut z)
                    .unwrap();
            }
        }
        [z, w]
    }
}

fn check<T: Ring>(sizes: [usize; 3], x: &[T], y: &[T], seed: u64) {
    let [z, w] = both::<T>(sizes, seed).multiply(x, y, sizes[0] * sizes[2]);
    let sum: Vec<T> = z.iter().zip(&w).map(|(&z, &w)| z.add(w)).collect();
    assert_eq!(sum, product(sizes, x, y), "{sizes:?}, {} bits", T::BITS);
}

fn random<T: Ring>(sizes @ [p, k, q]: [usize; 3], seed: u64) {
    let mut prg = Prg::new(Block::new(seed, 0));
    let (x, y) = (
        elements::<T>(&mut prg, p * k),
        elements::<T>(&mut prg, k * q),
    );
    check(sizes, &x, &y, seed);
}

#[test]
fn every_width() {
    for sizes in [[1, 1, 1], [3, 5, 7], [20, 30, 10]] {
        random::<u8>(sizes, 1);
        random::<u16>(sizes, 2);
        random::<u32>(sizes, 3);
        random::<u64>(sizes, 4);
    }
}

/// Several ciphertexts each way, and several parts.
#[test]
fn many_shapes() {
    random::<u64>([1, 9000, 1], 5);
    random::<u64>([1, 64, 1000], 6);
    random::<u32>([1000, 64, 1], 7);
    random::<u64>([100, 3, 100], 8);
    random::<u64>([2, 600, 2], 9);
    random::<u16>([1, 4000, 3], 10);
    random::<u32>([1, 2, 70_000], 11);
}

/// Whatever the number of threads, messages, shares and AES blocks are the same.
#[test]
fn threads_change_nothing() {
    fn with<T: Ring>(layout: Layout, lengths: [usize; 3], threads: usize) -> ([Vec<T>; 2], u64) {
        let mut prg = Prg::new(Block::new(15, 0));
        let [x, y] = [lengths[0], lengths[1]].map(|len| elements::<T>(&mut prg, len));
        let crew = Crew::new(threads).unwrap();
        meter::metered(|| crew.at_work(|| both_of::<T>(layout, 15).multiply(&x, &y, lengths[2])))
    }
    let mut convolution = Convolution::new(5, [30, 30], 20, [3, 3]);
    convolution.images = 3;
    let images = Product::Convolution(convolution).lengths();
    for threads in [2, 3, 8] {
        for [p, k, q] in [[100, 64, 100], [1, 9000, 3]] {
            let layout = Layout::new(64, p, k, q).unwrap();
            let lengths = [p * k, k * q, p * q];
            let of = |threads| with::<u64>(layout, lengths, threads);
            assert!(of(threads) == of(1), "{threads} threads");
        }
        let layout = Layout::of_images(32, &convolution).unwrap();
        let lengths = [images[1], images[0], images[2]];
        let of = |threads| with::<u32>(layout, lengths, threads);
        assert!(of(threads) == of(1), "{threads} threads");
    }
}

/// The largest factors make the largest noise.
#[test]
fn the_ends_of_the_range() {
    fn ends<T: Ring>() {
        let sizes @ [p, k, q] = [4, 600, 4];
        let low = T::ONE.shl(T::BITS - 1);
        for x in [T::ZERO, low, low.sub(T::ONE), T::ZERO.sub(T::ONE)] {
            for y in [low, low.sub(T::ONE)] {
                check(sizes, &vec![x; p * k], &vec![y; k * q], 12);
            }
        }
    }
    ends::<u8>();
    ends::<u16>();
    ends::<u32>();
    ends::<u64>();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_shape(p in 1..40_usize, k in 1..200_usize, q in 1..40_usize, seed in any::<u64>()) {
        random::<u64>([p, k, q], seed);
        random::<u16>([p, k, q], seed);
    }
}

/// Neither share alone depends on the factors: each is uniform.
#[test]
fn shares_are_uniform() {
    let sizes = [16, 4, 64];
    let (x, y) = (vec![1_u8; 16 * 4], vec![1_u8; 4 * 64]);
    let mut counts = [[0_u32; 256]; 2];
    let mut both = both::<u8>(sizes, 13);
    for _ in 0..16 {
        for (counts, share) in counts.iter_mut().zip(both.multiply(&x, &y, 16 * 64)) {
            share.iter().for_each(|&z| counts[usize::from(z)] += 1);
        }
    }
    for counts in counts {
        let expected = 16.0 * 1024.0 / 256.0;
        let square = |&count: &u32| (f64::from(count) - expected).powi(2) / expected;
        let chi: f64 = counts.iter().map(square).sum();
        // 255 degrees of freedom: 1e-9 above 410.
        assert!((120.0..410.0).contains(&chi), "{chi}");
    }
}

#[test]
fn what_is_no_message_is_refused() {
    let Both {
        layout,
        mut owner,
        mut responder,
    } = both::<u64>([3, 4, 3], 14);
    let (x, y, mut z) = ([1_u64; 12], [2_u64; 12], [0_u64; 9]);
    let about = layout.requests().next().unwrap();
    let request = owner.request(&layout, &about, &x);
    let asked = responder.read(&layout, &about, &request).unwrap();
    let answer = responder.answer(&asked, &(0..3), &y, &mut z);
    let mut open = |message: &[u8]| owner.open(&layout, &about, &(0..3), message, &mut z);
    let read = |message: &[u8]| responder.read(&layout, &about, message).map(drop);
    let length = |message: &[u8], got| {
        Err(LatticeError::Length {
            expected: message.len(),
            got,
        })
    };
    let resized = |message: &[u8], len| {
        let mut message = message.to_vec();
        message.resize(len, 0);
        message
    };
    for got in [0, request.len() - 1, request.len() + 1] {
        assert_eq!(read(&resized(&request, got)), length(&request, got));
    }
    for got in [0, answer.len() - 1, answer.len() + 1] {
        assert_eq!(open(&resized(&answer, got)), length(&answer, got));
    }
    let mut high = request.clone();
    high[16..23].fill(0xff);
    assert_eq!(read(&high), Err(LatticeError::Residue));
    let mut high = answer.clone();
    high[..7].fill(0xff);
    assert_eq!(open(&high), Err(LatticeError::Residue));
    // Nine results, two primes: 900 bits.
    let mut padded = answer;
    *padded.last_mut().unwrap() |= 0x80;
    assert_eq!(open(&padded), Err(LatticeError::Padding));
    let key = owner.public_key();
    let told = Responder::new(64, &key[1..], Block::ZERO, 0).map(drop);
    assert_eq!(told, length(&key, key.len() - 1));
}

/// A layout of another width is documented to be a mistake of the caller's, never a wrong share.
#[test]
fn layouts_of_another_width_panic() {
    let owner = Owner::new(32, Block::new(15, 1), 1).unwrap();
    let layout = Layout::new(16, 2, 2, 2).unwrap();
    let about = layout.requests().next().unwrap();
    let message = vec![0; layout.answer_len(&about, &(0..2))];
    let opened = std::panic::catch_unwind(|| {
        owner.open(&layout, &about, &(0..2), &message, &mut [0_u32; 4])
    });
    assert!(opened.is_err(), "{opened:?}");
}

fn outputs<T: Ring>(convolution: &Convolution, images: &[T], filters: &[T]) -> Vec<T> {
    let [rows, columns] = convolution.output();
    let count = convolution.images * convolution.filters * rows * columns;
    let output = |output| {
        let terms = convolution.terms(output);
        terms.fold(T::ZERO, |sum, (filter, image)| match image {
            Some(image) => sum.add(filters[filter].mul(images[image])),
            None => sum,
        })
    };
    (0..count).map(output).collect()
}

fn convolves<T: Ring>(convolution: Convolution, seed: u64) {
    let product = madrigal_core::Product::Convolution(convolution);
    let [filters, images, results] = product.lengths();
    let mut prg = Prg::new(Block::new(seed, 0));
    let filters = elements::<T>(&mut prg, filters);
    let images = elements::<T>(&mut prg, images);
    let layout = Layout::of_images(T::BITS, &convolution).unwrap();
    let [z, w] = both_of::<T>(layout, seed).multiply(&images, &filters, results);
    let sum: Vec<T> = z.iter().zip(&w).map(|(&z, &w)| z.add(w)).collect();
    let expected = outputs(&convolution, &images, &filters);
    assert!(
        sum == expected,
        "{convolution:?}, {} bits, seed {seed}",
        T::BITS
    );
}

/// Every rule of convolutions, several ciphertexts, tiles and parts, planes of several phases.
#[test]
fn images_by_filters() {
    let plain = Convolution::new(3, [9, 8], 4, [3, 3]);
    let padded = Convolution {
        padding: [[1, 1]; 2],
        ..plain
    };
    let all = [
        plain,
        padded,
        Convolution::new(1, [1, 1], 1, [1, 1]),
        Convolution {
            images: 7,
            ..padded
        },
        Convolution {
            stride: [2, 2],
            ..padded
        },
        // A filter that meets a part of the pixels alone.
        Convolution {
            stride: [3, 2],
            filter: [1, 1],
            ..plain
        },
        Convolution {
            stride: [2, 3],
            dilation: [2, 2],
            image: [17, 15],
            padding: [[0, 2], [3, 1]],
            ..plain
        },
        Convolution {
            groups: 3,
            channels: 6,
            filters: 9,
            images: 2,
            ..padded
        },
        // One filter for each channel.
        Convolution {
            groups: 5,
            channels: 5,
            filters: 5,
            ..padded
        },
        // Tiles: two by rows, and columns too.
        Convolution::new(1, [120, 100], 2, [5, 5]),
        Convolution::new(1, [2, 9000], 2, [2, 3]),
        Convolution::new(300, [6, 6], 3, [3, 3]),
        // One plane for each ciphertext, and more of them than a request has.
        Convolution::new(140, [80, 80], 1, [1, 1]),
    ];
    for (seed, convolution) in (20..).zip(all) {
        convolves::<u64>(convolution, seed);
    }
    convolves::<u8>(padded, 1);
    convolves::<u16>(padded, 2);
    convolves::<u32>(padded, 3);
}

/// No part of what this filter needs of an image fits a polynomial.
#[test]
fn filters_larger_than_polynomials() {
    let convolution = Convolution::new(1, [100, 100], 1, [95, 95]);
    assert_eq!(Layout::of_images(64, &convolution), None);
    assert_eq!(
        Layout::of_images(128, &Convolution::new(1, [1, 1], 1, [1, 1])),
        None
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn any_convolution(
        images in 1..4_usize,
        [groups, channels, filters] in [1..3_usize, 1..4, 1..4],
        image in [1..20_usize, 1..20],
        filter in [1..5_usize, 1..5],
        [stride, dilation] in [[1..4_usize, 1..4], [1..4, 1..4]],
        padding in [[0..3_usize, 0..3], [0..3, 0..3]],
        seed in any::<u64>(),
    ) {
        let convolution = Convolution {
            images,
            groups,
            channels: groups * channels,
            image,
            filters: groups * filters,
            filter,
            stride,
            dilation,
            padding,
        };
        prop_assume!(convolution.checked_output().is_some());
        convolves::<u16>(convolution, seed);
    }
}
