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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Pointer;
    use crate::identity::text::Text;

    /// The values of pointers in a document, and whether one of them is ambiguous; `None` when it can't be read.
    fn values(doc: &str, pointers: &[&str]) -> Option<(Vec<Option<String>>, bool)> {
        let mut plan = Plan::new();
        let rule = plan.rule(None, false);
        let slots: Vec<usize> =
            pointers.iter().map(|text| plan.slot(rule, &Pointer::parse(text).unwrap(), true)).collect();
        let plan = plan.finish();
        let scan = scan(doc.as_bytes(), &plan).ok()?;
        assert_eq!(scan.elements.len(), 1);
        let element = &scan.elements[0];
        let text = |slot: &usize| {
            let token = element.slot(*slot)?;
            Text::from_token(doc.as_bytes(), token).map(|text| text.text.into_owned())
        };
        Some((slots.iter().map(text).collect(), scan.ambiguous || element.ambiguous))
    }

    fn value(doc: &str, pointer: &str) -> Option<String> {
        values(doc, &[pointer]).and_then(|(values, _)| values.into_iter().next().flatten())
    }

    #[test]
    fn pointers_find_their_values() {
        for (doc, pointer, wanted) in [
            (r#"{"id":"a"}"#, "/id", Some("a")),
            (r#" { "x" : [ 1 , { "y" : 9007199254740993 } ] } "#, "/x/1/y", Some("9007199254740993")),
            (r#"{"a/b":{"m~n":"v"}}"#, "/a~1b/m~0n", Some("v")),
            (r#"{"":{"":"v"}}"#, "//", Some("v")),
            (r#"{"\u0069d":"v"}"#, "/id", Some("v")),
            (r#"{"0":"object"}"#, "/0", Some("object")),
            (r#"["array"]"#, "/0", Some("array")),
            (r#"["a","b"]"#, "/00", None),
            (r#"["a","b"]"#, "/-", None),
            (r#"["a","b"]"#, "/2", None),
            (r#"{"id":1e2}"#, "/id", Some("1e2")),
            (r#""alone""#, "", Some("alone")),
            ("42", "", Some("42")),
            (r#"{"id":"a"}"#, "", None),
            (r#"{"id":{"id":"x"}}"#, "/id", None),
            (r#"{"id":"x"}"#, "/id/id", None),
            (r#"{"id":null}"#, "/id", None),
            (r#"{"id":true}"#, "/id", None),
            (r#"{"id":""}"#, "/id", None),
            (r#"{"id":[]}"#, "/id", None),
            ("{}", "/id", None),
            ("null", "/id", None),
            ("\u{feff}{\"id\":\"bom\"}\r\n", "/id", Some("bom")),
        ] {
            assert_eq!(value(doc, pointer).as_deref(), wanted, "{doc} {pointer}");
        }
    }

    #[test]
    fn the_first_of_a_doubled_member_counts_and_is_told() {
        let told = |doc, pointers: &[&str]| values(doc, pointers).unwrap();
        assert_eq!(told(r#"{"id":"a","id":"b"}"#, &["/id"]), (vec![Some("a".into())], true));
        assert_eq!(told(r#"{"id":"a","\u0069d":"b"}"#, &["/id"]), (vec![Some("a".into())], true));
        assert_eq!(told(r#"{"id":null,"id":"b"}"#, &["/id"]), (vec![None], true));
        assert_eq!(told(r#"{"a":{"id":1},"a":{"id":2}}"#, &["/a/id"]), (vec![Some("1".into())], true));
        assert_eq!(told(r#"{"a":1,"a":{"id":2}}"#, &["/a/id"]), (vec![None], true));
        assert_eq!(told(r#"{"x":1,"x":2,"id":"a","o":{"id":1}}"#, &["/id"]), (vec![Some("a".into())], false));
        assert_eq!(told(r#"[{"id":1},{"id":2}]"#, &["/0/id"]), (vec![Some("1".into())], false));
    }

    #[test]
    fn a_document_that_breaks_off_says_nothing_at_all() {
        for doc in [r#"{"id":"a","type":"t","a":"#, r#"{"id":"a"} x"#, r#"{"id":"a",}"#, "", "\u{feff}"] {
            assert_eq!(values(doc, &["/id"]), None, "{doc}");
        }
    }

    /// An element: its rule, its bytes, its values.
    type Found = (usize, String, Vec<Option<String>>);

    /// The elements of a batch, and whether its arrays were there.
    fn batch(doc: &str, rules: &[(&str, bool, &[&str])]) -> (Vec<Found>, bool) {
        let mut plan = Plan::new();
        for (each, leftover, pointers) in rules {
            let rule = plan.rule(Some(&Pointer::parse_with_stars(each).unwrap()), *leftover);
            for pointer in *pointers {
                plan.slot(rule, &Pointer::parse(pointer).unwrap(), true);
            }
        }
        let plan = plan.finish();
        let scan = scan(doc.as_bytes(), &plan).unwrap();
        let elements = scan.elements.iter().map(|element| {
            let slots = 0..plan.rules[element.rule].slots.len();
            let values = slots.map(|slot| {
                element
                    .slot(slot)
                    .and_then(|token| Text::from_token(doc.as_bytes(), token))
                    .map(|text| text.text.into())
            });
            (element.rule, doc[element.range.clone()].to_owned(), values.collect())
        });
        (elements.collect(), scan.arrays)
    }

    #[test]
    fn elements_are_cut_out_exactly_as_they_stand() {
        let id: &[&str] = &["/id"];
        let (found, arrays) = batch(
            "[ {\"id\": 1 } ,\r\n\"x\", null,[ ],{\"a\":{\"id\":9},\"id\":\"b\"}\t]\r\n",
            &[("/*", false, id)],
        );
        let texts: Vec<&str> = found.iter().map(|(_, text, _)| text.as_str()).collect();
        assert_eq!(texts, ["{\"id\": 1 }", "\"x\"", "null", "[ ]", "{\"a\":{\"id\":9},\"id\":\"b\"}"]);
        assert_eq!(found[0].2, [Some("1".to_owned())]);
        assert_eq!(found[4].2, [Some("b".to_owned())]);
        assert!(arrays && found[1].2 == [None]);
    }

    #[test]
    fn an_empty_array_is_an_empty_batch_and_no_array_is_none() {
        for (doc, arrays) in [("[]", true), ("{}", false), ("{\"e\":[]}", false), ("5", false)] {
            assert_eq!(batch(doc, &[("/*", false, &[])]), (vec![], arrays), "{doc}");
        }
        assert_eq!(batch("{\"e\":[]}", &[("/e/*", false, &[])]), (vec![], true));
        assert_eq!(batch("{\"e\":{\"0\":1}}", &[("/e/*", false, &[])]), (vec![], false));
    }

    #[test]
    fn a_leftover_counts_only_when_nothing_was_found_inside() {
        let doc = r#"{"e":[{"c":[{"m":[1,2]},{"x":3},{"m":[]}]},{"c":[]}]}"#;
        let rules: &[(&str, bool, &[&str])] =
            &[("/e/*/c/*/m/*", false, &[]), ("/e/*/c/*", true, &[]), ("/e/*", true, &[])];
        let found: Vec<(usize, String)> =
            batch(doc, rules).0.into_iter().map(|(rule, text, _)| (rule, text)).collect();
        let wanted = [(0, "1"), (0, "2"), (1, r#"{"x":3}"#), (1, r#"{"m":[]}"#), (2, r#"{"c":[]}"#)];
        assert_eq!(found, wanted.map(|(rule, text)| (rule, text.to_owned())));
    }

    #[test]
    fn a_place_around_the_elements_is_found_wherever_it_stands() {
        let doc = r#"{"e":[{"c":[{"v":[1,2],"f":"late"}],"id":"A"},{"id":"B","c":[{"f":"early","v":[3]}]}]}"#;
        let mut plan = Plan::new();
        plan.rule(Some(&Pointer::parse_with_stars("/e/*/c/*/v/*").unwrap()), false);
        let id = plan.whole(&Pointer::parse_with_stars("/e/*/id").unwrap(), true);
        let field = plan.whole(&Pointer::parse_with_stars("/e/*/c/*/f").unwrap(), false);
        let plan = plan.finish();
        let scan = scan(doc.as_bytes(), &plan).unwrap();
        let text = |slot, element| {
            let token = scan.whole(&plan, slot, element).unwrap();
            Text::from_token(doc.as_bytes(), token).unwrap().text.into_owned()
        };
        let found: Vec<(String, String)> =
            scan.elements.iter().map(|element| (text(id, element), text(field, element))).collect();
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(found, [pair("A", "late"), pair("A", "late"), pair("B", "early")]);
    }

    #[test]
    fn an_index_and_a_star_share_an_element() {
        let mut plan = Plan::new();
        let rule = plan.rule(Some(&Pointer::parse_with_stars("/*").unwrap()), false);
        let id = plan.slot(rule, &Pointer::parse("/id").unwrap(), true);
        let code = plan.whole(&Pointer::parse("/0/data/code").unwrap(), false);
        let plan = plan.finish();
        let doc = br#"[{"id":"a","data":{"code":"C"}},{"id":"b","data":{"code":"D"}}]"#;
        let scan = scan(doc, &plan).unwrap();
        let ids: Vec<_> = scan
            .elements
            .iter()
            .map(|one| Text::from_token(doc, one.slot(id).unwrap()).unwrap().text)
            .collect();
        assert_eq!(ids, ["a", "b"]);
        let token = scan.whole(&plan, code, &scan.elements[1]).unwrap();
        assert_eq!(Text::from_token(doc, token).unwrap().text, "C");
    }

    #[test]
    fn more_elements_than_a_batch_may_have_are_not_read() {
        let doc = |elements: usize| format!("[{}]", vec!["1"; elements].join(","));
        let mut plan = Plan::new();
        plan.rule(Some(&Pointer::parse_with_stars("/*").unwrap()), false);
        let plan = plan.finish();
        assert_eq!(
            scan(doc(BATCH_ELEMENTS_MAX).as_bytes(), &plan).unwrap().elements.len(),
            BATCH_ELEMENTS_MAX
        );
        assert!(scan(doc(BATCH_ELEMENTS_MAX + 1).as_bytes(), &plan).is_err());
    }
}
