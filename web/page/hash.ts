// The address of a place in the page: view, experiment, instant and request, in the hash.

export interface Address {
  readonly view?: string;
  readonly t?: number;
  readonly request?: number;
  /** The text of an experiment, if the address holds one. */
  readonly experiment?: string;
}

/** The most characters of a packed experiment in an address. */
export const MAX_PACKED_LENGTH = 60_000;
/** The most characters of an unpacked experiment: a short address must not become a huge text. */
const MAX_TEXT_LENGTH = 1_000_000;

export async function parseAddress(hash: string): Promise<Address> {
  const params = new URLSearchParams(hash.replace(/^#/, ""));
  const readNumber = (name: string) => {
    const value = Number(params.get(name) ?? NaN);
    return Number.isFinite(value) && value >= 0 ? value : undefined;
  };
  const [t_s, request, packed, view] = [readNumber("t"), readNumber("r"), params.get("x"), params.get("v")];
  return {
    ...(view ? { view } : {}),
    ...(t_s === undefined ? {} : { t: Math.round(t_s * 1e9) }),
    ...(request === undefined ? {} : { request }),
    ...(packed ? { experiment: await unpack(packed) } : {}),
  };
}

export async function formatAddress(address: Address): Promise<string> {
  const params = new URLSearchParams();
  if (address.view) params.set("v", address.view);
  // Rounded down, so that no choice of a scheduler lies between the instant and its address.
  if (address.t !== undefined) params.set("t", (Math.floor(address.t) / 1e9).toFixed(9).replace(/\.?0+$/, ""));
  if (address.request !== undefined) params.set("r", String(address.request));
  if (address.experiment !== undefined) params.set("x", await pack(address.experiment));
  return `#${params}`;
}

async function pack(text: string): Promise<string> {
  const bytes = await pipeBytes(new TextEncoder().encode(text), new CompressionStream("deflate-raw"), Infinity);
  const packed = btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  if (packed.length > MAX_PACKED_LENGTH) throw new Error("This experiment is too long for an address: save it as a file and send that.");
  return packed;
}

async function unpack(packed: string): Promise<string> {
  if (packed.length > MAX_PACKED_LENGTH) throw new Error("The address holds an experiment that is too long.");
  try {
    const bytes = Uint8Array.from(atob(packed.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(await pipeBytes(bytes, new DecompressionStream("deflate-raw"), MAX_TEXT_LENGTH));
  } catch {
    throw new Error("The experiment in the address cannot be read: it may have been cut off on its way.");
  }
}

async function pipeBytes(bytes: Uint8Array, stream: CompressionStream | DecompressionStream, maxLength: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = new Blob([bytes as BlobPart]).stream().pipeThrough(stream as unknown as ReadableWritablePair<Uint8Array, Uint8Array>).getReader();
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    length += chunk.value.length;
    if (length > maxLength) throw new Error("too long");
    chunks.push(chunk.value);
  }
  const joined = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    joined.set(chunk, offset);
    offset += chunk.length;
  }
  return joined;
}
