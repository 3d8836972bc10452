//! The rows of the tables, made as they are read.

use std::fmt::{Display, Write as _};

use madrigal_tables::{Data, DataBuilder, Fault, Table, ValueRef};
use tpchgen::dates::TPCHDate;
use tpchgen::decimal::TPCHDecimal;
use tpchgen::distribution::Distributions;
use tpchgen::generators::{
    Customer, CustomerGenerator, LineItem, LineItemGenerator, Nation, NationGenerator, Order,
    OrderGenerator, Part, PartGenerator, PartSupp, PartSuppGenerator, Region, RegionGenerator,
    Supplier, SupplierGenerator,
};
use tpchgen::text::TextPool;

use super::tables::columns;

/// A value of a row.
enum Field<'a> {
    Number(i128),
    Text(&'a str),
    /// A text that is written when it is asked for.
    Written(&'a dyn Display),
}

fn integer(number: impl Into<i128>) -> Field<'static> {
    Field::Number(number.into())
}

fn money(number: TPCHDecimal) -> Field<'static> {
    Field::Number(number.into_inner().into())
}

fn day(date: TPCHDate) -> Field<'static> {
    Field::Number(date.to_unix_epoch().into())
}

/// The values of a table at a scale, in those columns that it has.
///
/// # Errors
/// A table that is none of these, or one of another scale.
pub fn data(table: &Table, scale: f64) -> Result<Data, Fault> {
    let all = columns(table.name(), scale);
    let place = |name: &str| all.iter().position(|column| column.name == name);
    let places: Option<Vec<usize>> = table
        .columns()
        .iter()
        .map(|column| place(&column.name))
        .collect();
    let places = places.ok_or_else(|| {
        Fault::Other(format!(
            "table {:?} is none of TPC-H, or has other columns",
            table.name()
        ))
    })?;
    let mut builder = DataBuilder::new(table)?;
    let mut text = String::new();
    macro_rules! fill {
        ($generator:expr, $field:ident) => {
            for row in $generator.iter() {
                for (at, place) in places.iter().enumerate() {
                    let value = match $field(&row, *place) {
                        Field::Number(number) => ValueRef::Number(number),
                        Field::Text(text) => ValueRef::Text(text),
                        Field::Written(value) => {
                            text.clear();
                            let _ = write!(text, "{value}");
                            ValueRef::Text(&text)
                        }
                    };
                    builder.push(at, value)?;
                }
            }
        };
    }
    let has_texts = table
        .columns()
        .iter()
        .any(|column| column.name.ends_with("_comment"));
    let pool = pool(has_texts);
    let lists = Distributions::static_default();
    macro_rules! made {
        ($generator:ident) => {
            $generator::new_with_distributions_and_text_pool(scale, 1, 1, lists, &pool)
        };
    }
    match table.name() {
        "lineitem" => fill!(made!(LineItemGenerator), line),
        "orders" => fill!(made!(OrderGenerator), order),
        "customer" => fill!(made!(CustomerGenerator), customer),
        "part" => fill!(made!(PartGenerator), part),
        "partsupp" => fill!(
            PartSuppGenerator::new_with_text_pool(scale, 1, 1, &pool),
            offer
        ),
        "supplier" => fill!(made!(SupplierGenerator), supplier),
        "nation" => fill!(
            NationGenerator::new_with_distributions_and_text_pool(lists, &pool),
            nation
        ),
        _ => fill!(
            RegionGenerator::new_with_distributions_and_text_pool(lists, &pool),
            region
        ),
    }
    builder.finish()
}

/// The text that comments are cut out of, as long as the specification has it (4.2.2.10), or where nobody reads them, short: the generator's
/// own one stays in memory for good.
fn pool(has_texts: bool) -> TextPool {
    let bytes = if has_texts { 300 << 20 } else { 1 << 16 };
    TextPool::new(bytes, Distributions::static_default())
}

// Values by the places of their columns, the last one for all that follow.

fn line<'r>(row: &'r LineItem<'_>, place: usize) -> Field<'r> {
    match place {
        0 => integer(row.l_orderkey),
        1 => integer(row.l_partkey),
        2 => integer(row.l_suppkey),
        3 => integer(row.l_linenumber),
        4 => integer(100 * row.l_quantity),
        5 => money(row.l_extendedprice),
        6 => money(row.l_discount),
        7 => money(row.l_tax),
        8 => Field::Text(row.l_returnflag),
        9 => Field::Text(row.l_linestatus),
        10 => day(row.l_shipdate),
        11 => day(row.l_commitdate),
        12 => day(row.l_receiptdate),
        13 => Field::Text(row.l_shipinstruct),
        14 => Field::Text(row.l_shipmode),
        _ => Field::Text(row.l_comment),
    }
}

fn order<'r>(row: &'r Order<'_>, place: usize) -> Field<'r> {
    match place {
        0 => integer(row.o_orderkey),
        1 => integer(row.o_custkey),
        2 => Field::Text(row.o_orderstatus.as_str()),
        3 => money(row.o_totalprice),
        4 => day(row.o_orderdate),
        5 => Field::Text(row.o_orderpriority),
        6 => Field::Written(&row.o_clerk),
        7 => integer(row.o_shippriority),
        _ => Field::Text(row.o_comment),
    }
}

fn customer<'r>(row: &'r Customer<'_>, place: usize) -> Field<'r> {
    match place {
        0 => integer(row.c_custkey),
        1 => Field::Written(&row.c_name),
        2 => Field::Written(&row.c_address),
        3 => integer(row.c_nationkey),
        4 => Field::Written(&row.c_phone),
        5 => money(row.c_acctbal),
        6 => Field::Text(row.c_mktsegment),
        _ => Field::Text(row.c_comment),
    }
}

fn part<'r>(row: &'r Part<'_>, place: usize) -> Field<'r> {
    match place {
        0 => integer(row.p_partkey),
        1 => Field::Written(&row.p_name),
        2 => Field::Written(&row.p_mfgr),
        3 => Field::Written(&row.p_brand),
        4 => Field::Text(row.p_type),
        5 => integer(row.p_size),
        6 => Field::Text(row.p_container),
        7 => money(row.p_retailprice),
        _ => Field::Text(row.p_comment),
    }
}

fn offer<'r>(row: &'r PartSupp<'_>, place: usize) -> Field<'r> {
    match place {
        0 => integer(row.ps_partkey),
        1 => integer(row.ps_suppkey),
        2 => integer(row.ps_availqty),
        3 => money(row.ps_supplycost),
        _ => Field::Text(row.ps_comment),
    }
}

fn supplier(row: &Supplier, place: usize) -> Field<'_> {
    match place {
        0 => integer(row.s_suppkey),
        1 => Field::Written(&row.s_name),
        2 => Field::Written(&row.s_address),
        3 => integer(row.s_nationkey),
        4 => Field::Written(&row.s_phone),
        5 => money(row.s_acctbal),
        _ => Field::Text(&row.s_comment),
    }
}

fn nation<'r>(row: &'r Nation<'_>, place: usize) -> Field<'r> {
    match place {
        0 => integer(row.n_nationkey),
        1 => Field::Text(row.n_name),
        2 => integer(row.n_regionkey),
        _ => Field::Text(row.n_comment),
    }
}

fn region<'r>(row: &'r Region<'_>, place: usize) -> Field<'r> {
    match place {
        0 => integer(row.r_regionkey),
        1 => Field::Text(row.r_name),
        _ => Field::Text(row.r_comment),
    }
}
