//! Counts the parts of a netlist.

use crate::netlist::{Gate, Netlist};

/// Counts and depths of a netlist as it stands in its file, dead gates included.
///
/// The depths are those of the outputs: gates that reach none do not lengthen them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// Gates; a MAND is one.
    pub gates: u64,
    /// Wires.
    pub wires: u64,
    /// ANDs; a MAND counts as its number of lanes.
    pub and: u64,
    /// XOR gates.
    pub xor: u64,
    /// INV (NOT) gates.
    pub inv: u64,
    /// OR gates; each costs one AND.
    pub or: u64,
    /// EQ gates: constants.
    pub constant: u64,
    /// EQW gates: copies.
    pub copy: u64,
    /// MAND gates.
    pub mand: u64,
    /// ANDs and ORs on the longest path to an output: the rounds that the netlist takes.
    pub and_depth: u32,
    /// Gates of any kind on the longest path to an output.
    pub total_depth: u32,
}

impl Netlist {
    /// Counts and depths, as the gates stand there.
    pub fn stats(&self) -> Stats {
        let mut stats = Stats {
            gates: self.gates().len() as u64,
            wires: self.wires().into(),
            ..Stats::default()
        };
        let mut depth = vec![Depth::default(); self.wires() as usize];
        for &gate in self.gates() {
            let (a, b, out, interactive) = match gate {
                Gate::Xor { a, b, out } => (a, b, out, 0),
                Gate::And { a, b, out } | Gate::Or { a, b, out } => (a, b, out, 1),
                Gate::Inv { a, out } | Gate::Copy { a, out } => (a, a, out, 0),
                Gate::Const { out, .. } => {
                    stats.constant += 1;
                    depth[out as usize] = Depth { and: 0, total: 1 };
                    continue;
                }
                Gate::Mand(gate) => {
                    let mand = self.mand(gate);
                    stats.mand += 1;
                    stats.and += mand.z.len() as u64;
                    for ((&a, &b), &z) in mand.x.iter().zip(mand.y).zip(mand.z) {
                        depth[z as usize] = depth[a as usize].max(depth[b as usize]).plus(1);
                    }
                    continue;
                }
            };
            match gate {
                Gate::Xor { .. } => stats.xor += 1,
                Gate::And { .. } => stats.and += 1,
                Gate::Or { .. } => stats.or += 1,
                Gate::Inv { .. } => stats.inv += 1,
                _ => stats.copy += 1,
            }
            depth[out as usize] = depth[a as usize].max(depth[b as usize]).plus(interactive);
        }
        let outputs = self
            .output_wires()
            .map(|wire| depth[wire as usize])
            .fold(Depth::default(), Depth::max);
        (stats.and_depth, stats.total_depth) = (outputs.and, outputs.total);
        stats
    }
}

#[derive(Clone, Copy, Default)]
struct Depth {
    and: u32,
    total: u32,
}

impl Depth {
    fn max(self, other: Self) -> Self {
        Self {
            and: self.and.max(other.and),
            total: self.total.max(other.total),
        }
    }

    fn plus(self, interactive: u32) -> Self {
        Self {
            and: self.and + interactive,
            total: self.total + 1,
        }
    }
}
