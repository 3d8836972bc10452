//! Circuits on masked bits: a message for each layer of ANDs, or for two.

use std::sync::Arc;

use madrigal_circuit::{And, Rows};
use madrigal_core::{Zeroizing, bits};
use madrigal_correlations::{Kind, Stock};
use madrigal_engine::{Bill, Early, Prepared, PreparedState, Shares, Sharing};
use madrigal_kernels as kernels;
use madrigal_net::Result;
use madrigal_protocols::aby2::{self, Masks, TwoLayers};

use super::memory::{CircuitMemory, LayerStrings, collect, fit, part, zeros};
use super::{BetaTool, Bits, MASK, PUBLIC, both, exchange};
use crate::arena::Arena;
use crate::circuit::Circuit;
use crate::netlist::{enter, leave};
use crate::protocol::{Boolean, Protocol};
use crate::shared::unpacked;

/// Values that a circuit keeps from setup: strings of all its ANDs, see [`AndLayout`].
struct CircuitSetup {
    /// Our shares of the masks of the operands.
    x: Bits,
    y: Bits,
    /// Our shares of their products, with those of the masks of the results.
    products: Bits,
    /// Our shares of products that second layers of rounds need beside these, round by round.
    beside: Bits,
    /// The outputs, but for their public parts.
    outputs: Vec<Shares>,
}

/// Products of masks as they are made.
struct MaskProducts {
    /// Each AND's own.
    own: Bits,
    beside: Bits,
}

/// How the bits of a circuit's ANDs lie in strings: those of the first layers of all rounds in order, and those of
/// the second ones in order, which begin at a byte of their own. The products of the former are made in the first
/// round of setup, those of the latter, which rest on them, in the second one.
struct AndLayout<'a> {
    steps: Vec<RoundLayout<'a>>,
    /// Bits of each kind.
    firsts: usize,
    seconds: usize,
    /// Bytes of products beside these.
    beside: usize,
}

/// One round online.
struct RoundLayout<'a> {
    first: madrigal_circuit::Layer<'a>,
    /// At which bit the first layer begins.
    at: usize,
    second: Option<(madrigal_circuit::Layer<'a>, TwoLayers<'a>)>,
}

impl<'a> AndLayout<'a> {
    fn of(circuit: &'a Circuit, lanes: usize) -> Self {
        let first_ands: usize = circuit.rounds().map(|round| round.first.ands.len()).sum();
        let begin = 8 * bits::bytes_for(first_ands * lanes);
        let mut layout = Self {
            steps: Vec::new(),
            firsts: 0,
            seconds: 0,
            beside: 0,
        };
        for round in circuit.rounds() {
            let at = layout.firsts;
            layout.firsts += round.first.ands.len() * lanes;
            let second = round.second.map(|(second, takes)| {
                let layers = TwoLayers {
                    takes,
                    lanes,
                    ands: [round.first.ands.len(), second.ands.len()],
                    at: [at, begin + layout.seconds],
                };
                layout.seconds += second.ands.len() * lanes;
                layout.beside += layers.beside_bytes();
                (second, layers)
            });
            layout.steps.push(RoundLayout {
                first: round.first,
                at,
                second,
            });
        }
        layout
    }

    /// Bytes of all first and of all second layers.
    fn bytes(&self) -> [usize; 2] {
        [self.firsts, self.seconds].map(bits::bytes_for)
    }

    /// Products that are made in each round of setup.
    fn products(&self) -> [usize; 2] {
        let [_, seconds] = self.bytes();
        [self.firsts, 8 * (seconds + self.beside)]
    }

    /// Products between two layers, for each round of two.
    fn pairs(&self) -> impl Iterator<Item = &TwoLayers<'a>> {
        let seconds = self.steps.iter().filter_map(|step| step.second.as_ref());
        seconds.map(|(_, layers)| layers)
    }
}

impl BetaTool {
    /// Products of masks in one round, or in two if there are second layers: those of operands, to which those of
    /// second layers are completed, and those beside them.
    async fn multiply_masks(
        &mut self,
        layout: &AndLayout<'_>,
        [x, y]: [&mut Bits; 2],
        stock: &mut Stock,
    ) -> Result<MaskProducts> {
        let ([first, second], [firsts, seconds]) = (layout.bytes(), layout.products());
        let mut products = zeros(first + second);
        let (of_first, of_second) = products.split_at_mut(first);
        let triples = stock.bit_triples_left();
        let made = self
            .aby2
            .bit_products(triples, &x[..first], &y[..first], firsts, of_first);
        made.await?;
        if seconds == 0 {
            return Ok(MaskProducts {
                own: products,
                beside: Bits::default(),
            });
        }
        for layers in layout.pairs() {
            layers.complete(of_first, [x, y]);
        }
        let mut made = zeros(second + layout.beside);
        let [mut of_x, mut of_y] = [&*x, &*y].map(|masks| {
            let mut factors = zeros(made.len());
            factors[..second].copy_from_slice(&masks[first..]);
            factors
        });
        let mut at = second;
        for layers in layout.pairs() {
            let place = at..at + layers.beside_bytes();
            layers.factors([x, y], &mut of_x[place.clone()], &mut of_y[place.clone()]);
            at = place.end;
        }
        let triples = stock.bit_triples_left();
        let done = self
            .aby2
            .bit_products(triples, &of_x, &of_y, seconds, &mut made);
        done.await?;
        of_second.copy_from_slice(&made[..second]);
        drop([of_x, of_y]);
        let beside = Zeroizing::new(made[second..].to_vec());
        Ok(MaskProducts {
            own: products,
            beside,
        })
    }
}

impl Boolean for BetaTool {
    async fn prepare_evaluate(
        &mut self,
        circuit: &Circuit,
        lanes: usize,
        inputs: &[Arc<Shares>],
        stock: &mut Stock,
        early: &Early<'_>,
    ) -> Result<Prepared> {
        let (layered, layout) = (circuit.layered(), AndLayout::of(circuit, lanes));
        let bytes = layout.bytes().iter().sum();
        let (mut x, mut y, mut fresh) = (zeros(bytes), zeros(bytes), zeros(bytes));
        self.aby2.draw(&mut fresh);
        let CircuitMemory {
            masks: arena,
            layer,
            second: room,
            saved,
            ..
        } = &mut self.memory;
        arena.reshape(layered.rows(), 1, lanes);
        enter(circuit.layered().inputs(), inputs, MASK, arena);
        let mut results = |arena: &mut Arena, ands: &[And], at| {
            let own = part(&fresh, at, ands.len() * lanes, &mut room.z);
            arena.scatter(ands, 0, own);
        };
        for step in &layout.steps {
            let ands = step.first.ands;
            arena.local(step.first.local, [false; 2]);
            collect(arena, ands, step.at, [&mut x, &mut y], layer);
            let Some((second, layers)) = &step.second else {
                results(arena, ands, step.at);
                continue;
            };
            let (overwritten, at) = (layers.takes.overwritten(), layers.at[1]);
            arena.clear(ands);
            arena.save(overwritten, saved);
            arena.local(second.local, [false; 2]);
            collect(arena, second.ands, at, [&mut x, &mut y], layer);
            arena.restore(overwritten, saved);
            results(arena, ands, step.at);
            arena.local(second.local, [false; 2]);
            results(arena, second.ands, at);
        }
        arena.local(layered.tail(), [false; 2]);
        let mut outputs = circuit.blank(Sharing::BETA, lanes);
        leave(layered.outputs(), arena, MASK, &mut outputs);
        let results = early.tell(outputs.clone());
        let made = self.multiply_masks(&layout, [&mut x, &mut y], stock);
        let MaskProducts {
            own: mut products,
            beside,
        } = made.await?;
        kernels::xor_into(&mut products, &fresh);
        Ok(Prepared {
            results,
            kept: Box::new(CircuitSetup {
                x,
                y,
                products,
                beside,
                outputs,
            }),
        })
    }

    async fn evaluate(
        &mut self,
        circuit: &Circuit,
        lanes: usize,
        inputs: &[Arc<Shares>],
        arena: &mut Arena,
        stock: &mut Stock,
        prepared: Option<PreparedState>,
    ) -> Result<Vec<Shares>> {
        let kept = match prepared {
            Some(kept) => kept,
            None => {
                let early = Early::default();
                let prepared = self.prepare_evaluate(circuit, lanes, inputs, stock, &early);
                prepared.await?.kept
            }
        };
        let kept = *unpacked::<CircuitSetup>(kept)?;
        let mut outputs = kept.outputs;
        let (layered, leads) = (circuit.layered(), Self::leads(self.aby2.me()));
        let layout = AndLayout::of(circuit, lanes);
        arena.reshape(layered.rows(), 1, lanes);
        enter(circuit.layered().inputs(), inputs, PUBLIC, arena);
        let CircuitMemory {
            layer,
            second: other,
            message,
            saved,
            ..
        } = &mut self.memory;
        let mut beside = &kept.beside[..];
        for step in &layout.steps {
            let ands = step.first.ands;
            let count = ands.len() * lanes;
            arena.local(step.first.local, leads);
            layer.gather(arena, ands, count);
            let LayerStrings { x, y, z, kept: own } = &mut *layer;
            let [own_x, own_y, own_z] = own;
            let masks = [
                part(&kept.x, step.at, count, own_x),
                part(&kept.y, step.at, count, own_y),
            ];
            let products = part(&kept.products, step.at, count, own_z);
            let Some((second, layers)) = &step.second else {
                self.aby2.and([x, y], masks, products, count, z).await?;
                arena.scatter(ands, 0, z);
                continue;
            };
            self.aby2.and_shares([x, y], masks, products, z);
            // Operands of the second layer but for the first one's results.
            let overwritten = layers.takes.overwritten();
            let seconds = second.ands.len() * lanes;
            arena.clear(ands);
            arena.save(overwritten, saved);
            arena.local(second.local, leads);
            other.gather(arena, second.ands, seconds);
            arena.restore(overwritten, saved);
            let masks = Masks {
                operands: [&kept.x, &kept.y],
                products: &kept.products,
            };
            let (own, after) = beside.split_at(layers.beside_bytes());
            beside = after;
            let public = [&mut other.x[..], &mut other.y[..]];
            layers.shares(&self.aby2, [x, y], public, masks, own, &mut other.z);
            fit(message, bits::bytes_for(count + seconds));
            bits::put(message, 0, z, count);
            bits::put(message, count, &other.z, seconds);
            self.aby2.add_up_bits(message, count + seconds).await?;
            bits::take(message, 0, z, count);
            bits::take(message, count, &mut other.z, seconds);
            arena.scatter(ands, 0, z);
            arena.local(second.local, leads);
            arena.scatter(second.ands, 0, &other.z);
        }
        arena.local(layered.tail(), leads);
        leave(circuit.layered().outputs(), arena, PUBLIC, &mut outputs);
        Ok(outputs)
    }

    fn evaluate_bill(circuit: &Circuit, lanes: usize, bill: &mut Bill) {
        let (layered, layout) = (circuit.layered(), AndLayout::of(circuit, lanes));
        let stride = Rows::stride_for(lanes);
        let bytes: usize = layout.bytes().iter().sum();
        let outputs: usize = circuit.outputs().iter().map(|&width| width as usize).sum();
        // Local operations before a second layer are done twice.
        let local = layout.steps.iter().map(|step| {
            let again = step.second.as_ref();
            again.map_or(0, |(second, layers)| {
                second.local.len() + layers.takes.overwritten().len()
            })
        });
        let local = layered.local_count() + local.sum::<usize>();
        bill.ahead(|bill| {
            both().for_each(|party| bill.aes(party, aby2::draw_aes(bytes)));
            bill.results_known();
            for products in layout.products() {
                bill.needs().add(Kind::BitTriples, products);
                exchange(2 * bits::bytes_for(products), bill);
            }
            // Rows of local operations and of operands, and strings, which are read or written thrice.
            let rows = 3 * local + 3 * layered.and_count();
            bill.touch((rows * stride + 12 * (bytes + layout.beside)) as u64);
        });
        let kept = (3 * bytes + layout.beside + 2 * outputs * stride) as u64;
        both().for_each(|party| bill.keep(party, kept));
        for step in &layout.steps {
            let mut ands = step.first.ands.len();
            let mut rows = 12 * ands * stride;
            if let Some((second, layers)) = &step.second {
                // Products beside are read with twice as much around them, and operands and results picked.
                ands += second.ands.len();
                rows += 30 * second.ands.len() * stride + 10 * layers.beside_bytes();
            }
            exchange(bits::bytes_for(ands * lanes), bill);
            bill.touch(rows as u64);
        }
        bill.touch((3 * local * stride) as u64);
    }

    fn bits_at_work(circuit: &Circuit) -> usize {
        // Products beside those of the ANDs themselves, and their factors.
        circuit.layered().rows() + circuit.overwritten() + 3 * circuit.beside()
    }
}
