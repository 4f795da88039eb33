//! Rates of events. The constants are from `scipy.stats.chi2.ppf` (Garwood)
//! and `scipy.stats.binomtest`.

use assize_verdict::{Options, Verdict};

use crate::common::{close, hwlat_records, lints, tried};

#[test]
fn rates_have_exact_intervals() {
    let document = tried(&hwlat_records(Some(300.0)), &Options::default());
    let expected = [
        (6, 0.0073396475116361696, 0.04353158007506228),
        (3, 0.0020622404096520045, 0.029224243565807745),
        (0, 0.0, 0.00998577424517997),
    ];
    assert_eq!(document.rates.len(), 3);
    for (rate, (count, low, high)) in document.rates.iter().zip(expected) {
        assert_eq!((rate.count, rate.exposure_s), (count, Some(300.0)));
        close(rate.rate_per_s, count as f64 / 300.0);
        close(rate.ci.map(|ci| ci[0]), low);
        close(rate.ci.map(|ci| ci[1]), high);
    }
}

#[test]
fn rates_are_compared_exactly_and_corrected_by_holm() {
    let document = tried(&hwlat_records(Some(300.0)), &Options::default());
    let [clflush, none] = &document.rate_comparisons[..] else {
        panic!("two comparisons");
    };
    close(clflush.p, 0.5078125);
    close(clflush.ratio, 0.5);
    close(none.p, 0.03125);
    close(none.p_adjusted, 0.0625);
    close(none.ratio, 0.0);
    assert_eq!(none.verdict, Verdict::Undecided);
    // 7 events against none: p = 2 / 128, twice that is below 0.05. The count
    // scaled by 1.1 rounds to 7.
    assert_eq!(
        none.note.as_deref(),
        Some("at these rates about 330 s of each would settle it")
    );
}

#[test]
fn one_comparison_alone_is_established() {
    let mut records = hwlat_records(Some(300.0));
    records.events.remove(1);
    let document = tried(&records, &Options::default());
    assert_eq!(document.rate_comparisons[0].verdict, Verdict::Established);
    assert_eq!(document.rate_comparisons[0].note, None);
}

#[test]
fn an_unknown_exposure_gives_counts_only_until_the_user_gives_it() {
    let document = tried(&hwlat_records(None), &Options::default());
    assert_eq!(document.rates[0].rate_per_s, None);
    assert_eq!(document.rate_comparisons[0].p, None);
    assert_eq!(lints(&document, "exposure-unknown").len(), 1);
    let options = Options {
        exposure_s: Some(300.0),
        ..Options::default()
    };
    let document = tried(&hwlat_records(None), &options);
    close(document.rate_comparisons[1].p, 0.03125);
    assert!(lints(&document, "exposure-unknown").is_empty());
}

#[test]
fn regular_gaps_are_told_and_poisson_gaps_are_not() {
    let mut records = hwlat_records(Some(300.0));
    let document = tried(&records, &Options::default());
    assert_eq!(
        lints(&document, "clustered-events"),
        [
            "hwlat V6.6: gaps are regular: about every 57.3 s; the Poisson intervals are too \
             wide"
        ]
    );
    records.events[0].times_s = vec![600.0, 601.0, 602.0, 603.0, 890.0, 891.0];
    let document = tried(&records, &Options::default());
    assert!(lints(&document, "clustered-events")[0].contains("come in clusters"));
    records.events[0].times_s = vec![620.0, 632.0, 700.0, 741.0, 861.0, 885.0];
    let document = tried(&records, &Options::default());
    assert!(lints(&document, "clustered-events").is_empty());
}

#[test]
fn a_baseline_without_a_count_is_told() {
    let mut records = hwlat_records(Some(300.0));
    records.events[0].event = "smi".into();
    let options = Options {
        baseline: Some("v6.6".into()),
        ..Options::default()
    };
    let document = tried(&records, &options);
    assert!(document.rate_comparisons.is_empty());
    assert_eq!(
        lints(&document, "missing-cell"),
        ["hwlat on fbcon: the baseline V6.6 has no count: no rates are compared there"]
    );
}
