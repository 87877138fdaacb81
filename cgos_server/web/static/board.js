// Boards in the browser: stones on the grid that the server drew, and which of them a move takes.
// All text is set as text; what comes from bots never becomes markup.

const NS = "http://www.w3.org/2000/svg";
const COLUMNS = "ABCDEFGHJKLMNOPQRSTUVWXYZ";
const FILL = { b: "#1b1b1b", w: "#fdfdfb" };
const LEVELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

export const other = (color) => (color === "b" ? "w" : "b");

export function element(name, attributes = {}, text = "") {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

function shape(name, attributes, text = "") {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
}

// Column and row from 0, from the left and from below; null for a pass and for what is no point of the board.
function point(vertex, size) {
  const column = COLUMNS.indexOf(vertex[0]);
  const row = Number(vertex.slice(1)) - 1;
  return column >= 0 && column < size && row >= 0 && row < size && Number.isInteger(row) ? [column, row] : null;
}

export const vertex = (column, row) => COLUMNS[column] + (row + 1);

// Stones only: whether a move was legal the server has decided.
export class Position {
  constructor(size, black = [], white = []) {
    this.size = size;
    this.stones = new Map();
    this.captures = { b: 0, w: 0 };
    this.last = null;
    for (const name of black) this.stones.set(name, "b");
    for (const name of white) this.stones.set(name, "w");
  }

  copy() {
    const copied = new Position(this.size);
    copied.stones = new Map(this.stones);
    copied.captures = { ...this.captures };
    copied.last = this.last;
    return copied;
  }

  play(color, name) {
    const at = point(name, this.size);
    this.last = null;
    if (at === null) return;
    this.stones.set(name, color);
    for (const next of this.#near(name)) {
      if (this.stones.get(next) === other(color)) this.captures[color] += this.#take(next);
    }
    this.captures[other(color)] += this.#take(name);
    if (this.stones.has(name)) this.last = name;
  }

  *#near(name) {
    const [column, row] = point(name, this.size);
    if (column > 0) yield vertex(column - 1, row);
    if (column < this.size - 1) yield vertex(column + 1, row);
    if (row > 0) yield vertex(column, row - 1);
    if (row < this.size - 1) yield vertex(column, row + 1);
  }

  // Remove the chain at a point if it has no liberty; how many stones that were.
  #take(name) {
    const color = this.stones.get(name);
    const chain = new Set([name]);
    for (const stone of chain) {
      for (const next of this.#near(stone)) {
        if (!this.stones.has(next)) return 0;
        if (this.stones.get(next) === color) chain.add(next);
      }
    }
    for (const stone of chain) this.stones.delete(stone);
    return chain.size;
  }

  diagram() {
    const head = "   " + COLUMNS.slice(0, this.size).split("").join(" ");
    const lines = [head];
    for (let row = this.size - 1; row >= 0; row--) {
      const marks = [];
      for (let column = 0; column < this.size; column++) {
        const stone = this.stones.get(vertex(column, row));
        marks.push(stone === undefined ? "." : stone === "b" ? "X" : "O");
      }
      lines.push(`${String(row + 1).padStart(2)} ${marks.join(" ")} ${row + 1}`);
    }
    lines.push(head);
    return lines.join("\n");
  }

  sgf(komi, toPlay) {
    const sides = { b: [], w: [] };
    for (const [name, color] of this.stones) {
      const [column, row] = point(name, this.size);
      sides[color].push(String.fromCharCode(97 + column, 97 + this.size - 1 - row));
    }
    const set = (key, points) => (points.length ? key + points.sort().map((at) => `[${at}]`).join("") : "");
    const stones = set("AB", sides.b) + set("AW", sides.w);
    return `(;GM[1]FF[4]SZ[${this.size}]KM[${komi}]${stones}PL[${toPlay.toUpperCase()}])`;
  }
}

export class Board {
  constructor(svg) {
    this.svg = svg;
    this.size = Number(svg.dataset.size);
    this.cell = Number(svg.dataset.cell);
    this.margin = Number(svg.dataset.margin);
  }

  #place(name) {
    const at = point(name, this.size);
    return at && [this.margin + this.cell * at[0], this.margin + this.cell * (this.size - 1 - at[1])];
  }

  #fill(group, shapes) {
    this.svg.querySelector(`g.${group}`)?.replaceChildren(...shapes);
  }

  stones(position, marked = true) {
    const shapes = [];
    for (const [name, color] of position.stones) {
      const [x, y] = this.#place(name);
      shapes.push(shape("circle", { class: color, cx: x, cy: y, r: 19, fill: FILL[color], stroke: FILL.b }));
    }
    if (marked && position.last !== null) {
      const [x, y] = this.#place(position.last);
      const color = position.stones.get(position.last);
      const look = { fill: "none", stroke: FILL[other(color)], "stroke-width": 3 };
      shapes.push(shape("circle", { class: `last ${color}`, cx: x, cy: y, r: 8, ...look }));
    }
    this.#fill("stones", shapes);
  }

  // `numbers`: vertex -> what is written there.
  numbers(numbers, position) {
    const shapes = [];
    for (const [name, number] of numbers) {
      const color = position.stones.get(name);
      if (color === undefined) continue;
      const [x, y] = this.#place(name);
      const now = name === position.last ? " now" : "";
      shapes.push(shape("text", { class: color + now, x, y: y + 5, fill: FILL[other(color)] }, String(number)));
    }
    this.#fill("numbers", shapes);
  }

  // `levels`: a character a point, from the mover's side.
  owners(levels, mover, position) {
    const shapes = [];
    for (let index = 0; index < levels.length; index++) {
      const share = Math.min(LEVELS.indexOf(levels[index]) / 31 - 1, 1) * (mover === "b" ? 1 : -1);
      const color = share > 0 ? "b" : "w";
      const name = vertex(index % this.size, this.size - 1 - Math.floor(index / this.size));
      if (Math.abs(share) < 0.08 || position.stones.get(name) === color) continue;
      const [x, y] = this.#place(name);
      const half = 3 + 9 * Math.abs(share);
      const place = { x: x - half, y: y - half, width: 2 * half, height: 2 * half };
      shapes.push(shape("rect", { class: color, ...place, fill: FILL[color] }));
    }
    this.#fill("owners", shapes);
  }

  // `proposals`: [{vertex, letter, words}], best first.
  proposals(proposals, position) {
    const shapes = [];
    proposals.forEach((proposal, rank) => {
      const at = this.#place(proposal.vertex);
      if (at === null || position.stones.has(proposal.vertex)) return;
      const [x, y] = at;
      const group = shape("g", { class: rank === 0 ? "proposal best" : "proposal" });
      group.append(shape("circle", { cx: x, cy: y, r: 18, fill: "#7db7d8" }));
      const raised = proposal.words ? 0 : 5;
      group.append(shape("text", { x, y: y + raised, "font-size": 15 }, proposal.letter));
      if (proposal.words) group.append(shape("text", { x, y: y + 12, "font-size": 11 }, proposal.words));
      shapes.push(group);
    });
    this.#fill("proposals", shapes);
  }

  describe(title, words) {
    const [head, text] = [this.svg.querySelector("title"), this.svg.querySelector("desc")];
    if (head !== null) head.textContent = title;
    if (text !== null) text.textContent = words;
  }
}
