//! Products of matrices of 64 bits where no instruction multiplies words of 64 bits.
//!
//! With x = x_0 + 2^32 x_1 and y likewise, x y = x_0 y_0 + 2^32 (x_0 y_1 + x_1 y_0) mod 2^64. One instruction
//! gives x_0 y_0, another x_0 y_1 and x_1 y_0 mod 2^32, if the halves of y are swapped; they are summed up
//! apart, and meet once an element of the result is done.

/// Defines `multiply_words`, [`crate::rings::multiply_add`] for words of 64 bits, for a level with 16
/// registers.
macro_rules! matrix {
    ($features:literal, {
        low: $low:ident, halves: $halves:ident, add: $add:ident, add_halves: $add_halves:ident,
        swap: $swap:ident, spread: $spread:ident, left: $left:ident, right: $right:ident,
    }) => {
        #[target_feature(enable = $features)]
        pub(super) fn multiply_words(
            x: &[u64],
            y: &[u64],
            z: &mut [u64],
            inner: usize,
            columns: usize,
        ) {
            use crate::portable::{BAND, INNER, ROWS, multiply_row};
            /// Words of a vector.
            const WORDS: usize = 2 * LANES;
            let whole = columns / WORDS * WORDS;
            // A part of y, a vector from each of its rows, one after the other.
            let mut panel = [[0; 16 * LANES]; INNER];
            let bands = x.chunks(BAND * inner).zip(z.chunks_mut(BAND * columns));
            for (x, z) in bands {
                for top in (0..inner).step_by(INNER) {
                    let depth = INNER.min(inner - top);
                    let y = &y[top * columns..][..depth * columns];
                    let tiled = x.len() / inner / ROWS * ROWS;
                    let (x_tiles, x_rest) = x.split_at(tiled * inner);
                    let (z_tiles, z_rest) = z.split_at_mut(tiled * columns);
                    if tiled > 0 {
                        for left in (0..whole).step_by(WORDS) {
                            for (panel, y) in panel.iter_mut().zip(y.chunks_exact(columns)) {
                                panel.copy_from_slice(crate::words_as_bytes(&y[left..][..WORDS]));
                            }
                            let tiles = x_tiles.chunks_exact(ROWS * inner);
                            for (x, z) in tiles.zip(z_tiles.chunks_exact_mut(ROWS * columns)) {
                                let x =
                                    core::array::from_fn(|row| &x[row * inner + top..][..depth]);
                                multiply_tile(x, &panel[..depth], &mut z[left..], columns);
                            }
                        }
                        if whole < columns {
                            let rows = x_tiles.chunks_exact(inner);
                            for (x, z) in rows.zip(z_tiles.chunks_exact_mut(columns)) {
                                let z = &mut z[whole..];
                                multiply_row(&x[top..][..depth], &y[whole..], z, columns);
                            }
                        }
                    }
                    let rows = x_rest.chunks_exact(inner);
                    for (x, z) in rows.zip(z_rest.chunks_exact_mut(columns)) {
                        multiply_row(&x[top..][..depth], y, z, columns);
                    }
                }
            }
            panel.zeroize();
        }

        /// Rows of z by one vector, in registers.
        #[inline]
        #[target_feature(enable = $features)]
        fn multiply_tile(
            x: [&[u64]; crate::portable::ROWS],
            panel: &[[u8; 16 * LANES]],
            z: &mut [u64],
            columns: usize,
        ) {
            const ROWS: usize = crate::portable::ROWS;
            let x = x.map(|x| &x[..panel.len()]);
            let zero = splat(Block::ZERO);
            let (mut low, mut high) = ([zero; ROWS], [zero; ROWS]);
            for k in 0..panel.len() {
                let y = load(&panel[k]);
                let swapped = $swap::<0xb1>(y);
                for row in 0..ROWS {
                    let factor = $spread(x[row][k] as i64);
                    low[row] = $add(low[row], $low(factor, y));
                    high[row] = $add_halves(high[row], $halves(factor, swapped));
                }
            }
            for row in 0..ROWS {
                let middle = $left::<32>($add_halves(high[row], $right::<32>(high[row])));
                let sum = $add(low[row], middle);
                let place = &mut z[row * columns..][..2 * LANES];
                if let Some(bytes) = crate::words_as_bytes_mut(place).first_chunk_mut() {
                    let sum = $add(sum, load(bytes));
                    store(bytes, sum);
                }
            }
        }
    };
}
pub(crate) use matrix;
