// outline.mjs - the table of decks in slides/README.md, between two comments: slides, minutes, what to drop.
import { basename } from "node:path";

const begin = "<!-- decks -->", end = "<!-- end of decks -->";

// "7, 11-14": numbers of the slides for which `is` holds.
function ranges(slides, is) {
    const parts = [];
    for (const [i, slide] of slides.entries()) {
        if (!is(slide)) continue;
        const last = parts.at(-1);
        if (last?.to === i) last.to = i + 1;
        else parts.push({ from: i + 1, to: i + 1 });
    }
    return parts.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`)).join(", ");
}

function row(deck) {
    const after = deck.slides.findIndex((slide) => slide.afterLab);
    const drop = ranges(deck.slides, (slide) => slide.isOptional);
    return `| [${basename(deck.file, ".md").replaceAll("_", " ")}](${basename(deck.file)}) | ${deck.slides.length} | ${deck.minutes} | ${deck.shortMinutes} | ${drop || "-"} | ${after < 0 ? "-" : after + 1} |`;
}

// How long a deck may be: the opening lecture has three parts, all others are one lecture.
export function complaints(deck) {
    const isOpening = basename(deck.file).startsWith("00_"), [least, most] = isOpening ? [40, 50] : [18, 25], found = [];
    const count = deck.slides.length;
    if (count < least || count > most) found.push(`${deck.file}: ${count} slides, expected ${least} to ${most}`);
    if (!isOpening && deck.shortMinutes > 45) found.push(`${deck.file}: ${deck.shortMinutes} minutes without optional slides, allowed 45`);
    return found;
}

// The README's text with the table of these decks.
export function outline(readme, decks) {
    const from = readme.indexOf(begin), to = readme.indexOf(end);
    if (from < 0 || to < from) throw Error(`slides/README.md has no '${begin}' before '${end}'`);
    const head = "| deck | slides | minutes | minutes, short | drop for the short version | after the lab from |\n|---|---|---|---|---|---|\n";
    return `${readme.slice(0, from)}${begin}\n\n${head}${decks.map(row).join("\n")}\n\n${readme.slice(to)}`;
}
