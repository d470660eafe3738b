//! Random nets of rigid distance constraints, satisfied at the start: stars, trees, cones and spheres, with mass ratios
//! up to 1000.

use supple::{Distance, Material, Particle, Scene};

/// Repeatable random numbers in 0 to 1 (xorshift).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        for _ in 0..5 {
            random.next();
        }
        random
    }

    pub fn next(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 40) as f32 / (1u64 << 24) as f32
    }

    pub fn below(&mut self, count: usize) -> usize {
        ((self.next() * count as f32) as usize).min(count - 1)
    }

    pub fn direction(&mut self) -> [f32; 3] {
        let (around, up) = (std::f32::consts::TAU * self.next(), 3.0 * (self.next() - 0.5));
        [around.cos() * up.cos(), up.sin(), around.sin() * up.cos()]
    }
}

/// Particles and the rigid distance constraints between them, satisfied at the start.
#[derive(Default)]
pub struct Net {
    pub positions: Vec<[f32; 3]>,
    pub masses: Vec<f32>,
    pub links: Vec<[u32; 2]>,
    pub pins: Vec<u32>,
}

impl Net {
    pub fn particle(&mut self, position: [f32; 3], mass: f32) -> u32 {
        self.positions.push(position);
        self.masses.push(mass);
        self.positions.len() as u32 - 1
    }

    fn triangle(&mut self, corners: [u32; 3]) {
        for k in 0..3 {
            let (a, b) = (corners[k], corners[(k + 1) % 3]);
            let link = [a.min(b), a.max(b)];
            if !self.links.contains(&link) {
                self.links.push(link);
            }
        }
    }

    fn length(&self, [a, b]: [u32; 2], positions: &[[f32; 3]]) -> f32 {
        let [a, b] = [a, b].map(|particle| positions[particle as usize]);
        (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f32>().sqrt()
    }

    pub fn scene(&self) -> Scene {
        let mut scene = Scene::new();
        self.add_to(&mut scene, [0.0; 3], Material::RIGID);
        self.pins.iter().for_each(|&pin| scene.pin(pin).unwrap());
        scene
    }

    /// Adds the particles and constraints around `at`, without pinning.
    pub fn add_to(&self, scene: &mut Scene, at: [f32; 3], material: Material) {
        let first = scene.particle_count() as u32;
        for (place, &mass) in self.positions.iter().zip(&self.masses) {
            let position = std::array::from_fn(|axis| place[axis] + at[axis]);
            scene.add_particle(Particle { position, inverse_mass: 1.0 / mass, ..Particle::default() }).unwrap();
        }
        for &link in &self.links {
            let rest_length = self.length(link, &self.positions);
            scene.add(Distance { particles: link.map(|end| first + end), rest_length }, material).unwrap();
        }
    }

    /// Kinetic plus potential energy over m g L, where m is the free mass and L the size.
    pub fn energy(&self, positions: &[[f32; 3]], velocities: &[[f32; 3]]) -> f64 {
        let free = (0..self.positions.len()).filter(|&particle| !self.pins.contains(&(particle as u32)));
        let (mut energy, mut mass) = (0.0, 0.0);
        for particle in free {
            let m = f64::from(self.masses[particle]);
            let square: f64 = velocities[particle].iter().map(|&v| f64::from(v).powi(2)).sum();
            energy += m * (0.5 * square + 9.81 * f64::from(positions[particle][1]));
            mass += m;
        }
        let size = (0..self.positions.len() as u32).map(|particle| self.length([0, particle], &self.positions));
        energy / (mass * 9.81 * f64::from(size.fold(0.0, f32::max)))
    }

    /// The mean and the largest strain of the constraints.
    pub fn strain(&self, positions: &[[f32; 3]]) -> (f32, f32) {
        let strains: Vec<f32> = self
            .links
            .iter()
            .map(|&link| (self.length(link, positions) / self.length(link, &self.positions) - 1.0).abs())
            .collect();
        (strains.iter().sum::<f32>() / strains.len() as f32, strains.iter().copied().fold(0.0, f32::max))
    }
}

fn star(random: &mut Random) -> Net {
    let (arms, beads) = (3 + random.below(30), 1 + random.below(3));
    let ratio = 1000f32.powf(random.next());
    let mut net = Net::default();
    let top = net.particle([0.0, 0.3, 0.0], 1.0);
    let hub = net.particle([0.0; 3], if random.next() < 0.7 { 1.0 / ratio } else { ratio });
    net.links.push([top, hub]);
    for _ in 0..arms {
        let direction = random.direction();
        let mut last = hub;
        for bead in 1..=beads {
            let next = net.particle(direction.map(|x| 0.1 * bead as f32 * x), 1.0);
            net.links.push([last, next]);
            last = next;
        }
    }
    if random.next() < 0.8 {
        net.pins.push(top);
    }
    net
}

fn tree(random: &mut Random) -> Net {
    let (count, ratio, crowded) = (10 + random.below(60), 1000f32.powf(random.next()), random.next());
    let mut net = Net::default();
    net.particle([0.0; 3], 1.0);
    for particle in 1..count {
        let parent = if random.next() < crowded {
            (random.next() * random.next() * random.next() * particle as f32) as usize
        } else {
            random.below(particle)
        };
        let (direction, length) = (random.direction(), 0.05 + 0.1 * random.next());
        let base = net.positions[parent];
        let position = std::array::from_fn(|axis| base[axis] + length * direction[axis]);
        let next = net.particle(position, ratio.powf(-random.next()));
        net.links.push([parent as u32, next]);
    }
    if random.next() < 0.8 {
        net.pins.push(0);
    }
    net
}

/// Rings of `around` particles between two poles, or below the single pole of a cone.
fn rings(net: &mut Net, around: usize, rows: usize, first: u32, place: impl Fn(usize) -> [f32; 2]) {
    let id = |row: usize, k: usize| first + (row * around + k % around) as u32;
    for row in 0..rows {
        let [radius, height] = place(row);
        for k in 0..around {
            let (sin, cos) = (std::f32::consts::TAU * k as f32 / around as f32).sin_cos();
            net.particle([radius * cos, height, radius * sin], 0.01);
        }
    }
    for k in 0..around {
        net.triangle([0, id(0, k), id(0, k + 1)]);
        for row in 1..rows {
            net.triangle([id(row - 1, k), id(row, k), id(row, k + 1)]);
            net.triangle([id(row - 1, k), id(row, k + 1), id(row - 1, k + 1)]);
        }
    }
}

fn cone(random: &mut Random) -> Net {
    let (around, rows, height) = (5 + random.below(28), 1 + random.below(4), 0.05 + 0.5 * random.next());
    let mut net = Net::default();
    let light = if random.next() < 0.5 { 1000f32.powf(random.next()) } else { 1.0 };
    net.particle([0.0; 3], 0.01 / light);
    rings(&mut net, around, rows, 1, |row| {
        let share = (row + 1) as f32 / rows as f32;
        [0.2 * share, -height * share]
    });
    match random.below(4) {
        0 => net.pins.push(0),
        1 => {
            let hook = net.particle([0.0, 0.1, 0.0], 1.0);
            net.links.push([0, hook]);
            net.pins.push(hook);
        }
        2 => net.pins.push(1 + ((rows - 1) * around) as u32),
        _ => {}
    }
    net
}

fn sphere(random: &mut Random) -> Net {
    let (around, rows) = (6 + random.below(26), 3 + random.below(8));
    let mut net = Net::default();
    net.particle([0.0, 0.2, 0.0], 0.01);
    let bottom = net.particle([0.0, -0.2, 0.0], 0.01);
    rings(&mut net, around, rows, 2, |row| {
        let angle = std::f32::consts::PI * (row + 1) as f32 / (rows + 1) as f32;
        [0.2 * angle.sin(), 0.2 * angle.cos()]
    });
    let last = |k: usize| 2 + ((rows - 1) * around + k % around) as u32;
    (0..around).for_each(|k| net.triangle([bottom, last(k), last(k + 1)]));
    match random.below(4) {
        0 => net.pins.push(0),
        1 => net.pins.push(bottom),
        2 => net.pins.push(2 + (rows / 2 * around) as u32),
        _ => {}
    }
    net
}

/// A tree of several levels whose inner joints are 30 to 1000 times lighter than its leaves.
fn deep_tree(random: &mut Random) -> Net {
    let (depth, branches, ratio) = (2 + random.below(4), 2 + random.below(3), 30.0 * 33f32.powf(random.next()));
    let mut net = Net::default();
    let mut level = vec![net.particle([0.0; 3], 1.0)];
    for _ in 0..depth {
        let mut next = Vec::new();
        for &parent in &level {
            for _ in 0..1 + random.below(branches) {
                if net.positions.len() > 70 {
                    break;
                }
                let (direction, length) = (random.direction(), 0.05 + 0.1 * random.next());
                let base = net.positions[parent as usize];
                let position = std::array::from_fn(|axis| base[axis] + length * direction[axis]);
                let child = net.particle(position, 1.0);
                net.links.push([parent, child]);
                net.masses[parent as usize] = 1.0 / ratio;
                next.push(child);
            }
        }
        level = next;
    }
    if random.next() < 0.8 {
        net.pins.push(0);
    }
    net
}

pub type Family = (&'static str, fn(&mut Random) -> Net);

pub const FAMILIES: [Family; 5] =
    [("star", star), ("tree", tree), ("deep tree", deep_tree), ("cone", cone), ("sphere", sphere)];
