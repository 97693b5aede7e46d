//! The networks that the last rung trains, read from a table. Knows their names and shapes; trains none.

use case::{Layer, Training};
use serde::Deserialize;

/// The table.
const NETS: &str = include_str!("../data/nets.json");

/// Seed of data and first weights: any will do, and the same one each time makes runs comparable.
const SEED: u64 = 5;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    steps: u32,
    rate: f64,
    layers: Vec<LayerRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LayerRow {
    case: String,
    relu: bool,
    averaged: bool,
}

/// The training of that name, run twice, its first and last step shown; `None` where the table has none.
#[must_use]
pub fn training(name: &str) -> Option<Training> {
    let rows: Vec<Row> = serde_json::from_str(NETS).ok()?;
    let row = rows.into_iter().find(|row| row.name == name)?;
    let layer = |row: LayerRow| {
        let case = row.case.parse().ok()?;
        Some(Layer { case, relu: row.relu, averaged: row.averaged })
    };
    Some(Training {
        layers: row.layers.into_iter().map(layer).collect::<Option<Vec<_>>>()?,
        steps: row.steps,
        runs: 2,
        rate: row.rate,
        seed: SEED,
        shown: vec![0, row.steps.saturating_sub(1)],
        workspace_max: None,
        keeps_plans: false,
    })
}

#[cfg(test)]
mod tests {
    use case::Role;

    use super::*;

    #[test]
    fn every_network_fits_together_from_layer_to_layer() {
        for name in ["small", "plain", "half"] {
            let training = training(name).unwrap_or_else(|| panic!("{name} is in the table"));
            for pair in training.layers.windows(2) {
                let (before, after) = (pair[0].case.problem.geometry(), pair[1].case.problem.geometry());
                let (given, taken) = (before.extents(Role::Y), after.extents(Role::X));
                assert_eq!(given[..2], taken[..2], "{name}");
                let wanted = if pair[1].averaged { vec![1; given.len() - 2] } else { given[2..].to_vec() };
                assert_eq!(taken[2..], wanted, "{name}");
            }
            let last = training.layers.last().expect("layers");
            assert!(!last.relu && last.averaged, "{name}");
            assert!(training.layers.iter().all(|layer| layer.case.problem.g == 1), "{name}");
        }
        assert!(training("large").is_none());
    }
}
