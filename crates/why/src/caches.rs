//! The difference between two configurations in a cache model.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::difference::{CountedPair, CountedRun, DifferenceRow};
use crate::misses::{Accesses, KINDS, MissKind};
use crate::profile::ProfilePlace;
use crate::tables::{rows, totals};
use crate::{Geometry, Misses};

/// The results of the cache model.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct Caches {
    /// The caches.
    pub geometry: Geometry,
    /// Accesses in all runs of the first configuration.
    pub accesses_a: Accesses,
    /// Accesses in all runs of the second configuration.
    pub accesses_b: Accesses,
    /// One table per kind of miss, per job or per run.
    pub kinds: Vec<MissTable>,
}

/// One kind of miss.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct MissTable {
    /// The kind.
    pub kind: MissKind,
    /// The total; the totals of all kinds are tested together.
    pub total: DifferenceRow,
    /// Rows by thread, largest difference first.
    pub threads: Vec<DifferenceRow>,
    /// Rows by subsystem.
    pub subsystems: Vec<DifferenceRow>,
    /// Rows by function.
    pub functions: Vec<DifferenceRow>,
}

impl Caches {
    /// Compares the misses of two configurations. Runs without a cache model count as
    /// zero.
    pub(crate) fn from_pairs(geometry: Geometry, pairs: &[CountedPair], by_job: bool) -> Caches {
        let sum = |side: &CountedRun, at: usize| {
            let kind = KINDS.get(at).copied();
            kind.map_or(0, |kind| places(side, kind).values().sum())
        };
        // The totals of all levels are tested as one family.
        let totals = totals(pairs, by_job, &[ALL; KINDS.len()], sum);
        let one = |(kind, total): (&MissKind, DifferenceRow)| {
            let table = |key: &crate::tables::RowKey<'_>| {
                rows(pairs, by_job, |side| places(side, *kind), key)
            };
            MissTable {
                kind: *kind,
                total,
                threads: table(&|place| (place.thread.clone(), None)),
                subsystems: table(&|place| (place.subsystem.clone(), None)),
                functions: table(&|place| (place.function.clone(), Some(place.subsystem.clone()))),
            }
        };
        Caches {
            geometry,
            accesses_a: accesses(pairs.iter().map(|pair| &pair.a)),
            accesses_b: accesses(pairs.iter().map(|pair| &pair.b)),
            kinds: KINDS.iter().zip(totals).map(one).collect(),
        }
    }
}

const ALL: &str = "all functions";

fn places(side: &CountedRun, kind: MissKind) -> &BTreeMap<ProfilePlace, u64> {
    static NONE: BTreeMap<ProfilePlace, u64> = BTreeMap::new();
    let misses: Option<&Misses> = side.misses.as_ref();
    misses
        .and_then(|misses| misses.places.get(&kind))
        .unwrap_or(&NONE)
}

fn accesses<'a>(sides: impl Iterator<Item = &'a CountedRun>) -> Accesses {
    let mut all = Accesses::default();
    for one in sides.filter_map(|side| side.misses.as_ref()) {
        all.fetches += one.accesses.fetches;
        all.reads += one.accesses.reads;
        all.writes += one.accesses.writes;
    }
    all
}
