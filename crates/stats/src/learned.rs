//! Tells in words what every party will learn by a question, before anything is sent.

use crate::cell::{Kind, Value, decimal};
use crate::question::{Ask, Held, Question};

/// Tells what every party will learn, line by line.
pub fn learned(question: &Question, parties: usize) -> String {
    let mut lines = vec![format!(
        "Each of the {parties} parties will learn, and nothing else of the tables:"
    )];
    let each = match &question.by {
        Some(by) => format!("of each of the {} groups by {}: ", by.count(), by.column),
        None => String::new(),
    };
    for ask in &question.asks {
        lines.push(format!("- {each}{}", told(question, ask)));
    }
    lines.push(format!("- {}", facts(question)));
    let least = question.least;
    lines.push(match (least, question.held) {
        (1, _) => "Nothing is withheld, however few members a group has, down to a single one.".to_owned(),
        (_, Held::Rows) => format!(
            "Withheld is what rests on fewer than {least} values, all parties' together or all but one party's, for each takes its own away."
        ),
        (_, Held::Columns) => format!("Withheld is what rests on fewer than {least} values."),
    });
    lines.push(
        "Not protected: what follows from several answers, such as a total less the groups that are told, in this question or in others asked before or after."
            .to_owned(),
    );
    if question
        .asks
        .iter()
        .any(|ask| matches!(ask, Ask::Quantiles(..)))
    {
        lines.push("A quantile is the value of one member.".to_owned());
    }
    lines.join("\n") + "\n"
}

fn told(question: &Question, ask: &Ask) -> String {
    let name = |column: usize| &question.columns[column].name;
    match ask {
        Ask::Rows => "the number of rows".to_owned(),
        Ask::Count(x) => format!("the number of values of {}", name(*x)),
        Ask::Sum(x) => format!("the sum of {}", name(*x)),
        Ask::Mean(x) => format!(
            "the sum of {0} and the number of its values, and so the mean",
            name(*x)
        ),
        Ask::Variance(x) => format!("the variance of {} and the number of its values", name(*x)),
        Ask::Correlation(x, y) => format!(
            "the variances and the covariance of {} and {}, of rows that have both, each times the square of their number, and so the correlation",
            name(*x),
            name(*y)
        ),
        Ask::Histogram(x, edges) => {
            let edges: Vec<String> = edges.iter().map(text).collect();
            format!(
                "how many values of {} are below {}, and from the last on",
                name(*x),
                edges.join(", ")
            )
        }
        Ask::Quantiles(x, at) => {
            let at: Vec<String> = at.iter().map(|one| one.number().to_string()).collect();
            format!("the quantiles of {} at {}", name(*x), at.join(", "))
        }
    }
}

/// Facts that parties tell each other before they compute.
fn facts(question: &Question) -> String {
    let mut facts: Vec<&str> = Vec::new();
    match (
        question.held,
        question.pad,
        question.quantile_columns().is_empty(),
    ) {
        (Held::Columns, ..) => facts.push("which columns each party holds, and how many rows"),
        (Held::Rows, None, false) => facts.push("how many rows each party has"),
        (Held::Rows, Some(_), false) => {
            facts.push("that no party has more rows than all are filled up to")
        }
        (Held::Rows, _, true) => {}
    }
    facts.push("of each column at each party, whether it has any value, whether numbers or dates, and the most digits after the point");
    facts.push("which parties hold nothing");
    facts.join("; ")
}

fn text(value: &Value) -> String {
    match value.kind() {
        Kind::Number => decimal(
            value.units(value.places()).unwrap_or(0).into(),
            value.places(),
        ),
        Kind::Date => crate::cell::Day(value.units(0).unwrap_or(0)).to_string(),
    }
}
