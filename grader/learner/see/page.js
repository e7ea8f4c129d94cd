// page.js - the parts of the page that are stepped through: warps' accesses to memory, and maps of arrays.
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const svgNamespace = "http://www.w3.org/2000/svg";
const LANES = 32, WORD = 4, SECTOR_WORDS = 8, COLUMNS = 32;

// ---- Elements ----

// Text is only ever set as text, never as markup.
function element(parent, name, attributes = {}, text = undefined) {
    const made = parent instanceof SVGElement || name === "svg" ? document.createElementNS(svgNamespace, name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
}

function slider(parent, label, most, changed) {
    const input = element(element(parent, "label", {}, label), "input", { type: "range", min: 0, max: most, value: 0 });
    input.addEventListener("input", changed);
    return input;
}

function key(parent, ...entries) {
    const list = element(parent, "ul", { class: "key" });
    for (const [kind, text] of entries) element(list, "li", { class: kind }, text);
}

const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

// ---- One access of a warp ----

// The words of each lane, as [row, column]; a row is 128 bytes.
function wordsOf(turn, lane) {
    const words = [];
    if (!(turn.mask >>> lane & 1)) return words;
    for (let word = Math.floor(turn.at[lane] / WORD); word <= Math.floor((turn.at[lane] + turn.bytes - 1) / WORD); word++)
        words.push([Math.floor(word / COLUMNS), word % COLUMNS]);
    return words;
}

// Row number to 32 lists of lanes, in order of rows.
function rowsOf(turn) {
    const rows = new Map();
    for (let lane = 0; lane < LANES; lane++)
        for (const [row, column] of wordsOf(turn, lane)) {
            if (!rows.has(row)) rows.set(row, Array.from({ length: COLUMNS }, () => []));
            rows.get(row)[column].push(lane);
        }
    return new Map([...rows].sort((a, b) => a[0] - b[0]));
}

function busiestBank(rows) {
    const words = Array(COLUMNS).fill(0);
    for (const cells of rows.values()) cells.forEach((lanes, bank) => { words[bank] += lanes.length > 0; });
    return words.indexOf(Math.max(...words));
}

const LEFT = 84, CELL = 22, HEIGHT = 18, LANE_TOP = 14, TOP = 74;

function columnX(column, isGlobal) { return LEFT + column * CELL + (isGlobal ? Math.floor(column / SECTOR_WORDS) * 4 : 0); }

function drawHeads(svg, isGlobal) {
    element(svg, "text", { x: LEFT - 8, y: TOP - 8, class: "end" }, isGlobal ? "byte offset" : "bank");
    if (isGlobal)
        for (let sector = 0; sector < 4; sector++)
            element(svg, "text", { x: columnX(sector * 8, true) + 4 * CELL, y: TOP - 8, class: "middle" }, `sector ${sector}`);
    else
        for (let bank = 0; bank < COLUMNS; bank++)
            element(svg, "text", { x: columnX(bank, false) + CELL / 2, y: TOP - 8, class: "middle" }, bank);
}

function drawLanes(svg, turn, chosen) {
    element(svg, "text", { x: LEFT - 8, y: LANE_TOP + 13, class: "end" }, "lane");
    for (let lane = 0; lane < LANES; lane++) {
        const x = LEFT + lane * CELL, isActive = turn.mask >>> lane & 1;
        element(svg, "rect", { x, y: LANE_TOP, width: CELL - 2, height: HEIGHT, class: isActive ? "used" : "", "data-lane": lane });
        element(svg, "text", { x: x + CELL / 2 - 1, y: LANE_TOP + 13, class: isActive ? "on" : "middle" }, lane);
        if (lane === chosen) element(svg, "rect", { x, y: LANE_TOP, width: CELL - 2, height: HEIGHT, class: "chosen" });
    }
}

function drawCell(svg, lanes, x, y, kind, chosen) {
    const isChosen = lanes.includes(chosen);
    element(svg, "rect", { x, y, width: CELL, height: HEIGHT, class: kind, "data-lane": lanes[0] ?? -1 });
    if (lanes.length) element(svg, "text", { x: x + CELL / 2, y: y + 13, class: "on" }, lanes.length > 1 ? `x${lanes.length}` : lanes[0]);
    if (isChosen) {
        element(svg, "rect", { x, y, width: CELL, height: HEIGHT, class: "chosen" });
        element(svg, "line", { x1: LEFT + chosen * CELL + CELL / 2, y1: LANE_TOP + HEIGHT, x2: x + CELL / 2, y2: y });
    }
}

function drawRow(svg, row, cells, y, isGlobal, bank, chosen) {
    element(svg, "text", { x: LEFT - 8, y: y + 13, class: "end" }, isGlobal ? row * COLUMNS * WORD : `row ${row}`);
    cells.forEach((lanes, column) => {
        const sector = Math.floor(column / SECTOR_WORDS) * SECTOR_WORDS;
        const moved = isGlobal && cells.slice(sector, sector + SECTOR_WORDS).some((other) => other.length);
        const kind = lanes.length ? (isGlobal ? lanes.length > 1 : column === bank) ? "many" : "used" : moved ? "unused" : "";
        if (isGlobal && !moved) return;
        drawCell(svg, lanes, columnX(column, isGlobal), y, kind, chosen);
    });
    for (let sector = 0; isGlobal && sector < 4; sector++)
        element(svg, "rect", { x: columnX(sector * SECTOR_WORDS, true), y, width: SECTOR_WORDS * CELL, height: HEIGHT,
            class: cells.slice(sector * SECTOR_WORDS, (sector + 1) * SECTOR_WORDS).some((lanes) => lanes.length) ? "frame" : "" });
}

function drawTurn(stage, access, turn, chosen) {
    const rows = rowsOf(turn), isGlobal = access.space === "global", height = TOP + rows.size * (HEIGHT + 2) + 4;
    const bank = !isGlobal && turn.passes > turn.least ? busiestBank(rows) : -1;
    const svg = element(stage, "svg", { class: "memory", viewBox: `0 0 ${LEFT + COLUMNS * CELL + 16} ${height}`, role: "img", "aria-label": sentence(access, turn) });
    const pattern = element(element(svg, "defs"), "pattern", { id: "hatch", width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
    element(pattern, "path", { d: "M0 0v5" });
    if (document.querySelectorAll("#hatch").length > 1) svg.querySelector("defs").remove();
    drawHeads(svg, isGlobal);
    drawLanes(svg, turn, chosen);
    let y = TOP;
    for (const [row, cells] of rows) {
        drawRow(svg, row, cells, y, isGlobal, bank, chosen);
        y += HEIGHT + 2;
    }
}

function lanesOf(turn) {
    let count = 0;
    for (let lane = 0; lane < LANES; lane++) count += turn.mask >>> lane & 1;
    return count;
}

function sentence(access, turn) {
    const lanes = plural(lanesOf(turn), "lane"), isGlobal = access.space === "global";
    if (isGlobal) return `${lanes}: ${plural(turn.passes, "sector")}; ${turn.least} would hold the bytes`;
    return `${lanes}: ${plural(turn.passes, "wavefront")}; ${turn.passes > turn.least ? `${turn.least} without bank conflicts` : "no bank conflicts"}`;
}

function laneSentence(access, turn, lane) {
    if (!(turn.mask >>> lane & 1)) return `Lane ${lane} does not take part.`;
    const at = turn.at[lane], size = plural(turn.bytes, "byte");
    if (access.space === "global") return `Lane ${lane}: ${size} at offset ${at} of ${access.array || "the array"}, in sector ${Math.floor(at / 32)}.`;
    return `Lane ${lane}: ${size} at offset ${at}, bank ${Math.floor(at / WORD) % COLUMNS}, row ${Math.floor(at / 128)}.`;
}

function stepThrough(section) {
    const access = data.kernels[section.dataset.kernel].accesses[section.dataset.access];
    const controls = section.querySelector(".controls"), now = section.querySelector(".now"), stage = section.querySelector(".stage");
    let at = 0;
    const previous = element(controls, "button", { type: "button" }, "Previous");
    const next = element(controls, "button", { type: "button" }, "Next");
    const lane = slider(controls, "Lane", LANES - 1, show);

    function show() {
        const turn = access.turns[at], chosen = Number(lane.value);
        previous.disabled = at === 0;
        next.disabled = at === access.turns.length - 1;
        now.textContent = `Execution ${at + 1} of ${access.turns.length} recorded, warp ${turn.warp} of block ${turn.block}. ${sentence(access, turn)}. ${laneSentence(access, turn, chosen)}`;
        stage.replaceChildren();
        drawTurn(stage, access, turn, chosen);
    }
    function step(by) {
        at = Math.min(Math.max(at + by, 0), access.turns.length - 1);
        show();
    }
    previous.addEventListener("click", () => step(-1));
    next.addEventListener("click", () => step(1));
    section.addEventListener("keydown", (event) => {
        if (event.target === lane || event.altKey || event.ctrlKey || event.metaKey) return;
        const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (!by) return;
        step(by);
        event.preventDefault();
    });
    stage.addEventListener("pointerover", (event) => {
        const over = Number(event.target.dataset?.lane ?? -1);
        if (over < 0 || over === Number(lane.value)) return;
        lane.value = over;
        show();
    });
    now.setAttribute("aria-live", "polite");
    controls.hidden = false;
    key(section, ["k1", "one lane"], access.space === "global" ? ["k2", "several lanes"] : ["k2", "in the busiest bank"],
        ...(access.space === "global" ? [["k0", "moved, not used"]] : []));
    show();
}

// ---- Maps of arrays ----

const ACROSS = 32, PLACE = 20;
const fills = ["--c1", "--c3", "--c4", "--c5", "--c6", "--c2"];
const ways = {
    "first block": (cell) => `var(${fills[cell.block % fills.length]})`,
    "time": (cell, most) => cell.begin < 0 ? "none" : shade(cell.begin / (most.begin || 1)),
    "bytes moved, not used": (cell) => shade(1 - Math.min(cell.used / (cell.moved || 1), 1)),
    "bytes moved": (cell, most) => shade(cell.moved / (most.moved || 1)),
};

function shade(share) { return `color-mix(in srgb, var(--c6) ${Math.round(100 * share)}%, var(--panel))`; }

const kindWords = ["read", "written", "updated by atomics"];

// The cells of a matrix are tiles of it.
function placeOf(map, level, at) {
    if (level.across) {
        const row = Math.floor(at / level.across) * level.rows, column = at % level.across * level.bytes;
        const lastRow = Math.min(row + level.rows, Math.ceil(map.bytes / level.rowBytes)) - 1;
        return `Rows ${row} to ${lastRow} of ${map.name}, bytes ${column} to ${Math.min(column + level.bytes, level.rowBytes) - 1} of each`;
    }
    const begin = at * level.bytes - map.start;
    return `Bytes ${Math.max(begin, 0)} to ${Math.min(begin + level.bytes, map.bytes) - 1} of ${map.name}`;
}

function cellSentence(map, level, at, cell) {
    const where = placeOf(map, level, at);
    if (!cell) return `${where}: not touched.`;
    const kinds = kindWords.filter((_, kind) => cell.kinds >> kind & 1).join(", ") || "moved, but not used";
    const first = cell.kinds ? ` First by block ${cell.block}, warp ${cell.warp}, lane ${cell.lane}${cell.begin < 0 ? "" : `; its block begins at ${cell.begin} us`}.` : "";
    return `${where}: ${kinds}.${first} ${cell.moved} bytes moved, ${cell.used} used.`;
}

function cellsOf(level) {
    const cells = [];
    for (const [at, block, warp, lane, kinds, moved, used, begin] of level.cells)
        cells[at] = { block, warp, lane, kinds, moved, used, begin };
    return cells;
}

function drawMap(stage, map, level, cells, way, chosen) {
    const across = level.across ?? ACROSS, tiles = level.across && level.across * Math.ceil(map.bytes / level.rowBytes / level.rows);
    const count = tiles ?? Math.min(Math.ceil((map.bytes + map.start) / level.bytes), 512), rows = Math.ceil(count / across);
    const most = { begin: 0, moved: 0 };
    for (const cell of cells) {
        most.begin = Math.max(most.begin, cell?.begin ?? 0);
        most.moved = Math.max(most.moved, cell?.moved ?? 0);
    }
    const svg = element(stage, "svg", { class: "memory", viewBox: `0 0 ${LEFT + ACROSS * PLACE + 16} ${rows * PLACE + 8}`, role: "img", "aria-label": `Map of ${map.name}, coloured by ${way}` });
    for (let row = 0; row < rows; row++)
        element(svg, "text", { x: LEFT - 8, y: row * PLACE + 15, class: "end" }, level.across ? `row ${row * level.rows}` : row * ACROSS * level.bytes);
    for (let at = 0; at < count; at++) {
        const cell = cells[at], x = LEFT + at % across * PLACE, y = Math.floor(at / across) * PLACE + 2;
        const rect = element(svg, "rect", { x, y, width: PLACE - 2, height: PLACE - 3, "data-at": at });
        if (cell && (cell.kinds || way.startsWith("bytes"))) rect.style.fill = ways[way](cell, most);
        if (cell?.kinds && way === "first block" && cell.block < 1000)
            element(svg, "text", { x: x + PLACE / 2 - 1, y: y + 12, class: "on small" }, cell.block);
        if (at === chosen) element(svg, "rect", { x, y, width: PLACE - 2, height: PLACE - 3, class: "chosen" });
    }
    return count;
}

function select(parent, label, names, changed) {
    const made = element(element(parent, "label", {}, label), "select");
    for (const name of names) element(made, "option", {}, name);
    made.addEventListener("change", changed);
    return made;
}

function showMap(section) {
    const map = data.kernels[section.dataset.kernel].maps[section.dataset.map];
    const controls = element(section, "div", { class: "controls" });
    const now = element(section, "p", { class: "now", "aria-live": "polite" });
    const stage = element(section, "div", { class: "scroll", tabindex: 0, role: "group", "aria-label": `Map of ${map.name}` });
    const cells = map.levels.map(cellsOf);
    const scale = select(controls, "Show", ["the whole array", "the first 2 KB, by words"], show);
    const way = select(controls, "Colour by", Object.keys(ways), show);
    const place = slider(controls, "Cell", 511, show);

    function show() {
        const level = scale.selectedIndex, chosen = Number(place.value);
        stage.replaceChildren();
        place.max = drawMap(stage, map, map.levels[level], cells[level], way.value, chosen) - 1;
        now.textContent = cellSentence(map, map.levels[level], chosen, cells[level][chosen]);
    }
    stage.addEventListener("pointerover", (event) => {
        const over = event.target.dataset?.at;
        if (over === undefined || over === place.value) return;
        place.value = over;
        show();
    });
    section.hidden = false;
    show();
}

document.querySelectorAll("section.access").forEach(stepThrough);
document.querySelectorAll("section.map").forEach(showMap);
