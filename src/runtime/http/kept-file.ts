import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** A response that is the same for all callers, in memory in both encodings: it costs a copy, or less where the caller has it. */
export type KeptFile = { type: string; etag: string; plain: Buffer; packed: Buffer }

const pack = promisify(gzip)

export async function keepFile(type: string, content: string | Buffer): Promise<KeptFile> {
  const plain = Buffer.from(content)
  const etag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`
  return { type, etag, plain, packed: await pack(plain, { level: constants.Z_BEST_COMPRESSION }) }
}

/** Sends the file, or 304 to a caller that has it. Callers ask each time, so that a new version is seen at once. */
export function sendKept(request: FastifyRequest, reply: FastifyReply, file: KeptFile): FastifyReply {
  if (!reply.hasHeader('Cache-Control')) reply.header('Cache-Control', 'no-cache')
  reply.header('ETag', file.etag).header('Vary', 'Accept-Encoding')
  if ((request.headers['if-none-match'] ?? '').includes(file.etag)) return reply.code(304).send()
  reply.type(file.type)
  if (!takesGzip(request.headers['accept-encoding'])) return reply.send(file.plain)
  return reply.header('Content-Encoding', 'gzip').send(file.packed)
}

const takesGzip = (accepted: string | string[] | undefined) =>
  /(^|,)\s*(gzip|\*)\s*(;\s*q=(1|0\.\d*[1-9]))?\s*(,|$)/i.test(String(accepted ?? ''))
