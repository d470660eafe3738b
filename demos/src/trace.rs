//! Traces in the Trace Event Format for `ui.perfetto.dev` and `chrome://tracing`: one slice per group of passes and per
//! action of the host.

use serde_json::{Value, json};
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;
use supple::gpu::Profile;

/// The rows of the trace, as thread ids.
const HOST: u32 = 1;
const GPU: u32 = 2;

pub struct Trace {
    start: Instant,
    events: Vec<Value>,
}

/// The times at which the host actions of a frame begin and end.
pub struct FrameTimes {
    pub begin: Instant,
    pub recorded: Instant,
    pub submitted: Instant,
    pub done: Instant,
}

impl Trace {
    /// A trace that begins now.
    pub fn begin() -> Self {
        let name = |row: u32, name: &str| json!({ "ph": "M", "pid": 1, "tid": row, "name": "thread_name", "args": { "name": name } });
        let process = json!({ "ph": "M", "pid": 1, "name": "process_name", "args": { "name": "supple" } });
        let events = vec![process, name(HOST, "host"), name(GPU, "GPU, aligned at the submission")];
        Self { start: Instant::now(), events }
    }

    /// Adds a frame. Host and GPU clocks differ, so the first GPU pass is drawn at the time of submission.
    pub fn push(&mut self, frame: u32, times: &FrameTimes, profile: &Profile) {
        let FrameTimes { begin, recorded, submitted, done } = *times;
        let since = |time: Instant| time.duration_since(self.start).as_secs_f64() * 1e6;
        let slice = |row: u32, name: &str, begin: f64, end: f64, details: Value| json!({ "ph": "X", "pid": 1, "tid": row, "cat": "frame", "name": name, "ts": begin, "dur": end - begin, "args": details });
        let name = format!("frame {frame}");
        let mut events = vec![slice(HOST, &name, since(begin), since(done), json!({}))];
        for (name, begin, end) in
            [("record", begin, recorded), ("submit", recorded, submitted), ("wait", submitted, done)]
        {
            events.push(slice(HOST, name, since(begin), since(end), json!({})));
        }
        let at = |milliseconds: f64| since(submitted) + milliseconds * 1e3;
        events.push(slice(GPU, &name, at(0.0), at(profile.milliseconds()), json!({})));
        for run in &profile.runs {
            let details = json!({ "passes": run.passes });
            events.push(slice(GPU, &run.name, at(run.interval.begin), at(run.interval.end), details));
        }
        self.events.extend(events);
    }

    pub fn write(&self, path: &Path) -> anyhow::Result<()> {
        let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
        serde_json::to_writer(&mut file, &json!({ "displayTimeUnit": "ms", "traceEvents": self.events }))?;
        Ok(file.flush()?)
    }
}
