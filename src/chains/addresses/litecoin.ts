import type { Environment } from '../network.ts'
import { decodeBase58Check, encodeBase58Check, isVersionedHash } from './base58check.ts'
import { parseWitnessAddress } from './bitcoin.ts'

const networks = {
  LIVE: { key: 0x30, script: 0x32, oldScript: 0x05, prefix: 'ltc' },
  TEST: { key: 0x6f, script: 0x3a, oldScript: 0xc4, prefix: 'tltc' },
}

/** As on Bitcoin. A script's address in its former version ("3…") is returned in the present one ("M…"). */
export function parseLitecoinAddress(text: string, environment: Environment): string | undefined {
  const { key, script, oldScript, prefix } = networks[environment]
  const payload = decodeBase58Check(text)
  if (!payload) return parseWitnessAddress(text, prefix)
  if (isVersionedHash(payload, [oldScript]))
    return encodeBase58Check(Buffer.from([script, ...payload.subarray(1)]))
  return isVersionedHash(payload, [key, script]) ? text : undefined
}
