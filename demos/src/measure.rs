//! Memory use of the process, statistics of lists, and the size of a demo by the time of its steps.

/// The median, for an even count the upper of the two middle values; NaN for an empty list.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The peak memory of this process [MiB], if the system reports it.
pub fn peak_memory_mib() -> Option<f64> {
    memory("VmHWM:")
}

/// The current memory of this process [MiB], if the system reports it.
pub fn resident_memory_mib() -> Option<f64> {
    memory("VmRSS:")
}

fn memory(field: &str) -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok().map(|kilobytes| kilobytes / 1024.0)
}

/// The median times of the second tenth and of the last tenth of the frames. The first tenth is warm-up. A tenth has at
/// least one frame.
pub fn early_and_late_medians(times: &[f64]) -> [f64; 2] {
    let tenth = (times.len() / 10).max(1);
    let first = times.get(tenth..2 * tenth).unwrap_or(times);
    let last = &times[times.len().saturating_sub(tenth)..];
    [first, last].map(|part| median(part.to_vec()))
}

/// The time of a step at which a window on a software adapter plays at about 15 pictures per second \[s\]. The rest of
/// 1/15 s draws the picture.
const STEP_SECONDS: f64 = 0.045;

/// The least and the most columns of a measured demo.
const COLUMNS: [f64; 2] = [48.0, 316.0];

/// Columns and rows of a square cloth whose step takes `STEP_SECONDS`, if that of a cloth of `measured` columns and rows
/// takes `seconds`. The time is linear in the number of particles.
pub fn columns_at_rate(measured: u32, seconds: f64) -> u32 {
    let columns = f64::from(measured) * (STEP_SECONDS / seconds.max(1e-9)).sqrt();
    columns.clamp(COLUMNS[0], COLUMNS[1]) as u32
}
