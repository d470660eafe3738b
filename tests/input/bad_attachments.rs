//! Invalid attachments: each error names the attachment and the numbers, and nothing changes.

use crate::common::{gpu, solver};
use supple::{
    Attachment, AttachmentTarget, Collider, Error, Instances, Material, Particle, ParticlePoint, Reference, Scene,
    Settings,
};

/// Six particles, of which the last follows the first four.
fn scene() -> Scene {
    let mut scene = Scene::new();
    for k in 0..5 {
        scene.add_particle(Particle { position: [k as f32, 0.0, 0.0], ..Particle::default() }).unwrap();
    }
    scene.add_follower([0, 1, 2, 3], [0.25; 4]).unwrap();
    scene
}

/// Attachments and words of their errors.
fn cases() -> Vec<(Attachment, &'static [&'static str])> {
    let (p, space) = (ParticlePoint::Particle, AttachmentTarget::Space([0.0; 3]));
    let tied = |point, target| Attachment::new(point, AttachmentTarget::Particles(target));
    let hook = Attachment::new(p(0), space);
    let material = |material| Attachment { material, ..hook };
    vec![
        (Attachment::new(p(9), space), &["the point of attachment 0", "particle 9", "6"]),
        (tied(p(0), p(6)), &["the target of attachment 0", "particle 6", "6"]),
        (
            tied(p(0), ParticlePoint::Edge([2, 2], [0.5, 0.5])),
            &["the target of attachment 0", "particle 2", "more than once"],
        ),
        (Attachment::new(p(5), space), &["the point of attachment 0", "particle 5", "follower"]),
        (
            Attachment::new(ParticlePoint::Edge([0, 1], [0.5, 0.4]), space),
            &["sum of the weights", "attachment 0", "0.9", "1"],
        ),
        (Attachment::new(ParticlePoint::Edge([0, 1], [f32::NAN, 0.4]), space), &["weight of the point", "NaN"]),
        (Attachment::new(ParticlePoint::Edge([0, 1], [2e3, -1999.0]), space), &["weight of the point", "2000"]),
        (tied(p(3), p(3)), &["attachment 0", "same point", "particle 3"]),
        (
            tied(ParticlePoint::Edge([0, 1], [0.25, 0.75]), ParticlePoint::Triangle([1, 2, 0], [0.75, 0.0, 0.25])),
            &["attachment 0", "same point"],
        ),
        (
            Attachment::new(p(0), AttachmentTarget::Space([0.0, f32::INFINITY, 0.0])),
            &["point in space of attachment 0", "inf"],
        ),
        (Attachment { rest_length: -0.5, ..hook }, &["rest length of attachment 0", "-0.5"]),
        (
            Attachment::new(p(0), AttachmentTarget::Space([2e6, 0.0, 0.0])),
            &["point in space of attachment 0", "2000000"],
        ),
        (Attachment { rest_length: 1e30, ..hook }, &["rest length of attachment 0", "1e6 m"]),
        (Attachment { rest_length: f32::NAN, ..hook }, &["rest length of attachment 0", "NaN"]),
        (Attachment { only_pull: true, ..hook }, &["rest length of attachment 0", "only pulls", "0"]),
        (Attachment { break_force: Some(-2.0), ..hook }, &["break force of attachment 0", "-2"]),
        (Attachment { break_force: Some(f32::NAN), ..hook }, &["break force of attachment 0", "NaN"]),
        (material(Material::compliant(-1.0)), &["compliance of the material of attachment 0", "-1"]),
        (
            material(Material { damping: f32::NAN, ..Material::RIGID }),
            &["damping of the material of attachment 0", "NaN"],
        ),
    ]
}

fn assert_words(error: &Error, words: &[&str]) {
    let text = error.to_string();
    assert!(words.iter().all(|word| text.contains(word)), "{text} lacks one of {words:?}");
}

#[test]
fn invalid_attachments_are_rejected_before_and_while_running() {
    let gpu = gpu();
    let mut own = scene();
    own.reserve_attachments(1).unwrap();
    let mut reference = Reference::new(&own, Settings::default()).unwrap();
    let mut solver = solver(&gpu, &own, Settings::default());
    for (attachment, words) in cases() {
        let errors = [
            scene().add_attachment(attachment).unwrap_err(),
            reference.attach(attachment).unwrap_err(),
            solver.attach(attachment).unwrap_err(),
        ];
        errors.iter().for_each(|error| assert_words(error, words));
    }
    assert!(reference.read_attachments().unwrap().is_empty() && solver.read_attachments().unwrap().is_empty());
    // There is room for one.
    let hook = Attachment::new(ParticlePoint::Particle(0), AttachmentTarget::Space([0.0; 3]));
    let ids = [reference.attach(hook).unwrap(), solver.attach(hook).unwrap()];
    for error in [reference.attach(hook).unwrap_err(), solver.attach(hook).unwrap_err()] {
        assert_words(&error, &["attachments", "reserve_attachments", "2", "1"]);
    }
    let nan = [f32::NAN; 3];
    for error in [reference.move_attachment(ids[0], nan).unwrap_err(), solver.move_attachment(ids[1], nan).unwrap_err()]
    {
        assert_words(&error, &["point in space of attachment 0", "NaN"]);
    }
    // A released id stays invalid, also after its place is used again.
    reference.release_attachment(ids[0]).unwrap();
    reference
        .attach(Attachment::new(ParticlePoint::Particle(0), AttachmentTarget::Particles(ParticlePoint::Particle(1))))
        .unwrap();
    assert_eq!(reference.move_attachment(ids[0], [0.0; 3]), Err(Error::NoAttachment { index: 0 }));
    let other = reference.read_attachments().unwrap()[0].id;
    assert_words(
        &reference.move_attachment(other, [0.0; 3]).unwrap_err(),
        &["move_attachment", "AttachmentTarget::Space"],
    );
}

#[test]
fn attachments_to_a_missing_collider_are_rejected() {
    let mut own = scene();
    let mut other = scene();
    let id = other.add_collider(Collider::default()).unwrap();
    let hook = Attachment::new(ParticlePoint::Particle(0), AttachmentTarget::Collider { id, point: [0.0; 3] });
    assert_words(&own.add_attachment(hook).unwrap_err(), &["attachment 0", "collider 0", "none"]);
    own.add_collider(Collider::default()).unwrap();
    own.reserve_attachments(4).unwrap();
    own.add_attachment(hook).unwrap();
    let mut reference = Reference::new(&own, Settings::default()).unwrap();
    reference.remove_collider(id).unwrap();
    assert_eq!(reference.read_attachments().unwrap(), []);
    assert_eq!(reference.attach(hook), Err(Error::NoCollider { index: 0 }));
    reference.reset();
    assert_eq!(reference.read_attachments().unwrap().len(), 1);
}

#[test]
fn there_are_at_most_4096_attachments_and_none_in_instances() {
    let mut own = scene();
    assert_words(&own.reserve_attachments(5000).unwrap_err(), &["attachments", "5000", "4096"]);
    let hook = Attachment::new(ParticlePoint::Particle(0), AttachmentTarget::Space([0.0; 3]));
    for _ in 0..Scene::MOST_ATTACHMENTS {
        own.add_attachment(hook).unwrap();
    }
    assert_words(&own.add_attachment(hook).unwrap_err(), &["attachments", "4097", "4096"]);
    let mut asset = Scene::new();
    asset.add_particle(Particle::default()).unwrap();
    asset.add_attachment(hook).unwrap();
    let gpu = gpu();
    let error = Instances::new(&gpu.device, &gpu.queue, &asset, 2, Settings::default()).unwrap_err();
    assert_words(&error, &["1 attachment", "instances", "Solver"]);
}
