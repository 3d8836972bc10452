//! Known answers: patients of a hospital and what they cost an insurer, in the shared data, which Python's integers and SQLite
//! have computed.

use std::collections::BTreeMap;
use std::path::Path;

use madrigal_stats::{Ask, Asked, Fraction, Groups, Held, Question};
use madrigal_testkit::shared_data;
use serde_json::Value;

use crate::oracle::asking;
use crate::programs::run;

/// The rows of a file by their first cell.
fn rows(path: &Path) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(path).unwrap();
    let rows = text
        .lines()
        .skip(1)
        .map(|line| line.split_once(',').unwrap());
    rows.map(|(id, rest)| (id.to_owned(), rest.to_owned()))
        .collect()
}

fn question(asks: Vec<Ask>, groups: &[&String]) -> Question {
    let asked = |name: &str| Asked {
        name: name.to_owned(),
        places: None,
        range: None,
    };
    Question {
        held: Held::Columns,
        columns: vec![asked("age"), asked("cost_cents")],
        asks,
        by: (!groups.is_empty()).then(|| Groups {
            column: "diagnosis".to_owned(),
            names: groups.iter().map(|&name| name.clone()).collect(),
            other: false,
        }),
        least: 5,
        pad: None,
    }
}

#[test]
fn hospital_and_insurer_learn_what_is_known() {
    let Some(shared) = shared_data() else {
        return;
    };
    let tables = shared.join("data/tables");
    let (patients, costs) = (
        rows(&tables.join("hospital_a.csv")),
        rows(&tables.join("insurer_b.csv")),
    );
    let both = patients
        .iter()
        .filter_map(|(id, patient)| Some((patient, costs.get(id)?)));
    let (mut hospital, mut insurer) = ("age,diagnosis\n".to_owned(), "cost_cents\n".to_owned());
    for (patient, cost) in both {
        hospital += &format!("{patient}\n");
        insurer += &format!("{cost}\n");
    }
    let files = [Some(hospital), Some(insurer)];
    let text = std::fs::read_to_string(tables.join("join_expected.json")).unwrap();
    let known: Value = serde_json::from_str(&text).unwrap();
    let number = |name: &str| known[name].as_f64().unwrap();
    let at = ["0", "0.5", "1"].map(|at| Fraction::read(at).unwrap());
    let whole = question(
        vec![
            Ask::Rows,
            Ask::Sum(1),
            Ask::Mean(1),
            Ask::Sum(0),
            Ask::Variance(1),
            Ask::Correlation(0, 1),
            Ask::Quantiles(1, at.to_vec()),
        ],
        &[],
    );
    let n = number("intersection_size");
    let expected = [
        n,
        number("sum_cost"),
        number("mean_cost"),
        number("sum_age"),
        number("population_variance_cost") * n / (n - 1.0),
        number("pearson_age_cost"),
        number("min_cost"),
        number("median_cost"),
        number("max_cost"),
    ];
    let asking_whole = asking(&whole, &files);
    for answers in [
        asking_whole.simulated(&whole),
        run(&asking_whole, &whole, "A+B".parse().unwrap()),
    ] {
        let found = answers
            .answers
            .iter()
            .map(|one| one.value.as_ref().unwrap().as_f64().unwrap());
        let found: Vec<f64> = found.collect();
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.into_iter().zip(expected) {
            assert!(
                (found - expected).abs() <= 1e-9 * expected.abs(),
                "{found} {expected}"
            );
        }
    }
    // The hospital has the groups, the insurer what is added up.
    let groups = known["by_diagnosis_code"].as_object().unwrap();
    let names: Vec<&String> = groups.keys().collect();
    let by = question(vec![Ask::Count(1), Ask::Sum(1)], &names);
    let answers = run(&asking(&by, &files), &by, "A+B".parse().unwrap());
    let found: Vec<Option<f64>> = answers
        .answers
        .iter()
        .map(|one| one.value.as_ref()?.as_f64())
        .collect();
    let known = |field: &str| -> Vec<Option<f64>> {
        names
            .iter()
            .map(|&name| groups[name][field].as_f64())
            .collect()
    };
    assert_eq!(found, [known("count"), known("sum_cost")].concat());
}
