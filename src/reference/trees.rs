//! Solves trees of links; equations in `src/schedule/trees.rs`. Counterpart: `shaders/schedule/solve_trees.wgsl`.

use super::Reference;
use crate::constraints::xpbd::ScaledMaterial;
use crate::constraints::{Distance, Kind, is_weld};
use crate::geometry::vector::{Symmetric, add_outer, dot, inverse_symmetric, length, times_symmetric};
use crate::schedule::compiled_kind::CompiledKind;
use crate::schedule::trees::{LEAST_LEAF, MOST_TURN, ROOT, ROUNDS};
use glam::Vec3;

/// A link of a tree and the particle below it, the child.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Node {
    child: usize,
    /// The number of the link above, or [`ROOT`].
    parent: u32,
    /// Factor on the inverse mass of the child.
    factor: f32,
    /// The inverse masses of the child, with its factor, and of the parent.
    w: f32,
    parent_w: f32,
    /// The unit gradient at the parent; 0 where both particles coincide.
    n: Vec3,
    length: f32,
    b: f32,
    /// α̃/(1 + γ).
    alpha: f32,
    /// λ before this solve, and Δλ.
    lambda: f32,
    delta: f32,
    /// k of the geometric stiffness.
    stiffness: f32,
    /// 1/s; 0 for a link that moves nothing.
    inverse_s: f32,
    /// Of a weld: the diagonal of S⁻¹, and the elements beside it.
    q: Vec3,
    r: Vec3,
    is_weld: bool,
    /// A of the child, then V.
    matrix: Symmetric,
    g: Vec3,
    /// Δx of the child.
    shift: Vec3,
}

/// P v, n being a unit vector.
fn across(n: Vec3, v: Vec3) -> Vec3 {
    v - n * dot(n, v)
}

/// The mass matrix m I; 0 for a pinned particle.
fn mass_of(w: f32) -> Symmetric {
    (Vec3::splat(if w > 0.0 { 1.0 / w } else { 0.0 }), Vec3::ZERO)
}

impl Reference {
    pub(super) fn solve_tree(&mut self, kind: usize, row: usize, first_iteration: bool) {
        let [root, first, count, first_node] = self.controls.compiled.kinds[kind].trees.rows[row];
        let mut nodes = std::mem::take(&mut self.tree_nodes);
        nodes.clear();
        nodes.extend((0..count).map(|k| self.node(kind, (first + k) as usize, first_node + k, first_iteration)));
        let w = self.controls.inverse_masses[root as usize];
        let mut top = Vec3::ZERO;
        for round in 0..ROUNDS {
            if round > 0 {
                nodes.iter_mut().for_each(Node::stiffen);
            }
            top = eliminate(&mut nodes, w);
            if !substitute(&mut nodes, top) {
                break;
            }
        }
        self.displacements[root as usize] += top;
        for (node, lambda) in nodes.iter().zip(&mut self.lambdas[kind][first as usize..]) {
            *lambda = node.lambda + node.delta;
            self.displacements[node.child] += node.shift / node.factor;
        }
        self.tree_nodes = nodes;
    }

    /// Evaluates a link at the current positions.
    fn node(&self, kind: usize, place: usize, node: u32, first_iteration: bool) -> Node {
        let compiled: &CompiledKind = &self.controls.compiled.kinds[kind];
        let (info, record) = (compiled.info, compiled.record(place));
        let [child, parent, factor, _] = compiled.trees.nodes[node as usize];
        let (child, factor) = (child as usize, factor as f32);
        let parent_is_first = record[1] as usize == child;
        let above = if parent_is_first { record[0] } else { record[1] } as usize;
        let [displacement, above_displacement] = [child, above].map(|particle| self.displacements[particle]);
        let relative = (self.positions[child] - self.positions[above]) + displacement;
        let p = if parent_is_first { [above_displacement, relative] } else { [relative, above_displacement] };
        let mut grad = [Vec3::ZERO; 2];
        let c = info.evaluate(&record[info.arity + 1..], &[], &p, &mut grad);
        let n = if parent_is_first { grad[0] } else { grad[1] };
        let ScaledMaterial { alpha_tilde, gamma, factor: relaxation, .. } =
            self.materials[record[info.material_word()] as usize];
        let last = self.lambdas[kind][place];
        let lambda = if first_iteration { 0.0 } else { last };
        let travel = dot(n, above_displacement - displacement);
        let b = relaxation * ((-c - alpha_tilde * lambda - gamma * travel) / (1.0 + gamma));
        let length = length(relative - above_displacement);
        let is_weld = std::ptr::eq(info, Distance::INFO) && is_weld(&record[info.arity + 1..]);
        let stiffness = if n == Vec3::ZERO || is_weld { 0.0 } else { last.abs() / length };
        let [w, parent_w] = [child, above].map(|particle| self.controls.inverse_masses[particle]);
        let alpha = alpha_tilde / (1.0 + gamma);
        let w = w * factor;
        Node { child, parent, factor, w, parent_w, n, length, b, alpha, lambda, stiffness, is_weld, ..Node::default() }
    }
}

/// Eliminates the links from the leaves to the root; returns Δx of the root.
fn eliminate(nodes: &mut [Node], w: f32) -> Vec3 {
    nodes.iter_mut().for_each(|node| (node.matrix, node.g) = (mass_of(node.w), Vec3::ZERO));
    let (mut matrix, mut g) = (mass_of(w), Vec3::ZERO);
    for k in (0..nodes.len()).rev() {
        let along = nodes[k].eliminate();
        let node = nodes[k];
        if node.parent == ROOT {
            node.add_to(along, &mut matrix, &mut g);
        } else {
            let above = &mut nodes[node.parent as usize];
            node.add_to(along, &mut above.matrix, &mut above.g);
        }
    }
    if w > 0.0 { times_symmetric(inverse_symmetric(matrix, Vec3::ZERO), g) } else { Vec3::ZERO }
}

/// Computes Δλ and Δx from the root to the leaves; returns true if a link turns too far.
fn substitute(nodes: &mut [Node], top: Vec3) -> bool {
    let (mut turned, mut reach) = (0f32, 0f32);
    for k in 0..nodes.len() {
        let mut node = nodes[k];
        let above = if node.parent == ROOT { top } else { nodes[node.parent as usize].shift };
        if node.is_weld {
            let impulse = times_symmetric((node.q, node.r), node.weld_gap() - above);
            // The change to its magnitude; a weld pulls.
            node.delta = -length(node.n * node.lambda + impulse) - node.lambda;
            node.shift = times_symmetric(node.matrix, node.g - impulse);
            nodes[k] = node;
            continue;
        }
        node.delta = ((node.b + dot(node.q, node.g)) - dot(node.r, above)) * node.inverse_s;
        let carried = across(node.n, above) * node.stiffness;
        node.shift = times_symmetric(node.matrix, (node.g + carried) - node.n * node.delta);
        let turn = across(node.n, node.shift - above);
        turned = turned.max(dot(turn, turn));
        reach = reach.max(node.length * node.b.abs());
        nodes[k] = node;
    }
    turned > MOST_TURN * reach
}

impl Node {
    /// Raises the geometric stiffness to that of the multiplier just found.
    fn stiffen(&mut self) {
        if self.n != Vec3::ZERO && !self.is_weld {
            self.stiffness = self.stiffness.max((self.lambda + self.delta).abs() / self.length);
        }
    }

    /// The vector b n + V g of a weld.
    fn weld_gap(&self) -> Vec3 {
        self.n * self.b + times_symmetric(self.matrix, self.g)
    }

    /// Computes V, q, r and 1/s, of a weld V and S⁻¹; returns n·q.
    fn eliminate(&mut self) -> f32 {
        let (n, k) = (self.n, self.stiffness);
        let mut matrix = self.matrix;
        matrix.0 += Vec3::splat(k);
        add_outer(&mut matrix, n, n, -k);
        self.matrix = if self.w > 0.0 { inverse_symmetric(matrix, Vec3::ZERO) } else { (Vec3::ZERO, Vec3::ZERO) };
        if self.is_weld {
            let (diagonal, beside) = self.matrix;
            let least = Vec3::splat(LEAST_LEAF * self.parent_w);
            (self.q, self.r) = inverse_symmetric(((diagonal + self.alpha).max(least), beside), Vec3::ZERO);
            return 0.0;
        }
        self.q = times_symmetric(self.matrix, n);
        self.r = n - across(n, self.q) * k;
        let along = dot(n, self.q);
        let s = (self.alpha + along).max(LEAST_LEAF * self.parent_w);
        self.inverse_s = if s > 0.0 && n != Vec3::ZERO { 1.0 / s } else { 0.0 };
        along
    }

    /// Adds the contributions of the link to A and g of its parent.
    fn add_to(&self, along: f32, matrix: &mut Symmetric, g: &mut Vec3) {
        if self.is_weld {
            matrix.0 += self.q;
            matrix.1 += self.r;
            *g += times_symmetric((self.q, self.r), self.weld_gap());
            return;
        }
        let (n, k, square) = (self.n, self.stiffness, self.stiffness * self.stiffness);
        // k P − k² P V P, with P V P = V − n qᵀ − q nᵀ + (n·q) n nᵀ.
        matrix.0 += Vec3::splat(k) - self.matrix.0 * square;
        matrix.1 -= self.matrix.1 * square;
        add_outer(matrix, n, self.q, 2.0 * square);
        add_outer(matrix, n, n, -k - square * along);
        add_outer(matrix, self.r, self.r, self.inverse_s);
        *g += across(n, times_symmetric(self.matrix, self.g)) * k;
        *g += self.r * ((self.b + dot(self.q, self.g)) * self.inverse_s);
    }
}
