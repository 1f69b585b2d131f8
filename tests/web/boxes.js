// Defects of a page by its boxes and colors, as texts; `MIN_PX` is the smallest text in pixels.
// `canvas.js` must have run before the page.
() => {
    const MIN_PX = 8, MIN_TICKS = 3, SLACK_PX = 1.5;
    // Boxes of texts are higher than their letters, which the ground of a text encloses.
    const GROUND_SLACK_PX = 4;
    const MIN_TEXT_CONTRAST = 4.5;
    const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
    // WCAG 1.4.11 requires 3 of graphics; in the dark, thin lines need as much as texts.
    const MIN_CONTRAST = isDark ? 4.5 : 3;
    const defects = [];
    const boxOf = element => element.getBoundingClientRect();
    const titleOf = figure => (figure.querySelector("h2, h3, svg title")?.textContent ?? figure.querySelector("script")?.dataset.title ?? "").trim();
    const overlap = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > SLACK_PX &&
        Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > SLACK_PX;
    const isCut = (box, frame, slack_px = SLACK_PX) => box.left < frame.left - slack_px || box.right > frame.right + slack_px ||
        box.top < frame.top - slack_px || box.bottom > frame.bottom + slack_px;

    // Colors, as red, green, blue and opacity.
    const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    pen.canvas.width = pen.canvas.height = 1;
    const parse = color => {
        pen.clearRect(0, 0, 1, 1);
        pen.fillStyle = color;
        pen.fillRect(0, 0, 1, 1);
        const [red, green, blue, alpha] = pen.getImageData(0, 0, 1, 1).data;
        return [red, green, blue, alpha / 255];
    };
    const over = ([r, g, b, alpha], ground) => [r, g, b].map((value, at) => value * alpha + ground[at] * (1 - alpha));
    const luminance = rgb => {
        const [red, green, blue] = rgb.map(value => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const contrast = (one, other) => {
        const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
        return (high + 0.05) / (low + 0.05);
    };
    const style = getComputedStyle(document.body);
    const paperOf = element => {
        const color = element ? parse(getComputedStyle(element).backgroundColor) : parse("Canvas");
        return color[3] === 1 ? color.slice(0, 3) : paperOf(element.parentElement);
    };
    const paper = paperOf(document.querySelector(".card, body"));
    const cssColor = name => over(parse(getComputedStyle(document.documentElement).getPropertyValue(name)), paper);
    const near = (one, other) => one.every((value, at) => Math.abs(value - other[at]) <= 2);
    // Grids are faint on purpose. Gray areas of light pages stand for idle or waiting time, and texts have their values.
    const faint = [cssColor("--faint"), ...(isDark ? [] : ["#b9c1c9", "#aab4c2", "#dfe4e9"].map(color => over(parse(color), paper)))];
    const checkColor = (color, shown) => {
        const [red, green, blue, alpha] = parse(color);
        const rgb = [red, green, blue];
        if (alpha < 0.99 || near(rgb, paper) || faint.some(each => near(rgb, each))) return;
        const ratio = contrast(rgb, paper);
        if (ratio < MIN_CONTRAST - 0.005) defects.push(`${shown}: ${color} has a contrast of ${ratio.toFixed(2)}`);
    };

    // The page: nothing is wider than the window, except tables that say so.
    if (document.documentElement.scrollWidth > innerWidth) defects.push(`the page is ${document.documentElement.scrollWidth} px wide`);
    for (const element of document.body.querySelectorAll("*")) {
        if (!element.checkVisibility() || element.closest("svg, .u-wrap, .live-aloud, .unseen")) continue;
        const { overflowX } = getComputedStyle(element);
        if (overflowX === "visible" || element.scrollWidth <= element.clientWidth + 1) continue;
        const name = `${element.tagName.toLowerCase()}.${element.className} "${element.textContent.trim().slice(0, 40)}"`;
        if (overflowX === "hidden" || overflowX === "clip") defects.push(`${name} is cut off`);
        else if (!element.matches(".scroll") || !element.querySelector(".scroll-note")?.checkVisibility()) defects.push(`${name} scrolls sideways and does not say so`);
    }

    // Texts of the page, as far as the elements around them show them.
    const visiblePart = (box, element) => {
        for (let holder = element; holder; holder = holder.parentElement) {
            if (getComputedStyle(holder).overflowX === "visible") continue;
            const frame = boxOf(holder);
            box = { left: Math.max(box.left, frame.left), right: Math.min(box.right, frame.right), top: Math.max(box.top, frame.top), bottom: Math.min(box.bottom, frame.bottom) };
        }
        return box;
    };
    const pageTexts = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const element = node.parentElement;
        if (!node.data.trim() || !element.checkVisibility() || element.closest("script, noscript, svg, .live-aloud, .unseen")) continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        for (const rect of range.getClientRects()) {
            const box = visiblePart(rect, element);
            if (box.right > box.left && box.bottom > box.top) pageTexts.push({ text: node.data.trim().slice(0, 40), box });
        }
    }
    pageTexts.sort((a, b) => a.box.top - b.box.top);
    pageTexts.forEach(({ text, box }, at) => {
        if (box.right > innerWidth + SLACK_PX || box.left < -SLACK_PX) defects.push(`"${text}" leaves the window`);
        for (let other = at + 1; other < pageTexts.length && pageTexts[other].box.top < box.bottom; other++) {
            if (overlap(box, pageTexts[other].box)) defects.push(`"${text}" overlaps "${pageTexts[other].text}"`);
        }
    });

    const IMAGE = "image";
    const MAX_PX = parseFloat(style.fontSize);
    const checkTexts = (title, texts) => texts.forEach(({ text, box, frame, size_px, color, ground }, at) => {
        const shown = `${title}: "${text.trim()}"`;
        if (isCut(box, frame)) defects.push(`${shown} is cut off`);
        if (size_px < MIN_PX - 0.05 || size_px > MAX_PX + 0.05) defects.push(`${shown} has ${size_px.toFixed(1)} px`);
        const rgb = ground === IMAGE ? paper : over(parse(color), ground);
        if (ground !== IMAGE && contrast(rgb, ground) < MIN_TEXT_CONTRAST - 0.005) defects.push(`${shown} has a contrast of ${contrast(rgb, ground).toFixed(2)}`);
        for (let other = 0; other < at; other++) {
            if (overlap(box, texts[other].box)) defects.push(`${shown} overlaps "${texts[other].text.trim()}"`);
        }
    });
    for (const canvas of document.querySelectorAll("canvas")) {
        if (!canvas.checkVisibility()) continue;
        const figure = canvas.closest("figure, section, .card");
        const frame = { left: 0, top: 0, right: canvas.width, bottom: canvas.height };
        checkTexts(figure ? titleOf(figure) : canvas.ariaLabel, canvasTexts(canvas).map(each => ({
            ...each, frame: each.clip ?? frame, ground: each.ground === IMAGE ? IMAGE : each.ground ? over(parse(each.ground), paper) : paper,
        })));
    }
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
            const chips = [...plot.querySelectorAll(".live-chips button")];
            if (chips.length === 1) defects.push(`${name}: a legend of one series`);
            const canvas = surface.querySelector("canvas");
            const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
            if (new Set(new Uint32Array(pixels.buffer)).size < 4) defects.push(`${name}: empty`);
            const colors = canvasColors(canvas);
            for (const color of colors) checkColor(color, name);
            for (const chip of chips.filter(each => each.getAttribute("aria-pressed") === "true")) {
                const color = getComputedStyle(chip.querySelector("i")).backgroundColor;
                checkColor(color, `${name}: ${chip.querySelector("b").textContent}`);
                if (!colors.some(each => near(parse(each), parse(color)))) defects.push(`${name}: the legend has ${color}, the plot ${colors}`);
            }
        }
        const svg = figure.querySelector(":scope > svg");
        if (!svg || !svg.checkVisibility()) continue;
        const frame = boxOf(svg), scale = frame.width / svg.viewBox.baseVal.width;
        const shapes = [...svg.querySelectorAll("path, use, image")].filter(shape => !shape.closest("defs, clipPath"));
        const filled = shapes.map(shape => ({ box: boxOf(shape), fill: getComputedStyle(shape).fill, opacity: getComputedStyle(shape).fillOpacity * getComputedStyle(shape).opacity, shape }));
        const texts = [...svg.querySelectorAll("text")].filter(text => text.textContent.trim());
        checkTexts(title, texts.map(text => {
            const box = boxOf(text), { fontSize, fill } = getComputedStyle(text);
            // A text over a cell or a bar has that as its ground.
            const cell = filled.findLast(each => each.fill !== "none" && each.opacity > 0.5 && !isCut(box, each.box, GROUND_SLACK_PX) && each.shape.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING);
            return { text: text.textContent, box, frame, size_px: parseFloat(fontSize) * scale, color: fill, ground: cell?.shape.matches("image") ? IMAGE : cell ? over(parse(cell.fill), paper) : paper };
        }));
        for (const shape of shapes) {
            const { fill, fillOpacity, stroke, strokeOpacity, strokeWidth, opacity } = getComputedStyle(shape);
            if (Number(opacity) < 1 || shape.matches("image")) continue;
            // Cells of heat maps have colors of quantities.
            if (shape.closest("[id^=QuadMesh]")) continue;
            if (fill !== "none" && Number(fillOpacity) === 1 && boxOf(shape).width > 2) checkColor(fill, title);
            if (stroke !== "none" && Number(strokeOpacity) === 1 && parseFloat(strokeWidth) > 0.8) checkColor(stroke, title);
        }
    }
    return [...new Set(defects)];
}
