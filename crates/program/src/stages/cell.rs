//! Values that a stage keeps for later ones.

use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};

use madrigal_engine::KeptShares;

use crate::array::Array;
use crate::element::Plain;
use crate::error::Source;
use crate::shape::Shape;
use crate::tensor_type::TensorType;

/// A run of stages, compared by address: whoever has a part of it keeps it from being another one's.
#[derive(Debug)]
pub(crate) struct StagesRun;

/// A value that a stage kept, whose type is known when the program runs: as [`Kept`] for
/// [`Program::kept_tensor`](crate::Program::kept_tensor). This party's share is wiped when the last clone is dropped.
#[derive(Debug, Clone)]
pub struct KeptTensor(pub(crate) Arc<Cell>);

impl KeptTensor {
    /// Type and shape of the value.
    pub fn tensor_type(&self) -> &TensorType {
        &self.0.tensor_type
    }
}

/// A value that a stage kept, for [`Program::kept`](crate::Program::kept) in a later stage of the same run. This
/// party's share is wiped when the last clone is dropped.
pub struct Kept<T> {
    pub(crate) cell: Arc<Cell>,
    pub(crate) element: PhantomData<T>,
}

impl<T> Clone for Kept<T> {
    fn clone(&self) -> Self {
        Self {
            cell: Arc::clone(&self.cell),
            element: PhantomData,
        }
    }
}

impl<T: Plain> fmt::Debug for Kept<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kept<{}>{}", T::TYPE, self.shape())
    }
}

impl<T> Kept<T> {
    /// The lengths of the axes.
    pub fn shape(&self) -> &Shape {
        &self.cell.tensor_type.shape
    }
}

/// The place where a stage leaves a value, and later ones find it.
pub(crate) struct Cell {
    pub(crate) run: Arc<StagesRun>,
    pub(crate) tensor_type: TensorType,
    /// Line where the program keeps the value.
    pub(crate) at: Source,
    content: Mutex<Option<Content>>,
}

/// A value that is kept.
#[derive(Clone)]
pub(crate) struct Content {
    /// Number of the value and of its stage, as parties compare it.
    pub(crate) name: String,
    /// How it is held, once that is planned.
    pub(crate) sort: Option<madrigal_engine::Sort>,
    pub(crate) value: Held,
}

#[derive(Clone)]
pub(crate) enum Held {
    /// The value itself, where a run is simulated.
    Clear(Arc<Array>),
    Shared(KeptShares),
}

impl Cell {
    pub(crate) fn new(run: &Arc<StagesRun>, tensor_type: TensorType, at: Source) -> Arc<Self> {
        Arc::new(Self {
            run: Arc::clone(run),
            tensor_type,
            at,
            content: Mutex::default(),
        })
    }

    /// `None` before the stage that keeps it has ended.
    pub(crate) fn content(&self) -> Option<Content> {
        let content = self.content.lock();
        content.unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn fill(&self, content: Content) {
        *self.content.lock().unwrap_or_else(PoisonError::into_inner) = Some(content);
    }
}

impl fmt::Debug for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a kept {}", self.tensor_type)
    }
}
