/** The core in a worker, for the page: every method of `Core`, as a promise. */

import type { Core } from "./core.js";
import { CoreError } from "./core.js";
import type { WorkerRequest, WorkerReply } from "./worker.js";

type Calls = { [Name in keyof Core]: Core[Name] extends (...given: infer Given) => infer Value ? (...given: Given) => Promise<Value> : never };

export interface Laboratory extends Calls {
  /** Ends the worker; unanswered requests fail. */
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
    started.onmessage = (event: MessageEvent<WorkerReply>) => {
      const { id, value, mistake } = event.data;
      const pending = waiting.get(id);
      waiting.delete(id);
      if (mistake?.blame === "trap") restart();
      if (mistake) pending?.fail(new CoreError(mistake));
      else pending?.keep(value);
    };
    started.onerror = (event) => fail(event.message);
    started.postMessage({ id: next++, method: "load", given: [wasm] } satisfies WorkerRequest);
    return started;
  }

  function fail(message: string): void {
    for (const pending of waiting.values()) pending.fail(new CoreError({ blame: "trap", message }));
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
      worker.postMessage({ id: next++, method, given } satisfies WorkerRequest);
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
