//! The numbers of runs that rows compare, in words.

use assize_verdict::Comparison;

/// The numbers, with the noun `runs` (which may be empty): `40 runs against 40`, `25 of 32 runs
/// against 32 of 32` if runs did not complete, `40 runs against 40, means of 32 memory images` if
/// images are the replicates. `None` unless all rows have the same.
pub(crate) fn describe_run_counts<'r>(
    rows: impl IntoIterator<Item = &'r Comparison>,
    noun: &str,
) -> Option<String> {
    let mut all = rows.into_iter().map(|row| of_row(row, noun));
    let first = all.next()??;
    all.all(|other| other.as_ref() == Some(&first))
        .then_some(first)
}

fn of_row(row: &Comparison, noun: &str) -> Option<String> {
    let (n, n_baseline) = (row.n?, row.n_baseline?);
    let images = row.images.map_or(String::new(), |images| {
        format!(", means of {images} memory images")
    });
    let [of_baseline, of] = row.attempted.map_or([String::new(), String::new()], |all| {
        all.map(|all| format!(" of {all}"))
    });
    let noun = match noun {
        "" => String::new(),
        noun => format!(" {noun}"),
    };
    Some(format!(
        "{n}{of}{noun} against {n_baseline}{of_baseline}{images}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(n: u32, attempted: Option<[u32; 2]>, images: Option<u32>) -> Comparison {
        serde_json::from_value(serde_json::json!({
            "workload": "ring", "metric": "lost", "unit": "updates", "baseline": "old",
            "configuration": "new", "n_baseline": 8, "n": n, "attempted": attempted,
            "images": images, "mean_baseline": 1.0, "mean": 1.0, "ratio": 1.0, "ci": null,
            "ci_simultaneous": null, "p_t": null, "p": null, "p_attainable": null,
            "p_adjusted": null, "p_t_adjusted": null, "scale": "log", "difference": 0.0,
            "verdict": "undecided", "runs_needed": null, "because": null,
        }))
        .unwrap()
    }

    #[test]
    fn counts_are_said_once_if_they_are_the_same_for_all_rows() {
        let said = |rows: &[Comparison]| describe_run_counts(rows, "");
        assert_eq!(
            said(&[row(8, None, None), row(8, None, None)]).unwrap(),
            "8 against 8"
        );
        let lost = row(6, Some([8, 9]), Some(4));
        assert_eq!(
            said(std::slice::from_ref(&lost)).unwrap(),
            "6 of 9 against 8 of 8, means of 4 memory images"
        );
        assert_eq!(said(&[row(6, None, None), lost]), None);
        assert_eq!(said(&[]), None);
        let with_noun = describe_run_counts(&[row(6, Some([8, 9]), None)], "runs");
        assert_eq!(with_noun.unwrap(), "6 of 9 runs against 8 of 8");
    }
}
