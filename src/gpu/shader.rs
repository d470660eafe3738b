//! Assembles the text of shaders: common modules on demand, loops written out, names made unique.

use std::collections::BTreeSet;

/// The modules that passes share. A pass gets those whose names it uses.
pub(super) const COMMON: [&str; 9] = [
    include_str!("../../shaders/common/params.wgsl"),
    include_str!("../../shaders/common/xpbd.wgsl"),
    include_str!("../../shaders/common/symmetric.wgsl"),
    include_str!("../../shaders/common/rotation.wgsl"),
    include_str!("../../shaders/common/contacts.wgsl"),
    include_str!("../../shaders/common/search.wgsl"),
    include_str!("../../shaders/common/pair.wgsl"),
    include_str!("../../shaders/common/crossing.wgsl"),
    include_str!("../../shaders/common/particle.wgsl"),
];

/// The text of a pass with the common modules that it uses, directly or through other modules. The pass stands first, so that line numbers in
/// errors are those of its own text.
pub(super) fn assembled(text: &str) -> String {
    let mut used = identifiers(text);
    let mut included = [false; COMMON.len()];
    loop {
        let is_used = |module: &str| declared(module).any(|name| used.contains(name));
        let Some(next) = (0..COMMON.len()).find(|&index| !included[index] && is_used(COMMON[index])) else { break };
        included[next] = true;
        used.extend(identifiers(COMMON[next]));
    }
    let modules = COMMON.iter().zip(included).filter(|(_, included)| *included).map(|(module, _)| *module);
    std::iter::once(text).chain(modules).collect::<Vec<_>>().join("\n")
}

/// The identifiers of a text, without those in comments.
fn identifiers(text: &str) -> BTreeSet<&str> {
    let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    code.flat_map(|line| line.split(|c| !is_name(c))).filter(|name| !name.is_empty()).collect()
}

/// The names that a text declares at its top level.
fn declared(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let keywords = ["fn ", "struct ", "alias ", "const ", "override "];
        let rest = keywords.iter().find_map(|keyword| line.strip_prefix(keyword))?;
        rest.split(|c| !is_name(c)).next()
    })
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Replaces loops `for (var k = 0u; k < NAME; k++) {` by one block per iteration, for each of the `names` with its number of iterations. The
/// loops contain no `continue` or `break`, and no loop over the same name.
///
/// Arrays that a loop indexes by its counter (the particles of a constraint, the anchors of tethers) should stay in registers. GPU drivers keep
/// them in memory unless they unroll the loop, and wgpu's loop bound prevents that.
pub(super) fn unrolled(text: &str, names: &[(&str, usize)]) -> String {
    let text = names.iter().fold(text.to_owned(), |text, &(name, count)| unrolled_over(&text, name, count));
    for (name, _) in names {
        debug_assert!(
            !text.contains(&format!(" < {name};")),
            "a loop over {name} does not have the form that is unrolled"
        );
    }
    text
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

/// A text with a suffix behind every name that it declares at its top level. Members of structs keep theirs, as they follow a dot where
/// they are read, so they must not be called like anything at the top level.
pub(super) fn renamed(text: &str, suffix: &str) -> String {
    let names: BTreeSet<&str> = declared(text).collect();
    let mut renamed = String::with_capacity(text.len() * 5 / 4);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| is_name(c) != is_name(first)).unwrap_or(rest.len());
        let (token, others) = rest.split_at(end);
        let is_member = renamed.ends_with('.');
        renamed += token;
        if !is_member && names.contains(token) {
            renamed += "_";
            renamed += suffix;
        }
        rest = others;
    }
    renamed
}

/// The shader modules that this thread has assembled, for tests.
#[cfg(feature = "internals")]
pub mod recorded {
    use std::cell::RefCell;

    /// A shader module as it is compiled.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct ShaderModule {
        /// The label of its pipeline.
        pub name: String,
        /// The entry point.
        pub entry: String,
        /// All of its text.
        pub source: String,
    }

    thread_local! {
        static MODULES: RefCell<Vec<ShaderModule>> = const { RefCell::new(Vec::new()) };
    }

    pub(crate) fn push(name: &str, entry: &str, source: &str) {
        let module = ShaderModule { name: name.to_owned(), entry: entry.to_owned(), source: source.to_owned() };
        MODULES.with_borrow_mut(|modules| modules.push(module));
    }

    /// Takes all modules that this thread has assembled since the last call.
    pub fn take_shader_modules() -> Vec<ShaderModule> {
        MODULES.with_borrow_mut(std::mem::take)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_gets_the_common_modules_that_it_uses_and_no_others() {
        let alone = assembled("fn f() -> f32 { return 1.0; }");
        assert_eq!(alone, "fn f() -> f32 { return 1.0; }");
        // Mentioned in a comment only.
        assert_eq!(assembled("// Params"), "// Params");
        let text = assembled("fn f(p: Params) -> Motion { return g(p); }");
        assert!(text.contains("struct Params") && text.contains("struct Motion") && !text.contains("struct Closest"));
    }

    #[test]
    fn loops_over_a_name_become_blocks() {
        let text = "a; for (var k = 0u; k < N; k++) { if b[k] { c(k); } } d; for (var k = 0u; k < M; k++) { e; }";
        let expected = "a; { const k = 0u;  if b[k] { c(k); }  }\n{ const k = 1u;  if b[k] { c(k); }  }\n d; for (var k = 0u; k < M; k++) { e; }";
        assert_eq!(unrolled(text, &[("N", 2)]), expected);
    }

    #[test]
    fn a_loop_without_iterations_is_removed() {
        assert_eq!(unrolled("a; for (var k = 0u; k < N; k++) { b; } c;", &[("N", 0)]), "a;  c;");
    }

    #[test]
    fn declared_names_get_a_suffix_and_others_do_not() {
        let text = "const PI = 3.0;\nfn load(x: u32) -> f32 {\n    let reload = a.load + b[load(PI * 1.0)];\n}\nstruct Record {\n    c: f32,\n}\n";
        let expected = "const PI_k = 3.0;\nfn load_k(x: u32) -> f32 {\n    let reload = a.load + b[load_k(PI_k * 1.0)];\n}\nstruct Record_k {\n    c: f32,\n}\n";
        assert_eq!(renamed(text, "k"), expected);
    }
}
