// see.mjs FILE... - opens pages of make see in headless Chromium: axe-core finds nothing, in light and dark, on a desk and on a phone;
// the script draws every part; the keyboard steps through it; nothing is wider than a phone. Prints each fault; status 1 if there is one.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { Chromium } from "../../slides/lib/chromium.mjs";

const axe = readFileSync(new URL("../../slides/node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
let faults = 0;

function expect(fine, file, what) {
    if (fine) return;
    console.log(`FAILED: ${file}: ${what}`);
    faults++;
}

const dark = { features: [{ name: "prefers-color-scheme", value: "dark" }] };
const ways = [["desk, light", 1200, {}], ["desk, dark", 1200, dark], ["phone", 390, {}]];

async function checkWay(page, file, [name, width, media]) {
    await page.send("Emulation.setEmulatedMedia", { media: "", features: [], ...media });
    await page.send("Emulation.setDeviceMetricsOverride", { width, height: 900, deviceScaleFactor: 1, mobile: width < 500 });
    const found = await page.evaluate(`axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
        violations.map(({ id, nodes }) => id + ": " + nodes.length + " of " + nodes[0].html.slice(0, 120)))`);
    for (const violation of found) expect(false, file, `${name}: axe: ${violation}`);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), file, `${name}: wider than the screen`);
}

// Every part is drawn, and the arrow keys step through accesses.
async function checkScript(page, file) {
    const parts = await page.evaluate(`[...document.querySelectorAll("section.access, section.map")].filter((part) => !part.querySelector("svg")).length`);
    expect(parts === 0, file, `${parts} parts are not drawn`);
    const steps = await page.evaluate(`(() => {
        const next = [...document.querySelectorAll("section.access button:not([disabled])")].find((button) => button.textContent === "Next");
        if (!next) return true;
        next.focus();
        const now = next.closest("section").querySelector(".now"), before = now.textContent;
        next.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
        const after = now.textContent;
        next.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft", bubbles: true }));
        return before !== after && now.textContent === before;
    })()`);
    expect(steps, file, "the arrow keys do not step");
    expect(await page.evaluate("!globalThis.alerted"), file, "a script of the source ran");
}

// Without the script, all headings and the text form of each access are there.
async function checkPlain(file) {
    const text = readFileSync(file, "utf8");
    for (const id of ["numbers", "source", "memory", "arrays", "pictures"])
        expect(text.includes(`<section id="${id}">`), file, `section ${id} is missing`);
    expect((text.match(/<section class="access"/g) ?? []).length === (text.match(/class="stage/g) ?? []).length, file, "an access without its text form");
}

const browser = await Chromium.start();
for (const file of process.argv.slice(2)) {
    const page = await browser.open(`file://${resolve(file)}`, { width: 1200, height: 900 });
    await page.evaluate(axe + "; true");
    for (const way of ways) await checkWay(page, file, way);
    await checkScript(page, file);
    await checkPlain(file);
    await page.close();
}
await browser.stop();
process.exitCode = faults > 0 ? 1 : 0;
