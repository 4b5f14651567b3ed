// Sorts a table by the column of the button, and hides the rows that do not hold what is searched.
const valueOf = (row, column) => {
  const cell = row.cells[column];
  if (cell === undefined || cell.colSpan > 1) return -Infinity; // a method that failed
  return cell.dataset.value === undefined ? cell.textContent.trim() : Number(cell.dataset.value);
};

for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0];
  [...table.tHead.rows[0].cells].forEach((head, column, heads) => {
    const button = head.querySelector("button");
    if (button === null) return;
    button.addEventListener("click", () => {
      const rows = [...body.rows];
      const values = new Map(rows.map((row) => [row, valueOf(row, column)]));
      const numeric = rows.some((row) => typeof values.get(row) === "number");
      const sorted = head.getAttribute("aria-sort");
      const down = sorted === "none" ? numeric && column > 0 : sorted === "ascending";
      const order = numeric
        ? (a, b) => (values.get(a) > values.get(b)) - (values.get(a) < values.get(b))
        : (a, b) => values.get(a).localeCompare(values.get(b), "en", { numeric: true });
      rows.sort((a, b) => (down ? order(b, a) : order(a, b)));
      body.append(...rows);
      heads.forEach((each) => each.hasAttribute("aria-sort") && each.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
    });
  });
}

for (const field of document.querySelectorAll("input[data-table]")) {
  const rows = [...document.getElementById(field.dataset.table).tBodies[0].rows];
  const count = field.parentElement.querySelector("output");
  field.addEventListener("input", () => {
    const wanted = field.value.trim().toLowerCase();
    let shown = 0;
    for (const row of rows) {
      row.hidden = !row.querySelector(".name").textContent.toLowerCase().includes(wanted);
      shown += !row.hidden;
    }
    count.textContent = wanted ? `${shown} of ${rows.length} rows` : `${rows.length} rows`;
  });
}
