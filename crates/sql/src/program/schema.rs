//! `schema`: what a file's owner may tell of it, proposed.

use madrigal_app::failure::Result;
use madrigal_app::figures::print;
use madrigal_sql::files::infer;

use super::args::Schema;
use super::failure::Unfit;

pub fn run(args: &Schema) -> Result<()> {
    let inferred = infer(&args.file, &args.choices).map_err(Unfit::from)?;
    print(inferred.to_toml().as_bytes())
}
