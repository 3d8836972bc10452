//! A circuit with branches, planned and run by all parties.

use std::sync::Arc;

use madrigal_circuit::Rows;
use madrigal_circuit::branches::{Branching, Layering, Step};
use madrigal_core::{Party, PhaseCost};
use madrigal_correlations::Kind;
use madrigal_correlations_make::Extension;
use madrigal_engine::{Element, Graph, Operation, Origin, Plan, PlanSpec, Shares, Sharing, Sort};
use madrigal_kernels::{Block, Prg};
use madrigal_operations::{BooleanGmwTool, Branch, Circuit, Netlist, Open, Scheme, Share};

use crate::exit::{Failure, Result};
use crate::graphs::{self, Measured, Opened};

/// How a circuit is evaluated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Every branch as it stands, and a multiplexer.
    Plain,
    /// The branches' cost is shared.
    Shared(Scheme),
}

impl Way {
    pub const ALL: [Self; 4] = [
        Self::Plain,
        Self::Shared(Scheme::Vectors),
        Self::Shared(Scheme::Masked),
        Self::Shared(Scheme::Merged),
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Shared(scheme) => scheme.name(),
        }
    }

    /// Branches of the circuit's first conditional.
    pub fn branches(self, circuit: &Branching) -> usize {
        let count = circuit.steps().iter().find_map(|step| match step {
            Step::Choice { branches, .. } => Some(branches.len()),
            Step::Circuit { .. } => None,
        });
        count.unwrap_or(1)
    }

    /// The first party has every other input, the second one the others; all get the outputs.
    pub fn plan(self, circuit: &Arc<Branching>, setting: &Setting) -> Result<Planned> {
        let (parties, lanes) = (setting.parties, setting.lanes);
        let mut graph = Graph::new(parties);
        let mut inputs = Vec::new();
        for (index, &width) in circuit.inputs().iter().enumerate() {
            let owner = Party::new(index % 2);
            let element = Element::Bits(width as usize);
            let sort = Sort::new(Sharing::clear(&[owner]), element, lanes);
            let input = graph.input(sort);
            let share = Share::<BooleanGmwTool>::new(owner);
            inputs.push(graph.add_one(share, &[input]).map_err(Failure::bug)?);
        }
        let operation: Arc<dyn Operation> = match self {
            Self::Plain => {
                let flat = Arc::new(Circuit::new(&circuit.flatten_apart()));
                Arc::new(Netlist::<BooleanGmwTool>::new(flat, lanes))
            }
            Self::Shared(scheme) => {
                let branch = Branch::layered(Arc::clone(circuit), scheme, setting.layering);
                Arc::new(branch)
            }
        };
        let all: Vec<Party> = Party::all(parties).collect();
        for output in graph.add(operation, &inputs).map_err(Failure::bug)? {
            let open = Open::<BooleanGmwTool>::new(all.clone());
            let opened = graph.add_one(open, &[output]).map_err(Failure::bug)?;
            graph.output(opened);
        }
        setting.planned(graph)
    }
}

/// How circuits with branches are measured.
pub struct Setting {
    pub parties: usize,
    pub extension: Extension,
    pub lanes: usize,
    /// Layers of the ANDs of branches that share their cost.
    pub layering: Layering,
    pub runs: graphs::Setting,
}

impl Setting {
    /// Plans a graph.
    pub(super) fn planned(&self, graph: Graph) -> Result<Planned> {
        let spec = PlanSpec {
            origin: Origin::ot(self.extension),
            line: self.runs.network.link(),
            memory: 1 << 30,
            ..PlanSpec::new(graph)
        };
        Ok(Planned(Plan::new(spec).map_err(Failure::bug)?))
    }
}

/// Costs by the plan: bytes and rounds of the party that sends most, OTs of all.
pub struct Counted {
    pub setup_bytes: u64,
    pub online_bytes: u64,
    pub ots: u64,
    pub rounds: u64,
}

pub struct Planned(Plan);

impl Planned {
    /// Measures runs with these inputs, of which `is_right` says whether the results are.
    pub(super) fn measure(
        &self,
        inputs: &[Shares],
        is_right: &(dyn Fn(&[Shares]) -> bool + Sync),
        setting: &Setting,
    ) -> Result<Measured> {
        let opened = Opened {
            plan: &self.0,
            inputs,
            is_right,
        };
        graphs::run(&opened, &setting.runs)
    }

    pub fn counted(&self) -> Counted {
        let parties = self.0.spec().graph.parties();
        let most = |pick: fn(&PhaseCost, &PhaseCost) -> u64| {
            let of = |me| {
                let cost = self.0.cost(me);
                pick(&cost.setup, &cost.online)
            };
            Party::all(parties).map(of).max().unwrap_or(0)
        };
        let kinds = self.0.needs().kinds().into_iter();
        let triples: usize = kinds
            .map(|(kind, count)| match kind {
                Kind::BitTriples | Kind::VectorTriples { .. } => count,
                Kind::RingTriples(width) => width.bits() * count,
                // A square modulo 2^(l + 2) takes OTs in one direction for each half.
                Kind::SharedBits(width) => (width.bits() + 2) * count / 2,
                _ => 0,
            })
            .sum();
        Counted {
            setup_bytes: most(|setup, _| setup.bytes_sent),
            online_bytes: most(|_, online| online.bytes_sent),
            // One for each ordered pair of parties.
            ots: (triples * parties * (parties - 1)) as u64,
            rounds: most(|setup, online| setup.rounds + online.rounds),
        }
    }
}

/// Measures a circuit's runs with random inputs.
pub fn measure(circuit: &Branching, planned: &Planned, setting: &Setting) -> Result<Measured> {
    let mut prg = Prg::new(Block::new(u64::from(setting.runs.repeat), 0x6272));
    let mut rows = Rows::new(circuit.input_bits(), setting.lanes);
    prg.fill(rows.as_bytes_mut());
    rows.clear_padding();
    let expected = circuit.evaluate(&rows);
    let (mut inputs, mut at) = (Vec::new(), 0);
    for (index, &width) in circuit.inputs().iter().enumerate() {
        let mut value = Rows::new(width as usize, setting.lanes);
        for row in 0..width as usize {
            value.row_mut(row).copy_from_slice(rows.row(at));
            at += 1;
        }
        inputs.push(Shares::rows(
            Sharing::clear(&[Party::new(index % 2)]),
            &value,
        ));
    }
    let right = |opened: &[Shares]| {
        let opened = opened.iter().filter_map(Shares::to_rows);
        let right = (0..)
            .zip(opened)
            .try_fold(0, |first, (_, rows): (usize, Rows)| {
                let same = |row: usize| rows.row(row) == expected.row(first + row);
                (0..rows.rows()).all(same).then_some(first + rows.rows())
            });
        right == Some(expected.rows())
    };
    planned.measure(&inputs, &right, setting)
}
