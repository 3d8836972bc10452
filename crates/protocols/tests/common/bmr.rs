//! N parties with dealt triples and correlated OTs, and one job in protocol Y: inputs of two parties and of
//! bits shared in B, a circuit, its outputs opened to some and shared in B.

use std::ops::Range;

use madrigal_circuit::{Builder, Layered, Netlist, Rows};
use madrigal_core::{Cost, Party, Phase, PhaseCost};
use madrigal_kernels::{Block, Prg, meter::unmetered};
use madrigal_net::{Context, Result};
use madrigal_protocols::bmr::{
    ActiveKeys, Bmr, Gates, Offset, PeerRows, Program, Shape, WireSetup, reveal, to_boolean,
};
use madrigal_protocols::{Opening, Rounds};

use super::additive::Dealer;

fn prg(seed: u64, label: u64) -> Prg {
    Prg::new(Block::new(seed, 5 << 40 | label))
}

/// A party's offset, which every party of a test can compute.
pub fn offset(seed: u64, party: usize) -> Offset {
    let mut offset = unmetered(|| prg(seed, party as u64).next_block());
    offset.0[0] |= 1;
    Offset::from_block(offset).unwrap()
}

/// A receiver's random choices, the same with all senders, and rows of the extension from `sender`.
fn random_rows(seed: u64, sender: usize, receiver: usize, count: usize) -> (Vec<u8>, Vec<Block>) {
    let label = 1 << 20 | receiver as u64;
    let (mut choices, mut rows) = (vec![0; count.div_ceil(8)], vec![Block::ZERO; count]);
    unmetered(|| {
        prg(seed, label).fill(&mut choices);
        prg(seed, label | (1 + sender as u64) << 10).fill_blocks(&mut rows);
    });
    (choices, rows)
}

/// Values that one party has of the correlated OTs with a peer.
pub struct Dealt {
    pub sent: Vec<Block>,
    pub received: Vec<Block>,
}

impl Dealt {
    pub fn new(seed: u64, me: usize, peer: usize, count: usize) -> Self {
        let (_, sent) = random_rows(seed, me, peer, count);
        let (choices, q) = random_rows(seed, peer, me, count);
        let mut received = q.clone();
        offset(seed, peer).encode(&q, &choices, &mut received);
        Self { sent, received }
    }

    pub fn rows(&self) -> PeerRows<'_> {
        PeerRows {
            sent: &self.sent,
            received: &self.received,
        }
    }
}

/// Random rows that all parties of a test can compute.
pub fn plain(seed: u64, rows: usize, lanes: usize) -> Rows {
    let mut all = Rows::new(rows, lanes);
    unmetered(|| prg(seed, 3 << 20).fill(all.as_bytes_mut()));
    all.clear_padding();
    all
}

/// A circuit from the data of the circuits' crate.
pub fn read(file: &str) -> Layered {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../circuit/tests/data");
    let text = std::fs::read(format!("{folder}/{file}")).unwrap();
    Layered::compile(&Netlist::read(file, &text, &Default::default()).unwrap())
}

/// Makes a random circuit of `gates` gates.
pub fn random_circuit(seed: u64, gates: usize) -> Layered {
    let mut prg = prg(seed, 4 << 20);
    let mut random = |below: usize| (unmetered(|| prg.next_block()).lo() % below as u64) as usize;
    let mut builder = Builder::new("random");
    let mut wires = builder.input(1 + random(9) as u32);
    for _ in 0..gates {
        let [a, b] = [(); 2].map(|()| wires[random(wires.len())]);
        let wire = match random(8) {
            0..=2 => builder.xor(a, b),
            3..=5 => builder.and(a, b),
            6 => builder.not(a),
            _ => builder.constant(random(2) == 1),
        };
        wires.push(wire);
    }
    let outputs = wires[wires.len().saturating_sub(8)..].to_vec();
    builder.output(&outputs);
    Layered::compile(&builder.finish())
}

/// Gives the input rows that come from party 0, from party 1, and from bits shared in B.
pub fn parts(rows: usize) -> [Range<usize>; 3] {
    [0..rows / 3, rows / 3..rows / 3 * 2, rows / 3 * 2..rows]
}

pub fn select(all: &Rows, rows: Range<usize>) -> Rows {
    let mut some = Rows::new(rows.len(), all.lanes());
    for (to, from) in rows.enumerate() {
        some.row_mut(to).copy_from_slice(all.row(from));
    }
    some
}

/// Faults that a party may commit.
pub type Cheat = fn(&mut Vec<Dealt>, &mut WireSetup);

/// OTs that the ANDs of a test's circuits take.
pub const GATES: [Gates; 2] = [Gates::TwoOts, Gates::ThreeOts];

/// One job: gives the outputs, if we are in `to`, and our shares of them in B.
pub async fn job(
    context: Context,
    (opening, gates): (Opening, Gates),
    seed: u64,
    layered: &Layered,
    inputs: &Rows,
    to: &[Party],
    cheat: Option<Cheat>,
) -> Result<(Option<Rows>, Rows)> {
    let (me, parties, lanes) = (context.me(), context.parties(), inputs.lanes());
    let dealer = Dealer { seed, parties, me };
    let own = offset(seed, me.index());
    let shape = Shape {
        parties,
        rows: layered.rows(),
        lanes,
        gates,
    };
    let program = Program::new(layered);
    let rows = parts(layered.input_bits());

    let mut setup = Bmr::open(context.enter(Phase::Setup, "setup"), opening, &own)?;
    let [first, second, third] = &rows;
    let owned = [
        setup.fresh_input(Party::new(0), first.len(), lanes),
        setup.fresh_input(Party::new(1), second.len(), lanes),
    ];
    let mut shared = setup.fresh(third.len(), lanes);
    let count = shape.products(layered);
    let mut dealt: Vec<_> = context
        .peers()
        .map(|peer| Dealt::new(seed, me.index(), peer.index(), count))
        .collect();
    if let Some(cheat) = cheat {
        cheat(&mut dealt, &mut shared);
    }
    let ots: Vec<_> = dealt.iter().map(Dealt::rows).collect();
    let (choices, _) = random_rows(seed, 0, me.index(), count);
    let all = WireSetup::concat(&[owned[0].part(), owned[1].part(), &shared]).unwrap();
    let (outputs, prepared) = setup.garble(&program, gates, &all, &choices, &ots).await?;
    let column = shape.column_bytes(layered.and_count());
    assert_eq!(prepared.bytes(), (parties - 1) * column);
    let masks = setup.open_masks(&outputs, to).await?;

    let mut online = Bmr::open(context.enter(Phase::Online, "online"), opening, &own)?;
    let mut active = Vec::new();
    for (owner, (setup, rows)) in owned.iter().zip([first, second]).enumerate() {
        let plain = select(inputs, rows.clone());
        let mine = (me.index() == owner).then_some(&plain);
        active.push(online.share(setup, mine).await?);
    }
    let mut share = select(inputs, third.clone());
    let bits = dealer.share_bits(7, share.as_bytes());
    share.as_bytes_mut().copy_from_slice(&bits);
    share.clear_padding();
    active.push(online.from_boolean(&shared, &share).await?);
    let active = ActiveKeys::concat(&active.iter().collect::<Vec<_>>()).unwrap();
    let result = online.evaluate(&program, prepared, |wire| active.row(wire));
    let result = result.all().colours(0);
    let opened = masks.map(|masks| reveal(&masks, &result));
    Ok((opened, to_boolean(me, &outputs, &result)))
}

/// The declared cost of the same.
pub fn cost(
    (opening, gates): (Opening, Gates),
    me: Party,
    parties: usize,
    layered: &Layered,
    lanes: usize,
    to: &[Party],
) -> Cost {
    let shape = Shape {
        parties,
        rows: layered.rows(),
        lanes,
        gates,
    };
    let [first, second, third] = parts(layered.input_bits()).map(|rows| rows.len());
    let owners = [Party::new(0), Party::new(1)];
    let outputs = layered.outputs().len();

    let mut rounds = Rounds::new(parties);
    if layered.and_count() * lanes > 0 {
        Bmr::garble_rounds(&mut rounds, opening, shape, layered);
    }
    rounds.open(opening, to);
    let setup = PhaseCost {
        rounds: rounds.of(me),
        ..PhaseCost::default()
    };
    let setup = setup
        + Bmr::fresh_input_cost(me, owners[0], parties, first, lanes)
        + Bmr::fresh_input_cost(me, owners[1], parties, second, lanes)
        + Bmr::fresh_cost(third, lanes)
        + Bmr::garble_cost(opening, shape, layered)
        + Bmr::open_masks_cost(opening, me, parties, outputs, lanes, to);

    let mut rounds = Rounds::new(parties);
    owners
        .iter()
        .for_each(|&owner| Bmr::share_rounds(&mut rounds, owner, parties));
    Bmr::from_boolean_rounds(&mut rounds, opening, parties);
    let online = PhaseCost {
        rounds: rounds.of(me),
        ..PhaseCost::default()
    };
    let online = online
        + Bmr::share_cost(me, owners[0], parties, first, lanes)
        + Bmr::share_cost(me, owners[1], parties, second, lanes)
        + Bmr::from_boolean_cost(opening, me, parties, third, lanes)
        + Bmr::evaluate_cost(shape, layered);
    Cost { setup, online }
}
