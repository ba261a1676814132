//! Texts with small faults.

use crate::Rng;

/// Bytes that mean something to readers.
const TELLING: &[u8] = b"!{}()[]<>\"\\;:,=@%*\n\r\t 0123456789i-\0\xff";

/// Changes, adds, copies or removes up to four bytes or parts.
pub fn bytes(rng: &mut Rng, text: &mut Vec<u8>) {
    for _ in 0..1 + rng.below(4) {
        if text.is_empty() {
            return;
        }
        let (at, from) = (rng.below(text.len()), rng.below(text.len()));
        let end = text.len().min(from + 1 + rng.below(30));
        match rng.below(8) {
            0 => text[at] = *rng.pick(TELLING),
            1 => text.insert(at, *rng.pick(TELLING)),
            2 => text[at] = rng.next() as u8,
            3 => text[at] = text[from],
            4 => drop(text.remove(at)),
            5 => drop(text.drain(from..end)),
            6 => {
                let part = text[from..end].to_vec();
                text.splice(at..at, part);
            }
            // Another number: references to the wrong node, and cycles.
            _ => {
                let digit = text[at..].iter().position(u8::is_ascii_digit);
                text[at + digit.unwrap_or(0)] = b'0' + rng.below(10_u8);
            }
        }
    }
}

/// The operands of a node's line, with what stands before and after them.
pub fn operands(line: &str) -> Option<(&str, Vec<String>)> {
    let (head, rest) = line.split_once('{')?;
    let rest = rest.trim_end_matches('}');
    let list = rest.split(", ").filter(|it| !it.is_empty()).map(str::to_owned).collect();
    Some((head, list))
}

/// The line of a node with other operands, and now and then distinct.
pub fn node(rng: &mut Rng, head: &str, operands: &[String]) -> String {
    let distinct = if rng.one_in(8) && !head.contains("distinct") { "distinct " } else { "" };
    let (number, rest) = head.split_once("= ").unwrap();
    format!("{number}= {distinct}{rest}{{{}}}", operands.join(", "))
}
