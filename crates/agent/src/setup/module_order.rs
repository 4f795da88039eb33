//! Random order of modules, subject to their dependencies.

use std::collections::BTreeMap;

use crate::seed::Stream;

/// A random order in which each module follows those of the set that it needs. At every
/// step all modules that could come next are equally likely. Modules that need each other
/// come last, by name; they cannot be loaded anyway.
pub(crate) fn random_order(needs: &BTreeMap<String, Vec<String>>, draw: u32) -> Vec<String> {
    let mut stream = Stream::new(draw.into(), "modules");
    let mut left: Vec<&String> = needs.keys().collect();
    let mut order: Vec<String> = Vec::new();
    while !left.is_empty() {
        let waits = |name: &String| {
            let mut needed = needs.get(name).into_iter().flatten();
            needed.any(|need| need != name && left.contains(&need))
        };
        let ready: Vec<usize> = (0..left.len()).filter(|at| !waits(left[*at])).collect();
        let chosen = stream.below(ready.len() as u64);
        let chosen = usize::try_from(chosen).ok().and_then(|at| ready.get(at));
        order.push(left.remove(chosen.copied().unwrap_or(0)).clone());
    }
    order
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn needs(all: &[(&str, &str)]) -> BTreeMap<String, Vec<String>> {
        let module = |(name, needs): &(&str, &str)| {
            let needs = needs.split_whitespace().map(String::from);
            ((*name).to_string(), needs.collect())
        };
        all.iter().map(module).collect()
    }

    fn orders(all: &[(&str, &str)]) -> BTreeSet<String> {
        let needs = needs(all);
        let one = |draw| random_order(&needs, draw).concat();
        (0..2000).map(one).collect()
    }

    #[test]
    fn every_order_occurs_that_keeps_what_is_needed_first() {
        // Dependencies outside the set do not count.
        let all = orders(&[("a", ""), ("b", "x"), ("c", "a b"), ("d", "a")]);
        let wanted = ["abcd", "abdc", "adbc", "bacd", "badc"];
        assert_eq!(all, wanted.map(String::from).into());
        assert_eq!(orders(&[("c", ""), ("b", "c"), ("a", "b")]).len(), 1);
        assert_eq!(orders(&[("a", ""), ("b", ""), ("c", "")]).len(), 6);
        assert_eq!(orders(&[]), [String::new()].into());
    }

    #[test]
    fn a_draw_gives_the_same_order_again() {
        let needs = needs(&[("a", ""), ("b", ""), ("c", ""), ("d", "")]);
        for draw in 0..20 {
            assert_eq!(random_order(&needs, draw), random_order(&needs, draw));
        }
    }

    #[test]
    fn modules_that_need_each_other_end_it_too() {
        let needs = needs(&[("a", "b"), ("b", "a"), ("c", "c")]);
        assert_eq!(random_order(&needs, 1), ["c", "a", "b"]);
    }
}
