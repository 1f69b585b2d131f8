/** The core in a worker, for the page: every method of `Core`, as a promise. */

import type { Core } from "./core.js";
import { CoreError } from "./core.js";
import type { Asked, Told } from "./worker.js";

type Calls = { [Name in keyof Core]: Core[Name] extends (...given: infer Given) => infer Value ? (...given: Given) => Promise<Value> : never };

export interface Laboratory extends Calls {
  /** Ends the worker; what was asked and not answered fails. */
  end(): void;
}

/**
 * Starts a worker. After a trap it starts a new one by itself: its runs and traces are gone, and calls work again.
 *
 * @param script The bundled `worker.ts`.
 * @param wasm The module; compiled ones are shared between workers.
 */
export function laboratory(script: string, wasm: BufferSource | WebAssembly.Module): Laboratory {
  const waiting = new Map<number, { keep(value: unknown): void; fail(error: Error): void }>();
  let next = 0;
  let worker = start();

  function start(): Worker {
    const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
    const started = new Worker(url);
    URL.revokeObjectURL(url);
    started.onmessage = (event: MessageEvent<Told>) => {
      const { id, value, mistake } = event.data;
      const asked = waiting.get(id);
      waiting.delete(id);
      if (mistake?.blame === "trap") restart();
      if (mistake) asked?.fail(new CoreError(mistake));
      else asked?.keep(value);
    };
    started.onerror = (event) => fail(event.message);
    started.postMessage({ id: next++, method: "load", given: [wasm] } satisfies Asked);
    return started;
  }

  function fail(message: string): void {
    for (const asked of waiting.values()) asked.fail(new CoreError({ blame: "trap", message }));
    waiting.clear();
  }

  function restart(): void {
    worker.terminate();
    fail("the simulator stopped and was started anew");
    worker = start();
  }

  function ask(method: string, given: unknown[]): Promise<unknown> {
    return new Promise((keep, fail) => {
      waiting.set(next, { keep, fail });
      worker.postMessage({ id: next++, method, given } satisfies Asked);
    });
  }

  function end(): void {
    worker.terminate();
    fail("the simulator was stopped");
  }

  return new Proxy({} as Laboratory, {
    get: (_, name) => {
      if (name === "end") return end;
      // A promise of it must not take it for another promise.
      return name === "then" ? undefined : (...given: unknown[]) => ask(String(name), given);
    },
  });
}
