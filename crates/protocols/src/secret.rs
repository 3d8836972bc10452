//! Memory for shares.

use std::ops::{Deref, DerefMut};

use madrigal_core::Ring;
use zeroize::optimization_barrier;

/// Memory that is wiped when it is dropped: as a block, not byte by byte.
#[derive(Clone)]
pub(crate) struct Secret<T: Ring>(Vec<T>);

impl<T: Ring> Secret<T> {
    pub(crate) fn zeros(len: usize) -> Self {
        Self(vec![T::ZERO; len])
    }
}

impl<T: Ring> From<Vec<T>> for Secret<T> {
    fn from(elements: Vec<T>) -> Self {
        Self(elements)
    }
}

impl<T: Ring> Deref for Secret<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Ring> DerefMut for Secret<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T: Ring> Drop for Secret<T> {
    fn drop(&mut self) {
        self.0.fill(T::ZERO);
        // The compiler must believe that somebody still reads the zeros.
        optimization_barrier(self.0.as_slice());
    }
}
