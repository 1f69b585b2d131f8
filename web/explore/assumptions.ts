// The lines of a paper's set as controls: each with its mark, its known values and the range of others.

import { el } from "../page/dom.ts";
import type { Assumption, Control, Description } from "./description.ts";

const OTHER = "(other)";

/** Sets a value, or with null that of the set. */
type Change = (key: string, value: string | null) => void;

/** Elements for all lines of the set. */
export function assumptionElements(description: Description, changes: ReadonlyMap<string, string>, onChange: Change): HTMLElement[] {
  const [adjustable, fixed] = [true, false].map((hasSettings) => description.controls.filter(({ settings }) => settings.length > 0 === hasSettings).map((line) => assumptionElement(line, changes, onChange)));
  return fixed!.length === 0 ? adjustable! : [...adjustable!, el("details", {}, [el("summary", {}, [`Lines without a setting here: ${fixed!.length}`]), ...fixed!])];
}

function assumptionElement(line: Assumption, changes: ReadonlyMap<string, string>, onChange: Change): HTMLElement {
  const settings = line.settings.map((control) => settingElement(control, changes.get(control.key), onChange));
  const isChanged = line.settings.some(({ key }) => changes.has(key));
  return el("fieldset", { class: isChanged ? "line changed" : "line" }, [
    el("legend", {}, [el("span", { class: `mark ${line.mark}` }, [line.mark]), ` ${line.says}`]),
    ...settings,
    el("details", {}, [el("summary", {}, ["Why"]), el("p", {}, [line.because.replaceAll("`", "\"")])]),
  ]);
}

function settingElement(control: Control, changed: string | undefined, onChange: Change): HTMLElement {
  const { key, value, known, words = [], range, unit } = control;
  const present = changed ?? value ?? "";
  const names = [...new Set([...known.map(([text]) => text), ...words])];
  const isNumber = words.length === 0 && !present.startsWith("[") && Number.isFinite(Number(present));
  const isListed = names.includes(present);
  const options = [...names.map((name) => [name, name] as const), ...(isNumber ? [[OTHER, "other …"] as const] : isListed ? [] : [[present, present] as const])];
  const set = (text: string) => onChange(key, text === value ? null : text);
  const numberInput = isNumber && el("input", {
    type: "number", step: "any", min: range?.[0], max: range?.[1], value: present, "aria-label": `${key}: other value`, hidden: isListed,
  }, [], { change: () => numberInput && numberInput.checkValidity() && numberInput.value !== "" && set(numberInput.value) });
  const select = el("select", { "data-key": key }, options.map(([name, text]) =>
    el("option", { value: name, selected: name === present || (name === OTHER && isNumber && !isListed) }, [optionText(control, name, text)])), {
    change: () => {
      if (select.value !== OTHER || !numberInput) set(select.value);
      else {
        numberInput.hidden = false;
        numberInput.focus();
      }
    },
  });
  return el("div", { class: "setting" }, [
    el("label", {}, [el("code", {}, [key]), unit ? ` (${unit})` : "", " ", select]), numberInput,
    range && numberInput && !numberInput.hidden && el("span", { class: "quiet" }, [`${range[0]} to ${range[1]}`]),
  ]);
}

/** A value with its origin; lists of loads by their number and their ends. */
function optionText({ known }: Control, value: string, text: string): string {
  const origin = known.find(([each]) => each === value)?.[1];
  const loads = value.startsWith("[") ? (JSON.parse(value) as number[]) : null;
  const name = loads ? `${loads.length} factors, ${Math.min(...loads)} to ${Math.max(...loads)}` : text;
  return origin ? `${name} — ${origin}` : name;
}
