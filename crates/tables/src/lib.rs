//! Tables that several parties hold, and queries on them, as programs on secrets.
//!
//! A [`Table`] is what everybody knows: columns with their [kinds](Kind), rows, unique keys, and what may be told. Its owner alone has the values,
//! [`Data`]. A [`Frame`] is a query, written down step by step; a [`Query`] is the program that it becomes, which parties run like any other: fastest in
//! R, among three. `docs/TABLES.md` leads through it in SQL and in Python.
//!
//! ```
//! use madrigal_program::{Everyone, Party};
//! use madrigal_tables::{Column, Data, Frame, Join, Kind, Query, SortKey, Table, Value, col, count_rows, decimal, sum};
//!
//! // A hospital has patients, an insurer has claims: what do they come to, ward by ward?
//! let patients = Table::new("patients", Party::new(0), 3, vec![
//!     Column::new("id", Kind::integer(0, 9999)),
//!     Column::new("ward", Kind::choice(["cardiology", "surgery"])),
//! ])
//! .unique(&["id"]);
//! let claims = Table::new("claims", Party::new(1), 4, vec![
//!     Column::new("patient", Kind::integer(0, 9999)),
//!     Column::new("amount", Kind::decimal(9, 2)),
//! ]);
//! let totals = Frame::table(claims.clone())?
//!     .filter(col("amount").greater(decimal(0, 2)))?
//!     .join(&Frame::table(patients.clone())?, &[("patient", "id")], Join::Inner)?
//!     .group(["ward"], vec![("claims".into(), count_rows()), ("total".into(), sum(col("amount")))])?
//!     .sort([SortKey::down("total")])?;
//! let query = Query::new(&totals, 3, Everyone)?;
//!
//! // Each owner brings its values; here all of them, to compute in the clear what the query means.
//! let numbers = |values: &[i128]| values.iter().map(|&value| Value::Number(value)).collect::<Vec<_>>();
//! let texts = |values: &[&str]| values.iter().map(|&text| Value::Text(text.into())).collect::<Vec<_>>();
//! let patients = Data::new(&patients, [numbers(&[7, 3, 9]), texts(&["surgery", "cardiology", "surgery"])])?;
//! let claims = Data::new(&claims, [numbers(&[3, 7, 9, 55]), numbers(&[1050, 250, -75, 900])])?;
//! let inputs = query.inputs([("patients", &patients), ("claims", &claims)]);
//! let answer = query.result(&query.computation().simulate(&inputs)?).expect("opened to all");
//! assert_eq!(answer.to_string(), "ward,claims,total\ncardiology,1,10.50\nsurgery,1,2.50\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`rows`] has what all this rests on, for programs that need no names and kinds.

mod column;
mod data;
mod error;
mod expression;
mod frame;
mod kind;
mod lower;
mod query;
pub mod rows;
mod table;

pub use column::{Column, Right, Value};
pub use data::{Data, DataBuilder, ValueRef};
pub use error::Fault;
pub use expression::{DatePart, Expression, Literal, Operator, col, date, days_of, decimal, lit};
pub use frame::{
    Aggregate, Extent, Frame, Join, MOST_PAIRS, Quantile, SortKey, Window, count, count_distinct,
    count_rows, deviation, greatest, least, mean, median, quantile, sum, variance,
};
pub use kind::{Kind, Number, Unit};
pub use query::{Answer, Query, QueryError};
pub use rows::{Key, OpenedRows, Rows};
pub use table::Table;
