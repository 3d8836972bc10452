//! Yao sharing for N parties by BMR (protocol Y; MOTION 6.3, with free XOR): a bit x has a mask lambda, of which
//! each party has a share, and a public colour `alpha = x ^ lambda`; of each party there is a key for the
//! colour, which all know. The local computation, and why it is secure, is in
//! [`madrigal_garbling::bmr`]; here is what is sent.
//!
//! Secure against semi-honest corruption of all parties but one. The setup part of a wire ([`WireSetup`]) is
//! made in the setup phase, the online part ([`ActiveKeys`]) online; a circuit takes setup parts of its inputs
//! to those of its outputs, and later online parts to online parts. Everything works on blocks of lanes.
//!
//! n wires in all lanes together, m ANDs in all lanes together, of a circuit with i inputs in all lanes; each message goes to each peer, unless said
//! otherwise:
//!
//! | operation | setup rounds | setup bytes to each peer | online rounds | online bytes to each peer |
//! |---|---|---|---|---|
//! | input of one party ([`Bmr::share`]) | 0 | 0 | 2 | ceil(n/8) from the owner, then 16 n |
//! | B2Y ([`Bmr::from_boolean`]) | 0 | 0 | 2, or 3 | ceil(n/8), then 16 n |
//! | B2Y share by share ([`Bmr::from_boolean_by_inputs`]) | 0 | 0 | 2 | ceil(n/8), then 16 N n |
//! | circuit ([`Bmr::garble`], [`Bmr::evaluate`]) | 3, or 4 | 2 ceil(m/8) + ceil(i/8) + 48 (N-1) m, or 48 to 96 m | 0 | 0 |
//! | output ([`Bmr::open_masks`], [`reveal`]) | 1, or 2 | ceil(n/8) to each receiver | 0 | 0 |
//! | Y2B ([`to_boolean`]) | 0 | 0 | 0 | 0 |
//!
//! A circuit takes 2 m + i correlated OTs each way between each two parties; without ANDs none, and sends nothing. With
//! [`Gates::ThreeOts`], the variant that the paper begins with, it takes 3 m, and sends 4 ceil(m/8) bytes in place of
//! 2 ceil(m/8) + ceil(i/8).
//!
//! Each party needs the sums of the others' columns. Either each sends each its shares of these, `48 (N-1)^2 m` bytes
//! from each party; or each column is added up by one party, the one after its owner, which sends the sum to those that
//! need it: `48 (2N - 3) m` bytes from each party, one round more. The second is done with [`Opening::Relay`], and with
//! [`Opening::Direct`] where it saves each party at least 4 MiB; between two parties they are the same. The paper has
//! one party add up everything and send it back, or everyone broadcast everything.
//!
//! # Differences from the paper
//! - Where P_i's kappa C-OTs of strings of 3m bits multiply its bits with the bits of `R_j`, we take any
//!   correlated OT extension with Delta `R_j` and P_i's bits as choices: the paper's is IKNP, of which this is
//!   the description; others send less.
//! - **Two OTs for an AND and one for an input, not three for an AND**, and none for `lambda_a lambda_b`: shares of the
//!   products of a wire's mask with all offsets belong to the wire and go through XOR with it
//!   ([`madrigal_garbling::bmr`] derives it). The choices of an AND's first OT are its result's mask, so that
//!   only the second one's are corrected, by a bit that is the same for all peers; one more bit makes the masks'
//!   product.
//! - A column has three blocks for each AND, not four: keys are hashed one by one, as half-gates do, and not
//!   in pairs (`crates/kernels/src/bmr.rs` derives it).
//! - A party needs no column of its own: `(N-1) * 48` bytes for each AND instead of `N * 64`. It makes its own
//!   active key from its seed and the colour that the others' keys show.
//! - A key's lowest bit is the colour, so nothing is compared to find it.
//! - **The mask of an input is shared among all**, without a message, where in the paper the owner has it and the
//!   others' shares are zero. With that, an output that is the XOR of inputs of two parties would have their
//!   masks as its shares, and who is sent these would learn both inputs, since all colours are public; so would
//!   whoever sees its shares in B opened.

mod circuits;
mod cost;
mod tables;

pub use circuits::{Evaluated, Prepared};
pub use cost::{messages_of_column, paper_setup_bits};
pub use madrigal_garbling::bmr::{ActiveKeys, Gates, PeerRows, Shape, WireSetup};
pub use madrigal_garbling::{Block, Offset, Program};

use bytes::Bytes;
use madrigal_circuit::Rows;
use madrigal_core::{Party, Zeroizing, bits};
use madrigal_garbling::bmr::{Evaluation, Garbling, Instance};
use madrigal_kernels::{self as kernels, marks};
use madrigal_net::{Channel, Context, Generator, Result, exchange};

use crate::Opening;
use crate::gmw::{BooleanGmw, InputSharing, LEADER};

/// Bytes of one column that are garbled at a time, at most, and that a message has at least, where a circuit
/// has as many.
pub const CHUNK: usize = 64 << 10;

/// Message of a panic where a length does not fit: what comes from others has been checked.
const FITS: &str = "lengths are checked where they come from";

/// The operations of one piece of work, on channels of its own. The work in the setup phase and the work
/// online have a value each, opened in contexts of these phases.
pub struct Bmr {
    context: Context,
    channels: Vec<Channel>,
    /// Channels of columns that have been added up; between two parties there are none.
    sums: Vec<Channel>,
    opening: Opening,
    offset: Offset,
    random: Generator,
    gmw: BooleanGmw,
    /// Sharings of the masks of inputs, one for each owner.
    input_masks: Vec<InputSharing>,
    everyone: Vec<Party>,
    instance: Instance,
    /// The number of the next piece of the instance.
    next: u64,
    /// Number of the next row that is hashed.
    next_row: u64,
    /// Their memory serves one block of lanes after the other.
    garbling: Option<Garbling>,
    evaluation: Option<Evaluation>,
}

impl std::fmt::Debug for Bmr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Bmr({:?}, {})", self.context, self.opening)
    }
}

/// The setup part of an input.
pub struct InputSetup {
    owner: Party,
    part: WireSetup,
    /// The owner's alone.
    mask: Option<Rows>,
}

impl InputSetup {
    /// The wires.
    pub fn part(&self) -> &WireSetup {
        &self.part
    }

    /// The masks of the wires, which their owner knows.
    pub fn mask(&self) -> Option<&Rows> {
        self.mask.as_ref()
    }
}

impl std::fmt::Debug for InputSetup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "InputSetup({:?}, of {})", self.part, self.owner)
    }
}

/// The setup parts of bits that all share, an input of each party and their XOR.
#[derive(Debug)]
pub struct ShareSetup {
    inputs: Vec<InputSetup>,
    sum: WireSetup,
}

impl ShareSetup {
    /// The wires of the XOR.
    pub fn sum(&self) -> &WireSetup {
        &self.sum
    }
}

impl Bmr {
    /// Opens the channels of `context`. `offset` is our own, the Delta of our correlated OTs, the same in all
    /// of a job.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] in the same cases as [`Context::channels`].
    pub fn open(context: Context, opening: Opening, offset: &Offset) -> Result<Self> {
        let sums = match context.parties() {
            2 => Vec::new(),
            _ => context.step("sums").channels()?,
        };
        Ok(Self {
            channels: context.channels()?,
            sums,
            gmw: BooleanGmw::new(context.step("masks"), opening)?,
            input_masks: InputSharing::of_everyone(&context)?,
            random: context.private_prg(),
            everyone: Party::all(context.parties()).collect(),
            instance: Instance {
                session: context.public_id(),
                stream: 0,
            },
            offset: offset.again(),
            next: 0,
            next_row: 0,
            garbling: None,
            evaluation: None,
            opening,
            context,
        })
    }

    /// Counts the rounds from now on in `context`, see [`Channel::count_in`].
    pub fn count_in(&mut self, context: &Context) {
        self.context = context.clone();
        self.gmw.count_in(context);
        let channels = self.channels.iter_mut().chain(&mut self.sums);
        channels.for_each(|channel| channel.count_in(context));
    }

    /// Setup parts of fresh wires, for bits that all share ([`from_boolean`](Self::from_boolean)).
    pub fn fresh(&mut self, rows: usize, lanes: usize) -> WireSetup {
        WireSetup::random_with(rows, lanes, true, |bytes| self.random.fill(bytes))
    }

    /// Fresh wires for an input of `owner`, who alone knows their masks. All parties ask for those of one owner
    /// in the same order.
    pub fn fresh_input(&mut self, owner: Party, rows: usize, lanes: usize) -> InputSetup {
        let mine = owner == self.context.me();
        let mut part = WireSetup::random_with(rows, lanes, mine, |bytes| self.random.fill(bytes));
        let mask = mine.then(|| part.masks().clone());
        let share = part.masks_mut();
        self.input_masks[owner.index()].share(share.as_bytes_mut());
        share.clear_padding();
        InputSetup { owner, part, mask }
    }

    /// Shares an input, which its owner passes, a row for each wire.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network, or if a peer's keys lack the colours that the owner sent.
    ///
    /// # Panics
    /// If the owner passes no input, or one of another shape.
    pub async fn share(&mut self, setup: &InputSetup, input: Option<&Rows>) -> Result<ActiveKeys> {
        let InputSetup { owner, part, mask } = setup;
        let (rows, lanes) = (part.rows(), part.lanes());
        let len = bits::bytes_for(rows * lanes);
        let colours = if let Some(mask) = mask {
            let input = input.expect("the owner has the input");
            let mut packed = pack(&added(input, mask));
            // Under a mask that nobody else knows.
            marks::public(packed.as_mut_slice());
            let message = Bytes::copy_from_slice(&packed);
            for channel in &mut self.channels {
                channel.send(message.clone()).await?;
            }
            packed
        } else {
            let from = self.channels.iter_mut().find(|to| to.peer() == *owner);
            let from = from.expect("there is a channel to every peer");
            Zeroizing::new(from.recv(len).await?.to_vec())
        };
        self.activate(part, &unpack(&colours, rows, lanes)).await
    }

    /// Yao shares of bits that are shared in B (MOTION 7.2): the colours are opened, and everyone sends its
    /// active keys. All have masked `part`, which nothing else has used.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network, or if a peer's keys lack the opened colours.
    ///
    /// # Panics
    /// If `share` has another shape than `part`.
    pub async fn from_boolean(&mut self, part: &WireSetup, share: &Rows) -> Result<ActiveKeys> {
        let (rows, lanes) = (part.rows(), part.lanes());
        let masked = pack(&added(share, part.masks()));
        let opened = self.gmw.open(&masked, rows * lanes, &self.everyone).await?;
        let colours = opened.expect("opened to everyone");
        self.activate(part, &unpack(&colours, rows, lanes)).await
    }

    /// Fresh wires for bits that all share, one for each party's share ([`from_boolean_by_inputs`](Self::from_boolean_by_inputs)).
    pub fn fresh_shares(&mut self, rows: usize, lanes: usize) -> ShareSetup {
        let owners = Party::all(self.context.parties());
        let inputs: Vec<_> = owners
            .map(|owner| self.fresh_input(owner, rows, lanes))
            .collect();
        let mut sum = WireSetup::new(rows, lanes);
        for input in &inputs {
            let part = input.part();
            kernels::xor_into(sum.masks_mut().as_bytes_mut(), part.masks().as_bytes());
            for row in 0..rows {
                add_blocks(sum.zero_mut(row), part.zero(row));
            }
        }
        ShareSetup { inputs, sum }
    }

    /// Yao shares of bits that are shared in B, the straightforward way that the paper improves upon (MOTION 7.2), for
    /// comparisons: each party shares its share as an input, and the XOR of all of these is taken, which is local. Each
    /// sends a key for each share where [`from_boolean`](Self::from_boolean) sends their sum alone. Secure as inputs and
    /// XOR are: colours are shares under masks that their owners alone know.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network, or if a peer's keys lack the colours that the owners sent.
    ///
    /// # Panics
    /// If `share` has another shape than `setup`.
    pub async fn from_boolean_by_inputs(
        &mut self,
        setup: &ShareSetup,
        share: &Rows,
    ) -> Result<ActiveKeys> {
        let ShareSetup { inputs, sum } = setup;
        let (rows, lanes) = (sum.rows(), sum.lanes());
        let (me, parties) = (self.context.me().index(), inputs.len());
        let mask = inputs[me].mask().expect("ours is the mask of our input");
        let mut packed = pack(&added(share, mask));
        // Under masks that nobody else knows.
        marks::public(packed.as_mut_slice());
        let len = packed.len();
        let message = Bytes::copy_from_slice(&packed);
        let received = exchange(&mut self.channels, message, len).await?;
        let mut all = Rows::new(parties * rows, lanes);
        let own = [(me, &packed[..])].into_iter();
        let peers = self.channels.iter().zip(&received);
        let told = peers.map(|(channel, told)| (channel.peer().index(), &told[..]));
        for (owner, told) in own.chain(told) {
            for row in 0..rows {
                bits::take(told, row * lanes, all.row_mut(owner * rows + row), lanes);
            }
        }
        let parts: Vec<_> = inputs.iter().map(InputSetup::part).collect();
        let parts = WireSetup::concat(&parts).expect(FITS);
        let active = self.activate(&parts, &all).await?;
        let mut keys = ActiveKeys::new(parties, rows, lanes);
        for wire in 0..parties * rows {
            add_blocks(keys.row_mut(wire % rows), active.row(wire));
        }
        Ok(keys)
    }

    /// Everyone's active keys for public colours.
    async fn activate(&mut self, part: &WireSetup, colours: &Rows) -> Result<ActiveKeys> {
        let (me, parties) = (self.context.me().index(), self.context.parties());
        let keys = part.activate(&self.offset, colours).expect(FITS);
        let keys = kernels::blocks_as_bytes(&keys);
        let mut active = ActiveKeys::new(parties, part.rows(), part.lanes());
        active.set_party(me, keys).expect(FITS);
        let message = Bytes::copy_from_slice(keys);
        let received = exchange(&mut self.channels, message, keys.len()).await?;
        for (channel, keys) in self.channels.iter().zip(received) {
            let peer = channel.peer().index();
            active.set_party(peer, &keys).expect(FITS);
            let mut shown = active.colours(peer);
            marks::public(shown.as_bytes_mut());
            if shown != *colours {
                return Err(channel.refuse(
                    "keys whose lowest bits are not the colours of their wires, which all parties know: \
                     it must run the same version and the same plan",
                ));
            }
        }
        Ok(active)
    }

    /// Opens the masks of wires to the parties `to`, who can read their colours then; `None` for the others. In
    /// the setup phase, since it depends on nothing else.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    pub async fn open_masks(&mut self, part: &WireSetup, to: &[Party]) -> Result<Option<Rows>> {
        let (rows, lanes) = (part.rows(), part.lanes());
        let share = pack(part.masks());
        let opened = self.gmw.open(&share, rows * lanes, to).await?;
        Ok(opened.map(|masks| unpack(&masks, rows, lanes)))
    }
}

/// The bits of wires of these colours, whose masks have been opened to us.
///
/// # Panics
/// If `masks` have another shape.
pub fn reveal(masks: &Rows, colours: &Rows) -> Rows {
    let mut bits = added(colours, masks);
    // From here on they are their receiver's to look at.
    marks::public(bits.as_bytes_mut());
    bits
}

/// Our shares in B of bits shared in Y, as party `me` (MOTION 7.3), from the colours of their wires: nothing is sent.
///
/// # Panics
/// If `part` has another shape than `colours`.
pub fn to_boolean(me: Party, part: &WireSetup, colours: &Rows) -> Rows {
    if me == LEADER {
        added(colours, part.masks())
    } else {
        part.masks().clone()
    }
}

fn added(a: &Rows, b: &Rows) -> Rows {
    assert!(
        a.rows() == b.rows() && a.lanes() == b.lanes(),
        "{a:?} and {b:?} are to be added"
    );
    let mut sum = a.clone();
    kernels::xor_into(sum.as_bytes_mut(), b.as_bytes());
    sum
}

fn add_blocks(to: &mut [Block], from: &[Block]) {
    kernels::xor_into(
        kernels::blocks_as_bytes_mut(to),
        kernels::blocks_as_bytes(from),
    );
}

/// All bits, row after row without gaps.
fn pack(rows: &Rows) -> Zeroizing<Vec<u8>> {
    let lanes = rows.lanes();
    let mut packed = Zeroizing::new(vec![0; bits::bytes_for(rows.rows() * lanes)]);
    for row in 0..rows.rows() {
        bits::put(&mut packed, row * lanes, rows.row(row), lanes);
    }
    packed
}

fn unpack(packed: &[u8], rows: usize, lanes: usize) -> Rows {
    let mut all = Rows::new(rows, lanes);
    for row in 0..rows {
        bits::take(packed, row * lanes, all.row_mut(row), lanes);
    }
    all
}
