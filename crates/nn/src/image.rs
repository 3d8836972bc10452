//! Images (`.png`) as networks take them: channel by channel, row by row; or row by row with all channels of a pixel
//! together.
//!
//! Read are images of grey, or of red, green and blue, in any form that files have: fewer or more bits than 8, places in a
//! palette, transparency beside the colours. Of an animation it is the image that viewers show who know of none. Colours
//! are read as bytes: those of 16 bits as bytes with a fraction, 65535 as 255. Notes of the file on colours beside
//! (gamma, profiles) are passed over, and so is transparency: networks are trained on the colours, as those who read
//! images for them have it (`convert("RGB")`).

use std::io::Cursor;

use png::{BitDepth, ColorType, Decoder, DecodingError, Limits, Transformations};

use crate::tensor::sizes;

/// The most pixels that an image may have: 64 Mi.
pub const MOST_PIXELS: u64 = 1 << 26;

/// Bytes that the decoder may take beside the pixels: for a row, and for what the file notes beside its pixels.
const MEMORY: usize = 16 << 20;
/// Bytes that such files begin with.
const MAGIC: &[u8] = b"\x89PNG\r\n\x1a\n";
/// The most bytes that a byte of the file can become: DEFLATE repeats 258 bytes by two bits at best.
const INFLATED: u64 = 1032;

/// Reasons why a file is no image, or none that can be read or fits.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ImageError {
    /// A file that does not begin as such files do.
    #[error("this is no PNG image: convert it to one")]
    Magic,
    /// The file ends before the last pixel.
    #[error("the PNG image ends before its last pixel: it is damaged")]
    Cut,
    /// Message of the decoder about a damaged file.
    #[error("the PNG image is damaged: {0}")]
    Damaged(String),
    /// Too many pixels.
    #[error("{width} x {height} pixels; at most {most} are read: scale the image", most = MOST_PIXELS)]
    Size {
        /// Pixels in a row.
        width: u32,
        /// Number of rows.
        height: u32,
    },
    /// More pixels than the file can have.
    #[error(
        "the PNG image announces {width} x {height} pixels, which its {found} bytes cannot hold: it is damaged"
    )]
    Short {
        /// Pixels in a row.
        width: u32,
        /// Number of rows.
        height: u32,
        /// The file's length in bytes.
        found: usize,
    },
    /// A row is too long, or there is too much beside the pixels.
    #[error(
        "the PNG image has rows, or notes beside its pixels, of more than {most} MiB: scale it, or save it without notes",
        most = MEMORY >> 20
    )]
    Memory,
    /// The decoder left places in a palette as they are.
    #[error("the PNG image has a palette that is not read: convert it")]
    Palette,
    /// Another number of scalings than of channels.
    #[error(
        "there are {found} scalings, and the image's channels are {expected}: give one for each"
    )]
    Scalings {
        /// Number of channels.
        expected: usize,
        /// Number of scalings that came.
        found: usize,
    },
    /// A scaling that makes a byte infinite.
    #[error(
        "({value} * {} - {}) / {} of channel {channel} is no finite number: give another scaling",
        .scaling.factor, .scaling.mean, .scaling.deviation
    )]
    Infinite {
        /// A value that occurs in the image, from 0 to 255.
        value: f64,
        /// Channel of the number, counted from 1.
        channel: usize,
        /// The channel's scaling.
        scaling: Scaling,
    },
    /// An image of other sizes than an input takes.
    #[error(
        "it has {width} x {height} pixels of {} (channels x rows x columns: {channels} x {height} x {width}, or the \
         channels last); the model's input {name:?} takes {}: scale or convert the image",
        kind(*.channels), wanted(.shape)
    )]
    Fit {
        /// Number of channels of the image.
        channels: usize,
        /// Number of rows.
        height: usize,
        /// Pixels in a row.
        width: usize,
        /// The input's name.
        name: String,
        /// The input's dimensions, the batch first.
        shape: Vec<usize>,
    },
}

impl From<DecodingError> for ImageError {
    fn from(error: DecodingError) -> Self {
        match error {
            // Bytes in memory have no other fault than their end.
            DecodingError::IoError(_) => Self::Cut,
            DecodingError::LimitsExceeded => Self::Memory,
            other => Self::Damaged(other.to_string()),
        }
    }
}

fn kind(channels: usize) -> &'static str {
    match channels {
        1 => "grey",
        _ => "red, green and blue",
    }
}

/// Writes the sizes that a shape wants, as in 3 x 4 x 4, and 2 of them.
fn wanted(shape: &[usize]) -> String {
    let one = sizes(shape.get(1..).unwrap_or(&[]));
    match shape.first() {
        Some(1) | None => one,
        Some(count) => format!("{one}, and {count} of them"),
    }
}

/// Scaling by which the bytes of a channel become numbers: `(byte * factor - mean) / deviation`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaling {
    /// Factor that bytes are multiplied with.
    pub factor: f64,
    /// Number that is subtracted then.
    pub mean: f64,
    /// Number that the difference is divided by.
    pub deviation: f64,
}

/// Scales to numbers from 0 to 1.
impl Default for Scaling {
    fn default() -> Self {
        Self {
            factor: 1.0 / 255.0,
            mean: 0.0,
            deviation: 1.0,
        }
    }
}

/// Orders in which an input has the numbers of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Numbers by channel, row and column.
    Planes,
    /// Numbers by row, column and channel.
    Pixels,
}

/// An image of one or three channels.
#[derive(Clone, PartialEq, Eq)]
pub struct Image {
    channels: usize,
    height: usize,
    width: usize,
    /// Bytes of a sample, 1 or 2.
    size: usize,
    /// Samples by row, column and channel, the high byte first.
    bytes: Vec<u8>,
}

/// Shows how large the image is; the pixels may be secret.
impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (channels, height, width) = (self.channels, self.height, self.width);
        write!(f, "Image({channels} x {height} x {width})")
    }
}

/// Reads an image. Memory follows what the file can hold, at most [`MOST_PIXELS`], not what its header announces.
///
/// # Errors
/// [`ImageError`] if it is no such file, or has too many pixels.
pub fn read(file: &[u8]) -> Result<Image, ImageError> {
    if !file.starts_with(MAGIC) {
        return Err(ImageError::Magic);
    }
    let mut decoder = Decoder::new_with_limits(Cursor::new(file), Limits { bytes: MEMORY });
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    let header = decoder.read_header_info()?;
    let (width, height) = (header.width, header.height);
    let count = u64::from(width) * u64::from(height);
    if count > MOST_PIXELS {
        return Err(ImageError::Size { width, height });
    }
    let parts = match header.color_type {
        ColorType::Grayscale | ColorType::Indexed => 1,
        ColorType::GrayscaleAlpha => 2,
        ColorType::Rgb => 3,
        ColorType::Rgba => 4,
    };
    let bits = header.bit_depth as u64 * parts;
    if count * bits / 8 / INFLATED > file.len() as u64 {
        return Err(ImageError::Short {
            width,
            height,
            found: file.len(),
        });
    }
    // Fewer bits than 8 become 8, places in a palette the colours there.
    decoder.set_transformations(Transformations::EXPAND);
    let mut reader = decoder.read_info()?;
    let (color, depth) = reader.output_color_type();
    let (parts, channels) = match color {
        ColorType::Grayscale => (1, 1),
        ColorType::GrayscaleAlpha => (2, 1),
        ColorType::Rgb => (3, 3),
        ColorType::Rgba => (4, 3),
        ColorType::Indexed => return Err(ImageError::Palette),
    };
    let size = match depth {
        BitDepth::Sixteen => 2,
        _ => 1,
    };
    let mut bytes = vec![0; count as usize * parts * size];
    reader.next_frame(&mut bytes)?;
    if parts > channels {
        // Without transparency, in place.
        let colours = channels * size;
        for pixel in 0..count as usize {
            let start = pixel * parts * size;
            bytes.copy_within(start..start + colours, pixel * colours);
        }
        bytes.truncate(count as usize * colours);
    }
    Ok(Image {
        channels,
        height: height as usize,
        width: width as usize,
        size,
        bytes,
    })
}

impl Image {
    /// Number of channels: 1 of grey, or 3 of red, green and blue.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Number of rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Pixels in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Dimensions of the image in a layout.
    pub fn sizes(&self, layout: Layout) -> [usize; 3] {
        match layout {
            Layout::Planes => [self.channels, self.height, self.width],
            Layout::Pixels => [self.height, self.width, self.channels],
        }
    }

    /// Numbers of the image by channel, row and column, with a scaling for each channel.
    ///
    /// # Errors
    /// [`ImageError`] if there are more scalings or fewer, or one of them makes a number infinite.
    pub fn numbers(&self, scalings: &[Scaling]) -> Result<Vec<f64>, ImageError> {
        self.numbers_in(Layout::Planes, scalings)
    }

    /// Numbers of the image in a layout.
    fn numbers_in(&self, layout: Layout, scalings: &[Scaling]) -> Result<Vec<f64>, ImageError> {
        if scalings.len() != self.channels {
            return Err(ImageError::Scalings {
                expected: self.channels,
                found: scalings.len(),
            });
        }
        let number = move |channel: usize, sample: &[u8]| {
            let value = match *sample {
                [high, low] => f64::from(u16::from_be_bytes([high, low])) / 257.0,
                [byte] => byte.into(),
                _ => unreachable!("samples have one byte or two"),
            };
            let scaling = scalings[channel];
            let number = (value * scaling.factor - scaling.mean) / scaling.deviation;
            match number.is_finite() {
                true => Ok(number),
                false => Err(ImageError::Infinite {
                    value,
                    channel: channel + 1,
                    scaling,
                }),
            }
        };
        let samples = || self.bytes.chunks_exact(self.size);
        match layout {
            Layout::Planes => {
                let of = |channel: usize| {
                    let own = samples().skip(channel).step_by(self.channels);
                    own.map(move |sample| number(channel, sample))
                };
                (0..self.channels).flat_map(of).collect()
            }
            Layout::Pixels => {
                let channels = (0..self.channels).cycle();
                let all = channels.zip(samples());
                all.map(|(channel, sample)| number(channel, sample))
                    .collect()
            }
        }
    }

    /// Numbers of the image for an input of this name and shape, whose first dimension is the batch and must be 1: by channel,
    /// row and column, or, where that does not fit, with the channels last; without channels if it is grey; or all in a row,
    /// by channel, row and column.
    ///
    /// # Errors
    /// [`ImageError`] if the input takes other sizes, or as [`Image::numbers`].
    pub fn for_input(
        &self,
        name: &str,
        shape: &[usize],
        scalings: &[Scaling],
    ) -> Result<Vec<f64>, ImageError> {
        let planes = self.sizes(Layout::Planes);
        let layout = match *shape {
            [1, ref sizes @ ..] if *sizes == planes => Some(Layout::Planes),
            [1, ref sizes @ ..] if *sizes == self.sizes(Layout::Pixels) => Some(Layout::Pixels),
            [1, height, width] if planes == [1, height, width] => Some(Layout::Planes),
            [1, all] if all * self.size == self.bytes.len() => Some(Layout::Planes),
            _ => None,
        };
        if let Some(layout) = layout {
            return self.numbers_in(layout, scalings);
        }
        let [channels, height, width] = planes;
        Err(ImageError::Fit {
            channels,
            height,
            width,
            name: name.to_owned(),
            shape: shape.to_owned(),
        })
    }
}
