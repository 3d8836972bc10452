//! Shares as generators expand them, and what depends on the shares of all parties.

use madrigal_core::{Party, Product, Ring, Zeroizing};
use madrigal_correlations::{
    Cells, Column, Dependence, Descriptor, Kind, Strings, add_product, with_ring,
};
use madrigal_net::{Generator, breathe};

/// Piece of a request: a number of items of a kind.
pub(super) struct Piece {
    said: Descriptor,
    count: usize,
}

impl Piece {
    pub(super) fn new((kind, count): (Kind, usize)) -> Self {
        let said = kind.descriptor();
        Self { said, count }
    }

    /// Gives the column that depends on the others.
    fn dependent(&self) -> Cells {
        self.said
            .columns
            .last()
            .map_or(Cells::Bit, |column| column.cells)
    }

    /// Gives the bytes of the string that depends on the others.
    pub(super) fn dependent_bytes(&self) -> usize {
        self.dependent().bytes(self.count)
    }

    /// Gives the steps that making the piece counts for.
    pub(super) fn steps(&self) -> usize {
        usize::try_from(self.said.unit).map_or(usize::MAX, |unit| unit.saturating_mul(self.count))
    }

    /// Gives the columns that `me` draws from its generator, each with whether it does.
    fn drawn(&self, me: Party, with_dependent: bool) -> impl Iterator<Item = (Column, bool)> {
        let last = self.said.columns.len() - 1;
        let columns = self.said.columns.iter().enumerate();
        columns.map(move |(index, &column)| {
            let drawn = if index == last {
                with_dependent
            } else {
                column.is_drawn_by(me)
            };
            (column, drawn)
        })
    }

    /// Gives the AES blocks of [`expand`](Self::expand) for `me`.
    pub(super) fn aes_blocks(&self, me: Party, with_dependent: bool) -> u64 {
        let drawn = self.drawn(me, with_dependent).filter(|(_, drawn)| *drawn);
        drawn
            .map(|(column, _)| column.cells.bytes(self.count).div_ceil(16) as u64)
            .sum()
    }

    /// Gives the shares of `me` as its generator has them; the dependent string, if it is not expanded, is
    /// zero.
    pub(super) fn expand(&self, me: Party, prg: &mut Generator, with_dependent: bool) -> Strings {
        let drawn = self.drawn(me, with_dependent);
        drawn
            .map(|(column, drawn)| {
                let mut string = Zeroizing::new(vec![0; column.cells.bytes(self.count)]);
                if drawn {
                    prg.fill(&mut string);
                    column.cells.clean(&mut string, self.count);
                }
                string
            })
            .collect()
    }

    /// Gives what the corrected party is sent: the value that depends on the sums of all parties' strings,
    /// less all other parties' shares of it. The generators are those of the parties in order.
    pub(super) async fn deal(
        &self,
        prgs: &mut [Generator],
        private: &mut Generator,
    ) -> Zeroizing<Vec<u8>> {
        let columns = &self.said.columns;
        let zeros = |column: &Column| Zeroizing::new(vec![0; column.cells.bytes(self.count)]);
        let mut sums: Strings = columns.iter().map(zeros).collect();
        for (party, prg) in prgs.iter_mut().enumerate() {
            let strings = self.expand(Party::new(party), prg, party > 0);
            for ((sum, string), column) in sums.iter_mut().zip(&strings).zip(columns) {
                column.cells.add(sum, string);
            }
            breathe().await;
        }
        let others = sums.pop().unwrap_or_default();
        let mut value = Zeroizing::new(vec![0; self.dependent_bytes()]);
        match self.said.dependence {
            Dependence::Of(rule) => rule(&sums, &mut value),
            Dependence::Random(allow) => {
                private.fill(&mut value);
                allow(&mut value);
            }
            Dependence::Product(product) => {
                let (Cells::Elements(width, _), [a, b]) = (self.dependent(), &sums[..]) else {
                    unreachable!("a product has two factors of elements")
                };
                with_ring!(width, T => product_of::<T>(&mut value, a, b, product).await);
            }
        }
        self.dependent().subtract(&mut value, &others);
        value
    }
}

/// Writes the product of two strings, some rows at a time.
async fn product_of<T: Ring>(c: &mut [u8], a: &[u8], b: &[u8], product: Product) {
    if product.multiplications() == 0 {
        return;
    }
    let elements = |string: &[u8]| -> Zeroizing<Vec<T>> {
        Zeroizing::new(string.chunks_exact(T::BYTES).map(T::read).collect())
    };
    let (a, b) = (elements(a), elements(b));
    let mut z = Zeroizing::new(vec![T::ZERO; c.len() / T::BYTES]);
    add_product(product, &a, &b, &mut z).await;
    for (place, value) in c.chunks_exact_mut(T::BYTES).zip(z.iter()) {
        value.write(place);
    }
}
