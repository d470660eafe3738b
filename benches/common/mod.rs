//! What the benches share: figures of lists, and where results go.

#[path = "../../examples/common/measure.rs"]
#[allow(dead_code, reason = "each bench uses its own part of it")]
pub mod measure;

/// Writes a report to `benches/results/<name of the adapter><suffix>.md`.
pub fn write_results(suffix: &str, adapter: &str, text: &str) -> std::io::Result<()> {
    let name: String =
        adapter.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    let name = name.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-");
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/results");
    std::fs::create_dir_all(folder)?;
    std::fs::write(format!("{folder}/{name}{suffix}.md"), text)?;
    println!("wrote benches/results/{name}{suffix}.md");
    Ok(())
}
