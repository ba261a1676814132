//! Runs the fuzz target of the C interface on pseudo-random bytes.

#[path = "support/calls.rs"]
mod calls;

#[test]
fn any_calls() {
    let mut state = 1_u64;
    for length in 0..300 {
        let bytes: Vec<u8> = (0..length * 4)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 33) as u8
            })
            .collect();
        calls::run(&bytes);
    }
}
