// warpbook.mjs - what `warpbook` draws and prints, for a slide. Results are cached until the program or the kernel changes.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { crop, hashOf, image } from "./pictures.mjs";
import { codeBlock, escapeHtml, fromTo, pick, wrap } from "./quote.mjs";

// The number of the only line that contains `text`.
function lineNumber(file, text, read) {
    const lines = read(file).split("\n");
    const found = lines.flatMap((line, i) => (line.includes(text) ? [i + 1] : []));
    if (found.length !== 1) throw Error(`${found.length} lines of ${file} hold '${text}'; line= must match exactly one`);
    return String(found[0]);
}

// The files of docs/measured that a drawing of this lab may show.
const measured = (lab) => readdirSync("docs/measured").filter((name) => name.startsWith(`${lab}.`)).map((name) => `docs/measured/${name}`);

function placeholder(words) {
    return `<div class="missing" role="img" aria-label="missing">This is missing: warpbook ${escapeHtml(words.join(" "))}</div>`;
}

export class Warpbook {
    // `program` is build/warpbook; with `isDraft`, a command that fails leaves a red box.
    constructor(program, cache, isDraft) {
        Object.assign(this, { program, cache, isDraft, missing: 0 });
        this.version = existsSync(program) ? hashOf(readFileSync(program)) : "";
        mkdirSync(cache, { recursive: true });
    }

    // The file that caches the command's output, or its drawing (`--svg`), until the program or a file changes.
    placeOf(words, read, option) {
        if (["grade", "explain"].includes(words[0]) && !words.includes("--submission")) throw Error(`warpbook ${words[0]} needs --submission: the deck depends on that file`);
        const sources = words.filter((word) => /\.(cu|h|c)$/.test(word)).map(read);
        if (words[0] === "draw") sources.push(...measured(words[2]).map(read));
        return `${this.cache}/${hashOf(this.version, ...words, ...sources)}${option ? ".svg" : ".txt"}`;
    }

    // The command's output or drawing.
    result(words, read, option) {
        const kept = this.placeOf(words, read, option);
        if (existsSync(kept)) return readFileSync(kept, "utf8");
        if (!this.version) throw Error(`${this.program} is missing: make`);
        const env = { ...process.env, WARPBOOK_BUILD: dirname(this.program) };
        const { status, stdout, stderr, error } = spawnSync(this.program, [...words, ...(option ? [option, `${kept}.new`] : [])], { env, encoding: "utf8" });
        if (error || status > (option ? 0 : 1) || status === null) {
            rmSync(`${kept}.new`, { force: true });
            throw Error(`warpbook ${words.join(" ")}: ${error?.message ?? ((stderr || stdout).trim().replace(/\s+/g, " ") || `status ${status}`)}`);
        }
        if (!option) writeFileSync(`${kept}.new`, stdout);
        renameSync(`${kept}.new`, kept);
        return readFileSync(kept, "utf8");
    }

    // The same; in a draft, null if the command fails.
    resultOrNull(words, read, option) {
        try {
            return this.result(words, read, option);
        } catch (error) {
            if (!this.isDraft) throw error;
            this.missing++;
            return null;
        }
    }

    // ```draw KIND LAB submission=FILE line=N alt="...": the SVG of `warpbook draw`.
    draw(words, { alt, width, line, crop: ranges, ...rest }, read) {
        if (!alt) throw Error("draw needs alt=\"...\"");
        if (line !== undefined && !/^\d+$/.test(line)) line = lineNumber(rest.submission, line, read);
        const given = Object.entries({ ...rest, ...(line && { line }) }).flatMap(([name, value]) => [`--${name}`, value]);
        const command = ["draw", ...words, ...given];
        const svg = this.resultOrNull(command, read, "--svg");
        return svg === null ? placeholder(command) : image(ranges ? crop(svg, ranges) : svg, alt, width);
    }

    // ```run COMMAND...: what `warpbook COMMAND` prints, or a part of it, below the command.
    run(words, { from, to, lines, mark, shown, ...rest }, read) {
        for (const option of Object.keys(rest)) throw Error(`run has no option '${option}'`);
        const text = this.resultOrNull(words, read), name = `warpbook ${words.join(" ")}`;
        if (text === null) return placeholder(words);
        let printed = text.trimEnd().split("\n").map((text) => ({ text, changed: mark !== undefined && text.includes(mark) }));
        try {
            printed = fromTo(printed, from, to, name);
            if (lines) printed = pick(printed, lines, name);
            if (mark !== undefined && !printed.some(({ changed }) => changed)) throw Error(`${name}: no line holds '${mark}'`);
        } catch (error) {
            rmSync(this.placeOf(words, read), { force: true }); // after a time limit, for example: the next build tries again
            throw error;
        }
        const command = wrap(`$ ${shown ?? `build/${name}`}`, " \\").map((text) => ({ text, changed: false }));
        return codeBlock([...command, ...printed], { language: "console" });
    }
}
