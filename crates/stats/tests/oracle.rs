//! A table in the clear, cut up for parties, and its statistics by the definitions of textbooks.

use madrigal_program::Inputs;
use madrigal_stats::{
    Agreed, Answering, Answers, Ask, Asked, Card, Decimal, Fraction, Groups, Held, Holding,
    Question, Value, inputs,
};

/// A row: pay with two places, age, a date, and a ward.
#[derive(Debug, Clone)]
pub struct Row {
    pub pay: Option<i64>,
    pub age: Option<i64>,
    pub joined: Option<i64>,
    pub ward: Option<usize>,
}

pub const WARDS: [&str; 3] = ["A", "B, left", "C \"new\""];

/// Names of the columns of numbers, in the order of the questions here.
pub const COLUMNS: [&str; 3] = ["pay", "age", "joined"];

impl Row {
    fn units(&self, column: usize) -> Option<i64> {
        [self.pay, self.age, self.joined][column]
    }

    fn text(&self, column: usize, empty: &str) -> String {
        let text = |units: i64| match column {
            0 => madrigal_stats::decimal(units.into(), 2),
            1 => units.to_string(),
            _ => madrigal_stats::Day(units).to_string(),
        };
        self.units(column).map_or_else(|| empty.to_owned(), text)
    }

    fn ward(&self) -> String {
        let quoted = |ward: usize| format!("\"{}\"", WARDS[ward].replace('"', "\"\""));
        self.ward.map_or_else(|| "NA".to_owned(), quoted)
    }
}

/// Edges of the histogram of pay, and fractions of quantiles.
pub const EDGES: [i64; 3] = [-500, 0, 100_050];
pub const AT: [&str; 4] = ["0", "0.25", "0.5", "1"];

/// A question with every statistic.
pub fn question(held: Held, by: bool, least: u32, pad: Option<usize>) -> Question {
    let number = |units: &i64| {
        let text = madrigal_stats::decimal((*units).into(), 2);
        Value::Number(Decimal::read(&text).unwrap())
    };
    let at: Vec<Fraction> = AT.iter().map(|at| Fraction::read(at).unwrap()).collect();
    let question = Question {
        held,
        columns: COLUMNS
            .iter()
            .map(|name| Asked {
                name: (*name).to_owned(),
                places: None,
                range: None,
            })
            .collect(),
        asks: vec![
            Ask::Rows,
            Ask::Count(0),
            Ask::Sum(0),
            Ask::Mean(0),
            Ask::Mean(2),
            Ask::Variance(1),
            Ask::Correlation(0, 1),
            Ask::Histogram(0, EDGES.iter().map(number).collect()),
            Ask::Quantiles(0, at.clone()),
            Ask::Quantiles(2, at),
        ],
        by: by.then(|| Groups {
            column: "ward".to_owned(),
            names: WARDS.iter().map(|name| (*name).to_owned()).collect(),
            other: false,
        }),
        least,
        pad,
    };
    question.check().unwrap();
    question
}

/// Files of parties that hold rows.
pub fn by_rows(parts: &[Vec<Row>]) -> Vec<String> {
    let file = |(party, rows): (usize, &Vec<Row>)| {
        // Other orders of columns, line ends and texts for missing values.
        let (end, empty) = [("\n", ""), ("\r\n", "NA"), ("\n", "null")][party % 3];
        let mut text = match party % 2 {
            0 => format!("\u{feff}id,pay,ward,age,joined{end}"),
            _ => format!("ward,joined,age, pay ,id{end}"),
        };
        for (id, row) in rows.iter().enumerate() {
            let [pay, age, joined] = [0, 1, 2].map(|column| row.text(column, empty));
            let ward = row.ward();
            text += &match party % 2 {
                0 => format!("{id},{pay},{ward},{age},{joined}{end}"),
                _ => format!("{ward},{joined},{age}, {pay},\"x,\n{id}\"{end}"),
            };
        }
        text
    };
    parts.iter().enumerate().map(file).collect()
}

/// Files of parties that hold columns: party `holders[i]` has column i, the last of which is the ward.
pub fn by_columns(rows: &[Row], holders: [usize; 4], parties: usize) -> Vec<Option<String>> {
    let file = |party: usize| {
        let own: Vec<usize> = (0..4).filter(|&column| holders[column] == party).collect();
        if own.is_empty() {
            return None;
        }
        let name = |column: &usize| ["pay", "age", "joined", "ward"][*column].to_owned();
        let mut text = own.iter().map(name).collect::<Vec<_>>().join(",") + "\n";
        for row in rows {
            let cell = |column: &usize| match column {
                3 => row.ward(),
                column => row.text(*column, "NA"),
            };
            text += &(own.iter().map(cell).collect::<Vec<_>>().join(",") + "\n");
        }
        Some(text)
    };
    (0..parties).map(file).collect()
}

/// An agreement of parties, their program, and all their inputs.
pub struct Asking {
    pub agreed: Agreed,
    pub answering: Answering,
    pub inputs: Inputs,
}

/// Reads the parties' files, and does what they would do.
pub fn asking(question: &Question, files: &[Option<String>]) -> Asking {
    let parties = files.len();
    let hold = |file: &Option<String>| match file {
        Some(text) => Holding::read(question, parties, text.as_bytes(), ',').unwrap(),
        None => Holding::nothing(question),
    };
    let holdings: Vec<Holding> = files.iter().map(hold).collect();
    let cards = holdings.iter().map(|one| Card::new(question, one).bytes());
    let agreed = Agreed::new(question, &cards.collect::<Vec<_>>()).unwrap();
    let answering = Answering::new(question, &agreed).unwrap();
    let mut all = Inputs::new();
    for (party, holding) in holdings.iter().enumerate() {
        let own = inputs(question, &agreed, party, holding).unwrap();
        let ports = answering.program.inputs();
        for (place, port) in ports.iter().enumerate() {
            if port.owner.party().map(|party| party.index()) == Some(party) {
                let array = own.value(ports, place).unwrap();
                all = all.with_array(port.name.as_deref(), (*array).clone());
            }
        }
    }
    Asking {
        agreed,
        answering,
        inputs: all,
    }
}

impl Asking {
    /// The answers in the clear.
    pub fn simulated(&self, question: &Question) -> Answers {
        let outputs = self.answering.program.simulate(&self.inputs).unwrap();
        Answers::new(question, &self.agreed, &self.answering, &outputs)
    }
}

/// Whether the sum of what some parties hold each may be told.
pub fn shown(counts: &[usize], least: usize, rows: bool) -> bool {
    let total: usize = counts.iter().sum();
    let left = |own: &usize| total - own;
    let besides = |left: usize| left == 0 || left >= least;
    total >= least && (!rows || least == 1 || counts.iter().map(left).all(besides))
}

/// Compares answers with what the definitions say of the parties' rows; where columns are held, all rows are in one part.
pub fn compare(question: &Question, parts: &[Vec<Row>], answers: &Answers) {
    let mut found = answers.answers.iter();
    let rows_are_held = question.held == Held::Rows;
    let least = question.least as usize;
    let groups: Vec<Option<usize>> = match &question.by {
        Some(by) => (0..by.names.len()).map(Some).collect(),
        None => vec![None],
    };
    for ask in &question.asks {
        for group in &groups {
            let in_group = |row: &&Row| group.is_none() || row.ward == *group;
            let columns = ask.columns();
            let whole = |row: &&Row| columns.iter().all(|&one| row.units(one).is_some());
            let of = |part: &Vec<Row>| -> Vec<Row> {
                part.iter()
                    .filter(in_group)
                    .filter(whole)
                    .cloned()
                    .collect()
            };
            let members: Vec<Vec<Row>> = parts.iter().map(of).collect();
            let counts: Vec<usize> = members.iter().map(Vec::len).collect();
            let told = shown(&counts, least, rows_are_held);
            let all: Vec<Row> = members.concat();
            let n = all.len() as f64;
            let values = |column: usize| -> Vec<f64> {
                let scale = [100.0, 1.0, 1.0][column];
                all.iter()
                    .map(|row| row.units(column).unwrap() as f64 / scale)
                    .collect()
            };
            let sum = |column: usize| values(column).iter().sum::<f64>();
            let mut next = |told: bool, expected: Option<f64>, date: bool| {
                let answer = found.next().expect("an answer");
                assert_eq!(answer.statistic, ask.word());
                assert_eq!(answer.group.as_deref(), group.map(|group| WARDS[group]));
                assert_eq!(
                    answer.withheld,
                    !told && least > 1,
                    "{answer:?} of {counts:?}"
                );
                let value = answer.value.as_ref();
                let expected = expected.filter(|_| told);
                if date {
                    let expected =
                        expected.map(|days| madrigal_stats::Day(days as i64).to_string());
                    assert_eq!(
                        value.map(|one| one.as_str().unwrap().to_owned()),
                        expected,
                        "{answer:?}"
                    );
                    return;
                }
                let value = value.map(|one| one.as_f64().unwrap());
                match (value, expected) {
                    (Some(found), Some(expected)) => {
                        let near = 1e-9 * expected.abs().max(1.0);
                        assert!((found - expected).abs() <= near, "{answer:?}: {expected}");
                    }
                    (found, expected) => assert_eq!(found, expected, "{answer:?}"),
                }
            };
            let some = |value: f64| (n > 0.0).then_some(value);
            match ask {
                Ask::Rows | Ask::Count(_) => next(told || least == 1, Some(n), false),
                Ask::Sum(x) => next(told, some(sum(*x)), false),
                Ask::Mean(x) => {
                    let mean = sum(*x) / n;
                    let date = *x == 2;
                    next(told, some(if date { mean.floor() } else { mean }), date);
                }
                Ask::Variance(x) => {
                    let mean = sum(*x) / n;
                    let squares: f64 = values(*x).iter().map(|one| (one - mean).powi(2)).sum();
                    next(told, (n > 1.0).then_some(squares / (n - 1.0)), false);
                }
                Ask::Correlation(x, y) => {
                    let means = (sum(*x) / n, sum(*y) / n);
                    let pairs = values(*x).into_iter().zip(values(*y));
                    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
                    for (x, y) in pairs {
                        let (x, y) = (x - means.0, y - means.1);
                        (xx, yy, xy) = (xx + x * x, yy + y * y, xy + x * y);
                    }
                    let varies = xx > 1e-9 && yy > 1e-9;
                    next(told, varies.then(|| xy / (xx * yy).sqrt()), false);
                }
                Ask::Histogram(x, _) => {
                    let bin = |row: &Row| {
                        let units = row.units(*x).unwrap();
                        EDGES.iter().filter(|&&edge| edge <= units).count()
                    };
                    let bins = EDGES.len() + 1;
                    let of_bin = |part: &Vec<Row>, wanted: usize| {
                        part.iter().filter(|row| bin(row) == wanted).count()
                    };
                    let each = |wanted: usize| -> Vec<usize> {
                        members.iter().map(|part| of_bin(part, wanted)).collect()
                    };
                    let all: Vec<Vec<usize>> = (0..bins).map(each).collect();
                    let total = |bin: usize| all[bin].iter().sum::<usize>();
                    let mut told: Vec<bool> = all
                        .iter()
                        .map(|one| shown(one, least, rows_are_held))
                        .collect();
                    let alone = told.iter().filter(|told| !**told).count() == 1;
                    if alone && least > 1 {
                        let others = (0..bins).filter(|&bin| told[bin]);
                        let smallest = others.min_by_key(|&bin| total(bin)).unwrap();
                        told[smallest] = false;
                    }
                    for (bin, told) in told.into_iter().enumerate() {
                        next(told || least == 1, Some(total(bin) as f64), false);
                    }
                }
                Ask::Quantiles(x, at) => {
                    let mut values = values(*x);
                    values.sort_by(f64::total_cmp);
                    for at in at {
                        let rank = (at.number() * n).ceil().max(1.0) as usize;
                        let value = values.get(rank.wrapping_sub(1)).copied();
                        next(told, value, *x == 2);
                    }
                }
            }
        }
    }
    assert_eq!(found.next(), None);
}
