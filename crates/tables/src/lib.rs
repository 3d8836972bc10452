//! Tables of secret rows: sorted, grouped, joined and compacted, as programs on secrets.
//!
//! [`Rows`] are columns of one length with a secret bit for each row that says whether it counts. All that is done with them is
//! recorded in a [`Program`](madrigal_program::Program), and runs in every mix of protocols that sorts: fastest in R, among three parties.
//!
//! ```
//! use madrigal_program::{Everyone, Inputs, Party, Program};
//! use madrigal_tables::Rows;
//! use madrigal_tables::rows::Aggregate;
//!
//! // Who was treated where, and what it cost: clinics hold rows, and only totals are opened.
//! let mut p = Program::new(3);
//! let ward = p.input::<u16>(Party::new(0), [4]);
//! let cost = p.input::<u64>(Party::new(0), [4]);
//! let rows = Rows::new(vec![ward.untyped(), cost.untyped()]);
//! let groups = rows.group(&mut p, &[0], &[Aggregate::Count, Aggregate::Sum(1)], Some(2));
//! let opened = groups.open(&mut p, Everyone);
//! let inputs = Inputs::new().with(([4], vec![7u16, 3, 7, 7])).with(([4], vec![10u64, 20, 30, 40]));
//! let outputs = p.finish()?.simulate(&inputs)?;
//! let table = opened.rows(&outputs).expect("opened to all");
//! assert_eq!(table, [[3, 1, 20], [7, 3, 80]]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | operation on n rows | sorts | besides |
//! |---|---|---|
//! | [`filter`](Rows::filter) | 0 | an AND for each row |
//! | [`sort`](Rows::sort) | 1 | |
//! | [`compact`](Rows::compact) | 1, by one bit | |
//! | [`group`](Rows::group) | 2, one by a bit | a comparison for each row and key; for each least or greatest 2 comparisons a row, in 2 log2 n rounds |
//! | [`join`](Rows::join) | 2 of the rows of both, one by a bit | a comparison for each row and key; 2 multiplexers a row and column taken over, in 2 log2 n rounds |

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
    Aggregate, Frame, Join, SortKey, count, count_distinct, count_rows, greatest, least, mean, sum,
    variance,
};
pub use kind::{Kind, Number, Unit};
pub use query::{Answer, Query, QueryError};
pub use rows::{Key, OpenedRows, Rows};
pub use table::Table;
