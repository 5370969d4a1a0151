import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { ApiError } from '#lib/errors'
import type { Answer } from './endpoint.ts'

/** Bounds on open streams: of one caller, and of the process. Each holds a connection and asks the database now and then. */
const perCallerMax = 8
const inAllMax = 200
/**
 * A stream of events ends after this time: its client opens another one, for which its key or session is checked again. A download,
 * whose length is known, goes on for as long again while its client takes it.
 */
export const streamMs = 5 * 60_000
/** Bytes that the client of a download takes in that time. */
export const takenBytesMin = 1_000_000

/** A stream, and the headers of one that is a download. */
type Made = { stream: Readable; headers?: Answer['headers'] }

/** The open streams of a server. They end before it closes, which would otherwise wait for them. */
export type EventStreams = {
  /**
   * Makes and keeps a stream of a caller; refuses one beyond the bounds without making it. A caller of events may open another stream as
   * soon as its connection is gone: the stream itself ends with its next event, so a page that is loaded again would find its places
   * taken. A download keeps its place until its work has ended. A stream that was admitted by a key or a session ends in time.
   */
  open(
    caller: string,
    response: ServerResponse,
    make: () => Promise<Made>,
    options: { isAdmitted: boolean },
  ): Promise<Made>
}

export function openEventStreams(server: FastifyInstance): EventStreams {
  const counts = new Map<string, number>()
  const streams = new Set<Readable>()
  let inAll = 0
  /** Counts a stream of the caller until the returned function is called, the first time. */
  const take = (caller: string) => {
    counts.set(caller, (counts.get(caller) ?? 0) + 1)
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      const left = counts.get(caller)! - 1
      if (left === 0) counts.delete(caller)
      else counts.set(caller, left)
    }
  }
  server.addHook('preClose', async () => {
    for (const stream of streams) stream.destroy()
  })
  return {
    open: async (caller, response, make, { isAdmitted }) => {
      const own = counts.get(caller) ?? 0
      if (own >= perCallerMax || inAll >= inAllMax) throw refusal(own)
      const release = take(caller)
      inAll += 1
      const end = () => {
        inAll -= 1
        release()
      }
      const made = await make().catch((error) => {
        end()
        throw error
      })
      const { stream, headers } = made
      const isDownload = headers?.['content-length'] !== undefined
      streams.add(stream)
      const life = isAdmitted && endInTime(stream, response, isDownload)
      stream.once('close', () => {
        if (life) clearInterval(life)
        streams.delete(stream)
        end()
      })
      if (response.destroyed) stream.destroy()
      else if (!isDownload) response.once('close', release)
      return made
    },
  }
}

function endInTime(stream: Readable, { socket }: ServerResponse, isDownload: boolean): NodeJS.Timeout {
  let taken = socket?.bytesWritten ?? 0
  return setInterval(() => {
    const before = taken
    taken = socket?.bytesWritten ?? 0
    if (!isDownload || taken - before < takenBytesMin) stream.destroy()
  }, streamMs).unref()
}

const refusal = (own: number) =>
  new ApiError(
    'tooManyRequests',
    own < perCallerMax
      ? `This server has ${inAllMax} open streams: close one, or ask another process.`
      : `This key has ${perCallerMax} open streams: close one first.`,
  )
