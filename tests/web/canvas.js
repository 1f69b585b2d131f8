// Records what canvases show, which has no boxes in the page: runs before the scripts of the page.
// `canvasTexts(canvas)` and `canvasColors(canvas)` return the texts and colors since it was last cleared.
(() => {
    const prototype = CanvasRenderingContext2D.prototype;
    const records = new WeakMap();
    const recordOf = canvas => {
        if (!records.has(canvas)) records.set(canvas, { texts: [], grounds: [], colors: new Set(), clips: [null], rect: null });
        return records.get(canvas);
    };
    const intersection = (a, b) => a && {
        left: Math.max(a.left, b.left), top: Math.max(a.top, b.top), right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom),
    };
    const placed = (pen, left, top, width, height) => {
        const matrix = pen.getTransform();
        const corners = [[left, top], [left + width, top], [left, top + height], [left + width, top + height]].map(([x, y]) => matrix.transformPoint({ x, y }));
        const [xs, ys] = [corners.map(({ x }) => x), corners.map(({ y }) => y)];
        return { left: Math.min(...xs), top: Math.min(...ys), right: Math.max(...xs), bottom: Math.max(...ys) };
    };
    const before = (name, act) => {
        const method = prototype[name];
        prototype[name] = function (...args) {
            act(this, recordOf(this.canvas), ...args);
            return method.apply(this, args);
        };
    };
    before("clearRect", (pen, record, ...box) => {
        const { left, top, right, bottom } = placed(pen, ...box);
        if (right - left < pen.canvas.width - 1 || bottom - top < pen.canvas.height - 1) return;
        record.texts.length = record.grounds.length = 0;
        record.colors.clear();
    });
    before("save", (_, record) => record.clips.push(record.clips.at(-1)));
    before("restore", (_, record) => record.clips.length > 1 && record.clips.pop());
    before("beginPath", (_, record) => { record.rect = null; });
    before("rect", (pen, record, ...box) => { record.rect = placed(pen, ...box); });
    before("clip", (_, record, path) => {
        const clip = record.clips.at(-1);
        if (!(path instanceof Path2D) && record.rect) record.clips[record.clips.length - 1] = clip ? intersection(clip, record.rect) : record.rect;
    });
    before("fillRect", (pen, record, ...box) => {
        record.grounds.push({ box: placed(pen, ...box), color: pen.fillStyle });
        if (Math.min(Math.abs(box[2]), Math.abs(box[3])) > 2) record.colors.add(pen.fillStyle);
    });
    // The contrast to an image is not known.
    before("putImageData", (_, record, image, left, top) => record.grounds.push({ box: { left, top, right: left + image.width, bottom: top + image.height }, color: "image" }));
    before("drawImage", (pen, record, image, ...boxes) => {
        const [left, top, width = image.width, height = image.height] = boxes.slice(boxes.length > 4 ? 4 : 0);
        record.grounds.push({ box: placed(pen, left, top, width, height), color: "image" });
    });
    before("fill", (pen, record) => record.colors.add(pen.fillStyle));
    before("stroke", (pen, record) => {
        // Thinner lines are grids, and the curves that are not selected.
        if (pen.lineWidth >= 1.4 * devicePixelRatio) record.colors.add(pen.strokeStyle);
    });
    before("fillText", (pen, record, text, x, y) => {
        const size = pen.measureText(text);
        const box = placed(pen, x - size.actualBoundingBoxLeft, y - size.actualBoundingBoxAscent,
            size.actualBoundingBoxLeft + size.actualBoundingBoxRight, size.actualBoundingBoxAscent + size.actualBoundingBoxDescent);
        const inside = other => box.left >= other.left && box.right <= other.right && box.top >= other.top && box.bottom <= other.bottom;
        const ground = record.grounds.findLast(each => inside(each.box));
        record.texts.push({
            text, box, clip: record.clips.at(-1), color: pen.fillStyle, ground: ground?.color,
            size_px: parseFloat(/([\d.]+)px/.exec(pen.font)[1]) / devicePixelRatio,
        });
    });
    window.canvasTexts = canvas => recordOf(canvas).texts;
    // Marks on an image have colors that suit the image.
    window.canvasColors = canvas => recordOf(canvas).grounds.some(({ color }) => color === "image") ? [] : [...recordOf(canvas).colors];
})();
