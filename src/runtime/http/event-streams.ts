import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { ApiError } from '#lib/errors'

/** Bounds on open streams: of one caller, and of the process. Each holds a connection and asks the database now and then. */
const perCallerMax = 8
const inAllMax = 200
/** A stream ends after this time: its client opens another one, for which its key or session is checked again. */
export const streamMs = 5 * 60_000

/** The open streams of a server. They end before it closes, which would otherwise wait for them. */
export type EventStreams = {
  /**
   * Makes and keeps a stream of a caller; refuses one beyond the bounds without making it. The caller may open another one as soon as
   * its connection is gone: the stream itself ends with its next event, so a page that is loaded again would find its slots taken. A
   * stream that was admitted by a key or a session ends in time.
   */
  open(
    caller: string,
    response: ServerResponse,
    make: () => Promise<Readable>,
    options: { isAdmitted: boolean },
  ): Promise<Readable>
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
      response.once('close', release)
      inAll += 1
      const end = () => {
        inAll -= 1
        release()
      }
      const stream = await make().catch((error) => {
        end()
        throw error
      })
      streams.add(stream)
      const life = isAdmitted && setTimeout(() => stream.destroy(), streamMs).unref()
      stream.once('close', () => {
        if (life) clearTimeout(life)
        streams.delete(stream)
        end()
      })
      return stream
    },
  }
}

const refusal = (own: number) =>
  new ApiError(
    'tooManyRequests',
    own < perCallerMax
      ? `This server has ${inAllMax} open streams: close one, or ask another process.`
      : `This key has ${perCallerMax} open streams: close one first.`,
  )
