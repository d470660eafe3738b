// For passes that scale nothing, and have multipliers of a scene: what shaders/instancing/instances.wgsl has for an instance.

fn shrunk(v: vec3f) -> vec3f {
    return v;
}

fn grown(w: f32) -> f32 {
    return w;
}

fn place_of_lambda(place: u32, count: u32) -> u32 {
    return place;
}
