/** Parameters of requests. Each function throws what nodes answer to others. */
import { base58 } from '@scure/base'
import { decodeBase58 } from '#chains/addresses/base-encodings'
import { isSolanaAddress } from '#chains/addresses/solana'
import { bytesOfBase64 } from '#chains/binary-reader'
import { SolanaRpcError } from './errors.ts'

export type RpcConfig = Readonly<Record<string, unknown>>

const invalid = (message: string) => new SolanaRpcError('invalidParams', message)

export function addressParam(value: unknown): string {
  if (typeof value !== 'string') throw invalid('Invalid params: expected a string.')
  if (!isSolanaAddress(value)) throw invalid('Invalid param: Invalid')
  return value
}

export function signatureParam(value: unknown): string {
  if (typeof value !== 'string' || decodeBase58(value)?.length !== 64) throw invalid('Invalid param: Invalid')
  return value
}

export function hashParam(value: unknown): string {
  if (typeof value !== 'string' || !isSolanaAddress(value)) throw invalid('Invalid param: Invalid')
  return value
}

/** A natural number, which may be a bigint's as JSON writes it. */
export function numberParam(value: unknown, name = 'u64'): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw invalid(`Invalid params: invalid value: ${JSON.stringify(value)}, expected ${name}.`)
}

export function listParam(value: unknown, max: number): unknown[] {
  if (!Array.isArray(value)) throw invalid('Invalid params: expected a sequence.')
  if (value.length > max) throw invalid(`Too many inputs provided; max ${max}`)
  return value
}

/** The last parameter, which may be left out. Clients of the older interface write a commitment in place of the object. */
export function configParam(value: unknown): RpcConfig {
  if (value === undefined || value === null) return {}
  if (typeof value === 'string') return { commitment: value }
  if (typeof value === 'object' && !Array.isArray(value)) return value as RpcConfig
  throw invalid('Invalid params: expected a configuration object.')
}

/** The bytes of a transaction or message in the encoding that is named; base58 unless one is. */
export function bytesParam(value: unknown, encoding: unknown, usual: 'base58' | 'base64' = 'base58'): Buffer {
  if (typeof value !== 'string') throw invalid('Invalid params: expected a string.')
  const named = encoding ?? usual
  if (named !== 'base58' && named !== 'base64')
    throw invalid(`unsupported encoding: ${String(named)}. Supported encodings: base58, base64`)
  const bytes = named === 'base64' ? bytesOfBase64(value) : decodeLongBase58(value)
  if (!bytes) throw invalid(`invalid ${named} encoding`)
  return bytes
}

/** The length that base58 of a transaction has at most. */
const base58Max = 1_683

function decodeLongBase58(text: string): Buffer | undefined {
  if (text.length > base58Max)
    throw invalid(
      `base58 encoded transaction too large: ${text.length} bytes (max: encoded/raw ${base58Max}/1232)`,
    )
  try {
    return Buffer.from(base58.decode(text))
  } catch {
    return undefined
  }
}
