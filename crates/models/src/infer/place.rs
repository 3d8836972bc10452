//! Places of numbers in data, as errors tell them.

use std::fmt;

/// Where in its input a number stands; counted from 0, as results are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place(pub Vec<usize>);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0[..] {
            [] => f.write_str("its number"),
            [row] => write!(f, "row {row}"),
            [row, column] => write!(f, "row {row}, column {column}"),
            [row, rest @ ..] => write!(f, "row {row}, element {rest:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Place;

    #[test]
    fn places_are_told_as_tables_have_them() {
        let told = |place: &[usize]| Place(place.to_vec()).to_string();
        assert_eq!(told(&[3]), "row 3");
        assert_eq!(told(&[3, 2]), "row 3, column 2");
        assert_eq!(told(&[3, 0, 5, 7]), "row 3, element [0, 5, 7]");
    }
}
