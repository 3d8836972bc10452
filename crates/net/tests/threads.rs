//! Work on threads: messages side by side, errors and panics that end all of it.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;
use madrigal_core::Party;
use madrigal_net::transport::mesh;
use madrigal_net::{Context, Error, Result, block_on, on_threads};
use madrigal_testkit::World;

/// Two parties.
fn world() -> World {
    World::new(2, 1).with_limits(|limits| limits.stall = Duration::from_secs(20))
}

/// A step for each piece of work.
fn forks(context: &Context, pieces: u8) -> impl Iterator<Item = (u8, Context)> {
    (0..pieces).map(|piece| (piece, context.fork(&format!("piece {piece}"))))
}

fn peer(context: &Context) -> Party {
    Party::new(1 - context.me().index())
}

#[test]
fn threads_send_and_receive_side_by_side() {
    let results = world().run(|context| async move {
        let work = forks(&context, 5).map(|(piece, context)| {
            move |tell: &dyn Fn(u8)| {
                let mut channel = context.channel(peer(&context))?;
                block_on(async {
                    for round in 0..100 {
                        channel.send(vec![piece, round]).await?;
                        assert_eq!(channel.recv(2).await?[..], [piece, round]);
                        tell(round);
                    }
                    Ok(piece)
                })
            }
        });
        let mut heard = 0;
        let pieces = on_threads(&context, work, |round| heard += usize::from(round)).await?;
        Ok((pieces, heard))
    });
    for ((pieces, heard), _) in results {
        assert_eq!(pieces, [0, 1, 2, 3, 4]);
        assert_eq!(heard, 5 * 99 * 50);
    }
}

/// One thread's error ends those that wait for messages, here and at the peer.
#[test]
fn an_error_ends_all() {
    let results = world().run_over(mesh(2), |context| async move {
        let work = forks(&context, 3).map(|(piece, context)| {
            move |_: &dyn Fn(())| {
                if piece == 1 && context.me() == Party::new(0) {
                    let reason = "no more".to_owned();
                    return Err(Error::Ended { reason });
                }
                block_on(context.channel(peer(&context))?.recv(1)).map(drop)
            }
        });
        on_threads(&context, work, |()| {}).await
    });
    for result in results {
        let error = result.err().map(|error| error.to_string());
        let error = error.unwrap_or_default();
        assert!(error.contains("no more"), "{error}");
    }
}

/// A party that catches a panic does not leave the others waiting.
#[test]
fn a_panic_fails_the_job() {
    let results = world().run_over(mesh(2), |context| async move {
        let work = forks(&context, 2).map(|(piece, context)| {
            move |_: &dyn Fn(())| -> Result<()> {
                let me = context.me();
                assert!(piece == 1 || me == Party::new(1), "as planned");
                block_on(context.channel(peer(&context))?.recv(1)).map(drop)
            }
        });
        let work = AssertUnwindSafe(on_threads(&context, work, |()| {}));
        let caught = work.catch_unwind().await;
        assert_eq!(caught.is_err(), context.me() == Party::new(0));
        context.check()
    });
    for result in results {
        let error = result.err().map(|error| error.to_string());
        let error = error.unwrap_or_default();
        assert!(error.contains("threads panicked"), "{error}");
    }
}

#[test]
#[should_panic(expected = "as planned")]
fn a_panic_passes_through() {
    let _ = world().run_over(mesh(2), |context| async move {
        let work = [|_: &dyn Fn(())| -> Result<()> { panic!("as planned") }];
        on_threads(&context, work, |()| {}).await
    });
}
