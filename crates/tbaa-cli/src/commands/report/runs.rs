//! Rows of letters in few characters: each letter with how often it follows
//! itself, in base 36, a row after a comma. A row ends where only its last
//! letter follows.

/// Writes the upper triangle of a square of letters, the diagonal aside.
pub(super) fn triangle(side: usize, mut letter: impl FnMut(usize, usize) -> u8) -> String {
    let mut text = String::new();
    for row in 0..side {
        if row > 0 {
            text.push(',');
        }
        let (mut last, mut length) = (0, 0_usize);
        for column in row + 1..side {
            let next = letter(row, column);
            if next != last && length > 0 {
                push(&mut text, last, length);
                length = 0;
            }
            last = next;
            length += 1;
        }
        if length > 0 {
            text.push(char::from(last));
        }
    }
    text
}

/// A letter is a capital, so that it is no digit of a length.
fn push(text: &mut String, letter: u8, length: usize) {
    debug_assert!(letter.is_ascii_uppercase());
    text.push(char::from(letter));
    let (mut digits, mut rest) = (Vec::new(), length);
    while rest > 0 {
        digits.push(b"0123456789abcdefghijklmnopqrstuvwxyz"[rest % 36]);
        rest /= 36;
    }
    text.extend(digits.iter().rev().map(|&digit| char::from(digit)));
}

#[cfg(test)]
mod tests {
    use super::triangle;

    #[test]
    fn rows_are_short() {
        assert_eq!(triangle(0, |_, _| b'M'), "");
        assert_eq!(triangle(3, |_, _| b'N'), "N,N,");
        let letter = |row: usize, column: usize| if column == row + 1 { b'M' } else { b'N' };
        assert_eq!(triangle(4, letter), "M1N,M1N,M,");
        assert_eq!(
            triangle(100, |row, column| if row == 0 && column == 99 { b'M' } else { b'N' })
                .split_once(',')
                .unwrap()
                .0,
            "N2qM"
        );
    }
}
