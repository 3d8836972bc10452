//! Costs of matching lists of many parties, told before anything is read or sent.

use madrigal_app::failure::Result;
use madrigal_app::figures::{json_text, print, print_text_as_json};
use madrigal_app::over::Over;
use madrigal_app::ways::AGREED;
use madrigal_core::Party;
use serde::Serialize;

use super::find::{agree_cost, plan};
use super::{Asked, limits};
use crate::args::Psi;
use crate::failure::Unmatched;

/// Seconds of one core for a key of a list's file, and of tags that are compared. Measured on the machine of docs/BENCHMARKS.md.
const READ: f64 = 0.11e-6;
const COMPARE: f64 = 0.1e-6;
/// Seconds to begin.
const BEGIN: f64 = 0.05;
/// Bytes of memory for a key of a party's list, for each tag that is learnt, and of what is under way.
const OF_KEY: u64 = 84;
const OF_TAG: u64 = 16;
const UNDER_WAY: u64 = 100 << 20;

/// Costs of a run of three parties or more, as JSON has them.
#[derive(Serialize)]
struct ExplainedMany {
    /// Always `rows`.
    question: &'static str,
    /// Different keys of all lists, by the parties' order.
    keys: Vec<u64>,
    /// Protocol that encrypts keys.
    protocol: &'static str,
    /// Jobs of the session, the first of which reads lists.
    jobs: u32,
    /// Payload bytes that each party sends, by the parties' order.
    bytes_sent: Vec<u64>,
    /// Rounds at most.
    rounds: u64,
    /// Seconds by an estimate, for a known machine and the line of --link or --network.
    seconds: f64,
    /// Memory of each party in bytes by an estimate, by the parties' order.
    memory: Vec<u64>,
}

/// Says what a run will cost.
pub(crate) fn explain(args: &Psi, asked: &Asked, over: &Over) -> Result<()> {
    let keys = &args.keys;
    limits::check(keys, None, args.most).map_err(Unmatched::from)?;
    let parties = keys.len();
    let threads = args.threads.resolve(args.who.here());
    let (bytes, rounds) = agree_cost(parties);
    let mut explained = ExplainedMany {
        question: args.question().name(),
        keys: keys.clone(),
        protocol: asked.many.protocol.name,
        jobs: 1,
        bytes_sent: vec![bytes; parties],
        rounds,
        seconds: BEGIN + keys.iter().copied().max().unwrap_or(0) as f64 * READ,
        memory: Vec::new(),
    };
    let all: u64 = keys.iter().sum();
    for (party, keys) in Party::all(parties).zip(keys) {
        let told = if asked.many.to.contains(&party) {
            all
        } else {
            0
        };
        explained
            .memory
            .push(UNDER_WAY + keys * OF_KEY + told * OF_TAG);
    }
    if !keys.contains(&0) {
        let plan = plan(&asked.many, over, keys, threads)?;
        explained.jobs += plan.jobs();
        explained.seconds += plan.seconds(&AGREED) + all as f64 * COMPARE;
        let costs: Vec<_> = Party::all(parties).map(|party| plan.cost(party)).collect();
        for (sent, cost) in explained.bytes_sent.iter_mut().zip(&costs) {
            *sent += cost.setup.bytes_sent + cost.online.bytes_sent;
        }
        let most = costs
            .iter()
            .map(|cost| cost.setup.rounds + cost.online.rounds);
        explained.rounds += most.max().unwrap_or(0);
    }
    match args.json {
        true => print_text_as_json(&json_text(&explained)?),
        false => print(format!("{}{}", asked.learnt(None), explained.text()).as_bytes()),
    }
}

impl ExplainedMany {
    fn text(&self) -> String {
        let mut text = format!(
            "lists of {} parties, encrypted in {}, in {} jobs\n",
            self.keys.len(),
            self.protocol,
            self.jobs
        );
        for (party, keys) in self.keys.iter().enumerate() {
            text.push_str(&format!(
                "party {party}: {keys} keys; sends {:.1} MB ({:.1} bytes for each key of all lists), takes some {:.0} MB of memory\n",
                self.bytes_sent[party] as f64 / 1e6,
                self.bytes_sent[party] as f64 / self.keys.iter().sum::<u64>().max(1) as f64,
                self.memory[party] as f64 / 1e6
            ));
        }
        text.push_str(&format!(
            "some {:.1} s with files, {} rounds at most\n",
            self.seconds, self.rounds
        ));
        text
    }
}
