//! Records scored by one of sixteen rules, and nobody who computes learns by which: a bank knows the rule
//! for each applicant, an agency the applicants' records, and the bank gets the scores.
//!
//! `cargo run --release --example scoring -- --local 2 --records 3 -i rule=0,5,15 -i income=52,31,78 -i debt=5,40,2 -i age=31,58,44 -i late=0,3,1`
//!
//! `... -- explain --local 2 --network wan` says what it costs, and what it would cost to compute all rules.

use std::process::ExitCode;

use madrigal::Party;
use madrigal::app::{App, Must};
use madrigal::program::lower::Mix;
use madrigal::program::{Opened, Program, Secret};

const BANK: Party = Party::new(0);
const AGENCY: Party = Party::new(1);

/// Number of rules.
const RULES: usize = 16;

/// The most that each column may have, so that no rule makes a number of more than 32 bits: the longest is the distance
/// to an ideal record, 30000^2 + 4 * 25000^2 + 1000^2.
const MOST: [(&str, u128); 4] = [
    ("income", 30_000),
    ("debt", 25_000),
    ("age", 1000),
    ("late", 1000),
];

/// Facts about applicants: thousands earned and owed, years, payments that were late.
struct Records {
    income: Secret<u32>,
    debt: Secret<u32>,
    age: Secret<u32>,
    late: Secret<u32>,
}

impl Records {
    /// The score by a rule. Rules of four kinds have four degrees of strictness each.
    fn score(&self, p: &mut Program, rule: usize) -> Secret<u32> {
        let Self {
            income,
            debt,
            age,
            late,
        } = self;
        let strict = rule as u32 / 4 + 1;
        match rule % 4 {
            // The rest of the income, less for each late payment.
            0 => income * 100 / (debt + late * strict + 1),
            // The share of the debt in the income, weighed by age.
            1 => (age * 300) / (debt * (100 * strict) / (income + 1) + 10),
            // A sum of points.
            2 => {
                let points = income * 3 + age * 2 + 500;
                let minus = debt * (2 * strict) + late * 25;
                p.if_secret(points.gt(&minus), |_| &points - &minus, |_| late.min(1))
            }
            // The distance to an ideal record.
            _ => {
                let distance = (income.max(80) - 80).square() + debt.square() * strict;
                1000 - (distance + late.square()).sqrt().min(1000)
            }
        }
    }
}

pub(crate) fn command() -> App<Opened<u32>> {
    let app = App::new(
        "scoring",
        "Scores by a secret choice among sixteen rules for each record",
        |p, numbers| {
            let count = numbers.get("records");
            let rule = p.input_named::<u8>("rule", BANK, [count]);
            let mut column = |name| p.input_named::<u32>(name, AGENCY, [count]);
            let records = Records {
                income: column("income"),
                debt: column("debt"),
                age: column("age"),
                late: column("late"),
            };
            let scores = p.match_numbered(&rule, RULES, |p, number| records.score(p, number));
            p.open_named("score", scores, BANK)
        },
    )
    .parties(2)
    .number("records", 10_000, 1 << 20, "How many records")
    .mix(Mix::B)
    .telling(|&scores, outputs, _| {
        let scores = outputs.get(scores).into_iter();
        let scores: Vec<String> = scores.map(|score| score.to_string()).collect();
        format!("scores: {}", scores.join(","))
    })
    .requiring(
        "rule",
        |_| Must::AtMost(RULES as u128 - 1),
        "rules are numbered from 0: correct it",
    );
    MOST.into_iter().fold(app, |app, (column, most)| {
        let why = "a score might not fit 32 bits: incomes and debts are in thousands";
        app.requiring(column, move |_| Must::AtMost(most), why)
    })
}

fn main() -> ExitCode {
    command().main()
}
