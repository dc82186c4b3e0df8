//! Which places of a document are wanted: the pointers of a rule, merged into one tree that a single
//! pass over the document follows. Built once for an endpoint's scheme.

use crate::catalogue::{Pointer, Step};

/// A node of the tree.
#[derive(Debug, Default, Clone)]
pub(crate) struct Node {
    pub(crate) edges: Vec<Edge>,
    /// The child for every element of an array.
    pub(crate) star: Option<usize>,
    /// Scalars here belong to the open element of a rule: (rule, slot).
    pub(crate) slots: Vec<(usize, usize)>,
    /// Scalars here are kept with their place, for elements below the same place.
    pub(crate) wholes: Vec<usize>,
    /// A value here is an element of this rule.
    pub(crate) element: Option<usize>,
    /// Identity depends on what stands here or below.
    pub(crate) identity: bool,
}

impl Node {
    pub(crate) fn is_leaf(&self) -> bool {
        self.edges.is_empty() && self.star.is_none()
    }
}

/// A step to a child by name or index.
#[derive(Debug, Clone)]
pub(crate) struct Edge {
    pub(crate) name: Box<str>,
    /// The name as an array index.
    pub(crate) index: Option<u64>,
    pub(crate) child: usize,
    /// The child stands for `*` as well, so the index counts as one of a star.
    pub(crate) star: bool,
}

/// The tree and what it fills.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) nodes: Vec<Node>,
    /// A rule each: its slots, and whether its elements count only when nothing was found inside.
    pub(crate) rules: Vec<PlanRule>,
    /// How many `whole` places there are.
    pub(crate) wholes: Vec<Pointer>,
    /// The events are elements of arrays.
    pub(crate) batch: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct PlanRule {
    each: Vec<Step>,
    pub(crate) slots: Vec<Pointer>,
    pub(crate) unless_inside: bool,
}

impl Plan {
    pub(crate) fn new() -> Self {
        Self { nodes: vec![Node::default()], rules: Vec::new(), wholes: Vec::new(), batch: false }
    }

    /// Adds a rule: the document itself, or each element that a pointer with stars names.
    pub(crate) fn rule(&mut self, each: Option<&Pointer>, unless_inside: bool) -> usize {
        let steps = each.map_or_else(Vec::new, |pointer| pointer.0.clone());
        self.batch |= each.is_some();
        let rule = self.rules.len();
        let node = self.descend(&steps, true);
        if let Some(node) = self.nodes.get_mut(node) {
            node.element = Some(rule);
        }
        self.rules.push(PlanRule { each: steps, slots: Vec::new(), unless_inside });
        rule
    }

    /// A place inside the elements of a rule. The same place asked for twice is one slot.
    pub(crate) fn slot(&mut self, rule: usize, pointer: &Pointer, identity: bool) -> usize {
        let Some(known) = self.rules.get_mut(rule) else { return 0 };
        let steps: Vec<Step> = known.each.iter().chain(&pointer.0).cloned().collect();
        let slot = known.slots.iter().position(|old| old == pointer).unwrap_or_else(|| {
            known.slots.push(pointer.clone());
            known.slots.len() - 1
        });
        let node = self.descend(&steps, identity);
        if let Some(node) = self.nodes.get_mut(node)
            && !node.slots.contains(&(rule, slot))
        {
            node.slots.push((rule, slot));
        }
        slot
    }

    /// A place in the whole document, in which stars are the indices of an element.
    pub(crate) fn whole(&mut self, pointer: &Pointer, identity: bool) -> usize {
        let slot = self.wholes.iter().position(|old| old == pointer).unwrap_or_else(|| {
            self.wholes.push(pointer.clone());
            self.wholes.len() - 1
        });
        let node = self.descend(&pointer.0, identity);
        if let Some(node) = self.nodes.get_mut(node)
            && !node.wholes.contains(&slot)
        {
            node.wholes.push(slot);
        }
        slot
    }

    fn descend(&mut self, steps: &[Step], identity: bool) -> usize {
        let mut at = 0;
        for step in steps {
            let next = self.nodes.len();
            let Some(node) = self.nodes.get_mut(at) else { break };
            node.identity |= identity;
            let child = match step {
                Step::Any => *node.star.get_or_insert(next),
                Step::Key(name) => match node.edges.iter().find(|edge| *edge.name == **name) {
                    Some(edge) => edge.child,
                    None => {
                        let edge =
                            Edge { name: name.as_str().into(), index: index(name), child: next, star: false };
                        node.edges.push(edge);
                        next
                    }
                },
            };
            if child == next {
                self.nodes.push(Node::default());
            }
            at = child;
        }
        if let Some(node) = self.nodes.get_mut(at) {
            node.identity |= identity;
        }
        at
    }

    /// Makes the tree ready: where an index and a star meet, the index takes on what the star wants.
    pub(crate) fn finish(mut self) -> Self {
        let mut waiting = vec![0];
        while let Some(at) = waiting.pop() {
            let Some(node) = self.nodes.get(at).cloned() else { continue };
            if let Some(star) = node.star {
                for (number, edge) in node.edges.iter().enumerate() {
                    if edge.index.is_some() {
                        self.merge(edge.child, star);
                        if let Some(edge) = self.nodes.get_mut(at).and_then(|node| node.edges.get_mut(number))
                        {
                            edge.star = true;
                        }
                    }
                }
            }
            waiting.extend(node.star);
            waiting.extend(node.edges.iter().map(|edge| edge.child));
        }
        self
    }

    /// Copies what stands at and below one node to another.
    fn merge(&mut self, into: usize, from: usize) {
        let mut waiting = vec![(into, from)];
        while let Some((into, from)) = waiting.pop() {
            let Some(source) = self.nodes.get(from).cloned() else { continue };
            let mut fresh = self.nodes.len();
            let Some(node) = self.nodes.get_mut(into) else { continue };
            node.slots.extend(source.slots);
            node.wholes.extend(source.wholes);
            node.element = node.element.or(source.element);
            node.identity |= source.identity;
            if let Some(star) = source.star {
                if node.star.is_none() {
                    node.star = Some(fresh);
                    fresh += 1;
                }
                waiting.extend(node.star.map(|child| (child, star)));
            }
            for edge in source.edges {
                let child = match node.edges.iter().find(|known| known.name == edge.name) {
                    Some(known) => known.child,
                    None => {
                        node.edges.push(Edge { child: fresh, ..edge.clone() });
                        fresh += 1;
                        fresh - 1
                    }
                };
                waiting.push((child, edge.child));
            }
            self.nodes.resize_with(fresh, Node::default);
        }
    }
}

/// The index that a step names in an array: digits without a leading zero.
fn index(name: &str) -> Option<u64> {
    let canonical = name == "0" || (!name.starts_with('0') && name.bytes().all(|byte| byte.is_ascii_digit()));
    if canonical { name.parse().ok() } else { None }
}
