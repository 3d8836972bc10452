//! Circuits: garbled by all before there are inputs, and evaluated by each for itself.

use bytes::Bytes;
use madrigal_circuit::Rows;
use madrigal_core::{Zeroizing, bits};
use madrigal_garbling::bmr::{
    BlockSeed, Choices, Evaluation, Garbling, Gates, Hashed, Instance, MaskWalk, Products,
};
use madrigal_kernels::{self as kernels, Block};
use madrigal_net::{Channel, Result, exchange_each};

use super::tables::{self, Columns, Parcel, Wires};
use super::{ActiveKeys, Bmr, FITS, PeerRows, Program, Shape, WireSetup, pack, unpack};
use crate::gmw::LEADER;

/// Messages in which the parties have told each other of their choices.
struct Told {
    own: Choices,
    /// Our shares of the masks of the circuit's outputs.
    outputs: Rows,
    /// Flips of each peer.
    flips: Vec<Bytes>,
}

/// A garbled circuit for one block of lanes, to be evaluated once.
pub struct Prepared {
    instance: Instance,
    shape: Shape,
    first: u64,
    seed: BlockSeed,
    /// Columns of tables for each message.
    tables: Columns,
}

impl Prepared {
    /// Bytes of memory that the tables take.
    pub fn bytes(&self) -> usize {
        self.tables.iter().flatten().map(Bytes::len).sum()
    }

    /// The block.
    pub fn shape(&self) -> Shape {
        self.shape
    }
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Prepared({:?}, {} bytes)", self.shape, self.bytes())
    }
}

impl Bmr {
    /// Garbles a circuit for a block of lanes: from the setup parts of its inputs, one row for each input bit, to
    /// those of its outputs, with as many OTs for an AND as `gates` says. `ots` are with each peer, in the order of [`madrigal_net::Context::peers`], [`Shape::products`]
    /// each way; `choices` are ours, packed, the same with all.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    ///
    /// # Panics
    /// If there is another number of OTs or of inputs: a plan was wrong.
    pub async fn garble(
        &mut self,
        program: &Program<'_>,
        gates: Gates,
        inputs: &WireSetup,
        choices: &[u8],
        ots: &[PeerRows<'_>],
    ) -> Result<(WireSetup, Prepared)> {
        let layered = program.layered();
        let shape = Shape {
            parties: self.context.parties(),
            rows: layered.rows(),
            lanes: inputs.lanes(),
            gates,
        };
        let me = self.context.me();
        let seed = BlockSeed::new(self.random.next_block());
        let told = self.tell(program, shape, inputs.masks(), choices, ots);
        let told = told.await?;
        let flips: Vec<_> = told.flips.iter().map(|flips| &flips[..]).collect();
        let products = Products {
            ots,
            own: &told.own,
            flips: &flips,
        };

        let (instance, first) = (self.instance, self.next);
        self.next += shape.pieces_of(layered);
        // Taken while it is at work, and lost if that fails, as the whole job is then.
        let mut garbling = match self.garbling.take() {
            Some(mut garbling) => {
                garbling.restart(instance, shape, first, &seed);
                garbling
            }
            None => Garbling::new(instance, shape, first, me.index(), &self.offset, &seed),
        };
        for (row, &wire) in layered.inputs().iter().enumerate() {
            let zero = inputs.zero(wire as usize);
            let set = garbling.set(row, wire as usize, zero, products);
            set.expect(FITS);
        }
        let tables = tables::add_up(
            self.opening,
            &self.context,
            Wires {
                shares: &mut self.channels,
                sums: &mut self.sums,
            },
            program,
            &mut garbling,
            products,
        );
        let tables = tables.await?;

        let mut part = WireSetup::new(layered.outputs().len(), shape.lanes);
        for (output, &row) in layered.outputs().iter().enumerate() {
            let zero = garbling.zero(row as usize);
            part.zero_mut(output).copy_from_slice(zero);
        }
        part.masks_mut()
            .as_bytes_mut()
            .copy_from_slice(told.outputs.as_bytes());
        self.garbling = Some(garbling);
        let prepared = Prepared {
            instance,
            shape,
            first,
            seed,
            tables,
        };
        Ok((part, prepared))
    }

    /// Multiplies the operands' masks, and makes the OTs' random choices ours: what is told of both, and what our own
    /// products as a sender lack then.
    async fn tell(
        &mut self,
        program: &Program<'_>,
        shape: Shape,
        inputs: &Rows,
        choices: &[u8],
        ots: &[PeerRows<'_>],
    ) -> Result<Told> {
        let (me, layered) = (self.context.me(), program.layered());
        let plane = shape.plane_bytes(layered);
        let drawn;
        let results = match shape.gates {
            Gates::TwoOts => &choices[..plane],
            Gates::ThreeOts => {
                let mut masks = Zeroizing::new(vec![0; plane]);
                self.random.fill(&mut masks);
                drawn = masks;
                &drawn[..]
            }
        };
        let masks = MaskWalk::new(layered, me == LEADER, results, inputs).expect(FITS);
        if plane == 0 {
            let (own, outputs) = masks.choices(&[]).expect(FITS);
            let flips = Vec::new();
            return Ok(Told {
                own,
                outputs,
                flips,
            });
        }
        let place = (self.instance, self.next_row);
        self.next_row += shape.hashed_rows(layered);
        let hash = || Hashed::new(program, place, me.index(), &self.offset, shape, ots);
        let hashed = self.context.metered_now(hash).expect(FITS);
        // Masks that choices are to be, which all are told where they are not.
        let (mut flips, before, each) = match shape.gates {
            Gates::TwoOts => (pack(inputs), plane, layered.input_bits() * shape.lanes),
            Gates::ThreeOts => (Zeroizing::new(masks.operands().concat()), 0, masks.count()),
        };
        kernels::xor_into(&mut flips, &choices[before + plane..]);
        for flips in flips.chunks_mut(bits::bytes_for(each).max(1)) {
            bits::clear_tail(flips, each);
        }

        let message = |place| {
            let mut message = hashed.message(place, &masks).expect(FITS);
            message.extend_from_slice(&flips);
            message
        };
        let messages = (0..self.channels.len()).map(message).collect();
        let told = self.exchange(messages, plane + flips.len()).await?;
        let (mut products, mut others) = (vec![0; plane], vec![0; flips.len()]);
        for told in &told {
            kernels::xor_into(&mut products, &told[..plane]);
            kernels::xor_into(&mut others, &told[plane..]);
        }
        let of_first = |bits: &[u8]| match shape.gates {
            Gates::ThreeOts => bits[..plane].to_vec(),
            // Public bits, which go through XOR as masks do; a NOT changes none of them.
            Gates::TwoOts => {
                let inputs = unpack(bits, layered.input_bits(), shape.lanes);
                let walk = MaskWalk::new(layered, false, &vec![0; plane], &inputs);
                walk.expect(FITS).operands()[0].to_vec()
            }
        };
        let [ours, theirs] = [&flips[..], &others].map(of_first);
        let product = hashed.share(&masks, &products, [&ours, &theirs]);
        let product = product.expect(FITS);

        // The next OTs' choices become our share of the product, with the result's mask where no OT has that: all are told
        // alike which to flip.
        let count = masks.count();
        let (mut own, outputs) = masks.choices(&product).expect(FITS);
        let wanted = match shape.gates {
            Gates::TwoOts => &product[..],
            Gates::ThreeOts => own.product(),
        };
        let mut flips = Zeroizing::new(vec![0; plane]);
        kernels::xor(&mut flips, wanted, &choices[before..before + plane]);
        bits::clear_tail(&mut flips, count);
        if shape.gates == Gates::ThreeOts {
            own.add_operands(&others).expect(FITS);
        }
        let messages = self.channels.iter().map(|_| flips.to_vec()).collect();
        for told in self.exchange(messages, plane).await? {
            own.add(&told).expect(FITS);
        }
        let flips = told.iter().map(|told| told.slice(plane..)).collect();
        Ok(Told {
            own,
            outputs,
            flips,
        })
    }

    /// Sends each peer its message of `len` bytes, and receives those of all.
    async fn exchange(&mut self, messages: Vec<Vec<u8>>, len: usize) -> Result<Vec<Bytes>> {
        let (mut sends, mut receives) = (Vec::new(), Vec::new());
        for (channel, message) in self.channels.iter_mut().zip(messages) {
            let Channel { tx, rx } = channel;
            receives.push((rx, len));
            sends.push((tx, message.into()));
        }
        exchange_each(sends, receives).await
    }

    /// Evaluates a circuit on the active keys of its inputs, which `inputs` gives for each input bit: those of each
    /// party for all lanes, party by party. Sends nothing.
    ///
    /// # Panics
    /// If `prepared` is of another circuit, or there is another number of keys.
    pub fn evaluate<'a, 'i>(
        &'a mut self,
        program: &Program<'a>,
        prepared: Prepared,
        inputs: impl Fn(usize) -> &'i [Block],
    ) -> Evaluated<'a> {
        let layered = program.layered();
        let Prepared {
            instance,
            shape,
            first,
            seed,
            tables,
        } = prepared;
        let parcels = tables::parcels(shape, program);
        let fit = |(parcel, columns): (&Parcel<'_>, &Vec<Bytes>)| {
            columns.iter().all(|column| column.len() == parcel.bytes)
        };
        assert!(
            shape.rows == layered.rows()
                && parcels.len() == tables.len()
                && parcels.iter().zip(&tables).all(fit),
            "what was prepared is of another circuit"
        );
        let me = self.context.me().index();
        let evaluation = match &mut self.evaluation {
            Some(evaluation) => {
                evaluation.restart(instance, shape, first, &seed);
                evaluation
            }
            none => none.insert(Evaluation::new(
                instance,
                shape,
                first,
                me,
                &self.offset,
                &seed,
            )),
        };
        for (row, &wire) in layered.inputs().iter().enumerate() {
            evaluation.set(row, inputs(wire as usize)).expect(FITS);
        }
        self.context.metered_now(|| {
            for (parcel, tables) in parcels.iter().zip(tables) {
                let mut columns: Vec<&[u8]> = tables.iter().map(|table| &**table).collect();
                for chunk in &parcel.chunks {
                    evaluation.evaluate(chunk, &mut columns).expect(FITS);
                }
            }
        });
        Evaluated {
            evaluation,
            outputs: layered.outputs(),
        }
    }
}

/// A circuit that has been evaluated.
#[derive(Debug)]
pub struct Evaluated<'a> {
    evaluation: &'a Evaluation,
    outputs: &'a [u32],
}

impl Evaluated<'_> {
    /// The active keys of an output bit: those of each party for all lanes, party by party.
    ///
    /// # Panics
    /// If there is no such output.
    pub fn active(&self, output: usize) -> &[Block] {
        self.evaluation.active(self.outputs[output] as usize)
    }

    /// Gives the active keys of all output bits.
    pub fn all(&self) -> ActiveKeys {
        let Shape { parties, lanes, .. } = self.evaluation.shape();
        let mut all = ActiveKeys::new(parties, self.outputs.len(), lanes);
        for output in 0..self.outputs.len() {
            all.row_mut(output).copy_from_slice(self.active(output));
        }
        all
    }
}
