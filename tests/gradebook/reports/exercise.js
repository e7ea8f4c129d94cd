/* exercise.js - uses the class's page like a reader: sorts, filters, resets, and lists the results
 * of its checks. */
(function () {
    var said = [], violations = [];
    document.addEventListener("securitypolicyviolation", function (event) {
        violations.push(event.effectiveDirective);
    });

    function rows() {
        return Array.prototype.slice.call(document.querySelectorAll("#students tbody tr"))
            .filter(function (row) { return row.getClientRects().length > 0; });
    }
    function names() { return rows().map(function (row) { return row.cells[0].textContent; }); }
    function keys(column) {
        return rows().map(function (row) { return Number(row.cells[column].getAttribute("data-sort")); });
    }
    function is_sorted(list, sign) {
        return list.every(function (x, i) { return !i || sign * (x - list[i - 1]) >= 0; });
    }
    function say(what, fine) { said.push((fine ? "yes " : "NO ") + what); }
    function set(name, value) {
        var field = document.getElementById("filter").elements[name];
        if (field.type === "checkbox")
            field.checked = value;
        else
            field.value = value;
        field.dispatchEvent(new Event("input", { bubbles: true }));
    }
    function buttons() { return document.querySelectorAll("#students thead button"); }

    function play() {
        var all = rows().length, before = names().join("|"), button = buttons()[1], first;
        say("the table shows students", all > 10);
        say("each column has a button", buttons().length ===
            document.querySelectorAll("#students thead th").length);
        button.focus();
        say("a button can take the focus", document.activeElement === button);
        button.click();
        say("the first click sorts by total, ascending", is_sorted(keys(1), 1) && names().join("|") !== before);
        say("and aria-sort says ascending", button.parentNode.getAttribute("aria-sort") === "ascending");
        button.click();
        say("the second click sorts descending", is_sorted(keys(1), -1));
        say("and aria-sort says descending", button.parentNode.getAttribute("aria-sort") === "descending");
        buttons()[2].click();
        say("a lab's column sorts", is_sorted(keys(2), 1));
        say("only one column is marked as sorted", document.querySelectorAll("th[aria-sort]").length === 1);
        buttons()[0].click();
        say("names sort", names().every(function (name, i, list) {
            return !i || list[i - 1].toLowerCase().localeCompare(name.toLowerCase()) <= 0;
        }));
        set("name", "núñez");
        say("a name is found in any case", rows().length === 1 && /José Núñez/.test(names()[0]));
        say("the number of shown students is printed", /^1 of /.test(document.getElementById("shown").textContent));
        set("name", "nobody at all");
        say("an unknown name hides all rows", rows().length === 0);
        set("name", "");
        set("state", "suspect");
        first = rows().length;
        say("the state filter works", first > 0 && first < all && rows().every(function (row) {
            return row.querySelector("td[data-state=suspect]");
        }));
        set("lab", document.getElementById("filter").elements.lab.options[1].value);
        say("together with the lab filter", rows().length <= first && rows().every(function (row) {
            return row.cells[2].getAttribute("data-state") === "suspect";
        }));
        set("state", "");
        set("lab", "");
        set("flagged", true);
        say("the flag filter works", rows().length > 0 && rows().length < all &&
            rows().every(function (row) { return row.querySelector("td[data-flag]"); }));
        document.querySelector("#filter button[type=reset]").click();
        setTimeout(end, 50, all);
    }

    function end(all) {
        var picture = new Image(), script = document.createElement("script");
        say("reset shows all students again", rows().length === all);
        say("no student's text has become markup", !document.querySelector(
            "main img, main [onload], main [onerror], td script, th script, bdi > *"));
        say("and no student's script has run", document.title === "Class report");
        say("only the table scrolls sideways",
            document.documentElement.scrollWidth <= document.documentElement.clientWidth);
        script.textContent = "document.title = 'foreign script'";
        document.body.appendChild(script);
        picture.src = "http://127.0.0.1:9/x.png";
        fetch("http://127.0.0.1:9/x").catch(function () {});
        setTimeout(function () {
            say("a foreign script does not run", document.title === "Class report");
            say("no image or address is fetched", violations.indexOf("img-src") >= 0 && violations.indexOf("connect-src") >= 0);
            var list = document.createElement("pre");
            list.id = "exercised";
            list.textContent = "\n" + said.join("\n") + "\nend of exercise\n";
            document.body.appendChild(list);
            if (parent !== window) /* in narrow.html: a frame as wide as a phone */
                parent.postMessage(list.textContent + "wide: " + document.documentElement.clientWidth, "*");
        }, 300);
    }
    play();
})();
