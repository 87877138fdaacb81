// Tables that are whole on their page sort by a click on a column's head, and show what matches while one types. Where
// a table is only a part, its links and its form ask the server, as they do without scripts.

const text = (cell) => cell.dataset.v ?? cell.textContent.trim();

function sortBy(table, head, index) {
  const up = head.getAttribute("aria-sort") ? head.getAttribute("aria-sort") === "descending" : !head.dataset.down;
  for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
  const body = table.tBodies[0];
  const keyed = [...body.rows].map((row) => [text(row.cells[index]), row]);
  const numbers = keyed.every(([key]) => key === "" || !Number.isNaN(Number(key)));
  keyed.sort(([a], [b]) => {
    if (a === "" || b === "") return (a === "") - (b === ""); // nothing stands last, either way
    const order = numbers ? a - b : a.localeCompare(b, "en", { sensitivity: "base" });
    return up ? order : -order;
  });
  body.append(...keyed.map(([, row]) => row));
}

for (const table of document.querySelectorAll("table[data-whole]")) {
  [...table.tHead.rows[0].cells].forEach((head, index) => {
    const link = head.querySelector("a[data-sort]");
    if (!link) return;
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      sortBy(table, head, index);
    });
  });
  const input = table.dataset.search && document.getElementById(table.dataset.search);
  const said = table.dataset.said && document.getElementById(table.dataset.said);
  if (!input) continue;
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase();
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      row.hidden = !row.dataset.name.toLowerCase().includes(wanted);
      shown += !row.hidden;
    }
    if (said) said.textContent = shown === 1 ? "One bot." : `${shown} bots.`;
  });
}
