import { closeSync, existsSync, openSync, readFileSync, readSync } from 'node:fs'

/** The reason why the memory of another process cannot be read here; undefined where it can. */
export const memoryUnreadable = existsSync('/proc/self/mem')
  ? undefined
  : 'this system has no /proc/PID/mem, in which to look for secrets'

const chunkBytes = 16 * 1024 * 1024

/** Names of the values found anywhere in the writable memory of the process, which should be stopped. */
export function foundInMemory(pid: number, values: ReadonlyMap<string, Buffer>): string[] {
  const longest = Math.max(...[...values.values()].map(({ length }) => length))
  const found = new Set<string>()
  const memory = openSync(`/proc/${pid}/mem`, 'r')
  try {
    for (const bytes of writableChunks(pid, memory, longest - 1))
      for (const [name, value] of values) if (!found.has(name) && bytes.includes(value)) found.add(name)
  } finally {
    closeSync(memory)
  }
  return [...found].sort()
}

/** Each chunk begins with the last `overlap` bytes of the one before, so that no value is cut in two. */
function* writableChunks(pid: number, memory: number, overlap: number): Generator<Buffer> {
  const chunk = Buffer.alloc(chunkBytes)
  for (const line of readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')) {
    const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? []
    if (!from || !to || /\[v(var|syscall)/.test(line)) continue
    const end = BigInt(`0x${to}`)
    for (let at = BigInt(`0x${from}`); at < end; at += BigInt(chunkBytes - overlap)) {
      const left = end - at
      const length = left < chunkBytes ? Number(left) : chunkBytes
      yield chunk.subarray(0, readSync(memory, chunk, 0, length, at))
    }
  }
}

/** Searches for halves, because an allocator that got the bytes back may have overwritten the first of them. */
export function addBytes(secrets: Map<string, Buffer>, name: string, bytes: Buffer): void {
  const half = bytes.length / 2
  for (const [part, value] of Object.entries({
    first: bytes.subarray(0, half),
    second: bytes.subarray(half),
  })) {
    secrets.set(`${name}, ${part} half`, value)
    secrets.set(`${name}, ${part} half as a number's limbs`, Buffer.from(value).reverse())
    secrets.set(`${name}, ${part} half in hexadecimal`, Buffer.from(value.toString('hex')))
  }
}

export function addText(secrets: Map<string, Buffer>, name: string, text: string): void {
  secrets.set(`${name}, utf8`, Buffer.from(text, 'utf8'))
  secrets.set(`${name}, utf16`, Buffer.from(text, 'utf16le'))
}
