//! BMR in programs: circuits that all parties garble together before inputs are there, and evaluate by
//! themselves.
//!
//! A wire's labels at a party are, before inputs are there, its own key of 0, whose lowest bit is the party's
//! share of the mask (a key's own lowest bit is always 0); after that also the active keys of all parties.

mod convert;
mod numbers;
mod record;
mod wires;

pub use convert::{FromKeys, ShareToKeys, ToKeys};
pub use numbers::ComposeKeys;

use std::sync::Arc;

use madrigal_circuit::Rows;
use madrigal_core::{Party, Zeroizing, bits};
use madrigal_correlations::Stock;
use madrigal_engine::{
    Bill, Early, Element, Mismatch, Prepared, PreparedState, Shares, Sharing, Sort, Tool,
};
use madrigal_garbling::Offset;
use madrigal_kernels::Block;
use madrigal_net::{Context, Error, Result};
use madrigal_protocols::Opening;
use madrigal_protocols::bmr::{self, Bmr, Gates, InputSetup, Shape, WireSetup};

use self::wires::{
    active_to_shares, bit, colours_of, groups, planes, rows_of, setup_of, setup_to_shares,
    shape_of, to_shares,
};
use crate::arena::Arena;
use crate::circuit::Circuit;
use crate::ots::{self, CommonOts};
use crate::protocol::{Boolean, Protocol};
use crate::shared::{bits_alone, bits_of, from_rows, offset, sorts_of, unopened, unpacked};

/// [`Bmr`], opened where it is first used: then the job's offset is there.
pub struct BmrTool {
    context: Context,
    opening: Opening,
    bmr: Option<Bmr>,
}

impl Tool for BmrTool {
    const STEP: &'static str = "bmr";

    fn open(context: Context, opening: Opening) -> Result<Self> {
        Ok(Self {
            context,
            opening,
            bmr: None,
        })
    }

    fn count_in(&mut self, context: &Context) {
        self.context = self.context.counting_in(context);
        if let Some(bmr) = &mut self.bmr {
            bmr.count_in(&self.context);
        }
    }
}

/// Kept setup of fresh wires.
type Fresh = Vec<WireSetup>;
/// Kept setup of wires for inputs.
type FreshInputs = Vec<InputSetup>;
/// Kept values of an opening: the masks, by group, where they are told.
type Masks = Vec<Option<Rows>>;
/// Kept values of a circuit.
type Garbled = (bmr::Prepared, WireSetup);

impl BmrTool {
    fn bmr(&mut self, stock: &Stock) -> Result<&mut Bmr> {
        if self.bmr.is_none() {
            let offset = Offset::from_block(*offset(stock)?).map_err(Error::bug)?;
            let context = self.context.clone();
            self.bmr = Some(Bmr::open(context, self.opening, &offset)?);
        }
        Ok(self.bmr.as_mut().expect("opened just now"))
    }

    /// Wires for bits that all share.
    fn fresh(&mut self, sorts: &[Sort], stock: &Stock) -> Result<Fresh> {
        let bmr = self.bmr(stock)?;
        let of = |group: std::ops::Range<usize>| {
            let (rows, lanes) = shape_of(&sorts[group]);
            bmr.fresh(rows, lanes)
        };
        Ok(groups(sorts).into_iter().map(of).collect())
    }

    /// Wires for inputs of a party.
    fn fresh_inputs(&mut self, owner: Party, sorts: &[Sort], stock: &Stock) -> Result<FreshInputs> {
        let bmr = self.bmr(stock)?;
        let of = |group: std::ops::Range<usize>| {
            let (rows, lanes) = shape_of(&sorts[group]);
            bmr.fresh_input(owner, rows, lanes)
        };
        Ok(groups(sorts).into_iter().map(of).collect())
    }

    fn fresh_bill(owner: Option<Party>, sorts: &[Sort], bill: &mut Bill) {
        let parties = bill.parties();
        for group in groups(sorts) {
            let (rows, lanes) = shape_of(&sorts[group]);
            bill.ahead(|bill| {
                bill.each(|me| match owner {
                    Some(owner) => Bmr::fresh_input_cost(me, owner, parties, rows, lanes),
                    None => Bmr::fresh_cost(rows, lanes),
                });
            });
            for party in Party::all(parties) {
                bill.keep(party, (16 * rows * lanes) as u64);
            }
        }
    }

    /// From shares in B.
    async fn garbled(
        &mut self,
        values: &[Arc<Shares>],
        stock: &Stock,
        prepared: Option<PreparedState>,
    ) -> Result<Vec<Shares>> {
        let sorts = sorts_of(values);
        let fresh = match prepared {
            Some(kept) => *unpacked::<Fresh>(kept)?,
            None => self.fresh(&sorts, stock)?,
        };
        let mut made = Vec::new();
        for (group, setup) in groups(&sorts).into_iter().zip(fresh) {
            let share = rows_of(&values[group.clone()]).expect("shares are known");
            let active = self.bmr(stock)?.from_boolean(&setup, &share).await?;
            made.extend(active_to_shares(&sorts[group], &setup, &active));
        }
        Ok(made)
    }
}

impl Protocol for BmrTool {
    const SHARING: Sharing = Sharing::Y;
    const PREPARES: bool = true;

    fn holds(element: Element, _: usize) -> Result<(), Mismatch> {
        bits_alone(Sharing::Y, element)
    }

    async fn prepare_share(
        &mut self,
        owner: Party,
        sorts: &[Sort],
        stock: &mut Stock,
    ) -> Result<Prepared> {
        let fresh = self.fresh_inputs(owner, sorts, stock)?;
        let groups = groups(sorts).into_iter().zip(&fresh);
        let results =
            groups.flat_map(|(group, setup)| setup_to_shares(&sorts[group], setup.part()));
        Ok(Prepared {
            results: results.collect(),
            kept: Box::new(fresh),
        })
    }

    async fn share(
        &mut self,
        owner: Party,
        values: &[Arc<Shares>],
        stock: &mut Stock,
        prepared: Option<PreparedState>,
    ) -> Result<Vec<Shares>> {
        let sorts = sorts_of(values);
        let fresh = match prepared {
            Some(kept) => *unpacked::<FreshInputs>(kept)?,
            None => self.fresh_inputs(owner, &sorts, stock)?,
        };
        let mut made = Vec::new();
        for (group, setup) in groups(&sorts).into_iter().zip(fresh) {
            let input = rows_of(&values[group.clone()]);
            let bmr = self.bmr(stock)?;
            let active = bmr.share(&setup, input.as_ref()).await?;
            made.extend(active_to_shares(&sorts[group], setup.part(), &active));
        }
        Ok(made)
    }

    fn share_bill(owner: Party, sorts: &[Sort], bill: &mut Bill) {
        Self::fresh_bill(Some(owner), sorts, bill);
        let parties = bill.parties();
        for group in groups(sorts) {
            let (rows, lanes) = shape_of(&sorts[group]);
            bill.each(|me| Bmr::share_cost(me, owner, parties, rows, lanes));
            Bmr::share_rounds(bill.clock(), owner, parties);
        }
    }

    async fn prepare_open(
        &mut self,
        values: &[Arc<Shares>],
        to: &[Party],
        stock: &mut Stock,
    ) -> Result<Prepared> {
        let sorts = sorts_of(values);
        let mut masks: Masks = Vec::new();
        for group in groups(&sorts) {
            let setup = setup_of(&values[group]);
            masks.push(self.bmr(stock)?.open_masks(&setup, to).await?);
        }
        Ok(Prepared {
            results: unopened(&sorts),
            kept: Box::new(masks),
        })
    }

    async fn open(
        &mut self,
        values: &[Arc<Shares>],
        to: &[Party],
        stock: &mut Stock,
        prepared: Option<PreparedState>,
    ) -> Result<Vec<Shares>> {
        let sorts = sorts_of(values);
        let masks = match prepared {
            Some(kept) => kept,
            None => self.prepare_open(values, to, stock).await?.kept,
        };
        let mut made = Vec::new();
        for (group, masks) in groups(&sorts).into_iter().zip(*unpacked::<Masks>(masks)?) {
            let (values, sorts) = (&values[group.clone()], &sorts[group]);
            match masks {
                Some(masks) => {
                    let bits = bmr::reveal(&masks, &colours_of(values));
                    let public = sorts.iter().map(|sort| sort.shared(Sharing::PUBLIC));
                    made.extend(from_rows(public, &bits));
                }
                None => made.extend(unopened(sorts)),
            }
        }
        Ok(made)
    }

    fn open_bill(sorts: &[Sort], to: &[Party], bill: &mut Bill) {
        for group in groups(sorts) {
            let (rows, lanes) = shape_of(&sorts[group]);
            bill.ahead(|bill| bill.open(bits::bytes_for(rows * lanes) as u64, to));
        }
    }

    fn leads(_: Party) -> [bool; 2] {
        [false; 2]
    }

    /// Our key of 0.
    fn prepared_constant(
        me: Party,
        parties: usize,
        value: &Shares,
        offset: Option<&Block>,
    ) -> Shares {
        let whole = Self::constant(me, parties, value, offset);
        let planes = whole.sort().element.bits();
        let mut labels = Zeroizing::new(Vec::with_capacity(planes * whole.len()));
        for plane in 0..planes {
            labels.extend_from_slice(whole.label_row(plane, 0));
        }
        Shares::labels(*whole.sort(), 1, labels)
    }

    /// The mask is 0, and all active keys are those of the colour, zero but for it.
    fn constant(me: Party, parties: usize, value: &Shares, offset: Option<&Block>) -> Shares {
        let sort = value.sort().shared(Sharing::Y);
        let (planes, len) = (sort.element.bits(), sort.len);
        let mut labels = Zeroizing::new(Vec::with_capacity(planes * (1 + parties) * len));
        let offset = offset.copied().unwrap_or_default();
        let _ = me;
        for plane in 0..planes {
            let row = value.plane(plane, 0);
            // Our key of 0 is such that the active one is 1 in its lowest bit alone, or nowhere.
            let zero = |lane| {
                let one = bit(row, lane);
                (Block::mask(one) & offset) ^ Block::new(u64::from(one), 0)
            };
            labels.extend((0..len).map(zero));
            for _ in 0..parties {
                labels.extend((0..len).map(|lane| Block::new(u64::from(bit(row, lane)), 0)));
            }
        }
        Shares::labels(sort, 1 + parties, labels)
    }
}

/// Shape of the circuit in `lanes` lanes.
fn shape(circuit: &Circuit, parties: usize, lanes: usize) -> Shape {
    Shape {
        parties,
        rows: circuit.layered().rows(),
        lanes,
        gates: circuit.variants().gates,
    }
}

impl Boolean for BmrTool {
    fn manner(circuit: &Circuit) -> &'static str {
        match circuit.variants().gates {
            Gates::TwoOts => "",
            Gates::ThreeOts => ", by three OTs for an AND",
        }
    }

    async fn prepare_evaluate(
        &mut self,
        circuit: &Circuit,
        lanes: usize,
        inputs: &[Arc<Shares>],
        stock: &mut Stock,
        _: &Early<'_>,
    ) -> Result<Prepared> {
        let (me, parties) = (self.context.me(), self.context.parties());
        let count = shape(circuit, parties, lanes).products(circuit.layered());
        let setup = match inputs {
            [] => WireSetup::new(0, lanes),
            inputs => setup_of(inputs),
        };
        let program = circuit.garbled();
        let bmr = self.bmr(stock)?;
        let ots = stock.correlated_ots().take_each(|_| count)?;
        let ots = CommonOts::new(me, parties, &ots);
        let gates = circuit.variants().gates;
        let garbled = bmr.garble(&program, gates, &setup, &ots.choices, &ots.rows);
        let (made, prepared) = garbled.await?;
        let sorts = bits_of(circuit.outputs(), Sharing::Y, lanes);
        Ok(Prepared {
            results: setup_to_shares(&sorts, &made),
            kept: Box::<Garbled>::new((prepared, made)),
        })
    }

    async fn evaluate(
        &mut self,
        circuit: &Circuit,
        lanes: usize,
        inputs: &[Arc<Shares>],
        _: &mut Arena,
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
        let (prepared, made) = *unpacked::<Garbled>(kept)?;
        let wires: Vec<_> = planes(inputs).collect();
        let active = |wire: usize| {
            let (value, plane) = wires[wire];
            value.label_rows_from(plane, 1)
        };
        let (sorts, parties) = (
            bits_of(circuit.outputs(), Sharing::Y, lanes),
            self.context.parties(),
        );
        let bmr = self.bmr(stock)?;
        let evaluated = bmr.evaluate(&circuit.garbled(), prepared, active);
        let active = |output| evaluated.active(output);
        Ok(to_shares(&sorts, &made, parties, active))
    }

    fn evaluate_bill(circuit: &Circuit, lanes: usize, bill: &mut Bill) {
        let (parties, opening) = (bill.parties(), bill.opening());
        let (shape, layered) = (shape(circuit, parties, lanes), circuit.layered());
        bill.ahead(|bill| {
            ots::needs(bill, shape.products(layered));
            let lengths = bmr::messages_of_column(shape, layered);
            bill.each(|_| Bmr::garble_cost_with(opening, shape, layered, lengths));
            if shape.and_lanes(layered) > 0 {
                Bmr::garble_rounds(bill.clock(), opening, shape, layered);
            }
        });
        bill.each(|_| Bmr::evaluate_cost(shape, layered));
        let kept = (parties - 1) * shape.column_bytes(layered.and_count());
        let outputs: usize = circuit.outputs().iter().map(|&width| width as usize).sum();
        for party in Party::all(parties) {
            bill.keep(party, (kept + 16 * outputs * lanes) as u64);
        }
        let labels = 3 * (1 + parties) * layered.local_count() * lanes * size_of::<Block>();
        bill.touch((kept + labels) as u64);
    }

    /// Active keys of the wires that are alive, for a few parties.
    fn bits_at_work(circuit: &Circuit) -> usize {
        circuit.layered().rows() * 3 * 8 * size_of::<Block>()
    }
}
