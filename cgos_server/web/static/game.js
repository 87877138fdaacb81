// The game page: steps without loading, keys, what the bots thought, and the game as it goes on.
// The page is complete without this; what it shows is read off the page itself.

import { Board, Position, element, other } from "./board.js";
import { follow } from "./live.js";

const AT_ONCE = 16; // moves whose analyses come together
const LETTERS = "ABCDEFGHJKLM";
const WIDTH = 600;
const HEIGHT = 110;

const page = document.getElementById("board");
const data = page.dataset;
const size = Number(data.size);
const names = (text) => (text ? text.split(" ") : []);
const board = new Board(page.querySelector("svg.board"));
const rows = document.querySelector("#moves tbody");
const form = document.getElementById("show");
const help = document.getElementById("help");
const colorOf = (ply) => (ply % 2 ? data.first : other(data.first));
const sideWord = (color) => (color === "b" ? "Black" : "White");
const moveWord = (move) => (move === "PASS" ? "pass" : move);
const number = (text) => (text === undefined ? undefined : Number(text));

const moves = [...rows.rows].map((row) => ({
  move: row.cells[1].textContent === "pass" ? "PASS" : row.cells[1].textContent,
  left: row.cells[3].textContent,
  winrate: number(row.dataset.w),
  score: number(row.dataset.s),
  said: "a" in row.dataset,
  row,
}));
const positions = [new Position(size, names(data.black), names(data.white))];
const analyses = new Map(); // ply -> analysis, where it has come
const asked = new Set();
let ply = Number(data.ply);
let following = data.live === "1" && ply === moves.length;
let ticking = data.live === "1";
let clock = { color: colorOf(moves.length + 1), left: 0, at: performance.now() - Number(data.age) };
clock.left = Number(data[clock.color === "b" ? "countsB" : "countsW"]);

function position(at) {
  while (positions.length <= at) {
    const next = positions[positions.length - 1].copy();
    next.play(colorOf(positions.length), moves[positions.length - 1].move);
    positions.push(next);
  }
  return positions[at];
}

// -- what is shown

function show(to, scroll = true) {
  ply = Math.max(0, Math.min(to, moves.length));
  const seen = position(ply);
  draw(seen);
  for (const color of ["b", "w"]) {
    const side = document.getElementById(`side-${color}`);
    side.querySelector(".captures").textContent = seen.captures[color];
    if (!(ticking && ply === moves.length && color === clock.color)) {
      side.querySelector(".clock").textContent = clockText(color, ply);
    }
  }
  const move = ply ? moves[ply - 1].move : null;
  const pass = move === "PASS" ? ", a pass" : "";
  document.getElementById("at").textContent = ply ? `Move ${ply} of ${moves.length}${pass}` : "Before move 1";
  const count = { b: 0, w: 0 };
  for (const color of seen.stones.values()) count[color] += 1;
  const black = document.querySelector("#side-b a").textContent;
  const white = document.querySelector("#side-w a").textContent;
  board.describe(
    `${black} – ${white}, ${ply ? `move ${ply}` : "before the first move"}`,
    `${seen.last ? `The last move was ${seen.last}. ` : ""}Black: ${count.b} stones. White: ${count.w} stones.`,
  );
  for (const row of rows.querySelectorAll("tr.now")) {
    row.classList.remove("now");
    row.removeAttribute("aria-current");
  }
  if (ply) {
    const row = moves[ply - 1].row;
    row.classList.add("now");
    row.setAttribute("aria-current", "true");
    const box = document.getElementById("moves");
    if (scroll) box.scrollTop = row.offsetTop - box.clientHeight / 2;
  }
  steps();
  cursors();
  texts(seen);
  thoughts();
  form.elements.ply.value = ply;
}

function clockText(color, at) {
  const own = colorOf(at) === color ? at : at - 1;
  return own > 0 ? moves[own - 1].left : data[color === "b" ? "clockB" : "clockW"];
}

function draw(seen) {
  const said = analyses.get(ply);
  const wants = (name) => form.elements[name].checked;
  board.stones(seen, !wants("numbers"));
  const numbers = new Map();
  if (wants("numbers")) for (let at = 1; at <= ply; at++) numbers.set(moves[at - 1].move, at);
  board.numbers(numbers, seen);
  board.owners((wants("ownership") && said?.ownership) || "", colorOf(ply), seen);
  board.proposals(wants("candidates") ? (said?.moves ?? []).map(proposal) : [], seen);
}

const percent = (share) => (share === undefined ? "" : (100 * share).toFixed(1));

function proposal(candidate, rank) {
  return { vertex: candidate.move, letter: LETTERS[rank], words: percent(candidate.winrate) };
}

function steps() {
  const [first, previous, next, last] = [0, ply - 1, ply + 1, moves.length];
  const shown = [
    ["First", first, ply > 0],
    ["Previous", previous, ply > 0],
    ["Next", next, ply < moves.length],
    ["Last", last, ply < moves.length],
  ];
  for (const [word, to, possible] of shown) {
    const known = page.querySelector(`.steps [data-word="${word}"]`);
    if (possible !== (known.tagName === "A")) {
      const made = possible ? element("a", {}, word) : element("span", { class: "off" }, word);
      made.dataset.word = word;
      const focused = document.activeElement === known;
      known.replaceWith(made);
      // Whoever stepped to the end by this link goes on by keys from the board.
      if (focused) page.querySelector("svg.board").focus({ preventScroll: true });
    }
    if (possible) page.querySelector(`.steps [data-word="${word}"]`).href = `?ply=${to}#board`;
  }
}

function texts(seen) {
  const gtp = [`boardsize ${size}`, "clear_board", `komi ${Number(data.komi)}`];
  for (const name of names(data.black)) gtp.push(`play b ${name}`);
  for (const name of names(data.white)) gtp.push(`play w ${name}`);
  for (let at = 1; at <= ply; at++) gtp.push(`play ${colorOf(at)} ${moves[at - 1].move}`);
  const all = {
    gtp: gtp.join("\n"),
    diagram: seen.diagram(),
    sgf: seen.sgf(Number(data.komi), colorOf(ply + 1)),
  };
  for (const [kind, text] of Object.entries(all)) document.querySelector(`[data-text="${kind}"]`).textContent = text;
}

// -- what the bots thought

function thoughts() {
  const box = document.getElementById("said");
  const known = ply > 0 && moves[ply - 1].said;
  box.hidden = !known;
  if (!known) return;
  const said = analyses.get(ply);
  if (said === undefined) {
    ask(ply);
    return;
  }
  const color = sideWord(colorOf(ply));
  const move = moves[ply - 1].move;
  const figures = [`${color} ${move === "PASS" ? "passes" : move}`];
  if (said.winrate !== undefined) figures.push(`win rate ${percent(said.winrate)} %`);
  if (said.score !== undefined) figures.push(`score ${points(said.score)}`);
  if (said.visits !== undefined) figures.push(`visits ${count(said.visits)}`);
  box.querySelector(".figures").textContent = figures.join(", ");
  box.querySelector(".comment").textContent = said.comment ?? "";
  const table = box.querySelector("table");
  const lines = (said.moves ?? []).map(candidateRow);
  table.hidden = lines.length === 0;
  table.tBodies[0].replaceChildren(...lines);
}

const points = (score) => (score < 0 ? "" : "+") + score.toFixed(1);
const count = (visits) => String(visits).replace(/\B(?=(\d{3})+$)/g, " ");

function candidateRow(candidate, rank) {
  const row = element("tr", { tabindex: "0" });
  row.append(
    element("th", { scope: "row" }, LETTERS[rank]),
    element("td", {}, moveWord(candidate.move)),
    element("td", { class: "n" }, candidate.winrate === undefined ? "" : `${percent(candidate.winrate)} %`),
    element("td", { class: "n score" }, candidate.score === undefined ? "" : points(candidate.score)),
    element("td", { class: "n" }, candidate.visits === undefined ? "" : count(candidate.visits)),
    element("td", { class: "pv" }, (candidate.pv ?? []).join(" ")),
  );
  for (const event of ["mouseenter", "focus"]) row.addEventListener(event, () => variation(candidate));
  for (const event of ["mouseleave", "blur"]) row.addEventListener(event, () => draw(position(ply)));
  return row;
}

// The candidate and what would follow, numbered, on the board before the move that was made.
function variation(candidate) {
  const seen = position(ply - 1).copy();
  const numbers = new Map();
  let color = colorOf(ply);
  [candidate.move, ...(candidate.pv ?? [])].forEach((move, index) => {
    seen.play(color, move);
    numbers.set(move, index + 1);
    color = other(color);
  });
  board.stones(seen, false);
  board.owners("", "b", seen);
  board.proposals([], seen);
  board.numbers(numbers, seen);
}

async function ask(at) {
  const first = at - ((at - 1) % AT_ONCE);
  if (asked.has(first)) return;
  asked.add(first);
  try {
    const answer = await fetch(`/game/${data.game}/said?from=${first}`);
    if (!answer.ok) throw new Error(String(answer.status));
    for (const [key, said] of Object.entries(await answer.json())) analyses.set(Number(key), said);
  } catch {
    asked.delete(first); // the next step asks again
    return;
  }
  if (analyses.has(ply)) {
    thoughts();
    draw(position(ply));
  }
}

// -- curves

const across = (at) => Math.round((10 * WIDTH * at) / Math.max(moves.length, 1)) / 10;
const height = (value, bound) =>
  Math.round(10 * (HEIGHT / 2 - Math.max(-1, Math.min(1, value / bound)) * (HEIGHT / 2 - 3))) / 10;

function cursors() {
  for (const cursor of document.querySelectorAll("#curves .cursor")) {
    cursor.setAttribute("d", `M${across(ply)} 0V${HEIGHT}`);
  }
}

function curves() {
  for (const picture of document.querySelectorAll("#curves svg")) {
    const key = picture.classList.contains("score") ? "score" : "winrate";
    const sides = { b: [], w: [] };
    moves.forEach((move, index) => {
      if (move[key] !== undefined) sides[colorOf(index + 1)].push([index + 1, move[key] - (key === "score" ? 0 : 0.5)]);
    });
    const bound =
      key === "score" ? Math.max(5, ...[...sides.b, ...sides.w].map(([, value]) => Math.abs(value))) : 0.5;
    const line = (values) => values.map(([at, value]) => `${across(at)} ${height(value, bound)}`).join("L");
    for (const color of ["b", "w"]) {
      const path = sides[color].length ? `M${line(sides[color])}` : "";
      picture.querySelector(`.curve.${color}`).setAttribute("d", path);
    }
    picture.querySelector(".apart").setAttribute("d", apart(sides.b, sides.w, line));
    if (sides.b.length || sides.w.length) {
      const figure = picture.closest("figure");
      figure.hidden = false;
      const edges = figure.querySelector(".edges").children;
      if (key === "score") [edges[0].textContent, edges[2].textContent] = ["+", "−"].map((sign) => sign + bound.toFixed(0));
      document.getElementById("curves").hidden = false;
    }
  }
  cursors();
}

function apart(one, two, line) {
  if (!one.length || !two.length) return "";
  const first = Math.max(one[0][0], two[0][0]);
  const last = Math.min(one.at(-1)[0], two.at(-1)[0]);
  const at = [...one, ...two].map(([x]) => x).filter((x) => first <= x && x <= last).sort((a, b) => a - b);
  if (at.length < 2) return "";
  const along = (values) => {
    let index = 0;
    return at.map((x) => {
      while (index + 1 < values.length && values[index + 1][0] <= x) index += 1;
      const [x0, y0] = values[index];
      if (x0 === x) return [x, y0];
      const [x1, y1] = values[index + 1];
      return [x, y0 + ((x - x0) / (x1 - x0)) * (y1 - y0)];
    });
  };
  return `M${line(along(one))}L${line(along(two).reverse())}Z`;
}

// -- the game goes on

function played(live) {
  if (live.ply !== moves.length + 1) return; // known already
  const said = live.analysis;
  const mine = live.color === "b";
  const row = element("tr");
  const cell = element("td");
  cell.append(
    element("span", { class: `disc ${live.color}`, role: "img", "aria-label": sideWord(live.color) }),
    element("a", { href: `?ply=${live.ply}#board` }, moveWord(live.move)),
  );
  row.append(
    element("td", { class: "n soft" }, String(live.ply)),
    cell,
    element("td", { class: "n" }, span(live.used_ms)),
    element("td", { class: "n" }, live.left),
  );
  rows.append(row);
  moves.push({
    move: live.move,
    left: live.left,
    winrate: said?.winrate === undefined ? undefined : mine ? said.winrate : 1 - said.winrate,
    score: said?.score === undefined ? undefined : mine ? said.score : -said.score,
    said: said !== undefined,
    row,
  });
  if (said !== undefined) analyses.set(live.ply, said);
  lefts[live.color] = live.left_ms;
  clock = { color: other(live.color), left: lefts[other(live.color)], at: performance.now() - late(live.at) };
  toPlay(clock.color);
  document.getElementById("moves").hidden = false;
  document.getElementById("none").hidden = true;
  const state = document.getElementById("state");
  state.textContent = `In progress: ${sideWord(clock.color)} to play move ${moves.length + 1}.`;
  if (said !== undefined) {
    for (const label of document.querySelectorAll(".analyzed")) label.hidden = false;
  }
  if (!later) later = requestAnimationFrame(settle);
}

// How long ago a move was told, milliseconds: after a pause many come at once. Clocks of two machines differ by whatever
// they do; the move that came fastest shows by how much.
let skew = Infinity;
function late(at) {
  const lag = Date.now() - at;
  skew = Math.min(skew, lag);
  return lag - skew;
}

// However many moves came at once, what they change is shown once.
let later = 0;
function settle() {
  later = 0;
  curves();
  if (following) show(moves.length);
  else steps();
}

function toPlay(color) {
  for (const side of ["b", "w"]) document.getElementById(`side-${side}`).classList.toggle("to-play", side === color);
}

function ended(live) {
  ticking = false;
  data.live = "0";
  toPlay(null);
  stop();
  const state = document.getElementById("state");
  state.replaceChildren(element("strong", { class: "result" }, live.result), ` ${live.sentence}`);
  document.getElementById("late")?.remove();
  for (const color of ["b", "w"]) {
    const side = document.getElementById(`side-${color}`);
    const link = side.querySelector("a");
    const mine = (live.ratings ?? []).filter((rating) => rating.version === link.textContent);
    const change = mine.find((rating) => rating.system === data.system) ?? mine[0];
    if (change !== undefined) {
      const points = parseInt(change.after) - parseInt(change.before);
      const by = `(${points < 0 ? "−" : points > 0 ? "+" : ""}${Math.abs(points)})`;
      const whole = { class: "nowrap" };
      side.querySelector(".change").replaceChildren(
        element("span", whole, change.before), " ", element("span", whole, `→ ${change.after}`), " ",
        element("span", { class: "soft" }, by),
      );
    }
    if (live.winner === (color === "b" ? "black" : "white")) {
      const won = element("strong");
      link.replaceWith(won);
      won.append(link);
    }
  }
  if (!later) later = requestAnimationFrame(settle);
}

function span(ms) {
  const tenths = Math.floor(Math.max(0, ms) / 100);
  const minutes = Math.floor(tenths / 600);
  const seconds = Math.floor((tenths % 600) / 10);
  const two = (figure) => String(figure).padStart(2, "0");
  if (minutes >= 60) return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds)}`;
  return `${minutes}:${two(seconds)}${minutes === 0 ? `.${tenths % 10}` : ""}`;
}

const lefts = { b: Number(data.countsB), w: Number(data.countsW) };
let stop = () => {};

function tick() {
  if (!ticking) return;
  if (ply === moves.length && moves.length > 0) {
    const left = clock.left - (performance.now() - clock.at);
    document.querySelector(`#side-${clock.color} .clock`).textContent = span(left);
  }
  setTimeout(tick, 200);
}

// -- people

function step(to) {
  following = data.live === "1" && to >= moves.length;
  show(to);
  const address = new URL(location.href);
  if (following) address.searchParams.delete("ply");
  else address.searchParams.set("ply", ply);
  try {
    history.replaceState(null, "", address);
  } catch {
    // Browsers refuse it while it comes too often; a later step catches up.
  }
}

const KEYS = {
  ArrowLeft: () => ply - 1,
  ArrowRight: () => ply + 1,
  PageUp: () => ply - 10,
  PageDown: () => ply + 10,
  Home: () => 0,
  End: () => moves.length,
};
const SWITCHES = { n: "numbers", c: "candidates", o: "ownership" };

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.target.matches?.("input:not([type=checkbox]), textarea, select, pre")) return;
  if (event.key in KEYS) step(KEYS[event.key]());
  else if (event.key === "?") help.open = !help.open;
  else if (event.key in SWITCHES) {
    form.elements[SWITCHES[event.key]].checked = !form.elements[SWITCHES[event.key]].checked;
    draw(position(ply));
  } else return;
  event.preventDefault();
});

page.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href^='?ply=']");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
  event.preventDefault();
  step(Number(link.getAttribute("href").match(/\d+/)[0]));
});

form.addEventListener("change", () => draw(position(ply)));
form.addEventListener("submit", (event) => event.preventDefault());

document.getElementById("curves").addEventListener("click", (event) => {
  const picture = event.target.closest("svg");
  if (picture === null) return;
  const box = picture.getBoundingClientRect();
  step(Math.round(((event.clientX - box.left) / box.width) * moves.length));
});

document.getElementById("copy").addEventListener("click", async (event) => {
  const button = event.target.closest("button");
  if (button === null) return;
  const text = document.querySelector(`[data-text="${button.dataset.copy}"]`);
  try {
    await navigator.clipboard.writeText(text.textContent);
    button.textContent = "Copied";
  } catch {
    // Without a secure connection browsers do not let pages copy: it is selected instead.
    getSelection().selectAllChildren(text);
    button.textContent = document.execCommand("copy") ? "Copied" : "Selected: press Ctrl+C";
  }
  setTimeout(() => (button.textContent = "Copy"), 2000);
});

for (const known of page.querySelectorAll(".steps > a, .steps > span:not(.at)")) {
  known.dataset.word = known.textContent;
  if (known.tagName === "A") known.setAttribute("href", known.getAttribute("href").replace(/^[^?#]*/, ""));
}
for (const button of document.querySelectorAll("#copy button")) button.hidden = false;
form.querySelector("button").hidden = true;
help.hidden = false;
page.querySelector("svg.board").setAttribute("tabindex", "0");
steps();
thoughts();

if (data.live === "1") {
  const state = document.getElementById("state");
  stop = follow(() => `/api/v1/games/${data.game}/live?since=${moves.length}`, { move: played, end: ended }, (there) =>
    state.classList.toggle("cut", !there),
  );
  tick();
}
page.dataset.ready = "1";
