import type { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { ApiError } from '#lib/errors'

/** Bounds on open streams: of one caller, and of the process. Each holds a connection and asks the database now and then. */
const perCallerMax = 8
const inAllMax = 200

/** The open streams of a server. They end before it closes, which would otherwise wait for them. */
export type EventStreams = {
  /** Makes and keeps a stream of a caller; refuses one beyond the bounds without making it. */
  open(caller: string, make: () => Promise<Readable>): Promise<Readable>
}

export function openEventStreams(server: FastifyInstance): EventStreams {
  const counts = new Map<string, number>()
  const streams = new Set<Readable>()
  let inAll = 0
  const count = (caller: string, change: 1 | -1) => {
    inAll += change
    counts.set(caller, (counts.get(caller) ?? 0) + change)
    if (counts.get(caller) === 0) counts.delete(caller)
  }
  server.addHook('preClose', async () => {
    for (const stream of streams) stream.destroy()
  })
  return {
    open: async (caller, make) => {
      const own = counts.get(caller) ?? 0
      if (own >= perCallerMax || inAll >= inAllMax) throw refusal(own)
      count(caller, 1)
      const stream = await make().catch((error) => {
        count(caller, -1)
        throw error
      })
      streams.add(stream)
      stream.once('close', () => {
        streams.delete(stream)
        count(caller, -1)
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
