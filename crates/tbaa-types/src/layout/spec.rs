//! Reads and writes data layout strings: specifications such as `i64:64`, separated by `-`.

use std::{fmt, str::FromStr};

use super::{
    DataLayout, FunctionPointerAlign, MANGLINGS, Mangling, POINTER, PointerSpec, PrimitiveSpec,
};

/// The reason why a data layout string cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
#[error("`{}` at byte {offset} of the data layout: {reason}", .spec.chars().take(40).collect::<String>())]
pub struct DataLayoutError {
    /// The specification that is wrong, such as `i64:33`.
    pub spec: String,
    /// The offset in bytes from the start of the string.
    pub offset: usize,
    reason: &'static str,
}

/// The address spaces that `ni` lists, and the names of address spaces, as read so far.
#[derive(Default)]
struct Seen {
    non_integral: Vec<u32>,
    names: Vec<String>,
}

type Parsed<T> = Result<T, &'static str>;

/// Reads a data layout string as LLVM 22 does. Strings that LLVM rejects are errors.
///
/// There is one difference: LLVM stores a native integer's width in 8 bits, so it reads `n300` as
/// `n44`. This function reads 300. LLVM: `DataLayout::parse`.
impl FromStr for DataLayout {
    type Err = DataLayoutError;

    fn from_str(text: &str) -> Result<Self, DataLayoutError> {
        let mut layout = DataLayout::default();
        let mut seen = Seen::default();
        let mut offset = 0;
        if text.is_empty() {
            return Ok(layout);
        }
        for spec in text.split('-') {
            layout.read(spec, &mut seen).map_err(|reason| DataLayoutError {
                spec: spec.to_owned(),
                offset,
                reason,
            })?;
            offset += spec.len() + 1;
        }
        for address_space in seen.non_integral {
            // If the string does not describe `address_space`, `pointer` returns address space 0.
            let like = layout.pointer(address_space).clone();
            let unstable = PointerSpec { address_space, unstable: true, ..like };
            layout.set_pointer(PointerSpec { external_state: false, ..unstable });
        }
        Ok(layout)
    }
}

/// Reads decimal digits without a sign, as a number less than `limit`.
fn number(text: &str, limit: u64, reason: &'static str) -> Parsed<u32> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let value = digits.then(|| text.parse::<u64>().ok()).flatten();
    value.filter(|&value| value < limit).map(|value| value as u32).ok_or(reason)
}

fn size(text: &str) -> Parsed<u32> {
    const REASON: &str = "a size must be a non-zero 24-bit integer";
    number(text, 1 << 24, REASON).and_then(|bits| if bits == 0 { Err(REASON) } else { Ok(bits) })
}

/// Reads an alignment in bits and returns it in bytes. If `zero`, 0 is allowed and means 1 byte.
fn alignment(text: &str, zero: bool) -> Parsed<u64> {
    const REASON: &str =
        "an alignment must be 8 times a power of two, in bits, and fit into 16 bits";
    match number(text, 1 << 16, REASON)? {
        0 if zero => Ok(1),
        bits if bits % 8 == 0 && (bits / 8).is_power_of_two() => Ok(u64::from(bits / 8)),
        _ => Err(REASON),
    }
}

/// Splits `64:32:64` or `64:32` at the colons.
fn width_and_alignments(rest: &str) -> Option<(&str, &str, Option<&str>)> {
    let (bits, rest) = rest.split_once(':')?;
    let (abi, preferred) = rest.split_once(':').map_or((rest, None), |(abi, end)| (abi, Some(end)));
    preferred.is_none_or(|preferred| !preferred.contains(':')).then_some((bits, abi, preferred))
}

fn alignments(abi: &str, preferred: Option<&str>, zero: bool) -> Parsed<(u64, u64)> {
    let abi = alignment(abi, zero)?;
    let preferred = preferred.map_or(Ok(abi), |text| alignment(text, false))?;
    if preferred < abi {
        return Err("the preferred alignment must not be less than the ABI alignment");
    }
    Ok((abi, preferred))
}

fn address_space(text: &str) -> Parsed<u32> {
    number(text, 1 << 24, "an address space must be a 24-bit integer")
}

impl DataLayout {
    fn read(&mut self, spec: &str, seen: &mut Seen) -> Parsed<()> {
        if let Some(rest) = spec.strip_prefix("ni") {
            const FORM: &str = "it must have the form ni:<address space>[:<address space>]...";
            for part in rest.strip_prefix(':').ok_or(FORM)?.split(':') {
                match address_space(part)? {
                    0 => return Err("address space 0 cannot be non-integral"),
                    number => seen.non_integral.push(number),
                }
            }
            return Ok(());
        }
        let mut letters = spec.chars();
        let Some(letter) = letters.next() else {
            return Err("an empty specification; leave out the `-`");
        };
        let rest = letters.as_str();
        match letter {
            'e' | 'E' if rest.is_empty() => self.big_endian = letter == 'E',
            'e' | 'E' => return Err("it must be just `e` or `E`"),
            'i' | 'f' | 'v' => self.read_primitive(letter, rest)?,
            'a' => self.read_aggregate(rest)?,
            'p' => self.read_pointer(rest, seen)?,
            // LLVM accepts the `s` of old modules and ignores it.
            's' => {}
            'n' => {
                for part in rest.split(':') {
                    self.native_ints.push(size(part)?);
                }
            }
            'S' => self.stack_align = Some(alignment(rest, false)?),
            'F' => {
                self.function_pointer = match rest.chars().next() {
                    Some('i') => FunctionPointerAlign::Independent,
                    Some('n') => FunctionPointerAlign::MultipleOfFunctionAlign,
                    _ => return Err("it must have the form Fi<abi> or Fn<abi>"),
                };
                self.function_pointer_align = Some(alignment(&rest[1..], false)?);
            }
            'P' => self.program_address_space = address_space(rest)?,
            'A' => self.alloca_address_space = address_space(rest)?,
            'G' => self.globals_address_space = address_space(rest)?,
            'm' => {
                let mode = rest.strip_prefix(':').unwrap_or_default();
                let named = MANGLINGS.iter().find(|(name, _)| *name == mode);
                const UNKNOWN: &str = "the mangling must be m: and one of e, l, o, m, w, x, a";
                self.mangling = Some(named.ok_or(UNKNOWN)?.1);
            }
            _ => return Err("an unknown specification"),
        }
        Ok(())
    }

    fn read_primitive(&mut self, letter: char, rest: &str) -> Parsed<()> {
        let (bits, abi, preferred) = width_and_alignments(rest)
            .ok_or("it must have the form <letter><size>:<abi>[:<pref>]")?;
        let bits = size(bits)?;
        let (abi, preferred) = alignments(abi, preferred, false)?;
        if letter == 'i' && bits == 8 && abi != 1 {
            return Err("i8 must be 8-bit aligned");
        }
        let specs = match letter {
            'i' => &mut self.ints,
            'f' => &mut self.floats,
            _ => &mut self.vectors,
        };
        let spec = PrimitiveSpec { bits, abi, preferred };
        match specs.binary_search_by_key(&bits, |spec| spec.bits) {
            Ok(at) => specs[at] = spec,
            Err(at) => specs.insert(at, spec),
        }
        Ok(())
    }

    fn read_aggregate(&mut self, rest: &str) -> Parsed<()> {
        let (bits, abi, preferred) =
            width_and_alignments(rest).ok_or("it must have the form a:<abi>[:<pref>]")?;
        if !bits.is_empty() && number(bits, 1, "the size of an aggregate must be 0")? != 0 {
            return Err("the size of an aggregate must be 0");
        }
        (self.aggregate_abi, self.aggregate_preferred) = alignments(abi, preferred, true)?;
        Ok(())
    }

    fn read_pointer(&mut self, rest: &str, seen: &mut Seen) -> Parsed<()> {
        const FORM: &str =
            "it must have the form p[<flags>][<address space>]:<size>:<abi>[:<pref>[:<idx>]]";
        let parts: Vec<&str> = rest.split(':').collect();
        if !(3..=5).contains(&parts.len()) {
            return Err(FORM);
        }
        let place = parts[0].trim_start_matches(['e', 'u']);
        let flags = &parts[0][..parts[0].len() - place.len()];
        let (external_state, unstable) = (flags.contains('e'), flags.contains('u'));
        let (number, name) = match place.find('(') {
            None => (place, ""),
            Some(at) => (&place[..at], check_name(&place[at..], seen)?),
        };
        let address_space = if number.is_empty() { 0 } else { address_space(number)? };
        if address_space == 0 && (external_state || unstable) {
            return Err("address space 0 cannot be unstable or have external state");
        }
        let bits = size(parts[1])?;
        let (abi, preferred) = alignments(parts[2], parts.get(3).copied(), false)?;
        let index_bits = parts.get(4).map_or(Ok(bits), |text| size(text))?;
        if index_bits > bits {
            return Err("the size of an index must not be larger than that of the pointer");
        }
        self.set_pointer(PointerSpec {
            address_space,
            bits,
            abi,
            preferred,
            index_bits,
            unstable,
            external_state,
            name: name.to_owned(),
        });
        Ok(())
    }

    fn set_pointer(&mut self, spec: PointerSpec) {
        let by_number = |other: &PointerSpec| other.address_space;
        match self.pointers.binary_search_by_key(&spec.address_space, by_number) {
            Ok(at) => self.pointers[at] = spec,
            Err(at) => self.pointers.insert(at, spec),
        }
    }
}

/// Checks the name of an address space, given with its parentheses. Returns it without them.
fn check_name<'s>(text: &'s str, seen: &mut Seen) -> Parsed<&'s str> {
    const FORM: &str = "the name of an address space must have the form (<name>)";
    let name = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).ok_or(FORM)?;
    match name {
        "" => return Err(FORM),
        "P" | "G" | "A" => return Err("an address space cannot have the name P, G or A"),
        _ => {}
    }
    if seen.names.iter().any(|other| other == name) {
        return Err("the name of an address space must not be used before");
    }
    seen.names.push(name.to_owned());
    Ok(name)
}

/// Omits default values, except `e` before other specifications. If the layout was itself read from
/// a string, reading the written string returns an equal layout.
impl fmt::Display for DataLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<String> = Vec::new();
        let default = DataLayout::default();
        parts.push(if self.big_endian { "E" } else { "e" }.into());
        parts.extend(self.mangling.map(|mangling| format!("m:{}", letter(mangling))));
        for (letter, number) in [
            ('P', self.program_address_space),
            ('A', self.alloca_address_space),
            ('G', self.globals_address_space),
        ] {
            if number != 0 {
                parts.push(format!("{letter}{number}"));
            }
        }
        for pointer in &self.pointers {
            // `ni` alone describes an unstable pointer that otherwise equals address space 0.
            let PointerSpec { address_space, unstable, .. } = *pointer;
            let implied = PointerSpec { address_space, unstable, ..self.pointers[0].clone() };
            if *pointer != POINTER && !(unstable && *pointer == implied) {
                parts.push(pointer_text(pointer));
            }
        }
        let tables = [
            ('i', &self.ints, &default.ints),
            ('f', &self.floats, &default.floats),
            ('v', &self.vectors, &default.vectors),
        ];
        for (letter, specs, defaults) in tables {
            for one in specs.iter().filter(|one| !defaults.contains(one)) {
                let head = format!("{letter}{}", one.bits);
                parts.push(with_alignments(head, one.abi, one.preferred));
            }
        }
        if (self.aggregate_abi, self.aggregate_preferred) != (1, 8) {
            let text = with_alignments("a".into(), self.aggregate_abi, self.aggregate_preferred);
            parts.push(text);
        }
        if let Some(align) = self.function_pointer_align {
            let letter = match self.function_pointer {
                FunctionPointerAlign::Independent => 'i',
                FunctionPointerAlign::MultipleOfFunctionAlign => 'n',
            };
            parts.push(format!("F{letter}{}", align * 8));
        }
        if !self.native_ints.is_empty() {
            let widths: Vec<_> = self.native_ints.iter().map(u32::to_string).collect();
            parts.push(format!("n{}", widths.join(":")));
        }
        let unstable: Vec<_> = self
            .pointers
            .iter()
            .filter(|pointer| pointer.unstable && !pointer.external_state)
            .map(|pointer| pointer.address_space.to_string())
            .collect();
        if !unstable.is_empty() {
            parts.push(format!("ni:{}", unstable.join(":")));
        }
        parts.extend(self.stack_align.map(|align| format!("S{}", align * 8)));
        if parts.len() == 1 && !self.big_endian {
            parts.clear();
        }
        f.write_str(&parts.join("-"))
    }
}

fn letter(mangling: Mangling) -> &'static str {
    MANGLINGS.iter().find(|(_, other)| *other == mangling).map_or("e", |(letter, _)| letter)
}

/// Appends alignments to `head`, the start of a specification. Takes bytes and writes bits.
fn with_alignments(head: String, abi: u64, preferred: u64) -> String {
    let head = format!("{head}:{}", abi * 8);
    if abi == preferred { head } else { format!("{head}:{}", preferred * 8) }
}

fn pointer_text(spec: &PointerSpec) -> String {
    let mut text = String::from("p");
    if spec.external_state {
        text += "e";
        // `ni` would mark the pointer unstable too, but it clears the external state.
        text += if spec.unstable { "u" } else { "" };
    }
    if spec.address_space != 0 || !spec.name.is_empty() {
        text += &spec.address_space.to_string();
    }
    if !spec.name.is_empty() {
        text += &format!("({})", spec.name);
    }
    text += &format!(":{}:{}", spec.bits, spec.abi * 8);
    if spec.preferred != spec.abi || spec.index_bits != spec.bits {
        text += &format!(":{}", spec.preferred * 8);
    }
    if spec.index_bits != spec.bits {
        text += &format!(":{}", spec.index_bits);
    }
    text
}
