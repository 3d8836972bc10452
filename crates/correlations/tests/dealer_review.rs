//! Requests at the edges: what OT gives, a dealer gives too.

use madrigal_correlations::{MatrixShape, Origin, Source, Supply, deal};
use madrigal_net::{Context, Result};
use madrigal_testkit::{World, seed};

/// A product over no inner dimension is a matrix of zeros.
const EMPTY: MatrixShape = MatrixShape {
    rows: 3,
    inner: 0,
    columns: 2,
};

async fn zeros(context: Context, origin: Origin) -> Result<()> {
    if origin == Origin::Dealer && context.me().index() + 1 == context.parties() {
        return deal(&context).await;
    }
    let mut supply = Supply::open(origin, &context).await?;
    let triple = supply.matrix_triple::<u32>(EMPTY, &|_| {}).await?;
    assert_eq!(triple.shape(), EMPTY);
    supply.end().await
}

#[test]
fn an_empty_matrix_product_by_ot() {
    World::new(2, seed()).run(|context| zeros(context, Origin::Ot));
}

#[test]
fn an_empty_matrix_product_by_a_dealer() {
    World::new(3, seed()).run(|context| zeros(context, Origin::Dealer));
}
