//! Shaped links. Only lower bounds and ratios of times are checked, so that a busy machine changes
//! nothing.

use std::time::{Duration, Instant};

use madrigal_net::frame::message_cost;
use madrigal_net::transport::{MemoryTransport, Profile, Shaped, mesh};
use madrigal_net::{MIN_WINDOW, exchange};
use madrigal_testkit::{World, seed};

fn shaped(parties: usize, profile: Profile) -> Vec<Shaped<MemoryTransport>> {
    let wrap = |transport| Shaped::new(transport, profile);
    mesh(parties).into_iter().map(wrap).collect()
}

#[test]
fn a_round_takes_the_latency() {
    let profile = Profile {
        latency: Duration::from_millis(10),
        ..Profile::default()
    };
    let results = World::new(2, seed()).run_over(shaped(2, profile), |context| async move {
        let mut channels = context.channels()?;
        let start = Instant::now();
        for _ in 0..5 {
            exchange(&mut channels, vec![1], 1).await?;
        }
        Ok(start.elapsed())
    });
    // Each party's own five rounds overlap with at most one of the other's latencies.
    for result in results {
        let (time, _) = result.unwrap();
        assert!(time >= Duration::from_millis(40), "{time:?}");
    }
}

#[test]
fn a_ping_takes_both_ways() {
    let results = World::new(2, seed()).run_over(shaped(2, Profile::lan()), |context| async move {
        let mut channels = context.channels()?;
        let channel = &mut channels[0];
        let start = Instant::now();
        for _ in 0..20 {
            if context.me().index() == 0 {
                channel.send(vec![1]).await?;
                channel.recv(1).await?;
            } else {
                channel.recv(1).await?;
                channel.send(vec![1]).await?;
            }
        }
        Ok(start.elapsed())
    });
    let (time, _) = results.into_iter().next().unwrap().unwrap();
    assert!(time >= 20 * Duration::from_micros(250), "{time:?}");
}

#[test]
fn a_transfer_takes_its_size_over_the_bandwidth() {
    let profile = Profile::parse("0ms,200Mbps").unwrap();
    let size = 2_500_000; // 100 ms
    let results = World::new(2, seed()).run_over(shaped(2, profile), |context| async move {
        let mut channels = context.channels()?;
        let channel = &mut channels[0];
        let start = Instant::now();
        if context.me().index() == 0 {
            channel.send(vec![1]).await?;
            channel.recv(size).await?;
        } else {
            channel.recv(1).await?;
            channel.send(vec![1; size]).await?;
        }
        Ok(start.elapsed())
    });
    let (time, _) = results.into_iter().next().unwrap().unwrap();
    assert!(time >= Duration::from_millis(100), "{time:?}");
}

#[test]
fn links_differ() {
    let slow = Profile {
        latency: Duration::from_millis(30),
        ..Profile::default()
    };
    let wrap = |transport| {
        Shaped::with_links(transport, |to| match to.index() {
            2 => slow,
            _ => Profile::default(),
        })
    };
    let transports = mesh(3).into_iter().map(wrap).collect();
    let results = World::new(3, seed()).run_over(transports, |context| async move {
        // From 0 to 2 and back: one slow link, one fast one.
        let mut channels = context.channels()?;
        let start = Instant::now();
        match context.me().index() {
            0 => {
                channels[1].send(vec![1]).await?;
                channels[1].recv(1).await?;
            }
            2 => {
                channels[0].recv(1).await?;
                channels[0].send(vec![1]).await?;
            }
            _ => {}
        }
        Ok(start.elapsed())
    });
    let (time, _) = results.into_iter().next().unwrap().unwrap();
    assert!(time >= Duration::from_millis(30), "{time:?}");
}

#[test]
fn packets_that_overtake_each_other_change_nothing() {
    let profile = Profile::default().with_jitter(Duration::from_millis(2));
    let results = World::new(3, seed()).run_over(shaped(3, profile), |context| async move {
        let mut channels = context.channels()?;
        let mut right = true;
        for i in 0..300u32 {
            let message = i.to_le_bytes().to_vec();
            for channel in &mut channels {
                channel.send(message.clone()).await?;
            }
            context.flush(); // each message in a packet of its own
        }
        for i in 0..300u32 {
            for channel in &mut channels {
                right &= channel.recv(4).await?[..] == i.to_le_bytes();
            }
        }
        Ok(right)
    });
    for result in results {
        assert!(result.unwrap().0);
    }
}

/// The line holds three windows: by itself one of them keeps it busy for a third of the time.
#[test]
fn a_window_grows_to_what_the_line_holds() {
    let profile = Profile::parse("120ms,100Mbps").unwrap();
    let (size, messages) = (64 << 10, 160);
    let time = |growth| {
        let world = World::new(2, seed())
            .with_limits(|limits| (limits.window, limits.growth) = (MIN_WINDOW, growth));
        let results = world.run_over(shaped(2, profile), |context| async move {
            let mut channels = context.channels()?;
            let start = Instant::now();
            for _ in 0..messages {
                if context.me().index() == 0 {
                    channels[0].send(vec![1; size]).await?;
                } else {
                    channels[0].recv(size).await?;
                }
            }
            Ok(start.elapsed())
        });
        let times = results.into_iter().map(|result| result.unwrap().0);
        times.max().unwrap()
    };
    let (fixed, growing) = (time(0), time(8 << 20));
    assert!(fixed > Duration::from_millis(1800), "{fixed:?}");
    assert!(growing < fixed * 3 / 4, "{growing:?} of {fixed:?}");
}

/// Messages that are known to come have room at once, by the round trip that was measured when the parties met.
#[test]
fn what_is_expected_does_not_wait_for_a_window_to_grow() {
    let profile = Profile::parse("120ms").unwrap();
    let (size, messages) = (64 << 10, 32);
    let time = |expected: u64| {
        let world = World::new(2, seed())
            .with_limits(|limits| (limits.window, limits.growth) = (MIN_WINDOW, 8 << 20));
        let results = world.run_over(shaped(2, profile), |context| async move {
            let mut meeting = context.step("meeting").channels()?;
            for _ in 0..2 {
                exchange(&mut meeting, vec![1], 1).await?;
            }
            let mut channels = context.channels()?;
            let start = Instant::now();
            channels[0].rx.expect(expected);
            for _ in 0..messages {
                if context.me().index() == 0 {
                    channels[0].send(vec![1; size]).await?;
                } else {
                    channels[0].recv(size).await?;
                }
            }
            Ok(start.elapsed())
        });
        let times = results.into_iter().map(|result| result.unwrap().0);
        times.max().unwrap()
    };
    let all = messages as u64 * message_cost(size) as u64;
    let (grown, expected) = (time(0), time(all));
    assert!(expected < grown * 3 / 4, "{expected:?} of {grown:?}");
}
