// Defects of the figures of a page, as texts; `MIN_PX` is the smallest text in pixels.
() => {
    const MIN_PX = 8, MIN_TICKS = 3, SLACK_PX = 1.5;
    const defects = [];
    const titleOf = figure => (figure.querySelector("h3") || figure.querySelector("svg title") || figure).textContent.trim();
    const overlap = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > SLACK_PX &&
        Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > SLACK_PX;
    for (const figure of document.querySelectorAll("figure")) {
        const title = titleOf(figure);
        for (const plot of figure.querySelectorAll(".live")) {
            const name = `${title}: ${plot.querySelector(".live-name").textContent}`;
            const surface = plot.querySelector(".live-plot");
            const ticks = JSON.parse(surface.dataset.ticks);
            ticks.forEach((labels, axis) => {
                const words = labels.every(label => isNaN(label.replace(/,/g, "")));
                const most = axis === 0 ? Number(surface.dataset.positions) : Infinity;
                if (labels.length < Math.min(words ? 1 : MIN_TICKS, most)) defects.push(`${name}: axis ${axis} has the ticks ${labels}`);
                if (new Set(labels).size < labels.length) defects.push(`${name}: axis ${axis} repeats a tick: ${labels}`);
            });
            const chips = plot.querySelectorAll(".live-chips button").length;
            if (chips === 1) defects.push(`${name}: a legend of one series`);
            const canvas = surface.querySelector("canvas");
            const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
            if (new Set(new Uint32Array(pixels.buffer)).size < 4) defects.push(`${name}: empty`);
        }
        const svg = figure.querySelector(":scope > svg");
        if (!svg || !svg.checkVisibility()) continue;
        const frame = svg.getBoundingClientRect(), texts = [...svg.querySelectorAll("text")].filter(text => text.textContent.trim());
        const boxes = texts.map(text => text.getBoundingClientRect());
        texts.forEach((text, at) => {
            const box = boxes[at], shown = `${title}: "${text.textContent.trim()}"`;
            if (box.left < frame.left - SLACK_PX || box.right > frame.right + SLACK_PX || box.top < frame.top - SLACK_PX ||
                box.bottom > frame.bottom + SLACK_PX) defects.push(`${shown} is cut off`);
            const scale = frame.width / svg.viewBox.baseVal.width;
            const size = parseFloat(getComputedStyle(text).fontSize) * scale;
            if (size < MIN_PX - 0.05) defects.push(`${shown} has ${size.toFixed(1)} px`);
            for (let other = 0; other < at; other++) {
                if (overlap(box, boxes[other])) defects.push(`${shown} overlaps "${texts[other].textContent.trim()}"`);
            }
        });
    }
    if (document.documentElement.scrollWidth > innerWidth) defects.push(`the page is ${document.documentElement.scrollWidth} px wide`);
    return defects;
}
