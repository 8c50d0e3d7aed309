"use strict";
// Sorts tables by a click, or by Enter or Space, on the name of a column.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = Array.from(table.tHead.rows[0].cells);
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const descending = head.getAttribute("aria-sort") === "ascending";
      const body = table.tBodies[0];
      const value = (row) => {
        const cell = row.cells[column];
        const number = cell.dataset.value;
        return number === undefined ? cell.textContent.trim() : Number(number);
      };
      const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
      const rows = Array.from(body.rows);
      rows.sort((a, b) => (descending ? -1 : 1) * compare(value(a), value(b)));
      body.append(...rows);
      for (const other of heads) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    });
  });
}
