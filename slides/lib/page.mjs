// page.mjs - a deck as one self-contained HTML file, and its handout: with theme, fonts and script embedded.
import { Element, Marpit } from "@marp-team/marpit";
import { readFileSync } from "node:fs";
import { escapeHtml } from "./quote.mjs";

const here = new URL("..", import.meta.url);
const text = (name) => readFileSync(new URL(name, here), "utf8");

export const pageFiles = ["theme.css", "page.css", "present.js"];

const fonts = [["Warpbook Sans", "atkinson-hyperlegible-next"], ["Warpbook Mono", "atkinson-hyperlegible-mono"]];

function fontFaces() {
    return fonts.map(([family, name]) => {
        const file = new URL(`node_modules/@fontsource-variable/${name}/files/${name}-latin-wght-normal.woff2`, here);
        return `@font-face { font-family: "${family}"; font-weight: 200 800; src: url(data:font/woff2;base64,${readFileSync(file).toString("base64")}) format("woff2"); }`;
    }).join("\n");
}

let marpit;
function engine() {
    if (marpit) return marpit;
    marpit = new Marpit({ container: false, slideContainer: new Element("div", { class: "slide" }), markdown: ["default", { html: true, linkify: false }], printable: false });
    marpit.themeSet.default = marpit.themeSet.add(text("theme.css"));
    return marpit;
}

function document(title, kind, css, body, script = "") {
    return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
<style>
${fontFaces()}
${text("page.css")}
${css}
</style>
</head>
<body class="${kind}">
${body}
${script && `<script>\n${script}</script>\n`}</body>
</html>
`;
}

// A paragraph's lines in one; lists and indented lines keep their breaks.
const joinLines = (text) => text.replace(/\n(?!\s*\n|\s*[-*] |\s*\d+\. | {4})(?<!\n\n)/g, " ");

// The notes below a slide of the handout, which the speaker's window shows, too.
function notesOf(slide) {
    const flags = [slide.isOptional && "May be dropped.", slide.afterLab && "After the lab."].filter(Boolean).join(" ");
    return `<aside class="notes">${flags && `<span class="flags">${flags}</span> `}${escapeHtml(slide.notes.map(joinLines).join("\n\n"))}</aside>`;
}

// Returns { deck, handout }, two HTML texts. The printed page is a slide or A4.
export function render(deck) {
    const { html, css } = engine().render(`---\npaginate: true\n---\n\n${deck.markdown}`, { htmlAsArray: true });
    const inDeck = html.map((slide, i) => `<div class="slide">${slide}${notesOf(deck.slides[i])}</div>`);
    const onPaper = html.map((slide, i) => `<div class="page"><div class="slide">${slide}</div>${notesOf(deck.slides[i])}</div>`);
    return {
        deck: document(deck.head.title, "deck", `${css}\n@page { size: 1280px 720px; margin: 0; }`, inDeck.join("\n"), text("present.js")),
        handout: document(`${deck.head.title} (handout)`, "handout", `${css}\n@page { size: A4; margin: 12mm 10mm; }`, onPaper.join("\n")),
    };
}
