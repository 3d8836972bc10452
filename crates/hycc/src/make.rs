//! The graph of a program, made stage by stage.

use std::collections::BTreeMap;

use madrigal_circuit::hycc::Flat;
use madrigal_core::Party;

use crate::graph::{HybridGraph, Lowering, MakeError};
use crate::stages::{Group, Options};

pub(crate) fn make(
    flat: &Flat,
    options: &Options,
    parties: usize,
    lanes: usize,
    to: &[Party],
) -> Result<HybridGraph, MakeError> {
    let mut lowering = Lowering::new(flat, options, parties, lanes);
    lowering.all_stages()?;
    let outputs = lowering.open(to)?;
    Ok(HybridGraph {
        graph: lowering.making.graph,
        inputs: lowering.inputs,
        outputs,
    })
}

impl Lowering<'_> {
    fn all_stages(&mut self) -> Result<(), MakeError> {
        let mut members: BTreeMap<Group, Vec<u32>> = BTreeMap::new();
        for (node, group) in (0..).zip(&self.stages.groups) {
            if let Some(group) = group {
                members.entry(*group).or_default().push(node);
            }
        }
        let mut stages: Vec<Vec<(Group, Vec<u32>)>> = Vec::new();
        stages.resize_with(self.stages.last as usize + 1, Vec::new);
        for (group, nodes) in members {
            stages[group.stage() as usize].push((group, nodes));
        }
        for (stage, mut groups) in stages.into_iter().enumerate() {
            // Sums are of what else their stage makes.
            groups.sort_by_key(|(group, _)| (matches!(group, Group::Linear { .. }), *group));
            for (group, nodes) in groups {
                self.making.label = match group {
                    Group::Input { owner, .. } => format!("inputs of party {owner}"),
                    Group::Circuit { .. } => format!("gates of stage {stage}"),
                    Group::Combine { .. } => format!("words of bits in stage {stage}"),
                    Group::Product { .. } => format!("products of stage {stage}"),
                    Group::Linear { .. } => format!("sums of stage {stage}"),
                };
                match group {
                    Group::Input { owner, width } => self.input(group, owner, width, nodes)?,
                    Group::Circuit { protocol, .. } => self.circuit(group, protocol, &nodes)?,
                    Group::Combine {
                        width, protocol, ..
                    } => self.combine(width, protocol, &nodes)?,
                    Group::Product { width, square, .. } => self.product(width, square, &nodes)?,
                    Group::Linear { .. } => self.linear(&nodes)?,
                }
            }
        }
        Ok(())
    }
}
