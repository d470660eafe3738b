//! Figures of a process and of a list.

/// The middle of the values; NaN of none.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The most memory that this process has held [MiB], where the system says it.
pub fn peak_memory_mb() -> Option<f64> {
    memory("VmHWM:")
}

/// What this process holds now [MiB], where the system says it.
pub fn resident_memory_mb() -> Option<f64> {
    memory("VmRSS:")
}

fn memory(field: &str) -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok().map(|kilobytes| kilobytes / 1024.0)
}

/// What a tenth of the frames, and at least one, took in the middle: the first tenth after the warm-up, which is the tenth before it, and the last.
pub fn drift(times: &[f64]) -> [f64; 2] {
    let tenth = (times.len() / 10).max(1);
    let first = times.get(tenth..2 * tenth).unwrap_or(times);
    let last = &times[times.len().saturating_sub(tenth)..];
    [first, last].map(|part| median(part.to_vec()))
}
