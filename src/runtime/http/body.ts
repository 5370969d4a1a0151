import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ApiError } from '#lib/errors'
import { levelsMax, membersMax } from './bounds.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Maximum size of this route's body. Without it the route reads no body. */
    bodyBytesMax?: number
    /** Whether the body is handed on as its bytes, whatever its media type. */
    isRaw?: boolean
  }
}

/** Maximum size of a body that is taken as its bytes. */
export const rawBodyBytesMax = 1_048_576

/** Maximum size of a body that carries no call data, document or batch. */
export const usualBodyBytesMax = 65_536

/** Time limit of a body: a base, plus a second for each `bodyBytesEachSecond` of its announced or maximum size. */
const bodyBaseMs = 5_000
const bodyBytesEachSecond = 262_144

/** Parses JSON bodies. Some clients send `application/json` or a form type with no body: both are an empty object. */
export function parseBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', async (request: FastifyRequest, payload: Readable) => {
    const { bodyBytesMax, isRaw } = request.routeOptions.config
    // An unexpected body is not read: Node discards it once the response is sent.
    if (bodyBytesMax === undefined) return undefined
    if (isRaw) return readBody(request, payload, bodyBytesMax)
    const bytes = await decoded(request, await readBody(request, payload, bodyBytesMax), bodyBytesMax)
    if (bytes.length === 0) return {}
    const type = (request.headers['content-type'] ?? '').toLowerCase()
    if (type !== '' && !/^application\/([\w.+-]+\+)?json/.test(type))
      throw new ApiError('unsupportedMediaType')
    return parseJson(bytes)
  })
}

const decoders = new Map(
  Object.entries({
    gzip: promisify(gunzip),
    'x-gzip': promisify(gunzip),
    deflate: promisify(inflate),
    br: promisify(brotliDecompress),
  }),
)

/** Decodes a compressed body in the thread pool; refuses one that is larger than `bytesMax` then. */
async function decoded(request: FastifyRequest, bytes: Buffer, bytesMax: number): Promise<Buffer> {
  const coding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase()
  if (coding === 'identity' || coding === '' || bytes.length === 0) return bytes
  const decode = decoders.get(coding)
  if (!decode)
    throw new ApiError(
      'unsupportedMediaType',
      'The Content-Encoding is not supported: send the body as it is, or with gzip, deflate or br.',
    )
  return decode(bytes, { maxOutputLength: bytesMax }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge(bytesMax) : badBody(`is not valid ${coding}`)
  })
}

/** Reads the body; refuses more than `bytesMax`, and a body that arrives too slowly. */
function readBody(request: FastifyRequest, payload: Readable, bytesMax: number): Promise<Buffer> {
  const announced = Number(request.headers['content-length'] ?? 0)
  if (announced > bytesMax) return Promise.reject(tooLarge(bytesMax))
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    const settle = (act: () => void) => {
      clearTimeout(timer)
      // The error listener stays, for connections that break later.
      payload.off('data', onData).off('end', onEnd)
      act()
    }
    const refuse = (error: Error) => settle(() => reject(error))
    const onEnd = () => settle(() => resolve(Buffer.concat(chunks)))
    const onData = (chunk: Buffer) => {
      length += chunk.length
      if (length > bytesMax) return refuse(tooLarge(bytesMax))
      chunks.push(chunk)
    }
    const waitMs = bodyBaseMs + (1_000 * (announced || bytesMax)) / bodyBytesEachSecond
    const timer = setTimeout(() => refuse(new ApiError('requestTimeout')), waitMs)
    payload.on('data', onData).on('end', onEnd)
    payload.on('error', () => refuse(badBody('is incomplete')))
  })
}

const tooLarge = (bytesMax: number) =>
  new ApiError(
    'payloadTooLarge',
    `The request body is larger than the ${bytesMax} bytes that this operation accepts.`,
  )

/** Parses JSON. Depth and number of values are checked before parsing: values cost far more than bytes. */
function parseJson(bytes: Buffer): unknown {
  const reason = unboundedIn(bytes)
  if (reason) throw badBody(reason)
  try {
    return JSON.parse(bytes.toString().replace(/^\uFEFF/, ''))
  } catch {
    throw badBody('is not valid JSON')
  }
}

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]

/** Returns why this text must not be parsed, or `undefined`. Scans each byte once, whether the text is JSON or not. */
function unboundedIn(text: Uint8Array): string | undefined {
  let levels = 0
  let members = 0
  for (let at = 0; at < text.length; at++) {
    const byte = text[at]
    if (byte === quote) {
      at += 1
      while (at < text.length && text[at] !== quote) at += text[at] === backslash ? 2 : 1
    } else if (byte === comma) {
      members += 1
    } else if (byte === openBrace || byte === openBracket) {
      members += 1
      levels += 1
      if (levels > levelsMax) return `must not nest deeper than ${levelsMax} levels`
    } else if (byte === closeBrace || byte === closeBracket) {
      levels -= 1
    }
    if (members > membersMax) return `must not have more than ${membersMax} members in total`
  }
  return undefined
}

const badBody = (reason: string) =>
  new ApiError('invalidRequest', `API parameter invalid. The body ${reason}.`, [
    { error: 'invalid_value', message: `body ${reason}`, location: 'body', constraints: {} },
  ])
