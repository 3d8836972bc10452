//! The values that a party brings to the program: sums that it adds up alone, factors row by row, bits of values.

use madrigal_core::Zeroizing;
use madrigal_program::{Array, Inputs, Plain, Shape};

use crate::card::Agreed;
use crate::cell::Value;
use crate::holding::{Holding, HoldingError, NO_GROUP, Values};
use crate::question::{Ask, Question};
use crate::terms::{Factor, Layout, Term, Width};

/// Names of the program's inputs.
pub(crate) mod names {
    pub(crate) fn sums(width: &str, party: usize) -> String {
        format!("{width} sums of party {party}")
    }

    pub(crate) fn factors(width: &str, party: usize) -> String {
        format!("{width} factors of party {party}")
    }

    pub(crate) fn groups(width: &str) -> String {
        format!("groups, {width}")
    }

    pub(crate) fn bits(column: usize, party: usize) -> String {
        format!("bits of column {column} of party {party}")
    }

    pub(crate) fn members(column: usize, party: usize) -> String {
        format!("members of column {column} of party {party}")
    }
}

/// Widths as inputs name them.
pub(crate) const NARROW: &str = "64-bit";
/// Widths as inputs name them.
pub(crate) const WIDE: &str = "128-bit";
/// Groups as bits.
pub(crate) const BITS: &str = "bits";

/// Bits of a value less the least of its range.
pub(crate) fn bits_of(range: (i64, i64)) -> u32 {
    let most = range.1.abs_diff(range.0);
    (u64::BITS - most.leading_zeros()).max(1)
}

/// A part in common units.
struct Part<'a> {
    question: &'a Question,
    agreed: &'a Agreed,
    holding: &'a Holding,
    columns: Vec<Values>,
    /// Edges of each histogram of the question, in units of its column.
    edges: Vec<Vec<i64>>,
}

/// The inputs of a party.
///
/// # Errors
/// [`HoldingError::Range`] for a value that is out of its column's range in the places that the parties agreed on.
pub fn inputs(
    question: &Question,
    agreed: &Agreed,
    me: usize,
    holding: &Holding,
) -> Result<Inputs, HoldingError> {
    let column = |at: usize| {
        let of = &agreed.columns[at];
        holding.values(question, at, of.places, of.range)
    };
    let columns = (0..question.columns.len()).map(column);
    let edges = question.asks.iter().map(|ask| match ask {
        Ask::Histogram(column, edges) => {
            let places = agreed.columns[*column].places;
            let units = |edge: &Value| edge.units(places).unwrap_or(i64::MAX);
            edges.iter().map(units).collect()
        }
        _ => Vec::new(),
    });
    let part = Part {
        question,
        agreed,
        holding,
        columns: columns.collect::<Result<_, _>>()?,
        edges: edges.collect(),
    };
    let layout = Layout::new(question, agreed);
    let mut inputs = Inputs::new();
    inputs = part.width::<i64>(inputs, me, &layout.narrow, NARROW);
    inputs = part.width::<i128>(inputs, me, &layout.wide, WIDE);
    for column in question.quantile_columns() {
        inputs = part.quantiles(inputs, me, column);
    }
    if part.brings_group_bits(me) {
        let (axes, bits) = part.groups(agreed.rows[me]);
        inputs = with::<bool>(inputs, &names::groups(BITS), &axes, codes(&bits));
    }
    Ok(inputs)
}

/// Whether the groups are to be brought as bits, by the party that holds them: another one has a column with quantiles.
pub(crate) fn groups_as_bits(question: &Question, agreed: &Agreed) -> bool {
    let columns = question.quantile_columns().into_iter();
    let mut holders = columns.map(|column| agreed.columns[column].holder);
    agreed.group_holder.is_some() && holders.any(|holder| holder != agreed.group_holder)
}

/// Adds an array of these elements, by their codes.
fn with<T: Plain>(
    inputs: Inputs,
    name: &str,
    axes: &[usize],
    codes: impl ExactSizeIterator<Item = u128>,
) -> Inputs {
    let shape = Shape::checked(axes);
    let array = shape.and_then(|shape| Array::from_codes(T::TYPE, &shape, codes));
    // An array that cannot be is missing, and the program says so.
    match array {
        Some(array) => inputs.with_array(Some(name), array),
        None => inputs,
    }
}

/// The codes of bits.
fn codes(bits: &[u8]) -> impl ExactSizeIterator<Item = u128> + '_ {
    bits.iter().map(|&bit| bit.into())
}

impl Part<'_> {
    /// A factor in a row; 0 in rows that the party does not have.
    fn factor(&self, factor: Factor, row: usize) -> i128 {
        let values = &self.columns[factor.column()];
        let Some((&units, &present)) = values.units.get(row).zip(values.present.get(row)) else {
            return 0;
        };
        let (edge, units, present) = (units, i128::from(units), i128::from(present));
        match factor {
            Factor::Present(_) => present,
            Factor::Value(_) => units,
            Factor::Square(_) => units * units,
            Factor::Bin { ask, bin, .. } => {
                let below = self.edges[ask].partition_point(|&from| from <= edge);
                present * i128::from(below == bin)
            }
        }
    }

    fn product(&self, term: &Term, row: usize) -> i128 {
        term.iter()
            .map(|&factor| self.factor(factor, row))
            .product()
    }

    /// Group of a row; where there are no groups, all rows are in the first one.
    fn group(&self, row: usize) -> Option<usize> {
        match &self.holding.groups {
            Some(groups) if groups[row] == NO_GROUP => None,
            Some(groups) => Some(groups[row] as usize),
            None => Some(0),
        }
    }

    /// Adds what is brought in one width.
    fn width<T: Plain>(&self, mut inputs: Inputs, me: usize, width: &Width, name: &str) -> Inputs {
        let groups = self.question.groups();
        let local = &width.local[me];
        if !local.is_empty() {
            let mut sums = Zeroizing::<Vec<u128>>::zeros(local.len() * groups);
            for row in 0..self.holding.rows {
                let Some(group) = self.group(row) else {
                    continue;
                };
                for (place, &term) in local.iter().enumerate() {
                    let sum = &mut sums[place * groups + group];
                    // In two's complement; the bounds of values and rows keep it in the type's range.
                    *sum = sum.wrapping_add(self.product(&width.terms[term], row) as u128);
                }
            }
            let axes = [local.len(), groups];
            inputs = with::<T>(inputs, &names::sums(name, me), &axes, sums.iter().copied());
        }
        let factors = &width.factors[me];
        if !factors.is_empty() {
            let rows = self.agreed.rows[me];
            let axes = [factors.len(), rows];
            let each = factors
                .iter()
                .flat_map(|factor| (0..rows).map(|row| self.product(factor, row) as u128));
            let each = Zeroizing::new(each.collect::<Vec<u128>>());
            let each = each.iter().copied();
            inputs = with::<T>(inputs, &names::factors(name, me), &axes, each);
        }
        if self.agreed.group_holder == Some(me) && !width.joint.is_empty() {
            let (axes, bits) = self.groups(self.agreed.rows[me]);
            inputs = with::<T>(inputs, &names::groups(name), &axes, codes(&bits));
        }
        inputs
    }

    /// Says of each group and row whether the row is in it; with the lengths of these axes.
    fn groups(&self, rows: usize) -> ([usize; 2], Zeroizing<Vec<u8>>) {
        let groups = self.question.groups();
        let mut bits = Zeroizing::<Vec<u8>>::zeros(groups * rows);
        for row in 0..rows.min(self.holding.rows) {
            if let Some(group) = self.group(row) {
                bits[group * rows + row] = 1;
            }
        }
        ([groups, rows], bits)
    }

    fn brings_group_bits(&self, me: usize) -> bool {
        self.agreed.group_holder == Some(me) && groups_as_bits(self.question, self.agreed)
    }

    /// Adds the bits of a column's values, the highest first, and which rows count in which group.
    fn quantiles(&self, mut inputs: Inputs, me: usize, column: usize) -> Inputs {
        let agreed = &self.agreed.columns[column];
        if agreed.holder.is_some_and(|holder| holder != me) || !self.agreed.holds[me] {
            return inputs;
        }
        let (bits, rows) = (bits_of(agreed.range), self.agreed.rows[me]);
        let values = &self.columns[column];
        let mut elements = Zeroizing::new(Vec::with_capacity(bits as usize * rows));
        for bit in (0..bits).rev() {
            for row in 0..rows {
                let value = match values.present.get(row) {
                    Some(1) => values.units[row].abs_diff(agreed.range.0),
                    _ => 0,
                };
                elements.push((value >> bit & 1) as u8);
            }
        }
        let axes = [bits as usize, rows];
        inputs = with::<bool>(inputs, &names::bits(column, me), &axes, codes(&elements));
        // Whoever holds no groups says of all rows whether they count.
        let apart = agreed.holder.is_some() && self.agreed.group_holder != agreed.holder;
        let groups = if apart { 1 } else { self.question.groups() };
        let mut elements = Zeroizing::new(Vec::with_capacity(groups * rows));
        for group in 0..groups {
            for row in 0..rows {
                let present = values.present.get(row) == Some(&1);
                let member = present && (apart || self.group(row) == Some(group));
                elements.push(u8::from(member));
            }
        }
        with::<bool>(
            inputs,
            &names::members(column, me),
            &[groups, rows],
            codes(&elements),
        )
    }
}

// Sums and spreads stay in their types' ranges, whatever the values: of 64 bits a sum of all values, of 128 the number of
// rows times a sum of squares.
const _: () = {
    use crate::{LIMIT, MOST_ROWS};
    let (rows, most) = (MOST_ROWS as i128, LIMIT as i128 - 1);
    assert!(
        rows * most <= i64::MAX as i128,
        "sums of values have 64 bits"
    );
    assert!(
        rows * rows * most * most <= i128::MAX / 2,
        "differences of two such have 128 bits"
    );
};
