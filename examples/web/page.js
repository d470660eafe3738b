// Connects the controls and the animation frames of the page with the simulation.

import init, { Page } from './supple_web.js';

const find = (id) => document.getElementById(id);
const canvas = find('canvas');
const say = (text) => { find('message').textContent = text; };
const query = new URLSearchParams(location.search);

let page;
let busy = true;
let paused = query.has('paused');
let scene = query.get('scene') ?? 'hung';
let view = 'cloth';

// Frames stop while a scene is loaded, and after an error in a frame.
const fail = (error) => {
  busy = true;
  say(`The simulation stopped.\n${error?.message ?? error}`);
  throw error;
};

const particles = () => Number(query.get('particles') ?? Math.round(10 ** Number(find('particles').value)));

async function load() {
  busy = true;
  const count = particles();
  say(`Preparing ${count.toLocaleString('en')} particles …`);
  // Lets the browser draw the message before the scene is compiled.
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  try {
    await page.load(scene, count);
    page.set_view(view);
    applyWind();
    press(find('pins'), true);
    find('pins').disabled = scene === 'draped';
    say('');
  } catch (error) {
    // The controls choose another scene.
    say(`This scene could not be prepared.\n${error?.message ?? error}`);
  }
  busy = false;
  // The page may have been resized, and the slider moved, meanwhile.
  fit();
  if (!Object.is(particles(), count)) await load();
}

function fit() {
  // A page that loads a scene takes no calls.
  if (page && busy) return;
  const scale = Math.min(devicePixelRatio, 2);
  const [width, height] = [Math.round(innerWidth * scale), Math.round(innerHeight * scale)];
  if (width > 0 && height > 0 && (canvas.width !== width || canvas.height !== height)) {
    [canvas.width, canvas.height] = [width, height];
    page?.resize(width, height);
  }
}

let before = performance.now();
let meanSeconds = 0;
function frame(now) {
  requestAnimationFrame(frame);
  const seconds = Math.max(0, now - before) / 1000;
  before = now;
  meanSeconds += 0.05 * (seconds - meanSeconds);
  if (busy) return;
  try {
    page.frame(paused ? 0 : seconds);
  } catch (error) {
    fail(error);
  }
}

function showFigures() {
  if (busy) return;
  const figures = JSON.parse(page.figures());
  if (figures.particles === undefined) return;
  const rows = [
    ['Frames per second', (1 / Math.max(meanSeconds, 1e-3)).toFixed(0)],
    ['GPU time per step', figures.gpu_ms === null ? 'not measured here' : `${figures.gpu_ms.toFixed(2)} ms`],
    ['Particles', figures.particles.toLocaleString('en')],
    ['Constraints', figures.constraints.toLocaleString('en')],
    ['Mean stretch', `${(100 * figures.mean_strain).toFixed(2)} %`],
    ['Largest stretch', `${(100 * figures.max_strain).toFixed(1)} %`],
  ];
  find('figures').replaceChildren(...rows.flatMap(([name, value]) => {
    const [term, description] = [document.createElement('dt'), document.createElement('dd')];
    [term.textContent, description.textContent] = [name, value];
    return [term, description];
  }));
}

const press = (button, pressed) => button.setAttribute('aria-pressed', String(pressed));
const isPressed = (button) => button.getAttribute('aria-pressed') === 'true';

function choose(name, pick) {
  const buttons = [...document.querySelectorAll(`[data-${name}]`)];
  const select = (value) => buttons.forEach((button) => press(button, button.dataset[name] === value));
  buttons.forEach((button) => button.addEventListener('click', () => {
    if (busy) return;
    select(button.dataset[name]);
    pick(button.dataset[name]);
  }));
  return select;
}

function showParticles() {
  find('particles_value').textContent = particles().toLocaleString('en');
}

function applyWind() {
  const speed = Number(query.get('wind') ?? find('wind').value);
  find('wind_value').textContent = speed > 0 ? `${speed} m/s` : 'none';
  // The cloth on the ball lies in still air.
  page.set_wind(scene === 'draped' ? 0 : speed);
}

function connect() {
  choose('scene', (name) => { scene = name; load(); })(scene);
  choose('view', (name) => { view = name; page.set_view(name); });
  find('particles').addEventListener('input', () => { query.delete('particles'); showParticles(); });
  find('particles').addEventListener('change', () => { if (!busy) load(); });
  find('wind').addEventListener('input', () => { query.delete('wind'); if (!busy) applyWind(); });
  find('pins').addEventListener('click', (event) => {
    if (busy) return;
    press(event.currentTarget, !isPressed(event.currentTarget));
    page.set_pinned(isPressed(event.currentTarget));
  });
  find('pause').addEventListener('click', (event) => {
    paused = !paused;
    press(event.currentTarget, paused);
  });
  find('reset').addEventListener('click', () => { if (!busy) { page.reset(); page.set_pinned(true); press(find('pins'), true); } });
  connectPointers();
}

function connectPointers() {
  const pointers = new Map();
  let grabbing = null;
  const place = (event) => [event.clientX / innerWidth, event.clientY / innerHeight];
  const spread = () => {
    const [a, b] = [...pointers.values()];
    return Math.hypot(a.x - b.x, a.y - b.y);
  };
  const drop = () => {
    if (grabbing !== null && !busy) page.release();
    grabbing = null;
  };
  canvas.addEventListener('pointerdown', (event) => {
    if (busy) return;
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    canvas.classList.add('dragging');
    if (pointers.size === 1 && event.button === 0 && page.grab(...place(event))) grabbing = event.pointerId;
    // Two fingers turn and zoom.
    if (pointers.size > 1) drop();
  });
  canvas.addEventListener('pointermove', (event) => {
    const last = pointers.get(event.pointerId);
    if (last === undefined || busy) return;
    const before = pointers.size === 2 ? spread() : 0;
    const moved = [event.clientX - last.x, event.clientY - last.y];
    [last.x, last.y] = [event.clientX, event.clientY];
    if (grabbing === event.pointerId) page.drag(...place(event));
    else page.orbit(...moved.map((pixels) => pixels / pointers.size));
    if (pointers.size === 2) page.zoom(10 * Math.log(spread() / Math.max(before, 1)));
  });
  for (const type of ['pointerup', 'pointercancel']) {
    canvas.addEventListener(type, (event) => {
      if (grabbing === event.pointerId) drop();
      pointers.delete(event.pointerId);
      if (pointers.size === 0) canvas.classList.remove('dragging');
    });
  }
  canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    if (!busy) page.zoom(-event.deltaY / 100);
  }, { passive: false });
}

if (navigator.gpu === undefined) {
  say('This page needs WebGPU, which this browser does not have or has turned off.\n'
    + 'Chrome, Edge and Safari 26 have it; Firefox has it on some systems.');
} else {
  try {
    await init();
    fit();
    page = await Page.open(canvas);
  } catch (error) {
    say(`WebGPU is there, but no GPU could be opened.\n${error?.message ?? error}`);
    throw error;
  }
  find('panel').open = innerWidth > 560;
  connect();
  showParticles();
  addEventListener('resize', fit);
  await load();
  addEventListener('keydown', (event) => { if (event.key === ' ' && event.target === document.body) find('pause').click(); });
  setInterval(showFigures, 500);
  // For tests and the console of the browser.
  window.supple = { page, isBusy: () => busy };
  requestAnimationFrame(frame);
}
