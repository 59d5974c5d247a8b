//! Numbers, texts, and lists of a baked file. All numbers are in little endian, and those with a fraction are finite.

use glam::{Affine3A, DQuat, DVec3, Quat, Vec2, Vec3, Vec4};
use std::sync::Arc;

/// The reason why a file cannot be read.
#[derive(Debug)]
pub(super) struct Damaged(pub(super) String);

impl<T: Into<String>> From<T> for Damaged {
    fn from(what: T) -> Self {
        Self(what.into())
    }
}

impl Damaged {
    /// Says which part of the file it is about.
    pub(super) fn within(self, part: &str) -> Self {
        Self(format!("{part}: {}", self.0))
    }
}

/// The bytes of a file that haven't been read yet.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], Damaged> {
        let taken = self.0.split_off(..count);
        taken.ok_or_else(|| "it ends too early".into())
    }

    pub(super) fn read<T: Stored>(&mut self) -> Result<T, Damaged> {
        T::read(self)
    }
}

/// A type as baked files have it. Values take at least a byte each, so that no number claims more of them than there is room for.
pub(super) trait Stored: Sized {
    fn write(&self, to: &mut Vec<u8>);

    fn read(from: &mut Reader) -> Result<Self, Damaged>;

    fn write_all(all: &[Self], to: &mut Vec<u8>) {
        all.iter().for_each(|value| value.write(to));
    }

    fn read_all<C: FromIterator<Self>>(count: usize, from: &mut Reader) -> Result<C, Damaged> {
        (0..count).map(|_| Self::read(from)).collect()
    }
}

/// A type whose values all have the same size.
pub(super) trait Plain: Copy {
    const SIZE: usize;

    fn put(self, to: &mut [u8]);

    /// Returns the value of [`Self::SIZE`] bytes.
    fn get(from: &[u8]) -> Self;

    fn is_finite(self) -> bool {
        true
    }
}

impl<T: Plain> Stored for T {
    fn write(&self, to: &mut Vec<u8>) {
        Self::write_all(&[*self], to);
    }

    fn read(from: &mut Reader) -> Result<Self, Damaged> {
        let value = T::get(from.take(T::SIZE)?);
        value.is_finite().then_some(value).ok_or(NOT_FINITE.into())
    }

    fn write_all(all: &[Self], to: &mut Vec<u8>) {
        let start = to.len();
        to.resize(start + all.len() * T::SIZE, 0);
        let places = to[start..].chunks_exact_mut(T::SIZE);
        all.iter().zip(places).for_each(|(value, to)| value.put(to));
    }

    fn read_all<C: FromIterator<Self>>(count: usize, from: &mut Reader) -> Result<C, Damaged> {
        let bytes = count.checked_mul(T::SIZE).ok_or("it ends too early")?;
        let values = from.take(bytes)?.chunks_exact(T::SIZE).map(T::get);
        // Without a way out at the first one, so that many are looked at together.
        match values
            .clone()
            .fold(true, |all, value| all & value.is_finite())
        {
            true => Ok(values.collect()),
            false => Err(NOT_FINITE.into()),
        }
    }
}

const NOT_FINITE: &str = "it contains a number that is not finite";

macro_rules! plain {
    ($($number:ident $finite:expr;)*) => {
        $(impl Plain for $number {
            const SIZE: usize = size_of::<$number>();

            fn put(self, to: &mut [u8]) {
                to.copy_from_slice(&self.to_le_bytes());
            }

            fn get(from: &[u8]) -> Self {
                Self::from_le_bytes(std::array::from_fn(|at| from[at]))
            }

            fn is_finite(self) -> bool {
                $finite(self)
            }
        })*
    };
}

plain! {
    u8 |_| true;
    u16 |_| true;
    u32 |_| true;
    u64 |_| true;
    i16 |_| true;
    f32 f32::is_finite;
    f64 f64::is_finite;
}

impl<T: Plain, const N: usize> Plain for [T; N] {
    const SIZE: usize = N * T::SIZE;

    fn put(self, to: &mut [u8]) {
        let places = to.chunks_exact_mut(T::SIZE);
        self.into_iter()
            .zip(places)
            .for_each(|(value, to)| value.put(to));
    }

    fn get(from: &[u8]) -> Self {
        std::array::from_fn(|at| T::get(&from[at * T::SIZE..][..T::SIZE]))
    }

    fn is_finite(self) -> bool {
        self.into_iter()
            .fold(true, |all, value| all & value.is_finite())
    }
}

/// Types that are an array of numbers.
macro_rules! vectors {
    ($($type:ident: $array:ty, $to:ident, $from:ident;)*) => {
        $(impl Plain for $type {
            const SIZE: usize = <$array>::SIZE;

            fn put(self, to: &mut [u8]) {
                self.$to().put(to);
            }

            fn get(from: &[u8]) -> Self {
                Self::$from(<$array>::get(from))
            }

            fn is_finite(self) -> bool {
                <$array as Plain>::is_finite(self.$to())
            }
        })*
    };
}

vectors! {
    Vec2: [f32; 2], to_array, from_array;
    Vec3: [f32; 3], to_array, from_array;
    Vec4: [f32; 4], to_array, from_array;
    Quat: [f32; 4], to_array, from_array;
    DVec3: [f64; 3], to_array, from_array;
    DQuat: [f64; 4], to_array, from_array;
}

impl Plain for Affine3A {
    const SIZE: usize = <[f32; 12]>::SIZE;

    fn put(self, to: &mut [u8]) {
        self.to_cols_array().put(to);
    }

    fn get(from: &[u8]) -> Self {
        Self::from_cols_array(&<[f32; 12]>::get(from))
    }

    fn is_finite(self) -> bool {
        Plain::is_finite(self.to_cols_array())
    }
}

impl Stored for usize {
    fn write(&self, to: &mut Vec<u8>) {
        (*self as u64).write(to);
    }

    fn read(from: &mut Reader) -> Result<Self, Damaged> {
        let number: u64 = from.read()?;
        Self::try_from(number).map_err(|_| "a number is too large".into())
    }
}

impl Stored for bool {
    fn write(&self, to: &mut Vec<u8>) {
        u8::from(*self).write(to);
    }

    fn read(from: &mut Reader) -> Result<Self, Damaged> {
        match from.read::<u8>()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err("it has something else for yes or no".into()),
        }
    }
}

impl<T: Stored> Stored for Option<T> {
    fn write(&self, to: &mut Vec<u8>) {
        self.is_some().write(to);
        self.iter().for_each(|value| value.write(to));
    }

    fn read(from: &mut Reader) -> Result<Self, Damaged> {
        from.read::<bool>()?.then(|| from.read()).transpose()
    }
}

impl<A: Stored, B: Stored> Stored for (A, B) {
    fn write(&self, to: &mut Vec<u8>) {
        self.0.write(to);
        self.1.write(to);
    }

    fn read(from: &mut Reader) -> Result<Self, Damaged> {
        Ok((from.read()?, from.read()?))
    }
}

/// Writes a list: its length, and each value.
pub(super) fn write_list<T: Stored>(list: &[T], to: &mut Vec<u8>) {
    list.len().write(to);
    T::write_all(list, to);
}

fn read_list<T: Stored, C: FromIterator<T>>(from: &mut Reader) -> Result<C, Damaged> {
    let count = from.read()?;
    T::read_all(count, from)
}

impl<T: Stored> Stored for Vec<T> {
    fn write(&self, to: &mut Vec<u8>) {
        write_list(self, to);
    }

    fn read(from: &mut Reader) -> Result<Self, Damaged> {
        read_list(from)
    }
}

impl<T: Stored> Stored for Arc<[T]> {
    fn write(&self, to: &mut Vec<u8>) {
        write_list(self, to);
    }

    fn read(from: &mut Reader) -> Result<Self, Damaged> {
        read_list(from)
    }
}

/// Writes a text.
pub(super) fn write_text(text: &str, to: &mut Vec<u8>) {
    write_list(text.as_bytes(), to);
}

fn read_text<'a>(from: &mut Reader<'a>) -> Result<&'a str, Damaged> {
    let length = from.read()?;
    str::from_utf8(from.take(length)?).map_err(|_| "a text is not UTF-8".into())
}

impl Stored for String {
    fn write(&self, to: &mut Vec<u8>) {
        write_text(self, to);
    }

    fn read(from: &mut Reader) -> Result<Self, Damaged> {
        read_text(from).map(str::to_owned)
    }
}

impl Stored for Arc<str> {
    fn write(&self, to: &mut Vec<u8>) {
        write_text(self, to);
    }

    fn read(from: &mut Reader) -> Result<Self, Damaged> {
        read_text(from).map(Self::from)
    }
}

/// Implements [`Stored`] for structs: one field after the other.
macro_rules! stored {
    ($($type:ty { $($field:ident),* $(,)? })*) => {
        $(impl $crate::import::baked::stream::Stored for $type {
            fn write(&self, to: &mut Vec<u8>) {
                $(self.$field.write(to);)*
            }

            fn read(
                from: &mut $crate::import::baked::stream::Reader,
            ) -> Result<Self, $crate::import::baked::stream::Damaged> {
                Ok(Self { $($field: from.read()?,)* })
            }
        })*
    };
}

/// Implements [`Stored`] for enums: a byte for each variant.
macro_rules! stored_enums {
    ($($type:ident { $($variant:ident = $byte:literal),* $(,)? })*) => {
        $(impl $crate::import::baked::stream::Stored for $type {
            fn write(&self, to: &mut Vec<u8>) {
                let byte: u8 = match self { $(Self::$variant => $byte,)* };
                byte.write(to);
            }

            fn read(
                from: &mut $crate::import::baked::stream::Reader,
            ) -> Result<Self, $crate::import::baked::stream::Damaged> {
                match from.read::<u8>()? {
                    $($byte => Ok(Self::$variant),)*
                    _ => Err(concat!("it has an unknown kind of `", stringify!($type), "`").into()),
                }
            }
        })*
    };
}

pub(super) use {stored, stored_enums};
