//! Seams: particles that distance constraints of rest length 0 hold together. Elements that meet at a seam have no contact
//! with each other, like elements with a common particle.

use crate::constraints::{Distance, Kind, is_weld, kind_index};
use crate::geometry::{root, unite};
use crate::sim::controls::Controls;

impl Controls {
    /// Finds the seams again; returns true if they have changed. Without any seam so far, `seams` stays empty.
    pub fn renew_seams(&mut self) -> bool {
        let records = &self.compiled.kinds[kind_index(Distance::INFO)].records;
        // Of the tears: constraints between torn parts have this material, and the particles of the others are the present ones.
        let disabled = self.scene.materials.len() as u32;
        let closed = records.chunks_exact(Distance::INFO.record_words).filter_map(|record| {
            let (named, parameters) = record.split_at(Distance::INFO.material_word() + 1);
            let [a, b, material] = named else { return None };
            (is_weld(parameters) && *material != disabled).then_some([*a, *b])
        });
        let mut closed = closed.peekable();
        if closed.peek().is_none() && self.seams.is_empty() {
            return false;
        }
        let count = self.scene.particle_count() as u32;
        let mut parents: Vec<u32> = (0..count).collect();
        closed.for_each(|[a, b]| unite(&mut parents, a, b));
        let seams = (0..count).map(|particle| root(&mut parents, particle)).collect();
        std::mem::replace(&mut self.seams, seams) != self.seams
    }

    /// Prepares for the first seam, if parameters of constraints close it; returns true then.
    pub fn begin_seams(&mut self, kind: usize, parameters: &[Vec<u32>]) -> bool {
        let begins = self.seams.is_empty()
            && kind == kind_index(Distance::INFO)
            && parameters.iter().any(|parameters| is_weld(parameters));
        if begins {
            self.seams = (0..self.scene.particle_count() as u32).collect();
        }
        begins
    }

    /// True if particles of both lists are at one seam.
    pub fn are_sewn(&self, first: &[u32], second: &[u32]) -> bool {
        let seam = |particle: &u32| self.seams[*particle as usize];
        !self.seams.is_empty() && first.iter().any(|own| second.iter().any(|other| seam(own) == seam(other)))
    }
}

#[cfg(test)]
mod tests {
    use crate::scene::{Bending, ClothGrid, Fabric, Scene, Tearing};
    use crate::settings::Settings;
    use crate::sim::controls::Controls;
    use crate::{Distance, Material};

    const COLUMNS: u32 = 7;

    /// A sheet of 9 rows that tears along its fifth one, with two stitches: over that row, and from it to the seventh one.
    fn sheet(stitches: [[u32; 2]; 2]) -> Scene {
        let mut scene = Scene::new();
        let fabric = Fabric { bending: Bending::None, tearing: Some(Tearing::at(f32::INFINITY)), ..Fabric::COTTON };
        let grid = ClothGrid { columns: COLUMNS, rows: 9, fabric, tethers: None, ..ClothGrid::default() };
        scene.add_cloth_grid(&grid).unwrap();
        let row = 4 * COLUMNS..5 * COLUMNS - 1;
        let line: Vec<[u32; 2]> = row.map(|particle| [particle, particle + 1]).collect();
        scene.set_tear_strain(&line, 1e-3).unwrap();
        for particles in stitches {
            scene.add(Distance { particles, rest_length: 0.0 }, Material::RIGID).unwrap();
        }
        scene
    }

    #[test]
    fn tears_open_the_seams_across_them_and_keep_the_others() {
        let [above, torn, below, lowest] = [3, 4, 5, 6].map(|row| row * COLUMNS + 3);
        let mut controls = Controls::new(&sheet([[above, below], [torn, lowest]]), Settings::default()).unwrap();
        let sewn = |controls: &Controls, a: u32, b: u32| controls.are_sewn(&[a], &[b]);
        assert!(sewn(&controls, above, below) && sewn(&controls, torn, lowest) && !sewn(&controls, above, lowest));
        let mut copy = None;
        for _ in 0..40 {
            let stretched: Vec<[f32; 3]> = controls.scene.rest_positions.iter().map(|x| x.map(|x| 1.5 * x)).collect();
            let tears = controls.tear(&stretched);
            copy = copy.or(tears.copies.into_iter().find(|[vertex, _]| *vertex == torn).map(|[_, copy]| copy));
        }
        let copy = copy.unwrap();
        let is_below =
            |particle: u32| controls.scene.triangles.iter().any(|own| own.contains(&particle) && own.contains(&below));
        let [lower, upper] = if is_below(copy) { [copy, torn] } else { [torn, copy] };
        assert!(is_below(lower) && !is_below(upper));
        assert!(sewn(&controls, lower, lowest) && !sewn(&controls, upper, lowest));
        assert!(!sewn(&controls, above, below));
        controls.mend();
        assert!(sewn(&controls, above, below) && sewn(&controls, torn, lowest) && !sewn(&controls, copy, lowest));
    }
}
