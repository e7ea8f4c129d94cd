// present.js - runs in every deck: one slide at a time, keys, and a window with the speaker's notes.
// Right, space: next. Left: back. Home, End. F: full screen. D: dark or light. N: notes in a window of their own.
(() => {
    const slides = [...document.querySelectorAll(".slide")], root = document.documentElement;
    let current = 0, speaker = null, began = null;

    function fit() {
        root.style.setProperty("--scale", Math.min(innerWidth / 1280, innerHeight / 720));
    }
    function show(to) {
        current = Math.max(0, Math.min(slides.length - 1, to));
        slides.forEach((slide, i) => slide.classList.toggle("current", i === current));
        history.replaceState(null, "", "#" + (current + 1));
        if (current > 0) began ??= Date.now();
        tell();
    }
    const titleOf = (slide) => slide?.querySelector("h1, h2")?.textContent ?? "the end";

    function tell() {
        if (!speaker || speaker.closed) return;
        const at = (id) => speaker.document.getElementById(id);
        at("where").textContent = `${current + 1} of ${slides.length}: ${titleOf(slides[current])}`;
        at("notes").textContent = slides[current].querySelector(".notes").textContent;
        at("next").textContent = "Next: " + titleOf(slides[current + 1]);
        at("time").textContent = began ? `${Math.floor((Date.now() - began) / 60000)} minutes` : "0 minutes";
    }
    function openNotes() {
        speaker = window.open("", "notes", "width=700,height=600");
        if (!speaker) return;
        speaker.document.title = "Notes";
        speaker.document.body.innerHTML = "<h2 id=where></h2><p id=time></p><p id=notes></p><h3 id=next></h3>";
        speaker.document.body.style = "font: 22px/1.4 system-ui, sans-serif; margin: 24px; white-space: pre-line";
        speaker.onkeydown = key;
        tell();
    }
    function key(event) {
        if (event.ctrlKey || event.altKey || event.metaKey) return;
        const actions = {
            ArrowRight: () => show(current + 1), ArrowDown: () => show(current + 1), PageDown: () => show(current + 1), " ": () => show(current + 1),
            ArrowLeft: () => show(current - 1), ArrowUp: () => show(current - 1), PageUp: () => show(current - 1),
            Home: () => show(0), End: () => show(slides.length - 1), n: openNotes,
            f: () => document.fullscreenElement ? document.exitFullscreen() : root.requestFullscreen(),
            d: () => {
                const isDark = root.classList.contains("dark") || (!root.classList.contains("light") && matchMedia("(prefers-color-scheme: dark)").matches);
                root.classList.toggle("dark", !isDark);
                root.classList.toggle("light", isDark);
            },
        };
        const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
        if (!action) return;
        event.preventDefault();
        action();
    }
    document.body.classList.add("presenting");
    addEventListener("keydown", key);
    addEventListener("resize", fit);
    addEventListener("hashchange", () => show(Number(location.hash.slice(1)) - 1));
    document.addEventListener("click", (event) => event.target.closest("a") || show(current + 1));
    setInterval(tell, 10000);
    fit();
    show((Number(location.hash.slice(1)) || 1) - 1);
})();
