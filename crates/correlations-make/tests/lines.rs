//! Lines that are long, or that change.

use std::time::{Duration, Instant};

use madrigal_correlations::{BitTriples, Scratch, SharedBits, Source};
use madrigal_correlations_make::{Extension, OtSource};
use madrigal_net::transport::{Profile, Shaped, mesh};
use madrigal_testkit::{World, seed};

/// Has both parties make triples over such a line, and checks them. Gives the time that they took.
fn triples(
    extension: Extension,
    count: usize,
    line: [Profile; 2],
    change: Duration,
    window: u64,
) -> Duration {
    let world = World::light(2, seed()).with_limits(|limits| limits.window = window);
    let shaped = |inner| Shaped::changing(inner, line[0], change, line[1]);
    let transports = mesh(2).into_iter().map(shaped).collect();
    let results = world.run_over(transports, |context| async move {
        let start = Instant::now();
        let mut source = OtSource::new(&context, extension).await?;
        let triples = source.bit_triples(count, &|_| {}).await?;
        Ok((triples, start.elapsed()))
    });
    let (triples, times): (Vec<BitTriples>, Vec<Duration>) = results
        .into_iter()
        .map(|result| result.unwrap_or_else(|error| panic!("{error}")).0)
        .unzip();
    let [mut first, mut second] = <[_; 2]>::try_from(triples).expect("two parties");
    let mut scratch = [Scratch::default(), Scratch::default()];
    let [one, two] = &mut scratch;
    let taken = (first.take(count, one), second.take(count, two));
    let (Ok(first), Ok(second)) = taken else {
        panic!("as many as were made");
    };
    let columns = [
        (first.a, second.a),
        (first.b, second.b),
        (first.c, second.c),
    ];
    let [a, b, c] = columns.map(|(x, y)| x.iter().zip(y).map(|(x, y)| x ^ y).collect::<Vec<u8>>());
    for (byte, ((a, b), c)) in a.iter().zip(&b).zip(&c).enumerate() {
        assert_eq!(a & b, *c, "byte {byte} of {extension}");
    }
    times.into_iter().max().unwrap_or_default()
}

/// The bandwidth falls to a tenth, and packets begin to overtake each other.
#[test]
fn a_line_that_changes_is_used_as_it_is() {
    let before = Profile::parse("20ms,40Mbps").expect("a line");
    let after = Profile::parse("20ms,4Mbps,jitter=10ms").expect("a line");
    let (count, change) = (600_000, Duration::from_millis(250));
    let time = triples(
        Extension::default(),
        count,
        [before, after],
        change,
        madrigal_net::MIN_WINDOW,
    );
    // 32 bits for each triple. Until the change at most 10 Mbit of them were sent.
    let megabits = 32.0 * count as f64 / 1e6;
    let least = 0.25 + (megabits - 10.0) / 4.0;
    // Without windows that follow the line it would be several times as long; a busy machine may take its
    // time too.
    let most = 3.0 * (least + 6.0 * 0.02);
    let took = time.as_secs_f64();
    assert!(
        (0.9 * least..most).contains(&took),
        "{took} s, {least} at least"
    );
}

/// As many parts follow each other as the line holds: with a round trip for every few of them it would be
/// tens of seconds.
#[test]
fn latency_is_paid_once() {
    let line = Profile::parse("200ms").expect("a line");
    for extension in [Extension::default(), Extension::Silent] {
        let window = 4 << 20;
        let time = triples(extension, 2_000_000, [line; 2], Duration::ZERO, window);
        assert!(time < Duration::from_secs(15), "{extension}: {time:?}");
    }
}

/// The stages of shared bits follow each other part by part, not call by call or with a round trip for
/// every part.
#[test]
fn latency_is_paid_once_in_every_stage() {
    let line = Profile::parse("200ms").expect("a line");
    let world = World::light(3, seed()).with_limits(|limits| limits.window = 4 << 20);
    let shaped = |inner| Shaped::changing(inner, line, Duration::ZERO, line);
    let transports = mesh(3).into_iter().map(shaped).collect();
    let count = 1_000_000;
    let results = world.run_over(transports, |context| async move {
        let start = Instant::now();
        let mut source = OtSource::new(&context, Extension::default()).await?;
        let bits: SharedBits<u8> = source.shared_bits(count, &|_| {}).await?;
        Ok((bits, start.elapsed()))
    });
    let mut sums = vec![0_u8; count];
    for result in results {
        let (mut bits, time) = result.unwrap_or_else(|error| panic!("{error}")).0;
        assert!(time < Duration::from_secs(15), "{time:?}");
        for (sum, &share) in sums.iter_mut().zip(bits.take(count).b) {
            *sum = sum.wrapping_add(share);
        }
    }
    assert!(sums.iter().all(|&bit| bit <= 1), "bits");
}
