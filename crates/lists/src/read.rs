//! One pass over a file: its keys become digests in partitions.

use std::fs::File;

use madrigal_core::Zeroizing;

use crate::MOST_PARTITIONS;
use crate::csv::Mark;
use crate::error::{ListError, Place, Problem};
use crate::file::{Header, Stamp, TELL, Watch, line, open, places, records, tell, wrong};
use crate::listed::Listed;
use crate::sink::{Refused, Sink};
use crate::source::{Format, Source};
use crate::store::Room;

/// Reads a list's file, and puts the digests of its keys into `partitions` partitions, each in order.
///
/// The salt is the job's, and all parties' the same. All that is wrong with the list shows here: afterwards only the disk can
/// fail.
///
/// Memory, beside `room.memory`: 0.5 MB for reading, for a partition of n rows 32 n bytes (40 n with a payload) while it is sorted,
/// and what [`Part`](crate::Part) says. Records of more than 16 MiB and keys of more than 1 MiB are refused.
///
/// # Errors
/// [`ListError`]: a file that cannot be read, or that has something that cannot be taken, with its place; no room on the disk.
pub fn read(
    source: &Source,
    salt: &[u8; 32],
    partitions: u32,
    room: &Room,
    watch: Watch<'_>,
) -> Result<Listed, ListError> {
    if !(1..=MOST_PARTITIONS).contains(&partitions) {
        return Err(ListError::Partitions { partitions });
    }
    let (file, stamp) = open(source)?;
    let mut sink = Sink::new(source, salt, partitions, room);
    let left_out = match source.format() {
        Format::Csv => read_csv(source, &file, &stamp, &mut sink, &mut *watch).map(|()| Vec::new()),
        #[cfg(feature = "parquet")]
        Format::Parquet => read_parquet(source, file, &mut sink, &mut *watch),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => Err(ListError::NoParquet {
            path: source.path().to_owned(),
        }),
    }?;
    // It may have changed while it was read.
    if open(source)?.1 != stamp {
        return Err(ListError::Changed {
            path: source.path().to_owned(),
        });
    }
    Listed::new(source, stamp, left_out, sink.finish()?, watch)
}

fn read_csv(
    source: &Source,
    file: &File,
    stamp: &Stamp,
    sink: &mut Sink<'_>,
    watch: Watch<'_>,
) -> Result<(), ListError> {
    let path = source.path();
    let (mut records, header) = records(source, file)?;
    let Some(Header { names, .. }) = header else {
        // A file without a line is a list without rows.
        return Ok(());
    };
    let columns = source.columns();
    let places = places(path, &names, &columns)?;
    // Fields are found in the order of the file.
    let mut wanted = places.clone();
    wanted.sort_unstable();
    let order = |name: &str| {
        let place = columns.iter().position(|column| *column == name);
        let place = place.map(|column| places[column]);
        wanted.iter().position(|&wanted| Some(wanted) == place)
    };
    let keys: Vec<usize> = (source.all_keys().iter().flatten())
        .filter_map(|key| order(&key.column))
        .collect();
    let payload = source.numbers().and_then(|payload| order(&payload.column));
    let mut marks: Vec<Mark> = Vec::with_capacity(wanted.len());
    let mut rooms = vec![Zeroizing::<Vec<u8>>::default(); keys.len() + 1];
    let mut told = 0;
    while let Some(span) = records.next().map_err(|fault| wrong(source, fault))? {
        let offset = records.offset(span.body.start);
        let at = |name: Option<&str>, problem| {
            let place = Place::line(line(source, offset)?);
            let place = name.map_or(place.clone(), |name| place.column(name));
            Err(ListError::content(path, place, problem))
        };
        if let Err(got) = records.fields(&span, &wanted, names.len(), &mut marks) {
            let expected = names.len();
            return at(None, Problem::Fields { expected, got });
        }
        let (room, rooms) = rooms.split_at_mut(1);
        let number = payload.map(|place| records.value(&marks[place], &mut room[0]));
        let added = match (&keys[..], &mut *rooms) {
            ([key], [room]) => sink.add(&[records.value(&marks[*key], room)], number),
            (_, rooms) => {
                let both = keys.iter().zip(rooms);
                let values: Vec<&[u8]> = both
                    .map(|(key, room)| records.value(&marks[*key], room))
                    .collect();
                sink.add(&values, number)
            }
        };
        match added {
            Ok(()) => {}
            Err(Refused::Error(error)) => return Err(error),
            Err(Refused::Key(column, problem)) => {
                return at(source.column(column), problem);
            }
            Err(Refused::Number(problem)) => {
                return at(
                    source.numbers().map(|payload| payload.column.as_str()),
                    problem,
                );
            }
        }
        if offset - told >= TELL {
            told = offset;
            tell(source, watch, offset, stamp.length())?;
        }
    }
    tell(source, watch, stamp.length(), stamp.length())
}

/// Reads a Parquet file, and gives the names of columns that have no text.
#[cfg(feature = "parquet")]
fn read_parquet(
    source: &Source,
    file: File,
    sink: &mut Sink<'_>,
    watch: Watch<'_>,
) -> Result<Vec<String>, ListError> {
    use crate::parquet::{Kind, Table};

    let path = source.path();
    let table = Table::open(source, file)?;
    let columns = table.columns();
    let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    let find = |name: &str, takes: fn(Kind) -> bool, expected| {
        let place = places(path, &names, &[name])?[0];
        let column = &columns[place];
        match column.kind.is_some_and(takes) {
            true => Ok(place),
            false => {
                let found = column.told.clone();
                let problem = Problem::Type { found, expected };
                Err(ListError::content(
                    path,
                    Place::file().column(name),
                    problem,
                ))
            }
        }
    };
    let mut wanted = Vec::new();
    for key in source.all_keys().iter().flatten() {
        let expected = "texts, bytes, integers, decimals, dates or truth values";
        wanted.push(find(&key.column, Kind::is_exact, expected)?);
    }
    if let Some(payload) = source.numbers() {
        let expected = "integers, decimals or texts";
        wanted.push(find(&payload.column, Kind::is_number, expected)?);
    }
    let keys = wanted.len() - usize::from(source.numbers().is_some());
    let rows = table.rows();
    table.each(&wanted, |row, found| {
        let number = found.get(keys).map(|value| value.unwrap_or_default());
        let at = |name: &str, problem| {
            Err(ListError::content(
                path,
                Place::row(row).column(name),
                problem,
            ))
        };
        let values: Vec<&[u8]> = found[..keys]
            .iter()
            .map(|value| value.unwrap_or_default())
            .collect();
        match sink.add(&values, number) {
            Ok(()) => {}
            Err(Refused::Error(error)) => return Err(error),
            Err(Refused::Key(column, problem)) => {
                return at(source.column(column).unwrap_or_default(), problem);
            }
            Err(Refused::Number(problem)) => {
                let name = source.numbers().map_or("", |payload| &payload.column);
                return at(name, problem);
            }
        }
        match row % crate::file::TELL_ROWS {
            0 => tell(source, watch, row, rows),
            _ => Ok(()),
        }
    })?;
    tell(source, watch, rows, rows)?;
    let without = columns.iter().filter(|column| column.kind.is_none());
    Ok(without.map(|column| column.name.clone()).collect())
}
