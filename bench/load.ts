/**
 * A small load generator: keep-alive connections that each send the same bytes as soon as the answer before has
 * arrived whole. It parses no more of an answer than its end, so that it costs far less than any server.
 */
import { connect, type Socket } from 'node:net'

export type Request = { url: string; path: string; headers?: Record<string, string> }

export type HttpConnection = {
  /** Sends the request once; resolves with the length of the answer in bytes. Any status but 200 is an error. */
  call(): Promise<number>
  close(): void
}

/** Opens one connection. Calls on it are sequential. */
export async function openHttpConnection({ url, path, headers = {} }: Request): Promise<HttpConnection> {
  const { hostname, port, host } = new URL(url)
  const lines = Object.entries({ host, accept: 'application/json', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  const bytes = Buffer.from(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1')
  const socket = await connected(hostname, Number(port))
  let settle: { resolve: (bytes: number) => void; reject: (error: Error) => void } | undefined
  const fail = (error: Error) => settle?.reject(error)
  const answer = answerReader((length) => settle?.resolve(length), fail)
  socket.on('data', answer)
  socket.on('error', fail)
  socket.on('close', () => fail(new Error('the server closed the connection')))
  return {
    call: () =>
      new Promise((resolve, reject) => {
        settle = { resolve, reject }
        socket.write(bytes)
      }),
    close: () => socket.destroy(),
  }
}

const connected = (host: string, port: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true }, () => resolve(socket))
    socket.once('error', reject)
  })

const headEnd = Buffer.from('\r\n\r\n')
const lastChunk = Buffer.from('0\r\n\r\n')

/** Tells where each answer ends, by its length or its last chunk. */
function answerReader(onAnswer: (bytes: number) => void, onError: (error: Error) => void) {
  let pending: Buffer[] = []
  let received = 0
  let expected: number | 'chunked' | undefined
  const readHead = () => {
    const start = pending.length === 1 ? pending[0]! : Buffer.concat(pending)
    pending = [start]
    const end = start.indexOf(headEnd)
    if (end < 0) return
    const head = start.subarray(0, end).toString('latin1')
    if (!head.startsWith('HTTP/1.1 200')) return onError(new Error(start.toString('utf8').slice(0, 600)))
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
    expected = length === undefined ? 'chunked' : end + headEnd.length + Number(length)
  }
  return (chunk: Buffer) => {
    pending.push(chunk)
    received += chunk.length
    if (expected === undefined) readHead()
    const isWhole =
      expected === 'chunked' ? endsWith(pending, lastChunk) : expected !== undefined && received >= expected
    if (!isWhole) return
    const bytes = received
    pending = []
    received = 0
    expected = undefined
    onAnswer(bytes)
  }
}

const endsWith = (chunks: readonly Buffer[], bytes: Buffer): boolean =>
  Buffer.concat(chunks.slice(-2)).subarray(-bytes.length).equals(bytes)

/** Requests per second that `connections` callers got answered within `durationMs`. */
export async function requestsPerSecond(
  request: Request,
  connections: number,
  durationMs: number,
): Promise<number> {
  const callers = await Promise.all(Array.from({ length: connections }, () => openHttpConnection(request)))
  const startedMs = performance.now()
  const endMs = startedMs + durationMs
  let count = 0
  await Promise.all(
    callers.map(async ({ call }) => {
      while (performance.now() < endMs) {
        await call()
        count += 1
      }
    }),
  )
  const seconds = (performance.now() - startedMs) / 1000
  for (const { close } of callers) close()
  return count / seconds
}

/** Duration of each of `count` sequential calls, in milliseconds. */
export async function durationsOf(count: number, call: () => Promise<unknown>): Promise<number[]> {
  const durations: number[] = []
  for (let index = 0; index < count; index++) {
    const startedMs = performance.now()
    await call()
    durations.push(performance.now() - startedMs)
  }
  return durations
}
