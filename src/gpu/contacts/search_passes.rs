//! Passes that validate the pair list, search for pairs, and find intersections at the end of a step.

use super::contact_passes::Bindings;
use super::{Binding, Bound, Size};
use crate::gpu::profile::pass_name;
use crate::gpu::stage::Slot::{Read, Write};
use crate::gpu::stage::flag;
use crate::schedule::plan::{Pass, SearchPass};
use crate::sim::contact_params::ContactParams;
use crate::sim::controls::Controls;

const VALIDATE_PAIRS: &str = concat!(
    include_str!("../../../shaders/collision/validate_pairs.wgsl"),
    include_str!("../../../shaders/collision/search/tracked.wgsl")
);
const SEARCH: &str = concat!(
    include_str!("../../../shaders/collision/search.wgsl"),
    include_str!("../../../shaders/collision/search/tracked.wgsl"),
    include_str!("../../../shaders/collision/search/volume.wgsl")
);
const FIND_PAIRS: &str = concat!(
    include_str!("../../../shaders/collision/find_pairs.wgsl"),
    include_str!("../../../shaders/collision/contact_sides.wgsl"),
    include_str!("../../../shaders/collision/search/seams.wgsl"),
    include_str!("../../../shaders/collision/search/grid.wgsl"),
    include_str!("../../../shaders/collision/search/tracked.wgsl"),
    include_str!("../../../shaders/collision/search/volume.wgsl")
);
const FINISH_SEARCH: &str = include_str!("../../../shaders/collision/finish_search.wgsl");
const INTERSECTIONS: &str = concat!(
    include_str!("../../../shaders/collision/intersections.wgsl"),
    include_str!("../../../shaders/collision/contact_sides.wgsl"),
    include_str!("../../../shaders/collision/search/seams.wgsl"),
    include_str!("../../../shaders/collision/search/grid.wgsl")
);

/// The passes of the search.
#[derive(Debug)]
pub(super) struct SearchPasses {
    validate: Bound,
    /// In the order of [`SearchPass::ALL`].
    search: Vec<Bound>,
    /// In the order of [`SearchPass::GRIDS`]; empty at the particle level, like the next.
    grids: Vec<Bound>,
    /// Clears and finds intersections.
    intersections: Vec<Bound>,
}

impl SearchPasses {
    pub fn new(bindings: &Bindings<'_>, controls: &Controls) -> Self {
        let search = |pass: SearchPass| match pass {
            SearchPass::FindPairs => bindings.find_pairs(),
            SearchPass::FinishSearch => bindings.finish_search(),
            pass => bindings.write_grids(pass, false),
        };
        let (mut grids, mut intersections) = (Vec::new(), Vec::new());
        if controls.plan.contains(&Pass::FindIntersections) {
            grids = SearchPass::GRIDS.map(|pass| bindings.write_grids(pass, true)).into();
            intersections =
                ["intersections_clear", "intersections_find"].map(|entry| bindings.intersections(entry)).into();
        }
        Self { validate: bindings.validate_pairs(), search: SearchPass::ALL.map(search).into(), grids, intersections }
    }

    /// All passes.
    pub fn passes_mut(&mut self) -> impl Iterator<Item = &mut Bound> {
        let own = [&mut self.validate].into_iter().chain(&mut self.search);
        own.chain(&mut self.grids).chain(&mut self.intersections)
    }

    /// The pass and the size of its dispatch.
    pub fn dispatch<'a>(
        &'a self,
        pass: Pass,
        controls: &Controls,
        parameters: &ContactParams,
        dispatches: &'a wgpu::Buffer,
    ) -> Option<(&'a Bound, Size<'a>)> {
        let particles = Size::Threads(controls.scene.particle_count() as u32);
        match pass {
            Pass::ValidatePairs => Some((&self.validate, particles)),
            Pass::Search(SearchPass::FinishSearch) => Some((self.search.last()?, Size::Workgroups(1))),
            // No workgroups while the pair list is valid.
            Pass::Search(pass) => Some((&self.search[pass as usize], Size::Indirect(dispatches, 12 * pass as u64))),
            Pass::GridsForIntersections(pass) => Some((
                self.grids.get(pass as usize)?,
                Size::Threads(parameters.threads(pass, controls.scene.particle_count() as u32)),
            )),
            Pass::ClearIntersections => Some((self.intersections.first()?, particles)),
            Pass::FindIntersections => {
                Some((self.intersections.last()?, Size::Threads(parameters.element_end - parameters.particle_end)))
            }
            _ => None,
        }
    }
}

impl Bindings<'_> {
    fn bind(&self, entry: &str, text: &str, bindings: &[&[Binding<'_>]], constants: &[(&str, f64)]) -> Bound {
        self.binder.bind_with(entry, text, &bindings.concat(), constants)
    }

    fn validate_pairs(&self) -> Bound {
        let made = self.made;
        let state = [
            self.displacements,
            (Read, &made.tracked),
            self.particles,
            (Write, &made.corrections),
            self.status,
            (Write, &made.dispatches),
        ];
        self.bind("validate_pairs", VALIDATE_PAIRS, &[&self.motion[..3], &state], &self.constants[..1])
    }

    /// A pass that writes the grids. `at_end` is true at the end of a step.
    fn write_grids(&self, pass: SearchPass, at_end: bool) -> Bound {
        let made = self.made;
        let grid = [(Read, &made.elements), (Write, &made.cells), (Write, &made.volumes), (Write, &made.tracked)];
        let constants = [self.constants[0], ("AT_END", flag(at_end))];
        self.bind(
            &pass_name(&Pass::Search(pass)),
            SEARCH,
            &[&self.motion, &grid, &[self.particles, self.status]],
            &constants,
        )
    }

    fn find_pairs(&self) -> Bound {
        let made = self.made;
        let grid = [(Read, &made.cells), (Read, &made.volumes), (Read, &made.tracked), (Read, &made.elements)];
        let pairs = [self.particles, (Write, &made.pairs), self.status];
        let constants = [self.constants[0], self.constants[1], self.sewn];
        self.bind("find_pairs", FIND_PAIRS, &[&self.motion[..2], &grid, &pairs], &constants)
    }

    fn finish_search(&self) -> Bound {
        let made = self.made;
        let written = [self.status, (Write, &made.dispatches)];
        let lists = [(Read, &made.pairs), (Read, &made.contacts)];
        self.bind("finish_search", FINISH_SEARCH, &[&self.motion[..2], &written, &lists], &self.constants[..1])
    }

    fn intersections(&self, entry: &str) -> Bound {
        let made = self.made;
        let grid = [(Read, &made.elements), (Read, &made.cells), (Read, &made.volumes), self.particles];
        let found = [(Write, &made.intersections), self.status, (Write, &made.corrections)];
        self.bind(entry, INTERSECTIONS, &[&self.motion[..3], &grid, &found], &[self.constants[1], self.sewn])
    }
}
