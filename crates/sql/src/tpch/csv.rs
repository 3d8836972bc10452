//! The tables as files, for other systems.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use tpchgen::csv::{
    CustomerCsv, LineItemCsv, NationCsv, OrderCsv, PartCsv, PartSuppCsv, RegionCsv, SupplierCsv,
};
use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator,
    PartSuppGenerator, RegionGenerator, SupplierGenerator,
};

use super::tables::TABLES;

/// Writes the tables at a scale into a folder, each as `NAME.csv` with all of its columns.
///
/// # Errors
/// Errors of the system.
pub fn write_csv(scale: f64, folder: &Path) -> io::Result<()> {
    for name in TABLES {
        let mut file = BufWriter::new(File::create(folder.join(format!("{name}.csv")))?);
        macro_rules! write {
            ($generator:ident, $csv:ident) => {{
                writeln!(file, "{}", $csv::header())?;
                for row in $generator::new(scale, 1, 1).iter() {
                    writeln!(file, "{}", $csv::new(row))?;
                }
            }};
        }
        match name {
            "lineitem" => write!(LineItemGenerator, LineItemCsv),
            "orders" => write!(OrderGenerator, OrderCsv),
            "customer" => write!(CustomerGenerator, CustomerCsv),
            "part" => write!(PartGenerator, PartCsv),
            "partsupp" => write!(PartSuppGenerator, PartSuppCsv),
            "supplier" => write!(SupplierGenerator, SupplierCsv),
            "nation" => write!(NationGenerator, NationCsv),
            _ => write!(RegionGenerator, RegionCsv),
        }
        file.flush()?;
    }
    Ok(())
}
