//! Tests the promises of contexts and channels: order, lengths, rounds, shared randomness.

use bytes::Bytes;
use madrigal_core::{Party, Phase};
use madrigal_net::frame::FRAME_COST;
use madrigal_net::transport::{Inbox, Packet, Transport, mesh};
use madrigal_net::{Context, Error, MIN_WINDOW, Result, breathe, exchange};
use madrigal_testkit::{World, seed};

#[test]
fn everyone_hears_everyone_in_one_round() {
    for parties in [2, 3, 5] {
        let results = World::new(parties, seed()).run(|context| async move {
            let online = context.enter(Phase::Online, "hello");
            let mut channels = online.channels()?;
            let me = online.me().index() as u8;
            let heard = exchange(&mut channels, vec![me; 10], 10).await?;
            Ok(heard.iter().map(|message| message[0]).collect::<Vec<_>>())
        });
        for (me, (heard, cost)) in results.iter().enumerate() {
            let expected: Vec<u8> = (0..parties as u8).filter(|&p| p != me as u8).collect();
            assert_eq!(heard, &expected);
            assert_eq!(cost.online.rounds, 1);
            assert_eq!(cost.online.bytes_sent, 10 * (parties as u64 - 1));
            assert_eq!(cost.online.bytes_received, 10 * (parties as u64 - 1));
            assert_eq!(cost.online.messages, parties as u64 - 1);
            assert_eq!(cost.setup, Default::default());
        }
    }
}

#[test]
fn messages_beyond_the_window_pass_both_ways_at_once() {
    let size = 20 << 20;
    let results = World::new(2, seed()).run(|context| async move {
        let mut channels = context.channels()?;
        let heard = exchange(&mut channels, vec![7u8; size], size).await?;
        Ok(heard[0].iter().all(|&byte| byte == 7))
    });
    assert!(results.iter().all(|(all_right, _)| *all_right));
}

/// A message that exceeds half of the window by its headers alone is a long message.
#[test]
fn messages_at_half_of_the_window_pass_both_ways_at_once() {
    let world = World::new(2, seed()).with_limits(|limits| limits.window = MIN_WINDOW);
    let half = MIN_WINDOW as usize / 2;
    let results = world.run(|context| async move {
        let mut channels = context.channels()?;
        assert!(channels[0].fits_half_window(half - FRAME_COST));
        assert!(!channels[0].fits_half_window(half - FRAME_COST + 1));
        for size in [half - FRAME_COST - 1, half, half - FRAME_COST, half] {
            exchange(&mut channels, vec![7u8; size], size).await?;
        }
        Ok(())
    });
    assert_eq!(results.len(), 2);
}

#[test]
fn a_sender_waits_for_a_slow_receiver() {
    let results = World::new(2, seed()).run(|context| async move {
        let mut channels = context.channels()?;
        let channel = &mut channels[0];
        let mut sum = 0u64;
        for i in 0..1000u64 {
            if context.me().index() == 0 {
                channel.send(vec![i as u8; 50_000]).await?;
            } else {
                breathe().await;
                sum += u64::from(channel.recv(50_000).await?[49_999]);
            }
        }
        Ok(sum)
    });
    assert_eq!(results[1].0, (0..1000u64).map(|i| u64::from(i as u8)).sum());
}

#[test]
fn rounds_are_the_longest_chain_of_messages() {
    let results = World::new(3, seed()).run(|context| async move {
        // A ring: 0 to 1 to 2 and back to 0, twice; beside it, one exchange.
        let ring = context.fork("ring");
        let beside = context.fork("beside");
        let mut around = ring.channels()?;
        let me = ring.me().index();
        for _ in 0..2 {
            if me == 0 {
                around[0].send(vec![1]).await?;
                around[1].recv(1).await?;
            } else {
                let (from, to) = if me == 1 { (0, 1) } else { (1, 0) };
                around[from].recv(1).await?;
                around[to].send(vec![1]).await?;
            }
        }
        exchange(&mut beside.channels()?, vec![0], 1).await?;
        context.join(&ring);
        context.join(&beside);
        Ok(())
    });
    let rounds: Vec<u64> = results.iter().map(|(_, cost)| cost.setup.rounds).collect();
    assert_eq!(rounds, [6, 5, 6]);
}

/// Keys that many parties and steps have counted from the same block.
#[test]
fn keys_of_a_session_have_numbers_of_their_own() {
    let numbers = World::new(3, seed()).run(|context| async move {
        let of = |step: &str| {
            let step = context.step(step);
            [step.key_numbers(), step.own_key_numbers()].map(|numbers| numbers.of(0))
        };
        Ok(["here", "there"].map(of))
    });
    let mut seen = std::collections::HashSet::new();
    for (step, [common, _]) in numbers[0].0.iter().enumerate() {
        assert!(seen.insert(*common));
        for (mine, _) in &numbers {
            let [same, own] = mine[step];
            assert_eq!(same, *common);
            assert!(seen.insert(own));
        }
    }
}

#[test]
fn pairs_share_generators_that_others_do_not_have() {
    let streams = World::new(3, seed()).run(|context| async move {
        let here = context.step("here");
        let there = context.step("there");
        let draw = |context: &madrigal_net::Context| {
            context
                .peers()
                .map(|peer| Ok(context.shared_prg(peer)?.next_block().to_bytes()))
                .collect::<Result<Vec<_>>>()
        };
        let (first, second) = (draw(&here)?, draw(&there)?);
        assert!(matches!(draw(&here), Err(Error::Reused { .. })));
        Ok((first, second, context.private_prg().next_block().to_bytes()))
    });
    let [a, b, c] = [0, 1, 2].map(|i| &streams[i].0);
    assert_eq!(a.0[0], b.0[0]);
    assert_eq!(a.0[1], c.0[0]);
    assert_eq!(b.0[1], c.0[1]);
    assert_ne!(a.0[0], a.0[1]);
    assert_ne!(a.0[0], c.0[1]);
    assert_ne!(a.0[0], a.1[0]);
    assert_ne!(a.2, b.2);
}

#[test]
fn a_message_of_another_length_is_refused_at_both_sides() {
    let world = World::new(2, seed());
    let results = world.run_over(madrigal_net::transport::mesh(2), |context| async move {
        let mut channels = context.channels()?;
        let message = if context.me().index() == 0 {
            vec![0; 3]
        } else {
            vec![0; 4]
        };
        exchange(&mut channels, message, 4).await.map(drop)
    });
    let errors: Vec<Error> = results.into_iter().map(Result::unwrap_err).collect();
    assert!(
        matches!(
            &errors[1],
            Error::Length {
                expected: 4,
                got: 3,
                ..
            }
        ),
        "{}",
        errors[1]
    );
    assert!(matches!(&errors[0], Error::Aborted { .. }), "{}", errors[0]);
}

/// Runs as parties of whom each notes its numbers; what each is told.
fn tallied(numbers: &[&[usize]]) -> Vec<Option<Error>> {
    let parties = numbers.len();
    let world = World::new(parties, seed());
    let results = world.run_over(
        madrigal_net::transport::mesh(parties),
        |context| async move {
            for &number in numbers[context.me().index()] {
                context.tally("things", &[number, 7]);
            }
            Ok(())
        },
    );
    results.into_iter().map(Result::err).collect()
}

#[test]
fn who_asks_for_something_else_is_found_at_the_end() {
    for same in [
        &[&[3, 4][..], &[3, 4]][..],
        &[&[], &[], &[]],
        // A helper asks for nothing.
        &[&[5], &[5], &[]],
    ] {
        assert_eq!(tallied(same), vec![None; same.len()]);
    }
    // Other numbers; the same sum in another order; more calls.
    for other in [&[4][..], &[2, 1], &[1, 2, 0]] {
        for parties in [2, 3] {
            let mut numbers = vec![&[1, 2][..]; parties];
            numbers[parties - 1] = other;
            for (me, told) in tallied(&numbers).into_iter().enumerate() {
                let told = told.unwrap_or_else(|| panic!("{numbers:?}: party {me} sees nothing"));
                // A third party may hear of it from another one first.
                let heard = matches!(told, Error::Aborted { .. }) && parties > 2;
                assert!(heard || matches!(told, Error::Tally { .. }), "{told}");
                assert!(told.to_string().contains("things"), "{told}");
            }
        }
    }
}

#[test]
fn a_step_has_one_channel_to_each_peer() {
    World::new(2, seed()).run(|context| async move {
        let step = context.step("once");
        let _channels = step.channels()?;
        assert!(matches!(step.channels(), Err(Error::Reused { .. })));
        Ok(())
    });
}

/// Hands on the frames of each packet in reverse.
struct Reversed<T>(T);

impl<T: Transport> Transport for Reversed<T> {
    fn attach(&self, inbox: Inbox) {
        self.0.attach(inbox);
    }
    fn send(&self, to: Party, mut packet: Packet) {
        packet.frames.reverse();
        self.0.send(to, packet);
    }
    fn close(&self) {
        self.0.close();
    }
}

/// A million messages of no byte and of one, to a receiver that is slower: all windows are full.
async fn a_million(context: Context) -> Result<()> {
    let mut channels = context.channels()?;
    for number in 0..1_000_000_usize {
        if context.me().index() == 0 {
            let message = [number as u8];
            let message = Bytes::copy_from_slice(&message[..number % 2]);
            channels[0].send(message).await?;
        } else {
            let message = channels[0].recv(number % 2).await?;
            assert!(message.iter().all(|&byte| byte == number as u8));
            if number % 1000 == 0 {
                breathe().await;
            }
        }
    }
    Ok(())
}

#[test]
fn a_million_of_the_smallest_messages_pass() {
    let world = World::new(2, seed());
    for result in world.run_over(mesh(2), a_million) {
        result.unwrap();
    }
    let reversed = mesh(2).into_iter().map(Reversed).collect();
    for result in world.run_over(reversed, a_million) {
        result.unwrap();
    }
}
