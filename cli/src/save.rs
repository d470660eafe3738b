//! Saves the settings of the panel of `supple view` to the scene file. Only the members that changed are replaced, so all
//! other text of the file stays as it is.

use crate::export::partial::Partial;
use anyhow::{Context as _, ensure};
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use supple::scene_file::SceneFile;
use supple::{Settings, Wind};

/// Saves those settings of the panel that differ from `loaded`, the settings at the last load or save. Returns the names of the
/// members that changed; without a change nothing is written.
///
/// The file is read again, so that changes by an editor are kept. It is replaced as a whole or not at all.
pub fn save(path: &Path, loaded: &Settings, settings: &Settings) -> anyhow::Result<Vec<&'static str>> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let text = String::from_utf8(bytes);
    let text = text.with_context(|| format!("cannot save {}: only UTF-8 scenes can be saved", path.display()))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let (text, names) =
        edited(&text, folder, loaded, settings).with_context(|| format!("cannot save {}", path.display()))?;
    if !names.is_empty() {
        replace(path, &text)?;
    }
    Ok(names)
}

fn replace(path: &Path, text: &str) -> anyhow::Result<()> {
    let permissions = std::fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?.permissions();
    ensure!(!permissions.readonly(), "cannot write {}: it is read-only", path.display());
    let (partial, mut file) = Partial::create(path)?;
    file.write_all(text.as_bytes()).with_context(|| partial.failure())?;
    let file = file.into_inner().map_err(|error| error.into_error()).with_context(|| partial.failure())?;
    file.set_permissions(permissions).and_then(|()| file.sync_all()).with_context(|| partial.failure())?;
    partial.finish()
}

/// The text with the settings of the panel, and the names of the members that changed. The new text is read again and
/// must have these settings.
fn edited(
    text: &str,
    folder: &Path,
    loaded: &Settings,
    settings: &Settings,
) -> anyhow::Result<(String, Vec<&'static str>)> {
    let now = SceneFile::parse(text, Some(folder))?.settings;
    let wanted = Settings {
        substeps: turned(loaded.substeps, settings.substeps, now.substeps),
        iterations: turned(loaded.iterations, settings.iterations, now.iterations),
        damping: turned(loaded.damping, settings.damping, now.damping),
        tethers: turned(loaded.tethers, settings.tethers, now.tethers),
        wind: turned(loaded.wind, settings.wind, now.wind),
        ..now
    };
    let changes = changes(&now, &wanted)?;
    let (mark, mut text) = match text.strip_prefix('\u{feff}') {
        Some(rest) => ("\u{feff}", rest.to_owned()),
        None => ("", text.to_owned()),
    };
    for (member, value) in &changes {
        text = with_member(&text, &[&["settings"], member.as_slice()].concat(), value)?;
    }
    let text = format!("{mark}{text}");
    let saved = SceneFile::parse(&text, Some(folder))?.settings;
    ensure!(saved == wanted, "the settings would be read as {saved:?} instead of {wanted:?}");
    Ok((text, changes.iter().map(|(member, _)| member[0]).collect()))
}

/// The value of the panel if it differs from the loaded one, else that of the file now.
fn turned<Value: PartialEq>(loaded: Value, panel: Value, now: Value) -> Value {
    if panel == loaded { now } else { panel }
}

/// The members of `settings` that differ, by their path, and their values.
fn changes(now: &Settings, wanted: &Settings) -> serde_json::Result<Vec<(Vec<&'static str>, String)>> {
    let mut changes = Vec::new();
    if now.substeps != wanted.substeps {
        changes.push((vec!["substeps"], wanted.substeps.to_string()));
    }
    if now.iterations != wanted.iterations {
        changes.push((vec!["iterations"], wanted.iterations.to_string()));
    }
    if now.damping != wanted.damping {
        changes.push((vec!["damping"], serde_json::to_string(&wanted.damping)?));
    }
    if now.tethers != wanted.tethers {
        changes.push((vec!["tethers"], wanted.tethers.to_string()));
    }
    if now.wind != wanted.wind {
        changes.push(match (now.wind, wanted.wind) {
            (_, None) => (vec!["wind"], "null".into()),
            (Some(now), Some(wind)) if now == (Wind { velocity: now.velocity, ..wind }) => {
                (vec!["wind", "velocity"], serde_json::to_string(&wind.velocity)?)
            }
            (_, Some(wind)) => (vec!["wind"], serde_json::to_string(&WindMember::from(wind))?),
        });
    }
    Ok(changes)
}

/// The member `wind` of the settings.
#[derive(Serialize)]
struct WindMember {
    velocity: [f32; 3],
    gust: f32,
    gust_frequency: f32,
    gust_length: f32,
    density: f32,
    drag: f32,
    lift: f32,
    turbulence: f32,
    turbulence_length: f32,
}

impl From<Wind> for WindMember {
    fn from(wind: Wind) -> Self {
        Self {
            velocity: wind.velocity,
            gust: wind.gust,
            gust_frequency: wind.gust_frequency,
            gust_length: wind.gust_length,
            density: wind.density,
            drag: wind.drag,
            lift: wind.lift,
            turbulence: wind.turbulence,
            turbulence_length: wind.turbulence_length,
        }
    }
}

/// The text of a JSON object with a value at a path of members. A missing member is added at the end of its object.
fn with_member(object: &str, path: &[&str], value: &str) -> serde_json::Result<String> {
    let [name, rest @ ..] = path else { return Ok(value.to_owned()) };
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(object)?;
    if let Some(member) = members.get(*name) {
        let old = member.get();
        // The text of the member is a part of the text of the object.
        let start = old.as_ptr().addr() - object.as_ptr().addr();
        return Ok([&object[..start], &with_member(old, rest, value)?, &object[start + old.len()..]].concat());
    }
    let value = rest.iter().rev().fold(value.to_owned(), |value, name| format!("{{\"{name}\": {value}}}"));
    Ok(with_new_member(object, name, &value))
}

/// The text of a JSON object with one more member, on a line of its own if the first one is.
fn with_new_member(object: &str, name: &str, value: &str) -> String {
    let (Some(open), Some(close)) = (object.find('{'), object.rfind('}')) else { return object.to_owned() };
    let body = &object[open + 1..close];
    let end = open + 1 + body.trim_end().len();
    let gap = &body[..body.len() - body.trim_start().len()];
    let before = match (body.trim().is_empty(), gap.contains('\n')) {
        (true, _) => "",
        (false, true) => &format!(",{gap}"),
        (false, false) => ", ",
    };
    format!("{}{before}\"{name}\": {value}{}", &object[..end], &object[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARTS: &str = r#""parts": [{"cloth_grid": {"columns": 3, "rows": 3}}]"#;

    fn wind() -> Wind {
        Wind { velocity: [0.1, 2.0, -3.7], gust: 0.6, lift: 0.3, turbulence: 1.1, ..Wind::default() }
    }

    /// All settings that the panel turns, away from their defaults.
    fn all_turned() -> Settings {
        Settings { substeps: 7, iterations: 3, damping: 0.1, tethers: false, wind: Some(wind()), ..Settings::default() }
    }

    fn edit(text: &str, settings: &Settings) -> String {
        edited(text, Path::new(""), &settings_of(text), settings).unwrap().0
    }

    fn settings_of(text: &str) -> Settings {
        SceneFile::parse(text, None).unwrap().settings
    }

    #[test]
    fn every_setting_of_the_panel_reads_back_equal() {
        for text in [
            format!(r#"{{"version": 1, {PARTS}}}"#),
            format!("{{\n  \"version\": 1,\n  \"settings\": {{}},\n  {PARTS}\n}}\n"),
            format!(r#"{{"settings": {{ "wind": null, "substeps" : 20 }}, "version": 1, {PARTS}}}"#),
            format!(r#"{{"settings": {{"wind": {{"velocity": [1, 2, 3]}}}}, "version": 1, {PARTS}}}"#),
            format!("\u{feff}{{\"sett\\u0069ngs\": {{\"substeps\": 20}}, \"version\": 1, {PARTS}}}"),
        ] {
            let saved = edit(&text, &all_turned());
            assert_eq!(settings_of(&saved), all_turned(), "{saved}");
            assert_eq!(saved.starts_with('\u{feff}'), text.starts_with('\u{feff}'));
            // A second time nothing changes, and the defaults can be restored.
            let (again, names) = edited(&saved, Path::new(""), &Settings::default(), &all_turned()).unwrap();
            assert!(again == saved && names.is_empty());
            assert_eq!(settings_of(&edit(&saved, &Settings::default())), Settings::default());
        }
    }

    #[test]
    fn all_other_text_stays_as_it_is() {
        let text = format!(
            "{{\r\n\t\"title\": \"a \\\"settings\\\": {{}} flag\",\r\n\t\"version\": 1,\r\n\t\"settings\": {{\r\n\t\t\"gravity\": [0, -9.810, 0e0],\r\n\t\t\"substeps\":  20,\r\n\t\t\"self_collision\": {{\"level\": \"particles\", \"iterations\": 5}},\r\n\t\t\"wind\": {{\"lift\": 0.30, \"velocity\": [0.0, 1, 0]}}\r\n\t}},\r\n\t\"materials\": {{\"settings\": {{\"compliance\": 1e-4}}}},\r\n\t{PARTS}\r\n}}"
        );
        let now = settings_of(&text);
        let wind = Wind { velocity: [0.0, 2.5, 0.0], ..now.wind.unwrap() };
        let saved = edit(&text, &Settings { substeps: 12, damping: 0.25, wind: Some(wind), ..now });
        let expected = text
            .replace("\"substeps\":  20", "\"substeps\":  12")
            .replace("[0.0, 1, 0]", "[0.0,2.5,0.0]")
            .replace("]}\r\n\t}", "]},\r\n\t\t\"damping\": 0.25\r\n\t}");
        assert_eq!(saved, expected);
        assert_eq!(edit(&saved, &Settings { damping: 0.0, ..settings_of(&saved) }), saved.replace("0.25", "0.0"));
    }

    #[test]
    fn changes_by_an_editor_are_kept() {
        let text = format!(r#"{{"version": 1, "settings": {{"damping": 0.5, "substeps": 20}}, {PARTS}}}"#);
        let loaded = settings_of(&text);
        let edited_text = text.replace("0.5", "1.0");
        let panel = Settings { substeps: 12, ..loaded };
        let (saved, names) = edited(&edited_text, Path::new(""), &loaded, &panel).unwrap();
        assert_eq!(names, ["substeps"]);
        assert_eq!(saved, edited_text.replace("20", "12"));
    }

    #[test]
    fn every_example_scene_can_be_saved() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/scenes");
        let mut count = 0;
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let saved = edited(&text, &folder, &Settings::default(), &all_turned())
                .unwrap_or_else(|error| panic!("{}: {error:#}", path.display()))
                .0;
            let [before, after] = [&text, &saved].map(|text| serde_json::from_str::<serde_json::Value>(text).unwrap());
            let others = |value: &serde_json::Value| {
                let mut value = value.clone();
                value.as_object_mut().unwrap().remove("settings");
                value
            };
            assert_eq!(others(&before), others(&after), "{}", path.display());
            count += 1;
        }
        assert!(count > 20, "{count} scenes");
    }

    #[test]
    fn a_save_that_fails_leaves_the_file_and_says_why() {
        let folder = std::env::temp_dir().join(format!("supple-save-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("scene.json");
        let error = |path: &Path| format!("{:#}", save(path, &Settings::default(), &all_turned()).unwrap_err());
        assert!(error(&path).contains("cannot read") && error(&path).contains("scene.json"));
        assert!(error(&folder).contains("cannot read"));
        let good = format!(r#"{{"version": 1, {PARTS}}}"#);
        for (bytes, words) in [
            (b"\xff\xfe{\0}\0".to_vec(), "only UTF-8 scenes"),
            (good.replace("rows", "raws").into_bytes(), "raws"),
            (good.as_bytes()[..good.len() - 1].to_vec(), "EOF"),
        ] {
            std::fs::write(&path, &bytes).unwrap();
            assert!(error(&path).contains(words), "{}", error(&path));
            assert_eq!(std::fs::read(&path).unwrap(), bytes);
        }
        std::fs::write(&path, &good).unwrap();
        // A value that the format does not allow is not written.
        let invalid = save(&path, &Settings::default(), &Settings { damping: f32::NAN, ..Settings::default() });
        assert!(invalid.is_err() && std::fs::read_to_string(&path).unwrap() == good);
        let permissions = std::fs::metadata(&path).unwrap().permissions();
        let mut locked = permissions.clone();
        locked.set_readonly(true);
        std::fs::set_permissions(&path, locked).unwrap();
        assert!(error(&path).contains("read-only"), "{}", error(&path));
        std::fs::set_permissions(&path, permissions.clone()).unwrap();
        assert_eq!(
            save(&path, &Settings::default(), &all_turned()).unwrap(),
            ["substeps", "iterations", "damping", "tethers", "wind"]
        );
        assert_eq!(SceneFile::read(&path).unwrap().settings, all_turned());
        assert_eq!(std::fs::metadata(&path).unwrap().permissions(), permissions);
        let left = std::fs::read_dir(&folder).unwrap().count();
        assert_eq!(left, 1, "temporary files are left");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
