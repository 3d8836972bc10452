//! Networks for the carry out of a sum: the fewest ANDs in the fewest layers.
//!
//! A block of neighbouring bits makes a carry or passes on the one from below. Two blocks become one by an
//! AND each for what it makes and for what it passes on, and the passing of many bits is there a layer before
//! what they make, since a single bit's passing is free. A block and one more bit above it take the bit's
//! majority, which makes the AND of the bit itself needless. Which blocks to put together in how many layers
//! is found by trying all (dynamic programming): 151 ANDs in 6 layers for 63 bits, where a balanced tree of
//! blocks takes 181 in 7.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// The carries of a + b out of some of their lowest bits, with or without a carry that comes in below.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CarryNetwork {
    /// Each rests on steps before it.
    pub steps: Vec<CarryStep>,
    /// The step of each carry that was asked for.
    pub carries: Vec<usize>,
}

/// One AND.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CarryStep {
    /// Number of the layer, from 0; what a step rests on is of earlier layers.
    pub layer: u32,
    /// Bit that it makes.
    pub makes: CarryBit,
}

/// Bit that a step makes of bits and of earlier steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CarryBit {
    /// The carry that a bit of a and b makes by itself: `a & b`.
    Own(usize),
    /// The majority of a bit of a, one of b and the carry below: of a step, or the one that comes in.
    Majority(usize, Option<usize>),
    /// The carry of a block above another one: `own ^ (passes & below)`.
    Carry {
        /// The step of what the block makes by itself.
        own: usize,
        /// Whether the block passes a carry on.
        passes: Passing,
        /// The step of the carry below it.
        below: usize,
    },
    /// Whether two neighbouring blocks pass a carry on, which both must.
    Passing(Passing, Passing),
}

/// Whether a block passes a carry on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passing {
    /// One bit does if a and b differ there.
    Bit(usize),
    /// More bits do if that step says so.
    Step(usize),
}

/// The carries out of one or two numbers of lowest bits, ascending and from 1 on, in as few layers as the last one
/// takes. The first is part of the last where that is fewer ANDs than both by themselves. Networks that were found are kept.
///
/// ```
/// let network = madrigal_circuit::carry_network(&[63]);
/// assert_eq!(network.steps.len(), 151);
/// assert_eq!(network.steps.iter().map(|step| step.layer + 1).max(), Some(6));
/// ```
///
/// # Panics
/// If there are not one or two numbers, or not in order.
pub fn carry_network(ends: &[usize]) -> Arc<CarryNetwork> {
    type Found = (Search, HashMap<Vec<usize>, Arc<CarryNetwork>>);
    static KEPT: LazyLock<Mutex<Found>> = LazyLock::new(Mutex::default);
    // The search that a panic left is what was found before.
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let (search, networks) = &mut *kept;
    if let Some(network) = networks.get(ends) {
        return network.clone();
    }
    let network = Arc::new(search.network(ends));
    networks.insert(ends.to_vec(), network.clone());
    network
}

/// Number of bits up to which all ways are tried, which takes milliseconds; for more bits only those that have been good.
const ALL_WAYS: usize = 128;

/// Best networks, as far as they were looked for.
#[derive(Debug, Default)]
struct Search {
    found: HashMap<Task, Option<Best>>,
}

/// Bits whose carry must be there after some layers; their own bits are there before the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Task {
    bits: usize,
    layers: u32,
    below: Below,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Below {
    /// A carry that comes in after this many layers.
    Carry { after: u32 },
    /// Another block, which may want to know after some layers whether this one passes a carry on.
    Block { passes: Option<u32> },
}

const AT_ONCE: Below = Below::Carry { after: 0 };

/// Way in which a task is done with the fewest ANDs.
#[derive(Debug, Clone, Copy)]
struct Best {
    ands: usize,
    /// The bits of the upper of two blocks: 1 for a bit's majority, all where nothing is put together.
    upper: usize,
}

impl Task {
    fn chain(bits: usize, layers: u32, after: u32) -> Self {
        let below = Below::Carry { after };
        Self {
            bits,
            layers,
            below,
        }
    }

    /// Number of layers after which it must be known whether the block passes a carry on, if ever.
    fn passes(self) -> Option<u32> {
        match self.below {
            Below::Block { passes } => passes,
            Below::Carry { .. } => None,
        }
    }

    /// A carry of n bits is of degree n + 1 in them, passing one on of degree n; a layer doubles degrees.
    fn is_out_of_reach(self) -> bool {
        let reached = |layers: u32, degree: usize| degree.next_power_of_two().ilog2() <= layers;
        let passes = self.passes().is_none_or(|after| reached(after, self.bits));
        !passes || (self.bits > 0 && !reached(self.layers, self.bits + 1))
    }

    /// ANDs that put two blocks together: for the carry, and for passing one on where that is asked for.
    fn joining(self) -> usize {
        1 + usize::from(self.passes().is_some())
    }

    /// Gives the task below an upper block of `upper` bits.
    fn lower(self, upper: usize) -> Option<Self> {
        let below = match self.below {
            Below::Block {
                passes: Some(after),
            } => Below::Block {
                passes: Some(after.checked_sub(1)?),
            },
            other => other,
        };
        Some(Self {
            bits: self.bits - upper,
            layers: self.layers.checked_sub(1)?,
            below,
        })
    }

    /// Gives the task of the upper block of `bits` bits: its passing is needed a layer before what rests on it.
    fn upper(self, bits: usize) -> Option<Self> {
        let first = self
            .passes()
            .map_or(self.layers, |after| after.min(self.layers));
        let passes = Some(first.checked_sub(1)?);
        Some(Self {
            bits,
            layers: self.layers,
            below: Below::Block { passes },
        })
    }
}

impl Search {
    fn network(&mut self, ends: &[usize]) -> CarryNetwork {
        let mut steps = Steps::default();
        let carries = match *ends {
            [all] if all > 0 => vec![self.lay(self.shallowest(all), 0, None, &mut steps)],
            [low, all] if 0 < low && low <= all => self.two(low, all, &mut steps),
            _ => panic!("one or two carries, not {ends:?}"),
        };
        CarryNetwork {
            steps: steps.0,
            carries: carries.into_iter().filter_map(|laid| laid.carry).collect(),
        }
    }

    fn two(&mut self, low: usize, all: usize, steps: &mut Steps) -> Vec<Laid> {
        let layers = self.shallowest(all).layers;
        // The second network rests on a block that ends where the first does, or a bit below, or on nothing.
        let mut ways = vec![(0, Task::chain(low, layers, 0), Task::chain(all, layers, 0))];
        for shared in [low, low - 1].into_iter().filter(|&shared| shared > 0) {
            for after in 0..=layers {
                let rest = Task::chain(all - shared, layers, after);
                ways.push((shared, Task::chain(shared, after, 0), rest));
            }
        }
        let ands = |&(shared, first, second): &(usize, Task, Task)| {
            let above = usize::from(shared > 0 && shared < low);
            let fits = first.layers + above as u32 <= layers;
            let [first, second] = [first, second].map(|task| self.best(task));
            fits.then_some(first?.ands + second?.ands + above)
        };
        let counted: Vec<_> = ways.iter().map(ands).collect();
        let best = (ways.into_iter().zip(counted))
            .filter_map(|(way, ands)| Some((ands?, way)))
            .min_by_key(|(ands, _)| *ands);
        let (_, (shared, first, second)) = best.expect("each by itself is a way");
        let block = self.lay(first, 0, None, steps);
        let first = match low - shared {
            1 if shared > 0 => Laid {
                carry: Some(steps.push(CarryBit::Majority(shared, block.carry))),
                passes: None,
            },
            _ => block,
        };
        let carry = block.carry.filter(|_| shared > 0);
        vec![first, self.lay(second, shared, carry, steps)]
    }

    /// All bits with a carry that is there at once, in the fewest layers.
    fn shallowest(&self, bits: usize) -> Task {
        let layers = (bits + 1).next_power_of_two().ilog2();
        Task {
            bits,
            layers,
            below: AT_ONCE,
        }
    }

    /// `None` if the layers are too few.
    fn best(&mut self, task: Task) -> Option<Best> {
        if task.is_out_of_reach() {
            return None;
        }
        let upper = task.bits;
        match (task.below, task.bits) {
            (Below::Carry { after }, 0) => {
                return (after <= task.layers).then_some(Best { ands: 0, upper });
            }
            (Below::Block { .. }, 1) => return Some(Best { ands: 1, upper }),
            _ => {}
        }
        if let Some(&found) = self.found.get(&task) {
            return found;
        }
        // Something lies below a block: another one, the carry of a step, or the bit that takes in the carry that
        // was there at once.
        let most = match task.below {
            Below::Carry { after: 1.. } => task.bits,
            _ => (task.bits - 1).max(1),
        };
        let mut best: Option<Best> = None;
        let is_good = |upper: usize| upper <= 4 || upper.is_power_of_two();
        for upper in 1..=most {
            let rest = task.bits - upper;
            if task.bits > ALL_WAYS && !is_good(upper) && !is_good(rest) && !is_good(rest + 1) {
                continue;
            }
            if let Some(ands) = self.ands(task, upper)
                && best.is_none_or(|best| ands < best.ands)
            {
                best = Some(Best { ands, upper });
            }
        }
        self.found.insert(task, best);
        best
    }

    /// Counts the ANDs of a task whose upper block has `upper` bits.
    fn ands(&mut self, task: Task, upper: usize) -> Option<usize> {
        let lower = self.best(task.lower(upper)?)?.ands;
        let upper = match upper {
            1 => 0,
            _ => self.best(task.upper(upper)?)?.ands,
        };
        Some(lower + upper + task.joining())
    }

    /// The steps of a task whose lowest bit is `from`, above the step `carry`.
    fn lay(&mut self, task: Task, from: usize, carry: Option<usize>, steps: &mut Steps) -> Laid {
        const REACH: &str = "what is done with the fewest ANDs can be done";
        if task.bits == 0 {
            return Laid {
                carry,
                passes: None,
            };
        }
        if let (1, Below::Block { .. }) = (task.bits, task.below) {
            let passes = Some(Passing::Bit(from));
            let carry = Some(steps.push(CarryBit::Own(from)));
            return Laid { carry, passes };
        }
        let upper = self.best(task).expect(REACH).upper;
        let cut = from + task.bits - upper;
        let lower = task.lower(upper).expect(REACH);
        let below = self.lay(lower, from, carry, steps);
        let (made, passes) = if upper == 1 {
            (CarryBit::Majority(cut, below.carry), Passing::Bit(cut))
        } else {
            let upper = self.lay(task.upper(upper).expect(REACH), cut, None, steps);
            let own = upper.carry.expect("a block makes a carry");
            let passes = upper.passes.expect("it was asked for");
            let below = below.carry.expect("something lies below a block");
            (CarryBit::Carry { own, passes, below }, passes)
        };
        let carry = Some(steps.push(made));
        let passes = match (task.passes(), below.passes) {
            (Some(_), Some(below)) => {
                Some(Passing::Step(steps.push(CarryBit::Passing(passes, below))))
            }
            _ => None,
        };
        Laid { carry, passes }
    }
}

/// Results of the steps of a task.
#[derive(Debug, Clone, Copy)]
struct Laid {
    /// `None` for no bits above no step.
    carry: Option<usize>,
    /// Passing of a block, if it was asked for, and of a single bit.
    passes: Option<Passing>,
}

#[derive(Debug, Default)]
struct Steps(Vec<CarryStep>);

impl Steps {
    fn push(&mut self, makes: CarryBit) -> usize {
        let after = |step: usize| self.0[step].layer + 1;
        let passing = |passes: Passing| match passes {
            Passing::Bit(_) => 0,
            Passing::Step(step) => after(step),
        };
        let layer = match makes {
            CarryBit::Own(_) => 0,
            CarryBit::Majority(_, below) => below.map_or(0, after),
            CarryBit::Carry { own, passes, below } => {
                // The bit that is XORed on after the AND may be of its layer.
                after(below).max(passing(passes)).max(self.0[own].layer)
            }
            CarryBit::Passing(upper, lower) => passing(upper).max(passing(lower)),
        };
        self.0.push(CarryStep { layer, makes });
        self.0.len() - 1
    }
}
