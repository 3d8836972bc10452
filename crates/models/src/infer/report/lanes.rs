//! The network as lines beside its rows: which row reads which.
//!
//! A row that the next one reads has a straight line to it. What is read further below goes down in a lane of its own,
//! which is free again behind the last reader.

/// The most lanes that are drawn.
const MOST: usize = 10;
/// Height of a row and distance of lanes, in pixels.
pub(crate) const HEIGHT: usize = 28;
const STEP: usize = 12;
const FIRST: usize = 10;

/// Lines beside one row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Beside {
    /// The row before is read.
    pub(crate) above: bool,
    /// The next row reads this one.
    pub(crate) below: bool,
    /// Lanes that pass.
    pub(crate) pass: Vec<usize>,
    /// The lane that begins here.
    pub(crate) begins: Option<usize>,
    /// Lanes that are read here, and whether they end.
    pub(crate) read: Vec<(usize, bool)>,
}

/// The lines of all rows.
#[derive(Debug)]
pub(crate) struct Lines {
    pub(crate) rows: Vec<Beside>,
    /// Lanes in use.
    pub(crate) lanes: usize,
    /// Rows whose lanes had no room.
    pub(crate) left_out: usize,
}

/// Draws rows of which each reads some before it.
pub(crate) fn lines(reads: &[Vec<usize>]) -> Lines {
    let mut rows = vec![Beside::default(); reads.len()];
    let mut readers: Vec<Vec<usize>> = vec![Vec::new(); reads.len()];
    for (row, reads) in reads.iter().enumerate() {
        for &read in reads.iter().filter(|&&read| read < row) {
            if read + 1 == row {
                (rows[read].below, rows[row].above) = (true, true);
            } else {
                readers[read].push(row);
            }
        }
    }
    // The last row of each lane that is taken.
    let mut ends: Vec<usize> = Vec::new();
    let mut left_out = 0;
    for (row, readers) in readers.iter().enumerate() {
        let Some(&last) = readers.last() else {
            continue;
        };
        let lane = match ends.iter().position(|&end| end <= row) {
            Some(lane) => lane,
            None if ends.len() < MOST => {
                ends.push(0);
                ends.len() - 1
            }
            None => {
                left_out += 1;
                continue;
            }
        };
        ends[lane] = last;
        rows[row].begins = Some(lane);
        let mut next = readers.iter().peekable();
        for (at, beside) in rows.iter_mut().enumerate().take(last + 1).skip(row + 1) {
            match next.next_if(|&&reader| reader == at) {
                Some(_) => beside.read.push((lane, at == last)),
                None => beside.pass.push(lane),
            }
        }
    }
    Lines {
        rows,
        lanes: ends.len(),
        left_out,
    }
}

impl Lines {
    /// The drawing beside a row.
    pub(crate) fn svg(&self, row: usize) -> String {
        let (middle, beside) = (HEIGHT / 2, &self.rows[row]);
        let width = 2 * FIRST + STEP * self.lanes;
        let x = |lane: usize| FIRST + STEP * (lane + 1);
        let mut path = String::new();
        let mut line = |part: String| path.push_str(&part);
        if beside.above {
            line(format!("M{FIRST} 0V{middle}"));
        }
        if beside.below {
            line(format!("M{FIRST} {middle}V{HEIGHT}"));
        }
        for &lane in &beside.pass {
            line(format!("M{} 0V{HEIGHT}", x(lane)));
        }
        if let Some(lane) = beside.begins {
            let x = x(lane);
            line(format!("M{FIRST} {middle}Q{x} {middle} {x} {HEIGHT}"));
        }
        for &(lane, ends) in &beside.read {
            let x = x(lane);
            line(format!("M{x} 0Q{x} {middle} {FIRST} {middle}"));
            if !ends {
                line(format!("M{x} 0V{HEIGHT}"));
            }
        }
        format!(
            "<svg class=\"g\" width=\"{width}\" height=\"{HEIGHT}\" aria-hidden=\"true\"><path d=\"{path}\"/>\
             <circle cx=\"{FIRST}\" cy=\"{middle}\" r=\"4\"/></svg>"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_skips_rows_has_a_lane() {
        // 0 - 1 - 2 - 3, and 0 to 2 and 3.
        let drawn = lines(&[vec![], vec![0], vec![0, 1], vec![0, 2]]);
        assert_eq!((drawn.lanes, drawn.left_out), (1, 0));
        let [first, second, third, last] = &drawn.rows[..] else {
            panic!("four rows");
        };
        assert!(first.below && first.begins == Some(0) && !first.above);
        assert_eq!(second.pass, [0]);
        assert_eq!(third.read, [(0, false)]);
        assert_eq!(
            (last.read.as_slice(), last.below),
            (&[(0, true)][..], false)
        );
        assert!(drawn.svg(0).contains("M10 14V28"), "{}", drawn.svg(0));
    }

    #[test]
    fn lanes_are_used_again_and_are_few() {
        // Blocks of three rows, each with a way around the middle one.
        let chain = |rows: usize| -> Vec<Vec<usize>> {
            let reads = |row: usize| match (row, row % 3) {
                (0, _) => vec![],
                (row, 2) => vec![row - 2, row - 1],
                (row, _) => vec![row - 1],
            };
            (0..rows).map(reads).collect()
        };
        assert_eq!(lines(&chain(3000)).lanes, 1);
        // Each is read by the last one.
        let mut all = vec![Vec::new(); 100];
        all[99] = (0..99).collect();
        let drawn = lines(&all);
        assert_eq!((drawn.lanes, drawn.left_out), (MOST, 98 - MOST));
        // A row that reads what is not before it.
        assert_eq!(lines(&[vec![0, 5]]).lanes, 0);
    }
}
