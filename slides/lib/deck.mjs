// deck.mjs - turns slides/NN_name.md into plain Marp Markdown, slide by slide, and resolves the notation of AUTHORING.md.
// Anything that is missing or empty is an error with file and line; all errors are collected.
import { existsSync } from "node:fs";
import { checkSum } from "./figures.mjs";
import { figureFile, plot } from "./pictures.mjs";
import { codeBlock, escapeHtml, quote } from "./quote.mjs";

const fence = /^```(\w*)\s*(.*)$/;
const figure = /\{\{(.+?)\}\}/g;
const number = /(?<![A-Za-z_\d.,])\d[\d,]*(?:\.\d+)?/g;
const classes = ["title", "part", "question"];
const nameOfPart = /\b(?:labs|rungs|decks|slides|questions) \d+(?:(?:,| and| to) \d+)*|\b(?:lab|rung|deck|slide|question) \d+/g; // a label, not a figure
const plainNumber = (text) => text.replaceAll(",", "");

// Parses `transpose.cu kernel from="a b" lines=1-4` into { words, given }.
function parseOptions(text) {
    const words = [], given = {};
    for (const [whole, name, , double, single] of text.matchAll(/([A-Za-z_][\w-]*)=("([^"]*)"|'([^']*)'|\S+)|\S+/g)) {
        if (name === undefined) words.push(whole);
        else given[name] = double ?? single ?? whole.slice(name.length + 1);
    }
    return { words, given };
}

const measured = (sources) => [...sources].map(([from, files]) =>
    `Measured: ${from}, docs/measured/${[...files].map((file) => file.replace(/^docs.measured.|\.txt$/g, "")).join(" and ")}`);

class Slide {
    constructor(line, afterLab) {
        Object.assign(this, { line, afterLab, isOptional: false, minutes: 0, heading: "" });
        this.markdown = [];
        this.notes = [];
        this.cites = new Set();
        this.sources = new Map(); // "device, date" -> files
        this.noteSources = new Map(); // the same for figures that only the note names
        this.drawn = new Set();
    }

    cite(used, sources = this.sources) {
        for (const { device, date, file } of used) {
            const from = `${device.replace(/, \d+ SMs$/, "")}, ${date}`;
            sources.set(from, (sources.get(from) ?? new Set()).add(file));
        }
    }

    corner() {
        const drawn = [...this.drawn].map((what) => `Drawn from a simulated run of ${what}`);
        return [...measured(this.sources), ...[...this.cites].map((text) => `Source: ${text}`), ...drawn].join(". ");
    }

    // The corner names what the slide shows; what only the note says is named at its end.
    endNotes() {
        for (const [from, files] of this.noteSources)
            for (const file of files) if (this.sources.get(from)?.has(file)) files.delete(file);
        const sources = [...this.noteSources].filter(([, files]) => files.size);
        if (sources.length) this.notes.push(`${measured(sources).join(". ")}.`);
    }
}

export class Deck {
    constructor(file, { read, figures, warpbook }) {
        Object.assign(this, { file, figures, warpbook, errors: [], slides: [], head: {} });
        this.read = (path) => {
            if (!existsSync(path)) throw Error(`no file '${path}'`);
            return read(path);
        };
        this.afterLab = false;
        this.parse(read(file).split("\n"));
    }

    get slide() { return this.slides.at(-1); }

    complain(line, message) { this.errors.push(`${this.file}:${line}: ${message}`); }

    attempt(line, action) {
        try {
            return action();
        } catch (error) {
            this.complain(line, error.message);
            return "";
        }
    }

    // ---- The deck, its head, its slides ----

    parse(lines) {
        let at = 0;
        if (lines[0] === "---") {
            for (at = 1; at < lines.length && lines[at] !== "---"; at++) {
                const row = lines[at].match(/^(\w+):\s*(.*)$/);
                if (row) this.head[row[1]] = row[2].replace(/^"(.*)"$/, "$1");
                else this.complain(at + 1, "the head may contain only lines of the form 'name: value'");
            }
            at++;
        }
        if (!this.head.title) this.complain(1, "the head has no 'title:'");
        this.begin(at + 1);
        while (at < lines.length) at = this.parseBlock(lines, at);
        this.end();
    }

    begin(line) {
        this.slides.push(new Slide(line, this.afterLab));
        this.endTable();
    }

    end() {
        const slide = this.slide, corner = slide.corner();
        slide.endNotes();
        if (corner) slide.markdown.push("", `<div class="sources">${escapeHtml(corner)}</div>`);
        const minutes = slide.notes.join("\n").match(/^\s*(\d+(?:\.\d+)?) min\./);
        if (!slide.heading) this.complain(slide.line, "the slide has no heading");
        if (!minutes) this.complain(slide.line, `slide '${slide.heading}' has no note that begins with its minutes, as in '2 min.'`);
        slide.minutes = Number(minutes?.[1] ?? 0);
    }

    // Reads one line, or the block that it begins; returns the index of the next line.
    parseBlock(lines, at) {
        const line = lines[at], open = line.match(fence);
        if (open) {
            let end = at + 1;
            while (end < lines.length && !/^```\s*$/.test(lines[end])) end++;
            if (end === lines.length) this.complain(at + 1, "the fence does not end");
            this.endTable();
            this.slide.markdown.push("", this.attempt(at + 1, () => this.block(open[1], open[2], lines.slice(at + 1, end), at + 1)), "");
            return end + 1;
        }
        if (/^---\s*$/.test(line)) {
            this.end();
            this.begin(at + 2);
            return at + 1;
        }
        const comment = line.lastIndexOf("<!--");
        if (comment >= 0 && !line.includes("-->", comment)) {
            let end = at + 1;
            while (end < lines.length && !lines[end].includes("-->")) end++;
            if (end === lines.length) this.complain(at + 1, "the comment does not end");
            const text = [line.slice(comment + 4), ...lines.slice(at + 1, end), (lines[end] ?? "").replace(/-->.*/, "")].join("\n");
            if (line.slice(0, comment).trim()) this.complain(at + 1, "a comment of several lines must begin at the start of a line");
            this.slide.notes.push(this.attempt(at + 1, () => this.fillNote(text)).trim());
            return end + 1;
        }
        this.parseLine(line, at + 1);
        return at + 1;
    }

    // ---- Fences ----

    block(kind, info, body, line) {
        const { words, given } = parseOptions(info);
        if (["code", "draw", "run"].includes(kind) && body.some((text) => text.trim())) throw Error(`a ${kind} block must be empty`);
        for (const name of Object.keys(given)) if (name === "alt") given.alt = this.fillPlain(given.alt);
        switch (kind) {
        case "code":
            return quote(words, given, this.read);
        case "plot":
            return plot(body.map((text, i) => this.attempt(line + 1 + i, () => this.fillPlain(text))).join("\n") + "\n", given);
        case "draw":
            if (words[0] !== "ladder") this.slide.drawn.add(given.submission ?? words[1]);
            return this.warpbook.draw(words, given, this.read);
        case "run":
            return this.warpbook.run(words, given, this.read);
        case "cuda":
        case "console":
            return codeBlock(body.map((text) => ({ text, changed: false })), { language: kind });
        default:
            throw Error(`unknown fence '${kind}': code, plot, draw, run, cuda or console`);
        }
    }

    // ---- Lines ----

    parseLine(line, at) {
        const backing = []; // cites and calcs of this line
        let text = line.replace(/<!--(.*?)-->/g, (_, comment) => this.comment(comment.trim(), backing, at));
        const isComment = text.trim() === "" && line.trim() !== "";
        if (isComment) this.tableBacking.push(...backing);
        if (/^<table/.test(text)) this.complain(at, "write tables in Markdown; numbers in HTML cannot be checked");
        if (text.startsWith("|")) this.tableRow(line, at);
        else if (text.trim() !== "") this.endTable();
        const heading = text.match(/^#{1,2} (.*)/);
        text = this.attempt(at, () => this.fill(this.links(text, at)));
        if (heading && !this.slide.heading) this.slide.heading = this.attempt(at, () => this.fillPlain(heading[1])).replace(/[`*]/g, "");
        if (/^\*\*[^*]+\*\*\s*$/.test(text)) text = `<div class="number">\n\n${text.trim()}\n\n</div>\n`;
        if (!isComment) this.slide.markdown.push(text);
    }

    // The text that replaces a comment of one line, mostly none.
    comment(text, backing, at) {
        const [, name, value] = text.match(/^([\w-]+)(?::\s*(.*))?$/s) ?? [];
        if (name === "cite" && value) {
            this.slide.cites.add(value);
            backing.push({ cite: value });
        } else if (name === "calc" && value) {
            const sum = this.attempt(at, () => this.fillPlain(value));
            this.attempt(at, () => checkSum(sum));
            backing.push({ calc: sum });
        } else if (name === "optional" && !value) this.slide.isOptional = true;
        else if (name === "after-lab" && !value) this.afterLab = this.slide.afterLab = true;
        else if (name === "_class" && value) {
            if (!classes.includes(value)) this.complain(at, `unknown class '${value}': ${classes.join(", ")}`);
            this.slide.markdown.push(`<!-- _class: ${value} -->`, "");
        } else this.slide.notes.push(this.attempt(at, () => this.fillNote(text)));
        return "";
    }

    // ---- Tables: every number has a source ----

    endTable() {
        this.tableRows = 0;
        this.tableBacking = [];
    }

    tableRow(line, at) {
        if (this.tableRows++ < 2) return; // the header row and the rule below it
        const cells = line.replace(/^\||\|\s*$/g, "").split("|").slice(1);
        for (const cell of cells) {
            const own = [...cell.matchAll(/<!--\s*(cite|calc):\s*(.*?)\s*-->/g)].map(([, kind, text]) => ({ [kind]: text }));
            const backing = [...own, ...this.tableBacking];
            if (backing.some(({ cite }) => cite)) continue;
            const worked = backing.flatMap(({ calc }) => calc.match(number) ?? []).map(plainNumber);
            const bare = cell.replace(/<!--.*?-->|`[^`]*`|\{\{.*?\}\}/g, "").replace(nameOfPart, "");
            for (const found of bare.match(number) ?? [])
                if (!worked.includes(plainNumber(found))) this.complain(at, `the number ${found} in a table has no key, cite or calc`);
        }
    }

    // ---- Figures, links and pictures within a line ----

    resolve(inner, sources) {
        const found = this.figures.resolve(inner, this.head.lab);
        this.slide.cite(found.used, sources);
        return found;
    }

    fillNote(text) { return text.replace(figure, (_, inner) => this.resolve(inner, this.slide.noteSources).text); }

    fillPlain(text) { return text.replace(figure, (_, inner) => this.resolve(inner).text); }

    // Inserts figures: as elements or, between backticks, as plain text.
    fill(text) {
        return text.split(/(`[^`]*`)/).map((piece) => piece.startsWith("`") ? this.fillPlain(piece) : piece.replace(figure, (_, inner) => {
            const { text, used } = this.resolve(inner);
            return `<span class="figure" title="${escapeHtml(used.map(({ key }) => key).join(" over "))}">${text}</span>`;
        })).join("");
    }

    links(text, at) {
        return text.replace(/(!?)\[([^\]]*)\]\(([^)\s]+)\)/g, (whole, isPicture, label, target) => {
            if (isPicture) return this.attempt(at, () => figureFile(target, this.fillPlain(label), this.read));
            if (/^https:\/\/[\w.-]+\.\w+(\/\S*)?$/.test(target)) return whole;
            if (/^[a-z]+:/.test(target)) this.complain(at, `the link ${target} is not https`);
            else if (!existsSync(target.replace(/#.*/, ""))) this.complain(at, `no file '${target}'`);
            return `<span class="path">${label}</span>`;
        });
    }

    // ---- For the page ----

    get minutes() { return this.slides.reduce((sum, slide) => sum + slide.minutes, 0); }
    get shortMinutes() { return this.slides.reduce((sum, slide) => sum + (slide.isOptional ? 0 : slide.minutes), 0); }
    get markdown() { return this.slides.map((slide) => slide.markdown.join("\n").trim()).join("\n\n---\n\n"); }
}
