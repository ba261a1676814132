//! Computes the layout of a C struct or union. Sizes and alignments are in bytes unless a comment
//! says that they are in bits.

use super::Declarations;
use super::declarations::LIMIT;
use super::record::Attributes;
use super::target::LayoutRules;

/// The properties of a member that its layout depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) size: u64,
    pub(super) align: u64,
    /// The alignment that the member's type requires even if packed; 1 if it requires none.
    pub(super) required: u64,
    /// The width of a bit-field; `None` for other members.
    pub(super) bits: Option<u32>,
    pub(super) named: bool,
    /// The alignment that the member's attribute requests.
    pub(super) asked: Option<u64>,
    pub(super) packed: bool,
    /// True if `packed` on the record packs the member too.
    pub(super) loose: bool,
    /// The number of bits that no other member may share.
    pub(super) used: u64,
}

#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Layout {
    /// The offset of each member, in bits.
    pub(super) offsets: Vec<u64>,
    pub(super) size: u64,
    pub(super) align: u64,
    /// The alignment that the record requires even if packed, as [`Slot::required`].
    pub(super) required: u64,
}

impl Declarations {
    /// Returns the layout of a record; `None` if it is too large.
    pub(super) fn lay_out(
        &self,
        union: bool,
        attributes: &Attributes,
        slots: &[Slot],
    ) -> Option<Layout> {
        match self.target.rules {
            LayoutRules::SystemV { unnamed_bits_align } => {
                let (offsets, used, size) = Default::default();
                let align = attributes.align.unwrap_or(1);
                let mut state =
                    SystemV { union, unnamed_bits_align, attributes, offsets, used, size, align };
                slots.iter().try_for_each(|slot| state.place(slot))?;
                let SystemV { offsets, size, align, .. } = state;
                // A class without members has 1 byte, one with only members of size 0 has none.
                let empty = self.cplusplus && slots.iter().all(|slot| slot.bits == Some(0));
                let least = if empty { 8 } else { 0 };
                let size = size.max(least).next_multiple_of(8 * align) / 8;
                Some(Layout { offsets, size, align, required: 1 })
            }
            LayoutRules::Microsoft { wide } => {
                let mut state = Microsoft::new(union, wide, attributes);
                slots.iter().try_for_each(|slot| state.place(slot))?;
                Some(state.finish(self.cplusplus))
            }
        }
    }
}

/// The layout rules of the System V ABI. clang: `ItaniumRecordLayoutBuilder`.
struct SystemV<'a> {
    union: bool,
    unnamed_bits_align: bool,
    attributes: &'a Attributes,
    offsets: Vec<u64>,
    /// The end in bits of the last member, or of a union's largest member.
    used: u64,
    /// The size in bits, a multiple of 8.
    size: u64,
    align: u64,
}

impl SystemV<'_> {
    fn place(&mut self, slot: &Slot) -> Option<()> {
        let packed = self.attributes.packed && slot.loose || slot.packed;
        let pack = self.attributes.pack.unwrap_or(u64::MAX);
        let from = if self.union { 0 } else { self.used };
        let (offset, width, align) = match slot.bits {
            None => {
                let natural = if packed { 1 } else { slot.align };
                let align = natural.max(slot.asked.unwrap_or(1)).min(pack);
                (from.next_multiple_of(8 * align), 8 * slot.size, align)
            }
            Some(width) => self.bit_field(slot, from, u64::from(width), packed, pack),
        };
        self.offsets.push(offset);
        let end = offset.checked_add(width).filter(|&end| end < 8 * LIMIT)?;
        self.used = if self.union { self.used.max(end) } else { end };
        self.size = self.size.max(end.next_multiple_of(8));
        self.align = self.align.max(align);
        Some(())
    }

    /// Returns the offset and the width of a bit-field in bits, and the alignment in bytes that it
    /// demands of the record. The variables `natural` and `align` are in bits.
    fn bit_field(
        &self,
        slot: &Slot,
        from: u64,
        width: u64,
        packed: bool,
        pack: u64,
    ) -> (u64, u64, u64) {
        // `packed` does not apply to bit-fields of width 0, nor together with `#pragma pack`.
        let packed = packed && width != 0 && self.attributes.pack.is_none();
        let natural = if packed { 1 } else { 8 * slot.align };
        let mut align = natural.max(slot.asked.map_or(1, |asked| 8 * asked));
        if width != 0 {
            align = align.min(pack.saturating_mul(8));
        }
        // Without `#pragma pack`, a bit-field must not cross a boundary of its declared type.
        let crosses = from % align + width > 8 * slot.size && self.attributes.pack.is_none();
        let mut offset = from;
        if width == 0 || crosses {
            offset = from.next_multiple_of(align);
        } else if let Some(asked) = slot.asked.filter(|&asked| asked <= pack) {
            offset = from.next_multiple_of(8 * asked);
        }
        let counts = slot.named || self.unnamed_bits_align;
        (offset, width, if counts { align.div_ceil(8) } else { 1 })
    }
}

/// The layout rules of Visual C++. clang: `MicrosoftRecordLayoutBuilder`.
struct Microsoft {
    union: bool,
    attributes: Attributes,
    /// The limit for a member's natural alignment. A required alignment may be larger.
    pack: u64,
    offsets: Vec<u64>,
    size: u64,
    align: u64,
    /// The largest alignment that a member requires; at least 1 on 64-bit targets.
    required: u64,
    /// The size in bytes of the last bit-field's storage unit, and the unit's number of free bits.
    unit: Option<(u64, u64)>,
}

impl Microsoft {
    fn new(union: bool, wide: bool, attributes: &Attributes) -> Self {
        let pointer = if wide { 8 } else { 4 };
        let pack = attributes.pack.filter(|&pack| pack <= pointer).unwrap_or(u64::MAX);
        Microsoft {
            union,
            attributes: *attributes,
            pack: if attributes.packed { 1 } else { pack },
            offsets: Vec::new(),
            size: 0,
            align: 1,
            required: wide.into(),
            unit: None,
        }
    }

    fn place(&mut self, slot: &Slot) -> Option<()> {
        let insisted = slot.asked.unwrap_or(1).max(slot.required);
        let mut align = slot.align;
        if slot.bits.is_some() {
            align = align.max(slot.asked.unwrap_or(1));
        } else if insisted > 1 {
            self.required = self.required.max(insisted);
        }
        align = if slot.packed { 1 } else { align.min(self.pack) };
        align = align.max(insisted);
        let begin = if self.union { 0 } else { self.size.next_multiple_of(align) };
        let Some(width) = slot.bits.map(u64::from) else {
            self.unit = None;
            self.align = self.align.max(align);
            return self.put(begin, slot.size);
        };
        match self.unit {
            // A bit-field of width 0 has an effect only after another bit-field.
            None if width == 0 => {
                self.offsets.push(if self.union { 0 } else { 8 * self.size });
                return Some(());
            }
            Some((size, left))
                if !self.union && size == slot.size && (1..=left).contains(&width) =>
            {
                self.offsets.push(8 * self.size - left);
                self.unit = Some((size, left - width));
                return Some(());
            }
            _ => {}
        }
        self.unit = (width != 0).then_some((slot.size, 8 * slot.size - width));
        if !self.union {
            self.align = self.align.max(align);
        }
        self.put(begin, if width == 0 && !self.union { 0 } else { slot.size })
    }

    fn put(&mut self, begin: u64, size: u64) -> Option<()> {
        self.offsets.push(8 * begin);
        self.size = begin.checked_add(size).filter(|&end| end < LIMIT)?.max(self.size);
        Some(())
    }

    fn finish(mut self, cplusplus: bool) -> Layout {
        // The least size of a record without members.
        let least = if cplusplus { 1 } else { 4 };
        let limit = if cplusplus { self.pack } else { u64::MAX };
        self.size = self.size.next_multiple_of(self.align.min(limit));
        self.required = self.required.max(self.attributes.align.unwrap_or(0));
        if self.required != 0 {
            self.align = self.align.max(self.required);
            let rounding = self.align.min(self.pack).max(self.required);
            self.size = self.size.next_multiple_of(rounding);
        }
        if self.size == 0 {
            self.size = if self.required >= least { self.align } else { least };
        }
        // A record with an alignment attribute requires its alignment when it is a member.
        let asks = self.attributes.align.map_or(1, |_| self.align);
        let required = self.required.max(asks);
        Layout { offsets: self.offsets, size: self.size, align: self.align, required }
    }
}
