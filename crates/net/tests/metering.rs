//! Tests whose AES blocks are counted where: by phase, by job and by party, whatever runs beside.

use futures_util::future::{join, join3, try_join_all};
use madrigal_core::{Party, Phase, PhaseCost};
use madrigal_kernels::{Aes128, Block, meter};
use madrigal_net::transport::mesh;
use madrigal_net::{Context, Error, Result, Session, block_on, breathe, exchange, on_threads};
use madrigal_testkit::{World, seed};

/// Computes `blocks` AES blocks.
fn compute(blocks: usize) {
    let mut all = vec![Block::ZERO; blocks];
    Aes128::new(Block::ZERO).encrypt_blocks(&mut all);
}

/// An operation as protocols have them: ten times this many blocks, with messages and pauses between.
async fn operation(context: &Context, blocks: usize) -> Result<()> {
    let mut channels = context.channels()?;
    let work = async {
        for _ in 0..10 {
            compute(blocks);
            breathe().await;
            exchange(&mut channels, vec![1], 1).await?;
        }
        Ok(())
    };
    context.metered(work).await
}

/// Both phases of two jobs of two parties, all of it in turn on this thread.
#[test]
fn phases_jobs_and_parties_in_turn_are_told_apart() {
    let world = World::new(2, seed());
    let sessions: Vec<Session> = Party::all(2)
        .zip(mesh(2))
        .map(|(me, transport)| Session::new(world.config(me), transport))
        .collect();
    let before = meter::shown();
    let spent = block_on(async {
        try_join_all(sessions.iter().map(Session::greet)).await?;
        let jobs = sessions
            .iter()
            .flat_map(|session| [1, 2].map(|id| session.job(id, &[], None)));
        let jobs = try_join_all(jobs).await?;
        let work = jobs.iter().zip(1..).map(|(job, factor)| async move {
            let context = job.context();
            let setup = context.enter(Phase::Setup, "setup");
            let online = context.enter(Phase::Online, "online");
            let stray = async {
                for _ in 0..10 {
                    compute(7);
                    breathe().await;
                }
            };
            let (setup, online, ()) = join3(
                operation(&setup, factor),
                operation(&online, 100 * factor),
                stray,
            )
            .await;
            setup.and(online)?;
            Ok::<_, Error>(Phase::ALL.map(|phase| job.spent(phase).aes_blocks))
        });
        let spent = try_join_all(work).await?;
        try_join_all(jobs.into_iter().map(madrigal_net::Job::finish)).await?;
        Ok::<_, Error>(spent)
    });
    let expected: Vec<_> = (1..=4).map(|factor| [10 * factor, 1000 * factor]).collect();
    assert_eq!(spent.expect("all goes well"), expected);
    // Blocks that no context counts are left over, and nothing else.
    assert_eq!(meter::shown() - before, 4 * 70);
}

/// Blocks that are computed on other threads are credited to the one that waits, unless a context counts them
/// there.
#[test]
fn threads_count_for_who_waits() {
    let results = World::new(2, seed()).run(|context| async move {
        let (setup, online) = (
            context.enter(Phase::Setup, "setup"),
            context.enter(Phase::Online, "online"),
        );
        let inner = online.clone();
        let work = (1..=3).map(|piece| {
            let inner = inner.clone();
            move |_: &dyn Fn(())| {
                compute(piece);
                inner.metered_now(|| compute(100 * piece));
                block_on(inner.metered(async {
                    compute(1000);
                    breathe().await;
                    compute(1000);
                }));
                Ok(())
            }
        });
        let threads = setup.metered(on_threads(&setup, work, |()| {}));
        let beside = online.metered(async {
            compute(5);
            breathe().await;
        });
        join(threads, beside).await.0
    });
    for (_, spent) in results {
        assert_eq!(spent.setup.aes_blocks, 6);
        assert_eq!(spent.online.aes_blocks, 600 + 6000 + 5);
    }
}

/// Nobody has to say so.
#[test]
fn generators_of_a_context_count_in_its_phase() {
    let results = World::new(2, seed()).run(|context| async move {
        let online = context.enter(Phase::Online, "online");
        let peer = Party::new(1 - context.me().index());
        let mut shared = online.shared_prg(peer)?;
        let mut private = context.private_prg();
        shared.fill(&mut [0; 33]);
        shared.xor_into(&mut [0; 16]);
        // Wherever it is asked.
        context.metered_now(|| shared.next_block());
        std::thread::spawn(move || private.fill(&mut [0; 160]))
            .join()
            .expect("no panic");
        Ok(())
    });
    for (_, spent) in results {
        assert_eq!((spent.setup.aes_blocks, spent.online.aes_blocks), (10, 5));
    }
}

/// The counter is no copy of the declared figure: one block too many shows.
#[test]
fn a_block_that_is_not_declared_shows() {
    let declared = PhaseCost {
        aes_blocks: 40,
        ..PhaseCost::default()
    };
    for (extra, right) in [(0, true), (1, false)] {
        let results = World::new(2, seed()).run(|context| async move {
            context.metered_now(|| compute(40 + extra));
            Ok(())
        });
        for (_, spent) in results {
            assert_eq!(spent.setup == declared, right);
        }
    }
}

/// An operation that forgets to count fails its tests.
#[test]
#[should_panic(expected = "that no context counts")]
fn blocks_that_no_context_counts_are_noticed() {
    World::new(2, seed()).run(|_| async {
        compute(1);
        Ok(())
    });
}
