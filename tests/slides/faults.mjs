// faults.mjs - tests that the build and the measurements of decks find every fault and accept a slide without faults.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Chromium } from "../../slides/lib/chromium.mjs";
import { Deck } from "../../slides/lib/deck.mjs";
import { Figures, checkSum, fixed } from "../../slides/lib/figures.mjs";
import { render } from "../../slides/lib/page.mjs";
import { crop } from "../../slides/lib/pictures.mjs";
import { Warpbook } from "../../slides/lib/warpbook.mjs";

const work = mkdtempSync(join(tmpdir(), "faults-"));
process.on("exit", () => rmSync(work, { recursive: true, force: true }));
let passed = 0, failed = 0;

function check(name, isRight, said = "") {
    if (isRight) passed++;
    else {
        failed++;
        console.log(`FAILED: faults.mjs: ${name}${said && `: ${said}`}`);
    }
}

// ---- Figures and sums ----

const rounds = [[2.5, 0, "2"], [3.5, 0, "4"], [0.125, 2, "0.12"], [1.005, 2, "1.00"], [1.45, 1, "1.4"], [3905, 0, "3905"], [-0.04, 1, "0.0"], [-2.25, 1, "-2.2"]];
for (const [value, digits, text] of rounds) check(`${value} with ${digits} digits is ${text}`, fixed(value, digits) === text, fixed(value, digits));

const sums = [["32 x 4 bytes / 32 bytes per sector = 4", true], ["1 + 2 x 3 = 7", true], ["(1 + 2) x 3 = 9 warps", true], ["ceil(33 / 32) = 2", true],
    ["2^10 = 1,024", true], ["10 / 3 = 3.33", true], ["10 / 3 = 3.34", false], ["32 lanes = 31", false], ["3 4 = 7", false], ["4800 GB/s x 2 s = 9600 GB", true],
    ["min(3, 2 + 2) = 3", true], ["five = 5", false], ["-2 + 5 = 3", true]];
for (const [sum, holds] of sums) {
    let said = "";
    try { checkSum(sum); } catch (error) { said = error.message; }
    check(`the sum '${sum}' is ${holds ? "right" : "wrong"}`, (said === "") === holds, said);
}

// ---- Cuts of drawings ----

// A sentence above the rows wrapped to a second line once, and the cut then went through the labels of row 4.
const rows = `<svg viewBox="0 0 840 100"><text class="dim small end" x="110" y="40.8">4096</text><text class="dim" x="24" y="80">the end</text></svg>`;
const cuts = [["0-36", "0 0 840 45"], ["0-25", "0 0 840 25"], ["0-60", "0 0 840 60"], ["34-60", "0 29 840 31"], ["-25", "0 67 840 33"]];
for (const [cut, expected] of cuts) {
    const [, part] = crop(rows, cut).match(/<svg y="0"[^>]*viewBox="([^"]*)"/) ?? [];
    check(`a cut at ${cut} goes through no text`, part === expected, part);
}

// ---- What fails the build: a slide, and the line and message expected (or none) ----

const build = [
    ["{{5_padded/flat/GB/s %.0f}} GB/s", ""],
    ["{{5_padded/flat/GB/s over 1_naive/flat/GB/s %.1f}} times", ""],
    ["{{07_reduction 1_divergent_tree/large/ratio}}", "1: no figure '1_divergent_tree/large/ratio' in docs/measured/07_reduction"],
    ["{{6_padded/flat/GB/s %.0f}}", "1: no figure '6_padded/flat/GB/s'"],
    ["{{5_padded/flat/GB/s over 1_naive/flat/GB/s}}", "1: .*a quotient needs a format"],
    ["```code solutions/06_transpose/2_blocks_2d.cu transpose\n```", ""],
    ["```code solutions/06_transpose/5_padded.cu transpose_fast\n```", "1: .* has no function or region 'transpose_fast'"],
    ["```code solutions/06_transpose/6_padded.cu\n```", "1: no file 'solutions/06_transpose/6_padded.cu'"],
    ["```code solutions/06_transpose/5_padded.cu transpose_kernel\n```", "1: 2\\d lines of code"],
    ["```code solutions/06_transpose/5_padded.cu transpose\n```", ""], // one of its lines is wider than a slide and is broken
    ["```code solutions/06_transpose/5_padded.cu transpose lines=3-99\n```", "1: .*no lines 3-99"],
    ["```code solutions/06_transpose/5_padded.cu transpose mark=\"absent\"\n```", "1: .*no quoted line holds 'absent'"],
    ["```code solutions/06_transpose/5_padded.cu transpose from=\"absent\"\n```", "1: .*no line holds 'absent'"],
    ["```code solutions/06_transpose/5_padded.cu transpose since=solutions/06_transpose/4_tile.cu colour=red\n```", "1: code has no option 'colour'"],
    [`\`\`\`cuda\n${"x".repeat(81)}\n\`\`\``, "1: 81 columns of code"],
    [`\`\`\`console\n${"x\n".repeat(19)}\`\`\``, "1: 19 lines of code"],
    ["```python\n```", "1: unknown fence 'python'"],
    ["```plot alt=\"a line that rises\"\nplot x linestyle 1\n```", ""],
    ["```plot\nplot x linestyle 1\n```", "1: plot needs alt="],
    ["```plot alt=\"a line that rises\"\nplot x lc rgb 'red'\n```", "1: the plot uses rgb"],
    ["```plot alt=\"a line that rises\"\nplot {{absent %.0f}}\n```", "2: no figure 'absent'"],
    ["```plot alt=\"a line that rises\"\nplot x linestyle\n```", "1: gnuplot: "],
    ["```draw sectors 06_transpose\n```", "1: draw needs alt="],
    ["```draw sectors 06_transpose submission=solutions/06_transpose/1_naive.cu line=\"row\" alt=\"32 lanes\"\n```", "1: \\d+ lines of .* hold 'row'"],
    ["```draw sectors 06_transpose alt=\"32 lanes\"\n```", "1: .*absent is missing"],
    ["```run calc banks --stride 34\n```", "1: .*absent is missing"],
    ["```run calc banks\ntext\n```", "1: a run block must be empty"],
    ["![](labs/06_transpose/figure.svg)", "1: the picture .* needs an alt text"],
    ["![a tile](labs/06_transpose/absent.svg)", "1: no file"],
    ["[lesson](labs/06_transpose/README.md)", ""],
    ["[lesson](labs/06_transpose/ABSENT.md)", "1: no file 'labs/06_transpose/ABSENT.md'"],
    ["[paper](http://example.com/)", "1: the link http://example.com/ is not https"],
    ["| a | b |\n|---|---|\n| 5 | {{5_padded/flat/ratio %.2f}} |", ""],
    ["| a | b |\n|---|---|\n| five | 12 |", "3: the number 12 in a table has no key, cite or calc"],
    ["| a | b |\n|---|---|\n| five | 12 <!-- cite: Harris 2007, G80 --> |", ""],
    ["| a | b |\n|---|---|\n| five | H200, `12`, sm_90 |", ""],
    ["| a | b |\n|---|---|\n| five | labs 06, 07 and rungs 3 to 5 |", ""],
    ["| a | b |\n|---|---|\n| five | rung 3, 12 |", "3: the number 12"],
    ["| a | b |\n|---|---|\n| five | 12 <!-- calc: 3 x 4 = 12 --> |", ""],
    ["| a | b |\n|---|---|\n| five | 13 <!-- calc: 3 x 4 = 12 --> |", "3: the number 13 in a table"],
    ["| a | b |\n|---|---|\n| five | 13 <!-- calc: 3 x 4 = 13 --> |", "3: .*the left side is 12"],
    ["<!-- cite: Harris 2007, G80 -->\n| a | b |\n|---|---|\n| five | 12 |", ""],
    ["<!-- cite: Harris 2007, G80 -->\n\nText.\n\n| a | b |\n|---|---|\n| five | 12 |", "7: the number 12"],
    ["<table><tr><td>12</td></tr></table>", "1: write tables in Markdown"],
    ["<!-- _class: huge -->", "1: unknown class 'huge'"],
    ["```code solutions/06_transpose/5_padded.cu transpose", "the fence does not end"],
    ["<!--\nnever closed", "the comment does not end"],
];

const read = (path) => readFileSync(path, "utf8");
const tools = { read, figures: new Figures(read), warpbook: new Warpbook(join(work, "absent"), join(work, "kept"), false) };

function deckOf(text) {
    const file = join(work, "deck.md");
    writeFileSync(file, text);
    return new Deck(file, tools);
}
const head = "---\ntitle: Test\nlab: 06_transpose\n---\n";
for (const [body, fault] of build) {
    const { errors } = deckOf(`${head}## Heading\n<!-- 1 min. Say this. -->\n${body}\n`);
    const said = errors.map((error) => error.replace(/^.*?:(\d+): /, (_, line) => `${line - 6}: `));
    check(body.split("\n").join(" / "), fault === "" ? said.length === 0 : said.some((text) => new RegExp(fault).test(text)), said.join("; "));
}
const slides = [["## Heading\n", "has no note that begins with its minutes"], ["<!-- 1 min. Say this. -->\nText\n", "has no heading"], ["## Heading\n<!-- Say this. -->\n", "has no note"]];
for (const [body, fault] of slides) check(fault, deckOf(head + body).errors.some((text) => text.includes(fault)));
check("a head without a title", deckOf("---\nlab: 06_transpose\n---\n## H\n<!-- 1 min. -->").errors.some((text) => text.includes("no 'title:'")));

const since = deckOf(`${head}## H\n<!-- 1 min. -->\n\`\`\`code solutions/06_transpose/5_padded.cu transpose_kernel since=solutions/06_transpose/4_tile.cu to="first_row" notes=off\n\`\`\`\n`);
const changed = [...since.markdown.matchAll(/class="line changed">(.*?)<\/span>/g)].map(([, line]) => line);
check("since= marks the one line that is new", changed.length === 1 && changed[0].includes("[PITCH]"), [...changed, ...since.errors].join("; "));
const cited = deckOf(`${head}## H {{5_padded/flat/GB/s %.0f}}\n<!-- 1 min. -->\n<!-- cite: Harris 2007, G80 -->\n`);
check("the corner names device, date, file and citation", /Measured: NVIDIA H\d+, 20\d\d-\d\d-\d\d, docs\/measured\/06_transpose.check. Source: Harris 2007, G80/.test(cited.markdown), cited.markdown);
const noted = deckOf(`${head}## H\n<!-- 1 min. Say {{5_padded/flat/GB/s %.0f}}. -->\n`);
check("a figure of the note is cited there, not in the corner", !noted.markdown.includes("Measured:") && /Say \d+\.\n\nMeasured: NVIDIA H\d+/.test(noted.slides[0].notes.join("\n\n")), noted.slides[0].notes.join("; "));

// ---- What the measurements find: slides of one deck, each with its fault ----

const text = (count) => "Long text that fills the slide from side to side and then some more of it.\n\n".repeat(count);
const svg = (body) => `<img class="picture" alt="a drawing for a test" src="data:image/svg+xml;base64,${Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 200" width="800">${body}</svg>`).toString("base64")}">`;
const pages = [
    ["Text, `code` and {{5_padded/flat/GB/s %.0f}} GB/s.", null],
    [text(15), /overflow/],
    ["<p style=\"white-space: nowrap\">" + "wide ".repeat(80) + "</p>", /overflow/],
    ["<p style=\"color: #999; background: #fff\">faint</p>", /contrast .* of 'faint'/],
    ["<p style=\"color: #333\">dark on dark</p>", /contrast .* of 'dark on dark'.*/],
    ["<p style=\"font-size: 17px\">small</p>", /font size 17 of 'small'/],
    ["<pre class=\"code\"><code style=\"font-size: 18px\"><span class=\"line\">small</span></code></pre>", /font size 18 of 'small', required 21.3/],
    ["<a href=\"labs/06\">nowhere</a>", /the link labs\/06 leads nowhere/],
    ["<img class=\"picture\" src=\"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>\">", /no alt text/],
    ["<img class=\"picture\" alt=\"a picture elsewhere\" src=\"file:///absent.png\">", /is not embedded in the file/],
    ["<svg class=\"picture\" width=\"9\" height=\"9\"></svg>", /no alt text/],
    [svg("<text x='10' y='50' font-size='20' fill='#888' style='color-scheme: light dark; fill: light-dark(#111, #eee)'>fits</text>"), null],
    [svg("<text x='10' y='50' font-size='4' fill='#777'>tiny</text>"), /font size .* of picture's 'tiny'/],
    [svg("<text x='380' y='50' font-size='20' fill='#777'>leaves</text>"), /picture's 'leaves' leaves the picture/],
    [svg("<text x='10' y='50' font-size='20' fill='#ddd'>pale</text>"), /contrast .* of 'picture's 'pale/],
    [svg("<rect width='400' height='200' fill='#111'/><text x='10' y='50' font-size='20' fill='#eee'>on dark</text>"), null],
    ["", /a heading and nothing below it/],
    ["<div class=\"missing\">absent</div>", /a drawing is missing/],
];
const deck = deckOf(head + pages.map(([body]) => `## Heading\n<!-- 1 min. Say this. -->\n\n${body}\n`).join("\n---\n\n"));
check("the faulty deck builds", deck.errors.length === 0, deck.errors.join("; "));
writeFileSync(join(work, "deck.html"), render(deck).deck);
const script = readFileSync(new URL("measure.js", import.meta.url), "utf8");
const browser = await Chromium.start();
const page = await browser.open(pathToFileURL(join(work, "deck.html")).href);
// Keys: [key, the slide shown after it].
const press = (key) => page.evaluate(`document.body.dispatchEvent(new KeyboardEvent("keydown", { key: ${JSON.stringify(key)}, bubbles: true })); location.hash`);
for (const [key, hash] of [["ArrowRight", "#2"], [" ", "#3"], ["ArrowLeft", "#2"], ["End", `#${pages.length}`], ["ArrowRight", `#${pages.length}`], ["Home", "#1"], ["x", "#1"]])
    check(`the key '${key}' shows slide ${hash}`, await press(key) === hash);
await press("d");
check("the key 'd' makes it dark", await page.evaluate("document.documentElement.classList.contains('dark')"));
await press("d");
check("and light again", await page.evaluate("document.documentElement.classList.contains('light')"));
await page.evaluate("document.documentElement.className = ''");
const faults = [];
for (const scheme of ["light", "dark"]) {
    await page.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
    faults.push(...await page.evaluate(script));
}
await browser.stop();
for (const [i, [body, fault]] of pages.entries()) {
    const said = faults.filter((text) => text.startsWith(`slide ${i + 1}: `)).map((text) => text.replace(/^slide \d+: /, ""));
    check(`measured: ${body.slice(0, 60)}`, fault === null ? said.length === 0 : said.some((text) => fault.test(text)), said.join("; "));
}

console.log(`faults.mjs: ${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
