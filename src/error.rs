//! The one error type of the crate: every variant names the thing that is wrong and carries the numbers that explain it.

/// The result of every fallible call of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong while a scene is built, compiled, uploaded or read back.
///
/// A call that returns an error has changed nothing.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number that must be finite is NaN or infinite, or lies outside its range.
    #[error("{what} is {}, but must be {expected}", number(*value))]
    InvalidValue {
        /// The thing, with its index where it has one: `position of particle 12`.
        what: String,
        /// The number that was given.
        value: f64,
        /// The range that is accepted, in words.
        expected: &'static str,
    },
    /// An index points past the end of what it indexes.
    #[error("{what} names {target} {index}, but there {}", only(*count))]
    IndexOutOfRange {
        /// The thing that holds the index: `distance constraint 3`.
        what: String,
        /// What is indexed: `particle`, `material`, `constraint`.
        target: &'static str,
        /// The index that was given.
        index: u64,
        /// How many there are.
        count: u64,
    },
    /// One constraint or triangle names the same particle more than once.
    #[error("{what} names particle {particle} more than once")]
    RepeatedIndex {
        /// The thing that repeats it.
        what: String,
        /// The particle.
        particle: u32,
    },
    /// A rest edge has no length, so it has no direction to be projected along.
    #[error("{what} between particles {particles:?} has a rest length of {length} m; it must be positive")]
    ZeroLength {
        /// The thing: `rope segment 4`, `edge of cloth mesh`.
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
        /// How many triangles are degenerate.
        count: u32,
    },
    /// A surface that must enclose a volume has edges that do not have one triangle in each direction.
    #[error(
        "the surface is not closed: {} with one triangle only, {non_manifold_edges} with more than two, {inconsistent_edges} run through twice in the same direction; the first lies between vertices {vertices:?}",
        counted(*boundary_edges, "edge")
    )]
    OpenSurface {
        /// Edges of one triangle.
        boundary_edges: u32,
        /// Edges of more than two triangles.
        non_manifold_edges: u32,
        /// Edges that two triangles run through in the same direction.
        inconsistent_edges: u32,
        /// The two ends of the first such edge.
        vertices: [u32; 2],
    },
    /// The triangles of a closed collider mesh face inwards, so it is not clear whether it is a solid or a room.
    #[error(
        "the closed collider mesh is inside out: its signed volume is {volume:e} m³. Reverse the winding of its triangles for a solid; for a room that keeps particles inside or outside, set two_sided of the collider as well"
    )]
    InwardWinding {
        /// The signed volume \[m³\], negative.
        volume: f64,
    },
    /// Two lists that belong together differ in length.
    #[error("{what}: {left} against {right} entries")]
    LengthMismatch {
        /// The two lists.
        what: &'static str,
        /// Length of the first.
        left: usize,
        /// Length of the second.
        right: usize,
    },
    /// Something that must have parts has none.
    #[error("{what} is empty")]
    Empty {
        /// The thing.
        what: &'static str,
    },
    /// There is more of something than indices or loops on the GPU can count.
    #[error("{what}: {count} is more than the limit of {limit}")]
    TooLarge {
        /// The thing counted.
        what: &'static str,
        /// How many there would be.
        count: u64,
        /// How many there may be.
        limit: u64,
    },
    /// The call needs a pinned particle, and this one is free.
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
    /// The collider that is named was removed, or is one of another solver.
    #[error("there is no collider {index} of this id any more: it was removed, or the id is of another solver")]
    NoCollider {
        /// Its place.
        index: u64,
    },
    /// The call needs settings other than those in effect.
    #[error("{what} needs {needed}")]
    NotEnabled {
        /// The call, or the thing that was asked for.
        what: &'static str,
        /// The setting and its value.
        needed: &'static str,
    },
    /// An instance that is named was removed, or never was one of these.
    #[error(
        "there is no instance in slot {slot} of generation {generation} any more: it was removed, or is one of other instances"
    )]
    NoInstance {
        /// The slot that it had.
        slot: u32,
        /// How many had been removed from the slot before it.
        generation: u32,
    },
    /// There is no room for so many instances.
    #[error("{count} instances at once are more than the capacity of {capacity}")]
    NoRoom {
        /// How many there would be.
        count: u64,
        /// How many there may be.
        capacity: u32,
    },
    /// An asset has parts that instances cannot have.
    #[error("the asset has {}, which instances cannot have; simulate it with a Solver", counted(*count, what))]
    NotInstanced {
        /// What they are, in the singular: `collider`, `pressure constraint`.
        what: String,
        /// How many there are.
        count: u64,
    },
    /// No graphics adapter fits; the text says which were found and what to install.
    #[error("no graphics adapter {wanted}; found: {found}. {hint}")]
    NoAdapter {
        /// What was asked for.
        wanted: String,
        /// The adapters that exist.
        found: String,
        /// What the user can do about it.
        hint: &'static str,
    },
    /// The device's limits are too small for the scene; ask for [`crate::required_limits`] when the device is made.
    #[error(
        "{what} needs {limit} of {needed}, but the device allows {available}; request the device with supple::required_limits(&scene), required_limits_with(&scene, &settings), or Instances::required_limits(&asset, capacity, &settings)"
    )]
    LimitExceeded {
        /// The buffer or dispatch that needs it.
        what: String,
        /// The name of the limit in [`wgpu::Limits`].
        limit: &'static str,
        /// What the scene needs.
        needed: u64,
        /// What the device allows.
        available: u64,
    },
    /// No device of this adapter has the limits that are asked for: another adapter may, or a smaller scene needs less.
    #[error(
        "{adapter} has no more than {limit} of {available}, but {needed} are asked for; a smaller scene needs less, grids in tiles (Execution::Tiles) about half of what colours do"
    )]
    AdapterLimit {
        /// The adapter's name.
        adapter: String,
        /// The name of the limit in [`wgpu::Limits`].
        limit: &'static str,
        /// What was asked for.
        needed: u64,
        /// What the adapter has.
        available: u64,
    },
    /// The device cannot take timestamps, so nothing on it can be timed.
    #[error(
        "the device has no timestamp queries: request it with wgpu::Features::TIMESTAMP_QUERY, where the adapter has them"
    )]
    NoTimestamps,
    /// The device is lost: nothing on it can be used any more. Make a new one and build the solver again.
    #[error("the graphics device is lost: {reason}")]
    DeviceLost {
        /// What the driver said.
        reason: String,
    },
    /// wgpu refused a call. This is a fault of this crate or of the driver.
    #[error("wgpu: {message}")]
    Gpu {
        /// wgpu's own words.
        message: String,
    },
    /// The device did not answer in time.
    #[error("the graphics device did not answer within {seconds} s")]
    Timeout {
        /// How long was waited \[s\].
        seconds: f32,
    },
}

/// The shortest decimal of a number that may have been an `f32`.
fn number(value: f64) -> String {
    let single = value as f32;
    if value.fract() != 0.0 && f64::from(single) == value { single.to_string() } else { value.to_string() }
}

/// "1 edge", "2 edges".
fn counted(count: impl Into<u64>, noun: &str) -> String {
    let count = count.into();
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// What there is of something that was indexed: "are only 4", "is only 1", "are none".
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

/// `Ok` where `value` is finite and at least 0.
pub(crate) fn check_non_negative(what: &str, value: f32) -> Result<()> {
    if value.is_finite() && value >= 0.0 { Ok(()) } else { Err(Error::invalid(what, value, "finite and at least 0")) }
}

/// `Ok` where `value` is finite and greater than 0.
pub(crate) fn check_positive(what: &str, value: f32) -> Result<()> {
    if value.is_finite() && value > 0.0 {
        Ok(())
    } else {
        Err(Error::invalid(what, value, "finite and greater than 0"))
    }
}

/// `Ok` where all three components are finite. `what` is only called for the error.
pub(crate) fn check_finite(what: impl FnOnce() -> String, value: [f32; 3]) -> Result<()> {
    match value.into_iter().find(|component| !component.is_finite()) {
        None => Ok(()),
        Some(component) => Err(Error::invalid(what(), component, "finite")),
    }
}

/// Whether all particles that something names exist and differ. `what` names it in the error.
pub(crate) fn check_particles(what: impl Fn() -> String, particles: &[u32], particle_count: usize) -> Result<()> {
    // Few are compared with each other, many are hashed.
    if particles.len() > 4 {
        return check_many(what, particles, particle_count);
    }
    for (position, &particle) in particles.iter().enumerate() {
        check_exists(&what, particle, particle_count)?;
        if particles[..position].contains(&particle) {
            return Err(Error::RepeatedIndex { what: what(), particle });
        }
    }
    Ok(())
}

fn check_many(what: impl Fn() -> String, particles: &[u32], particle_count: usize) -> Result<()> {
    let mut seen = std::collections::HashSet::with_capacity(particles.len());
    for &particle in particles {
        check_exists(&what, particle, particle_count)?;
        if !seen.insert(particle) {
            return Err(Error::RepeatedIndex { what: what(), particle });
        }
    }
    Ok(())
}

/// `Ok` where there is such a particle.
pub(crate) fn check_exists(what: &impl Fn() -> String, particle: u32, particle_count: usize) -> Result<()> {
    if (particle as usize) < particle_count {
        return Ok(());
    }
    let (index, count) = (particle.into(), particle_count as u64);
    Err(Error::IndexOutOfRange { what: what(), target: "particle", index, count })
}
