// The mark of the page: a sled on its springs.

const SVG = "http://www.w3.org/2000/svg";

export function brand(): SVGElement {
  const mark = document.createElementNS(SVG, "svg");
  for (const [name, value] of Object.entries({ width: "26", height: "26", viewBox: "0 0 26 26", "aria-hidden": "true" })) mark.setAttribute(name, value);
  const addPath = (d: string, attributes: Record<string, string>) => {
    const element = document.createElementNS(SVG, "path");
    for (const [name, value] of Object.entries({ d, fill: "none", ...attributes })) element.setAttribute(name, value);
    mark.append(element);
  };
  addPath("M1 13h2l1.3-3 2 6 1.2-3H9M17 13h1.5l1.2 3 2-6 1.3 3h2", { stroke: "#566273", "stroke-width": "1.4" });
  addPath("M9 7h8v12H9z", { fill: "#0072b2" });
  addPath("M11 10h1M14 10h1M11 13h1M14 13h1M11 16h1M14 16h1", { stroke: "#fff", "stroke-width": "1.4" });
  return mark;
}
