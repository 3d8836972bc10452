//! Costs of matching, told before anything is read or sent.

use madrigal_app::failure::Result;
use madrigal_app::figures::json_text;
use madrigal_app::over::Over;
use madrigal_app::ways::{AGREED, MatricesArg, Ways};
use madrigal_core::Party;
use madrigal_core::time::Link;
use madrigal_noise::Noise;
use madrigal_program::lower::Mix;
use madrigal_psi::{BinsPlan, PsiCosts, PsiPlan, Role, Security, Sizes};
use madrigal_psi_programs::Parts;
use serde::Serialize;

use crate::cells::partitions;
use crate::failure::Unmatched;
use crate::noisy::NoiseFigures;
use crate::numbers::{asked, bug};
use crate::question::{Question, Told};
use crate::security;

/// Seconds of one core for a key of the list, where rows are asked for: of its file, of the receiver's work and of the sender's. Measured on the machine of docs/BENCHMARKS.md.
const READ: f64 = 0.11e-6;
const RECEIVER: f64 = 0.26e-6;
const SENDER: f64 = 0.18e-6;
/// Seconds of the receiver and of the sender, where either may be malicious.
const CHECKED: [f64; 2] = [0.43e-6, 0.31e-6];
/// Logarithm of the hashes that a cheat may compute while lists are matched.
const TRIES: u32 = 80;
/// Seconds for a key that is put into bins: at the receiver, and at the sender.
const IN_BINS: [f64; 2] = [0.3e-6, 0.7e-6];
/// Seconds to begin.
const BEGIN: f64 = 0.05;
/// Bytes of memory for a key of a partition under way, with semi-honest parties and with malicious ones, of a list's digests, and of a key in bins.
const OF_PARTITION: u64 = 130;
const OF_CHECKED: u64 = 170;
const OF_DIGEST: u64 = 44;
const OF_BINS: u64 = 450;

/// A run that is to be explained.
pub(crate) struct Plan<'a> {
    pub(crate) question: Question,
    pub(crate) noise: Option<Noise>,
    pub(crate) to: Told,
    pub(crate) security: Security,
    /// Keys of both lists, by the parties' order.
    pub(crate) keys: [u64; 2],
    /// Whether each has payloads.
    pub(crate) payloads: [bool; 2],
    pub(crate) threads: usize,
    /// Keys of a partition, at most.
    pub(crate) of_partition: u64,
    /// Memory for digests in bytes.
    pub(crate) memory: u64,
    pub(crate) over: &'a Over,
}

/// Costs of a run, as JSON has them.
#[derive(Serialize)]
pub(crate) struct Explained {
    /// Question: `rows`, `join`, `size`, `sum`, `size and sum` or `shares`.
    question: &'static str,
    /// Parties against which the lists are protected: `semi-honest` or `malicious`.
    security: &'static str,
    /// The most keys, of all partitions together, that a receiver could look for who cheats, and computes 2^80 hashes for it; null against semi-honest parties, who look for those of their list.
    most_by_cheating: Option<u64>,
    /// Noise of the number; null where it has none.
    noise: Option<NoiseFigures>,
    /// Different keys of both lists, by the parties' order.
    keys: [u64; 2],
    /// Partitions of the lists.
    partitions: usize,
    /// Party whose keys are looked for among the other's.
    receiver: usize,
    /// Payload bytes that each party sends, by the parties' order.
    bytes_sent: [u64; 2],
    /// Rounds at most.
    rounds: u64,
    /// Seconds by an estimate, for a known machine and the line of --link or --network.
    seconds: f64,
    /// Memory of each party in bytes by an estimate, by the parties' order.
    memory: [u64; 2],
}

impl Plan<'_> {
    pub(crate) fn explain(&self) -> Result<Explained> {
        match self.question {
            Question::Rows | Question::Join => self.rows(),
            Question::Numbers { .. } | Question::Shares => self.bins(),
        }
    }

    fn rows(&self) -> Result<Explained> {
        let receiver = self.to.receiver(self.keys, self.security);
        let sizes = Sizes::of(self.keys, receiver);
        let partitions = partitions(sizes, self.threads, self.of_partition, self.security);
        let plan = PsiPlan::new(sizes, partitions, self.to == Told::Both);
        let mut plan = plan.map_err(Unmatched::from)?.with_security(self.security);
        if self.question == Question::Join {
            plan = plan.with_payloads();
        }
        let costs = [0, 1]
            .map(|party| PsiCosts::new(&plan, Role::of(Party::new(party), receiver), self.threads));
        let bytes_sent = costs.map(|cost| cost.setup.bytes_sent + cost.online.bytes_sent);
        let rounds = costs[0].setup.rounds + costs[0].online.rounds;
        let threads = self.threads.clamp(1, partitions) as f64;
        let (seconds, bytes, most) = match self.security {
            Security::SemiHonest => ([RECEIVER, SENDER], OF_PARTITION, None),
            Security::Malicious => {
                let most = plan.most_of_store(TRIES);
                let most = most.map(|keys| keys * partitions as u64);
                (CHECKED, OF_CHECKED, most)
            }
        };
        let [of_receiver, of_sender] = seconds;
        let work =
            (sizes.receiver as f64 * of_receiver).max(sizes.sender as f64 * of_sender) / threads;
        let [keys, others] = plan.keys_of_partition();
        let under_way = keys.max(others) as u64 * bytes * threads as u64;
        let memory = self
            .keys
            .map(|keys| under_way + (keys * OF_DIGEST).min(self.memory));
        Ok(Explained {
            question: self.question.name(),
            security: security::name(self.security),
            most_by_cheating: most,
            noise: None,
            keys: self.keys,
            partitions,
            receiver: receiver.index(),
            bytes_sent,
            rounds,
            seconds: self.seconds(work, bytes_sent, rounds),
            memory,
        })
    }

    fn bins(&self) -> Result<Explained> {
        security::check(self.question, self.security)?;
        let receiver = self.to.of_bins(self.keys);
        let sizes = Sizes::of(self.keys, receiver);
        let masked = self.payloads[1 - receiver.index()];
        let plan = BinsPlan::new(sizes, masked).map_err(Unmatched::from)?;
        let role = |party| Role::of(Party::new(party), receiver);
        let costs = [0, 1].map(|party| plan.cost(role(party)));
        let mut bytes_sent = costs.map(|[setup, online]| setup.bytes_sent + online.bytes_sent);
        let mut rounds = costs[0].iter().map(|cost| cost.rounds).sum();
        let mut work = sizes.receiver as f64 * IN_BINS[0] + sizes.sender as f64 * IN_BINS[1];
        if self.question != Question::Shares {
            let sender = Party::new(1 - receiver.index());
            let parts = Parts::new(plan.bins(), receiver, sender);
            let program = asked(self.question, self.to, self.noise, self.payloads, parts)?.program;
            let ways = Ways {
                over: self.over,
                threads: self.threads,
                matrices: MatricesArg::Auto,
                stored: false,
                asked: &[],
            };
            let planned = ways.plan(&program, Mix::AB, None).map_err(bug)?;
            for (party, bytes) in bytes_sent.iter_mut().enumerate() {
                let cost = planned.plan.cost(Party::new(party));
                *bytes += cost.setup.bytes_sent + cost.online.bytes_sent;
            }
            let cost = planned.plan.cost(receiver);
            rounds += cost.setup.rounds + cost.online.rounds;
            work += planned.seconds_at(&AGREED);
        }
        Ok(Explained {
            question: self.question.name(),
            security: security::name(self.security),
            most_by_cheating: None,
            noise: self.noise.map(NoiseFigures::new),
            keys: self.keys,
            partitions: 1,
            receiver: receiver.index(),
            bytes_sent,
            rounds,
            seconds: self.seconds(work, bytes_sent, rounds),
            memory: [self.keys[0].max(self.keys[1]) * OF_BINS; 2],
        })
    }

    fn seconds(&self, work: f64, bytes_sent: [u64; 2], rounds: u64) -> f64 {
        let Link {
            latency,
            bytes_per_second,
            ..
        } = self.over.line();
        let read = self.keys[0].max(self.keys[1]) as f64 * READ;
        let line =
            bytes_per_second.map_or(0.0, |rate| (bytes_sent[0] + bytes_sent[1]) as f64 / rate);
        BEGIN + read + work.max(line) + rounds as f64 * latency
    }
}

impl Explained {
    pub(crate) fn json(&self) -> Result<String> {
        json_text(self)
    }

    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "{} keys of party 0 and {} of party 1, in {} partitions; party {} is the receiver\n",
            self.keys[0], self.keys[1], self.partitions, self.receiver
        );
        for party in [0, 1] {
            text.push_str(&format!(
                "party {party}: sends {:.1} MB ({:.1} bytes for each of its keys), takes some {:.0} MB of memory\n",
                self.bytes_sent[party] as f64 / 1e6,
                self.bytes_sent[party] as f64 / self.keys[party].max(1) as f64,
                self.memory[party] as f64 / 1e6
            ));
        }
        text.push_str(&format!("against {} parties", self.security));
        text.push_str(&match self.most_by_cheating {
            Some(most) => format!(
                ": a receiver that cheats looks for up to {most} keys if it computes 2^{TRIES} hashes for it\n"
            ),
            None => "\n".to_owned(),
        });
        text.push_str(&format!(
            "some {:.1} s with files, {} rounds at most\n",
            self.seconds, self.rounds
        ));
        text
    }
}
