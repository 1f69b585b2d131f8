// Elements made of texts and nodes. Nothing here parses HTML: texts of traces and experiments stay texts.

export type Child = Node | string | number | null | undefined | false;
type Handlers = { [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => void };
export type Attributes = Record<string, string | number | boolean | undefined>;

/** An element with attributes, children and listeners. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Attributes = {}, children: readonly Child[] = [], handlers: Handlers = {},
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) setAttribute(element, name, value);
  for (const [name, handler] of Object.entries(handlers)) element.addEventListener(name, handler as EventListener);
  element.append(...toNodes(children));
  return element;
}

/** Sets an attribute, or removes it where the value is false or undefined. */
export function setAttribute(element: Element, name: string, value: string | number | boolean | undefined): void {
  if (value === undefined || value === false) element.removeAttribute(name);
  else element.setAttribute(name, value === true ? "" : String(value));
}

/** Replaces the children of an element. */
export function fill(element: Element, ...children: readonly Child[]): void {
  element.replaceChildren(...toNodes(children));
}

/** A button; `key` is the key that does the same, named in its tooltip. */
export function button(label: string, act: () => void, options: Attributes & { key?: string } = {}): HTMLButtonElement {
  const { key, ...attributes } = options;
  const title = key === undefined ? undefined : `key ${key}`;
  return el("button", { type: "button", title, ...attributes }, [label], { click: act });
}

/** A labeled selection of one of several words. A value that is none of them is an option of its own. */
export function select(
  label: string, options: readonly (readonly [value: string, text: string])[], value: string, act: (value: string) => void,
): HTMLLabelElement {
  const allOptions = options.some(([name]) => name === value) ? options : [[value, value] as const, ...options];
  const selectElement = el("select", {}, allOptions.map(([name, text]) => el("option", { value: name, selected: name === value }, [text])),
    { change: () => act(selectElement.value) });
  return el("label", { class: "field" }, [el("span", {}, [label]), selectElement]);
}

function toNodes(children: readonly Child[]): (Node | string)[] {
  return children.flatMap((child) =>
    child === null || child === undefined || child === false ? [] : [typeof child === "number" ? String(child) : child]);
}
