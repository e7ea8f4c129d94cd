"use strict";
/* Sorts and filters the students' table. Without this script, the table shows all students by
 * name. */
(function () {
    var table = document.getElementById("students");
    var body = table.tBodies[0];
    var rows = Array.prototype.slice.call(body.rows);
    var heads = Array.prototype.slice.call(table.tHead.rows[0].cells);
    var filter = document.getElementById("filter");
    var shown = document.getElementById("shown");

    function key(row, column) {
        var cell = row.cells[column];
        return cell.hasAttribute("data-sort") ? Number(cell.getAttribute("data-sort"))
                                              : cell.textContent.toLowerCase();
    }

    function sort(column) {
        var down = heads[column].getAttribute("aria-sort") === "ascending";
        heads.forEach(function (head) { head.removeAttribute("aria-sort"); });
        heads[column].setAttribute("aria-sort", down ? "descending" : "ascending");
        rows.map(function (row, place) { return { row: row, place: place, key: key(row, column) }; })
            .sort(function (a, b) {
                var order = typeof a.key === "number" ? a.key - b.key : a.key.localeCompare(b.key);
                return (down ? -order : order) || a.place - b.place;
            })
            .forEach(function (one) { body.appendChild(one.row); });
    }

    heads.forEach(function (head, column) {
        var button = document.createElement("button"), printed = document.createElement("span");
        button.type = "button";
        button.textContent = printed.textContent = head.textContent;
        button.addEventListener("click", function () { sort(column); });
        printed.className = "printed"; /* a table head with buttons would not repeat on every printed page */
        head.textContent = "";
        head.appendChild(button);
        head.appendChild(printed);
    });

    function matches(row) {
        var name = filter.elements.name.value.trim().toLowerCase();
        var lab = filter.elements.lab.value, state = filter.elements.state.value;
        var cells = Array.prototype.slice.call(row.cells).filter(function (cell) {
            return cell.hasAttribute("data-state") && (!lab || cell.getAttribute("data-lab") === lab);
        });
        if (name && row.cells[0].textContent.toLowerCase().indexOf(name) < 0)
            return false;
        if (filter.elements.flagged.checked &&
            !cells.some(function (cell) { return cell.hasAttribute("data-flag"); }))
            return false;
        return !state ||
               cells.some(function (cell) { return cell.getAttribute("data-state") === state; });
    }

    function apply() {
        var count = 0;
        rows.forEach(function (row) {
            row.hidden = !matches(row);
            count += !row.hidden;
        });
        shown.textContent = count + " of " + rows.length + " students shown.";
    }

    filter.hidden = false;
    filter.addEventListener("input", apply);
    filter.addEventListener("change", apply);
    filter.addEventListener("submit", function (event) { event.preventDefault(); });
    filter.addEventListener("reset", function () { setTimeout(apply, 0); });
    apply();
})();
