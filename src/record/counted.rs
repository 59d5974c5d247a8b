//! Reading within a budget of memory.
//!
//! A file of a few bytes can describe gigabytes: an element of a list may take a single byte in a
//! file and a hundred in memory, and compression adds another factor of a thousand. So the memory
//! of every element is subtracted from a budget before it is read, and reading ends with an error
//! when the budget is used up.

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor},
};
use std::{cell::Cell, fmt, io::Read};

thread_local! {
    /// Bytes left for the file that the thread reads; `None` if it reads none. It is not a
    /// parameter because ciborium makes its deserializer by itself.
    static BUDGET: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Bytes that an element takes besides itself, such as the capacity that lists reserve.
const ELEMENT: usize = 8;
/// Bytes of a variant that is boxed or shared.
const VARIANT: usize = 64;

/// The reasons for failing to read something.
pub(super) enum ReadError {
    /// The budget is used up.
    OverBudget,
    /// The file is damaged.
    Damaged(String),
}

/// Reads CBOR, and subtracts the memory of the result, in bytes, from a budget.
pub(super) fn read_cbor<T: for<'de> Deserialize<'de>>(
    from: impl Read,
    budget: &mut usize,
) -> Result<T, ReadError> {
    // Ciborium reads on this thread alone, so budgets of different files can't mix.
    BUDGET.set(Some(*budget));
    let read = ciborium::from_reader::<Counted<T>, _>(from);
    *budget = BUDGET.take().unwrap_or(0);
    match read {
        // First, because an exhausted budget is reported as an error in the data.
        _ if *budget == 0 => Err(ReadError::OverBudget),
        Ok(Counted(value)) => Ok(value),
        Err(ciborium::de::Error::Semantic(_, what)) => Err(ReadError::Damaged(what)),
        Err(ciborium::de::Error::Io(error)) => Err(ReadError::Damaged(error.to_string())),
        Err(error) => Err(ReadError::Damaged(error.to_string())),
    }
}

/// Subtracts from the budget of the file that the thread reads, if it reads one: bytes in memory,
/// or steps of work.
pub(super) fn spend(units: usize) -> Result<(), &'static str> {
    let Some(left) = BUDGET.get().map(|left| left.saturating_sub(units)) else {
        return Ok(());
    };
    BUDGET.set(Some(left));
    if left > 0 {
        Ok(())
    } else {
        Err("it takes too much memory")
    }
}

/// Subtracts bytes from the budget, or ends the reading.
fn pay<E: Error>(bytes: usize) -> Result<(), E> {
    spend(bytes).map_err(E::custom)
}

fn pay_for<T, E: Error>() -> Result<(), E> {
    pay(size_of::<T>() + ELEMENT)
}

/// Types that are read within a budget.
struct Counted<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Counted<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        T::deserialize(Counting(from)).map(Self)
    }
}

/// Wraps everything that takes part in reading.
struct Counting<A>(A);

/// Gives a seed a counting deserializer.
impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Counting<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(Counting(from))
    }
}

/// Forwards the methods of a deserializer with a counting visitor.
macro_rules! deserialize {
    ($($method:ident($($name:ident: $type:ty),*))*) => {
        $(fn $method<V: Visitor<'de>>(self $(, $name: $type)*, visitor: V) -> Result<V::Value, Self::Error> {
            self.0.$method($($name,)* Counting(visitor))
        })*
    };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Counting<D> {
    type Error = D::Error;

    deserialize! {
        deserialize_any() deserialize_bool()
        deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64() deserialize_i128()
        deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64() deserialize_u128()
        deserialize_f32() deserialize_f64() deserialize_char()
        deserialize_str() deserialize_string() deserialize_bytes() deserialize_byte_buf()
        deserialize_option() deserialize_unit() deserialize_unit_struct(name: &'static str)
        deserialize_newtype_struct(name: &'static str)
        deserialize_seq() deserialize_map() deserialize_identifier() deserialize_ignored_any()
    }

    // The list that holds a tuple or a struct has paid for its fields.
    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_tuple(len, Fields(visitor))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_tuple_struct(name, len, Fields(visitor))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_struct(name, fields, Fields(visitor))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        // Any variant may be boxed, and which one follows isn't known yet.
        pay(VARIANT)?;
        self.0.deserialize_enum(name, variants, Counting(visitor))
    }

    fn is_human_readable(&self) -> bool {
        // Types choose their form by this, such as numbers instead of names.
        self.0.is_human_readable()
    }
}

/// Forwards the methods of a visitor.
macro_rules! visit {
    ($($method:ident($type:ty))*) => {
        $(fn $method<E: Error>(self, value: $type) -> Result<V::Value, E> {
            self.0.$method(value)
        })*
    };
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Counting<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.expecting(f)
    }

    visit! {
        visit_bool(bool) visit_char(char)
        visit_i8(i8) visit_i16(i16) visit_i32(i32) visit_i64(i64) visit_i128(i128)
        visit_u8(u8) visit_u16(u16) visit_u32(u32) visit_u64(u64) visit_u128(u128)
        visit_f32(f32) visit_f64(f64)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<V::Value, E> {
        pay(value.len())?;
        self.0.visit_str(value)
    }

    fn visit_string<E: Error>(self, value: String) -> Result<V::Value, E> {
        pay(value.len())?;
        self.0.visit_string(value)
    }

    fn visit_bytes<E: Error>(self, value: &[u8]) -> Result<V::Value, E> {
        pay(value.len())?;
        self.0.visit_bytes(value)
    }

    fn visit_byte_buf<E: Error>(self, value: Vec<u8>) -> Result<V::Value, E> {
        pay(value.len())?;
        self.0.visit_byte_buf(value)
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<V::Value, D::Error> {
        self.0.visit_some(Counting(from))
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, from: D) -> Result<V::Value, D::Error> {
        self.0.visit_newtype_struct(Counting(from))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, all: A) -> Result<V::Value, A::Error> {
        self.0.visit_seq(Counting(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, all: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(Counting(all))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<V::Value, A::Error> {
        self.0.visit_enum(Counting(data))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Counting<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        pay_for::<S::Value, _>()?;
        self.0.next_element_seed(Counting(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        // A hint from the file must not reserve memory that isn't paid for yet.
        self.0.size_hint().map(|hint| hint.min(64))
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Counting<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        pay_for::<S::Value, _>()?;
        self.0.next_key_seed(Counting(seed))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        pay_for::<S::Value, _>()?;
        self.0.next_value_seed(Counting(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint().map(|hint| hint.min(64))
    }
}

impl<'de, A: EnumAccess<'de>> EnumAccess<'de> for Counting<A> {
    type Error = A::Error;
    type Variant = Counting<A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self::Variant), A::Error> {
        self.0
            .variant_seed(Counting(seed))
            .map(|(value, variant)| (value, Counting(variant)))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Counting<A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.0.unit_variant()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        self.0.newtype_variant_seed(Counting(seed))
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, A::Error> {
        self.0.tuple_variant(len, Fields(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.0.struct_variant(fields, Fields(visitor))
    }
}

/// A visitor of a tuple or a struct, whose fields need no memory besides its own.
struct Fields<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for Fields<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.expecting(f)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, all: A) -> Result<V::Value, A::Error> {
        self.0.visit_seq(Inline(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, all: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(Inline(all))
    }
}

/// The fields of a tuple or a struct.
struct Inline<A>(A);

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Inline<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(Counting(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Inline<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.0.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(Counting(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}
