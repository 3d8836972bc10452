//! Between bits in B and elements in A, for all widths, 2, 3 and 5 parties and both openings.
#![allow(clippy::unwrap_used)] // tests

use crate::common::additive::{everywhere, run, sum};
use crate::common::values;
use madrigal_core::{Cost, Party, Phase, PhaseCost, Ring, bits};
use madrigal_kernels::{self as kernels, rings};
use madrigal_protocols::arithmetic::{ArithmeticGmw, InputSharing, share_addend, share_aes_blocks};
use madrigal_protocols::{Opening, planes};
use madrigal_testkit::{World, seed};

use crate::common::additive::Dealer;

const COUNTS: [usize; 6] = [0, 1, 7, 8, 65, 1100];

for_all_widths! {
    bits_as_elements => inject(COUNTS);
    planes_as_elements => compose([0, 1, 9, 1100]);
    bits_times_elements => bit_times(COUNTS);
    addends => addend(COUNTS);
    planes_and_elements => planes([0, 1, 7, 8, 63, 64, 65, 127, 128, 129, 1000]);
}

/// Bits of which the last byte is full, though not all may count.
fn packed(seed: u64, count: usize) -> Vec<u8> {
    values(seed, 77, bits::bytes_for(count))
}

fn bit<T: Ring>(bits: &[u8], i: usize) -> T {
    T::from_u128(u128::from(bits[i / 8] >> (i % 8) & 1))
}

fn inject<T: Ring>(seed: u64, count: usize) {
    let about = format!("{count} as {} bits", T::BITS);
    let b = packed(seed, count);
    let expected: Vec<T> = (0..count).map(|i| bit(&b, i)).collect();
    everywhere(seed, |world @ (_, parties, opening)| {
        let results = run(
            world,
            &about,
            async |gmw, dealer| {
                let mut shared = dealer.bits(1, count);
                let mut z = vec![T::ONE; count];
                gmw.inject(&mut shared, &dealer.share_bits(0, &b), &mut z)
                    .await?;
                assert!(shared.is_empty());
                Ok(z)
            },
            1,
            |me| ArithmeticGmw::inject_cost(opening, me, parties, count),
        );
        assert!(sum(&results) == expected, "{about}");
    });
}

/// Composes bits of all widths up to the ring's, at rows with and without room behind them.
fn compose<T: Ring>(seed: u64, count: usize) {
    let x = values::<T>(seed, 0, count);
    for width in [0, 1, 3, T::BITS - 1, T::BITS] {
        let about = format!("{count} of {width} in {} bits", T::BITS);
        let low = |x: T| match width {
            0 => T::ZERO,
            width => x.shl(T::BITS - width).shr(T::BITS - width),
        };
        let expected: Vec<T> = x.iter().map(|&x| low(x)).collect();
        let stride = bits::bytes_for(count).next_multiple_of(1 + width % 8);
        let mut rows = vec![0xff; width * stride];
        planes::split(&x, &mut rows, stride.max(1));
        everywhere(seed, |world @ (_, parties, opening)| {
            let results = run(
                world,
                &about,
                async |gmw, dealer| {
                    let mut shared = dealer.bits(1, width * count);
                    let mut z = vec![T::ONE; count];
                    let rows = dealer.share_bits(0, &rows);
                    gmw.compose(&mut shared, &rows, stride, &mut z).await?;
                    assert!(shared.is_empty());
                    Ok(z)
                },
                1,
                |me| ArithmeticGmw::compose_cost(opening, me, parties, width, count),
            );
            assert!(sum(&results) == expected, "{about}");
        });
    }
}

fn bit_times<T: Ring>(seed: u64, count: usize) {
    let about = format!("{count} of {} bits", T::BITS);
    let (b, x) = (packed(seed, count), values::<T>(seed, 0, count));
    let expected: Vec<T> = (0..count).map(|i| x[i].mul(bit(&b, i))).collect();
    everywhere(seed, |world @ (_, parties, opening)| {
        let results = run(
            world,
            &about,
            async |gmw, dealer| {
                let (mut shared, mut triples) = (dealer.bits(1, count), dealer.triples(2, count));
                let (b, x) = (dealer.share_bits(0, &b), dealer.share(1, &x));
                let mut z = vec![T::ONE; count];
                gmw.bit_times(&mut shared, &mut triples, &b, &x, &mut z)
                    .await?;
                assert!(shared.is_empty() && triples.is_empty());
                Ok(z)
            },
            1,
            |me| ArithmeticGmw::bit_times_cost::<T>(opening, me, parties, count),
        );
        assert!(sum(&results) == expected, "{about}");
    });
}

/// The addends of the parties, each shared in B, add up to the elements.
fn addend<T: Ring>(seed: u64, count: usize) {
    let x = values::<T>(seed, 0, count);
    let stride = count.div_ceil(64) * 8;
    for parties in [2, 3, 5] {
        let results = World::light(parties, seed).run(|context| {
            let x = &x;
            async move {
                let me = context.me();
                let online = context.enter(Phase::Online, "online");
                let dealer = Dealer { seed, parties, me };
                let x = dealer.share(0, x);
                let mut all = InputSharing::of_everyone(&online)?;
                let addends = all.iter_mut().map(|inputs| {
                    let mut planes = vec![0xff; T::BITS * stride];
                    share_addend(inputs, &x, &mut planes, stride);
                    planes
                });
                Ok(addends.collect::<Vec<_>>())
            }
        });
        let mut total = vec![T::ZERO; count];
        for owner in Party::all(parties) {
            let mut planes = vec![0; T::BITS * stride];
            for (addends, _) in &results {
                kernels::xor_into(&mut planes, &addends[owner.index()]);
                for row in addends[owner.index()].chunks(stride.max(1)) {
                    assert!(row[bits::bytes_for(count)..].iter().all(|&byte| byte == 0));
                    assert!(bits::tail_is_clear(row, count));
                }
            }
            let mut value = vec![T::ONE; count];
            planes::join(&planes, stride, &mut value);
            let dealer = Dealer {
                seed,
                parties,
                me: owner,
            };
            assert!(value == dealer.share(0, &x), "{owner} of {parties}");
            rings::add_into(&mut total, &value);
        }
        assert!(total == x, "{count} of {} bits", T::BITS);
        for (me, (_, spent)) in Party::all(parties).zip(&results) {
            let blocks = Party::all(parties)
                .map(|owner| share_aes_blocks(me, owner, parties, (count * T::BYTES) as u64));
            let online = PhaseCost {
                aes_blocks: blocks.sum(),
                ..PhaseCost::default()
            };
            let setup = PhaseCost::default();
            assert_eq!(*spent, Cost { setup, online }, "{me} of {parties}");
        }
    }
}

fn planes<T: Ring>(seed: u64, count: usize) {
    let x = values::<T>(seed, 0, count);
    let used = bits::bytes_for(count);
    for stride in [used, used + 3, count.div_ceil(64) * 8] {
        for width in [0, 1, 5, T::BITS] {
            let about = format!("{count} of {width} in {} bits, {stride}", T::BITS);
            let mut rows = vec![0xff; width * stride];
            planes::split(&x, &mut rows, stride);
            for (i, row) in rows.chunks(stride.max(1)).enumerate() {
                for (j, x) in x.iter().enumerate() {
                    assert_eq!(row[j / 8] >> (j % 8) & 1, x.bit(i), "{about}");
                }
                let padding = (count..8 * stride).map(|j| row[j / 8] >> (j % 8) & 1);
                assert_eq!(padding.max().unwrap_or(0), 0, "{about}");
                // Bits behind the end do not matter to whoever reads.
            }
            if used > 0 {
                rows.chunks_mut(stride)
                    .filter(|row| row.len() > used)
                    .for_each(|row| row[used..].fill(0xff));
            }
            let mut back = vec![T::ONE; count];
            planes::join(&rows, stride, &mut back);
            let low = |x: T| match width {
                0 => T::ZERO,
                width => x.shl(T::BITS - width).shr(T::BITS - width),
            };
            assert!(x.iter().copied().map(low).eq(back), "{about}");
        }
    }
}

#[test]
#[should_panic(expected = "are no planes of numbers of up to 8 bits")]
fn too_many_planes_are_refused() {
    planes::join(&[0; 9], 1, &mut [0_u8; 8]);
}

/// One bit that a party has changed changes that number alone: nobody notices.
#[test]
fn a_party_that_cheats_is_not_noticed() {
    let results = run(
        (seed(), 3, Opening::Direct),
        "a cheater",
        async |gmw, dealer| {
            let lie = u8::from(dealer.me.index() == 1) << 1;
            let mut z = [0_u32; 3];
            let b = dealer.share_bits(0, &[0b101])[0] ^ lie;
            gmw.inject(&mut dealer.bits(1, 3), &[b], &mut z).await?;
            Ok(z.to_vec())
        },
        1,
        |me| ArithmeticGmw::inject_cost(Opening::Direct, me, 3, 3),
    );
    assert_eq!(sum(&results), [1, 1, 1]);
}
