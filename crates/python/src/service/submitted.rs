//! A submission that all servers have accepted, and its receipts.

use std::path::PathBuf;
use std::sync::Arc;

use madrigal_net::roster::Roster;
use madrigal_service_client::Submission;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::done::Reason;

/// A submission that all servers have accepted.
#[pyclass(frozen, module = "madrigal._native")]
pub struct Submitted {
    submission: Arc<Submission>,
    servers: Arc<Roster>,
}

impl Submitted {
    pub fn new(submission: Submission, servers: Arc<Roster>) -> Self {
        Self {
            submission: Arc::new(submission),
            servers,
        }
    }

    pub fn submission(&self) -> Arc<Submission> {
        self.submission.clone()
    }
}

#[pymethods]
impl Submitted {
    #[getter]
    fn kind(&self) -> &str {
        &self.submission.kind
    }

    #[getter]
    fn client(&self) -> &str {
        &self.submission.client
    }

    #[getter]
    fn id(&self) -> String {
        self.submission.id.to_string()
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.submission.to_bytes(&self.servers))
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let saved = py.detach(|| self.submission.save(&path, &self.servers));
        saved.map_err(|error| Reason::from(error).raised())
    }
}
