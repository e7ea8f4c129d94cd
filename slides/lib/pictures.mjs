// pictures.mjs - pictures of a slide: plots by gnuplot, and SVG files.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { escapeHtml } from "./quote.mjs";

export const hashOf = (...parts) => createHash("sha256").update(parts.join("\0")).digest("hex").slice(0, 16);

// ---- Plots ----

// Colours that a script may use, by linestyle: gnuplot writes RGB values, which the page replaces by the theme's colours of these names.
const palette = [
    ["blue", 0, 89, 168, "1 lw 4 pt 7 ps 1.4"], ["orange", 179, 71, 0, "2 lw 4 pt 5 ps 1.4"], ["green", 0, 102, 79, "3 lw 4 pt 9 ps 1.6"],
    ["purple", 122, 59, 143, "4 lw 4 pt 13 ps 1.8"], ["muted", 87, 96, 106, "5 lw 3 pt 6 ps 1.4"], ["orange", 179, 71, 0, "9 lw 3 dt (8,6)"],
];
const ground = ["ground", 255, 255, 255];
const black = ["text", 27, 31, 36];

const hex = ([, ...rgb]) => "#" + rgb.slice(0, 3).map((part) => part.toString(16).padStart(2, "0")).join("");

function prelude(name, size) {
    const styles = palette.map((colour) => {
        const [number, ...rest] = colour[4].split(" ");
        return `set style line ${number} lc rgb "${hex(colour)}" ${rest.join(" ")}`;
    });
    return `set terminal svg size ${size.replace("x", ",")} dynamic noenhanced font "sans,22" name "${name}"
set border 3 lc rgb "${hex(palette[4])}" lw 1.5
set tics nomirror scale 0.5 textcolor rgb "${hex(black)}"
set style fill solid 1 noborder
set boxwidth 0.6
set key outside top center horizontal textcolor rgb "${hex(black)}"
ground = 0xffffff
${styles.join("\n")}
`;
}

// ```plot alt="..." [size=1150x500]: an inline picture that uses the page's font and colours.
export function plot(script, { alt, size = "1150x500", ...rest }) {
    for (const option of Object.keys(rest)) throw Error(`plot has no option '${option}'`);
    if (!alt) throw Error("plot needs alt=\"...\"");
    if (!/^\d+x\d+$/.test(size)) throw Error(`size=${size} is not WIDTHxHEIGHT`);
    const name = "p" + hashOf(script, size).slice(0, 8);
    let svg;
    try {
        svg = execFileSync("gnuplot", ["-"], { input: prelude(name, size) + script, encoding: "utf8", stdio: ["pipe", "pipe", "pipe"] });
    } catch (error) {
        if (error.code === "ENOENT") throw Error("gnuplot is missing: make setup-slides");
        throw Error("gnuplot: " + String(error.stderr).trim().split("\n").join(" "));
    }
    for (const [colour, ...rgb] of [...palette, black, ground])
        svg = svg.replace(new RegExp(`rgb\\(\\s*${rgb[0]},\\s*${rgb[1]},\\s*${rgb[2]}\\)`, "g"), `var(--${colour})`);
    const stray = svg.match(/rgb\([^)]*\)/);
    if (stray) throw Error(`the plot uses ${stray[0]}; use linestyle 1 to 5 or 9`);
    const [width, height] = size.split("x");
    svg = svg.slice(svg.indexOf("<g id=\"gnuplot_canvas\""), svg.lastIndexOf("</svg>"))
        .replace(/<title>.*?<\/title>|<filter.*?<\/filter>|<tspan[^>]*>|<\/tspan>| font-family="[^"]*"| color="(?:white|black)"/gs, "")
        .replaceAll("fill=\"black\"", "fill=\"currentColor\"").replace(/gp(?=Pt|Dot)/g, `${name}-`).replaceAll("gnuplot_canvas", name)
        .replace(/\s*\n\s*/g, " ");
    return `<svg class="picture plot" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeHtml(alt)}">${svg}</svg>`;
}

// ---- Figures of lessons and drawings: pictures of their own, with their own styles ----

export function image(svg, alt, width) {
    const data = Buffer.from(svg).toString("base64");
    return `<img class="picture" alt="${escapeHtml(alt)}"${width ? ` width="${width}"` : ""} src="data:image/svg+xml;base64,${data}">`;
}

// The tops and bottoms of a drawing's texts. Font sizes are those of grader/draw/svg.c.
function textRanges(svg) {
    return [...svg.matchAll(/<text class="([^"]*)"[^>]* y="([\d.]+)"/g)].map(([, classes, y]) => {
        const size = /head/.test(classes) ? 16 : /small/.test(classes) ? 11 : /code/.test(classes) ? 12 : 13;
        return { top: Number(y) - size, bottom: Number(y) + 0.3 * size };
    });
}

// The nearest `y` above (`side` is "top") or below ("bottom") that cuts no text. A cut in pixels would go through a
// label as soon as the lines above it wrap differently.
function besideTexts(y, ranges, side) {
    for (;;) {
        const hit = ranges.find(({ top, bottom }) => top + 1 < y && y < bottom - 1);
        if (!hit) return y;
        y = hit[side];
    }
}

// "0-330,-80": the top 330 and the bottom 80 of a tall picture, one below the other. A cut through a text moves outwards.
export function crop(svg, ranges) {
    const [, open, , width, height] = svg.match(/(<svg[^>]*?viewBox="0 0 (([\d.]+) ([\d.]+))"[^>]*>)/) ?? [];
    const content = svg.slice(svg.indexOf(">", svg.indexOf("<svg")) + 1, svg.lastIndexOf("</svg>"));
    const style = open?.match(/ class="[^"]*"/)?.[0] ?? ""; // the class to which the picture's CSS rules apply
    const texts = textRanges(svg);
    let total = 0, parts = "";
    for (const range of ranges.split(",")) {
        const [, first, last] = range.match(/^(\d*)-(\d+)$/) ?? [];
        let from = first ? Number(first) : height - last, to = Number(first ? last : height);
        if (!open || last === undefined || from < 0 || to <= from || to > Number(height)) throw Error(`crop=${range} is neither FROM-TO nor -LAST within the height ${height}`);
        from = Math.floor(besideTexts(from, texts, "top"));
        to = Math.ceil(besideTexts(to, texts, "bottom"));
        parts += `<svg${style} y="${total}" width="${width}" height="${to - from}" viewBox="0 ${from} ${width} ${to - from}">${content}</svg>`;
        total += to - from;
    }
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${total}" width="${width}" height="${total}">${parts}</svg>`;
}

// Lessons' figures have grey text, readable on light and dark pages but too pale on a slide.
const readable = "<style>:root { color-scheme: light dark } text { fill: light-dark(#1b1f24, #e8ecf0) !important }</style>";

// ![alt](FILE.svg)
export function figureFile(file, alt, read) {
    if (!alt) throw Error(`the picture ${file} needs an alt text`);
    if (!file.endsWith(".svg")) throw Error(`${file}: pictures are SVG`);
    return image(read(file).replace(/<svg[^>]*>/, `$&${readable}`), alt);
}
