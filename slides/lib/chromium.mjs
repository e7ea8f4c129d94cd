// chromium.mjs - one headless Chromium, driven over a pipe by the DevTools protocol, without any package.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const names = ["chromium", "chromium-browser", "google-chrome"];
const flags = ["--headless", "--remote-debugging-pipe", "--disable-gpu", "--no-first-run", "--hide-scrollbars", "--disable-extensions",
    "--disable-background-networking", "--disable-dev-shm-usage", "--font-render-hinting=none"];

export class Chromium {
    static async start() {
        for (const name of process.env.CHROMIUM ? [process.env.CHROMIUM] : names) {
            const browser = new Chromium();
            if (await browser.launch(name)) return browser;
        }
        throw Error("Chromium is missing: make setup-slides");
    }

    async launch(program) {
        this.profile = mkdtempSync(join(tmpdir(), "slides-"));
        const asRoot = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
        this.process = spawn(program, [...flags, ...asRoot, `--user-data-dir=${this.profile}`, "about:blank"],
            { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
        this.calls = new Map();
        this.events = new Map();
        this.next = 1;
        let rest = "";
        this.process.stdio[4].setEncoding("utf8").on("data", (chunk) => {
            const messages = (rest + chunk).split("\0");
            rest = messages.pop();
            for (const message of messages) this.receive(JSON.parse(message));
        });
        this.ended = new Promise((resolve) => this.process.once("exit", resolve));
        const isRunning = await new Promise((resolve) => {
            this.process.once("error", () => resolve(false));
            this.process.once("spawn", () => resolve(true));
        });
        if (!isRunning) rmSync(this.profile, { recursive: true, force: true });
        else this.ended.then(() => { for (const { reject } of this.calls.values()) reject(Error("Chromium stopped")); });
        return isRunning;
    }

    receive({ id, sessionId, method, params, result, error }) {
        if (id) {
            const { resolve, reject, name } = this.calls.get(id);
            this.calls.delete(id);
            if (error) reject(Error(`Chromium: ${name}: ${error.message}`));
            else resolve(result);
        } else {
            const key = `${sessionId} ${method}`;
            this.events.get(key)?.(params);
            this.events.delete(key);
        }
    }

    send(method, params = {}, sessionId = undefined) {
        const id = this.next++;
        this.process.stdio[3].write(JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) }) + "\0");
        return new Promise((resolve, reject) => this.calls.set(id, { resolve, reject, name: method }));
    }

    // A page that shows `url`, once its fonts and pictures have loaded.
    async open(url, { width = 1280, height = 720 } = {}) {
        const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
        const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
        const page = new Page(this, targetId, sessionId);
        await page.send("Page.enable");
        await page.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
        const loaded = new Promise((resolve) => this.events.set(`${sessionId} Page.loadEventFired`, resolve));
        const { errorText } = await page.send("Page.navigate", { url });
        if (errorText) throw Error(`${url}: ${errorText}`);
        await loaded;
        // A font that the visible slide does not use loads only when asked for; a PDF could be printed without it.
        await page.evaluate("Promise.all([...document.fonts].map((face) => face.load())).then(() => document.fonts.ready).then(() => true)");
        return page;
    }

    async stop() {
        await this.send("Browser.close").catch(() => {});
        await this.ended;
        rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
    }
}

class Page {
    constructor(browser, targetId, sessionId) { Object.assign(this, { browser, targetId, sessionId }); }

    send(method, params) { return this.browser.send(method, params, this.sessionId); }

    async evaluate(expression) {
        const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
        if (exceptionDetails) throw Error(`in the page: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
        return result.value;
    }

    async pdf() {
        const { data } = await this.send("Page.printToPDF", { printBackground: true, preferCSSPageSize: true, generateDocumentOutline: true });
        return Buffer.from(data, "base64");
    }

    async screenshot(clip) {
        const { data } = await this.send("Page.captureScreenshot", { format: "png", ...(clip && { clip: { scale: 1, ...clip } }) });
        return Buffer.from(data, "base64");
    }

    close() { return this.browser.send("Target.closeTarget", { targetId: this.targetId }); }
}
