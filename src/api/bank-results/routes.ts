import type { Static } from 'typebox'
import type { Ctx } from '#engines/ctx'
import {
  type BankResult,
  bankSignatureHeader,
  isBankSignature,
  reportResult,
} from '#engines/treasury/banking/index'
import { ApiError, invalid } from '#lib/errors'
import { systemClock } from '#lib/time'
import { type Arrived, endpoint } from '#runtime/http/endpoint'
import { checkOf } from '#runtime/http/validate'
import { readResult } from './read-result.ts'
import { bankResultSchema } from './schema.ts'

/** The bank in the audit trail. */
const actor = 'bank'
const bytesMax = 16_384
const checkBody = checkOf(bankResultSchema, 'body')

/** The result in a signed message. Strangers take no connection of the database: this comes before the `tx`. */
async function readSigned(ctx: Ctx, arrived: Arrived): Promise<BankResult> {
  requireSignature(ctx, arrived)
  return readResult(readBody(arrived.bytes), true)
}

/** Nothing of a message is read before its signature is. */
function requireSignature({ config }: Ctx, { rawHeaders, bytes }: Arrived): void {
  const isHeader = (_: string, index: number) =>
    index % 2 === 1 && rawHeaders[index - 1]!.toLowerCase() === bankSignatureHeader.toLowerCase()
  const [header = '', ...others] = rawHeaders.filter(isHeader)
  const nowSeconds = Math.floor(systemClock.nowMs() / 1000)
  if (others.length === 0 && isBankSignature(config.bankRail!.secret, 'result', nowSeconds, header, bytes))
    return
  throw new ApiError(
    'unauthorized',
    `The header ${bankSignatureHeader} is no signature of this body that was made within the last five minutes: send t=SECONDS,v1=HEX, the HMAC-SHA256 of "result.SECONDS." and the body under the secret of BEZANT_BANK_RAIL.`,
  )
}

function readBody(bytes: Buffer): Static<typeof bankResultSchema> {
  let body: unknown
  try {
    body = JSON.parse(bytes.toString('utf8'))
  } catch {
    throw invalid({ at: 'body', reason: 'is no JSON' })
  }
  checkBody(body)
  return body as Static<typeof bankResultSchema>
}

/** The operation of a bank; a server has it only while one is connected. */
export const bankResultEndpoints = [
  endpoint({
    method: 'POST',
    path: '/bank/results',
    operationId: 'reportBankResult',
    summary: 'Report a result of the bank',
    description: `Takes a result from the connection to a bank that the operator runs, signed in \`${bankSignatureHeader}\`; its body is a BankResult, see /docs/banking. A repeated result changes nothing.`,
    tag: 'Bank accounts',
    auth: 'none',
    raw: true,
    rawBytesMax: bytesMax,
    status: 204,
    errors: [
      'unauthorized',
      'invalidRequest',
      'bankAccountNotFound',
      'payoutNotFound',
      'chainNotStarted',
      'bankResultConflict',
    ],
    prepare: (ctx: Ctx, { arrived }) => readSigned(ctx, arrived),
    verb: (ctx: Ctx, _, result) => reportResult({ ...ctx, actor }, result),
  }),
]
