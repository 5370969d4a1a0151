import type { SignableTypedData } from '#chains/facets/signing'
import { ValueProblem } from '#chains/invalid-value'
import { type EntitySecret, type KeyOpener, spendCiphertext } from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { ApiError, invalid } from '#lib/errors'
import { checkBounds } from '#runtime/http/bounds'
import { payloadFor, requireSigner, type SignerFields, sign } from './signer.ts'

export type TypedDataBody = SignerFields & { data: string }

/** Signs typed data (EIP-712), such as a permit. */
export async function signTypedData(ctx: Ctx, { body }: { body: TypedDataBody }, secret: EntitySecret) {
  await spendCiphertext(ctx, secret)
  return signTypedDataWith(ctx, body, secret)
}

export async function signTypedDataWith(ctx: Ctx, body: TypedDataBody, opener: KeyOpener) {
  const { wallet, signable, operation } = await planTypedData(ctx, body)
  const payload = payloadFor(ctx, wallet, signable.payload)
  return {
    signature: signable.answerOf(await sign(ctx, opener, wallet, { payload, operation, memo: body.memo })),
  }
}

/** Checks typed data and decodes what its signature permits. */
export async function planTypedData(ctx: Ctx, body: TypedDataBody) {
  const { wallet, read } = await requireSigner(ctx, body, 'typedData')
  const signable = typedDataIn(body.data, read)
  return { wallet, signable, operation: { kind: 'signTypedData', ...signable.effects } as const }
}

function typedDataIn(text: string, read: (data: unknown) => SignableTypedData): SignableTypedData {
  const parsed = parseJson(text)
  try {
    checkBounds(parsed, 'data')
    return read(parsed)
  } catch (error) {
    if (error instanceof ValueProblem)
      throw invalid({ at: error.location, reason: error.reason, kind: 'typedDataInvalid' })
    if (error instanceof ApiError) throw new ApiError('typedDataInvalid', error.message, error.fields)
    throw error
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalid({ at: 'data', reason: 'is not JSON', value: text, kind: 'typedDataNotJson' })
  }
}
