//! Sums of words: many become one operation.

use std::collections::{BTreeMap, HashMap};

use madrigal_circuit::hycc::Op;

use crate::form::Form;
use crate::graph::{Lowering, MakeError};

/// Terms beyond which a sum is one by itself.
const MOST_TERMS: usize = 256;

impl Lowering<'_> {
    /// Sums of one stage: those that are part of one other sum alone are made with it, and those of one
    /// kind together.
    pub(crate) fn linear(&mut self, nodes: &[u32]) -> Result<(), MakeError> {
        type Kind = (u32, u8, Vec<u64>, u64);
        let mut levels: HashMap<u32, u32> = HashMap::new();
        let mut sums: BTreeMap<Kind, Vec<(u32, Vec<u32>)>> = BTreeMap::new();
        for &node in nodes {
            let form = match &self.flat.nodes[node as usize].op {
                Op::Add(a, b) => self.form(*a).plus(self.form(*b)),
                Op::Sub(a, b) => {
                    let b = self.form(*b).times(u64::MAX);
                    self.form(*a).plus(b)
                }
                Op::Neg(a) => self.form(*a).times(u64::MAX),
                Op::Mul(a, b) => match (self.known(*a), self.known(*b)) {
                    (Some(a), _) => self.form(*b).times(a),
                    (_, Some(b)) => self.form(*a).times(b),
                    _ => unreachable!("a product"),
                },
                _ => unreachable!("a sum"),
            };
            if self.uses[node as usize] < 2 && form.terms.len() <= MOST_TERMS {
                self.forms.insert(node, form);
                continue;
            }
            let level = form
                .terms
                .iter()
                .filter_map(|(term, _)| levels.get(term))
                .max();
            let level = level.map_or(0, |level| level + 1);
            levels.insert(node, level);
            let (terms, factors) = form.terms.into_iter().unzip();
            let kind = (level, self.width(node), factors, form.constant);
            sums.entry(kind).or_default().push((node, terms));
        }
        for ((_, width, factors, constant), sums) in sums {
            let mut inputs = Vec::with_capacity(factors.len());
            for term in 0..factors.len() {
                inputs.push(self.gather(sums.iter().map(|(_, terms)| terms[term]))?);
            }
            // Numbers are written with signs, which are shorter to tell.
            let signed = |number: u64| {
                let above = 64 - u32::from(width);
                i128::from((number << above) as i64 >> above) as u128
            };
            let factors = factors.into_iter().map(signed).collect();
            let rings = self.rings().numbers().rings;
            let sum = rings.linear(factors, signed(constant));
            let value = self.making.one(sum, &inputs)?;
            let nodes: Vec<u32> = sums.iter().map(|(node, _)| *node).collect();
            self.place(&nodes, value);
        }
        Ok(())
    }

    /// Gives the sum that a word is. A sum without a value of its own is asked for once.
    fn form(&mut self, node: u32) -> Form {
        if let Some(constant) = self.known(node) {
            let terms = Vec::new();
            return Form { terms, constant };
        }
        self.forms.remove(&node).unwrap_or_else(|| Form {
            terms: vec![(node, 1)],
            constant: 0,
        })
    }
}
