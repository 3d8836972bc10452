//! Images (PNG) as networks take them: channel by channel, row by row.

use std::io::Cursor;
use std::path::Path;

use png::{BitDepth, ColorType, Decoder, Limits};

use super::{DataError, sizes, wrong};
use crate::args::Pixels;

/// The most pixels of an image: 64 million.
const MOST: u64 = 1 << 26;
/// What the decoder may take beside the pixels.
const MEMORY: usize = 16 << 20;

/// An image whose values are scaled.
#[derive(Debug)]
pub struct Image {
    channels: usize,
    height: usize,
    width: usize,
    /// By channel, row and column.
    values: Vec<f64>,
}

/// Reads an image of 8 bits a channel, grey or red, green and blue. Memory follows the pixels, which are limited.
pub fn read(path: &Path, file: &[u8], pixels: &Pixels) -> Result<Image, DataError> {
    let wrong = |problem: String| wrong(path, problem);
    let broken = |error: png::DecodingError| wrong(format!("this is no PNG image: {error}"));
    let mut decoder = Decoder::new_with_limits(Cursor::new(file), Limits { bytes: MEMORY });
    decoder.set_ignore_text_chunk(true);
    let header = decoder.read_header_info().map_err(broken)?;
    let (width, height) = (header.width, header.height);
    let (depth, color) = (header.bit_depth, header.color_type);
    let count = u64::from(width) * u64::from(height);
    if count > MOST {
        return Err(wrong(format!(
            "{width} x {height} pixels; at most {MOST} are read"
        )));
    }
    let channels = match (color, depth) {
        (ColorType::Grayscale, BitDepth::Eight) => 1,
        (ColorType::Rgb, BitDepth::Eight) => 3,
        _ => {
            return Err(wrong(format!(
                "its pixels are {color:?} of {} bits; expected 8 bits of grey, or of red, green and blue: convert the image",
                depth as u8
            )));
        }
    };
    let [scale, mean, std] = pixels.factors(channels).map_err(wrong)?;
    let mut reader = decoder.read_info().map_err(broken)?;
    let mut bytes = vec![0; count as usize * channels];
    reader.next_frame(&mut bytes).map_err(broken)?;
    let mut values = Vec::with_capacity(bytes.len());
    for channel in 0..channels {
        let own = bytes.iter().skip(channel).step_by(channels);
        let (scale, mean, std) = (scale[channel], mean[channel], std[channel]);
        values.extend(own.map(|&byte| (f64::from(byte) * scale - mean) / std));
    }
    Ok(Image {
        channels,
        height: height as usize,
        width: width as usize,
        values,
    })
}

impl Image {
    /// The values, if the image is as an input of this shape takes it: one image; without channels if it is grey; or
    /// all values in a row.
    pub fn for_input(
        self,
        path: &Path,
        name: &str,
        shape: &[usize],
    ) -> Result<Vec<f64>, DataError> {
        let own = [self.channels, self.height, self.width];
        let fits = match shape {
            [1, rest @ ..] if rest.len() == 3 => rest == own,
            [1, rest @ ..] if rest.len() == 2 => self.channels == 1 && rest == &own[1..],
            [1, all] => *all == self.values.len(),
            _ => false,
        };
        if fits {
            return Ok(self.values);
        }
        let one = shape.get(1..).unwrap_or(&[]);
        let problem = format!(
            "it has {} x {} pixels of {} (channels x rows x columns: {}); the model's input {name:?} takes {}{}: scale or convert the image",
            self.width,
            self.height,
            match self.channels {
                1 => "grey",
                _ => "red, green and blue",
            },
            sizes(&own),
            sizes(one),
            match shape.first() {
                Some(1) | None => String::new(),
                Some(count) => format!(", and {count} of them"),
            },
        );
        Err(wrong(path, problem))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(color: ColorType, size: [u32; 2], bytes: &[u8]) -> Vec<u8> {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, size[0], size[1]);
        encoder.set_color(color);
        encoder.set_depth(BitDepth::Eight);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(bytes).unwrap();
        writer.finish().unwrap();
        file
    }

    fn path() -> &'static Path {
        Path::new("x.png")
    }

    #[test]
    fn channels_come_one_after_the_other() {
        let file = image(ColorType::Rgb, [2, 1], &[255, 0, 51, 0, 255, 102]);
        let found = read(path(), &file, &Pixels::default()).unwrap();
        let values = found.for_input(path(), "x", &[1, 3, 1, 2]).unwrap();
        assert_eq!(values, [1.0, 0.0, 0.0, 1.0, 0.2, 0.4]);
        let pixels = Pixels {
            scale: None,
            mean: vec![0.5],
            std: vec![0.5, 1.0, 2.0],
        };
        let found = read(path(), &file, &pixels).unwrap();
        assert_eq!(found.values[..3], [1.0, -1.0, -0.5]);
        let file = image(ColorType::Grayscale, [2, 2], &[1, 2, 3, 4]);
        let pixels = Pixels {
            scale: Some(1.0),
            ..Pixels::default()
        };
        for shape in [&[1, 1, 2, 2][..], &[1, 2, 2], &[1, 4]] {
            let found = read(path(), &file, &pixels).unwrap();
            let values = found.for_input(path(), "x", shape).unwrap();
            assert_eq!(values, [1.0, 2.0, 3.0, 4.0]);
        }
    }

    #[test]
    fn other_images_are_refused() {
        let grey = image(ColorType::Grayscale, [2, 2], &[1, 2, 3, 4]);
        let found = read(path(), &grey, &Pixels::default()).unwrap();
        let error = found.for_input(path(), "x", &[1, 3, 4, 4]).unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains("1 x 2 x 2") && error.contains("3 x 4 x 4"),
            "{error}"
        );
        let alpha = image(ColorType::Rgba, [1, 1], &[1, 2, 3, 4]);
        let two = Pixels {
            mean: vec![0.1, 0.2],
            ..Pixels::default()
        };
        for (file, pixels, part) in [
            (&alpha[..], Pixels::default(), "Rgba of 8 bits"),
            (&grey[..30], Pixels::default(), "no PNG"),
            (b"no image", Pixels::default(), "no PNG"),
            (&grey, two, "--mean"),
        ] {
            let error = read(path(), file, &pixels).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    /// A header that announces more than there is.
    #[test]
    fn sizes_are_limited_before_memory_is_taken() {
        let mut file = image(ColorType::Grayscale, [1, 1], &[1]);
        file[16..24].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]);
        let mut crc = 0xffff_ffff_u32;
        for &byte in &file[12..29] {
            crc ^= u32::from(byte);
            for _ in 0..8 {
                crc = (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
            }
        }
        file[29..33].copy_from_slice(&(!crc).to_be_bytes());
        let error = read(path(), &file, &Pixels::default())
            .unwrap_err()
            .to_string();
        assert!(error.contains("pixels; at most"), "{error}");
    }
}
