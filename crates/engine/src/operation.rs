//! The one seam of the engine: what a node of a program does.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use madrigal_core::{Party, Phase};
use madrigal_correlations::Stock;
use madrigal_kernels::Block;
use madrigal_net::{Context, Error, Result};
use madrigal_protocols::Opening;

use crate::bill::Bill;
use crate::shares::Shares;
use crate::sort::Sort;

/// Memory that the preparation of an operation leaves for its work online.
pub type PreparedState = Box<dyn Any + Send>;

/// Work of an operation online, which gives its results.
pub type Online<'a> = LocalBoxFuture<'a, Result<Vec<Shares>>>;

/// Work of an operation before inputs are there.
pub type Preparing<'a> = LocalBoxFuture<'a, Result<Prepared>>;

/// Work that the parties do with values: a circuit, a matrix product, a conversion, an input, an opening.
///
/// An operation is made once, for any number of elements where its work is
/// [lane by lane](Self::is_lane_wise), and called for each block of them.
pub trait Operation: Send + Sync {
    /// A stable name with version and parameters, on one line. Parties that differ in it do not
    /// compute: what two operations of one name do and send must be the same.
    fn name(&self) -> String;

    /// Sorts of the results that it makes of values of these sorts, among `parties` parties.
    ///
    /// # Errors
    /// [`Mismatch`] if the values do not fit.
    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch>;

    /// Whether element i of each result depends on element i of each input alone, and all are of one
    /// length: such an operation is called for blocks of elements.
    fn is_lane_wise(&self) -> bool {
        true
    }

    /// Bits of memory that it works in for each element, beside inputs and results: decides how long a
    /// block may be that stays in the cache.
    fn bits_at_work(&self, inputs: &[Sort]) -> usize {
        inputs.iter().map(|sort| sort.element.bits()).sum()
    }

    /// Adds the cost of one call with inputs of these sorts: messages, AES blocks, correlations. No other place
    /// declares these.
    fn bill(&self, inputs: &[Sort], bill: &mut Bill);

    /// Whether [`prepare`](Self::prepare) can do something for it before any input is there, if all its inputs with
    /// labels or masks were prepared too.
    fn prepares(&self, _inputs: &[Sort]) -> bool {
        false
    }

    /// Whether preparing it needs the clear values among its inputs: then it is prepared only where they are
    /// [part of the program](Self::constant).
    fn needs_clear(&self) -> bool {
        false
    }

    /// The only result, where that is part of the program.
    fn constant(&self) -> Option<&Shares> {
        None
    }

    /// Does the work that depends on the program alone, before any input is there: draws labels, garbles. Gives the
    /// results as far as they are known by then, and the memory that [`online`](Self::online) will find in
    /// [`Turn::prepared`]. All parties call it at the same place of their schedules.
    ///
    /// `inputs` are known as far as they were prepared: labels, shares of masks without public parts, and values that
    /// are part of the program. Other inputs are unknown.
    ///
    /// It is not called where phases overlap, or where an input was not prepared: then `online` does all of it.
    ///
    /// # Errors
    /// [`Error`] of the network.
    fn prepare<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Preparing<'a> {
        let _ = inputs;
        let problem = Mismatch::new(format!("{} cannot be prepared", self.name()));
        Box::pin(std::future::ready(Err(turn.refuse(&problem))))
    }

    /// Computes on shares. All parties call it at the same place of their schedules, unless none of its
    /// results has elements: then there is nothing to do.
    ///
    /// # Errors
    /// [`Error`] of the network.
    fn online<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Online<'a>;

    /// Computes in the clear, on values known to all: tests compare shares with it, and users can look into it.
    ///
    /// # Errors
    /// [`Mismatch`] for a value that the operation is not for, where it can tell.
    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch>;
}

impl fmt::Debug for dyn Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

/// Listener that a preparation tells what is known of its results before it has ended: so preparations that follow each
/// other need not wait for each other's messages.
#[derive(Clone, Copy, Default)]
pub struct Early<'a>(Option<&'a dyn Fn(Vec<Shares>)>);

impl<'a> Early<'a> {
    /// Listener that hands results to `hear`.
    pub(crate) fn new(hear: &'a dyn Fn(Vec<Shares>)) -> Self {
        Self(Some(hear))
    }

    /// Tells what [`Prepared::results`] would say, once all that is known of them is. The [`Bill`] says so at the same
    /// place ([`Bill::results_known`]). Gives what `Prepared` is left with: nothing, if somebody listens.
    #[must_use]
    pub fn tell(&self, results: Vec<Shares>) -> Vec<Shares> {
        match self.0 {
            Some(hear) => {
                hear(results);
                Vec::new()
            }
            None => results,
        }
    }
}

impl fmt::Debug for Early<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Early")
    }
}

/// Work done for an operation before any input was there.
pub struct Prepared {
    /// Results as far as they are known, unless they were [told](Early::tell).
    pub results: Vec<Shares>,
    /// Memory that the operation finds when it is online.
    pub kept: PreparedState,
}

/// Why values do not fit an operation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Mismatch(String);

impl Mismatch {
    /// In words: what was expected, and what came.
    pub fn new(problem: impl Into<String>) -> Self {
        Self(problem.into())
    }
}

/// A protocol at work on channels of its own: opened when an operation first asks for it, then used
/// by one operation after the other.
pub trait Tool: Send + Sized + 'static {
    /// The name of its step.
    const STEP: &'static str;

    /// Opens channels and takes generators in `context`, which is this tool's alone.
    ///
    /// # Errors
    /// [`Error`] of the network.
    fn open(context: Context, opening: Opening) -> Result<Self>;

    /// Counts rounds from now on in `context`.
    fn count_in(&mut self, context: &Context);
}

/// Tools that an operation has at hand: work that goes on one operation at a time, in an order that
/// all parties have in common.
pub(crate) struct Strand {
    /// In setup, and online.
    contexts: [Context; 2],
    opening: Opening,
    tools: [HashMap<TypeId, Box<dyn Any + Send>>; 2],
    /// Memory that operations leave for the next one, by its type.
    scratch: HashMap<TypeId, Box<dyn Any + Send>>,
}

impl Strand {
    /// In a step of its own. Nothing is opened yet.
    pub(crate) fn new(contexts: [Context; 2], opening: Opening) -> Self {
        Self {
            contexts,
            opening,
            tools: Default::default(),
            scratch: HashMap::new(),
        }
    }

    pub(crate) fn context(&self, phase: Phase) -> &Context {
        &self.contexts[phase.index()]
    }

    fn tool<T: Tool>(&mut self, phase: Phase) -> Result<&mut T> {
        let context = &self.contexts[phase.index()];
        let tool = match self.tools[phase.index()].entry(TypeId::of::<T>()) {
            std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::hash_map::Entry::Vacant(entry) => {
                let tool = T::open(context.step(T::STEP), self.opening)?;
                entry.insert(Box::new(tool))
            }
        };
        Ok(tool.downcast_mut().expect("tools are kept by type"))
    }
}

/// One call of an operation.
pub struct Turn<'a> {
    strand: &'a mut Strand,
    context: Context,
    stock: Stock,
    prepared: Option<PreparedState>,
    early: Early<'a>,
}

impl<'a> Turn<'a> {
    /// A call in `strand`, whose rounds are counted in `context`, with the correlations that its bill
    /// asks for.
    pub(crate) fn new(
        strand: &'a mut Strand,
        context: Context,
        stock: Stock,
        prepared: Option<PreparedState>,
    ) -> Self {
        Self {
            strand,
            context,
            stock,
            prepared,
            early: Early::default(),
        }
    }

    /// A call that prepares, of which these hear.
    pub(crate) fn telling(mut self, early: Early<'a>) -> Self {
        self.early = early;
        self
    }

    /// Whom to tell of results before [`prepare`](Operation::prepare) has ended; nobody where it is part of the work
    /// online.
    pub fn early(&self) -> Early<'a> {
        self.early
    }

    /// The correlations that are left.
    pub(crate) fn into_stock(self) -> Stock {
        self.stock
    }

    /// Takes what was [prepared](Operation::prepare), if it was, whatever its type.
    pub fn kept(&mut self) -> Option<PreparedState> {
        self.prepared.take()
    }

    /// Takes what was [prepared](Operation::prepare), if it was, and is of this type.
    pub fn prepared<T: 'static>(&mut self) -> Option<Box<T>> {
        self.prepared.take()?.downcast().ok()
    }

    /// Who we are.
    pub fn me(&self) -> Party {
        self.context.me()
    }

    /// Number of parties that compute.
    pub fn parties(&self) -> usize {
        self.context.parties()
    }

    /// How the job opens masked values.
    pub fn opening(&self) -> Opening {
        self.strand.opening
    }

    /// The job's offset of this party's, for labels: odd and secret. There is one in programs with garbled
    /// values.
    pub fn offset(&self) -> Option<&Block> {
        self.stock.offset()
    }

    /// Fails the job: the operation cannot do this.
    pub fn refuse(&self, problem: &Mismatch) -> Error {
        let reason = format!("an operation of the program cannot go on: {problem}");
        self.context.fail(Error::Ended { reason })
    }

    /// Takes the memory of this type that an earlier operation left, with whatever is in it; else makes some.
    pub fn scratch<T: Default + Send + 'static>(&mut self) -> T {
        let left = self.strand.scratch.remove(&TypeId::of::<T>());
        let left = left.and_then(|left| left.downcast().ok());
        left.map_or_else(T::default, |left| *left)
    }

    /// Leaves memory for the next operation that [takes](Self::scratch) some of this type.
    pub fn keep_scratch<T: Send + 'static>(&mut self, scratch: T) {
        let scratch = Box::new(scratch);
        self.strand.scratch.insert(TypeId::of::<T>(), scratch);
    }

    /// The protocol at work, and the correlations of this call: just what the bill asks for.
    ///
    /// # Errors
    /// [`Error`] of the network.
    pub fn tool<T: Tool>(&mut self) -> Result<(&mut T, &mut Stock)> {
        let tool = self.strand.tool::<T>(self.context.phase())?;
        tool.count_in(&self.context);
        Ok((tool, &mut self.stock))
    }
}
