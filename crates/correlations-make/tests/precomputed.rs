//! Precomputed correlated OTs over ideal random ones: right, and one message each way, neither of
//! which waits for the other.

use madrigal_core::{Party, Zeroizing, bits};
use madrigal_correlations_make::{PrecomputedReceiver, PrecomputedSender, precomputed_cost};
use madrigal_kernels::{Block, Prg};
use madrigal_net::MIN_WINDOW;
use madrigal_testkit::{World, seed};

fn check(count: usize) {
    let seed = seed();
    let [k0, k1, random, correlation, choices] = [0, 1, 2, 3, 4].map(|which| {
        let mut string = vec![0; bits::bytes_for(count)];
        Prg::new(Block::new(seed, which)).fill(&mut string);
        bits::clear_tail(&mut string, count);
        string
    });
    let chosen = |i: usize| k0[i] & !random[i] | k1[i] & random[i];
    let mine = |string: &[u8]| Zeroizing::new(string.to_vec());
    // The longest is more than a window.
    let world = World::light(2, seed).with_limits(|limits| limits.window = MIN_WINDOW);
    let results = world.run(|context| {
        let (k0, k1, correlation, choices) = (&k0, &k1, &correlation, &choices);
        let random = &random;
        async move {
            let step = context.step("correlated");
            if context.me() == Party::new(0) {
                let (k0, k1) = (mine(k0), mine(k1));
                let sender = PrecomputedSender::new(&step, Party::new(1), count, k0, k1)?;
                Ok(sender.correlate(correlation).await?.to_vec())
            } else {
                let k = Zeroizing::new((0..random.len()).map(chosen).collect());
                let random = mine(random);
                let receiver = PrecomputedReceiver::new(&step, Party::new(0), count, random, k)?;
                Ok(receiver.choose(choices).await?.to_vec())
            }
        }
    });
    let [(x, sent), (y, received)] = &results[..] else {
        panic!("two parties");
    };
    // One round for both together: had one waited for the other, there would be two.
    assert_eq!(sent.setup, precomputed_cost(count));
    assert_eq!(received.setup, precomputed_cost(count));
    for i in 0..x.len() {
        assert_eq!(y[i], x[i] ^ choices[i] & correlation[i], "{count} OTs");
    }
}

#[test]
fn one_message_each_way() {
    for count in [1, 8, 13, 1000, 5_000_000] {
        check(count);
    }
}
