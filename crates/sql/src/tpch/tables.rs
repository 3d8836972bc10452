//! What everybody knows of the tables.

use madrigal_core::Party;
use madrigal_tables::{Column, Kind, Number, Table, Unit};
use tpchgen::distribution::Distributions;
use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, OrderGenerator, PartGenerator, SupplierGenerator,
};
use tpchgen::text::TextPool;

/// Names of the tables.
pub const TABLES: [&str; 8] = [
    "lineitem", "orders", "customer", "part", "partsupp", "supplier", "nation", "region",
];

const NATIONS: [&str; 25] = [
    "ALGERIA",
    "ARGENTINA",
    "BRAZIL",
    "CANADA",
    "CHINA",
    "EGYPT",
    "ETHIOPIA",
    "FRANCE",
    "GERMANY",
    "INDIA",
    "INDONESIA",
    "IRAN",
    "IRAQ",
    "JAPAN",
    "JORDAN",
    "KENYA",
    "MOROCCO",
    "MOZAMBIQUE",
    "PERU",
    "ROMANIA",
    "RUSSIA",
    "SAUDI ARABIA",
    "UNITED KINGDOM",
    "UNITED STATES",
    "VIETNAM",
];
const REGIONS: [&str; 5] = ["AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"];
const SEGMENTS: [&str; 5] = [
    "AUTOMOBILE",
    "BUILDING",
    "FURNITURE",
    "HOUSEHOLD",
    "MACHINERY",
];
const PRIORITIES: [&str; 5] = ["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"];
const MODES: [&str; 7] = ["AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"];
const INSTRUCTIONS: [&str; 4] = [
    "COLLECT COD",
    "DELIVER IN PERSON",
    "NONE",
    "TAKE BACK RETURN",
];
/// Syllables of containers.
const CONTAINERS: [&[&str]; 2] = [
    &["JUMBO", "LG", "MED", "SM", "WRAP"],
    &["BAG", "BOX", "CAN", "CASE", "DRUM", "JAR", "PACK", "PKG"],
];
/// Syllables of types.
const TYPES: [&[&str]; 3] = [
    &["ECONOMY", "LARGE", "MEDIUM", "PROMO", "SMALL", "STANDARD"],
    &["ANODIZED", "BRUSHED", "BURNISHED", "PLATED", "POLISHED"],
    &["BRASS", "COPPER", "NICKEL", "STEEL", "TIN"],
];

/// Days from 1992-01-01 to 1998-12-31.
const DAYS: (i128, i128) = (8035, 10_591);

/// All texts of a syllable of each list.
fn joined(syllables: &[&[&str]]) -> Kind {
    let mut texts = vec![String::new()];
    for list in syllables {
        let longer = texts.iter().flat_map(|text| {
            list.iter().map(move |more| match text.is_empty() {
                true => (*more).to_owned(),
                false => format!("{text} {more}"),
            })
        });
        texts = longer.collect();
    }
    Kind::choice(texts)
}

/// Numbers with two digits after the point.
fn money(least: i128, greatest: i128) -> Kind {
    Kind::Number(Number::new(Unit::Decimal(2), least, greatest))
}

fn text(bytes: usize) -> Kind {
    Kind::Text { bytes, ascii: true }
}

fn date() -> Kind {
    Kind::Number(Number::new(Unit::Day, DAYS.0, DAYS.1))
}

/// The columns of a table at a scale, in the specification's order; none of a table that there is not.
pub fn columns(table: &str, scale: f64) -> Vec<Column> {
    let count = |one: i64| Kind::integer(1, one.max(1).into());
    let part = || count(PartGenerator::calculate_row_count(scale, 1, 1));
    let supplier = || count(SupplierGenerator::calculate_row_count(scale, 1, 1));
    let customer = || count(CustomerGenerator::calculate_row_count(scale, 1, 1));
    let orders = OrderGenerator::calculate_row_count(scale, 1, 1);
    let order = || count(OrderGenerator::make_order_key(orders));
    let nation = || Kind::integer(0, 24);
    let region = || Kind::integer(0, 4);
    let columns =
        match table {
            "lineitem" => vec![
                ("l_orderkey", order()),
                ("l_partkey", part()),
                ("l_suppkey", supplier()),
                ("l_linenumber", Kind::integer(1, 7)),
                ("l_quantity", money(100, 5000)),
                ("l_extendedprice", money(90_000, 10_495_000)),
                ("l_discount", money(0, 10)),
                ("l_tax", money(0, 8)),
                ("l_returnflag", Kind::choice(["A", "N", "R"])),
                ("l_linestatus", Kind::choice(["F", "O"])),
                ("l_shipdate", date()),
                ("l_commitdate", date()),
                ("l_receiptdate", date()),
                ("l_shipinstruct", Kind::choice(INSTRUCTIONS)),
                ("l_shipmode", Kind::choice(MODES)),
                ("l_comment", text(44)),
            ],
            "orders" => vec![
                ("o_orderkey", order()),
                ("o_custkey", customer()),
                ("o_orderstatus", Kind::choice(["F", "O", "P"])),
                ("o_totalprice", money(81_000, 79_342_200)),
                ("o_orderdate", date()),
                ("o_orderpriority", Kind::choice(PRIORITIES)),
                ("o_clerk", text(15)),
                ("o_shippriority", Kind::integer(0, 0)),
                ("o_comment", text(79)),
            ],
            "customer" => vec![
                ("c_custkey", customer()),
                ("c_name", text(18)),
                ("c_address", text(40)),
                ("c_nationkey", nation()),
                ("c_phone", text(15)),
                ("c_acctbal", money(-99_999, 999_999)),
                ("c_mktsegment", Kind::choice(SEGMENTS)),
                ("c_comment", text(117)),
            ],
            "part" => vec![
                ("p_partkey", part()),
                ("p_name", text(55)),
                (
                    "p_mfgr",
                    Kind::choice((1..=5).map(|maker| format!("Manufacturer#{maker}"))),
                ),
                (
                    "p_brand",
                    Kind::choice((1..=5).flat_map(|maker| {
                        (1..=5).map(move |brand| format!("Brand#{maker}{brand}"))
                    })),
                ),
                ("p_type", joined(&TYPES)),
                ("p_size", Kind::integer(1, 50)),
                ("p_container", joined(&CONTAINERS)),
                ("p_retailprice", money(90_000, 209_900)),
                ("p_comment", text(23)),
            ],
            "partsupp" => vec![
                ("ps_partkey", part()),
                ("ps_suppkey", supplier()),
                ("ps_availqty", Kind::integer(1, 9999)),
                ("ps_supplycost", money(100, 100_000)),
                ("ps_comment", text(199)),
            ],
            "supplier" => vec![
                ("s_suppkey", supplier()),
                ("s_name", text(18)),
                ("s_address", text(40)),
                ("s_nationkey", nation()),
                ("s_phone", text(15)),
                ("s_acctbal", money(-99_999, 999_999)),
                ("s_comment", text(101)),
            ],
            "nation" => vec![
                ("n_nationkey", nation()),
                ("n_name", Kind::choice(NATIONS)),
                ("n_regionkey", region()),
                ("n_comment", text(152)),
            ],
            "region" => vec![
                ("r_regionkey", region()),
                ("r_name", Kind::choice(REGIONS)),
                ("r_comment", text(152)),
            ],
            _ => Vec::new(),
        };
    let column = |(name, kind)| Column::new(name, kind);
    columns.into_iter().map(column).collect()
}

/// The number of rows of a table at a scale.
pub fn row_count(table: &str, scale: f64) -> usize {
    let count = match table {
        // An order has 1 to 7 lines, as it comes.
        "lineitem" => {
            let lists = Distributions::static_default();
            // No text is read, and a short one to cut them out of is made at once.
            let pool = TextPool::new(1 << 16, lists);
            let lines =
                LineItemGenerator::new_with_distributions_and_text_pool(scale, 1, 1, lists, &pool);
            return lines.iter().count();
        }
        "orders" => OrderGenerator::calculate_row_count(scale, 1, 1),
        "customer" => CustomerGenerator::calculate_row_count(scale, 1, 1),
        "part" => PartGenerator::calculate_row_count(scale, 1, 1),
        "partsupp" => OFFERS * PartGenerator::calculate_row_count(scale, 1, 1),
        "supplier" => SupplierGenerator::calculate_row_count(scale, 1, 1),
        "nation" => 25,
        "region" => 5,
        _ => 0,
    };
    usize::try_from(count).unwrap_or(0)
}

/// Columns that no two rows of a table share.
fn key(table: &str) -> &'static [&'static str] {
    match table {
        "lineitem" => &["l_orderkey", "l_linenumber"],
        "orders" => &["o_orderkey"],
        "customer" => &["c_custkey"],
        "part" => &["p_partkey"],
        "partsupp" => &["ps_partkey", "ps_suppkey"],
        "supplier" => &["s_suppkey"],
        "nation" => &["n_nationkey"],
        _ => &["r_regionkey"],
    }
}

/// Suppliers of each part.
const OFFERS: i64 = 4;

/// Whether the suppliers of each part differ: by 4.2.3 they stand apart by a fixed number of steps in a circle, which is short at small scales.
fn offers_differ(scale: f64) -> bool {
    let suppliers = SupplierGenerator::calculate_row_count(scale, 1, 1).max(1);
    let parts = PartGenerator::calculate_row_count(scale, 1, 1);
    let steps = (0..=parts / suppliers).map(|more| suppliers / OFFERS + more);
    let mut distances = steps.flat_map(|step| (1..OFFERS).map(move |offer| offer * step));
    distances.all(|distance| distance % suppliers != 0)
}

/// The party that has a table's rows, if there are three.
fn owner(table: &str) -> usize {
    match table {
        "lineitem" | "supplier" => 0,
        "orders" | "partsupp" | "nation" => 1,
        _ => 2,
    }
}

/// A table at a scale, with the columns that are wanted, held by one of `parties` parties. Its key is unique where all columns of the key are there.
pub fn table(name: &str, scale: f64, wanted: &[String], rows: usize, parties: usize) -> Table {
    let mut columns = columns(name, scale);
    columns.retain(|column| wanted.contains(&column.name));
    let owner = Party::new(owner(name) % parties.max(1));
    let table = Table::new(name, owner, rows, columns);
    let key = key(name);
    let is_there = key
        .iter()
        .all(|column| wanted.iter().any(|one| one == column));
    match is_there && (name != "partsupp" || offers_differ(scale)) {
        true => table.unique(key),
        false => table,
    }
}
