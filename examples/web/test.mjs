// node test.mjs SITE CLOTH PICTURES SHADERS: loads the built page in headless Chromium, compares it with a native run,
// and compiles all shaders of the library.
//
// CLOTH is the native example `cloth`. Screenshots go to the folder PICTURES. SHADERS is the folder of the assembled
// modules, see tests/documents/shaders.rs. CHROME names the browser. It needs the package playwright-core.

import { chromium } from 'playwright-core';
import { execFileSync } from 'node:child_process';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';

const [site, cloth, pictures, shaders] = process.argv.slice(2);
const COLUMNS = 50;
const STEPS = 60;
const TIMEOUT = 180_000;
// Strain and metres by which the backends may differ.
const TOLERANCE = 1e-3;

const media = { '.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript', '.wasm': 'application/wasm' };
const server = http.createServer((request, response) => {
  const { pathname } = new URL(request.url, 'http://localhost');
  const file = path.join(site, path.normalize(pathname === '/' ? '/index.html' : pathname));
  fs.readFile(file, (error, data) => {
    response.writeHead(error ? 404 : 200, { 'content-type': media[path.extname(file)] ?? 'application/octet-stream' });
    response.end(data);
  });
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const address = `http://127.0.0.1:${server.address().port}/`;

const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'supple-web-'));
const context = await chromium.launchPersistentContext(profile, {
  executablePath: process.env.CHROME ?? '/usr/lib/chromium/chromium',
  headless: true,
  viewport: { width: 1000, height: 640 },
  // WebGPU on SwiftShader. Without the flags of ANGLE and Vulkan the canvas stays black.
  args: ['--no-sandbox', '--enable-unsafe-webgpu', '--enable-unsafe-swiftshader', '--use-webgpu-adapter=swiftshader',
    '--use-angle=swiftshader', '--use-vulkan=swiftshader', '--enable-features=Vulkan',
    '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'],
});

const faults = [];
async function open(query) {
  const page = await context.newPage();
  page.on('console', (message) => { if (message.type() === 'error') faults.push(message.text()); });
  page.on('pageerror', (error) => faults.push(error.message));
  await page.goto(address + query);
  await page.waitForFunction(() => window.supple?.isBusy() === false, null, { timeout: TIMEOUT });
  return page;
}

// Simulates steps, one per animation frame, and returns the figures after the last one.
const play = (page, steps) => page.evaluate(async (steps) => {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const { page } = window.supple;
  const wanted = JSON.parse(page.figures()).steps + steps;
  for (let step = 0; step < steps; step++) {
    page.step();
    await frame();
  }
  for (;;) {
    const figures = JSON.parse(page.figures());
    if (figures.steps_read === wanted) return figures;
    await frame();
  }
}, steps);

async function picture(page, name) {
  const file = path.join(pictures, name);
  await page.screenshot({ path: file });
  // A picture of one colour has a few kilobytes.
  assert.ok(fs.statSync(file).size > 30_000, `${name} is blank`);
}

async function testHung() {
  const page = await open(`?particles=${COLUMNS ** 2}&paused`);
  const figures = await play(page, STEPS);
  assert.equal(figures.particles, COLUMNS ** 2);
  const options = ['--headless', '--json', '--columns', COLUMNS, '--rows', COLUMNS, '--frames', STEPS, '--substeps',
    figures.substeps, '--execution', figures.execution, '--wind', 2, '--damping', 0, '--seed', 3].map(String);
  const native = JSON.parse(execFileSync(cloth, options, { encoding: 'utf8' }).trim().split('\n').at(-1));
  for (const name of ['mean_strain', 'lowest_point']) {
    console.log(`${name}: ${figures[name]} in the browser, ${native[name]} native (${figures.execution})`);
    assert.ok(Math.abs(figures[name] - native[name]) < TOLERANCE, name);
  }
  await picture(page, 'desktop.png');
  await testDrag(page);
  await page.close();
}

async function testDrag(page) {
  const figures = () => page.evaluate(() => JSON.parse(window.supple.page.figures()));
  // The cloth hangs in the middle of the picture.
  await page.mouse.move(520, 330);
  await page.mouse.down();
  const { grip_height: start } = await figures();
  assert.equal(typeof start, 'number', 'nothing is grabbed');
  await page.mouse.move(520, 130, { steps: 10 });
  let [most, end] = [0, start];
  for (let k = 0; k < 24 && (k < 8 || end <= start + 0.02); k++) {
    const now = await play(page, 8);
    [most, end] = [Math.max(most, now.max_strain), now.grip_height];
  }
  console.log(`dragged from ${start} m to ${end} m, largest strain ${most}`);
  // How far it follows depends on the speed of the machine. The falling cloth stretches when it is caught.
  assert.ok(end > start + 0.02, 'the cloth does not follow the pointer');
  assert.ok(most < 0.3, 'dragging stretches the cloth');
  await picture(page, 'drag.png');
  await page.mouse.up();
  assert.equal((await figures()).grip_height, null);
  const fallen = await play(page, 30);
  assert.ok(fallen.lowest_point < -1.5, `the cloth hangs at ${fallen.lowest_point} m after it was let go`);
}

async function testDraped() {
  const page = await open('?scene=draped&particles=2500&paused');
  const figures = await play(page, 40);
  console.log(`draped: lowest point ${figures.lowest_point}, mean strain ${figures.mean_strain}`);
  // The ball is 1 m high, and the ground is at −1 m.
  assert.ok(figures.lowest_point > -1.001 && figures.lowest_point < -0.4 && figures.mean_strain < 0.05);
  await page.setViewportSize({ width: 390, height: 844 });
  await play(page, 1);
  await picture(page, 'phone.png');
  await page.close();
}

// After a scene that cannot be prepared, another one can be chosen. The size may change while it is prepared.
async function testRecovery() {
  const page = await open('?scene=none&particles=900&paused');
  assert.match(await page.textContent('#message'), /could not be prepared/);
  await page.click('[data-scene=hung]');
  await page.setViewportSize({ width: 700, height: 500 });
  // The event of the new size may come after the scene is ready.
  const isReady = () =>
    window.supple.isBusy() === false && document.getElementById('canvas').width === innerWidth * devicePixelRatio;
  await page.waitForFunction(isReady, null, { timeout: TIMEOUT });
  assert.equal((await play(page, 1)).particles, 900);
  assert.equal(await page.textContent('#message'), '');
  await page.close();
}

// The browser checks more than naga: for example, barriers must be in uniform control flow.
async function testShaders() {
  const texts = new Map(fs.readdirSync(shaders).map((name) => [fs.readFileSync(path.join(shaders, name), 'utf8'), name]));
  assert.ok(texts.size > 60, `${texts.size} modules`);
  const page = await context.newPage();
  await page.goto(address);
  const errors = await page.evaluate(async (modules) => {
    const device = await (await navigator.gpu.requestAdapter()).requestDevice();
    const errors = [];
    for (const [code, name] of modules) {
      device.pushErrorScope('validation');
      device.createShaderModule({ code });
      const error = await device.popErrorScope();
      if (error) errors.push(`${name}: ${error.message}`);
    }
    return errors;
  }, [...texts]);
  console.log(`${texts.size} modules compiled`);
  assert.deepEqual(errors, []);
  await page.close();
}

async function testWithoutWebGpu() {
  const page = await context.newPage();
  await page.addInitScript(() => Object.defineProperty(navigator, 'gpu', { value: undefined }));
  await page.goto(address);
  await page.waitForFunction(() => document.getElementById('message').textContent.includes('needs WebGPU'));
  await page.close();
}

try {
  fs.mkdirSync(pictures, { recursive: true });
  await testHung();
  await testDraped();
  await testRecovery();
  await testShaders();
  await testWithoutWebGpu();
  assert.deepEqual(faults, []);
  console.log('the page works');
} finally {
  await context.close();
  server.close();
  fs.rmSync(profile, { recursive: true, force: true });
}
