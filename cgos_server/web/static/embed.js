// The board in a frame follows its game. The page is complete without this, and then loads itself again.

import { Board, Position, other } from "./board.js";
import { follow } from "./live.js";

const page = document.getElementById("embed");
const data = page.dataset;
const names = (text) => (text ? text.split(" ") : []);
const board = new Board(page.querySelector("svg.board"));
const position = new Position(board.size, names(data.black), names(data.white));
let ply = 0;

function play(move) {
  ply += 1;
  position.play(ply % 2 ? data.first : other(data.first), move);
}

for (const move of names(data.moves)) play(move);

// A page may hold many such frames: those out of view wait.
const end = follow(() => `/api/v1/games/${data.game}/live?since=${ply}`, {
  move({ ply: number, color, move, left }) {
    if (number !== ply + 1) return;
    play(move);
    board.stones(position);
    page.querySelector(`.left-${color}`).textContent = left;
    page.querySelector(".state").textContent = `Move ${ply}`;
  },
  end({ result, sentence }) {
    page.querySelector(".state").textContent = `${result}: ${sentence}`;
    for (const clock of page.querySelectorAll(".left")) clock.textContent = "";
    end();
  },
}, undefined, page);
page.dataset.ready = "1";
