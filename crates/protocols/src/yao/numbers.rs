//! From garbled bits to shares of numbers in A.

use bytes::Bytes;
use madrigal_core::{Party, Ring, Zeroizing};
use madrigal_garbling::{Instance, Offset, Planes};
use madrigal_kernels::Block;
use madrigal_net::Result;

use super::{GARBLER, Yao, bug};

/// Values that the two keep of numbers that garbled bits become: the garbler its shares, the evaluator what it makes its
/// own of.
pub struct Projected<T: Ring> {
    planes: Planes,
    place: (Instance, u64),
    kept: ProjectedSide<T>,
}

enum ProjectedSide<T: Ring> {
    Shares(Zeroizing<Vec<T>>),
    Table(Bytes),
}

impl<T: Ring> std::fmt::Debug for Projected<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Projected({:?})", self.planes)
    }
}

impl Yao {
    /// Makes the way from bits to numbers: a table from the garbler, who has the labels of 0, to the evaluator, whose
    /// labels are of no use yet. One message.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    ///
    /// # Panics
    /// If there is another number of labels than of bits, or a number has more bits than T.
    pub async fn project<T: Ring>(
        &mut self,
        offset: &Block,
        planes: Planes,
        labels: &[Block],
    ) -> Result<Projected<T>> {
        let place = (self.instance, self.next_row);
        self.next_row += planes.labels() as u64;
        let bytes = planes.table_bytes::<T>();
        let kept = if self.garbles() {
            let offset = Offset::from_block(*offset).map_err(bug)?;
            let mut shares = Zeroizing::new(vec![T::ZERO; planes.count]);
            let mut table = vec![0; bytes];
            self.context
                .metered_now(|| planes.garble(place, &offset, labels, &mut shares, &mut table))
                .map_err(bug)?;
            if bytes > 0 {
                self.channel.send(table).await?;
            }
            ProjectedSide::Shares(shares)
        } else {
            ProjectedSide::Table(match bytes {
                0 => Bytes::new(),
                bytes => self.channel.recv(bytes).await?,
            })
        };
        Ok(Projected {
            planes,
            place,
            kept,
        })
    }

    /// Our shares of the numbers, from the labels that the bits have. No message.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] for our own mistakes alone.
    ///
    /// # Panics
    /// In the same cases as [`project`](Self::project).
    pub fn numbers<T: Ring>(
        &self,
        projected: Projected<T>,
        labels: &[Block],
    ) -> Result<Zeroizing<Vec<T>>> {
        let Projected {
            planes,
            place,
            kept,
        } = projected;
        let table = match kept {
            ProjectedSide::Shares(shares) => return Ok(shares),
            ProjectedSide::Table(table) => table,
        };
        let mut shares = Zeroizing::new(vec![T::ZERO; planes.count]);
        self.context
            .metered_now(|| planes.evaluate(place, labels, &table, &mut shares))
            .map_err(bug)?;
        Ok(shares)
    }
}

/// AES blocks that a party computes for [`Yao::project`] and for [`Yao::numbers`].
pub fn numbers_aes(planes: Planes, me: Party) -> [u64; 2] {
    let [garbler, evaluator] = planes.aes();
    match me {
        GARBLER => [garbler, 0],
        _ => [0, evaluator],
    }
}
