// warpbook.mjs - what `warpbook` draws and prints, for a slide. Results are kept until the program or the kernel changes.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { hashOf, image } from "./pictures.mjs";
import { codeBlock, escapeHtml, fromTo, pick } from "./quote.mjs";

// The number of the only line that holds `text`.
function lineNumber(file, text, read) {
    const lines = read(file).split("\n");
    const found = lines.flatMap((line, i) => (line.includes(text) ? [i + 1] : []));
    if (found.length !== 1) throw Error(`${found.length} lines of ${file} hold '${text}'; line= must name one`);
    return String(found[0]);
}

function placeholder(words) {
    return `<div class="missing" role="img" aria-label="missing">This is missing: warpbook ${escapeHtml(words.join(" "))}</div>`;
}

export class Warpbook {
    // `program` is build/warpbook; with `isDraft` what it cannot do is a red box.
    constructor(program, cache, isDraft) {
        Object.assign(this, { program, cache, isDraft, missing: 0 });
        this.version = existsSync(program) ? hashOf(readFileSync(program)) : "";
        mkdirSync(cache, { recursive: true });
    }

    // What the command writes to the file that follows it (`--svg`), or prints; from the cache if nothing changed.
    result(words, read, option) {
        const sources = words.filter((word) => /\.(cu|h|c)$/.test(word)).map(read);
        const kept = `${this.cache}/${hashOf(this.version, ...words, ...sources)}${option ? ".svg" : ".txt"}`;
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

    orPlaceholder(words, action) {
        try {
            return action();
        } catch (error) {
            if (!this.isDraft || !error.message.includes("warpbook")) throw error;
            this.missing++;
            return placeholder(words);
        }
    }

    // ```draw KIND LAB submission=FILE line=N alt="...": the SVG of `warpbook draw`.
    draw(words, { alt, width, line, ...rest }, read) {
        if (!alt) throw Error("draw needs alt=\"...\"");
        if (line !== undefined && !/^\d+$/.test(line)) line = lineNumber(rest.submission, line, read);
        const given = Object.entries({ ...rest, ...(line && { line }) }).flatMap(([name, value]) => [`--${name}`, value]);
        const command = ["draw", ...words, ...given];
        return this.orPlaceholder(command, () => image(this.result(command, read, "--svg"), alt, width));
    }

    // ```run COMMAND...: what `warpbook COMMAND` prints, or a part of it, below the command.
    run(words, { from, to, lines, mark, shown, ...rest }, read) {
        for (const option of Object.keys(rest)) throw Error(`run has no option '${option}'`);
        return this.orPlaceholder(words, () => {
            const name = `warpbook ${words.join(" ")}`;
            let printed = this.result(words, read).trimEnd().split("\n").map((text) => ({ text, changed: mark !== undefined && text.includes(mark) }));
            printed = fromTo(printed, from, to, name);
            if (lines) printed = pick(printed, lines, name);
            if (mark !== undefined && !printed.some(({ changed }) => changed)) throw Error(`${name}: no line holds '${mark}'`);
            return codeBlock([{ text: `$ ${shown ?? `build/${name}`}`, changed: false }, ...printed], { language: "console" });
        });
    }
}
