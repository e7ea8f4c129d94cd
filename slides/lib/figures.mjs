// figures.mjs - figures by key from docs/measured, written as in lessons, and the sums of slides.
import { readdirSync } from "node:fs";

const folder = "docs/measured";

// The stored figures of a lab: key -> { value, file, device, date }. `read` returns a file's text and records that it was read.
function loadLab(lab, read) {
    const keys = new Map();
    const files = readdirSync(folder).filter((name) => name.startsWith(lab + ".") && name.endsWith(".txt"));
    for (const name of files.sort()) {
        const [head, ...body] = read(`${folder}/${name}`).split(/\n\n/);
        const given = Object.fromEntries(head.split("\n").map((line) => line.match(/^(\w+): (.*)$/)?.slice(1) ?? []));
        for (const line of body.join("\n").split("\n")) {
            const row = line.match(/^(.*\S)\s+(-?[0-9]+(?:\.[0-9]+)?)$/);
            if (row) keys.set(row[1], { value: row[2], file: `${folder}/${name}`, device: given.device, date: given.date });
        }
    }
    return keys;
}

// Rounds as C's printf does: exact ties go to the even digit; toFixed() rounds them up.
export function fixed(value, digits) {
    const exact = Math.abs(value).toFixed(100);
    const cut = exact.indexOf(".") + 1 + digits;
    const isTie = /^50*$/.test(exact.slice(cut));
    const isEven = "02468".includes(exact.slice(0, cut).replace(/\.$/, "").slice(-1));
    const rounded = isTie && isEven ? exact.slice(0, cut).replace(/\.$/, "") : Math.abs(value).toFixed(digits);
    return (value < 0 && Number(rounded) !== 0 ? "-" : "") + rounded;
}

// KEY, KEY %.2f, KEY %.1f / 1000, KEY over KEY %.0f%; each KEY may begin with a lab's name.
const notation = /^(?<key>.*?)(?: over (?<base>.*?))?(?: %\.(?<digits>\d)f(?<percent>%)?(?: \/ (?<divisor>\d+))?)?$/;

export class Figures {
    constructor(read) {
        this.read = read;
        this.labs = new Map();
    }

    lookUp(name, lab) {
        const [, other, rest] = name.match(/^(\d\d_[a-z_]+) (.*)$/) ?? [null, lab, name];
        if (!other) throw Error(`'${name}' does not begin with a lab, and the deck's head has no 'lab:'`);
        if (!this.labs.has(other)) this.labs.set(other, loadLab(other, this.read));
        const found = this.labs.get(other).get(rest);
        if (!found) throw Error(`no figure '${rest}' in ${folder}/${other}.*.txt`);
        return { ...found, key: `${other} ${rest}` };
    }

    // The text of {{inner}} and where it was measured: { text, used: [{ key, file, device, date }] }.
    resolve(inner, lab) {
        const { key, base, digits, percent, divisor } = inner.trim().match(notation).groups;
        if (base && digits === undefined) throw Error(`'${inner}': a quotient needs a format, as in '%.2f'`);
        const used = [this.lookUp(key, lab)];
        let value = Number(used[0].value);
        if (base && /^[\d.]+$/.test(base)) value /= Number(base);
        else if (base) {
            used.push(this.lookUp(base, lab));
            value /= Number(used[1].value);
        }
        if (divisor) value /= Number(divisor);
        if (percent) value *= 100;
        if (!Number.isFinite(value)) throw Error(`'${inner}' divides by zero`);
        return { text: digits === undefined ? used[0].value : fixed(value, Number(digits)) + (percent ? "\u00a0%" : ""), used };
    }
}

// ---- Sums: "32 x 4 bytes / 32 bytes per sector = 4" ----

const gcd = (a, b) => (b === 0 ? a : gcd(b, a % b));
const calls = { gcd, floor: Math.floor, ceil: Math.ceil, round: Math.round, sqrt: Math.sqrt, min: Math.min, max: Math.max };

// Numbers, operators and functions of a sum; every other word is a unit.
function tokensOf(text) {
    const tokens = [];
    for (const [token] of text.matchAll(/\d+(?:,\d{3})*(?:\.\d+)?|x(?=[\s(])|[-+*/^(),]|[A-Za-z%][\w/%-]*|\S/g)) {
        if (/^\d/.test(token)) tokens.push(Number(token.replaceAll(",", "")));
        else if (token === "x") tokens.push("*");
        else if (/^[-+*/^(),]$/.test(token) || token in calls) tokens.push(token);
        else if (!/^[A-Za-z%]/.test(token)) throw Error(`'${token}' is not allowed in a sum`);
    }
    return tokens;
}

function evaluate(text) {
    const tokens = tokensOf(text);
    let at = 0;
    const take = (token) => tokens[at] === token && ++at;
    const expect = (token) => { if (!take(token)) throw Error(`'${text}': expected '${token}'`); };

    function factor() {
        let value;
        if (take("-")) return -factor();
        if (typeof tokens[at] === "number") value = tokens[at++];
        else if (tokens[at] in calls) {
            const call = calls[tokens[at++]], given = [];
            expect("(");
            do given.push(sum()); while (take(","));
            expect(")");
            value = call(...given);
        } else {
            expect("(");
            value = sum();
            expect(")");
        }
        return take("^") ? value ** factor() : value;
    }
    function product() {
        let value = factor();
        for (;;) {
            if (take("*")) value *= factor();
            else if (take("/")) value /= factor();
            else return value;
        }
    }
    function sum() {
        let value = product();
        for (;;) {
            if (take("+")) value += product();
            else if (take("-")) value -= product();
            else return value;
        }
    }
    const value = sum();
    if (at < tokens.length) throw Error(`'${text}': no operator before '${tokens[at]}'`);
    return value;
}

// Throws unless the left side of a sum equals its right side, to the precision of the right side.
export function checkSum(text) {
    const at = text.lastIndexOf("=");
    const right = text.slice(at + 1).match(/^\s*(-?[\d,]+(?:\.(\d+))?)/);
    if (at < 0 || !right) throw Error(`'${text}': a sum ends with '= NUMBER'`);
    const value = evaluate(text.slice(0, at)), claimed = Number(right[1].replaceAll(",", ""));
    if (Math.abs(value - claimed) > 0.5 * 10 ** -(right[2]?.length ?? 0) + 1e-9) throw Error(`'${text}': the left side is ${value}`);
}
