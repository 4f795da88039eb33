//! The call trees of one run, by thread.

use std::collections::{BTreeMap, BTreeSet};

use crate::profile::{Profile, ProfilePlace, UNKNOWN, USER};
use crate::symbols::{KERNEL, KernelFunction};
use crate::threads::merged_name;
use crate::{Error, RunCounts, Symbols};

/// The node above interrupt handlers, which are not callees of the code they interrupt.
pub const INTERRUPTS: &str = "(interrupts)";

/// The nodes of the trees as the plugin writes them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Trees {
    /// For each root, the index of its task.
    roots: Vec<usize>,
    nodes: Vec<CallNode>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct CallNode {
    root: usize,
    parent: Option<usize>,
    depth: usize,
    function: u64,
    own: u64,
    entered: u64,
}

/// The maximum stack depth that the plugin records.
const DEEPEST: usize = 4096;

impl Trees {
    /// Reads the root of a tree: the index of its task.
    pub(crate) fn take_root(&mut self, rest: &str, tasks: usize) -> Option<()> {
        let task = rest.parse().ok()?;
        (task < tasks).then_some(())?;
        self.roots.push(task);
        Some(())
    }

    /// Reads a node: the number of its caller (from 1, or 0 for none), the start address
    /// of the function, its self instructions, and its number of entries.
    pub(crate) fn take_node(&mut self, rest: &str) -> Option<()> {
        let words: Vec<&str> = rest.split(' ').collect();
        let [parent, function, own, entered] = words[..] else {
            return None;
        };
        let root = self.roots.len().checked_sub(1)?;
        let parent = parent.parse::<usize>().ok()?.checked_sub(1);
        let mut depth = 0;
        if let Some(parent) = parent {
            let caller = self.nodes.get(parent)?;
            (caller.root == root && caller.depth < DEEPEST).then_some(())?;
            depth = caller.depth + 1;
        }
        self.nodes.push(CallNode {
            root,
            parent,
            depth,
            function: u64::from_str_radix(function, 16).ok()?,
            own: own.parse().ok()?,
            entered: entered.parse().ok()?,
        });
        Some(())
    }
}

/// A function at one place in a call tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Call {
    /// Self instructions.
    pub own: u64,
    /// The number of entries.
    pub entered: u64,
    /// Its callees, by name.
    pub callees: BTreeMap<String, Call>,
}

impl Call {
    /// Inclusive instructions: its own and those of everything it called.
    #[must_use]
    pub fn inclusive(&self) -> u64 {
        self.own + self.callees.values().map(Call::inclusive).sum::<u64>()
    }

    /// Adds to `sum` the instructions and entries of the functions called `names`:
    /// inclusive instructions, each counted once even if such functions nest; self
    /// instructions; and entries.
    fn add_up(&self, names: &BTreeSet<String>, inside: bool, sum: &mut CallShare) {
        for (name, callee) in &self.callees {
            let one = names.contains(name);
            if one && !inside {
                sum.inclusive += callee.inclusive();
            }
            if one {
                sum.own += callee.own;
                sum.entered += callee.entered;
            }
            callee.add_up(names, inside || one, sum);
        }
    }

    fn fold(&self, stack: &str, text: &mut String) {
        for (name, callee) in &self.callees {
            let stack = format!("{stack};{}", plain_frame_name(name));
            if callee.own > 0 {
                text.push_str(&format!("{stack} {}\n", callee.own));
            }
            callee.fold(&stack, text);
        }
    }
}

/// Instructions and entries of a function.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallShare {
    /// Inclusive instructions.
    pub inclusive: u64,
    /// Self instructions.
    pub own: u64,
    /// The number of entries.
    pub entered: u64,
}

/// The call trees of one run, by merged thread name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Calls {
    /// The roots. A thread has no self instructions; its callees are its outermost
    /// functions.
    pub threads: BTreeMap<String, Call>,
}

impl Calls {
    /// Resolves the addresses in the trees to names.
    ///
    /// # Errors
    /// If the trees do not add up to the instructions counted for each thread and
    /// function.
    pub fn from_counts(
        counts: &RunCounts,
        symbols: &Symbols,
        profile: &Profile,
    ) -> Result<Calls, Error> {
        let trees = &counts.trees;
        // Callers precede their callees, so every node is complete when visited from the
        // end.
        let mut calls: Vec<Call> = Vec::new();
        let mut names = Vec::new();
        for node in &trees.nodes {
            calls.push(Call {
                own: node.own,
                entered: node.entered,
                callees: BTreeMap::new(),
            });
            names.push(name(node.function, symbols));
        }
        let mut all = Calls::default();
        for (node, name) in trees.nodes.iter().zip(names).rev() {
            let Some(call) = calls.pop() else { break };
            let above = match node.parent {
                Some(parent) => calls.get_mut(parent),
                None => {
                    let task = trees.roots.get(node.root);
                    let task = task.and_then(|at| counts.task(*at));
                    task.map(|task| {
                        let thread = merged_name(&task.name, task.pid);
                        all.threads.entry(thread).or_default()
                    })
                }
            };
            if let Some(above) = above {
                merge_call(above.callees.entry(name).or_default(), call);
            }
        }
        all.refuse_other(profile)?;
        all.name_user_space(profile);
        Ok(all)
    }

    /// Adds user-space functions flat below the user-space node of each thread, since
    /// calls outside the kernel are not recorded.
    fn name_user_space(&mut self, profile: &Profile) {
        for (thread, call) in &mut self.threads {
            let Some(user) = call.callees.get_mut(USER) else {
                continue;
            };
            let places = profile.places.iter();
            let mine = |(place, _): &(&ProfilePlace, &u64)| {
                place.thread == *thread && place.subsystem == USER && place.function != USER
            };
            for (place, times) in places.filter(mine) {
                user.own -= times;
                let one = Call {
                    own: *times,
                    ..Call::default()
                };
                user.callees.insert(place.function.clone(), one);
            }
        }
    }

    /// Fails unless the trees contain exactly the instructions counted for each thread
    /// and function.
    fn refuse_other(&self, profile: &Profile) -> Result<(), Error> {
        let mut counted: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for (place, times) in &profile.places {
            let function = match &*place.subsystem {
                USER => USER,
                _ => &place.function,
            };
            *counted.entry((&place.thread, function)).or_default() += times;
        }
        let mut here = BTreeMap::new();
        for (thread, call) in &self.threads {
            add_own(thread, call, &mut here);
        }
        let functions: BTreeSet<_> = counted.keys().chain(here.keys()).collect();
        for at in functions {
            let [counted, here] = [&counted, &here].map(|of| of.get(at).copied().unwrap_or(0));
            if counted != here {
                return Err(Error::Trees {
                    thread: at.0.to_owned(),
                    function: at.1.to_owned(),
                    counted,
                    here,
                });
            }
        }
        Ok(())
    }

    /// The instructions and entries of all functions with these names together.
    #[must_use]
    pub fn share(&self, names: &BTreeSet<String>) -> CallShare {
        let mut sum = CallShare::default();
        for thread in self.threads.values() {
            thread.add_up(names, false, &mut sum);
        }
        sum
    }

    /// Returns folded stacks for a flame graph, one per line: the thread, the functions,
    /// and the self instructions of the last function.
    #[must_use]
    pub fn folded(&self) -> String {
        let mut text = String::new();
        for (thread, call) in &self.threads {
            call.fold(&plain_frame_name(thread), &mut text);
        }
        text
    }
}

/// Replaces characters that separate frames or lines.
fn plain_frame_name(name: &str) -> String {
    name.replace([';', '\n', '\r'], "_")
}

/// Merges a tree into another; threads with the same name share a tree.
fn merge_call(into: &mut Call, call: Call) {
    into.own += call.own;
    into.entered += call.entered;
    for (name, callee) in call.callees {
        merge_call(into.callees.entry(name).or_default(), callee);
    }
}

fn add_own<'a>(thread: &'a str, call: &'a Call, sums: &mut BTreeMap<(&'a str, &'a str), u64>) {
    for (name, callee) in &call.callees {
        if callee.own > 0 {
            *sums.entry((thread, name)).or_default() += callee.own;
        }
        add_own(thread, callee, sums);
    }
}

fn name(function: u64, symbols: &Symbols) -> String {
    match function {
        0 => USER.into(),
        2 => INTERRUPTS.into(),
        address if address >= KERNEL => symbols
            .at(address)
            .and_then(|at| symbols.function(at))
            .map_or_else(|| UNKNOWN.into(), KernelFunction::full_name),
        _ => UNKNOWN.into(),
    }
}

#[cfg(test)]
#[path = "calls_tests.rs"]
mod tests;
