//! One pass over a document that follows a plan: it finds the elements and the wanted values, and
//! validates all the rest. A member that stands twice counts with its first value and is told.

use std::ops::Range;

use super::lex::{Lexer, Token, Unreadable};
use super::plan::Plan;
use super::text;
use crate::limits::BATCH_ELEMENTS_MAX;

/// What a pass found.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// The elements in the order in which they begin; without a batch the document is the only one.
    pub(crate) elements: Vec<Element>,
    /// For each `whole` place of the plan: star indices and value, in document order.
    wholes: Vec<Vec<(Vec<u32>, Token)>>,
    /// A member outside the elements that identity depends on stands twice.
    pub(crate) ambiguous: bool,
    /// An array of elements was there, be it empty.
    pub(crate) arrays: bool,
}

/// An element and the values in it.
#[derive(Debug)]
pub(crate) struct Element {
    pub(crate) rule: usize,
    /// Exactly the element's bytes in the document.
    pub(crate) range: Range<usize>,
    indices: Vec<u32>,
    slots: Vec<Option<Token>>,
    pub(crate) ambiguous: bool,
    dropped: bool,
}

impl Element {
    pub(crate) fn slot(&self, slot: usize) -> Option<Token> {
        self.slots.get(slot).copied().flatten()
    }
}

impl Scan {
    /// The value of a `whole` place for an element: the stars of the place are the element's own indices.
    pub(crate) fn whole(&self, plan: &Plan, slot: usize, element: &Element) -> Option<Token> {
        let stars = plan.wholes.get(slot)?.stars();
        let wanted = element.indices.get(..stars)?;
        let values = self.wholes.get(slot)?;
        // Arrays are read in order, so the values of a place are sorted by their indices.
        let at = values.binary_search_by(|(indices, _)| indices.as_slice().cmp(wanted)).ok()?;
        values.get(at).map(|(_, token)| *token)
    }
}

impl Scan {
    /// The value of a place without stars, where no element is read.
    pub(crate) fn unstarred(&self, plan: &Plan, slot: usize) -> Option<Token> {
        let stars = plan.wholes.get(slot)?.stars();
        if stars > 0 {
            return None;
        }
        self.wholes.get(slot)?.first().map(|(_, token)| *token)
    }
}

/// An open container on the way to something wanted.
struct Frame {
    node: usize,
    object: bool,
    /// Edges of the node whose member was seen.
    seen: u128,
    index: u32,
    /// The element that this container is, by its number.
    element: Option<usize>,
    /// The way here went through a star with this index.
    starred: bool,
}

/// Follows a plan through a document.
///
/// # Errors
/// The document is not JSON, nests too deep, or holds more elements than a batch may.
pub(crate) fn scan(doc: &[u8], plan: &Plan) -> Result<Scan, Unreadable> {
    let mut pass = Pass {
        doc,
        plan,
        lexer: Lexer::new(doc)?,
        stack: Vec::new(),
        indices: Vec::new(),
        open: Vec::new(),
        scan: Scan { wholes: vec![Vec::new(); plan.wholes.len()], ..Scan::default() },
    };
    pass.value(Some(0), false)?;
    while !pass.stack.is_empty() {
        pass.member()?;
    }
    pass.lexer.end()?;
    let mut scan = pass.scan;
    scan.elements.retain(|element| !element.dropped);
    if scan.elements.len() > BATCH_ELEMENTS_MAX { Err(Unreadable) } else { Ok(scan) }
}

struct Pass<'a> {
    doc: &'a [u8],
    plan: &'a Plan,
    lexer: Lexer<'a>,
    stack: Vec<Frame>,
    /// The star indices on the way to here.
    indices: Vec<u32>,
    /// The elements that are open, by their numbers.
    open: Vec<usize>,
    scan: Scan,
}

impl Pass<'_> {
    /// Reads the value that begins here. A container on the way to something wanted is opened, anything else read whole.
    fn value(&mut self, node: Option<usize>, starred: bool) -> Result<(), Unreadable> {
        let depth = self.stack.len();
        let Some((number, node)) = node.and_then(|number| Some((number, self.plan.nodes.get(number)?)))
        else {
            return self.lexer.skip(depth);
        };
        let start = self.lexer.at();
        let element = node.element.map(|rule| self.begin(rule, start));
        let object = match self.lexer.peek() {
            Some(b'{') => true,
            Some(b'[') => false,
            _ => {
                let token = self.lexer.scalar()?;
                self.keep(number, token);
                if let Some(element) = element {
                    self.finish(element, token.end);
                }
                return self.leave(starred);
            }
        };
        if node.is_leaf() {
            // Nothing is wanted inside; white space behind the value is not part of it.
            self.lexer.skip(depth)?;
            if let Some(element) = element {
                let end = self.trimmed(start);
                self.finish(element, end);
            }
            return self.leave(starred);
        }
        self.lexer.take(if object { b'{' } else { b'[' })?;
        self.scan.arrays |= !object && node.star.is_some();
        self.stack.push(Frame { node: number, object, seen: 0, index: 0, element, starred });
        if self.lexer.take_if(if object { b'}' } else { b']' }) {
            return self.close();
        }
        self.next()
    }

    /// After a member of the innermost container: the next one, or its end.
    fn member(&mut self) -> Result<(), Unreadable> {
        let object = self.stack.last().is_some_and(|frame| frame.object);
        if self.lexer.take_if(b',') {
            return self.next();
        }
        self.lexer.take(if object { b'}' } else { b']' })?;
        self.close()
    }

    /// Reads the member that begins here.
    fn next(&mut self) -> Result<(), Unreadable> {
        let Some(frame) = self.stack.last_mut() else { return Err(Unreadable) };
        let Some(node) = self.plan.nodes.get(frame.node) else { return Err(Unreadable) };
        if !frame.object {
            let index = frame.index;
            frame.index = index.saturating_add(1);
            let edge = node.edges.iter().find(|edge| edge.index == Some(u64::from(index)));
            let (child, starred) = match edge {
                Some(edge) => (Some(edge.child), edge.star),
                None => (node.star, node.star.is_some()),
            };
            if starred {
                self.indices.push(index);
            }
            return self.value(child, starred);
        }
        let name = self.lexer.name()?;
        let inner = self.doc.get(name.start + 1..name.end.saturating_sub(1)).unwrap_or_default();
        let decoded =
            if name.kind == super::lex::Kind::Escaped { text::string(self.doc, name) } else { None };
        let inner = decoded.as_ref().map_or(inner, |text| text.text.as_bytes());
        let edge = node.edges.iter().position(|edge| edge.name.as_bytes() == inner);
        let Some((number, edge)) = edge.and_then(|number| Some((number, node.edges.get(number)?))) else {
            return self.value(None, false);
        };
        let bit = 1_u128.checked_shl(u32::try_from(number).unwrap_or(u32::MAX)).unwrap_or(0);
        if frame.seen & bit != 0 {
            if self.plan.nodes.get(edge.child).is_some_and(|child| child.identity) {
                self.doubled();
            }
            return self.value(None, false);
        }
        frame.seen |= bit;
        self.value(Some(edge.child), false)
    }

    fn close(&mut self) -> Result<(), Unreadable> {
        let Some(frame) = self.stack.pop() else { return Err(Unreadable) };
        if let Some(element) = frame.element {
            let start = self.scan.elements.get(element).map_or(0, |element| element.range.start);
            let end = self.trimmed(start);
            self.finish(element, end);
        }
        self.leave(frame.starred)
    }

    /// Where the value that was just read ends: white space behind it was passed over already.
    fn trimmed(&self, start: usize) -> usize {
        let read = self.doc.get(start..self.lexer.at()).unwrap_or_default();
        start + read.trim_ascii_end().len()
    }

    fn leave(&mut self, starred: bool) -> Result<(), Unreadable> {
        if starred {
            self.indices.pop();
        }
        // Rules for leftovers open elements that are dropped later, hence the room.
        if self.scan.elements.len() > 4 * BATCH_ELEMENTS_MAX { Err(Unreadable) } else { Ok(()) }
    }

    fn begin(&mut self, rule: usize, start: usize) -> usize {
        let slots = self.plan.rules.get(rule).map_or(0, |rule| rule.slots.len());
        self.scan.elements.push(Element {
            rule,
            range: start..start,
            indices: self.indices.clone(),
            slots: vec![None; slots],
            ambiguous: false,
            dropped: false,
        });
        self.open.push(self.scan.elements.len() - 1);
        self.scan.elements.len() - 1
    }

    fn finish(&mut self, number: usize, end: usize) {
        self.open.pop();
        let Some((head, inside)) = self.scan.elements.split_at_mut_checked(number + 1) else { return };
        if let Some(element) = head.last_mut() {
            element.range.end = end;
            let leftover = self.plan.rules.get(element.rule).is_some_and(|rule| rule.unless_inside);
            element.dropped = leftover && inside.iter().any(|element| !element.dropped);
        }
    }

    fn keep(&mut self, node: usize, token: Token) {
        let Some(node) = self.plan.nodes.get(node) else { return };
        for &(rule, slot) in &node.slots {
            let owner =
                self.open.iter().rev().copied().find(|&number| {
                    self.scan.elements.get(number).is_some_and(|element| element.rule == rule)
                });
            if let Some(place) =
                owner.and_then(|number| self.scan.elements.get_mut(number)?.slots.get_mut(slot))
            {
                *place = Some(token);
            }
        }
        for &slot in &node.wholes {
            let stars = self.plan.wholes.get(slot).map_or(0, crate::catalogue::Pointer::stars);
            let indices = self.indices.get(..stars).unwrap_or_default().to_vec();
            if let Some(values) = self.scan.wholes.get_mut(slot) {
                values.push((indices, token));
            }
        }
    }

    /// A member that identity depends on stands twice: inside the open elements, or around all of them.
    fn doubled(&mut self) {
        if self.open.is_empty() {
            self.scan.ambiguous = true;
        }
        for &number in &self.open {
            if let Some(element) = self.scan.elements.get_mut(number) {
                element.ambiguous = true;
            }
        }
    }
}
