import { decodePersonalMessage, packSignature, personalMessageDigest } from '#chains/signing'
import { type EntitySecret, type KeyOpener, spendCiphertext } from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { invalid } from '#lib/errors'
import { bytesOf, isHex } from '#lib/hex'
import { digestFor, requireSigner, type SignerFields, sign } from './signer.ts'

export type MessageBody = SignerFields & { message: string; encodedByHex?: boolean }

/** Signs text, or the bytes it encodes, as a personal message, which is never a valid transaction. */
export async function signMessage(ctx: Ctx, { body }: { body: MessageBody }, secret: EntitySecret) {
  await spendCiphertext(ctx, secret)
  return signMessageWith(ctx, body, secret)
}

export async function signMessageWith(ctx: Ctx, body: MessageBody, opener: KeyOpener) {
  const { wallet, bytes, operation } = await planMessage(ctx, body)
  const digest = digestFor(ctx, wallet, personalMessageDigest(bytes))
  const signature = await sign(ctx, opener, wallet, { digest, operation, memo: body.memo })
  return { signature: packSignature(signature) }
}

/** Checks a message and decodes what its signature permits. */
export async function planMessage(ctx: Ctx, body: MessageBody) {
  const wallet = await requireSigner(ctx, body)
  const bytes = bytesFrom(body)
  return { wallet, bytes, operation: { kind: 'signMessage', ...decodePersonalMessage(bytes) } as const }
}

function bytesFrom({ message, encodedByHex = false }: MessageBody): Buffer {
  if (message === '')
    throw invalid({
      at: 'message',
      reason: 'is empty',
      value: message,
      kind: 'messageInvalid',
      error: 'length_outside_bounds',
    })
  if (!encodedByHex) return Buffer.from(message, 'utf8')
  if (isHex(message)) return bytesOf(message)
  throw invalid({
    at: 'message',
    reason: 'must be 0x and an even number of hexadecimal digits',
    value: message,
    kind: 'messageNotHex',
    error: 'pattern_mismatch',
  })
}
