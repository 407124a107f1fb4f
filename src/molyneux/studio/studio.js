// Back and forward show what the address says: a page is a function of its address.
window.addEventListener("popstate", () => window.location.reload());
// Dark or light: what the person chose, otherwise what the system says.
window.molyneuxTheme = () => {
  const dark = !document.body.classList.contains("body--dark");
  window.Quasar.Dark.set(dark);
  try { localStorage.setItem("molyneux-theme", dark ? "dark" : "light"); } catch { /* private windows have no storage */ }
};
document.addEventListener("DOMContentLoaded", () => {
  let chosen = null;
  try { chosen = localStorage.getItem("molyneux-theme"); } catch { /* as above */ }
  const apply = () => { if (chosen && window.Quasar) window.Quasar.Dark.set(chosen === "dark"); };
  setTimeout(apply, 0);
});
// Drawing by hand: a filled figure for sight, the line itself for touch. What was drawn is told when the pointer is lifted.
window.molyneuxDrawing = (id, event, paper, ink) => {
  const canvas = document.getElementById(id);
  if (!canvas || canvas.dataset.ready) return;
  canvas.dataset.ready = "1";
  canvas.width = canvas.height = 256;
  const context = canvas.getContext("2d");
  const state = { points: [], figures: [], paper, ink };
  canvas.molyneux = state;
  const trace = (points) => { context.beginPath(); points.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y))); context.closePath(); };
  const paint = () => {
    context.fillStyle = state.paper; context.fillRect(0, 0, 256, 256);
    for (const figure of state.figures) { context.fillStyle = figure.ink; trace(figure.points); context.fill(); }
    if (state.points.length) { context.strokeStyle = context.fillStyle = state.ink; context.lineWidth = 3; trace(state.points); context.stroke(); context.fill(); }
  };
  const place = (e) => { const box = canvas.getBoundingClientRect(); return [((e.clientX - box.left) / box.width) * 256, ((e.clientY - box.top) / box.height) * 256]; };
  const tell = () => {
    const small = document.createElement("canvas"); small.width = small.height = 64;
    const scaled = small.getContext("2d"); scaled.imageSmoothingQuality = "high"; scaled.drawImage(canvas, 0, 0, 64, 64);
    const last = state.figures.at(-1);
    emitEvent(event, { picture: small.toDataURL("image/png"), line: last ? last.points.map(([x, y]) => [Math.round(x * 10) / 10, Math.round(y * 10) / 10]) : [] });
  };
  canvas.addEventListener("pointerdown", (e) => { canvas.setPointerCapture(e.pointerId); state.points = [place(e)]; paint(); });
  canvas.addEventListener("pointermove", (e) => { if (state.points.length && e.buttons) { state.points.push(place(e)); paint(); } });
  canvas.addEventListener("pointerup", () => {
    if (state.points.length > 2) { state.figures = [{ points: state.points.slice(0, 2000), ink: state.ink }]; }
    state.points = []; paint(); if (state.figures.length) tell();
  });
  state.repaint = (newPaper, newInk) => { state.paper = newPaper; state.ink = newInk; for (const figure of state.figures) figure.ink = newInk; paint(); if (state.figures.length) tell(); };
  state.clear = () => { state.figures = []; state.points = []; paint(); emitEvent(event, { picture: "", line: [] }); };
  state.put = (points) => { state.figures = [{ points, ink: state.ink }]; paint(); tell(); };
  paint();
};
// A hand that feels: fingers move along their path once, and a short trail shows where they were. Where motion is not wanted, the path.
window.molyneuxFeel = (id) => {
  const place = document.getElementById(id), still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  for (const hand of place ? place.querySelectorAll("svg.hand") : []) {
    const fingers = JSON.parse(hand.dataset.fingers), begun = performance.now(), trails = hand.querySelectorAll("path"), tips = hand.querySelectorAll("circle");
    const turn = (hand.molyneuxTurn || 0) + 1;
    hand.molyneuxTurn = turn;
    const line = (points) => points.map((point, at) => (point ? `${at && points[at - 1] ? "L" : "M"}${point}` : "")).join("");
    const step = (now) => {
      if (hand.molyneuxTurn !== turn || !hand.isConnected) return;
      const last = fingers[0].length - 1, at = still ? last : Math.min(last, Math.floor(((now - begun) / 4800) * last));
      fingers.forEach((points, finger) => {
        const ended = at === last && !still;
        trails[finger].setAttribute("d", ended ? "" : line(points.slice(still ? 0 : Math.max(0, at - 7), at + 1)));
        tips[finger].classList.toggle("lifted", !points[at]);
        if (points[at]) { tips[finger].setAttribute("cx", points[at][0]); tips[finger].setAttribute("cy", points[at][1]); }
      });
      if (at < last) requestAnimationFrame(step);
    };
    step(begun);
  }
};

// A figure that is replaced while its library loads is watched after it has left the page: a resize that is refused then is no error.
window.addEventListener("unhandledrejection", (event) => {
  if (/^Resize must be passed a displayed plot/.test(event.reason?.message ?? "")) event.preventDefault();
});
