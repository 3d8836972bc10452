//! How fast stores are filled and read, all parties on this machine's threads over the memory
//! transport: `store_rates [KIND=COUNT,... [PARTIES [DIRECTORY]]]`.

#![allow(clippy::print_stdout, reason = "it prints what it measures")]

use std::error::Error;
use std::sync::Mutex;
use std::time::Instant;

use madrigal_correlations::{Needs, Stock};
use madrigal_correlations_make::{Extension, OtSource};
use madrigal_correlations_store::{NewStore, Store, StoreKey};
use madrigal_testkit::World;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let needs: Needs = args.next().as_deref().unwrap_or("bits=20M").parse()?;
    let parties = args.next().as_deref().unwrap_or("2").parse()?;
    let place = args.next().map_or_else(std::env::temp_dir, Into::into);
    let root = tempfile::tempdir_in(place)?;
    let directory = |me: usize| root.path().join(me.to_string());
    let key = StoreKey::generate()?;
    let new = (0..parties)
        .map(|me| NewStore::create(&directory(me), &key, &needs).map(one))
        .collect::<Result<Vec<_>, _>>()?;

    let world = World::new(parties, 1);
    let start = Instant::now();
    let filled = world.run(|context| {
        let new = take(&new[context.me().index()]);
        async move {
            let mut source = OtSource::new(&context, Extension::default()).await?;
            new.fill(&context, &mut source, &|_| {}).await
        }
    });
    for (filled, _) in filled {
        filled.complete()?;
    }
    let filled = start.elapsed().as_secs_f64();

    let stores = (0..parties)
        .map(|me| Store::open(&directory(me), &key).map(one))
        .collect::<Result<Vec<_>, _>>()?;
    let start = Instant::now();
    world.run(|context| {
        let (mut store, needs) = (take(&stores[context.me().index()]), &needs);
        async move {
            let mut source = store.reserve(&context, needs).await?;
            Stock::fill(&mut source, needs, &|_| {}).await.map(drop)
        }
    });
    let read = start.elapsed().as_secs_f64();
    let megabytes = needs.share_bytes() as f64 / 1e6;
    println!(
        "{needs}, n={parties}: filled in {filled:.3} s; {megabytes:.1} MB for each party read in \
         {read:.3} s, {:.0} MB/s each",
        megabytes / read
    );
    Ok(())
}

/// For one party's thread.
fn one<T>(value: T) -> Mutex<Option<T>> {
    Mutex::new(Some(value))
}

fn take<T>(place: &Mutex<Option<T>>) -> T {
    let taken = place.lock().ok().and_then(|mut place| place.take());
    taken.unwrap_or_else(|| unreachable!("each party takes its own once"))
}
