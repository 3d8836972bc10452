//! Pages of a column, looked at before they are decoded: decoders allocate as many values as a page says it has.

use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};

/// Values of a page whose number does not follow from its bytes: repeated values take none. Files have some ten thousand.
const MOST_VALUES: u32 = 1 << 26;

/// A reader of pages that refuses those that cannot be.
pub(super) struct Checked {
    inner: Box<dyn PageReader>,
}

impl Checked {
    pub(super) fn new(inner: Box<dyn PageReader>) -> Self {
        Self { inner }
    }
}

fn check(page: Page) -> Result<Page> {
    let wrong = |problem: &str| Err(ParquetError::General(problem.to_owned()));
    match &page {
        // Each of its values has a bit at least, and numbers and texts have four bytes and more.
        Page::DictionaryPage {
            buf, num_values, ..
        } if u64::from(*num_values) > 8 * buf.len() as u64 => {
            wrong("a dictionary is too short for its values")
        }
        Page::DataPage { num_values, .. } | Page::DataPageV2 { num_values, .. }
            if *num_values > MOST_VALUES =>
        {
            wrong("a page has more than 2^26 values")
        }
        _ => Ok(page),
    }
}

impl PageReader for Checked {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        self.inner.get_next_page()?.map(check).transpose()
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.inner.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.inner.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.inner.at_record_boundary()
    }
}

impl Iterator for Checked {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.get_next_page().transpose()
    }
}
