//! A batch of requests: which they are, in the order that all servers have, and a server's parts of them.

use std::fmt;
use std::time::Instant;

use madrigal_core::Zeroizing;

use super::lanes::REQUEST;

/// Random bytes by which the connections of a client to all servers are known as one another's.
pub(crate) type SessionName = [u8; 16];

/// Requests of one client, with numbers that follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) session: SessionName,
    pub(crate) first: u64,
    pub(crate) count: u32,
}

impl Run {
    /// The number after its last one.
    pub(crate) fn end(&self) -> u64 {
        self.first.saturating_add(u64::from(self.count))
    }
}

/// Lanes side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lanes {
    pub(crate) first: u32,
    pub(crate) count: u32,
}

impl Lanes {
    /// Lanes that are marked, in order.
    pub(crate) fn marked(marked: &[bool]) -> Vec<Self> {
        let mut lanes: Vec<Self> = Vec::new();
        for (lane, _) in marked.iter().enumerate().filter(|(_, marked)| **marked) {
            match lanes.last_mut() {
                Some(last) if (last.first + last.count) as usize == lane => last.count += 1,
                _ => lanes.push(Self {
                    first: lane as u32,
                    count: 1,
                }),
            }
        }
        lanes
    }
}

/// A batch at a server.
pub(crate) struct Batch {
    runs: Vec<Run>,
    /// This server's parts of all lanes, zero where a request is not there.
    parts: Zeroizing<Vec<u8>>,
    there: Vec<bool>,
    missing: usize,
    /// Time when the first request of each run came.
    came: Vec<Instant>,
}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Batch({} lanes, {} missing)", self.lanes(), self.missing)
    }
}

impl Batch {
    /// A batch of which nothing is there yet.
    pub(crate) fn new(runs: Vec<Run>) -> Self {
        let lanes = runs.iter().map(|run| run.count as usize).sum();
        Self {
            came: vec![Instant::now(); runs.len()],
            parts: Zeroizing::new(vec![0; lanes * REQUEST]),
            there: vec![false; lanes],
            missing: lanes,
            runs,
        }
    }

    pub(crate) fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Number of lanes.
    pub(crate) fn lanes(&self) -> usize {
        self.there.len()
    }

    /// This server's parts of all lanes.
    pub(crate) fn parts(&self) -> &[u8] {
        &self.parts
    }

    /// Whether all requests are there.
    pub(crate) fn is_whole(&self) -> bool {
        self.missing == 0
    }

    /// Whether none is there.
    pub(crate) fn is_empty(&self) -> bool {
        self.missing == self.lanes()
    }

    /// Each run with its place among the runs, its first lane, and the lanes that are not there.
    pub(crate) fn gaps(&self) -> Vec<(usize, Run, usize)> {
        let mut gaps = Vec::new();
        let mut lane = 0;
        for (at, run) in self.runs.iter().enumerate() {
            let lanes = lane..lane + run.count as usize;
            if self.there[lanes.clone()].iter().any(|there| !there) {
                gaps.push((at, *run, lane));
            }
            lane = lanes.end;
        }
        gaps
    }

    /// Puts requests of run `at` into lanes from `lane` on.
    pub(crate) fn put(&mut self, at: usize, lane: usize, parts: &[u8], came: Instant) {
        let count = parts.len() / REQUEST;
        self.parts[lane * REQUEST..][..parts.len()].copy_from_slice(parts);
        let there = &mut self.there[lane..lane + count];
        self.missing -= there.iter().filter(|there| !**there).count();
        there.fill(true);
        self.came[at] = self.came[at].min(came);
    }

    /// Takes requests out of lanes; gives those that were there, with their parts and when they came.
    pub(crate) fn take(&mut self, lanes: &[Lanes]) -> Vec<(Run, Vec<u8>, Instant)> {
        let mut out = vec![false; self.lanes()];
        for lanes in lanes {
            out[lanes.first as usize..][..lanes.count as usize].fill(true);
        }
        let taken = self.pieces(|lane| out[lane] && self.there[lane]);
        let taken: Vec<_> = taken
            .into_iter()
            .map(|(at, run, lane)| {
                let bytes = lane * REQUEST..(lane + run.count as usize) * REQUEST;
                (run, self.parts[bytes].to_vec(), self.came[at])
            })
            .collect();
        for (lane, _) in out.iter().enumerate().filter(|(_, out)| **out) {
            self.parts[lane * REQUEST..][..REQUEST].fill(0);
            self.missing += usize::from(self.there[lane]);
            self.there[lane] = false;
        }
        taken
    }

    /// Requests that are there, as runs, each with its first lane.
    pub(crate) fn present(&self) -> Vec<(Run, usize)> {
        let pieces = self.pieces(|lane| self.there[lane]);
        let pieces = pieces.into_iter();
        pieces.map(|(_, run, lane)| (run, lane)).collect()
    }

    /// Lanes whose requests are not there.
    pub(crate) fn absent(&self) -> Vec<Lanes> {
        let absent: Vec<bool> = self.there.iter().map(|there| !there).collect();
        Lanes::marked(&absent)
    }

    /// Whether lanes are such as this batch has, in order and apart.
    pub(crate) fn has(&self, lanes: &[Lanes]) -> bool {
        let mut after = 0;
        lanes.iter().all(|one| {
            let (first, end) = (
                u64::from(one.first),
                u64::from(one.first) + u64::from(one.count),
            );
            let fits = one.count > 0 && first >= after && end <= self.lanes() as u64;
            after = end;
            fits
        })
    }

    /// Parts of runs whose lanes are chosen: the run's place, the part, its first lane.
    fn pieces(&self, chosen: impl Fn(usize) -> bool) -> Vec<(usize, Run, usize)> {
        let mut pieces: Vec<(usize, Run, usize)> = Vec::new();
        let mut lane = 0;
        for (at, run) in self.runs.iter().enumerate() {
            let mut open = false;
            for offset in 0..run.count {
                let is = chosen(lane);
                match pieces.last_mut() {
                    Some((_, piece, _)) if is && open => piece.count += 1,
                    _ if is => pieces.push((
                        at,
                        Run {
                            first: run.first + u64::from(offset),
                            count: 1,
                            ..*run
                        },
                        lane,
                    )),
                    _ => {}
                }
                open = is;
                lane += 1;
            }
        }
        pieces
    }
}
