// quote.mjs - lines of a source file, by function or region name, as a code block that fits a slide.

export const maxLines = 18, maxColumns = 80;

export const escapeHtml = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

// ---- Which lines: each is { text, changed } ----

// Whether the statement that begins in line `at` opens a body before it ends.
function definitionFollows(lines, at) {
    const end = lines.findIndex((line, i) => i >= at && /[{;]\s*$/.test(line.replace(/\s*\/\/.*/, "")));
    return end >= 0 && /\{\s*$/.test(lines[end].replace(/\s*\/\/.*/, ""));
}

const attributes = /^(template|__global__|static|extern)\b[^;{]*$/;

// The lines of a function, with its template line, or those from `// region: NAME` to `// end`.
function findPart(lines, name, file) {
    const region = lines.findIndex((line) => line.trim() === `// region: ${name}`);
    if (region >= 0) {
        const end = lines.findIndex((line, i) => i > region && line.trim().startsWith("// end"));
        if (end < 0) throw Error(`${file}: region '${name}' has no '// end'`);
        return lines.slice(region + 1, end);
    }
    const signature = new RegExp(`^(?:[A-Za-z_].*\\b| +)${name}\\(`); // indented after __launch_bounds__, if its attributes are above it
    const isSignature = (line, i) => signature.test(line) && (!line.startsWith(" ") || attributes.test(lines[i - 1] ?? ""));
    let begin = lines.findIndex((line, i) => isSignature(line, i) && definitionFollows(lines, i));
    if (begin < 0) throw Error(`${file} has no function or region '${name}'`);
    const end = lines.findIndex((line, i) => i >= begin && /^}/.test(line));
    while (begin > 0 && attributes.test(lines[begin - 1])) begin--;
    return lines.slice(begin, end + 1);
}

function partOf(file, name, read) {
    const lines = read(file).replace(/\n$/, "").split("\n");
    return name ? findPart(lines, name, file) : lines;
}

// The lines of `now` outside a longest common subsequence with `before`; spaces and comments do not count.
function changedLines(now, before) {
    const code = (line) => line.replace(/\s*\/\/.*$/, "").trim();
    const a = now.map(code), b = before.map(code);
    const length = Array.from({ length: a.length + 1 }, () => new Array(b.length + 1).fill(0));
    for (let i = a.length - 1; i >= 0; i--)
        for (let j = b.length - 1; j >= 0; j--)
            length[i][j] = a[i] === b[j] ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
    const changed = a.map(() => false);
    for (let i = 0, j = 0; i < a.length;) {
        if (j < b.length && a[i] === b[j]) i++, j++;
        else if (j < b.length && length[i][j + 1] >= length[i + 1][j]) j++;
        else changed[i] = a[i++] !== "";
    }
    return changed;
}

export function fromTo(lines, from, to, file) {
    const begin = from === undefined ? 0 : lines.findIndex(({ text }) => text.includes(from));
    if (begin < 0) throw Error(`${file}: no line holds '${from}'`);
    const isBlank = ({ text }, i) => i > begin && text.trim() === "";
    if (to === "blank") return lines.slice(begin, lines.some(isBlank) ? lines.findIndex(isBlank) : lines.length);
    const end = to === undefined ? lines.length - 1 : lines.findIndex(({ text }, i) => i >= begin && text.includes(to));
    if (end < 0) throw Error(`${file}: no line after '${from}' holds '${to}'`);
    return lines.slice(begin, end + 1);
}

// "1-4,20-31": these lines, with a gap where lines are left out.
export function pick(lines, ranges, file) {
    const picked = [];
    for (const range of ranges.split(",")) {
        const [, first, last = first] = range.match(/^(\d+)(?:-(\d+))?$/) ?? [];
        if (!first || first < 1 || Number(last) > lines.length) throw Error(`${file}: no lines ${range} in ${lines.length} lines`);
        if (picked.length > 0) picked.push({ text: "    ...", changed: false });
        picked.push(...lines.slice(first - 1, last));
    }
    return picked;
}

const options = ["lines", "from", "to", "since", "mark", "notes"];

// ```code FILE [NAME] [options]
export function quote([file, name], given, read) {
    for (const option of Object.keys(given)) if (!options.includes(option)) throw Error(`code has no option '${option}'`);
    const whole = partOf(file, name, read);
    const changed = given.since ? changedLines(whole, partOf(given.since, name, read)) : [];
    let lines = whole.map((text, i) => ({ text, changed: changed[i] ?? false }));
    lines = fromTo(lines, given.from, given.to, file);
    if (given.lines) lines = pick(lines, given.lines, file);
    if (given.notes === "off") lines = lines.filter(({ text }) => !/^\s*\/\//.test(text));
    if (given.mark !== undefined) {
        if (!lines.some(({ text }) => text.includes(given.mark))) throw Error(`${file}: no quoted line holds '${given.mark}'`);
        lines = lines.map(({ text, changed }) => ({ text, changed: changed || text.includes(given.mark) }));
    }
    return codeBlock(dedent(lines).flatMap(({ text, changed }) => wrap(text).map((text) => ({ text, changed }))), { label: file });
}

// Removes the indentation that all lines share. A #pragma, at the left edge in the file, is indented like its loop.
function dedent(lines) {
    const depth = ({ text }) => text.search(/\S/), isPlain = (line) => line.text.trim() !== "" && !line.text.startsWith("#");
    const indent = Math.min(...lines.filter(isPlain).map(depth));
    return lines.map((line, i) => {
        const next = line.text.startsWith("#") && lines.slice(i).find(isPlain);
        return { ...line, text: next ? " ".repeat(depth(next) - indent) + line.text : line.text.slice(Math.min(indent, Math.max(depth(line), 0))) };
    });
}

// Breaks a line that is too wide at blanks and adds `ending` before each break. The rest is indented, and stays a comment if it was one.
export function wrap(text, ending = "") {
    const cut = text.lastIndexOf(" ", maxColumns - ending.length), indent = " ".repeat(text.search(/\S|$/));
    if (text.length <= maxColumns || cut <= indent.length) return [text];
    const comment = text.indexOf("//"), isInComment = comment >= 0 && comment < cut;
    return [text.slice(0, cut) + ending, ...wrap((isInComment ? " ".repeat(comment) + "// " : indent + "    ") + text.slice(cut + 1), ending)];
}

// ---- How they look ----

const keywords = new RegExp("\\b(?:__global__|__shared__|__device__|__host__|__launch_bounds__|__restrict__|__syncthreads|__syncwarp|LAB_API|"
    + "auto|bool|break|case|char|const|constexpr|continue|double|do|dim3|else|enum|extern|float4|float2|float|for|goto|if|inline|int|long|return|"
    + "short|signed|sizeof|size_t|static|struct|switch|template|typedef|typename|unsigned|using|void|volatile|while)\\b", "g");

function colour(line) {
    const comment = line.search(/\/\//);
    const code = comment < 0 ? line : line.slice(0, comment);
    const coloured = escapeHtml(code).replace(keywords, "<b>$&</b>");
    return comment < 0 ? coloured : `${coloured}<i>${escapeHtml(line.slice(comment))}</i>`;
}

// Returns lines as HTML; throws if they do not fit on a slide.
export function codeBlock(lines, { language = "cuda", label = "" } = {}) {
    const shown = [...lines];
    while (shown.length > 0 && shown.at(-1).text.trim() === "") shown.pop();
    if (shown.length > maxLines) throw Error(`${shown.length} lines of code; a slide holds ${maxLines}`);
    const wide = shown.find(({ text }) => text.length > maxColumns);
    if (wide) throw Error(`${wide.text.length} columns of code; a slide holds ${maxColumns}: ${wide.text.trim()}`);
    const html = shown.map(({ text, changed }) =>
        `<span class="line${changed ? " changed" : ""}">${(language === "cuda" ? colour(text) : escapeHtml(text)) || " "}</span>`);
    const name = label ? `<span class="quoted">${escapeHtml(label)}</span>` : "";
    return `<pre class="code ${language}"><code>${html.join("")}</code>${name}</pre>`;
}
