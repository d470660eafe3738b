//! Unrolls short loops of a shader.
//!
//! Arrays that a loop indexes by its counter (the particles of a constraint, the anchors of tethers) should stay in
//! registers. GPU drivers keep them in memory unless they unroll the loop, and wgpu's loop bound prevents that.
//! Software drivers are slow to compile the many loops of a tile pattern.

/// Replaces loops `for (var k = 0u; k < NAME; k++) {` by one block per iteration, for each of the `names` with its
/// number of iterations. The loops must contain no `continue` or `break`, and no loop over the same name.
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
