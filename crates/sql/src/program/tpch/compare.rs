//! Two results of a query, compared.

use super::duckdb::Rows;
use super::party::Told;

/// Part by which numbers may differ: the other system computes quotients in binary.
const PART: f64 = 1e-6;

/// Whether a result is that of another system: the same rows, in an order that the query's last `order by` allows. Numbers may differ by a
/// millionth, or by a unit of the last digit that ours has.
pub fn are_same(own: &Told, other: &Rows, query: &str) -> bool {
    if own.rows.len() != other.len() {
        return false;
    }
    let keys = order_of(query, &own.columns);
    let in_order = own.rows.iter().zip(other).all(|(own, other)| {
        keys.iter()
            .all(|&key| match (own.get(key), other.get(key)) {
                (Some(own), Some(other)) => is_same(own, other),
                _ => false,
            })
    });
    // Rows that are equal in the keys may come in any order.
    let mut left: Vec<&Vec<Option<String>>> = other.iter().collect();
    in_order
        && own.rows.iter().all(|row| {
            let found = left.iter().position(|other| {
                row.len() == other.len() && row.iter().zip(*other).all(|(a, b)| is_same(a, b))
            });
            found.map(|at| left.remove(at)).is_some()
        })
}

/// Places of the columns that a query orders by.
fn order_of(query: &str, columns: &[String]) -> Vec<usize> {
    let Some((_, keys)) = query.rsplit_once("order by") else {
        return Vec::new();
    };
    let keys = keys.split("limit").next().unwrap_or(keys).split(',');
    let names = keys.filter_map(|key| key.split_whitespace().next());
    names
        .filter_map(|name| columns.iter().position(|column| column == name))
        .collect()
}

fn is_same(own: &Option<String>, other: &Option<String>) -> bool {
    match (own, other) {
        (None, None) => true,
        (Some(own), Some(other)) if own == other => true,
        (Some(own), Some(other)) => {
            let (Ok(a), Ok(b)) = (own.parse::<f64>(), other.parse::<f64>()) else {
                return false;
            };
            let digits = own.split_once('.').map_or(0, |(_, digits)| digits.len());
            // One more for what is lost when texts become binary numbers.
            let unit = if digits == 0 {
                0.0
            } else {
                1.001 * 10_f64.powi(-(digits as i32))
            };
            (a - b).abs() <= unit.max(PART * b.abs())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(rows: &[&[&str]]) -> Told {
        Told {
            columns: vec!["k".into(), "n".into()],
            rows: self::rows(rows),
        }
    }

    fn rows(rows: &[&[&str]]) -> Rows {
        let cell = |text: &&str| (*text != "null").then(|| (*text).to_owned());
        rows.iter()
            .map(|row| row.iter().map(cell).collect())
            .collect()
    }

    #[test]
    fn results_are_compared_as_far_as_the_query_says() {
        let query = "select k, n from t order by k desc limit 3";
        let same = |own: &[&[&str]], other: &[&[&str]]| are_same(&told(own), &rows(other), query);
        assert!(same(
            &[&["b", "1"], &["a", "2"]],
            &[&["b", "1"], &["a", "2"]]
        ));
        assert!(!same(
            &[&["a", "2"], &["b", "1"]],
            &[&["b", "1"], &["a", "2"]]
        ));
        assert!(same(
            &[&["b", "1"], &["b", "2"]],
            &[&["b", "2"], &["b", "1"]]
        ));
        assert!(!same(
            &[&["b", "1"], &["b", "1"]],
            &[&["b", "1"], &["b", "2"]]
        ));
        assert!(!same(&[&["b", "1"]], &[&["b", "1"], &["b", "1"]]));
        assert!(same(&[&["b", "null"]], &[&["b", "null"]]));
        assert!(!same(&[&["b", "null"]], &[&["b", "0"]]));
        // A unit of the last digit, or a millionth.
        assert!(same(&[&["b", "0.916666"]], &[&["b", "0.9166666667"]]));
        assert!(!same(&[&["b", "0.91"]], &[&["b", "0.9300000"]]));
        assert!(same(&[&["b", "1000000.00"]], &[&["b", "1000000.9"]]));
        assert!(!same(&[&["b", "1000000.00"]], &[&["b", "1000001.1"]]));
        assert!(!same(&[&["b", "3"]], &[&["b", "4"]]));
        assert!(same(&[&["b", "3.0"]], &[&["b", "3"]]));
    }
}
