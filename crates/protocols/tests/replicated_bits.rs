//! Replicated sharing of bits: messages as long as a window and longer, where all three send at once;
//! openings to any parties, and that these carry nothing but the bits that are opened.
#![allow(clippy::unwrap_used)] // tests

use std::time::Duration;

use madrigal_core::{Party, Phase, bits};
use madrigal_net::frame::FRAME_COST;
use madrigal_net::transport::mesh;
use madrigal_net::{Context, MIN_WINDOW, Result};
use madrigal_protocols::replicated::{
    BitShares, ReplicatedBits, ReplicatedInputs, ReplicatedRings,
};
use madrigal_testkit::{Transcript, World, seed};

fn world() -> World {
    World::new(3, seed()).with_limits(|limits| {
        limits.window = MIN_WINDOW;
        limits.stall = Duration::from_secs(4);
    })
}

async fn share(context: Context, bytes: usize, times: usize) -> Result<()> {
    let online = context.enter(Phase::Online, "online");
    let mut inputs = ReplicatedInputs::new(online)?;
    for _ in 0..times {
        inputs.share(&vec![0x5a; bytes], [8 * bytes; 3]).await?;
    }
    Ok(())
}

#[test]
fn inputs_longer_than_a_window() {
    let bytes = MIN_WINDOW as usize + 1;
    let results = world().run_over(mesh(3), |context| share(context, bytes, 1));
    assert!(results.iter().all(Result::is_ok), "{results:?}");
}

/// The first leaves less than a whole window, as credit comes in halves.
#[test]
fn inputs_longer_than_half_a_window_again_and_again() {
    let bytes = MIN_WINDOW as usize * 3 / 4;
    let results = world().run_over(mesh(3), |context| share(context, bytes, 5));
    assert!(results.iter().all(Result::is_ok), "{results:?}");
}

/// Half a window of payload counts for more than half a window.
#[test]
fn ands_of_just_half_a_window() {
    let half = MIN_WINDOW as usize / 2;
    let results = world().run_over(mesh(3), |context| async move {
        let online = context.enter(Phase::Online, "online");
        let mut work = ReplicatedBits::new(online)?;
        // A byte less than half a window: no credit comes back for it.
        for bytes in [half - FRAME_COST - 1, half] {
            let x = vec![0; bytes];
            work.and([&x, &x], [&x, &x], 8 * bytes).await?;
        }
        Ok(())
    });
    assert!(results.iter().all(Result::is_ok), "{results:?}");
}

/// Cross terms may come in any pieces: each product is offered once, the parties' parts are shares of what was added, and
/// both neighbours have drawn as much as for one string.
#[test]
fn cross_terms_lie_on_shares_of_zero() {
    const SHAPES: [(usize, usize); 7] = [
        (1, 8),
        (7, 1000),
        (3, 24),
        (2050, 8),
        (5, 20_000),
        (0, 64),
        (30, 900),
    ];
    let results = world().run_over(mesh(3), |context| async move {
        let online = context.enter(Phase::Online, "online");
        let mut work = ReplicatedBits::new(online)?;
        let mut parts = Vec::new();
        for (count, each) in SHAPES {
            let mut offered = 0;
            let leader = context.me() == Party::new(0);
            let part = work.cross_terms(count, each, |products, z| {
                assert_eq!(products.start, offered);
                assert_eq!(z.len(), products.len() * each);
                offered = products.end;
                z.iter_mut()
                    .for_each(|byte| *byte ^= if leader { 0x3c } else { 0 });
            });
            assert_eq!(offered, count);
            assert_eq!(part.len(), count * each);
            parts.push(part.to_vec());
            // The part's memory comes back, for messages that are longer and shorter.
            work.reshare(part).await?;
        }
        Ok::<_, madrigal_net::Error>(parts)
    });
    let costs = SHAPES.map(|(count, each)| ReplicatedBits::and_cost(8 * count * each));
    let blocks: u64 = costs.iter().map(|cost| cost.aes_blocks).sum();
    let results = results.into_iter().map(|result| {
        let (parts, cost) = result.unwrap();
        assert_eq!(cost.online.aes_blocks, blocks);
        parts
    });
    let results: Vec<Vec<Vec<u8>>> = results.collect();
    for (shape, (count, each)) in SHAPES.into_iter().enumerate() {
        let sum = |at: usize| results.iter().fold(0, |sum, parts| sum ^ parts[shape][at]);
        assert!(
            (0..count * each).all(|at| sum(at) == 0x3c),
            "{count} of {each}"
        );
        assert!(count * each < 64 || results[1][shape].iter().any(|&byte| byte != 0));
    }
}

/// Declared costs and values of inputs, ANDs and openings to any parties, with counts that fill no
/// byte.
#[test]
fn products_are_opened_to_those_named_and_to_nobody_else() {
    for to in 1..8u8 {
        let to: Vec<Party> = Party::all(3).filter(|p| to >> p.index() & 1 == 1).collect();
        let to = &to;
        let results = World::new(3, seed()).run(|context| async move {
            let online = context.enter(Phase::Online, "online");
            let me = online.me();
            let mut inputs = ReplicatedInputs::new(online.step("inputs"))?;
            let mut work = ReplicatedBits::new(online)?;
            let own = [[0b1_0110_1101u16, 0b1_1100_1011, 0][me.index()]].map(u16::to_le_bytes);
            let counts = [9, 9, 0];
            let own = &own[0][..bits::bytes_for(counts[me.index()])];
            let shares = inputs.share(own, counts).await?;
            let [x, y] = [0, 1].map(|p: usize| shares[p].each_ref().map(|s| s.as_slice()));
            let z = work.and(x, y, 9).await?;
            work.open([&z[0], &z[1]], 9, to).await
        });
        for (me, (opened, _)) in Party::all(3).zip(results) {
            let expected = (0b1_0110_1101u16 & 0b1_1100_1011).to_le_bytes();
            match opened {
                Some(opened) => assert!(to.contains(&me) && opened[..] == expected, "{me}"),
                None => assert!(!to.contains(&me), "{me}"),
            }
        }
    }
}

/// Bytes that P_0 is sent when rows of three bits are opened to it, or composed to elements, whose shares have
/// ones in the rest of each byte: of P_2, since opening is all that P_2 sends it.
fn opened_bytes(
    operation: impl AsyncFn(&mut ReplicatedRings, &BitShares) -> Result<()> + Sync,
) -> Vec<u8> {
    let (transcript, transports) = Transcript::of(Party::new(0), mesh(3));
    let results = World::new(3, seed()).run_over(transports, |context| {
        let operation = &operation;
        async move {
            let mut rings = ReplicatedRings::new(context.enter(Phase::Online, "rings"))?;
            // 0b111 in each row, under padding that is not shared zeros.
            let mine = [[0xff, 0xfa], [0xfa, 0xfa], [0xfa, 0xff]][rings.me().index()];
            let [first, second] = mine.map(|byte| [byte; 8]);
            let bits = BitShares::from_components([&first, &second], 8, 3).unwrap();
            operation(&mut rings, &bits).await
        }
    });
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    let mut places = transcript.places();
    places.retain(|(from, ..), _| *from == Party::new(2));
    places.into_values().flatten().collect()
}

#[test]
fn padding_is_not_opened() {
    let opened = opened_bytes(async |rings, bits| {
        let opened = rings.open_bits(bits, &[Party::new(0)]).await?;
        assert!(opened.is_none_or(|rows| rows == [0b111; 8]));
        Ok(())
    });
    assert_eq!(opened, [0b010; 8]);
    let opened = opened_bytes(async |rings, bits| {
        rings.compose::<u8>(bits).await?;
        Ok(())
    });
    assert_eq!(opened.len(), 8);
    assert!(opened.iter().all(|row| row >> 3 == 0), "{opened:02x?}");
}
