//! Figures that are no measurement of what is compared, and figures of two comparisons, stand
//! in `posts/told/never_compared.txt`: each text beside one that differs in what the rule is
//! about. Of these no verdict may come, whatever else is read of them.

use crate::common::{cases, posts};

#[test]
fn what_was_set_or_counted_or_shown_twice_is_never_compared() {
    let all: Vec<[String; 3]> = posts("told/never_compared.txt")
        .iter()
        .flat_map(|(_, text)| cases(text))
        .collect();
    for (title, never) in [
        ("how long sleep takes", ": elapsed ["),
        ("when the last interval ended", ": elapsed ["),
        ("amounts of what is done", "compared: "),
        ("numbers of virtual cpus", "compared: "),
    ] {
        let is = |case: &&[String; 3]| case[0].contains(title) && !case[0].contains("alike");
        let found: Vec<_> = all.iter().filter(is).collect();
        assert!(!found.is_empty(), "{title}");
        for [_, _, read] in found {
            let mut lines = read.lines().filter(|line| line.starts_with("compared: "));
            assert!(!lines.any(|line| line.contains(never)), "{title}: {read}");
        }
    }
}
