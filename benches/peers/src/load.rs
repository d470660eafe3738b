//! Measures the CPU load of other processes while a peer runs.

use std::time::Duration;

/// Linux counts processor time in hundredths of a second.
const TICKS_PER_SECOND: f64 = 100.0;

/// Processor time since the machine started, in ticks.
#[derive(Debug, Clone, Copy)]
pub struct Load {
    all: f64,
    /// The processor time of this process and of its finished children.
    ours: f64,
}

impl Load {
    /// The current times; `None` if the system does not report them.
    pub fn now() -> Option<Self> {
        let stat = std::fs::read_to_string("/proc/stat").ok()?;
        let fields: Vec<f64> = stat.lines().next()?.split_whitespace().skip(1).flat_map(str::parse).collect();
        // The fields are user, nice, system, idle, iowait, irq, softirq and steal; user includes guest.
        let all = fields.get(..8)?.iter().sum::<f64>() - fields[3] - fields[4];
        let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
        // After the name, utime, stime, cutime and cstime are the fields from 11 on.
        let ours = stat.rsplit_once(')')?.1.split_whitespace().skip(11).take(4).flat_map(str::parse::<f64>).sum();
        Some(Self { all, ours })
    }

    /// The mean number of processors that other processes used.
    pub fn others_until(self, later: Self, elapsed: Duration) -> f64 {
        let ticks = (later.all - self.all) - (later.ours - self.ours);
        (ticks / TICKS_PER_SECOND / elapsed.as_secs_f64()).max(0.0)
    }
}
