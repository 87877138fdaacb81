// The wall: all boards follow one stream. A picture of what runs comes first, and again whenever something was missed.

import { Board, Position, other } from "./board.js";
import { follow } from "./live.js";

const RENEWED_MS = 600000;
const STAYS_MS = 8000; // an ended game, before another one may have its place

const wall = document.getElementById("wall");
const most = Number(wall.dataset.most);
const shown = new Map(); // game -> what is known of it
const dirty = new Set();
let later = 0;

function add(live) {
  const place = wall.querySelector(`[data-game="${live.game}"]`) ?? made(live);
  if (place === null) return;
  const game = {
    place,
    board: new Board(place.querySelector("svg")),
    position: new Position(live.size, live.black_stones ?? [], live.white_stones ?? []),
    first: live.to_play ?? "b",
    ply: 0,
    names: `${live.black} – ${live.white}`,
    over: false,
  };
  shown.set(live.game, game);
  for (const move of live.moves ?? []) play(game, move);
  dirty.add(game);
}

function made(live) {
  const blank = document.querySelector(`template[data-size="${live.size}"]`);
  if (blank === null) return renewed(); // a venue that has come since the page was loaded
  const place = blank.content.firstElementChild.cloneNode(true);
  place.dataset.game = live.game;
  place.querySelector("a").setAttribute("href", `/game/${live.game}`);
  place.querySelector(".black").textContent = live.black;
  place.querySelector(".white").textContent = live.white;
  place.querySelector(".venue").textContent = live.venue;
  wall.prepend(place);
  return place;
}

// The page has an empty board for each size that there was. Not again and again: it may be a venue that is not shown.
function renewed() {
  const last = Number(sessionStorage.getItem("wall-renewed"));
  if (Date.now() - last > RENEWED_MS) {
    sessionStorage.setItem("wall-renewed", String(Date.now()));
    location.reload();
  }
  return null;
}

function play(game, move) {
  game.ply += 1;
  game.position.play(game.ply % 2 ? game.first : other(game.first), move);
  dirty.add(game);
}

function remove(number) {
  const game = shown.get(number);
  shown.delete(number);
  if (game === undefined) return;
  // Whoever is on it by keyboard goes on at its neighbor.
  if (game.place.contains(document.activeElement)) {
    (game.place.nextElementSibling ?? game.place.previousElementSibling)?.querySelector("a")?.focus();
  }
  game.place.remove();
}

function settle() {
  later = 0;
  for (const game of dirty) {
    game.board.stones(game.position);
    game.board.svg.setAttribute("aria-label", `${game.names}, move ${game.ply}`);
    if (!game.over) game.place.querySelector(".ply").textContent = game.ply ? `move ${game.ply}` : "";
  }
  dirty.clear();
  // Ended games go first, the longest ended before the others, then the oldest.
  for (const [number, game] of [...shown].sort(([a, x], [b, y]) => (y.over ? 1 : 0) - (x.over ? 1 : 0) || a - b)) {
    if (shown.size <= most) break;
    if (!game.place.contains(document.activeElement)) remove(number);
  }
  document.getElementById("quiet").hidden = shown.size > 0;
}

function soon() {
  if (!later) later = requestAnimationFrame(settle);
}

const events = {
  games({ games }) {
    const running = new Set(games.map((live) => live.game));
    for (const number of [...shown.keys()]) if (!running.has(number) && !shown.get(number).over) remove(number);
    for (const place of [...wall.children]) {
      if (!running.has(Number(place.dataset.game)) && !shown.has(Number(place.dataset.game))) place.remove();
    }
    for (const live of [...games].reverse()) add(live);
    soon();
  },
  started({ game, board }) {
    if (board === undefined || shown.has(game)) return;
    add(board);
    soon();
  },
  move({ game: number, ply, move }) {
    const game = shown.get(number);
    if (game === undefined || ply !== game.ply + 1) return;
    play(game, move);
    soon();
  },
  ended({ game: number, result }) {
    const game = shown.get(number);
    if (game === undefined || game.over) return;
    game.over = true;
    game.place.classList.add("over");
    game.place.querySelector(".ply").textContent = result;
    setTimeout(() => {
      remove(number);
      soon();
    }, STAYS_MS);
    soon();
  },
};

follow(() => `/api/v1/live?moves=true${wall.dataset.venue ? `&venue=${encodeURIComponent(wall.dataset.venue)}` : ""}`, events);
wall.dataset.ready = "1";
