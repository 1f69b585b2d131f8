// Elements of figures.

/** Appends a new element to another. Texts stay texts: no markup in them is interpreted. */
export function append<Name extends keyof HTMLElementTagNameMap>(
  name: Name, holder: Element, text = "", attributes: Readonly<Record<string, string | boolean | number>> = {},
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  if (text) element.textContent = text;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  holder.append(element);
  return element;
}
