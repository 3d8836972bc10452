//! Records of protocols, for whoever plans programs: what each protocol can do, in one list.
//!
//! A record says how a protocol shares, between how many parties, what it computes, and which operations do that. The
//! planner of typed programs asks these records and nothing else, so a protocol that has a record can be named in mixes,
//! flags and reports. A record lies in its protocol's folder; `backends.rs` lists them; `registry.rs`
//! finds them, and says which operations lead from one protocol to another.

use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::sync::Arc;

use madrigal_core::{Party, Product};
use madrigal_correlations::Width;

use crate::circuit::Circuit;
use crate::convert::{Addends, BitTimes, Compose};
use crate::edges::{Constant, Open, Share};
use crate::matrices::MatrixProduct;
use crate::netlist::Netlist;
use crate::order::KeyOrder;
use crate::parts::Parts;
use crate::protocol::{Boolean, Protocol, Rings};
use crate::replicated::Predicate;
use crate::ring::{Dot, Linear, Mul, MulPublic, Square};
use madrigal_engine::Operation;
use madrigal_engine::Sharing;
use madrigal_protocols::arithmetic::Side;
use madrigal_protocols::replicated::Depth;

/// An operation, as graphs hold it.
pub type DynOperation = Arc<dyn Operation>;

/// Operations that follow each other: each takes all results of the one before.
pub type Chain = Vec<DynOperation>;

/// A protocol as the planner of programs sees it.
pub struct Backend {
    /// Name of the protocol, by which flags, reports and facts call it.
    pub name: &'static str,
    /// Sharing of the protocol's values, which says how many components a share has.
    pub sharing: Sharing,
    /// Description of the protocol, in half a sentence for people.
    pub about: &'static str,
    /// Numbers of parties that can run the protocol.
    pub parties: RangeInclusive<usize>,
    /// Whether one corrupted party is all that the protocol withstands, however many compute.
    pub honest_majority: bool,
    /// How values are kept between the stages of a run.
    pub kept: Keeping,
    /// Operations that bring values in and out.
    pub edges: &'static dyn Edges,
    /// Operations of the protocol on bits, if it computes on bits.
    pub bits: Option<Bits>,
    /// Operations of the protocol on ring elements, if it computes on these.
    pub numbers: Option<Numbers>,
}

/// How values of a protocol are kept for later jobs: as shares that are the same thing in every job.
pub struct Keeping {
    /// The sharing that values are kept in.
    pub sharing: Sharing,
    /// Parts that a kept value is the sum of, and who holds which.
    pub parts: Parts,
    /// Makes kept shares of values; nothing where values are kept as they are.
    pub to: Option<fn() -> DynOperation>,
    /// Makes values of kept shares; nothing where values are kept as they are.
    pub from: Option<fn() -> DynOperation>,
}

impl Keeping {
    /// Values are kept as they are.
    pub const fn as_it_is(sharing: Sharing, parts: Parts) -> Self {
        Self {
            sharing,
            parts,
            to: None,
            from: None,
        }
    }
}

/// Correlations that a protocol's circuits take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CircuitSupply {
    /// Circuits take none.
    Nothing,
    /// Circuits take some that every origin has.
    Anything,
    /// Circuits take correlated OTs, which the parties make themselves: neither a dealer nor a store has any.
    Ot,
}

/// Operations of a protocol on bits.
pub struct Bits {
    /// Operations that evaluate circuits.
    pub circuits: &'static dyn Circuits,
    /// Correlations that circuits take.
    pub supply: CircuitSupply,
    /// The sharing of ring elements that a program in this protocol alone uses where it asks for some.
    pub ring: Sharing,
    /// Whether circuits take a round for each layer of ANDs, and not a number of rounds that does not depend on them.
    pub layered: bool,
    /// Whether circuits can do two layers of ANDs in a round.
    pub pairs: bool,
    /// Whether circuits can take vector triples.
    pub vectors: bool,
    /// Whether branches of a conditional share their cost; if not, why not.
    pub branches: Result<(), &'static str>,
    /// The test of ring elements for a sign or for zero that needs no circuit.
    pub test: Option<fn(Predicate, Depth) -> DynOperation>,
    /// Makes bits of the numbers that add up to ring elements, in another way than by their shares in B.
    pub split: Option<fn(ring: Sharing, negated: bool) -> DynOperation>,
    /// Sharings of ring elements that the numbers which become bits are shared anew from: they are others than the parties'
    /// shares.
    pub shares_anew: &'static [Sharing],
    /// Sorts and shuffles rows. Nothing where a sorting network sorts, and nothing shuffles.
    pub sort: Option<RowSort>,
    /// Draws elements of random bits that nobody knows: bits of each, number of elements. Nothing where the protocol has no way to do it.
    pub joint: Option<fn(bits: usize, len: usize) -> DynOperation>,
    /// Makes shares of ring elements in A of bits, where the protocol needs no bits in B for it.
    pub compose: Option<fn(Width, signed: bool) -> DynOperation>,
}

/// Shuffles of rows, and sorts by keys that are bits, in another way than by a sorting network.
pub struct RowSort {
    /// Numbers of parties that can do it.
    pub parties: RangeInclusive<usize>,
    /// Sharings that columns of ring elements may be in which move along; others are made bits.
    pub numbers: &'static [Sharing],
    /// Operation that sorts by keys in these orders, in this number of rounds: the first values are the keys, bits, and others are columns of bits or of
    /// ring elements.
    pub operation: fn(Vec<KeyOrder>, SortRounds) -> DynOperation,
    /// Operation that puts such columns into an order that nobody knows.
    pub shuffle: fn() -> DynOperation,
    /// Operation that puts such columns where the first value says, numbers of 32 bits in one of those sharings or as 32 bits, which tells
    /// nothing.
    pub place: fn() -> DynOperation,
    /// Whether a sort by a key of one bit is best done by that, with places that are counted in a ring: elsewhere the sort itself does as well.
    pub counts: bool,
}

/// Rounds of sorts of rows, against bytes and work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SortRounds {
    /// Many comparisons at once take a round for each bit, few ones less: for lines with short round trips.
    #[default]
    Many,
    /// All comparisons take few rounds, and more than twice the ANDs.
    Few,
    /// Rows with short keys are not compared where a protocol can do without, others in few rounds: the most bytes.
    Fewest,
}

impl SortRounds {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Many, Self::Few, Self::Fewest];

    /// Depth of comparisons, if it is not by their number.
    pub const fn depth(self) -> Option<Depth> {
        match self {
            Self::Many => None,
            Self::Few | Self::Fewest => Some(Depth::Tree),
        }
    }
}

/// Operations of a protocol on ring elements.
pub struct Numbers {
    /// Operations on ring elements.
    pub rings: &'static dyn RingOperations,
    /// The sharings of bits that a mix may have beside this one; the first one is what conversions go to directly.
    pub with: &'static [Sharing],
    /// Whether an exact quotient by a power of two needs no bits.
    pub exact_quotients: bool,
    /// Whether ring elements of two parties are sums of one share of each, which carries tell all about.
    pub sums_of_shares: bool,
    /// Whether a square costs as much as a product, so that a sum of squares is a dot product.
    pub squares_are_products: bool,
    /// Whether branches of sums and products share their cost.
    pub branches: bool,
    /// Multiplies matrices, or convolves images, where one party knows an operand, if that saves anything.
    pub known_product: Option<fn(Product, Side, owner: Party) -> DynOperation>,
    /// Multiplies bits, in the sharing of bits that conversions come from, with numbers that one party knows, if that
    /// saves anything.
    pub known_bit_times: Option<fn(owner: Party) -> DynOperation>,
    /// Makes quotients by 2^`by`, exact or rounded either way, among `parties` parties, if the protocol has operations for it.
    pub truncate: fn(by: usize, exact: bool, parties: usize) -> Option<Chain>,
}

/// Operations that bring values in and out.
pub trait Edges: Send + Sync {
    /// Shares a value of a party's.
    fn share(&self, owner: Party) -> DynOperation;

    /// Shares a value that all know.
    fn constant(&self) -> DynOperation;

    /// Opens values to parties.
    fn open(&self, to: &[Party]) -> DynOperation;
}

/// Operations that evaluate circuits.
pub trait Circuits: Send + Sync {
    /// Evaluates a circuit; `alone` is the number of elements, for its estimate of memory.
    fn circuit(&self, circuit: Arc<Circuit>, alone: usize) -> DynOperation;
}

/// Operations on ring elements.
pub trait RingOperations: Send + Sync {
    /// Adds values, each times a factor, and a constant.
    fn linear(&self, factors: Vec<u128>, constant: u128) -> DynOperation;
    /// Multiplies with values that all know.
    fn mul_public(&self) -> DynOperation;
    /// Multiplies two values.
    fn mul(&self) -> DynOperation;
    /// Squares a value.
    fn square(&self) -> DynOperation;
    /// Multiplies and adds rows of `length` elements.
    fn dot(&self, length: usize) -> DynOperation;
    /// Multiplies matrices, or convolves images.
    fn product(&self, product: Product) -> DynOperation;
    /// Makes bits of the numbers that add up to elements, in the sharing of bits that conversions go to.
    fn addends(&self, parties: usize, negated: bool) -> DynOperation;
    /// Makes ring elements of bits in the sharing of bits that conversions come from.
    fn compose(&self, width: Width, signed: bool) -> DynOperation;
    /// Multiplies bits, in the sharing of bits that conversions come from, with elements.
    fn bit_times(&self) -> DynOperation;
}

/// The operations of a protocol, by its [`Tool`](madrigal_engine::Tool).
pub(super) struct Of<P>(PhantomData<fn() -> P>);

impl<P> Of<P> {
    pub(super) const NEW: Self = Self(PhantomData);
}

impl<P: Protocol> Edges for Of<P> {
    fn share(&self, owner: Party) -> DynOperation {
        Arc::new(Share::<P>::new(owner))
    }

    fn constant(&self) -> DynOperation {
        Arc::new(Constant::<P>::new())
    }

    fn open(&self, to: &[Party]) -> DynOperation {
        Arc::new(Open::<P>::new(to.to_vec()))
    }
}

impl<P: Boolean> Circuits for Of<P> {
    fn circuit(&self, circuit: Arc<Circuit>, alone: usize) -> DynOperation {
        Arc::new(Netlist::<P>::new(circuit, alone))
    }
}

impl<P: Rings> RingOperations for Of<P> {
    fn linear(&self, factors: Vec<u128>, constant: u128) -> DynOperation {
        Arc::new(Linear::<P>::new(factors, constant))
    }

    fn mul_public(&self) -> DynOperation {
        Arc::new(MulPublic::<P>::new())
    }

    fn mul(&self) -> DynOperation {
        Arc::new(Mul::<P>::new())
    }

    fn square(&self) -> DynOperation {
        Arc::new(Square::<P>::new())
    }

    fn dot(&self, length: usize) -> DynOperation {
        Arc::new(Dot::<P>::new(length))
    }

    fn product(&self, product: Product) -> DynOperation {
        Arc::new(MatrixProduct::<P>::of(product))
    }

    fn addends(&self, parties: usize, negated: bool) -> DynOperation {
        Arc::new(Addends::<P>::new(parties, negated))
    }

    fn compose(&self, width: Width, signed: bool) -> DynOperation {
        Arc::new(Compose::<P>::new(width, signed))
    }

    fn bit_times(&self) -> DynOperation {
        Arc::new(BitTimes::<P>::new())
    }
}

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Backend").field(&self.name).finish()
    }
}

/// Records are of the same protocol if they have the same name.
impl PartialEq for Backend {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Backend {}
