#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;

/// Generates values that occur nowhere else.
struct Fresh(u32);

impl Fresh {
    fn count(&mut self) -> Value {
        self.0 += 1;
        json!(1000 + self.0)
    }

    fn number(&mut self) -> Value {
        self.0 += 1;
        json!(f64::from(1000 + self.0) + 0.25)
    }

    fn ci(&mut self) -> Value {
        json!([self.number(), self.number()])
    }

    fn text(&mut self) -> Value {
        self.0 += 1;
        json!(format!("text{}", 1000 + self.0))
    }

    fn place(&mut self) -> Value {
        json!({"message": self.count(), "line": self.count()})
    }

    fn relation(&mut self, verdict: &Value) -> Value {
        json!({
            "n_baseline": self.count(), "n": self.count(), "ratio": self.number(),
            "ci": self.ci(), "p_t": self.number(), "t_test": "paired", "p": self.number(),
            "difference": self.number(), "verdict": verdict, "because": self.text(),
        })
    }

    fn recorded(&mut self) -> Value {
        json!({
            "runs": [{
                "configuration": self.text(), "workload": self.text(),
                "repetition": self.count(), "order": self.count(), "block": self.count(),
                "metrics": {"metric1": {"value": self.number(), "unit": self.text()}},
                "place": self.place(),
            }],
            "summaries": [{
                "configuration": self.text(), "workload": self.text(), "metric": self.text(),
                "unit": self.text(), "mean": self.number(), "n": self.count(),
                "spread": {"standard_error": self.number()}, "place": self.place(),
            }, {
                "configuration": self.text(), "workload": self.text(), "metric": self.text(),
                "unit": self.text(), "mean": self.number(), "n": self.count(),
                "spread": {"standard_deviation": self.number()}, "place": self.place(),
            }],
            "statements": [{
                "configuration": self.text(), "workload": self.text(), "metric": self.text(),
                "unit": self.text(), "value": self.number(), "normalised_to": self.text(),
                "place": self.place(),
            }],
        })
    }

    fn compared(&mut self) -> Value {
        json!({
            "families": [{
                "primary": true, "tests": self.count(), "alpha": self.number(),
                "relabelings": self.number(), "visited": self.count(), "exact": true,
                "p_attainable": self.number(),
            }],
            "comparisons": [{
                "workload": self.text(), "metric": self.text(), "unit": self.text(),
                "baseline": self.text(), "configuration": self.text(),
                "n_baseline": self.count(), "n": self.count(),
                "mean_baseline": self.number(), "mean": self.number(),
                "ratio": self.number(), "ci": self.ci(), "ci_simultaneous": self.ci(),
                "p_t": self.number(), "t_test": "welch", "p": self.number(), "p_attainable": self.number(),
                "p_adjusted": self.number(), "p_t_adjusted": self.number(),
                "primary": true, "capped_by": self.text(), "scale": "summary", "difference": self.number(),
                "resolution": self.number(), "too_coarse": true, "verdict": "supported",
                "runs_needed": self.count(), "because": self.text(),
            }],
            "noise_floor": [{
                "workload": self.text(), "metric": self.text(), "unit": self.text(),
                "baseline": self.text(), "configuration": self.text(),
                "n_baseline": self.count(), "n": self.count(), "ratio": self.number(),
                "ci": self.ci(), "p_t": self.number(), "p": self.number(),
                "difference": self.number(), "verdict": "undecided",
            }],
            "tables": [{
                "metric": self.text(), "unit": self.text(), "workloads": [self.text()],
                "normalised_to": self.text(), "factor": self.text(), "level": self.number(),
                "rows": [{
                    "configuration": self.text(), "baseline": self.text(),
                    "because": self.text(), "cells": [{
                        "workload": self.text(), "n": self.count(), "median": self.number(),
                        "normalised": self.relation(&json!("established")),
                        "relative": self.relation(&json!("equivalent")),
                        "because": self.text(),
                    }],
                }],
            }],
        })
    }

    fn traded(&mut self) -> Value {
        let axis = |of: &mut Self| {
            json!({
                "workload": of.text(), "metric": of.text(), "unit": of.text(),
                "better": "higher", "baseline": of.text(),
            })
        };
        let value = |of: &mut Self| {
            json!({
                "n": of.count(), "mean": of.number(),
                "relative": of.relation(&json!("established")),
            })
        };
        json!({
            "tradeoffs": [{
                "origin": "declared", "x": axis(self), "y": axis(self), "level": self.number(),
                "because": self.text(), "points": [{
                    "configuration": self.text(), "x": value(self), "y": value(self),
                    "standing": "dominated", "supported": true, "dominated_by": [{
                        "configuration": self.text(), "supported": true,
                        "x": self.relation(&json!("supported")),
                        "y": self.relation(&json!("equivalent")),
                    }],
                    "not_told_from": [self.text()], "equivalent_to": [self.text()],
                    "because": self.text(),
                }],
            }],
        })
    }

    fn fitted_and_said(&mut self) -> Value {
        json!({
            "factorial": [{
                "workload": self.text(), "metric": self.text(), "unit": self.text(),
                "factors": [self.text(), self.text()], "n": self.count(),
                "residual_df": self.number(), "effects": [{
                    "name": self.text(), "ratio": self.number(), "ci": self.ci(),
                    "p": self.number(), "p_adjusted": self.number(), "verdict": "established",
                }],
            }],
            "rates": [{
                "configuration": self.text(), "workload": self.text(), "event": self.text(),
                "count": self.count(), "exposure_s": self.number(),
                "rate_per_s": self.number(), "ci": self.ci(), "note": self.text(),
            }],
            "rate_comparisons": [{
                "baseline": self.text(), "configuration": self.text(),
                "workload": self.text(), "event": self.text(), "ratio": self.number(),
                "test": "windows", "p": self.number(), "p_adjusted": self.number(), "verdict": "undecided",
                "note": self.text(),
            }],
            "claims": [{"text": self.text(), "origin": "declared", "outcome": "refuted", "because": self.text()}],
            "lints": [{"code": self.text(), "where": self.text(), "detail": self.text()}],
            "sentences": [{"text": self.text(), "rows": [self.text(), self.text()]}],
            "limits": [self.text()],
        })
    }

    /// A document in which nothing is missing and no two values are equal.
    fn document(&mut self) -> Value {
        let mut all = json!({
            "schema": self.text(), "source": self.text(), "baseline": self.text(),
            "alpha": self.number(), "level": self.number(), "margin": self.number(),
            "configurations": [{
                "name": self.text(), "label": self.text(), "factors": {"factor1": true},
                "repeats": self.text(),
            }],
            "workloads": [self.text()], "reproduce": self.text(),
        });
        let parts = [
            self.recorded(),
            self.compared(),
            self.traded(),
            self.fitted_and_said(),
        ];
        for part in parts {
            let all = all.as_object_mut().unwrap();
            all.extend(part.as_object().unwrap().clone());
        }
        all
    }
}

/// Collects all texts and numbers of a value, and the names of metrics and
/// factors.
fn leaves(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Null => panic!("something is missing"),
        Value::Bool(on) => found.push(u8::from(*on).to_string()),
        Value::Number(number) => found.push(number.to_string()),
        Value::String(text) => found.push(text.clone()),
        Value::Array(all) => all.iter().for_each(|one| leaves(one, found)),
        Value::Object(all) => {
            for (name, one) in all {
                if name == "metric1" || name == "factor1" {
                    found.push(name.clone());
                }
                leaves(one, found);
            }
        }
    }
}

#[test]
fn whatever_is_in_the_document_is_in_the_table() {
    let made = Fresh(0).document();
    let document: Document = serde_json::from_value(made.clone()).unwrap();
    assert_eq!(serde_json::to_value(&document).unwrap(), made);
    let text = csv(&document).unwrap();
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let rows: Vec<::csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let cells = rows.iter().flatten();
    let parts = cells.flat_map(|cell| cell.split("; ").chain(cell.split(' ')));
    let parts: BTreeSet<&str> = parts.collect();
    let mut found = Vec::new();
    leaves(&made, &mut found);
    assert!(found.len() > 150, "{}", found.len());
    for leaf in found {
        assert!(
            parts.contains(leaf.as_str()),
            "{leaf} is in no cell of\n{text}"
        );
    }
}

#[test]
fn every_row_is_of_a_kind_and_as_wide_as_the_first() {
    let document = serde_json::from_value(Fresh(0).document()).unwrap();
    let text = csv(&document).unwrap();
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let kinds: Vec<String> = reader
        .records()
        .map(|row| row.unwrap().get(0).unwrap().to_owned())
        .collect();
    let once: BTreeSet<&str> = kinds.iter().map(String::as_str).collect();
    let known = [
        "about",
        "claim",
        "comparison",
        "configuration",
        "dominates",
        "effect",
        "equivalent_to",
        "family",
        "level",
        "limit",
        "lint",
        "median",
        "noise_floor",
        "normalised",
        "not_told_from",
        "point_x",
        "point_y",
        "rate",
        "rate_comparison",
        "relative",
        "relative_x",
        "relative_y",
        "run",
        "sentence",
        "standing",
        "statement",
        "summary",
        "table",
        "tradeoff",
        "tradeoff_x",
        "tradeoff_y",
        "workload",
    ];
    assert_eq!(once.into_iter().collect::<Vec<_>>(), known);
}

#[test]
fn json_reads_back_as_the_same_document() {
    let document: Document = serde_json::from_value(Fresh(0).document()).unwrap();
    let text = crate::json(&document).unwrap();
    assert_eq!(serde_json::from_str::<Document>(&text).unwrap(), document);
}

#[test]
fn a_table_has_a_row_for_each_median_and_each_ratio() {
    let made = Fresh(0).document();
    let document: Document = serde_json::from_value(made.clone()).unwrap();
    let text = csv(&document).unwrap();
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let head = reader.headers().unwrap().clone();
    let rows: Vec<::csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let cell = |kind: &str, column: &str| {
        let row = rows.iter().find(|row| &row[0] == kind).unwrap();
        let at = head.iter().position(|name| name == column).unwrap();
        row[at].to_owned()
    };
    let table = &document.tables[0];
    let row = &table.rows[0];
    assert_eq!(cell("table", "workload"), table.workloads[0]);
    assert_eq!(
        cell("median", "value"),
        row.cells[0].median.unwrap().to_string()
    );
    for (kind, to, relation) in [
        ("normalised", &table.normalised_to, &row.cells[0].normalised),
        ("relative", &row.baseline, &row.cells[0].relative),
    ] {
        let relation = relation.as_ref().unwrap();
        assert_eq!(cell(kind, "baseline"), to.clone().unwrap());
        assert_eq!(cell(kind, "ratio"), relation.ratio.unwrap().to_string());
        assert_eq!(cell(kind, "ci_high"), relation.ci.unwrap()[1].to_string());
        assert_eq!(cell(kind, "t_test"), "paired");
    }
}
