//! What `tbaa worth` found, as weights for lowering.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::printable::printable_path;
use crate::report::Failure;

/// How much a vectorised loop counts beside a load that is saved.
const LOOP: i64 = 8;

/// The weight of each place: 1, and what its pairs buy.
pub(in crate::commands) struct Weights(HashMap<String, u32>);

#[derive(Deserialize)]
struct Found {
    pairs: Vec<Pair>,
}

#[derive(Deserialize)]
struct Pair {
    a: String,
    b: Option<String>,
    loads: i64,
    stores: i64,
    vector_loops: i64,
}

impl Weights {
    /// Reads what `tbaa worth --format json` printed.
    pub(in crate::commands) fn read(file: &Path) -> Result<Weights, Failure> {
        let shown = printable_path(file);
        let text =
            fs::read(file).map_err(|error| Failure::unusable(format!("{shown}: {error}")))?;
        let found: Found = serde_json::from_slice(&text).map_err(|error| {
            let remedy = "give what `tbaa worth --format json` prints";
            Failure::unusable(format!("{shown}: {error}; {remedy}"))
        })?;
        let mut weights: HashMap<String, u32> = HashMap::new();
        for pair in found.pairs {
            let buys = pair.vector_loops.saturating_mul(LOOP);
            let buys = buys.saturating_add(pair.loads).saturating_add(pair.stores).max(1);
            let buys = u32::try_from(buys).unwrap_or(u32::MAX);
            for place in [Some(pair.a), pair.b].into_iter().flatten() {
                let weight = weights.entry(place).or_insert(1);
                *weight = weight.saturating_add(buys);
            }
        }
        Ok(Weights(weights))
    }

    /// The weight of a place.
    pub(in crate::commands) fn of(&self, place: &str) -> u32 {
        self.0.get(place).copied().unwrap_or(1)
    }
}
