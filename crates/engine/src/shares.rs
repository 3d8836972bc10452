//! One party's part of a value.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use madrigal_circuit::Rows;
use madrigal_core::{Ring, Zeroizing, bits};
use madrigal_correlations::Width;
use madrigal_kernels::{self as kernels, Block, RowShape, crew};
use madrigal_protocols::planes;

use crate::sort::{Element, Sharing, Sort};

/// Part of a value that one party holds: its share, or the value itself where that is clear and this party
/// may know it. Wiped when dropped.
///
/// Bits lie in planes: bit i of all elements is one row of packed bits, padded to whole 64-bit words;
/// the components of a row lie side by side. Ring elements lie one after the other, component by
/// component. Labels of a garbled bit lie as planes do: those of one kind of all elements, one after the
/// other.
#[derive(Clone)]
pub struct Shares {
    sort: Sort,
    data: Data,
}

#[derive(Clone)]
enum Data {
    /// A clear value that this party does not know.
    Unknown,
    Bits(Zeroizing<Vec<u64>>),
    U8(Vec<Zeroizing<Vec<u8>>>),
    U16(Vec<Zeroizing<Vec<u16>>>),
    U32(Vec<Zeroizing<Vec<u32>>>),
    U64(Vec<Zeroizing<Vec<u64>>>),
    U128(Vec<Zeroizing<Vec<u128>>>),
    /// So many rows of labels for each plane.
    Labels(usize, Zeroizing<Vec<Block>>),
}

impl Data {
    /// Each component by itself.
    fn into_components(self) -> Vec<Self> {
        macro_rules! each {
            ($($variant:ident)*) => {
                match self {
                    $(Self::$variant(parts) => {
                        parts.into_iter().map(|part| Self::$variant(vec![part])).collect()
                    })*
                    other => vec![other],
                }
            };
        }
        each!(U8 U16 U32 U64 U128)
    }
}

/// A value that cannot be read as numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a value of {sort}{} is not to be read as numbers of {bits} bits: it must be bits, no more of them, of one component and known here",
    if *.known { "" } else { ", unknown to this party," }
)]
pub struct NotNumbers {
    /// Sort of the value.
    pub sort: Sort,
    /// Whether this party has a share of it, or knows it.
    pub known: bool,
    /// Bits of the numbers that were asked for.
    pub bits: usize,
}

/// A ring whose elements [`Shares`] can hold: all of them.
pub trait Held: Ring {
    #[doc(hidden)]
    fn wrap(components: Vec<Zeroizing<Vec<Self>>>) -> Wrapped;
    #[doc(hidden)]
    fn open(shares: &Shares) -> Option<&Vec<Zeroizing<Vec<Self>>>>;
    #[doc(hidden)]
    fn open_mut(shares: &mut Shares) -> Option<&mut Vec<Zeroizing<Vec<Self>>>>;
}

/// Components of some ring.
#[doc(hidden)]
pub struct Wrapped(Data);

macro_rules! held {
    ($($ring:ident $variant:ident)*) => {$(
        impl Held for $ring {
            fn wrap(components: Vec<Zeroizing<Vec<Self>>>) -> Wrapped {
                Wrapped(Data::$variant(components))
            }

            fn open(shares: &Shares) -> Option<&Vec<Zeroizing<Vec<Self>>>> {
                match &shares.data {
                    Data::$variant(components) => Some(components),
                    _ => None,
                }
            }

            fn open_mut(shares: &mut Shares) -> Option<&mut Vec<Zeroizing<Vec<Self>>>> {
                match &mut shares.data {
                    Data::$variant(components) => Some(components),
                    _ => None,
                }
            }
        }
    )*};
}
held!(u8 U8 u16 U16 u32 U32 u64 U64 u128 U128);

impl fmt::Debug for Shares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Shares({})", self.sort)
    }
}

impl Shares {
    /// Zeros.
    ///
    /// # Panics
    /// For elements that are garbled: what labels there are is the protocol's business.
    pub fn zeros(sort: Sort) -> Self {
        if sort.sharing.has_labels() {
            assert_eq!(sort.len, 0, "labels of {sort}");
            return Self::labels(sort, 0, Zeroizing::default());
        }
        let data = match sort.element {
            Element::Bits(planes) => {
                let words = planes * shape_of(&sort).width();
                Data::Bits(Zeroizing::new(vec![0; words]))
            }
            Element::Ring(width) => crate::with_ring!(width, T => {
                let one = || Zeroizing::new(vec![T::ZERO; sort.len]);
                T::wrap((0..sort.sharing.components()).map(|_| one()).collect()).0
            }),
        };
        Self { sort, data }
    }

    /// Labels of garbled bits: `rows` rows for each plane, each with a label for each element.
    ///
    /// # Panics
    /// If the number of labels does not fit.
    pub fn labels(sort: Sort, rows: usize, labels: Zeroizing<Vec<Block>>) -> Self {
        assert_eq!(
            labels.len(),
            sort.element.bits() * rows * sort.len,
            "labels"
        );
        let data = Data::Labels(rows, labels);
        Self { sort, data }
    }

    /// A clear value, at a party that does not know it.
    pub fn unknown(sort: Sort) -> Self {
        Self {
            sort,
            data: Data::Unknown,
        }
    }

    /// Ring elements, a vector for each component.
    ///
    /// # Panics
    /// If components are missing or differ in length.
    pub fn ring<T: Held>(sharing: Sharing, components: Vec<Zeroizing<Vec<T>>>) -> Self {
        assert_eq!(components.len(), sharing.components(), "components");
        let len = components[0].len();
        assert!(components.iter().all(|part| part.len() == len), "lengths");
        Self {
            sort: Sort::new(sharing, Element::Ring(Width::of::<T>()), len),
            data: T::wrap(components).0,
        }
    }

    /// Ring elements of one component.
    pub fn ring_of<T: Held>(sharing: Sharing, elements: impl Into<Zeroizing<Vec<T>>>) -> Self {
        Self::ring(sharing, vec![elements.into()])
    }

    /// Bits in the clear, a row for each plane.
    pub fn rows(sharing: Sharing, rows: &Rows) -> Self {
        assert_eq!(sharing.components(), 1, "components");
        let mut shares = Self::zeros(Sort::new(sharing, Element::Bits(rows.rows()), rows.lanes()));
        shares.plane_bytes_mut().copy_from_slice(rows.as_bytes());
        shares
    }

    /// The planes of a value with one component, as rows; nothing where the value is not known here.
    pub fn to_rows(&self) -> Option<Rows> {
        let Data::Bits(words) = &self.data else {
            return None;
        };
        let Element::Bits(planes) = self.sort.element else {
            return None;
        };
        assert_eq!(self.sort.sharing.components(), 1, "components");
        let mut rows = Rows::new(planes, self.sort.len);
        rows.as_bytes_mut()
            .copy_from_slice(kernels::words_as_bytes(words));
        Some(rows)
    }

    /// The lowest `bits` bits of numbers in the clear.
    ///
    /// # Panics
    /// If T has fewer bits.
    pub fn bits_of<T: Ring>(sharing: Sharing, bits: usize, numbers: &[T]) -> Self {
        assert_eq!(sharing.components(), 1, "components");
        let mut shares = Self::zeros(Sort::new(sharing, Element::Bits(bits), numbers.len()));
        let planes = shares.plane_bytes_mut();
        if let Some(stride) = planes.len().checked_div(bits) {
            planes::split(numbers, planes, stride);
        }
        shares
    }

    /// Reads the numbers that have these bits, of a value with one component.
    ///
    /// # Errors
    /// [`NotNumbers`]: the value holds no bits, is not known here, has several components, or its bits do not fit
    /// into T.
    pub fn to_numbers<T: Ring>(&self) -> Result<Zeroizing<Vec<T>>, NotNumbers> {
        let (Data::Bits(words), Element::Bits(bits)) = (&self.data, self.sort.element) else {
            return Err(self.not_numbers::<T>());
        };
        if self.sort.sharing.components() != 1 || bits > T::BITS {
            return Err(self.not_numbers::<T>());
        }
        let mut numbers = Zeroizing::zeros(self.sort.len);
        let planes = kernels::words_as_bytes(words);
        if let Some(stride) = planes.len().checked_div(bits) {
            planes::join(planes, stride, &mut numbers);
        }
        Ok(numbers)
    }

    fn not_numbers<T: Ring>(&self) -> NotNumbers {
        NotNumbers {
            sort: self.sort,
            known: self.is_known(),
            bits: T::BITS,
        }
    }

    /// Sort of the value.
    pub fn sort(&self) -> &Sort {
        &self.sort
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.sort.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sort.len == 0
    }

    /// Whether this party has a share of it, or knows it.
    pub fn is_known(&self) -> bool {
        !matches!(self.data, Data::Unknown)
    }

    /// Names another sharing of as many components for the same data: of a protocol in which a share is
    /// the same thing.
    ///
    /// # Panics
    /// If the number of components differs.
    #[must_use]
    pub fn as_shared(mut self, sharing: Sharing) -> Self {
        assert_eq!(sharing.components(), self.sort.sharing.components());
        self.sort.sharing = sharing;
        self
    }

    /// Elements of one component of a value over a ring.
    ///
    /// # Panics
    /// If it is not over this ring, or not known here; so do the accessors below.
    pub fn component<T: Held>(&self, component: usize) -> &[T] {
        let Some(components) = T::open(self) else {
            panic!("{self:?} holds no u{}", T::BITS);
        };
        &components[component]
    }

    /// Elements of one component, to be written.
    pub fn component_mut<T: Held>(&mut self, component: usize) -> &mut [T] {
        let sort = self.sort;
        let Some(components) = T::open_mut(self) else {
            panic!("{sort} holds no u{}", T::BITS);
        };
        &mut components[component]
    }

    /// All components, taken out.
    pub fn into_components<T: Held>(mut self) -> Vec<Zeroizing<Vec<T>>> {
        let sort = self.sort;
        let Some(components) = T::open_mut(&mut self) else {
            panic!("{sort} holds no u{}", T::BITS);
        };
        std::mem::take(components)
    }

    /// How planes lie in [`words`](Self::words).
    pub fn shape(&self) -> RowShape {
        shape_of(&self.sort)
    }

    /// A row of labels of a plane.
    ///
    /// # Panics
    /// If there are none.
    pub fn label_row(&self, plane: usize, row: usize) -> &[Block] {
        match &self.data {
            Data::Labels(rows, labels) => {
                &labels[(plane * rows + row) * self.sort.len..][..self.sort.len]
            }
            _ => panic!("{self:?} holds no labels"),
        }
    }

    /// Labels of the rows of a plane from one on, row by row.
    ///
    /// # Panics
    /// If there are none.
    pub fn label_rows_from(&self, plane: usize, row: usize) -> &[Block] {
        match &self.data {
            Data::Labels(rows, labels) => {
                &labels[(plane * rows + row) * self.sort.len..(plane + 1) * rows * self.sort.len]
            }
            _ => panic!("{self:?} holds no labels"),
        }
    }

    /// All labels, plane by plane, of a value with one row of them.
    ///
    /// # Panics
    /// If there are none, or several rows.
    pub fn only_labels(&self) -> &[Block] {
        match &self.data {
            Data::Labels(1, labels) => labels,
            _ => panic!("{self:?} holds no labels of one row"),
        }
    }

    /// A row of labels of a plane, to be written.
    ///
    /// # Panics
    /// If there are none.
    pub fn label_row_mut(&mut self, plane: usize, row: usize) -> &mut [Block] {
        let len = self.sort.len;
        match &mut self.data {
            Data::Labels(rows, labels) => &mut labels[(plane * *rows + row) * len..][..len],
            _ => panic!("{} holds no labels", self.sort),
        }
    }

    /// Rows of labels that each plane has; 0 where the value is no labels.
    pub fn label_rows(&self) -> usize {
        match &self.data {
            Data::Labels(rows, _) => *rows,
            _ => 0,
        }
    }

    /// Zeros of the same sort, but for the number of elements.
    #[must_use]
    pub fn blank(&self, len: usize) -> Self {
        let sort = self.sort.of_len(len);
        match &self.data {
            Data::Labels(rows, _) => {
                let labels = vec![Block::ZERO; sort.element.bits() * rows * len];
                Self::labels(sort, *rows, Zeroizing::new(labels))
            }
            _ => Self::zeros(sort),
        }
    }

    /// All planes.
    pub fn words(&self) -> &[u64] {
        match &self.data {
            Data::Bits(words) => words,
            _ => panic!("{self:?} holds no bits"),
        }
    }

    /// All planes, to be written.
    pub fn words_mut(&mut self) -> &mut [u64] {
        match &mut self.data {
            Data::Bits(words) => words,
            _ => panic!("{} holds no bits", self.sort),
        }
    }

    /// One component of a plane, with its padding.
    pub fn plane(&self, plane: usize, component: usize) -> &[u8] {
        let place = self.shape().place(plane as u32, component);
        kernels::words_as_bytes(&self.words()[place])
    }

    /// One component of a plane, to be written.
    pub fn plane_mut(&mut self, plane: usize, component: usize) -> &mut [u8] {
        let place = self.shape().place(plane as u32, component);
        kernels::words_as_bytes_mut(&mut self.words_mut()[place])
    }

    /// All planes as bytes.
    pub fn plane_bytes(&self) -> &[u8] {
        kernels::words_as_bytes(self.words())
    }

    /// All planes as bytes, to be written.
    pub fn plane_bytes_mut(&mut self) -> &mut [u8] {
        kernels::words_as_bytes_mut(self.words_mut())
    }

    /// Hands the elements of a value with one component to `take`, such as a hash, without padding.
    pub fn each_bytes(&self, mut take: impl FnMut(&[u8])) {
        match self.sort.element {
            Element::Bits(planes) => {
                for plane in 0..planes {
                    let plane = &self.plane(plane, 0)[..bits::bytes_for(self.len())];
                    let mut plane = Zeroizing::new(plane.to_vec());
                    bits::clear_tail(&mut plane, self.len());
                    take(&plane);
                }
            }
            Element::Ring(width) => crate::with_ring!(width, T => {
                take(kernels::rings::as_bytes(self.component::<T>(0)));
            }),
        }
    }

    /// A copy of some elements.
    ///
    /// # Panics
    /// If they are not there.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        assert!(range.end <= self.sort.len, "{self:?} has no {range:?}");
        let sort = self.sort.of_len(range.len());
        if matches!(self.data, Data::Unknown) {
            return Self::unknown(sort);
        }
        let mut slice = self.blank(range.len());
        slice.put(0, self, range);
        slice
    }

    /// All elements of `pieces`, in order.
    ///
    /// # Panics
    /// If there are none, or pieces of different sorts.
    pub fn concat(pieces: &[&Self]) -> Self {
        Self::concat_rows(pieces, 1)
    }

    /// All elements of `pieces`, of which each has this many rows of one length: the first row of each, in order, then the
    /// second row of each, and so on.
    ///
    /// # Panics
    /// If there are no pieces or rows, or pieces of different sorts.
    pub fn concat_rows(pieces: &[&Self], rows: usize) -> Self {
        let len = pieces.iter().map(|piece| piece.len()).sum();
        let sort = pieces[0].sort.of_len(len);
        if pieces.iter().any(|piece| !piece.is_known()) {
            return Self::unknown(sort);
        }
        // Nobody knows how many labels garbled values without elements would have.
        let like = pieces.iter().find(|piece| !piece.is_empty());
        let mut whole = like.unwrap_or(&pieces[0]).blank(len);
        let is_long = sort.bytes() >= SHARED;
        let in_order = || {
            let row = |row| {
                pieces
                    .iter()
                    .map(move |piece| (*piece, row_of(piece, row, rows)))
            };
            (0..rows).flat_map(row)
        };
        match sort.element {
            Element::Ring(width) if rows == 1 => crate::with_ring!(width, T => {
                for component in 0..sort.sharing.components() {
                    let mut rest = whole.component_mut::<T>(component);
                    let copies = pieces.iter().map(|piece| {
                        let (to, after) = std::mem::take(&mut rest).split_at_mut(piece.len());
                        rest = after;
                        (to, piece.component::<T>(component))
                    });
                    shared_if(is_long, copies, |(to, from)| to.copy_from_slice(from));
                }
            }),
            Element::Ring(width) => crate::with_ring!(width, T => {
                let line = (len / rows).max(1);
                for component in 0..sort.sharing.components() {
                    let all = whole.component_mut::<T>(component);
                    let lines = crew::slices(all, line, SHARED / T::BYTES);
                    shared_if(is_long, lines, |(first, mut to)| {
                        for row in first / line..(first + to.len()) / line {
                            for piece in pieces {
                                let from = &piece.component::<T>(component)[row_of(piece, row, rows)];
                                let (part, after) = to.split_at_mut(from.len());
                                part.copy_from_slice(from);
                                to = after;
                            }
                        }
                    });
                }
            }),
            Element::Bits(_) if !sort.sharing.has_labels() && is_in_turn(pieces, rows) => {
                let shape = whole.shape();
                let planes = whole.words_mut().chunks_mut(shape.stride.max(1));
                shared_if(is_long, planes.enumerate(), |(number, to)| {
                    let (plane, component) = (number / shape.components, number % shape.components);
                    let [one, other] = [pieces[0], pieces[1]]
                        .map(|piece| &piece.words()[piece.shape().place(plane as u32, component)]);
                    let words = one.iter().zip(other);
                    let words = words
                        .flat_map(|(one, other)| in_turn(u64::from_le(*one), u64::from_le(*other)));
                    to.iter_mut()
                        .zip(words)
                        .for_each(|(to, word)| *to = word.to_le());
                    let row = kernels::words_as_bytes_mut(to);
                    let (row, padding) = row.split_at_mut(bits::bytes_for(len));
                    bits::clear_tail(row, len);
                    padding.fill(0);
                });
            }
            Element::Bits(_) if !sort.sharing.has_labels() => {
                let shape = whole.shape();
                let planes = whole.words_mut().chunks_mut(shape.stride.max(1));
                shared_if(is_long, planes.enumerate(), |(number, to)| {
                    let place = (number / shape.components, number % shape.components);
                    let (to, mut at) = (kernels::words_as_bytes_mut(to), 0);
                    let mut buffer = Zeroizing::default();
                    for (piece, range) in in_order() {
                        let from = piece.plane(place.0, place.1);
                        put_bits(to, at, from, &range, &mut buffer);
                        at += range.len();
                    }
                });
            }
            Element::Bits(_) => {
                let mut at = 0;
                for (piece, range) in in_order() {
                    whole.put(at, piece, range.clone());
                    at += range.len();
                }
            }
        }
        whole
    }

    /// Writes elements of another value of this sort from element `at` on.
    ///
    /// # Panics
    /// If the sorts differ in more than the number of elements, or the elements are not there.
    pub fn put(&mut self, at: usize, from: &Self, range: Range<usize>) {
        assert_eq!(self.sort.of_len(0), from.sort.of_len(0), "one sort");
        if range.is_empty() {
            return;
        }
        match self.sort.element {
            Element::Bits(planes) if self.sort.sharing.has_labels() => {
                assert_eq!(self.label_rows(), from.label_rows(), "rows of labels");
                for (plane, row) in
                    (0..planes).flat_map(|p| (0..from.label_rows()).map(move |r| (p, r)))
                {
                    let source = &from.label_row(plane, row)[range.clone()];
                    self.label_row_mut(plane, row)[at..at + source.len()].copy_from_slice(source);
                }
            }
            Element::Bits(planes) => {
                let mut buffer = Zeroizing::default();
                for plane in 0..planes {
                    for component in 0..self.sort.sharing.components() {
                        let source = from.plane(plane, component);
                        let to = self.plane_mut(plane, component);
                        put_bits(to, at, source, &range, &mut buffer);
                    }
                }
            }
            Element::Ring(width) => crate::with_ring!(width, T => {
                for component in 0..self.sort.sharing.components() {
                    let source = &from.component::<T>(component)[range.clone()];
                    self.component_mut::<T>(component)[at..at + source.len()].copy_from_slice(source);
                }
            }),
        }
    }
}

/// Elements of a row of a value that has this many.
fn row_of(value: &Shares, row: usize, rows: usize) -> Range<usize> {
    let each = value.len() / rows;
    row * each..(row + 1) * each
}

/// Writes bits of `from` to bit `at` of `to` and those after it; the buffer is for bits that begin within a byte.
fn put_bits(
    to: &mut [u8],
    at: usize,
    from: &[u8],
    range: &Range<usize>,
    buffer: &mut Zeroizing<Vec<u8>>,
) {
    let count = range.len();
    if range.start.is_multiple_of(8) {
        return bits::put(to, at, &from[range.start / 8..], count);
    }
    let bytes = bits::bytes_for(count);
    if buffer.len() < bytes {
        *buffer = Zeroizing::zeros(bytes);
    }
    bits::take(from, range.start, buffer, count);
    bits::put(to, at, buffer, count);
}

/// Bytes of a value that are worth the attention of several threads.
const SHARED: usize = 1 << 18;

/// Does `work` on each piece, on the threads of the [crew] at work if there is much of it.
fn shared_if<T: Send>(much: bool, pieces: impl IntoIterator<Item = T>, work: impl Fn(T) + Sync) {
    match much {
        true => crew::each(pieces, work),
        false => pieces.into_iter().for_each(work),
    }
}

/// Gives values up. Those that nobody else has are wiped, which takes as long as copying them: by the [crew] at work.
pub fn give_up(values: Vec<Arc<Shares>>) {
    if crew::threads() == 1 {
        return;
    }
    let last: Vec<Shares> = values.into_iter().filter_map(Arc::into_inner).collect();
    let bytes: usize = last.iter().map(|value| value.sort.bytes()).sum();
    let parts = last
        .into_iter()
        .flat_map(|value| value.data.into_components());
    shared_if(bytes >= WIPED, parts, drop);
}

/// Bytes that are worth the attention of several threads where they are wiped.
const WIPED: usize = 1 << 20;

/// Whether elements of two values alternate.
fn is_in_turn(pieces: &[&Shares], rows: usize) -> bool {
    pieces.len() == 2 && pieces.iter().all(|piece| piece.len() == rows)
}

/// Bits of two words in turn, in two words.
fn in_turn(one: u64, other: u64) -> [u64; 2] {
    const SPREAD: [(u32, u64); 5] = [
        (16, 0x0000_ffff_0000_ffff),
        (8, 0x00ff_00ff_00ff_00ff),
        (4, 0x0f0f_0f0f_0f0f_0f0f),
        (2, 0x3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555),
    ];
    let half = |word: u64, shift: u32| {
        let half = word >> shift & 0xffff_ffff;
        SPREAD
            .into_iter()
            .fold(half, |word, (by, mask)| (word | word << by) & mask)
    };
    [0, 32].map(|shift| half(one, shift) | half(other, shift) << 1)
}

fn shape_of(sort: &Sort) -> RowShape {
    RowShape {
        components: sort.sharing.components(),
        stride: Rows::stride_for(sort.len) / 8,
    }
}
