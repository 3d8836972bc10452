//! Scans: each row gets something of the rows before it in its group.

use madrigal_program::Tensor;

/// Values of rows, a tensor for each column; the first one says which rows start a group.
type Columns = Vec<Tensor>;

/// Combines columns of earlier rows with those of later ones in the same group.
pub(crate) type Combine<'a> = &'a dyn Fn(&[Tensor], &[Tensor]) -> Columns;

/// For each row its values combined with those of all rows before it, back to the last one that `starts` a group. Two
/// combinations for each row, in 2 log2 n steps (Brent and Kung 1982).
pub(crate) fn scan(starts: &Tensor, values: &[Tensor], combine: Combine<'_>) -> Columns {
    let mut columns = vec![starts.clone()];
    columns.extend_from_slice(values);
    let mut scanned = prefixes(columns, combine);
    scanned.split_off(1)
}

/// The values of the row that starts each row's group.
pub(crate) fn first_of_group(starts: &Tensor, values: &[Tensor]) -> Columns {
    scan(starts, values, &|earlier, _| earlier.to_vec())
}

/// The values of the row that ends each row's group; `starts` says which rows start one.
pub(crate) fn last_of_group(starts: &Tensor, values: &[Tensor]) -> Columns {
    let rows = starts.shape().elements();
    if rows == 0 {
        return values.to_vec();
    }
    // A row ends a group if the next one starts another. The last one's flag is not looked at by what goes back.
    let ends = starts.slice(0, 1..).join(&starts.slice(0, ..1), 0);
    let back: Columns = values.iter().map(|value| value.reverse(0)).collect();
    let found = first_of_group(&ends.reverse(0), &back);
    found.iter().map(|value| value.reverse(0)).collect()
}

fn join(earlier: &[Tensor], later: &[Tensor], combine: Combine<'_>) -> Columns {
    let starts = &later[0];
    let mut joined = vec![earlier[0].or(starts)];
    let combined = combine(&earlier[1..], &later[1..]);
    let columns = combined.iter().zip(&later[1..]);
    joined.extend(columns.map(|(combined, later)| starts.select(later, combined)));
    joined
}

fn prefixes(columns: Columns, combine: Combine<'_>) -> Columns {
    let rows = columns[0].shape().elements();
    let pairs = rows / 2;
    if pairs == 0 {
        return columns;
    }
    let side = |side: usize| -> Columns {
        let of = |column: &Tensor| column.slice(0, ..2 * pairs).reshape([pairs, 2]).at(1, side);
        columns.iter().map(of).collect()
    };
    let (even, odd) = (side(0), side(1));
    // Up to the second row of each pair.
    let whole = prefixes(join(&even, &odd, combine), combine);
    let all = |range: std::ops::Range<usize>, columns: &[Tensor]| -> Columns {
        columns
            .iter()
            .map(|column| column.slice(0, range.clone()))
            .collect()
    };
    // Rows after a pair: the first ones of the next pairs, and a last one without a pair.
    let after = (rows - 1) / 2;
    let alone = columns.iter().map(|column| match rows % 2 {
        1 => Some(column.slice(0, rows - 1..)),
        _ => None,
    });
    let next = even.iter().zip(alone).map(|(even, alone)| {
        let even = even.slice(0, 1..);
        match alone {
            Some(alone) => even.join(&alone, 0),
            None => even,
        }
    });
    let next: Columns = next.collect();
    let made = match after {
        0 => next,
        _ => join(&all(0..after, &whole), &next, combine),
    };
    let merged = |at: usize| {
        let firsts = columns[at].slice(0, ..1).join(&made[at], 0);
        let lower = firsts.slice(0, ..pairs).expand(1);
        let merged = lower.join(&whole[at].expand(1), 1).reshape([2 * pairs]);
        match rows % 2 {
            1 => merged.join(&firsts.slice(0, pairs..), 0),
            _ => merged,
        }
    };
    (0..columns.len()).map(merged).collect()
}
