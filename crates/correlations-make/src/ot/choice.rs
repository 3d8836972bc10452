//! The choice of an extension: the one that by estimate makes a job's Boolean triples soonest.
//!
//! # The model
//! Both parties of a pair send one OT and receive one for each triple. Per triple, a party computes
//!
//! - the AES blocks that [`madrigal_ot::cost`] declares for rows and masks, at its level's rate;
//! - 1 ns per OT and role for all else that SoftSpoken does, 7 ns for silent OT's reads at random;
//! - 0.02 ns per bit that is sent, for its way through memory and the operating system;
//!
//! while the message takes its bits divided by the bandwidth. The two overlap, so the longer one counts.
//! On top come, once, 70 ns for each leaf of SoftSpoken's trees, silent OT's first rows and round, and
//! the first messages.
//!
//! Rates are those measured on one core of a Zen 5 processor at each level (`madrigal doctor`
//! gives this machine's); the rest was fitted to the tables in docs/BENCHMARKS.md and
//! [`madrigal_ot::silent`], which it meets within a quarter. It is a model: a factor of two between
//! machines moves the borders by about one k.
//!
//! For many triples at VAES-512 it chooses k = 3 at 10 Gbit/s and k = 2 beyond, k = 5 to 7 around 1 Gbit/s, and
//! silent OT below some 600 Mbit/s. Silent OT has to begin with 0.19 MB and 4 million wasted rows of
//! work, so that small jobs on slow networks take k = 8 or 7.

use madrigal_core::time::{Rates, Work};
use madrigal_kernels::Level;
use madrigal_net::transport::Profile;
use madrigal_ot::cost::{self, Cost};

use crate::ot::extension::{Extension, SILENT};
use crate::ot::portions::portions;

/// An extension, and why it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choice {
    /// Extension that was chosen.
    pub extension: Extension,
    /// Why, in words for people: `softspoken7: ...`.
    pub reason: String,
}

/// OTs for which a rate is taken.
const MANY: u64 = 1 << 30;

/// Gives the rates of one core of a Zen 5 processor at a level, as the source of this module explains.
fn rates(level: Level) -> Rates {
    let aes_blocks = match level {
        Level::Vaes512 => 2.5e9,
        Level::Vaes256 => 1.5e9,
        Level::AesNi | Level::Avx2 | Level::Neon => 0.8e9,
        _ => 0.05e9,
    };
    Rates {
        aes_blocks,
        ..Rates::ZEN_5
    }
}

/// Gives the work of a party beside AES blocks for `count` Boolean triples with one peer, as OT sender and
/// as receiver, on `lines` lines.
pub(crate) fn bit_triple_work(extension: Extension, count: u64, lines: usize) -> Work {
    let (ots, lines) = (2.0 * count as f64, 2.0 * lines as f64);
    match extension {
        Extension::SoftSpoken(k) => Work {
            extended_ots: ots,
            tree_leaves: lines * k.leaves() as f64,
            ..Work::default()
        },
        Extension::Silent => {
            let before = SILENT.stages().iter().rev().skip(1);
            let rows_before: usize = before.map(|stage| stage.rows()).sum();
            Work {
                extended_ots: ots,
                silent_rows: ots + lines * rows_before as f64,
                ..Work::default()
            }
        }
    }
}

/// Time that an extension would take, in ns.
struct Estimate {
    extension: Extension,
    start: f64,
    compute: f64,
    wire: f64,
    /// Bits that a party sends per triple.
    bits: f64,
}

impl Estimate {
    /// Estimates the time with `lines` lines, each on a core of its own.
    fn of(extension: Extension, profile: &Profile, level: Level, lines: usize) -> Self {
        let rates = rates(level);
        let nanos = |work: Work| 1e9 * work.seconds(&rates);
        let aes = |cost: Cost| (cost.sender_aes + cost.receiver_aes) as f64;
        let aes_nanos = 1e9 / rates.aes_blocks;
        let made = match extension {
            Extension::SoftSpoken(k) => cost::softspoken(k, MANY),
            Extension::Silent => SILENT.cost(1, MANY as usize),
        };
        let mut start = nanos(bit_triple_work(extension, 0, 1))
            + profile.busy(lines * extension.setup_len()).as_nanos() as f64;
        if extension.is_silent() {
            let first = SILENT.cost(0, 1);
            let sent = profile.busy(lines * first.sender_bytes as usize);
            start += aes(first) * aes_nanos + (2 * profile.latency + sent).as_nanos() as f64;
        }
        let bits = 8.0 * (made.sender_bytes + made.receiver_bytes) as f64 / MANY as f64;
        // A party receives as much as it sends.
        let copied = 2.0 * bits / 8.0 * 1e9 / rates.network_bytes;
        let blocks = (aes(made) + aes(cost::random(MANY))) / MANY as f64;
        let each = nanos(bit_triple_work(extension, MANY, 0)) / MANY as f64;
        Self {
            extension,
            start,
            compute: (blocks * aes_nanos + each + copied) / lines as f64,
            wire: match profile.bits_per_second {
                Some(rate) => bits * 1e9 / rate.max(1) as f64,
                None => 0.0,
            },
            bits,
        }
    }

    /// Time per triple.
    fn each(&self) -> f64 {
        self.compute.max(self.wire)
    }

    fn total(&self, triples: u64) -> f64 {
        self.start + self.each() * triples as f64
    }
}

impl Extension {
    /// The extension that makes `triples` Boolean triples soonest over such a network, by the
    /// estimate that the source of this module explains.
    ///
    /// It depends on nothing but its arguments, so that parties that have agreed on these have agreed
    /// on the extension. `level` is that of the slowest party; each has `threads` cores.
    #[must_use]
    pub fn choose(profile: &Profile, level: Level, threads: usize, triples: u64) -> Choice {
        let count = usize::try_from(triples).unwrap_or(usize::MAX / 2);
        let estimate = |extension| {
            let lines = portions(extension, count, 1, threads).len();
            Estimate::of(extension, profile, level, lines)
        };
        let mut all: Vec<Estimate> = Self::all().map(estimate).collect();
        all.sort_by(|a, b| a.total(triples).total_cmp(&b.total(triples)));
        let describe = |one: &Estimate| {
            format!(
                "{} would take {:.1} ms ({:.1} bits and {:.1} ns a triple, {})",
                one.extension,
                one.total(triples) / 1e6,
                one.bits,
                one.each(),
                if one.wire > one.compute {
                    "bound by the network"
                } else {
                    "bound by the processor"
                }
            )
        };
        let ranked: Vec<String> = all.iter().take(2).map(describe).collect();
        Choice {
            extension: all.first().map_or_else(Self::default, |one| one.extension),
            reason: format!(
                "for {triples} triples over {profile}, level {level}: {}",
                ranked.join(", ")
            ),
        }
    }
}

/// Part by which the time of a triple may be longer than on twice as many threads, to be called as short.
const AS_SHORT: f64 = 0.05;

impl Extension {
    /// The least number of threads of each party, `most` at most, beyond which Boolean triples come no faster over such a
    /// network, by the estimate that the source of this module explains: then it is the line that they wait for.
    #[must_use]
    pub fn threads_that_help(profile: &Profile, level: Level, most: usize) -> usize {
        let each = |threads: usize| {
            let all = Self::all().map(|extension| Estimate::of(extension, profile, level, threads));
            all.map(|one| one.each()).fold(f64::INFINITY, f64::min)
        };
        let enough = |threads: &usize| each(*threads) <= (1.0 + AS_SHORT) * each(2 * threads);
        (1..most).find(enough).unwrap_or(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(network: &str, triples: u64) -> String {
        let profile = Profile::parse(network).expect(network);
        let choice = Extension::choose(&profile, Level::Vaes512, 1, triples);
        let name = choice.extension.to_string();
        let start = format!("{triples} triples over {profile}, level vaes512: {name} would take ");
        assert!(choice.reason.contains(&start), "{}", choice.reason);
        name
    }

    #[test]
    fn fast_networks_get_fast_extensions_and_slow_ones_quiet_ones() {
        assert_eq!(choice("0.1ms,10Gbps", 100_000_000), "softspoken3");
        assert_eq!(choice("0.1ms", 100_000_000), "softspoken2");
        assert_eq!(choice("1ms,4Gbps", 100_000_000), "softspoken4");
        assert_eq!(choice("wan", 100_000), "softspoken6");
        assert_eq!(choice("20ms,100Mbps", 100_000), "softspoken8");
        assert_eq!(choice("20ms,100Mbps", 10_000_000), "silent");
        assert_eq!(choice("100ms,1Mbps", 1_000_000), "silent");
    }

    #[test]
    fn slow_lines_need_few_threads() {
        let help = |network: &str| {
            let profile = Profile::parse(network).expect(network);
            Extension::threads_that_help(&profile, Level::Vaes512, 64)
        };
        assert_eq!(help("10ms,10Mbps"), 1);
        assert_eq!(help("0.1ms"), 64);
        let numbers = ["10ms,100Mbps", "1ms,1Gbps", "1ms,10Gbps", "1ms,100Gbps"].map(help);
        assert!(numbers.is_sorted(), "{numbers:?}");
        assert!(numbers[3] > 8, "{numbers:?}");
    }

    /// More bandwidth never leads to fewer bytes.
    #[test]
    fn choices_follow_the_bandwidth() {
        for triples in [1_000, 1_000_000, 1_000_000_000] {
            let mut last = f64::INFINITY;
            for megabits in [40_000, 10_000, 3_000, 1_000, 300, 100, 10, 1] {
                let profile = Profile::parse(&format!("1ms,{megabits}Mbps")).expect("a network");
                let choice = Extension::choose(&profile, Level::Vaes512, 1, triples);
                let bits = Estimate::of(choice.extension, &profile, Level::Vaes512, 1).bits;
                assert!(bits <= last, "{} at {megabits} Mbit/s", choice.reason);
                last = bits;
                // More threads make bytes dearer than work.
                let choice = Extension::choose(&profile, Level::Vaes512, 8, triples);
                let fewer = Estimate::of(choice.extension, &profile, Level::Vaes512, 1).bits;
                assert!(fewer <= bits, "{} at {megabits} Mbit/s", choice.reason);
            }
        }
    }

    #[test]
    fn names_are_read_back() {
        for extension in Extension::all() {
            assert_eq!(extension.to_string().parse(), Ok(extension));
        }
        assert_eq!("softspoken4".parse(), Ok(Extension::default()));
        for bad in ["", "IKNP", "softspoken1", "softspoken9", "ferret"] {
            let error = bad.parse::<Extension>().expect_err(bad).to_string();
            assert!(error.contains("softspoken2 to softspoken8"), "{error}");
        }
    }
}
