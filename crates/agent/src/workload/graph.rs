//! Graphs of dependent jobs that one thread submits: random graphs and long
//! chains.

use assize_job::{Deep, Storm};

use super::client::{Client, ClientTerms, ContextLane};
use super::load::Load;
use crate::seed::Stream;
use crate::simgpu::uapi::{SimgpuDep, SimgpuExec};

/// A job in a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
struct GraphNode {
    /// Index of its context.
    lane: usize,
    /// Indices of the earlier nodes that it depends on.
    after: Vec<usize>,
}

/// A graph of jobs, submitted in order.
pub(super) struct Graph {
    shape: GraphShape,
    nodes: Vec<GraphNode>,
    exec: SimgpuExec,
}

enum GraphShape {
    Storm(Storm),
    Deep(Deep),
}

impl Graph {
    pub(super) fn storm(storm: Storm) -> Graph {
        let exec = SimgpuExec {
            duration_ns: storm.job_duration_ns,
            duration_spread_ns: storm.spread_ns,
            run_cost_ns: storm.run_cost_ns,
            ..SimgpuExec::default()
        };
        Graph {
            shape: GraphShape::Storm(storm),
            nodes: Vec::new(),
            exec,
        }
    }

    pub(super) fn deep(deep: Deep) -> Graph {
        let exec = SimgpuExec {
            duration_ns: deep.job_duration_ns,
            duration_spread_ns: deep.spread_ns,
            run_cost_ns: deep.run_cost_ns,
            ..SimgpuExec::default()
        };
        Graph {
            shape: GraphShape::Deep(deep),
            nodes: Vec::new(),
            exec,
        }
    }

    /// Submits every node once.
    fn submit(&self, lanes: &mut [ContextLane], seqnos: &mut Vec<u64>) -> Result<(), String> {
        seqnos.clear();
        let mut deps: Vec<SimgpuDep> = Vec::new();
        for node in &self.nodes {
            deps.clear();
            for before in &node.after {
                let lane = self.nodes[*before].lane;
                deps.extend(lanes[lane].job(seqnos[*before]));
            }
            let job = lanes[node.lane].submit(self.exec, &deps)?;
            seqnos.push(job.seqno);
        }
        lanes.iter_mut().try_for_each(ContextLane::wait_all)
    }
}

impl Load for Graph {
    fn contexts(&mut self, client: &Client) -> Result<Vec<ContextLane>, String> {
        let contexts;
        (contexts, self.nodes) = match &self.shape {
            GraphShape::Storm(storm) => {
                let mut stream = client.terms.stream("graph");
                (storm.contexts, storm_nodes(storm, &mut stream))
            }
            GraphShape::Deep(deep) => (deep.contexts, deep_nodes(deep)),
        };
        client.lanes(contexts, self.nodes.len() as u64)
    }

    fn run(
        &mut self,
        terms: &ClientTerms,
        _: u64,
        mut lanes: Vec<ContextLane>,
    ) -> Result<Vec<ContextLane>, String> {
        let mut seqnos = Vec::with_capacity(self.nodes.len());
        loop {
            self.submit(&mut lanes, &mut seqnos)?;
            if !terms.background {
                return Ok(lanes);
            }
        }
    }
}

/// A random graph: some jobs depend on jobs shortly before them.
fn storm_nodes(storm: &Storm, stream: &mut Stream) -> Vec<GraphNode> {
    const WHOLE: f64 = 1e9;
    let chance = (storm.dependent * WHOLE) as u64;
    let mut nodes = Vec::with_capacity(storm.jobs as usize);
    for index in 0..storm.jobs as usize {
        let lane = stream.below(storm.contexts.into()) as usize;
        let reach = index.min(storm.reach as usize);
        let depends = stream.below(WHOLE as u64) < chance;
        let count = 1 + stream.below(storm.dependencies.into());
        let mut after = Vec::new();
        if depends && reach > 0 {
            after.extend((0..count).map(|_| index - 1 - stream.below(reach as u64) as usize));
            after.sort_unstable();
            after.dedup();
        }
        nodes.push(GraphNode { lane, after });
    }
    nodes
}

/// Chains that go from context to context, each starting at a different one.
fn deep_nodes(deep: &Deep) -> Vec<GraphNode> {
    let (depth, contexts) = (deep.depth as usize, deep.contexts.max(1) as usize);
    let nodes = (0..deep.chains as usize).flat_map(|chain| {
        (0..depth).map(move |link| {
            let before = (link > 0).then(|| chain * depth + link - 1);
            GraphNode {
                lane: (chain + link) % contexts,
                after: before.into_iter().collect(),
            }
        })
    });
    nodes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_storm_is_drawn_from_the_seed_and_depends_on_what_came_before() {
        let storm = Storm::default();
        let storm_from = |seed| storm_nodes(&storm, &mut Stream::new(seed, "graph"));
        let nodes = storm_from(1);
        assert_eq!(nodes, storm_from(1));
        assert_ne!(nodes, storm_from(2));
        assert_eq!(nodes.len(), 3000);
        for (index, node) in nodes.iter().enumerate() {
            assert!(node.lane < 7 && node.after.len() <= 3);
            assert!(
                node.after
                    .iter()
                    .all(|before| *before < index && index - before <= 32)
            );
        }
        // Half of them depend on others, within six standard deviations.
        let dependent = nodes.iter().filter(|node| !node.after.is_empty()).count();
        assert!(dependent.abs_diff(1500) < 165, "{dependent}");
        let none = Storm {
            dependent: 0.0,
            ..storm
        };
        let nodes = storm_nodes(&none, &mut Stream::new(1, "graph"));
        assert!(nodes.iter().all(|node| node.after.is_empty()));
    }

    #[test]
    fn a_chain_goes_from_context_to_context() {
        let deep = Deep {
            chains: 2,
            depth: 3,
            contexts: 2,
            ..Deep::default()
        };
        let nodes = deep_nodes(&deep);
        let lanes: Vec<usize> = nodes.iter().map(|node| node.lane).collect();
        assert_eq!(lanes, [0, 1, 0, 1, 0, 1]);
        let after: Vec<&[usize]> = nodes.iter().map(|node| &node.after[..]).collect();
        assert_eq!(after, [&[][..], &[0], &[1], &[], &[3], &[4]]);
    }
}
