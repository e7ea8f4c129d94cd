// measure.js - runs in a deck's page in headless Chromium and finds what a viewer in the back row could not read.
// Its last expression is the list of faults, "slide N: fault".
(async () => {
    const faults = [...document.fonts].filter((face) => face.status !== "loaded").map((face) => `the font ${face.family} is not loaded`);
    const smallest = { text: 20, code: 21.3, picture: 13, corner: 14 }; // pixels of a slide of 1280 x 720; 21.3 is 16 points
    document.body.classList.remove("presenting");

    // ---- Colours ----

    const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    function rgba(colour) {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
        return { rgb: [r, g, b], alpha: a / 255 };
    }
    const over = (top, alpha, below) => top.map((part, i) => part * alpha + below[i] * (1 - alpha));
    function luminance(rgb) {
        const [r, g, b] = rgb.map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    }
    function contrast(a, b) {
        const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
        return (high + 0.05) / (low + 0.05);
    }
    function groundOf(element) {
        const layers = [];
        for (let at = element; at; at = at.parentElement ?? at.getRootNode().host) {
            const { rgb, alpha } = rgba(getComputedStyle(at).backgroundColor);
            layers.push({ rgb, alpha });
            if (alpha === 1) break;
        }
        return layers.reverse().reduce((below, { rgb, alpha }) => over(rgb, alpha, below), [255, 255, 255]);
    }
    // The background of a text in a picture: the shapes before it whose boxes contain its centre.
    function groundInPicture(text, svg, ground) {
        const box = text.getBoundingClientRect(), x = box.x + box.width / 2, y = box.y + box.height / 2;
        for (const shape of svg.querySelectorAll("rect, polygon, circle")) {
            if (shape.closest("defs, clipPath, marker") || !(shape.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING)) continue;
            const at = shape.getBoundingClientRect(), style = getComputedStyle(shape);
            if (style.fill === "none" || style.fill.startsWith("url") || x < at.left || x > at.right || y < at.top || y > at.bottom) continue;
            const { rgb, alpha } = rgba(style.fill);
            ground = over(rgb, alpha * style.fillOpacity * style.opacity, ground);
        }
        return ground;
    }
    function checkContrast(say, what, colour, ground, size, weight) {
        const { rgb, alpha } = rgba(colour);
        const ratio = contrast(over(rgb, alpha, ground), ground);
        const wanted = size >= 24 || (size >= 18.66 && weight >= 700) ? 3 : 4.5;
        if (ratio < wanted) say(`contrast ${ratio.toFixed(2)} of '${what}', required ${wanted}`);
    }

    // ---- Texts ----

    function textNodes(root) {
        const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT), found = [];
        while (walker.nextNode()) if (walker.currentNode.data.trim() && !walker.currentNode.parentElement.closest("svg")) found.push(walker.currentNode);
        return found;
    }
    function checkTexts(section, say) {
        for (const node of textNodes(section)) {
            const element = node.parentElement, style = getComputedStyle(element), size = parseFloat(style.fontSize);
            const what = node.data.trim().slice(0, 30);
            const kind = element.closest(".sources, .quoted") ? "corner" : element.closest("pre") ? "code" : "text";
            if (size < smallest[kind]) say(`font size ${size} of '${what}', required ${smallest[kind]}`);
            checkContrast(say, what, style.color, groundOf(element), size, Number(style.fontWeight));
        }
    }

    // ---- Boxes ----

    function checkBoxes(section, say) {
        const frame = section.getBoundingClientRect();
        const corner = section.querySelector(".sources");
        const bottom = corner ? corner.getBoundingClientRect().top - frame.top : 684;
        if (corner && 720 - bottom > 56) say("the corner has more than three lines");
        for (const element of section.querySelectorAll("*")) {
            if (element.closest(".sources") || element.parentElement.closest("svg")) continue;
            const box = element.getBoundingClientRect(), what = `<${element.localName}> '${element.textContent.trim().slice(0, 30)}'`;
            if (box.width === 0) continue;
            if (box.bottom - frame.top > bottom + 1) return say(`overflow: ${what} ends at ${Math.round(box.bottom - frame.top)}, allowed ${Math.round(bottom)}`);
            if (box.right - frame.left > 1240 || box.left < frame.left) return say(`overflow: ${what} leaves the slide at the side`);
            if (element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0 && getComputedStyle(element).display !== "inline")
                return say(`overflow: ${what} is ${element.scrollWidth} wide in a box of ${element.clientWidth}`);
        }
        for (const pre of section.querySelectorAll("pre.code")) {
            const lines = [...pre.querySelectorAll(".line")].map((line) => line.textContent);
            if (lines.length > 18) say(`${lines.length} lines of code`);
            if (lines.some((line) => line.length > 80)) say("more than 80 columns of code");
        }
    }

    // ---- Pictures ----

    // The rectangle of an <svg>'s viewBox; getBoundingClientRect() gives that of its content.
    function viewport(svg) {
        const { x, y, width, height } = svg.viewBox.baseVal, { a, d, e, f } = svg.getScreenCTM();
        return { left: a * x + e, right: a * (x + width) + e, top: d * y + f, bottom: d * (y + height) + f };
    }
    function checkPictureTexts(svg, ground, say) {
        let least = { size: Infinity };
        for (const text of svg.querySelectorAll("text")) {
            if (!text.textContent.trim()) continue;
            const style = getComputedStyle(text), matrix = text.getScreenCTM(), scale = Math.hypot(matrix.a, matrix.b);
            const what = `picture's '${text.textContent.trim().slice(0, 30)}'`, box = text.getBoundingClientRect();
            const size = parseFloat(style.fontSize) * scale;
            const part = viewport(text.ownerSVGElement); // of a cropped picture
            if (box.bottom <= part.top || box.top >= part.bottom) continue;
            if (!(size >= least.size)) least = { size, what };
            if (box.left < part.left - 1 || box.right > part.right + 1 || box.top < part.top - 1 || box.bottom > part.bottom + 1) say(`overflow: ${what} leaves the picture`);
            checkContrast(say, what, style.fill, groundInPicture(text, svg, ground), size, Number(style.fontWeight));
        }
        if (least.size < smallest.picture) say(`font size ${least.size.toFixed(1)} of ${least.what}, required ${smallest.picture}`);
    }
    async function checkPictures(section, say) {
        const ground = groundOf(section);
        for (const svg of section.querySelectorAll("svg")) {
            if (svg.getAttribute("role") !== "img" || (svg.getAttribute("aria-label") ?? "").length < 10) say("a picture has no alt text");
            checkPictureTexts(svg, ground, say);
        }
        for (const image of section.querySelectorAll("img")) {
            await image.decode().catch(() => say("a picture does not load"));
            if (image.alt.length < 10) say("a picture has no alt text");
            if (!image.src.startsWith("data:")) say(`the picture ${image.src} is not embedded in the file`);
            if (!image.src.startsWith("data:image/svg+xml;base64,")) continue;
            const box = image.getBoundingClientRect(), host = document.body.appendChild(document.createElement("div"));
            host.style = `position: absolute; left: 0; top: 0; width: ${box.width}px; height: ${box.height}px; font: 16px serif; color: CanvasText`;
            const bytes = Uint8Array.from(atob(image.src.split(",")[1]), (byte) => byte.charCodeAt(0));
            host.attachShadow({ mode: "open" }).innerHTML = new TextDecoder().decode(bytes).replace(/^<\?xml.*?\?>/, "");
            const svg = host.shadowRoot.querySelector("svg");
            svg.style = "width: 100%; height: 100%";
            checkPictureTexts(svg, ground, say);
            host.remove();
        }
        if (section.querySelector(".missing")) say("a drawing is missing");
    }

    // ---- Everything ----

    const slides = [...document.querySelectorAll(".slide")];
    for (const [i, slide] of slides.entries()) {
        const section = slide.querySelector("section"), heading = section.querySelector("h1, h2");
        const say = (fault) => faults.push(`slide ${i + 1}: ${fault}`);
        if (!heading) say("no heading");
        else if (!section.matches(".title, .part") && [...section.children].every((child) => child === heading || child.matches(".sources"))) say("a heading and nothing below it");
        if (!/^\s*(\S+ )*?\d+(\.\d+)? min\./.test(slide.querySelector(".notes").textContent)) say("no speaker's note with minutes");
        for (const link of section.querySelectorAll("a"))
            if (!/^https:\/\/[\w.-]+\.\w+(\/|$)/.test(link.href)) say(`the link ${link.getAttribute("href")} leads nowhere`);
        checkTexts(section, say);
        checkBoxes(section, say);
        await checkPictures(section, say);
    }
    for (const element of document.querySelectorAll("script[src], link[href], iframe, video, audio")) faults.push(`<${element.localName}>: the file is not self-contained`);
    return faults;
})()
