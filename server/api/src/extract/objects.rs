//! Objects are written as objects. serde takes a list for a type with named fields as well, by the
//! order in which the fields stand in the code, so that `[["ep_1"],[],["x"]]` would be a filter.
//! Nobody means that. This wraps a deserializer, and whatever it hands out, so that a list in place of
//! an object is refused at any depth, in any type, without a word at the type.

use std::fmt;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess,
    Visitor,
};

/// A deserializer, or a part of one, under the rule.
pub(super) struct Objects<T>(pub(super) T);

/// The visitor of a type with named fields: it takes an object, and by what serde does with all that a
/// visitor does not name, nothing else.
struct Named<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for Named<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(Objects(map))
    }
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Objects<D> {
    type Error = D::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_struct(name, fields, Named(visitor))
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(Objects(visitor))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_option(Objects(visitor))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_newtype_struct(name, Objects(visitor))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_enum(name, variants, Objects(visitor))
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }

    // JSON says itself what stands there, so that a hint changes nothing.
    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

/// The kinds of values that hold no others, handed on as they are.
macro_rules! hand_on {
    ($($visit:ident: $kind:ty),* $(,)?) => {$(
        fn $visit<E: Error>(self, value: $kind) -> Result<V::Value, E> {
            self.0.$visit(value)
        }
    )*};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Objects<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    hand_on! {
        visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str,
        visit_borrowed_str: &'de str, visit_string: String,
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    fn visit_some<D: Deserializer<'de>>(self, some: D) -> Result<V::Value, D::Error> {
        self.0.visit_some(Objects(some))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.0.visit_newtype_struct(Objects(inner))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<V::Value, A::Error> {
        self.0.visit_seq(Objects(seq))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(Objects(map))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, choice: A) -> Result<V::Value, A::Error> {
        self.0.visit_enum(Objects(choice))
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Objects<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(Objects(deserializer))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Objects<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(Objects(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Objects<A> {
    type Error = A::Error;

    // A key is no object.
    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(Objects(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: EnumAccess<'de>> EnumAccess<'de> for Objects<A> {
    type Error = A::Error;
    type Variant = Objects<A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self::Variant), A::Error> {
        self.0.variant_seed(seed).map(|(variant, content)| (variant, Objects(content)))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Objects<A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.0.unit_variant()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        self.0.newtype_variant_seed(Objects(seed))
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, A::Error> {
        self.0.tuple_variant(len, Objects(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.0.struct_variant(fields, Named(visitor))
    }
}

/// Reads a type under the rule.
pub(super) fn read<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, serde_path_to_error::Error<D::Error>> {
    serde_path_to_error::deserialize(Objects(deserializer))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Value, json};

    use super::*;

    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Leaf {
        n: i64,
        text: Option<String>,
    }

    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Wrapped(Leaf);

    #[derive(Debug, PartialEq, serde::Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Choice {
        Plain,
        One(Leaf),
        Pair(u8, Leaf),
        Named { leaf: Leaf },
    }

    #[derive(Debug, PartialEq, serde::Deserialize)]
    #[serde(default)]
    struct Tree {
        leaf: Leaf,
        maybe: Option<Box<Leaf>>,
        list: Vec<Leaf>,
        map: BTreeMap<String, Leaf>,
        numbers: BTreeMap<u32, f64>,
        pair: (bool, Leaf),
        wrapped: Wrapped,
        choice: Choice,
        any: Value,
    }

    impl Default for Tree {
        fn default() -> Self {
            let leaf = || Leaf { n: 0, text: None };
            Self {
                leaf: leaf(),
                maybe: None,
                list: Vec::new(),
                map: BTreeMap::new(),
                numbers: BTreeMap::new(),
                pair: (false, leaf()),
                wrapped: Wrapped(leaf()),
                choice: Choice::Plain,
                any: Value::Null,
            }
        }
    }

    fn tree(text: &str) -> Result<Tree, String> {
        read(&mut serde_json::Deserializer::from_str(text))
            .map_err(|error| format!("{}: {}", error.path(), error.inner()))
    }

    /// A place of every kind, with an object in it.
    fn places() -> Vec<(Value, &'static str)> {
        let leaf = || json!({"n": 1, "text": "a"});
        vec![
            (json!({"leaf": leaf()}), "/leaf"),
            (json!({"maybe": leaf()}), "/maybe"),
            (json!({"list": [leaf(), leaf()]}), "/list/1"),
            (json!({"map": {"k": leaf()}}), "/map/k"),
            (json!({"pair": [true, leaf()]}), "/pair/1"),
            (json!({"wrapped": leaf()}), "/wrapped"),
            (json!({"choice": {"one": leaf()}}), "/choice/one"),
            (json!({"choice": {"pair": [1, leaf()]}}), "/choice/pair/1"),
            (json!({"choice": {"named": {"leaf": leaf()}}}), "/choice/named"),
            (json!({"choice": {"named": {"leaf": leaf()}}}), "/choice/named/leaf"),
            (json!({"leaf": leaf()}), ""),
        ]
    }

    #[test]
    fn what_is_written_as_an_object_reads_as_serde_reads_it() {
        let mut all: Vec<Value> = places().into_iter().map(|(value, _)| value).collect();
        all.push(
            json!({"choice": "plain", "numbers": {"1": 0.5, "2": 3}, "any": [[], {"a": [null, 1.5]}, "x"]}),
        );
        all.push(json!({"maybe": null, "leaf": {"n": -5, "text": null, "more": [1]}, "list": []}));
        for value in all {
            let text = value.to_string();
            assert_eq!(tree(&text).unwrap(), serde_json::from_str(&text).unwrap(), "{text}");
        }
    }

    #[test]
    fn a_list_in_place_of_an_object_is_refused_wherever_it_stands() {
        for (value, pointer) in places() {
            let mut other = value.clone();
            let place = other.pointer_mut(pointer).unwrap();
            // The fields in their order, which serde would take.
            *place = Value::Array(place.as_object().unwrap().values().cloned().collect());
            let text = other.to_string();
            if !pointer.is_empty() {
                assert!(serde_json::from_str::<Tree>(&text).is_ok(), "serde takes {text}");
            }
            let said = tree(&text).unwrap_err();
            assert!(said.contains("invalid type: sequence, expected struct"), "{text}: {said}");
        }
    }
}
