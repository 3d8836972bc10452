//! XORs and NOTs of a circuit put together: three labels added at once, where the sum of two of them is
//! read by one operation alone and goes nowhere else.
//!
//! A wide label operation takes what memory takes: two rows read and one written. A sum that is not written
//! to be read once saves two of six, and the cache has room for other rows.

use madrigal_circuit::{Layered, LocalOp};
use madrigal_kernels::{LabelOps, LabelProgram};

/// A circuit's local operations on labels, layer by layer, the tail at last.
#[derive(Debug)]
pub(crate) struct Fused {
    program: LabelProgram,
    /// Ends of each layer's operations.
    ends: Vec<usize>,
}

impl Fused {
    /// Takes the operations of a circuit. Time and memory are linear in them.
    pub(crate) fn new(layered: &Layered) -> Self {
        let rows = layered.rows();
        let mut uses = uses(layered).into_iter();
        let mut fusing = Fusing::new(rows);
        let (mut all, mut ends) = (Vec::with_capacity(layered.local_count()), Vec::new());
        let layers = layered.layers().map(|layer| layer.local);
        for local in layers.chain(std::iter::once(layered.tail())) {
            let uses = uses.by_ref().take(local.len());
            let ops = local.iter().map(|op| sum(op, rows));
            all.extend(fusing.layer(ops.zip(uses)));
            ends.push(all.len());
        }
        Self {
            program: LabelProgram::new(rows, all),
            ends,
        }
    }

    /// A layer's operations, behind the last layer those of the tail, or none.
    pub(crate) fn layer(&self, number: Option<usize>) -> LabelOps<'_> {
        let end = |number: usize| self.ends[number];
        let places = number.map_or(0..0, |number| {
            number.checked_sub(1).map_or(0, end)..end(number)
        });
        self.program.range(places)
    }
}

/// An operation as the sum of two rows, of which two lie behind those that have names.
fn sum(op: &LocalOp, rows: usize) -> [u32; 3] {
    let [zeros, not] = [rows as u32, rows as u32 + 1];
    match *op {
        LocalOp::Xor { dst, a, b } => [dst, a, b],
        LocalOp::Not { dst, a } => [dst, a, not],
        LocalOp::Const { dst, bit } => [dst, zeros, if bit { not } else { zeros }],
    }
}

/// Counts how often the value that each local operation writes is read before something else is written there.
fn uses(layered: &Layered) -> Vec<u32> {
    let mut uses = vec![0; layered.local_count()];
    // Operation that wrote the value of each row, if one did; those of inputs and ANDs do not count.
    let mut writers = vec![None; layered.rows() + 2];
    let mut number = 0;
    let mut local = |ops: &[LocalOp], writers: &mut [Option<usize>], uses: &mut [u32]| {
        for op in ops {
            let [dst, a, b] = sum(op, layered.rows());
            read(a, writers, uses);
            read(b, writers, uses);
            writers[dst as usize] = Some(number);
            number += 1;
        }
    };
    for layer in layered.layers() {
        local(layer.local, &mut writers, &mut uses);
        for and in layer.ands {
            read(and.a, &writers, &mut uses);
            read(and.b, &writers, &mut uses);
        }
        for and in layer.ands {
            writers[and.dst as usize] = None;
        }
    }
    local(layered.tail(), &mut writers, &mut uses);
    for &row in layered.outputs() {
        read(row, &writers, &mut uses);
    }
    uses
}

fn read(row: u32, writers: &[Option<usize>], uses: &mut [u32]) {
    if let Some(writer) = writers[row as usize] {
        uses[writer] += 1;
    }
}

/// Facts about the rows while a layer's operations are put together.
struct Fusing {
    zeros: u32,
    /// Operation of the layer, counted from `first`, that wrote each row last.
    last: Vec<usize>,
    /// The number of the layer's first operation, from 1 on: what is below has been written before.
    first: usize,
}

impl Fusing {
    fn new(rows: usize) -> Self {
        Self {
            zeros: rows as u32,
            last: vec![0; rows + 2],
            first: 1,
        }
    }

    /// The operations of a layer with the uses of what they write, in order, those left out that have become
    /// part of another.
    fn layer(
        &mut self,
        ops: impl Iterator<Item = ([u32; 3], u32)>,
    ) -> impl Iterator<Item = [u32; 4]> {
        // None where it is part of another.
        let mut fused: Vec<Option<([u32; 4], u32)>> = Vec::new();
        for ([dst, a, b], uses) in ops {
            let mut op = [dst, a, b, self.zeros];
            let part = [(a, b), (b, a)]
                .into_iter()
                .find_map(|(row, other)| Some((self.part(row, &fused)?, other)));
            if let Some((place, other)) = part
                && let Some(([_, a, b, _], _)) = fused[place].take()
            {
                op = [dst, a, b, other];
            }
            self.last[dst as usize] = self.first + fused.len();
            fused.push(Some((op, uses)));
        }
        self.first += fused.len();
        fused.into_iter().flatten().map(|(op, _)| op)
    }

    /// The place of the operation that has written a row, if it can be part of the one that now reads it: it adds
    /// two rows, these still hold what they held, and nobody else reads the sum.
    fn part(&self, row: u32, fused: &[Option<([u32; 4], u32)>]) -> Option<usize> {
        let written = |row: u32| self.last[row as usize];
        let place = written(row).checked_sub(self.first)?;
        let ([dst, a, b, c], uses) = fused[place]?;
        // Where the sum was written to one of its own rows, that row holds what was there before once it is
        // not written any more.
        let unchanged = |row: u32| row == dst || written(row) < self.first + place;
        (uses == 1 && c == self.zeros && unchanged(a) && unchanged(b)).then_some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use madrigal_circuit::{Builder, Wire};

    /// The operations on labels that are left of a circuit.
    fn left(outputs: impl FnOnce(&mut Builder, [Wire; 4]) -> Vec<Wire>) -> usize {
        let mut builder = Builder::new("test");
        let inputs = builder.input(4);
        let outputs = outputs(&mut builder, core::array::from_fn(|i| inputs[i]));
        builder.output(&outputs);
        let fused = Fused::new(&Layered::compile(&builder.finish()));
        fused.ends.last().copied().unwrap_or(0)
    }

    #[test]
    fn sums_that_are_read_once_are_part_of_another() {
        let chain = |b: &mut Builder, [w, x, y, z]: [Wire; 4]| {
            let sum = b.xor(w, x);
            let sum = b.xor(sum, y);
            b.xor(sum, z)
        };
        // Four rows take two operations: three, then the one that is left.
        assert_eq!(left(|b, inputs| vec![chain(b, inputs)]), 2);
        let and_read = |b: &mut Builder, [w, x, y, _]: [Wire; 4]| {
            let first = b.xor(w, x);
            let second = b.xor(first, y);
            vec![b.and(first, second)]
        };
        assert_eq!(left(and_read), 2);
        let output = |b: &mut Builder, [w, x, y, _]: [Wire; 4]| {
            let first = b.xor(w, x);
            vec![first, b.xor(first, y)]
        };
        assert_eq!(left(output), 2);
        let inverted = |b: &mut Builder, [w, x, y, z]: [Wire; 4]| {
            let sum = b.xor(w, x);
            let sum = b.not(sum);
            vec![b.and(sum, y), z]
        };
        assert_eq!(left(inverted), 1);
    }
}
