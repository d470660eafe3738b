//! The error type of the crate. Every variant names the object at fault and carries the numbers that explain it.

/// The result of every fallible call of the crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error while a scene is built, compiled, uploaded or read back.
///
/// A call that returns an error has changed nothing, except on a device that is lost or out of memory.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number that must be finite is NaN or infinite, or lies outside its range.
    #[error("{what} is {}, but must be {expected}", number(*value))]
    InvalidValue {
        /// The object, with its index if it has one: `position of particle 12`.
        what: String,
        /// The value that was passed.
        value: f64,
        /// The accepted range, in words.
        expected: &'static str,
    },
    /// An index is out of range.
    #[error("{what} names {target} {index}, but there {}", only(*count))]
    IndexOutOfRange {
        /// The object that holds the index: `distance constraint 3`.
        what: String,
        /// The kind of object that is indexed: `particle`, `vertex`, `material`.
        target: &'static str,
        /// The index that was passed.
        index: u64,
        /// The number of such objects.
        count: u64,
    },
    /// An object names another one more than once.
    #[error("{what} names {target} {index} more than once")]
    RepeatedIndex {
        /// The object that holds the index: `distance constraint 3`.
        what: String,
        /// The kind of object that is named: `particle`, `orientation`, `vertex`.
        target: &'static str,
        /// The index.
        index: u32,
    },
    /// A target was set for an orientation that is not pinned.
    #[error("orientation {orientation} is not pinned; only pinned orientations have a target")]
    OrientationNotPinned {
        /// The orientation.
        orientation: u32,
    },
    /// A rest length is 0 or negative, so the constraint has no direction.
    #[error("{what} between particles {particles:?} has a rest length of {length} m; it must be positive")]
    ZeroLength {
        /// The object: `rope segment 4`, `edge of cloth mesh`.
        what: String,
        /// Its two particles.
        particles: [u32; 2],
        /// The length \[m\].
        length: f32,
    },
    /// A triangle has no area, so it has neither mass nor a normal.
    #[error(
        "triangle {triangle} with particles {particles:?} has an area of {area:e} m²; {} in all",
        counted(*count, "such triangle")
    )]
    DegenerateTriangle {
        /// The first such triangle.
        triangle: u32,
        /// Its particles.
        particles: [u32; 3],
        /// Its area \[m²\].
        area: f32,
        /// The number of degenerate triangles.
        count: u32,
    },
    /// A surface that must be closed has edges without exactly one triangle in each direction.
    #[error(
        "the surface is not closed: {} with one triangle only, {non_manifold_edges} with more than two, {inconsistent_edges} run through twice in the same direction; the first lies between vertices {vertices:?}",
        counted(*boundary_edges, "edge")
    )]
    OpenSurface {
        /// Edges of one triangle.
        boundary_edges: u32,
        /// Edges of more than two triangles.
        non_manifold_edges: u32,
        /// Edges that two triangles traverse in the same direction.
        inconsistent_edges: u32,
        /// The two vertices of the first such edge.
        vertices: [u32; 2],
    },
    /// The triangles of a closed collider mesh face inwards. The mesh is a solid with reversed winding, or a room.
    #[error(
        "the closed collider mesh is inside out: its signed volume is {volume:e} m³. Reverse the winding of its triangles for a solid; for a room that keeps particles inside or outside, set two_sided of the collider as well"
    )]
    InwardWinding {
        /// The signed volume \[m³\], negative.
        volume: f64,
    },
    /// Two corresponding lists differ in length.
    #[error("{what}: {left} against {right} entries")]
    LengthMismatch {
        /// The two lists.
        what: &'static str,
        /// Length of the first.
        left: usize,
        /// Length of the second.
        right: usize,
    },
    /// A list that must have elements is empty.
    #[error("{what} is empty")]
    Empty {
        /// The list.
        what: &'static str,
    },
    /// A count exceeds the limit of GPU indices or dispatches.
    #[error("{what}: {count} is more than the limit of {limit}")]
    TooLarge {
        /// The counted objects.
        what: &'static str,
        /// The count.
        count: u64,
        /// The greatest allowed count.
        limit: u64,
    },
    /// The call needs a pinned particle, but this one is free.
    #[error("particle {particle} is not pinned; only pinned particles follow a target")]
    NotPinned {
        /// The particle.
        particle: u32,
    },
    /// The call sets the state of a follower, which its sources determine.
    #[error("{what}: particle {particle} is a follower; its sources determine its position and its velocity")]
    Follower {
        /// The call or the value: `position`, `set_target`.
        what: String,
        /// The follower.
        particle: u32,
    },
    /// The particle is skinned, which excludes a second skinned pose and a target.
    #[error("{what}: particle {particle} is skinned; a particle has one skinned pose or one target")]
    Skinned {
        /// The call or the row: `set_target`, `skinned particle 7`.
        what: String,
        /// The particle.
        particle: u32,
    },
    /// The collider was removed, or its id belongs to another solver.
    #[error("there is no collider {index} with this id: it was removed, or the id belongs to another solver")]
    NoCollider {
        /// The index of the collider.
        index: u64,
    },
    /// The attachment was released, or its id belongs to another solver.
    #[error("there is no attachment {index} with this id: it was released, or the id belongs to another solver")]
    NoAttachment {
        /// The index of the attachment.
        index: u64,
    },
    /// The vertex output was removed, or its id belongs to another solver.
    #[error("there is no vertex output {number}: it was removed, or the id belongs to another solver")]
    NoVertexOutput {
        /// The number of the output, in the order of addition.
        number: u32,
    },
    /// A buffer of the caller is too small.
    #[error("{what} is a buffer of {size} bytes, but {needed} bytes are written")]
    BufferTooSmall {
        /// The use of the buffer.
        what: String,
        /// Its size \[bytes\].
        size: u64,
        /// The size that it needs \[bytes\].
        needed: u64,
    },
    /// A vertex format that a vertex output cannot write.
    #[error("{what} has the format {format}; supported are Float32x3 and Float32x4")]
    VertexFormat {
        /// The target.
        what: String,
        /// The name of its format in [`wgpu::VertexFormat`].
        format: String,
    },
    /// A buffer of the caller lacks a usage.
    #[error("{what} is a buffer without the usage {usage}; create it with wgpu::BufferUsages::{usage}")]
    MissingUsage {
        /// The use of the buffer.
        what: String,
        /// The name of the usage in [`wgpu::BufferUsages`].
        usage: &'static str,
    },
    /// A buffer of the solver where one of the caller is needed.
    #[error("{what} is a buffer of the solver; create another one")]
    SolverBuffer {
        /// The use of the buffer.
        what: String,
    },
    /// The call needs a setting that is not enabled.
    #[error("{what} needs {needed}")]
    NotEnabled {
        /// The call, or the requested data.
        what: &'static str,
        /// The setting and its value.
        needed: &'static str,
    },
    /// The instance was removed, or its id belongs to another pool.
    #[error(
        "the instance in slot {slot} of generation {generation} does not exist: it was removed, or belongs to another pool"
    )]
    NoInstance {
        /// The slot of the instance.
        slot: u32,
        /// The generation of its id: the number of instances that were removed from the slot before it was added.
        generation: u32,
    },
    /// The instances exceed the capacity of the pool.
    #[error("{count} instances at once are more than the capacity of {capacity}")]
    CapacityExceeded {
        /// The number of instances after the call.
        count: u64,
        /// The capacity of the pool.
        capacity: u32,
    },
    /// The encoder of a request was dropped, so its data will not arrive.
    #[error("the encoder of the readback was dropped without a submission; request it again")]
    NotSubmitted,
    /// The cloth has no rows and columns.
    #[error("{what} of a cloth exist for grids only; this one is a mesh, or is cut out of a grid")]
    NoGrid {
        /// The place that was asked for, in the plural: `corners`, `rows`.
        what: &'static str,
    },
    /// Two features exclude each other.
    #[error("{what} is not supported: {instead}")]
    Unsupported {
        /// The object, with its index if it has one.
        what: String,
        /// The reason, or what to do instead.
        instead: &'static str,
    },
    /// The asset has parts that instances do not support.
    #[error("the asset has {}, which instances do not support; {}", counted(*count, what), instead_of(what))]
    NotInstanced {
        /// The parts, in the singular: `collider`, `pressure constraint`.
        what: String,
        /// The number of such parts.
        count: u64,
    },
    /// No graphics adapter fits. The text lists the adapters found and the driver to install.
    #[error("no graphics adapter {wanted}; found: {found}. {hint}")]
    NoAdapter {
        /// The requested adapter.
        wanted: String,
        /// The available adapters.
        found: String,
        /// A remedy for the user.
        hint: &'static str,
    },
    /// The limits of the device are too small for the scene. Request [`crate::required_limits`] when the device is
    /// created.
    #[error(
        "{what} needs {limit} of {needed}, but the device allows {available}; request the device with supple::required_limits(&scene), required_limits_with(&scene, &settings), or Instances::required_limits(&asset, capacity, &settings)"
    )]
    LimitExceeded {
        /// The buffer or dispatch that exceeds the limit.
        what: String,
        /// The name of the limit in [`wgpu::Limits`].
        limit: &'static str,
        /// The value that the scene needs.
        needed: u64,
        /// The value that the device allows.
        available: u64,
    },
    /// The adapter does not support the requested limits. Another adapter may support them, or a smaller scene needs
    /// less.
    #[error(
        "{adapter} supports {limit} up to {available}, but {needed} is required; a smaller scene needs less, and Execution::Tiles about half of Execution::Colors on grids"
    )]
    AdapterLimit {
        /// The adapter's name.
        adapter: String,
        /// The name of the limit in [`wgpu::Limits`].
        limit: &'static str,
        /// The requested value.
        needed: u64,
        /// The value that the adapter supports.
        available: u64,
    },
    /// The device does not support timestamp queries, so GPU times cannot be measured.
    #[error("the device has no timestamp queries: request wgpu::Features::TIMESTAMP_QUERY if the adapter supports it")]
    NoTimestamps,
    /// The device is lost. Create a new device and build the solver again.
    #[error("the graphics device is lost: {reason}")]
    DeviceLost {
        /// The driver's message.
        reason: String,
    },
    /// The device has no memory left for a buffer.
    #[error("the graphics device is out of memory: {message}")]
    OutOfMemory {
        /// wgpu's message.
        message: String,
    },
    /// wgpu rejected a call: an object is of another device or destroyed. Otherwise it is a fault of this crate or of the driver.
    #[error("wgpu: {message}")]
    Gpu {
        /// wgpu's message.
        message: String,
    },
    /// A snapshot of another scene, or of a solver with other settings.
    #[error("the snapshot does not fit the {what}. Snapshot: {snapshot}. Solver: {solver}")]
    SnapshotMismatch {
        /// `scene`, or `settings`: those that determine buffers and the order of constraints.
        what: &'static str,
        /// Counts and fingerprint, or settings, of the snapshot.
        snapshot: String,
        /// The same of the solver.
        solver: String,
    },
    /// Bytes that are no snapshot, or state that does not fit the solver.
    #[error("the snapshot cannot be read: {reason}")]
    SnapshotBytes {
        /// The fault, with its numbers.
        reason: String,
    },
    /// A part of a scene would be removed in part.
    #[error("{what} must be removed or kept as a whole; {kept} of its {count} particles would remain")]
    CutPart {
        /// The part.
        what: String,
        /// Number of particles that would remain.
        kept: u32,
        /// Number of its particles.
        count: u32,
    },
    /// A map of another scene, or a scene that is not an edit of that of the solver.
    #[error("the map does not lead from the scene of the solver to the new scene: {reason}")]
    SceneMap {
        /// The fault, with its numbers.
        reason: String,
    },
    /// The device did not respond within the time limit.
    #[error("the graphics device did not respond within {seconds} s")]
    Timeout {
        /// The time limit \[s\].
        seconds: f32,
    },
}

/// The shortest decimal of a number that may have been an `f32`.
fn number(value: f64) -> String {
    let single = value as f32;
    if value.fract() != 0.0 && f64::from(single) == value { single.to_string() } else { value.to_string() }
}

/// Advice for parts that instances do not support.
fn instead_of(what: &str) -> &'static str {
    match what {
        "collider" => "add it by Instances::add_collider, for all instances",
        _ => "simulate it with a Solver",
    }
}

/// "1 edge", "2 edges".
fn counted(count: impl Into<u64>, noun: &str) -> String {
    let count = count.into();
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// The count of the indexed objects: "are only 4", "is only 1", "are none".
fn only(count: u64) -> String {
    match count {
        0 => "are none".into(),
        1 => "is only 1".into(),
        _ => format!("are only {count}"),
    }
}

impl Error {
    pub(crate) fn invalid(what: impl Into<String>, value: impl Into<f64>, expected: &'static str) -> Self {
        Self::InvalidValue { what: what.into(), value: value.into(), expected }
    }
}

/// Returns `Ok` if `value` is finite and at least 0.
pub(crate) fn check_non_negative(what: &str, value: f32) -> Result<()> {
    if value.is_finite() && value >= 0.0 { Ok(()) } else { Err(Error::invalid(what, value, "finite and at least 0")) }
}

/// Returns `Ok` if `value` is finite and greater than 0.
pub(crate) fn check_positive(what: &str, value: f32) -> Result<()> {
    let is_positive = value.is_finite() && value > 0.0;
    if is_positive { Ok(()) } else { Err(Error::invalid(what, value, "finite and greater than 0")) }
}

/// Returns `Ok` if all three components are finite. `what` is called only for the error.
pub(crate) fn check_finite(what: impl FnOnce() -> String, value: [f32; 3]) -> Result<()> {
    match value.into_iter().find(|component| !component.is_finite()) {
        None => Ok(()),
        Some(component) => Err(Error::invalid(what(), component, "finite")),
    }
}
