/**
 * Asks another attestation service about messages that this server does not attest. Its answers are read member by member and
 * shown in the shapes of this interface; anything else is a refusal. Each request asks once, for a limited time.
 */
import { decodedMessageOf } from '#chains/crosschain/decoded-message'
import { MessageProblem } from '#chains/crosschain/message-problem'
import { ApiError } from '#lib/errors'
import { type Hex, isHex } from '#lib/hex'
import { createCaller } from '#runtime/outbound/call'
import type { Scope } from '#runtime/scope'

/** The setting names a trusted service, which may be on the operator's network. */
const call = createCaller('private')

const timeoutMs = 5_000
const keptBytes = 1_048_576
/** Requests under way at a time, in this process: a silent service takes no more of it. */
const askedMax = 32
/** The service has answers for several messages of one transaction, as this server has. */
const listedMax = 100

let asked = 0

type ServiceRequest = { method: 'GET' | 'POST'; path: string; query?: Record<string, string | undefined> }
type JsonObject = Record<string, unknown>

const away = () => new ApiError('attestationServiceAway')

/** Returns the JSON that the service answers with; throws `messageNotFound` for its 404, and `attestationServiceAway` for others. */
async function ask(base: string, { method, path, query = {} }: ServiceRequest): Promise<unknown> {
  if (asked >= askedMax) throw away()
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as [string, string]],
  )
  const search = given.length > 0 ? `?${new URLSearchParams(given)}` : ''
  asked += 1
  const headers = { Accept: 'application/json' }
  const { status, text, isWhole } = await call({
    method,
    url: `${base}${path}${search}`,
    headers,
    timeoutMs,
    keptBytes,
  })
    .catch(() => {
      throw away()
    })
    .finally(() => {
      asked -= 1
    })
  if (status === 404) throw new ApiError('messageNotFound')
  if (status !== 200 || !isWhole) throw away()
  try {
    return JSON.parse(text)
  } catch {
    throw away()
  }
}

/** The service that answers for other domains; `undefined` where none is set. */
export const attestationServiceOf = ({ config }: Scope) => config.attestationServiceUrl

/** The messages of a transaction of a domain, or the one with a nonce. */
export async function askForMessages(
  base: string,
  domain: string,
  filters: { transactionHash?: string | undefined; nonce?: string | undefined },
) {
  const body = objectIn(await ask(base, { method: 'GET', path: `/v2/messages/${domain}`, query: filters }))
  const messages = listIn(body['messages']).map((each) => messageIn(objectIn(each), domain))
  if (messages.length === 0) throw new ApiError('messageNotFound')
  const { sourceTxHash } = body
  return { messages, ...(isShortText(sourceTxHash) && { sourceTxHash }) }
}

export async function askForKeys(base: string) {
  const body = objectIn(await ask(base, { method: 'GET', path: '/v2/publicKeys' }))
  return listIn(body['publicKeys']).map((each) => {
    const { publicKey, cctpVersion } = objectIn(each)
    if (!isHex(publicKey) || publicKey.length > 132 || !isCount(cctpVersion)) throw away()
    return { publicKey, cctpVersion }
  })
}

export async function askForFees(
  base: string,
  { source, destination }: { source: string; destination: string },
  forward: string | undefined,
) {
  const path = `/v2/burn/USDC/fees/${source}/${destination}`
  return listIn(await ask(base, { method: 'GET', path, query: { forward } })).map((each) => {
    const { finalityThreshold, minimumFee, forwardFee } = objectIn(each)
    if (!isCount(finalityThreshold) || !isAmount(minimumFee)) throw away()
    return {
      finalityThreshold,
      minimumFee,
      ...(forwardFee !== undefined && { forwardFee: tariffIn(forwardFee) }),
    }
  })
}

export async function askForAllowance(base: string) {
  const { allowance, lastUpdated } = objectIn(
    await ask(base, { method: 'GET', path: '/v2/fastBurn/USDC/allowance' }),
  )
  if (!isAmount(allowance) || !isShortText(lastUpdated) || Number.isNaN(Date.parse(lastUpdated))) throw away()
  return { allowance, lastUpdated: new Date(lastUpdated).toISOString() }
}

export async function askToReattest(base: string, nonce: string) {
  const body = objectIn(await ask(base, { method: 'POST', path: `/v2/reattest/${nonce}` }))
  if (body['nonce'] !== nonce) throw away()
  return { message: isShortText(body['message']) ? body['message'] : 'The service was asked.', nonce }
}

/** The fields of the message are read from its bytes, not from the answer. */
function messageIn(given: JsonObject, domain: string) {
  const { message, eventNonce, attestation, cctpVersion, status } = given
  const isComplete = status === 'complete'
  if (!isHex(message) || !isShortText(eventNonce) || !isCount(cctpVersion)) throw away()
  if (!isComplete && status !== 'pending_confirmations') throw away()
  if (isComplete ? !isHex(attestation) || attestation === '0x' : attestation !== 'PENDING') throw away()
  const decodedMessage = message === '0x' ? null : decodedIn(message)
  if (isComplete && cctpVersion === 2 && decodedMessage?.sourceDomain !== domain) throw away()
  const optional = (name: string) => (isShortText(given[name]) ? { [name]: given[name] } : {})
  return {
    message,
    eventNonce,
    attestation: String(attestation),
    decodedMessage,
    cctpVersion,
    status: isComplete ? ('complete' as const) : ('pending_confirmations' as const),
    delayReason: isShortText(given['delayReason']) ? given['delayReason'] : null,
    ...optional('forwardState'),
    ...optional('forwardTxHash'),
  }
}

/** The fields of a message; null of one in an earlier format. */
function decodedIn(message: Hex) {
  try {
    return decodedMessageOf(message)
  } catch (error) {
    if (error instanceof MessageProblem) return null
    throw error
  }
}

function tariffIn(given: unknown) {
  const { low, med, medium = med, high } = objectIn(given)
  if (!isCount(low) || !isCount(medium) || !isCount(high)) throw away()
  return { low, med: medium, medium, high }
}

function objectIn(value: unknown): JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject
  throw away()
}

function listIn(value: unknown): unknown[] {
  if (Array.isArray(value) && value.length <= listedMax) return value
  throw away()
}

const isShortText = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= 300
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0
const isAmount = (value: unknown): value is number => Number.isFinite(value) && Number(value) >= 0
