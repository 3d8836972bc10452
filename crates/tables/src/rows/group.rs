//! Groups of rows with equal keys, and what is told of each.

use madrigal_program::{Program, Tensor};

use super::Rows;
use super::scan::scan;

/// A number that is told of each group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregate {
    /// Number of rows, as a `u32`.
    Count,
    /// Sum of a column, modulo 2^bits of its type.
    Sum(usize),
    /// Least element of a column.
    Least(usize),
    /// Greatest element of a column.
    Greatest(usize),
}

impl Aggregate {
    /// The column that it is made of.
    const fn column(self) -> Option<usize> {
        match self {
            Self::Count => None,
            Self::Sum(column) | Self::Least(column) | Self::Greatest(column) => Some(column),
        }
    }

    /// Whether it is the difference of two prefix sums.
    const fn is_sum(self) -> bool {
        matches!(self, Self::Count | Self::Sum(_))
    }
}

impl Rows {
    /// A row for each group of rows that count and have equal keys, in the order of these: the keys, then the aggregates. The table has
    /// `bound` rows, or as many as this one; if there are more groups, the program opens nothing, and all parties learn that.
    #[must_use]
    pub fn group(
        &self,
        p: &mut Program,
        keys: &[usize],
        aggregates: &[Aggregate],
        bound: Option<usize>,
    ) -> Self {
        let mut used: Vec<usize> = aggregates.iter().filter_map(|one| one.column()).collect();
        used.sort_unstable();
        used.dedup();
        let by: Vec<(Tensor, bool)> = keys
            .iter()
            .map(|&key| (self.columns[key].clone(), false))
            .collect();
        let sorted = self.moved(
            &by,
            used.iter()
                .map(|&column| self.columns[column].clone())
                .collect(),
        );
        let (keys, values) = sorted.columns.split_at(keys.len());
        let starts = sorted.starts(p, keys);
        // A row is the last of its group if the next one starts one.
        let end = super::filled(p, true, [self.count.min(1)]);
        let mut last = match self.count {
            0 => starts.clone(),
            _ => starts.slice(0, 1..).join(&end, 0),
        };
        if let Some(valid) = &sorted.valid {
            last = last.and(valid);
        }
        let value = |column: usize| {
            let place = used.binary_search(&column).expect("columns that are used");
            &values[place]
        };
        let made = aggregates.iter().map(|&aggregate| match aggregate {
            Aggregate::Count => p
                .constant((1..=self.count as u32).collect::<Vec<_>>())
                .untyped(),
            Aggregate::Sum(column) => value(column).prefix_sums(0),
            Aggregate::Least(column) => {
                let least = scan(
                    &starts,
                    std::slice::from_ref(value(column)),
                    &|earlier, later| vec![earlier[0].min(&later[0])],
                );
                least[0].clone()
            }
            Aggregate::Greatest(column) => {
                let greatest = scan(
                    &starts,
                    std::slice::from_ref(value(column)),
                    &|earlier, later| vec![earlier[0].max(&later[0])],
                );
                greatest[0].clone()
            }
        });
        let columns: Vec<Tensor> = keys.iter().cloned().chain(made).collect();
        let ends = Self {
            columns,
            valid: Some(last),
            count: self.count,
        };
        let ends = ends.moved(&[], ends.columns.clone());
        let mut groups = ends.cut(p, bound.unwrap_or(self.count).min(self.count));
        for (column, aggregate) in groups.columns[keys.len()..].iter_mut().zip(aggregates) {
            if aggregate.is_sum() && groups.count > 1 {
                let rest = column
                    .slice(0, 1..)
                    .minus(&column.slice(0, ..groups.count - 1));
                *column = column.slice(0, ..1).join(&rest, 0);
            }
        }
        groups
    }

    /// The first row, in the table's order, of those that count and are equal in these columns; in the order of the columns.
    #[must_use]
    pub fn distinct(&self, p: &mut Program, keys: &[usize], bound: Option<usize>) -> Self {
        let by: Vec<(usize, bool)> = keys.iter().map(|&key| (key, false)).collect();
        let mut sorted = self.whole(&by);
        let own: Vec<Tensor> = keys
            .iter()
            .map(|&key| sorted.columns[key].clone())
            .collect();
        let mut starts = sorted.starts(p, &own);
        if let Some(valid) = &sorted.valid {
            starts = starts.and(valid);
        }
        sorted.valid = Some(starts);
        let sorted = sorted.moved(&[], sorted.columns.clone());
        sorted.cut(p, bound.unwrap_or(self.count))
    }
}
