//! Makes the JavaScript bindings of the page, copies its files, and serves the folder.
//!
//! `supple-web-tool PAGE.wasm SOURCES SITE [PORT]` writes SITE; with a port it serves it until it is stopped.

use anyhow::Context;
use std::fs::{self, File};
use std::path::Path;
use tiny_http::{Header, Request, Response, Server};

/// The files of the page, with their media types.
const FILES: [(&str, &str); 3] =
    [("index.html", "text/html; charset=utf-8"), ("style.css", "text/css"), ("page.js", "text/javascript")];
/// The generated files.
const GENERATED: [(&str, &str); 2] = [("supple_web.js", "text/javascript"), ("supple_web_bg.wasm", "application/wasm")];

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [wasm, sources, site, port @ ..] = arguments.as_slice() else {
        anyhow::bail!("usage: supple-web-tool PAGE.wasm SOURCES SITE [PORT]");
    };
    let site = Path::new(site);
    fs::create_dir_all(site)?;
    wasm_bindgen_cli_support::Bindgen::new()
        .input_path(wasm)
        .web(true)?
        .omit_default_module_path(false)
        .typescript(false)
        .generate(site)?;
    for (name, _) in FILES {
        fs::copy(Path::new(sources).join(name), site.join(name)).with_context(|| format!("copying {name}"))?;
    }
    match port {
        [] => Ok(()),
        [port, ..] => serve(site, port.parse().with_context(|| format!("the port {port:?}"))?),
    }
}

fn serve(site: &Path, port: u16) -> anyhow::Result<()> {
    let server = Server::http(("127.0.0.1", port)).map_err(|error| anyhow::anyhow!("port {port}: {error}"))?;
    println!("The demo is at http://{}/ (Ctrl+C stops)", server.server_addr());
    for request in server.incoming_requests() {
        // A browser that closed the connection is no reason to stop.
        if let Err(error) = answer(site, request) {
            eprintln!("{error:#}");
        }
    }
    Ok(())
}

fn answer(site: &Path, request: Request) -> anyhow::Result<()> {
    let path = request.url().split('?').next().unwrap_or("").trim_start_matches('/').to_owned();
    let path = if path.is_empty() { "index.html" } else { path.as_str() };
    let Some((name, media)) = FILES.iter().chain(&GENERATED).find(|(name, _)| *name == path) else {
        return Ok(request.respond(Response::empty(404))?);
    };
    let header = Header::from_bytes("Content-Type", *media).map_err(|()| anyhow::anyhow!("the header of {name}"))?;
    Ok(request.respond(Response::from_file(File::open(site.join(name))?).with_header(header))?)
}
