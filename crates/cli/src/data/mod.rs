//! Data for a model, from files: arrays of NumPy's, tables, images.
//!
//! How many inputs are computed at once is seen in the files before the model's shapes are known; then each file must
//! fit its input.

mod csv;
mod image;

use std::fs;
use std::path::{Path, PathBuf};

use madrigal_nn::{Data, Element, Graph, Tensor, Type, npy};

use crate::args::Pixels;
use crate::exit::{Failure, Result, Status};

pub use csv::write as write_csv;

/// What is wrong with a file of data.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    #[error("{}: {problem}", path.display())]
    File { path: PathBuf, problem: String },
    #[error("{}, line {line}: {problem}", path.display())]
    Line {
        path: PathBuf,
        line: usize,
        problem: String,
    },
    #[error(
        "--input: the model has {expected} inputs, and {found} files are named; name one for each, in its order{}",
        images(*.expected)
    )]
    Count { expected: usize, found: usize },
    #[error("{flag} is for images, and no --input is a .png file; leave the flag out")]
    NoImage { flag: &'static str },
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
            Self::File { .. } | Self::Line { .. } => Status::File,
            Self::Count { .. } | Self::NoImage { .. } => Status::Usage,
        }
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        Self::other(error)
    }
}

fn wrong(path: &Path, problem: impl Into<String>) -> DataError {
    let (path, problem) = (path.to_owned(), problem.into());
    DataError::File { path, problem }
}

/// What a file holds.
enum Content {
    Array(Tensor),
    Rows(csv::Rows),
    Image(image::Image),
}

/// What the files that are named hold, in order.
pub struct Files(Vec<(PathBuf, Content)>);

/// What a file is by its name's end.
fn ends(path: &Path, end: &str) -> bool {
    path.extension()
        .is_some_and(|found| found.eq_ignore_ascii_case(end))
}

/// Whether results are to be a table.
pub fn is_csv(path: &Path) -> bool {
    ends(path, "csv")
}

impl Files {
    pub fn read(paths: &[PathBuf], pixels: &Pixels) -> Result<Self> {
        let images = paths.iter().filter(|path| ends(path, "png")).count();
        if let (0, Some(flag)) = (images, pixels.given()) {
            return Err(DataError::NoImage { flag }.into());
        }
        let of = |path: &PathBuf| -> Result<(PathBuf, Content)> {
            let file = fs::read(path).map_err(Failure::file("read the data", path))?;
            let content = match path {
                path if is_csv(path) => Content::Rows(csv::read(path, &file)?),
                path if ends(path, "png") => Content::Image(image::read(path, &file, pixels)?),
                _ => {
                    let array = npy::read(&file);
                    Content::Array(array.map_err(|error| wrong(path, error.to_string()))?)
                }
            };
            Ok((path.clone(), content))
        };
        Ok(Self(paths.iter().map(of).collect::<Result<_>>()?))
    }

    /// The first file, for what is wrong with all.
    pub fn first(&self) -> Option<&Path> {
        self.0.first().map(|(path, _)| path.as_path())
    }

    /// The images are a batch for the only input of a model.
    fn is_batch(&self, inputs: usize) -> bool {
        let mut all = self.0.iter();
        inputs == 1 && !self.0.is_empty() && all.all(|(_, one)| matches!(one, Content::Image(_)))
    }

    /// How many inputs are computed at once by a model of so many inputs; none where files do not tell.
    pub fn batch(&self, inputs: usize) -> Option<usize> {
        if self.is_batch(inputs) {
            return Some(self.0.len());
        }
        match &self.0.first()?.1 {
            Content::Array(array) => array.shape().first().copied(),
            Content::Rows(rows) => Some(rows.count()),
            Content::Image(_) => Some(1),
        }
    }

    /// Each input of the model.
    pub fn tensors(self, graph: &Graph) -> Result<Vec<Tensor>> {
        let inputs = graph.inputs();
        let (expected, found) = (inputs.len(), self.0.len());
        if self.is_batch(expected) {
            let (name, id) = &inputs[0];
            return Ok(vec![self.one_batch(name, &graph.value(*id).ty)?]);
        }
        if expected != found {
            return Err(DataError::Count { expected, found }.into());
        }
        let tensor = |((path, content), (name, id)): ((PathBuf, Content), &(String, _))| {
            let ty = &graph.value(*id).ty;
            let values = match content {
                // What does not fit is told by the network, which knows the input's name.
                Content::Array(array) => return Ok(array),
                Content::Rows(rows) => rows.for_input(&path, name, &ty.shape)?,
                Content::Image(image) => image.for_input(&path, name, &ty.shape)?,
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
            if let Content::Image(image) = content {
                values.extend(image.for_input(&path, name, &one)?);
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
    if let (true, Some(value)) = (integers, values.iter().find(|value| !whole(value))) {
        let problem = format!("{value} is no integer, which the model's input takes");
        return Err(wrong(path, problem).into());
    }
    let data = match element {
        Element::F64 => Data::F64(values),
        Element::F32 => Data::F32(values.into_iter().map(|value| value as f32).collect()),
        Element::Bool => Data::Bool(values.into_iter().map(|value| value != 0.0).collect()),
        _ => Data::Int(values.into_iter().map(|value| value as i64).collect()),
    };
    let tensor = Tensor::new(element, shape, data);
    tensor.map_err(|error| wrong(path, error.to_string()).into())
}

/// As in 1 x 28 x 28.
fn sizes(shape: &[usize]) -> String {
    let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
    sizes.join(" x ")
}
