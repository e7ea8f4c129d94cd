// measure.mjs DECK.html... - measures decks in headless Chromium, light and dark; prints faults, and exits with 1 if there are any.
import { readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Chromium } from "../../slides/lib/chromium.mjs";

const script = readFileSync(new URL("measure.js", import.meta.url), "utf8");
const browser = await Chromium.start();
const found = new Set();
let slides = 0;
for (const file of process.argv.slice(2)) {
    const page = await browser.open(pathToFileURL(resolve(file)).href);
    for (const scheme of ["light", "dark"]) {
        await page.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
        for (const fault of await page.evaluate(script)) found.add(`${basename(file)}: ${fault}${/contrast/.test(fault) ? ` (${scheme})` : ""}`);
    }
    slides += await page.evaluate("document.querySelectorAll('.slide').length");
    await page.close();
}
await browser.stop();
for (const fault of found) console.log(fault);
console.log(`${slides} slides measured, ${found.size} faults`);
process.exit(found.size > 0 ? 1 : 0);
