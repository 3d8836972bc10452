//! Queries on tables.

use madrigal_program::lower::Mix;
use madrigal_program::{Everyone, Inputs, Party};
use madrigal_tables::{
    Column, Data, Frame, Join, Kind, Query, SortKey, Table, Value, col, count_rows, decimal, greatest, mean, sum,
};

fn numbers(values: &[i128]) -> Vec<Value> {
    values.iter().map(|&value| Value::Number(value)).collect()
}

fn texts(values: &[&str]) -> Vec<Value> {
    values.iter().map(|&value| Value::Text(value.into())).collect()
}

#[test]
fn claims_of_patients_are_joined_and_grouped() {
    let patients = Table::new(
        "patients",
        Party::new(0),
        4,
        vec![
            Column::new("id", Kind::integer(0, 1000)),
            Column::new("ward", Kind::Text { bytes: 20, ascii: true }),
        ],
    )
    .unique(&["id"]);
    let claims = Table::new(
        "claims",
        Party::new(1),
        6,
        vec![
            Column::new("patient", Kind::integer(0, 100_000)),
            Column::new("amount", Kind::decimal(9, 2)),
        ],
    );
    let patient_data = Data::new(
        &patients,
        [numbers(&[7, 3, 9, 11]), texts(&["surgery", "cardiology", "surgery", "ear, nose and throat"])],
    )
    .unwrap();
    let claim_data = Data::new(
        &claims,
        [
            numbers(&[3, 7, 7, 9, 55, 3]),
            numbers(&[1050, 250, 100, -75, 900, 1]),
        ],
    )
    .unwrap();
    let patients = Frame::table(patients).unwrap();
    let claims = Frame::table(claims).unwrap();
    let frame = claims
        .filter(col("amount").greater(decimal(2, 2)))
        .unwrap()
        .join(&patients, &[("patient", "id")], Join::Inner)
        .unwrap()
        .group(
            ["ward"],
            vec![
                ("claims".into(), count_rows()),
                ("total".into(), sum(col("amount") * decimal(110, 2))),
                ("mean".into(), mean(col("amount"))),
                ("most".into(), greatest(col("amount"))),
            ],
        )
        .unwrap()
        .sort([SortKey::down("total")])
        .unwrap();
    let query = Query::new(&frame, 3, Everyone).unwrap();
    println!("{}", query.frame());
    let inputs = query.inputs([("patients", &patient_data), ("claims", &claim_data)]);
    let outputs = query.computation().simulate(&inputs).unwrap();
    let answer = query.result(&outputs).unwrap();
    assert_eq!(
        answer.to_string(),
        "ward,claims,total,mean,most\ncardiology,1,11.5500,10.500000,10.50\nsurgery,2,3.8500,1.750000,2.50\n"
    );
    let planned = query.computation().plan(Mix::R, None, &|_| {}).unwrap();
    for party in planned.run_locally(query.computation(), &inputs).unwrap() {
        assert_eq!(query.result(&party.outputs).unwrap(), answer);
    }
    let _ = Inputs::new();
}
