//! In which order sums are made of products, and what is kept meanwhile.

use super::parts::Cones;
use crate::sums::SumStep;

const NONE: u32 = u32::MAX;

/// The steps that make the sums of `cones`, numbered from `first` on; `rows`: of each product the rows of its
/// operands. Gives how many rows are kept at once.
pub(super) fn make(cones: &Cones, rows: &[[u32; 2]], first: u32, steps: &mut Vec<SumStep>) -> u32 {
    let mut uses = vec![0; cones.len()];
    for part in 0..cones.len() as u32 {
        for operand in cones.operands(part).into_iter().flatten() {
            uses[operand as usize] += 1;
        }
    }
    cones.sums.iter().for_each(|&sum| uses[sum as usize] += 1);
    let mut maker = Maker {
        cones,
        rows,
        steps,
        kept: vec![NONE; uses.len()],
        uses,
        free: Vec::new(),
        most: 0,
    };
    for (to, &sum) in (first..).zip(&cones.sums) {
        maker.sum(sum, to);
    }
    maker.most
}

struct Maker<'a> {
    cones: &'a Cones,
    rows: &'a [[u32; 2]],
    steps: &'a mut Vec<SumStep>,
    /// Reads still to come of each part.
    uses: Vec<u32>,
    /// Rows where parts that are read more than once are kept.
    kept: Vec<u32>,
    free: Vec<u32>,
    most: u32,
}

/// Addends of a sum: products that nothing else reads, and parts that are kept.
#[derive(Default)]
struct Addends {
    products: Vec<u32>,
    kept: Vec<u32>,
}

impl Maker<'_> {
    fn sum(&mut self, part: u32, to: u32) {
        let alone = self.uses[part as usize] == 1 && self.kept[part as usize] == NONE;
        let addends = if alone {
            self.keep_below(part);
            self.addends(part)
        } else {
            self.keep(part);
            Addends {
                products: Vec::new(),
                kept: vec![part],
            }
        };
        let mut pairs = addends.kept.chunks_exact(2);
        for pair in pairs.by_ref() {
            let [a, b] = [pair[0], pair[1]].map(|part| self.read(part));
            self.steps.push(SumStep::GiveXor { to, a, b });
        }
        for &part in pairs.remainder() {
            let a = self.read(part);
            self.steps.push(SumStep::Give { to, a });
        }
        for product in addends.products {
            let [a, b] = self.rows[product as usize];
            self.steps.push(SumStep::Multiply { to, a, b });
        }
    }

    /// Keeps all that a sum is made of and that has other readers.
    fn keep_below(&mut self, part: u32) {
        for addend in self.addends(part).kept {
            self.keep(addend);
        }
    }

    fn keep(&mut self, part: u32) {
        let mut open = vec![part];
        while let Some(&part) = open.last() {
            if self.kept[part as usize] != NONE {
                open.pop();
                continue;
            }
            let addends = self.addends(part);
            let missing = |&part: &u32| self.kept[part as usize] == NONE;
            let before = open.len();
            open.extend(addends.kept.iter().copied().filter(missing));
            if open.len() == before {
                open.pop();
                self.kept[part as usize] = self.collect(addends);
            }
        }
    }

    /// Keeps a sum of these.
    fn collect(&mut self, addends: Addends) -> u32 {
        let rows = self.rows;
        let mut products = addends
            .products
            .iter()
            .map(|&product| rows[product as usize]);
        let (to, others) = match (&addends.kept[..], products.next()) {
            (kept, Some([a, b])) => {
                let to = fresh(&mut self.free, &mut self.most);
                self.steps.push(SumStep::Keep { to, a, b });
                (to, kept)
            }
            ([a, b, others @ ..], None) => {
                let [a, b] = [*a, *b].map(|part| self.read(part));
                let to = fresh(&mut self.free, &mut self.most);
                self.steps.push(SumStep::Xor { to, a, b });
                (to, others)
            }
            (_, None) => unreachable!("a sum has two addends"),
        };
        for &part in others {
            let b = self.read(part);
            self.steps.push(SumStep::Xor { to, a: to, b });
        }
        for &product in addends.products.iter().skip(1) {
            let [a, b] = self.rows[product as usize];
            self.steps.push(SumStep::Add { to, a, b });
        }
        to
    }

    /// Gives the row of a part that is kept, which is read once more now.
    fn read(&mut self, part: u32) -> u32 {
        let kept = self.kept[part as usize];
        let uses = &mut self.uses[part as usize];
        *uses -= 1;
        if *uses == 0 {
            self.free.push(kept);
        }
        kept
    }

    /// Gives the addends of a part, through sums that nothing else reads.
    fn addends(&self, part: u32) -> Addends {
        let mut addends = Addends::default();
        let mut open = match self.cones.operands(part) {
            Some(operands) => operands.to_vec(),
            None => {
                addends.products.push(part);
                Vec::new()
            }
        };
        while let Some(part) = open.pop() {
            match self.cones.operands(part) {
                _ if self.uses[part as usize] > 1 || self.kept[part as usize] != NONE => {
                    addends.kept.push(part)
                }
                Some(operands) => open.extend(operands),
                None => addends.products.push(part),
            }
        }
        addends
    }
}

/// A row that is free, or one more.
fn fresh(free: &mut Vec<u32>, most: &mut u32) -> u32 {
    free.pop().unwrap_or_else(|| {
        *most += 1;
        *most - 1
    })
}
