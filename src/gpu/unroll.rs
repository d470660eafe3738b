//! Writes out the short loops of a shader.
//!
//! What a loop indexes by its counter (the particles of a constraint, the anchors of tethers) has to be in registers. Drivers of real GPUs leave it in
//! memory unless they unroll the loop, and wgpu puts a bound into each that keeps them from it; the software driver takes many seconds for
//! as many loops as a pattern of tiles has links.

/// The text, with a block for each turn of the loops `for (var k = 0u; k < NAME; k++) {` over each of the `names`, of which all know how often
/// they turn. Such a loop holds no `continue` or `break`, and none over the same name.
pub(super) fn unrolled(text: &str, names: &[(&str, usize)]) -> String {
    names.iter().fold(text.to_owned(), |text, &(name, count)| unrolled_over(&text, name, count))
}

fn unrolled_over(text: &str, name: &str, count: usize) -> String {
    let head = format!("for (var k = 0u; k < {name}; k++) {{");
    let mut parts = text.split(&head);
    let mut unrolled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut depth = 1;
        let end = part.find(|c| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            depth == 0
        });
        let (body, rest) = part.split_at(end.unwrap_or(part.len()));
        unrolled.extend((0..count).map(|k| format!("{{ const k = {k}u; {body} }}\n")));
        unrolled += rest.strip_prefix('}').unwrap_or(rest);
    }
    unrolled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_over_a_name_become_blocks() {
        let text = "a; for (var k = 0u; k < N; k++) { if b[k] { c(k); } } d; for (var k = 0u; k < M; k++) { e; }";
        let expected = "a; { const k = 0u;  if b[k] { c(k); }  }\n{ const k = 1u;  if b[k] { c(k); }  }\n d; for (var k = 0u; k < M; k++) { e; }";
        assert_eq!(unrolled(text, &[("N", 2)]), expected);
    }

    #[test]
    fn a_loop_that_never_turns_is_gone() {
        assert_eq!(unrolled("a; for (var k = 0u; k < N; k++) { b; } c;", &[("N", 0)]), "a;  c;");
    }
}
