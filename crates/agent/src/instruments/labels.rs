//! Thread names within metric names.

/// Maximum number of threads to report individually.
pub(crate) const THREADS_MAX: usize = 16;

/// One label per thread, in the order given: its name in the kernel, with all characters
/// but letters, digits, `_`, `-` and `.` replaced by `_`. Threads of the same name are
/// numbered from 1.
pub(crate) fn labels<'a>(comms: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let clean: Vec<String> = comms.into_iter().map(sanitised).collect();
    let mut taken: Vec<String> = Vec::new();
    let mut given = Vec::with_capacity(clean.len());
    for name in &clean {
        let alike = clean.iter().filter(|other| *other == name).count();
        let mut number = 1;
        let mut label = if alike == 1 {
            name.clone()
        } else {
            format!("{name}.{number}")
        };
        while taken.contains(&label) {
            number += 1;
            label = format!("{name}.{number}");
        }
        taken.push(label.clone());
        given.push(label);
    }
    given
}

fn sanitised(comm: &str) -> String {
    let kept = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let name: String = comm
        .chars()
        .map(|c| if kept(c) { c } else { '_' })
        .collect();
    if name.is_empty() { "_".into() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_cleaned_and_numbered() {
        let cases: &[(&[&str], &[&str])] = &[
            (&["cyclictest"], &["cyclictest"]),
            (&["a", "a", "b"], &["a.1", "a.2", "b"]),
            (&["kworker/0:1", "", "a b"], &["kworker_0_1", "_", "a_b"]),
            (&["a.1", "a", "a"], &["a.1", "a.2", "a.3"]),
        ];
        for (comms, wanted) in cases {
            assert_eq!(labels(comms.iter().copied()), *wanted);
        }
    }

    proptest! {
        #[test]
        fn no_two_threads_share_a_name(comms in prop::collection::vec("[ab.1/]{0,3}", 0..12)) {
            let mut given = labels(comms.iter().map(String::as_str));
            prop_assert_eq!(given.len(), comms.len());
            given.sort();
            given.dedup();
            prop_assert_eq!(given.len(), comms.len());
        }
    }
}
