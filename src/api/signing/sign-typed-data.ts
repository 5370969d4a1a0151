import { ValueProblem } from '#chains/invalid-value'
import { decodeTypedData, packSignature, readTypedData, type TypedData } from '#chains/signing'
import { type EntitySecret, type KeyOpener, spendCiphertext } from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { ApiError, invalid } from '#lib/errors'
import { checkBounds } from '#runtime/http/bounds'
import { digestFor, requireSigner, type SignerFields, sign } from './signer.ts'

export type TypedDataBody = SignerFields & { data: string }

/** Signs typed data (EIP-712), such as a permit. */
export async function signTypedData(ctx: Ctx, { body }: { body: TypedDataBody }, secret: EntitySecret) {
  await spendCiphertext(ctx, secret)
  return signTypedDataWith(ctx, body, secret)
}

export async function signTypedDataWith(ctx: Ctx, body: TypedDataBody, opener: KeyOpener) {
  const { wallet, data, operation } = await planTypedData(ctx, body)
  const digest = digestFor(ctx, wallet, data.digest)
  const signature = await sign(ctx, opener, wallet, { digest, operation, memo: body.memo })
  return { signature: packSignature(signature) }
}

/** Checks typed data and decodes what its signature permits. */
export async function planTypedData(ctx: Ctx, body: TypedDataBody) {
  const wallet = await requireSigner(ctx, body)
  const data = typedDataIn(body.data)
  return { wallet, data, operation: { kind: 'signTypedData', ...decodeTypedData(data) } as const }
}

function typedDataIn(text: string): TypedData {
  const parsed = parseJson(text)
  try {
    checkBounds(parsed, 'data')
    return readTypedData(parsed)
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
