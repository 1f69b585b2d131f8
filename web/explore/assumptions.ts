// The lines of a paper's set as controls: each with its mark, its known values and the range of others.

import { el } from "../page/dom.ts";
import type { Assumption, Control, Description } from "./description.ts";

const OTHER = "(other)";
/** Ends of ranges from here on are those of the number's type. */
const UNLIMITED = 1e9;

/** Sets a value, or with null that of the set. */
type Change = (key: string, value: string | null) => void;
/** Shows values that differ from the set. */
type Show = (changes: ReadonlyMap<string, string>) => void;

/** Elements for all lines of the set, and the function that shows a state in them. */
export function assumptionElements({ assumptions }: Description, onChange: Change): [HTMLElement[], Show] {
  const lines = assumptions.map((line) => assumptionElement(line, onChange));
  const elementsOf = (isFixed: boolean) => lines.flatMap(([element], index) => ((assumptions[index]!.settings.length === 0) === isFixed ? [element] : []));
  const fixed = elementsOf(true);
  const more = fixed.length === 0 ? [] : [el("details", {}, [el("summary", {}, [`Lines without a setting here: ${fixed.length}`]), ...fixed])];
  return [[...elementsOf(false), ...more], (changes) => lines.forEach(([, show]) => show(changes))];
}

function assumptionElement({ mark, says, because, settings }: Assumption, onChange: Change): [HTMLElement, Show] {
  const controls = settings.map((control) => controlElement(control, onChange));
  const element = el("fieldset", { class: "line" }, [
    el("legend", {}, [el("span", { class: `mark ${mark}` }, [mark]), ` ${says}`]),
    ...controls.map(([each]) => each),
    el("details", {}, [el("summary", {}, ["Why"]), el("p", {}, [because.replaceAll("`", "\"")])]),
  ]);
  return [element, (changes) => {
    element.classList.toggle("changed", settings.some(({ key }) => changes.has(key)));
    for (const [, show] of controls) show(changes);
  }];
}

/** A choice of known values; for numbers also a field for other ones. */
function controlElement(control: Control, onChange: Change): [HTMLElement, Show] {
  const { key, value, known, words = [], range, unit } = control;
  const names = [...new Set([...known.map(([text]) => text), ...words])];
  const isNumber = words.length === 0 && Number.isFinite(Number(value));
  const set = (text: string) => onChange(key, text === value ? null : text);
  const input = el("input", { type: "number", step: "any", min: range?.[0], max: range?.[1], "aria-label": `${key}: other value` }, [], {
    change: () => input.value !== "" && set(input.value),
  });
  const other = el("span", {}, [input, range && el("span", { class: "quiet" }, [range[1] < UNLIMITED ? ` ${range[0]} to ${range[1]}` : ` at least ${range[0]}`])]);
  const select = el("select", { "data-key": key }, [
    ...names.map((name) => el("option", { value: name }, [optionText(control, name)])), isNumber && el("option", { value: OTHER }, ["other …"]),
  ], {
    change: () => {
      other.hidden = select.value !== OTHER;
      if (other.hidden) set(select.value);
      else input.focus();
    },
  });
  const element = el("div", { class: "setting" }, [el("label", {}, [el("code", {}, [key]), unit ? ` (${unit})` : "", " ", select]), other]);
  return [element, (changes) => {
    const text = changes.get(key) ?? value;
    select.value = names.includes(text) ? text : OTHER;
    input.value = text;
    if (select.value !== OTHER && document.activeElement === input) select.focus();
    other.hidden = select.value !== OTHER;
  }];
}

/** A value with its origin; lists of loads by their number and their ends. */
function optionText({ known }: Control, value: string): string {
  const origin = known.find(([each]) => each === value)?.[1];
  const loads = value.startsWith("[") ? (JSON.parse(value) as number[]) : null;
  const name = loads ? `${loads.length} factors, ${Math.min(...loads)} to ${Math.max(...loads)}` : value;
  return origin ? `${name} — ${origin}` : name;
}
