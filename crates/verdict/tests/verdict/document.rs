//! Tests of the document's JSON form, and of unusual records.

use assize_bundle::{Events, Measurement, Records, Run, Summary};
use assize_verdict::{Better, Document, Error, Options, primary_directions, try_records};

use crate::common::{close, hwlat_records, queue_records, tried};

#[test]
fn the_document_survives_json_and_is_the_same_each_time() {
    let options = Options {
        claims: vec!["irq < drm on context".into()],
        ..Options::default()
    };
    let document = tried(&queue_records(), &options);
    let text = serde_json::to_string(&document).unwrap();
    assert_eq!(
        text,
        serde_json::to_string(&tried(&queue_records(), &options)).unwrap()
    );
    let back: Document = serde_json::from_str(&text).unwrap();
    assert_eq!(back.claims, document.claims);
    assert_eq!(back.lints, document.lints);
    assert_eq!(back.sentences, document.sentences);
    assert_eq!(back.runs.len(), document.runs.len());
    for (back, row) in back.comparisons.iter().zip(&document.comparisons) {
        // serde_json parses numbers to within one unit in the last place.
        close(back.ratio, row.ratio.unwrap());
        assert_eq!(
            (back.verdict, back.scale, &back.because),
            (row.verdict, row.scale, &row.because)
        );
    }
}

#[test]
fn the_names_in_json_are_those_of_the_schema() {
    let mut records = queue_records();
    records.events = hwlat_records(Some(300.0)).events;
    let options = Options {
        claims: vec!["irq < drm on context".into()],
        ..Options::default()
    };
    let json = serde_json::to_value(tried(&records, &options)).unwrap();
    let keys = |value: &serde_json::Value| -> Vec<String> {
        value.as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(json["schema"], "assize.verdict/1");
    assert_eq!(
        keys(&json["comparisons"][0])[..8],
        [
            "workload",
            "metric",
            "unit",
            "baseline",
            "configuration",
            "n_baseline",
            "n",
            "mean_baseline"
        ]
    );
    assert_eq!(json["comparisons"][0]["scale"], "log");
    assert_eq!(json["comparisons"][1]["verdict"], "supported");
    assert_eq!(
        keys(&json["claims"][0]),
        ["text", "origin", "outcome", "because"]
    );
    assert_eq!(json["claims"][0]["origin"], "post_hoc");
    assert_eq!(json["claims"][0]["outcome"], "undecided");
    assert_eq!(keys(&json["lints"][0]), ["code", "where", "detail"]);
    assert_eq!(keys(&json["sentences"][0]), ["text", "rows"]);
    assert_eq!(
        keys(&json["factorial"][0]["effects"][0]),
        ["name", "ratio", "ci", "p", "p_adjusted", "verdict"]
    );
    assert_eq!(json["rates"][0]["rate_per_s"], 0.02);
    assert_eq!(
        json["runs"][0]["metrics"]["context-switches"]["value"],
        71548.0
    );
}

#[test]
fn rows_stand_in_the_order_of_workloads_metrics_configurations() {
    let mut records = queue_records();
    records.workloads = vec!["weston-simple-egl".into(), "glxgears".into()];
    let document = tried(&records, &Options::default());
    assert_eq!(document.comparisons[0].workload, "weston-simple-egl");
    let first: Vec<&str> = document.comparisons[..5]
        .iter()
        .map(|c| c.configuration.as_str())
        .collect();
    assert_eq!(
        first,
        ["No opt", "Bypass", "IRQ", "IRQ plus bypass", "No opt"]
    );
}

#[test]
fn numbers_out_of_range_are_refused() {
    for options in [
        Options {
            alpha: 0.0,
            ..Options::default()
        },
        Options {
            margin: f64::NAN,
            ..Options::default()
        },
        Options {
            exposure_s: Some(-1.0),
            ..Options::default()
        },
    ] {
        let error = try_records(&Records::default(), &options).unwrap_err();
        assert!(matches!(error, Error::Option { .. }), "{error}");
    }
}

/// Values at the limits of a float, and records without any values.
#[test]
fn odd_values_never_make_odd_documents() {
    let odd = [
        0.0,
        -0.0,
        -1.0,
        1e-320,
        f64::MAX,
        f64::MIN,
        f64::NAN,
        f64::INFINITY,
        1.0,
        1.0,
    ];
    let mut records = Records::default();
    for (i, &first) in odd.iter().enumerate() {
        for (j, &second) in odd.iter().enumerate() {
            for (configuration, value) in [("a", first), ("a", second), ("b", second)] {
                let mut run = Run::new(configuration, format!("w{i}"), 1);
                let measurement = Measurement::new(value, "s");
                run.metrics.insert(format!("m{j}"), measurement.clone());
                run.metrics.insert("m".into(), measurement);
                records.runs.push(run);
            }
            records.summaries.push(Summary {
                configuration: "c".into(),
                workload: format!("w{i}"),
                metric: "m".into(),
                unit: "s".into(),
                mean: second,
                spread: Some(assize_bundle::Spread::StandardDeviation(first)),
                n: Some(u32::try_from(j).unwrap()),
                place: assize_bundle::Place::default(),
            });
        }
        records.events.push(Events {
            configuration: format!("e{}", i % 3),
            workload: "w0".into(),
            event: "late".into(),
            count: i as u64,
            exposure_s: Some(first),
            times_s: odd.to_vec(),
            span_s: None,
            tolerated_s: None,
            by_run: Vec::new(),
            place: assize_bundle::Place::default(),
        });
    }
    let document = tried(&records, &Options::default());
    let text = serde_json::to_string(&document.comparisons).unwrap();
    let back: Vec<assize_verdict::Comparison> = serde_json::from_str(&text).unwrap();
    assert_eq!(back.len(), document.comparisons.len());
    let finite = |v: Option<f64>| v.is_none_or(f64::is_finite);
    for c in &document.comparisons {
        assert!(finite(c.ratio) && finite(c.p) && finite(c.p_t), "{c:?}");
        assert!(finite(c.mean) && finite(c.difference), "{c:?}");
    }
}

#[test]
fn primary_metrics_have_the_direction_that_somebody_gave_them() {
    let mut records = queue_records();
    let metric = records.runs[0].metrics.keys().next().unwrap().clone();
    let of = |records: &Records, options: &Options| {
        primary_directions(records, options).map(|all| all.get(&metric).copied())
    };
    let name = || vec![metric.clone()];
    let primary = Options {
        primary: name(),
        ..Options::default()
    };
    let higher = Options {
        higher_is_better: name(),
        ..primary.clone()
    };
    let lower = Options {
        lower_is_better: name(),
        ..primary.clone()
    };
    let both = Options {
        lower_is_better: name(),
        ..higher.clone()
    };
    assert_eq!(of(&records, &Options::default()), Ok(None));
    assert_eq!(of(&records, &primary), Ok(None));
    assert_eq!(of(&records, &higher), Ok(Some(Better::Higher)));
    assert_eq!(of(&records, &lower), Ok(Some(Better::Lower)));
    let error = of(&records, &both).unwrap_err().to_string();
    assert!(
        error.contains("that higher-is-better does not name"),
        "{error}"
    );
    // The experiment declares the direction of each metric.
    records.primary = name();
    assert_eq!(of(&records, &Options::default()), Ok(Some(Better::Lower)));
    records.higher_is_better = name();
    assert_eq!(of(&records, &Options::default()), Ok(Some(Better::Higher)));
}
