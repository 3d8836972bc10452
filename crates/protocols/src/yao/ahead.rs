//! Work of the two before there are inputs: the garbler draws labels, garbles and sends tables; the evaluator keeps
//! these. Online only labels travel then.

use std::ops::Range;

use bytes::Bytes;
use madrigal_circuit::Layered;
use madrigal_core::{Party, Zeroizing, bits};
use madrigal_garbling::{Garbler, Instance, Offset, Program, Scheme};
use madrigal_kernels::{Block, blocks_as_bytes, blocks_as_bytes_mut};
use madrigal_net::Result;

use super::{
    EVALUATOR, GARBLER, Labels, MESSAGE, Yao, blocks, bug, message, packed_colours, shape,
};

/// A garbled circuit: at the evaluator its tables, to be used once; at the garbler nothing.
pub struct Garbled {
    instance: Instance,
    scheme: Scheme,
    first: u64,
    lanes: usize,
    /// Tables of each block of lanes, all of them.
    tables: Vec<Vec<u8>>,
}

impl std::fmt::Debug for Garbled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Garbled({} lanes, {:?})", self.lanes, self.scheme)
    }
}

impl Yao {
    /// Draws labels of 0 for `count` bits, at the garbler; the evaluator has none yet.
    pub fn fresh(&self, count: usize) -> Labels {
        let mut zero = Zeroizing::default();
        if self.garbles() {
            zero = Zeroizing::new(vec![Block::ZERO; count]);
            let random = &mut self.context.private_prg();
            random.fill(blocks_as_bytes_mut(&mut zero));
        }
        zero
    }

    /// Shares as [`share_own`](Self::share_own) does, with labels of 0 that the garbler has drawn before: it sends the
    /// evaluator's.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    ///
    /// # Panics
    /// If the garbler gives fewer labels or bits.
    pub async fn tell_own(
        &mut self,
        offset: &Block,
        zero: Labels,
        bits: Option<&[u8]>,
        count: usize,
    ) -> Result<Labels> {
        if !self.garbles() {
            return self.told(count).await;
        }
        if let Some(bits) = bits.filter(|_| count > 0) {
            let mut message = vec![0; 16 * count];
            let each = message.as_chunks_mut::<16>().0.iter_mut().zip(zero.iter());
            for (i, (out, &zero)) in each.enumerate() {
                let bit = Block::mask(bits[i / 8] >> (i % 8) & 1 == 1);
                *out = (zero ^ (bit & *offset)).to_bytes();
            }
            self.channel.send(message).await?;
        }
        Ok(zero)
    }

    /// Shares as [`share_both`](Self::share_both) does, with labels of 0 that the garbler has drawn before. Two rounds: the
    /// evaluator's masked bits, then `zero ^ q ^ d R` for each, which is its label under its own row.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    ///
    /// # Panics
    /// If there are fewer labels, bits or rows.
    pub async fn tell_both(
        &mut self,
        offset: &Block,
        zero: Labels,
        bits: Option<&[u8]>,
        count: usize,
        rows: &[Block],
    ) -> Result<Labels> {
        let mut labels = self.share_both(offset, bits, count, rows).await?;
        if count == 0 {
            return Ok(labels);
        }
        if self.garbles() {
            let both = labels.iter_mut().zip(zero.iter());
            both.for_each(|(label, &zero)| *label ^= zero);
            let message = Bytes::copy_from_slice(blocks_as_bytes(&labels));
            self.channel.send(message).await?;
            return Ok(zero);
        }
        let mut told = self.told(count).await?;
        let both = told.iter_mut().zip(labels.iter());
        both.for_each(|(told, &row)| *told ^= row);
        Ok(told)
    }

    async fn told(&mut self, count: usize) -> Result<Labels> {
        let mut labels: Labels = Zeroizing::new(vec![Block::ZERO; count]);
        if count > 0 {
            let told = self.channel.recv(16 * count).await?;
            blocks_as_bytes_mut(&mut labels).copy_from_slice(&told);
        }
        Ok(labels)
    }

    /// Garbles a circuit in `lanes` lanes and sends the tables: at the garbler `inputs` gives the labels of 0 of some
    /// lanes of a wire, and `outputs` takes those of an output.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    pub async fn garble<'i>(
        &mut self,
        program: &Program<'_>,
        offset: &Block,
        lanes: usize,
        inputs: impl Fn(usize, Range<usize>) -> &'i [Block],
        mut outputs: impl FnMut(usize, Range<usize>, &[Block]),
    ) -> Result<Garbled> {
        let (layered, first) = (program.layered(), self.next);
        let mut tables = Vec::new();
        let mut garbler = self.garbles().then(|| self.garbler(offset)).transpose()?;
        for lanes in blocks(layered, lanes) {
            let shape = shape(self.scheme, layered, lanes.len());
            if let Some(garbler) = &mut garbler {
                garbler.restart(shape, self.next);
                for (row, &wire) in layered.inputs().iter().enumerate() {
                    let labels = inputs(wire as usize, lanes.clone());
                    garbler.set(row, labels).map_err(bug)?;
                }
            }
            let mut kept = Vec::new();
            if garbler.is_none() {
                kept.reserve_exact(shape.table_bytes_of(layered) as usize);
            }
            let mut chunks = program.chunks(shape, MESSAGE).peekable();
            while chunks.peek().is_some() {
                let (chunks, bytes) = message(&mut chunks, shape);
                match &mut garbler {
                    Some(garbler) => self.send_table(garbler, &chunks, bytes).await?,
                    None if bytes > 0 => {
                        kept.extend_from_slice(&self.channel.recv(bytes).await?);
                    }
                    None => (),
                }
            }
            self.next += shape.pieces_of(layered);
            if let Some(garbler) = &garbler {
                for (output, &row) in layered.outputs().iter().enumerate() {
                    outputs(output, lanes.clone(), garbler.labels(row as usize));
                }
            }
            tables.push(kept);
        }
        Ok(Garbled {
            instance: self.instance,
            scheme: self.scheme,
            first,
            lanes,
            tables,
        })
    }

    pub(super) fn garbler(&self, offset: &Block) -> Result<Garbler> {
        let offset = Offset::from_block(*offset).map_err(bug)?;
        let seed = Zeroizing::new(self.context.private_prg().next_block());
        let none = super::none(self.scheme);
        Ok(Garbler::new(self.instance, none, self.next, &offset, *seed))
    }

    /// Evaluates, at the evaluator, a circuit that was [garbled](Self::garble) before, also on another channel. `inputs`
    /// gives the labels of some lanes of a wire, `outputs` takes those of an output. No message.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] for our own mistakes alone.
    pub fn evaluate_garbled<'i>(
        &self,
        program: &Program<'_>,
        garbled: Garbled,
        inputs: impl Fn(usize, Range<usize>) -> &'i [Block],
        mut outputs: impl FnMut(usize, Range<usize>, &[Block]),
    ) -> Result<()> {
        let layered = program.layered();
        let Garbled {
            instance,
            scheme,
            first,
            lanes,
            tables,
        } = garbled;
        let mut next = first;
        let none = super::none(scheme);
        let mut evaluator = madrigal_garbling::Evaluator::new(instance, none, next);
        for (lanes, table) in blocks(layered, lanes).zip(tables) {
            let shape = shape(scheme, layered, lanes.len());
            evaluator.restart(shape, next);
            for (row, &wire) in layered.inputs().iter().enumerate() {
                let labels = inputs(wire as usize, lanes.clone());
                evaluator.set(row, labels).map_err(bug)?;
            }
            let done = self.context.metered_now(|| {
                let mut rest = &table[..];
                program.chunks(shape, MESSAGE).try_for_each(|chunk| {
                    let own;
                    (own, rest) = rest.split_at(shape.table_bytes(chunk.ands.len()));
                    evaluator.evaluate(&chunk, own)
                })
            });
            done.map_err(bug)?;
            next += shape.pieces_of(layered);
            for (output, &row) in layered.outputs().iter().enumerate() {
                outputs(output, lanes.clone(), evaluator.labels(row as usize));
            }
        }
        Ok(())
    }

    /// The colours of the garbler's labels of 0, at the evaluator if it is among those to whom values will be told;
    /// else nothing.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    pub async fn tell_colours(
        &mut self,
        zero: &[Block],
        count: usize,
        to: &[Party],
    ) -> Result<Zeroizing<Vec<u8>>> {
        let bytes = bits::bytes_for(count);
        if bytes == 0 || !to.contains(&EVALUATOR) {
            return Ok(Zeroizing::default());
        }
        if self.garbles() {
            self.channel.send(packed_colours(zero).to_vec()).await?;
            return Ok(Zeroizing::default());
        }
        let theirs = self.channel.recv(bytes).await?;
        self.check_tail(&theirs, count)?;
        Ok(theirs.to_vec().into())
    }

    /// Opens as [`open`](Self::open) does, with what [`tell_colours`](Self::tell_colours) gave: only the garbler is told
    /// something, if it gets the values.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    pub async fn open_told(
        &mut self,
        labels: &[Block],
        told: &[u8],
        to: &[Party],
    ) -> Result<Option<Zeroizing<Vec<u8>>>> {
        let mut ours = packed_colours(labels);
        if ours.is_empty() {
            return Ok(Some(ours));
        }
        let garbler_gets = to.contains(&GARBLER);
        if !self.garbles() {
            if garbler_gets {
                self.channel.send(ours.to_vec()).await?;
            }
            if !to.contains(&EVALUATOR) {
                return Ok(None);
            }
            madrigal_kernels::xor_into(&mut ours, told);
            return Ok(Some(ours));
        }
        if !garbler_gets {
            return Ok(None);
        }
        let theirs = self.channel.recv(ours.len()).await?;
        self.check_tail(&theirs, labels.len())?;
        madrigal_kernels::xor_into(&mut ours, &theirs);
        Ok(Some(ours))
    }
}

/// Bytes of a circuit's tables in `lanes` lanes, which the evaluator keeps.
pub fn table_bytes(layered: &Layered, scheme: Scheme, lanes: usize) -> u64 {
    let of = |(lanes, times)| times * shape(scheme, layered, lanes).table_bytes_of(layered);
    super::alike(layered, lanes).into_iter().map(of).sum()
}

/// AES blocks that a party computes for [`Yao::fresh`].
pub fn fresh_aes(count: usize, me: Party) -> u64 {
    match me {
        GARBLER => count as u64,
        _ => 0,
    }
}
