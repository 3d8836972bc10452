//! Data for a model, from files: arrays of NumPy's, tables, images, which `madrigal_nn` reads.
//!
//! The number of inputs computed at once, and the sizes of dimensions that the model leaves open, are seen in the
//! files before the model's shapes are known; then each file must fit its input.

use std::path::{Path, PathBuf};

use madrigal_app::failure::{Result, Status};
use madrigal_app::read::read_file;
use madrigal_core::text::OwnData;
use madrigal_nn::csv::{self, CsvError};
use madrigal_nn::image::{self, Image, ImageError, Layout, Scaling};
use madrigal_nn::npy::{self, NpyError};
use madrigal_nn::{
    Data, Element, Graph, ImportError, Model, Options, Size, Tensor, TensorError, Type,
};

use crate::args::Pixels;

/// Errors in a file of data.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DataError {
    #[error("{}: {error}", path.display())]
    Array { path: PathBuf, error: NpyError },
    #[error(
        "{}: this is no array of numpy.save (.npy), and its name does not end as that of a table (.csv) or of an \
         image (.png)",
        .0.display()
    )]
    Kind(PathBuf),
    #[error("{}{} {error}", path.display(), after_path(.error))]
    Table { path: PathBuf, error: CsvError },
    #[error("{}: {error}", path.display())]
    Image { path: PathBuf, error: ImageError },
    #[error("{}: {problem}", path.display())]
    Pixels { path: PathBuf, problem: String },
    #[error("{}: number {place} is no integer, which the model's input takes: {value}", path.display())]
    Integer {
        path: PathBuf,
        /// In the order of the file, counted from 1.
        place: usize,
        value: OwnData,
    },
    #[error("{}: {error}", path.display())]
    Tensor { path: PathBuf, error: TensorError },
    #[error(
        "--input names {}; name one for each input of the model, in this order: {}{}",
        files(*.found),
        inputs.join(", "),
        images(inputs.len())
    )]
    Count { inputs: Vec<String>, found: usize },
    #[error("{flag} is for images, and no --input is a .png file; leave the flag out")]
    NoImage { flag: &'static str },
}

/// Gives the sign between a path and what is wrong with it or with a line of it.
fn after_path(error: &CsvError) -> &'static str {
    match error.line() {
        Some(_) => ",",
        None => ":",
    }
}

fn files(count: usize) -> String {
    match count {
        0 => "no file".to_owned(),
        1 => "one file".to_owned(),
        _ => format!("{count} files"),
    }
}

fn images(inputs: usize) -> &'static str {
    match inputs {
        1 => " (several .png files are one batch)",
        _ => "",
    }
}

impl madrigal_app::failure::Fault for DataError {
    fn status(&self) -> Status {
        match self {
            Self::Count { .. } | Self::NoImage { .. } => Status::Usage,
            _ => Status::File,
        }
    }
}

fn table_error(path: &Path) -> impl FnOnce(CsvError) -> DataError {
    let path = path.to_owned();
    |error| DataError::Table { path, error }
}

fn image_error(path: &Path) -> impl FnOnce(ImageError) -> DataError {
    let path = path.to_owned();
    |error| DataError::Image { path, error }
}

fn pixels_error(path: &Path) -> impl FnOnce(String) -> DataError {
    let path = path.to_owned();
    |problem| DataError::Pixels { path, problem }
}

/// Reads a file that is to be an array of NumPy's.
///
/// # Errors
/// [`Failure`](madrigal_app::failure::Failure): a file that is none.
pub fn read_array(file: &[u8], path: &Path) -> Result<Tensor> {
    let array = npy::read(file).map_err(|error| DataError::Array {
        path: path.to_owned(),
        error,
    });
    Ok(array?)
}

/// Reads a file that is to be a table of numbers.
///
/// # Errors
/// [`Failure`](madrigal_app::failure::Failure): a file that is none.
pub fn read_table(file: &[u8], path: &Path) -> Result<csv::Table> {
    Ok(csv::read(file).map_err(table_error(path))?)
}

/// Content of a file.
enum Content {
    Array(Tensor),
    Table(csv::Table),
    /// An image, and how each of its channels is scaled.
    Image(Image, Vec<Scaling>),
}

impl Content {
    /// Reads a file, which its name's end tells the kind of.
    fn read(path: &Path, file: &[u8], pixels: &Pixels) -> Result<Self, DataError> {
        if is_csv(path) {
            return Ok(Self::Table(csv::read(file).map_err(table_error(path))?));
        }
        if ends(path, "png") {
            let image = image::read(file).map_err(image_error(path))?;
            let scalings = pixels.scalings(image.channels());
            return Ok(Self::Image(image, scalings.map_err(pixels_error(path))?));
        }
        let array = npy::read(file).map_err(|error| match error {
            NpyError::Magic if !ends(path, "npy") => DataError::Kind(path.to_owned()),
            _ => DataError::Array {
                path: path.to_owned(),
                error,
            },
        });
        Ok(Self::Array(array?))
    }
}

impl Content {
    /// Gives the shape that an input of these sizes takes from `count` images; `None` if they do not decide it.
    fn shape(&self, sizes: Option<&[Size<'_>]>, count: usize) -> Option<Vec<usize>> {
        match (self, sizes) {
            (Self::Array(array), _) => Some(array.shape().to_vec()),
            (Self::Table(table), Some([_, _])) => Some(vec![table.lines(), table.columns()]),
            (Self::Table(table), Some(sizes)) => {
                // Only its lines are known to be a dimension.
                let fixed = |size: &Size<'_>| match size {
                    Size::Fixed(size) => Some(*size),
                    Size::Open(_) => None,
                };
                let rest = sizes.get(1..)?.iter().map(fixed);
                let rest = rest.collect::<Option<Vec<usize>>>()?;
                Some([&[table.lines()], &rest[..]].concat())
            }
            (Self::Image(image, _), Some([_, _])) => {
                let all = image.sizes(Layout::Planes).iter().product();
                Some(vec![count, all])
            }
            (Self::Image(image, _), Some(&[_, rows, columns])) => {
                let [channels, height, width] = image.sizes(Layout::Planes);
                let own = [(rows, height), (columns, width)];
                let fits = channels == 1 && own.iter().all(|&(size, own)| takes(size, own));
                fits.then(|| vec![count, height, width])
            }
            (Self::Image(image, _), Some([_, own @ ..])) => {
                let fits = |sizes: &[usize; 3]| {
                    own.len() == 3 && own.iter().zip(sizes).all(|(&size, &own)| takes(size, own))
                };
                let layouts = [Layout::Planes, Layout::Pixels].map(|layout| image.sizes(layout));
                let sizes = layouts.into_iter().find(fits)?;
                Some([&[count], &sizes[..]].concat())
            }
            _ => None,
        }
    }
}

/// Whether an image may have this size there.
fn takes(size: Size<'_>, own: usize) -> bool {
    match size {
        Size::Fixed(size) => size == own,
        Size::Open(_) => true,
    }
}

/// Contents of the files that are named, in order.
pub(crate) struct Files(Vec<(PathBuf, Content)>);

/// Tells whether a file's name has this end.
pub fn ends(path: &Path, end: &str) -> bool {
    path.extension()
        .is_some_and(|found| found.eq_ignore_ascii_case(end))
}

/// Whether results are to be a table.
pub fn is_csv(path: &Path) -> bool {
    ends(path, "csv")
}

impl Files {
    /// Takes arrays that are given in the place of files, or reads files.
    ///
    /// # Errors
    /// [`DataError`]: files that cannot be read, or are no data.
    pub(crate) fn read_or(
        given: Option<Vec<Tensor>>,
        paths: &[PathBuf],
        pixels: &Pixels,
    ) -> Result<Self> {
        let Some(given) = given else {
            return Self::read(paths, pixels);
        };
        if let Some(flag) = pixels.given() {
            return Err(DataError::NoImage { flag }.into());
        }
        let of = |array| (PathBuf::from("the data"), Content::Array(array));
        Ok(Self(given.into_iter().map(of).collect()))
    }

    fn read(paths: &[PathBuf], pixels: &Pixels) -> Result<Self> {
        let images = paths.iter().filter(|path| ends(path, "png")).count();
        if let (0, Some(flag)) = (images, pixels.given()) {
            return Err(DataError::NoImage { flag }.into());
        }
        let of = |path: &PathBuf| -> Result<(PathBuf, Content)> {
            let file = read_file("read the data", path)?;
            Ok((path.clone(), Content::read(path, &file, pixels)?))
        };
        Ok(Self(paths.iter().map(of).collect::<Result<_>>()?))
    }

    /// The first file, for what is wrong with all.
    pub(crate) fn first(&self) -> Option<&Path> {
        self.0.first().map(|(path, _)| path.as_path())
    }

    /// The images are a batch for the only input of a model.
    fn is_batch(&self, inputs: usize) -> bool {
        let mut all = self.0.iter();
        inputs == 1 && !self.0.is_empty() && all.all(|(_, one)| matches!(one, Content::Image(..)))
    }

    /// Gives the number of inputs computed at once by a model that has `inputs` inputs; none where files do not tell.
    pub(crate) fn batch(&self, inputs: usize) -> Option<usize> {
        if self.is_batch(inputs) {
            return Some(self.0.len());
        }
        match &self.0.first()?.1 {
            Content::Array(array) => array.shape().first().copied(),
            Content::Table(table) => Some(table.lines()),
            Content::Image(..) => Some(1),
        }
    }

    /// Takes sizes that the model leaves open from the data. Files that do not fit say nothing: [`tensors`] will tell.
    ///
    /// [`tensors`]: Self::tensors
    pub(crate) fn tell_sizes(
        &self,
        model: &Model,
        options: &mut Options,
    ) -> Result<(), ImportError> {
        let inputs = model.input_sizes();
        let batch = self.is_batch(inputs.len());
        if !batch && inputs.len() != self.0.len() {
            return Ok(());
        }
        for ((name, sizes), (_, content)) in inputs.iter().zip(&self.0) {
            let count = if batch { self.0.len() } else { 1 };
            let shape = content.shape(sizes.as_deref(), count);
            let told = shape.map(|shape| options.with_data((*name, sizes.as_deref()), &shape));
            told.transpose().map_err(|problem| ImportError {
                problems: vec![problem],
            })?;
        }
        Ok(())
    }

    /// Each input of the model.
    pub(crate) fn tensors(self, graph: &Graph) -> Result<Vec<Tensor>> {
        let inputs = graph.inputs();
        let (expected, found) = (inputs.len(), self.0.len());
        if self.is_batch(expected) {
            let (name, id) = &inputs[0];
            return Ok(vec![self.one_batch(name, &graph.value(*id).ty)?]);
        }
        if expected != found {
            let inputs = inputs.iter().map(|(name, _)| format!("{name:?}")).collect();
            return Err(DataError::Count { inputs, found }.into());
        }
        let tensor = |((path, content), (name, id)): ((PathBuf, Content), &(String, _))| {
            let ty = &graph.value(*id).ty;
            let values = match content {
                // The network refuses an array that does not fit: it knows the input's name.
                Content::Array(array) => return Ok(array),
                Content::Table(table) => {
                    let tensor = table.into_input(name, ty);
                    return Ok(tensor.map_err(table_error(&path))?);
                }
                Content::Image(image, scalings) => {
                    let values = image.for_input(name, &ty.shape, &scalings);
                    values.map_err(image_error(&path))?
                }
            };
            made(&path, ty, ty.shape.clone(), values)
        };
        self.0.into_iter().zip(inputs).map(tensor).collect()
    }

    fn one_batch(self, name: &str, ty: &Type) -> Result<Tensor> {
        let count = self.0.len();
        let shape = [&[count], ty.shape.get(1..).unwrap_or(&[])].concat();
        let one = [&[1], &shape[1..]].concat();
        let mut values = Vec::new();
        let mut last = PathBuf::new();
        for (path, content) in self.0 {
            if let Content::Image(image, scalings) = content {
                let own = image.for_input(name, &one, &scalings);
                values.extend(own.map_err(image_error(&path))?);
            }
            last = path;
        }
        made(&last, ty, shape, values)
    }
}

/// Numbers as an input's type has them.
fn made(path: &Path, ty: &Type, shape: Vec<usize>, values: Vec<f64>) -> Result<Tensor> {
    let whole = |value: &f64| value.fract() == 0.0 && value.abs() < 2_f64.powi(53);
    let (element, integers) = match ty.element {
        Element::F64 => (Element::F64, false),
        element if element.is_float() => (Element::F32, false),
        element => (element, true),
    };
    let wrong = values.iter().position(|value| !whole(value));
    if let (true, Some(at)) = (integers, wrong) {
        let value = OwnData::new("a number", &values[at].to_string());
        let (path, place) = (path.to_owned(), at + 1);
        return Err(DataError::Integer { path, place, value }.into());
    }
    let data = match element {
        Element::F64 => Data::F64(values),
        Element::F32 => Data::F32(values.into_iter().map(|value| value as f32).collect()),
        Element::Bool => Data::Bool(values.into_iter().map(|value| value != 0.0).collect()),
        _ => Data::Int(values.into_iter().map(|value| value as i64).collect()),
    };
    let tensor = Tensor::new(element, shape, data);
    tensor.map_err(|error| {
        let path = path.to_owned();
        DataError::Tensor { path, error }.into()
    })
}
