/**
 * The approval of a challenge by a command-line tool: sealed under the key of the session, JSON whose `pinhash` is the base64 of
 * `{"pinhash_struct", "otkey"}`. `otkey` is a key of one use, encrypted with RSA-OAEP to the public key of this server; it seals
 * `{"pinhash"}`, the base64 of the 32 bytes by which the tool proves its secret.
 */
import { parseBase64 } from '#lib/base64'
import { ApiError } from '#lib/errors'
import type { IdentityCtx } from '../identity.ts'
import { openJson } from './sealed-text.ts'

const secretBytes = 32

/** The secret in an approval, which the caller wipes. Throws `sealedBodyRefused` when it does not open, whatever the reason. */
export async function readCommandApproval(
  { custody, entity }: IdentityCtx,
  encryptionKey: Buffer,
  sealed: string,
): Promise<Buffer> {
  const { otkey, pinhash_struct: inner } = nested(openJson(encryptionKey, sealed)?.['pinhash'])
  const secret = await custody.transport.decrypt(entity.id, parseBase64(text(otkey)), (key) =>
    key?.length === secretBytes ? parseBase64(text(openJson(key, text(inner))?.['pinhash'])) : undefined,
  )
  if (secret?.length !== secretBytes) throw new ApiError('sealedBodyRefused')
  return secret
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

function nested(value: unknown): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(parseBase64(text(value))?.toString() ?? '')
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
