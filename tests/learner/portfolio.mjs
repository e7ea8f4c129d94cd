// portfolio.mjs FILE - opens the page of make report in headless Chromium: axe-core finds nothing, in light and dark, on a desk, on a
// phone and in print; nothing is wider than the screen. Prints each fault; status 1 if there is one.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { Chromium } from "../../slides/lib/chromium.mjs";

const axe = readFileSync(new URL("../../slides/node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const dark = { features: [{ name: "prefers-color-scheme", value: "dark" }] };
const ways = [["desk, light", 1200, {}], ["desk, dark", 1200, dark], ["phone", 390, {}], ["phone, dark", 390, dark], ["print", 800, { media: "print" }]];
let faults = 0;

const browser = await Chromium.start();
for (const file of process.argv.slice(2)) {
    const page = await browser.open(`file://${resolve(file)}`, { width: 1200, height: 900 });
    await page.evaluate(axe + "; true");
    for (const [name, width, media] of ways) {
        await page.send("Emulation.setEmulatedMedia", { media: "", features: [], ...media });
        await page.send("Emulation.setDeviceMetricsOverride", { width, height: 900, deviceScaleFactor: 1, mobile: width < 500 });
        const found = await page.evaluate(`axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
            violations.map(({ id, nodes }) => id + ": " + nodes.length + " of " + nodes[0].html.slice(0, 120)))`);
        if (!(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"))) found.push("wider than the screen");
        for (const fault of found) console.log(`FAILED: ${file}: ${name}: ${fault}`);
        faults += found.length;
    }
    await page.close();
}
await browser.stop();
process.exitCode = faults > 0 ? 1 : 0;
