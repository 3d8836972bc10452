//! The question that the flags ask, and the facts by which parties compare theirs.

use madrigal_app::failure::Fault;
use madrigal_net::Fact;
use madrigal_stats::{Ask, Asked, Groups, Held, Question, QuestionError};

use crate::args::{Names, Stats, told};
use crate::exit::{Result, Status};

/// A flag that is about a column of which nothing is asked, or that is missing.
#[derive(Debug, thiserror::Error)]
enum Unasked {
    #[error("{flag} {column}=...: no statistic is asked of that column; correct the name")]
    Column { flag: &'static str, column: String },
    #[error(
        "--histogram {0} needs --bins EDGES: public numbers or dates, which do not follow from the data"
    )]
    Bins(String),
    #[error(
        "--corr takes two columns, and {0} are given; write --corr pay,age, and once more for each further pair"
    )]
    Pair(usize),
    #[error("--bins is given twice for {0}; give it once")]
    Twice(String),
}

impl Fault for Unasked {
    fn status(&self) -> Status {
        Status::Usage
    }
}

/// A flag that asks for something that cannot be answered.
#[derive(Debug, thiserror::Error)]
#[error("{problem}{hint}", hint = asked_by(problem))]
struct Unanswerable {
    problem: QuestionError,
}

/// The flags that ask for what cannot be answered.
fn asked_by(problem: &QuestionError) -> &'static str {
    match problem {
        QuestionError::Nothing => {
            ": give --rows, --count, --sum, --mean, --var, --corr, --histogram or --quantiles"
        }
        QuestionError::Groups { .. } => " (--groups)",
        QuestionError::Group(_) => " (--by)",
        QuestionError::Edges(_) => " (--bins)",
        QuestionError::Range(_) => " (--range)",
        QuestionError::Itself(_) => " (--corr)",
        QuestionError::Pad { .. } => " (--pad)",
        QuestionError::Least => " (--least)",
        _ => "",
    }
}

impl Fault for Unanswerable {
    fn status(&self) -> Status {
        Status::Usage
    }
}

/// The question of the flags.
pub fn of(args: &Stats) -> Result<Question> {
    let mut columns: Vec<String> = Vec::new();
    let mut column = |name: &String| match columns.iter().position(|known| known == name) {
        Some(place) => place,
        None => {
            columns.push(name.clone());
            columns.len() - 1
        }
    };
    let names = |lists: &[Names]| -> Vec<String> {
        lists
            .iter()
            .flat_map(|Names(names)| names.clone())
            .collect()
    };
    let mut asks = Vec::new();
    asks.extend(args.rows.then_some(Ask::Rows));
    let mut each = |lists: &[Names], ask: fn(usize) -> Ask| {
        asks.extend(names(lists).iter().map(|name| ask(column(name))));
    };
    each(&args.count, Ask::Count);
    each(&args.sum, Ask::Sum);
    each(&args.mean, Ask::Mean);
    each(&args.var, Ask::Variance);
    for Names(pair) in &args.corr {
        let [first, second] = &pair[..] else {
            return Err(Unasked::Pair(pair.len()).into());
        };
        asks.push(Ask::Correlation(column(first), column(second)));
    }
    for name in names(&args.histogram) {
        let own = args
            .bins
            .iter()
            .filter(|bins| bins.column.as_ref() == Some(&name));
        let all = args.bins.iter().filter(|bins| bins.column.is_none());
        let own: Vec<_> = own.collect();
        let all: Vec<_> = all.collect();
        let bins = match (&own[..], &all[..]) {
            ([own], _) | ([], [own]) => own,
            ([], []) => return Err(Unasked::Bins(name).into()),
            _ => return Err(Unasked::Twice(name).into()),
        };
        asks.push(Ask::Histogram(column(&name), bins.edges.clone()));
    }
    for name in names(&args.quantiles) {
        asks.push(Ask::Quantiles(column(&name), args.at.0.clone()));
    }
    let mut columns: Vec<Asked> = columns
        .into_iter()
        .map(|name| Asked {
            name,
            places: None,
            range: None,
        })
        .collect();
    let of = |flag, name: &String| {
        let found = columns.iter().position(|one| one.name == *name);
        let column = || name.clone();
        found.ok_or_else(|| Unasked::Column {
            flag,
            column: column(),
        })
    };
    for bins in &args.bins {
        if let Some(column) = &bins.column {
            of("--bins", column)?;
        }
    }
    let places: Vec<_> = args
        .decimals
        .iter()
        .map(|one| Ok((of("--decimals", &one.column)?, one.places)))
        .collect::<Result<_, Unasked>>()?;
    let ranges: Vec<_> = args
        .range
        .iter()
        .map(|one| Ok((of("--range", &one.column)?, (one.least, one.greatest))))
        .collect::<Result<_, Unasked>>()?;
    for (column, places) in places {
        columns[column].places = Some(places);
    }
    for (column, range) in ranges {
        columns[column].range = Some(range);
    }
    let by = args.by.clone().zip(args.groups.clone());
    let question = Question {
        held: args.held.into(),
        columns,
        asks,
        by: by.map(|(column, Names(names))| Groups {
            column,
            names,
            other: args.other,
        }),
        least: args.least,
        pad: args.pad,
    };
    let checked = question.check();
    checked.map_err(|problem| Unanswerable { problem })?;
    Ok(question)
}

/// All of the question, by the flags that ask it: parties that differ learn in which.
pub fn facts(question: &Question) -> Vec<Fact> {
    let name = |column: &usize| format!("{:?}", question.columns[*column].name);
    let asked = |pick: &dyn Fn(&Ask) -> Option<String>| -> String {
        let all: Vec<String> = question.asks.iter().filter_map(pick).collect();
        match all.is_empty() {
            true => "nothing".to_owned(),
            false => all.join("; "),
        }
    };
    let held = match question.held {
        Held::Rows => "rows",
        Held::Columns => "columns",
    };
    let edges = |edges: &[madrigal_stats::Value]| -> String {
        edges.iter().map(told).collect::<Vec<_>>().join(",")
    };
    let by = question.by.as_ref();
    let listed = |pick: &dyn Fn(&Asked) -> Option<String>| -> String {
        let all: Vec<String> = question.columns.iter().filter_map(pick).collect();
        match all.is_empty() {
            true => "nothing".to_owned(),
            false => all.join("; "),
        }
    };
    let facts: Vec<(&str, String)> = vec![
        ("--held", held.to_owned()),
        (
            "--rows",
            asked(&|ask| matches!(ask, Ask::Rows).then(|| "asked".to_owned())),
        ),
        (
            "--count",
            asked(&|ask| match ask {
                Ask::Count(x) => Some(name(x)),
                _ => None,
            }),
        ),
        (
            "--sum",
            asked(&|ask| match ask {
                Ask::Sum(x) => Some(name(x)),
                _ => None,
            }),
        ),
        (
            "--mean",
            asked(&|ask| match ask {
                Ask::Mean(x) => Some(name(x)),
                _ => None,
            }),
        ),
        (
            "--var",
            asked(&|ask| match ask {
                Ask::Variance(x) => Some(name(x)),
                _ => None,
            }),
        ),
        (
            "--corr",
            asked(&|ask| match ask {
                Ask::Correlation(x, y) => Some(format!("{},{}", name(x), name(y))),
                _ => None,
            }),
        ),
        (
            "--histogram",
            asked(&|ask| match ask {
                Ask::Histogram(x, _) => Some(name(x)),
                _ => None,
            }),
        ),
        (
            "--bins",
            asked(&|ask| match ask {
                Ask::Histogram(x, at) => Some(format!("{}={}", name(x), edges(at))),
                _ => None,
            }),
        ),
        (
            "--quantiles",
            asked(&|ask| match ask {
                Ask::Quantiles(x, _) => Some(name(x)),
                _ => None,
            }),
        ),
        (
            "--at",
            asked(&|ask| match ask {
                Ask::Quantiles(_, at) => Some(
                    at.iter()
                        .map(|one| one.number().to_string())
                        .collect::<Vec<_>>()
                        .join(","),
                ),
                _ => None,
            }),
        ),
        (
            "--by",
            by.map_or_else(|| "nothing".to_owned(), |by| format!("{:?}", by.column)),
        ),
        (
            "--groups",
            by.map_or_else(|| "nothing".to_owned(), |by| format!("{:?}", by.names)),
        ),
        ("--other", by.is_some_and(|by| by.other).to_string()),
        ("--least", question.least.to_string()),
        (
            "--pad",
            question
                .pad
                .map_or_else(|| "nothing".to_owned(), |pad| pad.to_string()),
        ),
        (
            "--decimals",
            listed(&|one| Some(format!("{:?}={}", one.name, one.places?))),
        ),
        (
            "--range",
            listed(&|one| {
                let (least, most) = one.range?;
                Some(format!("{:?}={}:{}", one.name, told(&least), told(&most)))
            }),
        ),
    ];
    let facts = facts.into_iter();
    facts
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}
