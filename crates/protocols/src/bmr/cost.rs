//! Costs of the operations, declared.

use madrigal_circuit::{Layered, Rows};
use madrigal_core::{Party, PhaseCost, bits};
use madrigal_garbling::bmr::{Gates, Shape};

use super::{Bmr, tables};
use crate::gmw::{BooleanGmw, share_aes_blocks};
use crate::{Opening, Rounds};

/// Bits that the paper sends in the setup phase for `ands` ANDs, by all parties together, without outputs
/// (MOTION, table 6: AND^Y), with keys of 128 bits: `N (N-1) ((4N + 7) kappa + 1)` each with three C-OTs of
/// strings of kappa bits for each gate and pair, the variant of Ben-Efraim et al., and `3 kappa` less for each
/// pair with its own new optimisation, kappa C-OTs for all gates.
pub fn paper_setup_bits(parties: u64, ands: u64, optimised: bool) -> u64 {
    let kappa = 128;
    let strings = if optimised { 4 } else { 7 };
    parties * (parties - 1) * ((4 * parties + strings) * kappa + 1) * ands
}

/// Messages in which a column of a circuit is sent.
pub fn messages_of_column(shape: Shape, program: &Layered) -> u64 {
    let lengths = tables::lengths(shape, program);
    lengths.iter().filter(|&&len| len > 0).count() as u64
}

/// Cost of `messages` to and from each of `peers` peers.
fn each_way(peers: u64, bytes: usize, messages: u64) -> PhaseCost {
    PhaseCost {
        bytes_sent: peers * bytes as u64,
        bytes_received: peers * bytes as u64,
        messages: peers * messages,
        ..PhaseCost::default()
    }
}

fn aes(aes_blocks: u64) -> PhaseCost {
    PhaseCost {
        aes_blocks,
        ..PhaseCost::default()
    }
}

fn everyone(parties: usize) -> Vec<Party> {
    Party::all(parties).collect()
}

fn all_pairs(parties: usize) -> Vec<(Party, Party)> {
    let pairs = Party::all(parties).flat_map(|from| Party::all(parties).map(move |to| (from, to)));
    pairs.filter(|(from, to)| from != to).collect()
}

/// Costs are for party `me`, and but for rounds, which have functions of their own.
impl Bmr {
    /// Cost of [`fresh`](Self::fresh).
    pub fn fresh_cost(rows: usize, lanes: usize) -> PhaseCost {
        let masks = (rows * Rows::stride_for(lanes)).div_ceil(16);
        aes((rows * lanes + masks) as u64)
    }

    /// Cost of [`fresh_input`](Self::fresh_input).
    pub fn fresh_input_cost(
        me: Party,
        owner: Party,
        parties: usize,
        rows: usize,
        lanes: usize,
    ) -> PhaseCost {
        let bytes = (rows * Rows::stride_for(lanes)) as u64;
        let own = u64::from(me == owner) * bytes.div_ceil(16);
        aes((rows * lanes) as u64 + own + share_aes_blocks(me, owner, parties, bytes))
    }

    /// Cost of [`share`](Self::share).
    pub fn share_cost(
        me: Party,
        owner: Party,
        parties: usize,
        rows: usize,
        lanes: usize,
    ) -> PhaseCost {
        let (peers, colours) = (parties as u64 - 1, bits::bytes_for(rows * lanes) as u64);
        let colours = if me == owner {
            PhaseCost {
                bytes_sent: peers * colours,
                messages: peers,
                ..PhaseCost::default()
            }
        } else {
            PhaseCost {
                bytes_received: colours,
                ..PhaseCost::default()
            }
        };
        colours + each_way(peers, 16 * rows * lanes, 1)
    }

    /// Rounds of [`share`](Self::share).
    pub fn share_rounds(rounds: &mut Rounds, owner: Party, parties: usize) {
        let others = Party::all(parties).filter(|&party| party != owner);
        rounds.exchange(&others.map(|party| (owner, party)).collect::<Vec<_>>());
        rounds.exchange(&all_pairs(parties));
    }

    /// Cost of [`from_boolean`](Self::from_boolean).
    pub fn from_boolean_cost(
        opening: Opening,
        me: Party,
        parties: usize,
        rows: usize,
        lanes: usize,
    ) -> PhaseCost {
        BooleanGmw::open_cost(opening, me, parties, rows * lanes, &everyone(parties))
            + each_way(parties as u64 - 1, 16 * rows * lanes, 1)
    }

    /// Rounds of [`from_boolean`](Self::from_boolean).
    pub fn from_boolean_rounds(rounds: &mut Rounds, opening: Opening, parties: usize) {
        rounds.open(opening, &everyone(parties));
        rounds.exchange(&all_pairs(parties));
    }

    /// Cost of [`fresh_shares`](Self::fresh_shares).
    pub fn fresh_shares_cost(me: Party, parties: usize, rows: usize, lanes: usize) -> PhaseCost {
        let of = |owner| Self::fresh_input_cost(me, owner, parties, rows, lanes);
        Party::all(parties)
            .map(of)
            .fold(PhaseCost::default(), |sum, one| sum + one)
    }

    /// Cost of [`from_boolean_by_inputs`](Self::from_boolean_by_inputs).
    pub fn from_boolean_by_inputs_cost(parties: usize, rows: usize, lanes: usize) -> PhaseCost {
        let peers = parties as u64 - 1;
        each_way(peers, bits::bytes_for(rows * lanes), 1)
            + each_way(peers, 16 * parties * rows * lanes, 1)
    }

    /// Rounds of [`from_boolean_by_inputs`](Self::from_boolean_by_inputs).
    pub fn from_boolean_by_inputs_rounds(rounds: &mut Rounds, parties: usize) {
        rounds.exchange(&all_pairs(parties));
        rounds.exchange(&all_pairs(parties));
    }

    /// Cost of [`garble`](Self::garble), without its correlated OTs. Time is linear in the
    /// circuit's ANDs.
    pub fn garble_cost(opening: Opening, shape: Shape, program: &Layered) -> PhaseCost {
        let messages = messages_of_column(shape, program);
        Self::garble_cost_with(opening, shape, program, messages)
    }

    /// Cost of garbling, given [`messages_of_column`], which takes the time.
    pub fn garble_cost_with(
        opening: Opening,
        shape: Shape,
        program: &Layered,
        messages: u64,
    ) -> PhaseCost {
        let (parties, ands) = (shape.parties, shape.and_lanes(program));
        let seed = 1;
        let hashed = shape.hashed_aes(program);
        let masks = match shape.gates {
            Gates::TwoOts => 0,
            Gates::ThreeOts => shape.plane_bytes(program).div_ceil(16) as u64,
        };
        let local = seed + masks + hashed + shape.garble_aes(program.and_count());
        if ands == 0 {
            return aes(local);
        }
        let peers = parties as u64 - 1;
        // Planes of the masks' product and of inputs or operands, then the plane of the next OTs' choices.
        let plane = shape.plane_bytes(program);
        let first = each_way(peers, plane + shape.flip_bytes(program), 1);
        let told = first + each_way(peers, plane, 1);
        let column = shape.column_bytes(program.and_count());
        let once = tables::adds_once(opening, shape, program);
        let columns = tables::columns_sent(once, parties) as u64;
        told + each_way(columns, column, messages) + aes(local)
    }

    /// Rounds of [`garble`](Self::garble) of a circuit with ANDs; of others there are none.
    pub fn garble_rounds(rounds: &mut Rounds, opening: Opening, shape: Shape, program: &Layered) {
        let pairs = all_pairs(shape.parties);
        for _ in 0..3 {
            rounds.exchange(&pairs);
        }
        if tables::adds_once(opening, shape, program) {
            let needed = |&(from, to): &(Party, Party)| to != tables::adds(from, shape.parties);
            rounds.exchange(&pairs.into_iter().filter(needed).collect::<Vec<_>>());
        }
    }

    /// Cost of [`evaluate`](Self::evaluate).
    pub fn evaluate_cost(shape: Shape, program: &Layered) -> PhaseCost {
        aes(shape.evaluate_aes(program.and_count()))
    }

    /// Cost of [`open_masks`](Self::open_masks), whose rounds are those of one opening.
    pub fn open_masks_cost(
        opening: Opening,
        me: Party,
        parties: usize,
        rows: usize,
        lanes: usize,
        to: &[Party],
    ) -> PhaseCost {
        BooleanGmw::open_cost(opening, me, parties, rows * lanes, to)
    }
}
