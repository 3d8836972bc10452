//! `schema`: what a file's owner may tell of it, proposed.

use madrigal_app::failure::Result;
use madrigal_app::figures::print;
use madrigal_sql::files::{RowCount, infer};

use super::args::Schema;
use super::failure::Unfit;

pub fn run(args: &Schema) -> Result<()> {
    let mut inferred = infer(&args.file, &args.choices).map_err(Unfit::from)?;
    if let Some(noise) = args.hide_rows {
        let rows = inferred.schema.rows.rows();
        let hidden = RowCount::hidden(rows, noise, getrandom::u64);
        inferred.schema.rows = hidden.map_err(|error| Unfit::Randomness(error.to_string()))?;
        inferred
            .check()
            .map_err(|problem| Unfit::Hidden { noise, problem })?;
    }
    print(inferred.to_toml().as_bytes())
}
