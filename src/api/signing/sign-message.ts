import { ValueProblem } from '#chains/invalid-value'
import { type EntitySecret, type KeyOpener, spendCiphertext } from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { invalid } from '#lib/errors'
import { bytesOf, isHex } from '#lib/hex'
import { payloadFor, requireSigner, type SignerFields, sign } from './signer.ts'

export type MessageBody = SignerFields & { message: string; encodedByHex?: boolean }

/** Signs text, or the bytes it encodes, as a message, which is never a valid transaction. */
export async function signMessage(ctx: Ctx, { body }: { body: MessageBody }, secret: EntitySecret) {
  await spendCiphertext(ctx, secret)
  return signMessageWith(ctx, body, secret)
}

export async function signMessageWith(ctx: Ctx, body: MessageBody, opener: KeyOpener) {
  const { wallet, signable, operation } = await planMessage(ctx, body)
  const payload = payloadFor(ctx, wallet, signable.payload)
  return {
    signature: signable.answerOf(await sign(ctx, opener, wallet, { payload, operation, memo: body.memo })),
  }
}

/** Checks a message and decodes what its signature permits. */
export async function planMessage(ctx: Ctx, body: MessageBody) {
  const { wallet, account, read } = await requireSigner(ctx, body, 'message')
  const bytes = bytesFrom(body)
  const signable = readable(() => read(bytes, account))
  return { wallet, bytes, signable, operation: { kind: 'signMessage', ...signable.effects } as const }
}

function readable<Read>(read: () => Read): Read {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ValueProblem)) throw error
    throw invalid({ at: error.location, reason: error.reason, kind: 'messageInvalid' })
  }
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
