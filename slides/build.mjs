// build.mjs - builds build/slides/NN_name.html, .pdf and .handout.pdf from slides/NN_name.md.
//
//     node slides/build.mjs [--draft] [--html] [--out DIR] [--program build/warpbook] [DECK...]
//     node slides/build.mjs --outline check|write
//
// DECK is a number, a lab's name or a file; the default is all decks. --draft shows a red box for a drawing that fails. --html omits PDF.
// A deck is rebuilt if a file that it quotes, or the theme, has changed. Anything missing is an error with file and line.
// --outline compares the table in slides/README.md (minutes, slides to drop) with the decks, or writes it.
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Chromium } from "./lib/chromium.mjs";
import { Deck } from "./lib/deck.mjs";
import { Figures } from "./lib/figures.mjs";
import { complaints, outline } from "./lib/outline.mjs";
import { pageFiles, render } from "./lib/page.mjs";
import { hashOf } from "./lib/pictures.mjs";
import { Warpbook } from "./lib/warpbook.mjs";

const usage = "usage: node slides/build.mjs [--draft] [--html] [--out DIR] [--program FILE] [DECK...], or --outline check|write";

function stop(message, status) {
    console.error(message);
    process.exit(status);
}

function parseArguments(words) {
    const given = { out: "build/slides", program: "build/warpbook", isDraft: false, isHtmlOnly: false, decks: [] };
    while (words.length > 0) {
        const word = words.shift();
        if (word === "--draft") given.isDraft = true;
        else if (word === "--html") given.isHtmlOnly = true;
        else if (word === "--out" && words.length > 0) given.out = words.shift();
        else if (word === "--program" && words.length > 0) given.program = words.shift();
        else if (word === "--outline" && ["check", "write"].includes(words[0])) given.outline = words.shift();
        else if (word.startsWith("-")) stop(`${word}: ${usage}`, 2);
        else given.decks.push(word);
    }
    return given;
}

// The source files of the named decks. A name is a file, a number, or the rest of the file's name.
function findDecks(names) {
    const all = readdirSync("slides").filter((name) => /^\d\d_\w+\.md$/.test(name)).sort().map((name) => `slides/${name}`);
    if (names.length === 0) return all;
    return names.map((name) => {
        if (name.endsWith(".md")) return existsSync(name) ? name : stop(`no file '${name}'`, 2);
        const isIt = (file) => basename(file, ".md") === name || basename(file, ".md").slice(3) === name || (/^\d+$/.test(name) && Number(basename(file).slice(0, 2)) === Number(name));
        return all.find(isIt) ?? stop(`no deck '${name}' in slides/`, 2);
    });
}

// A hash of our files that shape a page. If it changes, all decks are rebuilt.
function toolVersion() {
    const files = ["build.mjs", "package-lock.json", ...pageFiles, ...readdirSync("slides/lib").map((name) => `lib/${name}`)];
    return hashOf(...files.map((name) => readFileSync(`slides/${name}`)));
}

const extensions = (given) => (given.isHtmlOnly ? [".html"] : [".html", ".pdf", ".handout.pdf"]);

function isFresh(given, name, version) {
    const record = `${given.out}/.${name}.json`;
    if (!existsSync(record) || !extensions(given).every((ending) => existsSync(`${given.out}/${name}${ending}`))) return false;
    const { version: then, files } = JSON.parse(readFileSync(record, "utf8"));
    return then === version && Object.entries(files).every(([file, hash]) => existsSync(file) && hashOf(readFileSync(file)) === hash);
}

function writeWhole(file, content) {
    writeFileSync(`${file}.new`, content);
    renameSync(`${file}.new`, file);
}

// Prints `base`.html to `base`.pdf and returns the number of pages.
async function toPdf(browser, base) {
    const page = await browser.open(pathToFileURL(resolve(`${base}.html`)).href), pdf = await page.pdf();
    await page.close();
    writeWhole(`${base}.pdf`, pdf);
    return pdf.toString("latin1").match(/\/Type \/Page\b/g)?.length ?? 0;
}

// Reads and resolves one deck. Returns it with the hashes of the files that it read, or null after errors.
function readDeck(file, warpbook) {
    const files = {};
    const read = (path) => {
        const content = readFileSync(path, "utf8");
        files[path] = hashOf(content);
        return content;
    };
    const missing = warpbook.missing;
    const deck = new Deck(file, { read, figures: new Figures(read), warpbook });
    for (const error of deck.errors) console.error(error);
    return deck.errors.length > 0 ? null : { deck, files, isWhole: warpbook.missing === missing };
}

function writeHtml(name, deck, given) {
    const pages = render(deck);
    writeWhole(`${given.out}/${name}.html`, pages.deck);
    writeWhole(`${given.out}/${name}.handout.html`, pages.handout);
}

// Compares slides/README.md with all decks, or writes its table. Pictures are not needed for that.
function outlineReadme(mode, given) {
    const warpbook = new Warpbook("", `${given.out}/kept`, true);
    const decks = findDecks([]).map((file) => readDeck(file, warpbook)?.deck ?? stop(`${file}: cannot be outlined`, 1));
    const readme = readFileSync("slides/README.md", "utf8"), wanted = outline(readme, decks);
    const found = decks.flatMap(complaints);
    if (found.length > 0) stop(found.join("\n"), 1);
    if (mode === "write") writeWhole("slides/README.md", wanted);
    else if (readme !== wanted) stop("slides/README.md: the table does not match the decks; to write it: node slides/build.mjs --outline write", 1);
}

async function main() {
    const given = parseArguments(process.argv.slice(2));
    const began = Date.now();
    mkdirSync(given.out, { recursive: true });
    if (given.outline) return outlineReadme(given.outline, given);
    const warpbook = new Warpbook(given.program, `${given.out}/kept`, given.isDraft);
    const version = hashOf(toolVersion(), warpbook.version);
    let browser = null, printing = Promise.resolve(); // PDFs of one deck are printed while the next one is read
    const count = { failed: 0, built: 0, fresh: 0 };
    for (const file of findDecks(given.decks)) {
        const name = basename(file, ".md"), record = `${given.out}/.${name}.json`;
        if (isFresh(given, name, version)) {
            count.fresh++;
            continue;
        }
        rmSync(record, { force: true });
        const found = readDeck(file, warpbook);
        if (!found) {
            count.failed++;
            continue;
        }
        writeHtml(name, found.deck, given);
        const finish = async () => {
            const { slides, minutes, shortMinutes } = found.deck;
            if (!given.isHtmlOnly) {
                const [pages] = await Promise.all(["", ".handout"].map((kind) => toPdf(browser, `${given.out}/${name}${kind}`)));
                if (pages !== slides.length) throw Error(`${given.out}/${name}.pdf has ${pages} pages for ${slides.length} slides`);
            }
            if (found.isWhole) writeWhole(record, JSON.stringify({ version, files: found.files }));
            console.log(`${given.out}/${name}: ${slides.length} slides, ${minutes} minutes, ${shortMinutes} without optional ones${found.isWhole ? "" : "; drawings are missing"}`);
        };
        if (!given.isHtmlOnly) browser ??= await Chromium.start();
        printing = printing.then(finish);
        printing.catch(() => {}); // reported when it is awaited
        count.built++;
    }
    await printing;
    await browser?.stop();
    if (count.fresh > 0) console.log(`${count.fresh} decks are up to date`);
    if (count.built > 0) console.log(`${count.built} decks built in ${((Date.now() - began) / 1000).toFixed(1)} s`);
    if (count.failed > 0) stop(`${count.failed} decks failed`, 1);
}

await main().catch((error) => stop(error.message, 1));
