/* exercise.js - plays a reader of the class's page: sorts, filters, resets, and writes down what it saw. */
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
        say("students are there", all > 10);
        say("each column has a button", buttons().length ===
            document.querySelectorAll("#students thead th").length);
        button.focus();
        say("which takes the focus", document.activeElement === button);
        button.click();
        say("the total sorts up", is_sorted(keys(1), 1) && names().join("|") !== before);
        say("and says so", button.parentNode.getAttribute("aria-sort") === "ascending");
        button.click();
        say("then down", is_sorted(keys(1), -1));
        say("and says that", button.parentNode.getAttribute("aria-sort") === "descending");
        buttons()[2].click();
        say("a lab sorts", is_sorted(keys(2), 1));
        say("one column alone is sorted by", document.querySelectorAll("th[aria-sort]").length === 1);
        buttons()[0].click();
        say("names sort", names().every(function (name, i, list) {
            return !i || list[i - 1].toLowerCase().localeCompare(name.toLowerCase()) <= 0;
        }));
        set("name", "núñez");
        say("a name is found, whatever its case", rows().length === 1 && /José Núñez/.test(names()[0]));
        say("how many is said", /^1 of /.test(document.getElementById("shown").textContent));
        set("name", "nobody at all");
        say("nobody is nobody", rows().length === 0);
        set("name", "");
        set("state", "suspect");
        first = rows().length;
        say("a state filters", first > 0 && first < all && rows().every(function (row) {
            return row.querySelector("td[data-state=suspect]");
        }));
        set("lab", document.getElementById("filter").elements.lab.options[1].value);
        say("in one lab fewer", rows().length <= first && rows().every(function (row) {
            return row.cells[2].getAttribute("data-state") === "suspect";
        }));
        set("state", "");
        set("lab", "");
        set("flagged", true);
        say("flags filter", rows().length > 0 && rows().length < all &&
            rows().every(function (row) { return row.querySelector("td[data-flag]"); }));
        document.querySelector("#filter button[type=reset]").click();
        setTimeout(end, 50, all);
    }

    function end(all) {
        var picture = new Image(), script = document.createElement("script");
        say("all are shown again", rows().length === all);
        say("no student's text has become markup", !document.querySelector(
            "main img, main [onload], main [onerror], td script, th script, bdi > *"));
        say("nor run", document.title === "Class report");
        say("nothing but the table scrolls sideways",
            document.documentElement.scrollWidth <= document.documentElement.clientWidth);
        script.textContent = "document.title = 'foreign script'";
        document.body.appendChild(script);
        picture.src = "http://127.0.0.1:9/x.png";
        fetch("http://127.0.0.1:9/x").catch(function () {});
        setTimeout(function () {
            say("a foreign script does not run", document.title === "Class report");
            say("nothing is fetched", violations.indexOf("img-src") >= 0 && violations.indexOf("connect-src") >= 0);
            var list = document.createElement("pre");
            list.id = "exercised";
            list.textContent = "\n" + said.join("\n") + "\nend of exercise\n";
            document.body.appendChild(list);
            if (parent !== window) /* narrow.html: a frame as wide as a phone */
                parent.postMessage(list.textContent + "wide: " + document.documentElement.clientWidth, "*");
        }, 300);
    }
    play();
})();
