//! Suppression: what is opened does not depend on what is withheld.

use madrigal_stats::Held;
use proptest::prelude::*;

use crate::oracle::{Row, asking, by_columns, by_rows, question};
use crate::programs::rows;

/// The codes of all outputs.
fn opened(question: &madrigal_stats::Question, files: &[Option<String>]) -> Vec<Vec<u128>> {
    let asking = asking(question, files);
    let outputs = asking.answering.program.simulate(&asking.inputs).unwrap();
    let codes = |array: Option<&madrigal_program::Array>| array.unwrap().codes().collect();
    outputs.arrays().map(codes).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Ward 1 has fewer members than are told of, whoever holds them, with any values; all others have the same.
    #[test]
    fn values_of_small_groups_change_nothing(
        many in proptest::collection::vec(rows(9), 2),
        few in [proptest::collection::vec((any::<i16>(), 0_i64..99), 0..5), proptest::collection::vec((any::<i16>(), 0_i64..99), 0..5)],
        first in any::<bool>(),
    ) {
        let parts = |few: &Vec<(i16, i64)>| -> Vec<Vec<Row>> {
            let mut parts = many.clone();
            for row in parts.iter_mut().flatten() {
                row.ward = row.ward.map(|ward| if ward == 1 { 0 } else { ward });
            }
            let own = few.iter().map(|&(pay, age)| Row {
                pay: Some(pay.into()),
                age: Some(age),
                joined: Some(age),
                ward: Some(1),
            });
            parts[usize::from(first)].extend(own);
            parts
        };
        // As many rows, so that programs are the same.
        let [one, other] = few;
        let least = one.len().min(other.len());
        let (one, other) = (one[..least].to_vec(), other[..least].to_vec());
        let by_row = question(Held::Rows, true, 5, Some(30));
        let files = |few| -> Vec<_> { by_rows(&parts(few)).into_iter().map(Some).collect() };
        prop_assert_eq!(opened(&by_row, &files(&one)), opened(&by_row, &files(&other)));
        let by_column = question(Held::Columns, true, 5, None);
        let files = |few| by_columns(&parts(few).concat(), [0, 1, 1, 0], 2);
        prop_assert_eq!(opened(&by_column, &files(&one)), opened(&by_column, &files(&other)));
    }
}

#[test]
fn what_is_left_without_ones_own_rows_counts() {
    let row = |pay| Row {
        pay: Some(pay),
        age: Some(pay),
        joined: Some(0),
        ward: Some(0),
    };
    let many: Vec<Row> = (0..50).map(row).collect();
    let question = question(Held::Rows, false, 5, None);
    for (other, told) in [(0, true), (1, false), (4, false), (5, true)] {
        let parts = [many.clone(), many[..other].to_vec()];
        let files: Vec<_> = by_rows(&parts).into_iter().map(Some).collect();
        let answers = asking(&question, &files).simulated(&question);
        let mean = answers
            .answers
            .iter()
            .find(|one| one.statistic == "mean")
            .unwrap();
        assert_eq!(mean.withheld, !told, "{other}");
    }
}
