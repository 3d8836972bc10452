//! The tables and queries of TPC-H, with rows spread over three parties.
//!
//! Kinds are those of the specification (TPC Benchmark H, revision 3.0.1): what everybody knows of a column follows from its clauses 1.4
//! (lengths of texts) and 4.2.3 (ranges and lists of values), and from the scale, and from no row.
//!
//! | column | kind | why |
//! |---|---|---|
//! | `*_partkey`, `*_suppkey`, `*_custkey` | integers from 1 to 200000, 10000 and 150000 times the scale | 4.2.3: these keys have no holes |
//! | `*_orderkey` | integers from 1 to 6000000 times the scale | 4.2.3: 8 of 32 keys are used |
//! | `l_quantity` | 1.00 to 50.00 | 4.2.3 |
//! | `l_discount`, `l_tax` | 0.00 to 0.10, 0.00 to 0.08 | 4.2.3 |
//! | `p_retailprice` | 900.00 to 2099.00 | 4.2.3: (90000 + (key / 10) mod 20001 + 100 (key mod 1000)) / 100 |
//! | `l_extendedprice` | 900.00 to 104950.00 | 4.2.3: the quantity times that |
//! | `o_totalprice` | 810.00 to 793422.00 | 4.2.3: 1 to 7 of these, with discount and tax |
//! | `c_acctbal`, `s_acctbal` | -999.99 to 9999.99 | 4.2.3 |
//! | `ps_supplycost`, `ps_availqty` | 1.00 to 1000.00, 1 to 9999 | 4.2.3 |
//! | dates | 1992-01-01 to 1998-12-31 | 4.2.2.12 and 4.2.3 |
//! | flags, segments, priorities, modes, instructions, containers, types, brands, makers, nations, regions | one of the texts that 4.2.2.13 and 4.2.3 list | |
//! | other texts | as many bytes as 1.4 says, and of names no more than 4.2.3 makes | |
//!
//! Party 0 has what is sold and by whom (`lineitem`, `supplier`), party 1 orders and offers (`orders`, `partsupp`, `nation`), party 2 customers
//! and goods (`customer`, `part`, `region`): each join by a key of another table is one of rows of two parties.

mod csv;
mod rows;
mod tables;

pub use csv::write_csv;
pub use rows::data;
pub use tables::{TABLES, columns, row_count, table};

/// The queries, by their numbers less 1, with the parameters that validate them.
const QUERIES: [&str; 22] = [
    include_str!("queries/q1.sql"),
    include_str!("queries/q2.sql"),
    include_str!("queries/q3.sql"),
    include_str!("queries/q4.sql"),
    include_str!("queries/q5.sql"),
    include_str!("queries/q6.sql"),
    include_str!("queries/q7.sql"),
    include_str!("queries/q8.sql"),
    include_str!("queries/q9.sql"),
    include_str!("queries/q10.sql"),
    include_str!("queries/q11.sql"),
    include_str!("queries/q12.sql"),
    include_str!("queries/q13.sql"),
    include_str!("queries/q14.sql"),
    include_str!("queries/q15.sql"),
    include_str!("queries/q16.sql"),
    include_str!("queries/q17.sql"),
    include_str!("queries/q18.sql"),
    include_str!("queries/q19.sql"),
    include_str!("queries/q20.sql"),
    include_str!("queries/q21.sql"),
    include_str!("queries/q22.sql"),
];
/// The number of queries.
pub const COUNT: usize = QUERIES.len();
/// The part of all value that query 11 looks for, at scale 1.
const FRACTION: &str = "0.0001";

/// The text of a query, 1 to 22, at a scale: query 11 looks for a part that shrinks as tables grow.
pub fn query(number: usize, scale: f64) -> Option<String> {
    let text = QUERIES.get(number.checked_sub(1)?)?;
    Some(match number {
        11 => {
            let fraction = format!("{:.12}", 0.0001 / scale);
            text.replace(FRACTION, fraction.trim_end_matches('0'))
        }
        _ => (*text).to_owned(),
    })
}

/// The tables that a query reads, with those columns of each that it names.
pub fn read_by(query: &str) -> Vec<(&'static str, Vec<String>)> {
    let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let words: Vec<&str> = query.split(|character| !is_word(character)).collect();
    let mut read = Vec::new();
    for name in TABLES {
        let named = columns(name, 1.0).into_iter().map(|column| column.name);
        // Names of columns tell their tables.
        let named: Vec<String> = named.filter(|column| words.contains(&&**column)).collect();
        if !named.is_empty() {
            read.push((name, named));
        }
    }
    read
}
