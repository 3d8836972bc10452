//! Exchanges of every shape end, in one round, whatever their messages' lengths: also where they are
//! longer than the channels' windows, so that parties which only send at first would wait for ever.
#![allow(clippy::unwrap_used)] // helpers

use bytes::Bytes;
use madrigal_core::{Party, Phase};
use madrigal_kernels::{Block, Prg};
use madrigal_net::frame::FRAME_COST;
use madrigal_net::{Channel, MIN_WINDOW, exchange_each, exchange_one};
use madrigal_testkit::{World, seed};

/// Three windows: a sender has to wait, wherever the receiver's permissions are.
const LONG: usize = 3 * MIN_WINDOW as usize;

/// The longest message that everybody sends before receiving.
const HALF: usize = MIN_WINDOW as usize / 2 - FRAME_COST;

/// The length of the message from one party (row) to another (column), if there is one.
type Shape = Vec<Vec<Option<usize>>>;

/// Runs exchanges of these shapes one after the other; each takes one round.
fn run(shapes: &[Shape]) {
    let parties = shapes[0].len();
    let world = World::new(parties, seed()).with_limits(|limits| limits.window = MIN_WINDOW);
    let results = world.run(|context| async move {
        let context = context.enter(Phase::Online, "exchanges");
        let mut channels = context.channels()?;
        let me = context.me();
        for (number, shape) in shapes.iter().enumerate() {
            let length = |from: Party, to: Party| shape[from.index()][to.index()];
            let byte = |from: Party| (16 * number + from.index()) as u8;
            let (mut sends, mut receives, mut froms) = (Vec::new(), Vec::new(), Vec::new());
            for channel in &mut channels {
                let peer = channel.peer();
                let Channel { tx, rx } = channel;
                let message = |length| (tx, Bytes::from(vec![byte(me); length]));
                sends.extend(length(me, peer).map(message));
                if let Some(expected) = length(peer, me) {
                    receives.push((rx, expected));
                    froms.push((peer, expected));
                }
            }
            let received = exchange_each(sends, receives).await?;
            assert_eq!(received.len(), froms.len());
            for (message, (from, expected)) in received.iter().zip(froms) {
                assert_eq!(message.len(), expected);
                assert!(message.iter().all(|&b| b == byte(from)), "{me} from {from}");
            }
        }
        Ok(())
    });
    for (me, ((), spent)) in results.iter().enumerate() {
        let sent = shapes.iter().flat_map(|shape| shape[me].iter().flatten());
        let received = shapes
            .iter()
            .flat_map(|shape| shape.iter().filter_map(|row| row[me]));
        let spent = &spent.online;
        assert_eq!(spent.messages, sent.clone().count() as u64);
        assert_eq!(spent.bytes_sent, sent.sum::<usize>() as u64);
        assert_eq!(spent.bytes_received, received.clone().sum::<usize>() as u64);
        // No chain of messages is longer than the exchanges, and one exchange is one round for all that
        // have a part in it.
        assert!(spent.rounds <= shapes.len() as u64, "{spent:?}");
        let takes_part = spent.messages > 0 || received.count() > 0;
        assert!(shapes.len() > 1 || spent.rounds == u64::from(takes_part));
    }
}

fn shape(parties: usize, length: impl Fn(usize, usize) -> Option<usize>) -> Shape {
    let row = |from| {
        let to = |to| (from != to).then(|| length(from, to)).flatten();
        (0..parties).map(to).collect()
    };
    (0..parties).map(row).collect()
}

#[test]
fn everyone_sends_everyone_a_long_message() {
    for parties in [2, 3, 5] {
        run(&[shape(parties, |_, _| Some(LONG))]);
        run(&vec![shape(parties, |_, _| Some(LONG)); 3]);
    }
}

#[test]
fn messages_around_half_of_the_window() {
    let mut shapes = Vec::new();
    for length in [HALF - 1, HALF, HALF + 1, HALF, HALF + FRAME_COST, HALF] {
        shapes.push(shape(3, |_, _| Some(length)));
    }
    run(&shapes);
}

#[test]
fn a_long_message_goes_round_a_ring() {
    for parties in [2, 3, 4] {
        run(&[shape(parties, |from, to| {
            (to == (from + 1) % parties).then_some(LONG)
        })]);
        run(&[shape(parties, |from, to| {
            (from == (to + 1) % parties).then_some(LONG)
        })]);
    }
}

#[test]
fn one_message_is_long_and_its_answer_short() {
    for parties in [2, 3] {
        run(&[
            shape(parties, |from, _| Some(if from == 0 { LONG } else { 1 })),
            shape(parties, |from, to| {
                Some(if from < to { HALF + 1 } else { 0 })
            }),
            shape(parties, |_, to| Some(if to == 0 { LONG } else { HALF })),
        ]);
    }
}

#[test]
fn some_send_nothing() {
    run(&[
        shape(3, |from, _| (from != 1).then_some(LONG)),
        shape(3, |_, to| (to != 1).then_some(LONG)),
        shape(3, |from, to| (from < to).then_some(LONG)),
        shape(3, |from, to| (from == 2 && to == 0).then_some(LONG)),
        shape(3, |_, _| None),
    ]);
}

#[test]
fn any_shape_passes() {
    let mut prg = Prg::new(Block::new(seed(), 7));
    let lengths = [0, 1, HALF, HALF + 1, LONG / 2, LONG];
    for parties in [2, 3, 4] {
        for _ in 0..10 {
            let mut random = vec![vec![0; parties]; parties];
            random
                .iter_mut()
                .flatten()
                .for_each(|r| *r = prg.next_block().lo() as usize);
            run(&[shape(parties, |from, to| {
                lengths.get(random[from][to] % (lengths.len() + 2)).copied()
            })]);
        }
    }
}

/// Messages go to the next party and come from the one before, through single halves of channels.
#[test]
fn a_party_receives_from_another_one_than_it_sends_to() {
    let world = World::new(3, seed()).with_limits(|limits| limits.window = MIN_WINDOW);
    let results = world.run(|context| async move {
        let me = context.me().index();
        let mut next = context.channel(Party::new((me + 1) % 3))?;
        let mut previous = context.channel(Party::new((me + 2) % 3))?;
        let length = |from: usize| LONG + from;
        let message = vec![me as u8; length(me)];
        let expected = length((me + 2) % 3);
        let heard = exchange_one(&mut next.tx, message, &mut previous.rx, expected).await?;
        Ok(heard.iter().all(|&byte| byte as usize == (me + 2) % 3))
    });
    for (right, spent) in results {
        assert!(right);
        assert_eq!(spent.setup.rounds, 1);
    }
}
