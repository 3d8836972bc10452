//! Stores of correlations: their keys, what is written, and what is read again.

use madrigal_correlations::{Maker, Needs};
use madrigal_correlations_make::{DealerSource, deal};
use madrigal_correlations_store::{NewStore, Store, StoreKey};

use crate::correlations::{check, some};
use crate::{Outcome, Path, world};

pub(crate) const PATHS: &[Path] = &[("store", store)];

const PARTIES: usize = 2;
/// Correlations that [`some`] takes.
const HOLDS: &str = "bits=192,u32=24,squares-u32=24,shared-u32=24,matrix-u32-3x4x5=1,vectors-16=24";

/// Made of what a dealer deals; reserved and read in a job of its own, with the key from its file.
fn store() -> Outcome {
    let root = tempfile::tempdir()?;
    let needs: Needs = HOLDS.parse()?;
    let place = |me: usize| {
        let directory = root.path().join(me.to_string());
        (directory.clone(), directory.with_extension("key"))
    };
    let filled = world(PARTIES + 1).run(|context| {
        let (needs, (directory, key)) = (&needs, place(context.me().index()));
        async move {
            if context.me().index() == PARTIES {
                deal(&context).await?;
                return Ok(None);
            }
            let key = StoreKey::load_or_make(&key).unwrap();
            let new = NewStore::create(&directory, &key, needs).unwrap();
            let computing = context.among(PARTIES);
            let mut source = DealerSource::new(&context)?;
            let filled = new.fill(&computing, &mut source, &|_| {}).await?;
            source.end().await?;
            Ok(Some(filled))
        }
    });
    for (filled, _) in filled {
        filled.map_or(Ok(()), |filled| filled.complete().map(drop))?;
    }
    let shares = world(PARTIES).run(|context| {
        let (needs, (directory, key)) = (&needs, place(context.me().index()));
        async move {
            let key = StoreKey::load(&key).unwrap();
            let mut store = Store::open(&directory, &key).unwrap();
            let mut source = store.reserve(&context, needs).await?;
            some::<u32>(&mut source).await
        }
    });
    check(
        &shares
            .into_iter()
            .map(|(shares, _)| shares)
            .collect::<Vec<_>>(),
    )
}
