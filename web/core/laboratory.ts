/** The core in a worker, for the page: every method of `Core`, as a promise. */

import type { Core } from "./core.js";
import { CoreError } from "./core.js";
import type { WorkerRequest, WorkerReply } from "./worker.js";

type AsyncCore = { [Name in keyof Core]: Core[Name] extends (...args: infer Args) => infer Value ? (...args: Args) => Promise<Value> : never };

export interface Laboratory extends AsyncCore {
  /** Ends the worker; unanswered requests fail. */
  end(): void;
}

/**
 * Starts a worker. After a trap it starts a new one by itself: its runs and traces are gone, and calls work again.
 *
 * @param script The bundled `worker.ts`.
 * @param wasm The module; compiled ones are shared between workers.
 */
export function startLaboratory(script: string, wasm: BufferSource | WebAssembly.Module): Laboratory {
  const pendingCalls = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let nextId = 0;
  let worker = startWorker();

  function startWorker(): Worker {
    const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
    const newWorker = new Worker(url);
    URL.revokeObjectURL(url);
    newWorker.onmessage = (event: MessageEvent<WorkerReply>) => {
      const { id, value, error } = event.data;
      const pending = pendingCalls.get(id);
      pendingCalls.delete(id);
      if (error?.blame === "trap") restart();
      if (error) pending?.reject(new CoreError(error));
      else pending?.resolve(value);
    };
    newWorker.onerror = (event) => rejectAll(event.message);
    newWorker.postMessage({ id: nextId++, method: "load", args: [wasm] } satisfies WorkerRequest);
    return newWorker;
  }

  function rejectAll(message: string): void {
    for (const pending of pendingCalls.values()) pending.reject(new CoreError({ blame: "trap", message }));
    pendingCalls.clear();
  }

  function restart(): void {
    worker.terminate();
    rejectAll("the simulator stopped and was started anew");
    worker = startWorker();
  }

  function send(method: string, args: unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      pendingCalls.set(nextId, { resolve, reject });
      worker.postMessage({ id: nextId++, method, args } satisfies WorkerRequest);
    });
  }

  function end(): void {
    worker.terminate();
    rejectAll("the simulator was stopped");
  }

  return new Proxy({} as Laboratory, {
    get: (_, name) => {
      if (name === "end") return end;
      // A promise of it must not take it for another promise.
      return name === "then" ? undefined : (...args: unknown[]) => send(String(name), args);
    },
  });
}
