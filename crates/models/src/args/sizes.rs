//! Sizes that a model leaves open, and the memory that it may take.

use clap::Args;
use madrigal_app::memory::MemoryArg;
use madrigal_nn::Options;

/// The flags.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct Sizes {
    /// Size of a dimension that the model gives a name; once for each [default: what the data has there]
    #[arg(long = "dim", value_name = "NAME=SIZE", value_parser = dimension)]
    pub(crate) dimensions: Vec<(String, usize)>,

    /// Shape of an input whose sizes the model leaves open, as in x=1,3,224,224; once for each [default: that of the
    /// data]
    #[arg(long = "shape", value_name = "NAME=SIZES", value_parser = shape)]
    pub(crate) shapes: Vec<(String, Vec<usize>)>,

    /// Memory that the model may take beside 50 bytes for each byte of its files: a short file may ask for much [default:
    /// 256MiB]
    #[arg(long, value_name = "SIZE")]
    pub(crate) file_memory: Option<MemoryArg>,
}

impl Sizes {
    /// Gives the options of the import; `batch` is the number of inputs computed at once, if it is known.
    pub(crate) fn options(&self, batch: Option<usize>) -> Options {
        Options {
            batch,
            dimensions: self.dimensions.iter().cloned().collect(),
            shapes: self.shapes.iter().cloned().collect(),
            ..Options::default()
        }
    }

    /// Whether any is given.
    pub(crate) fn is_given(&self) -> bool {
        !self.dimensions.is_empty() || !self.shapes.is_empty()
    }
}

fn dimension(text: &str) -> Result<(String, usize), String> {
    let (name, size) = text.rsplit_once('=').ok_or("write NAME=SIZE")?;
    let size = size.parse().map_err(|_| format!("{size:?} is no size"))?;
    Ok((name.to_string(), size))
}

fn shape(text: &str) -> Result<(String, Vec<usize>), String> {
    let (name, sizes) = text.rsplit_once('=').ok_or("write NAME=SIZE,SIZE,...")?;
    let sizes = sizes.split(',').filter(|size| !size.is_empty());
    let size = |size: &str| size.parse().map_err(|_| format!("{size:?} is no size"));
    Ok((name.to_string(), sizes.map(size).collect::<Result<_, _>>()?))
}
