import { decodeMessage, messageDigest, packSignature } from '#chains/signing'
import { type EntitySecret, spendCiphertext } from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { invalid } from '#lib/errors'
import { bytesOf, isHex } from '#lib/hex'
import { digestFor, requireSigner, type SignerFields, sign } from './signer.ts'

export type MessageBody = SignerFields & { message: string; encodedByHex?: boolean }

/** Signs text, or the bytes it encodes, as a personal message, which is never a valid transaction. */
export async function signMessage(ctx: Ctx, { body }: { body: MessageBody }, secret: EntitySecret) {
  await spendCiphertext(ctx, secret)
  const wallet = await requireSigner(ctx, body)
  const bytes = bytesFrom(body)
  const digest = await digestFor(ctx, wallet, messageDigest(bytes))
  const operation = { kind: 'signMessage', ...decodeMessage(bytes) } as const
  const signature = await sign(ctx, secret, wallet, { digest, operation, memo: body.memo })
  return { signature: packSignature(signature) }
}

function bytesFrom({ message, encodedByHex = false }: MessageBody): Buffer {
  if (message === '') throw invalid('message', 'is empty', message, 'messageInvalid', 'length_outside_bounds')
  if (!encodedByHex) return Buffer.from(message, 'utf8')
  if (isHex(message)) return bytesOf(message)
  throw invalid(
    'message',
    'must be 0x and an even number of hexadecimal digits',
    message,
    'messageNotHex',
    'pattern_mismatch',
  )
}
