/**
 * Asks the other attesters for their signatures, outside any `tx`. Each attester is asked by a loop of its own, for several
 * messages at once and within a time limit, so that one that is silent delays neither the others nor its other answers.
 */
import type { EngineCtx } from '#engines/ctx'
import { announceWork } from '#engines/transactions/index'
import { messageErrorKinds } from '#lib/error-kinds/messages'
import { type Hex, isHex } from '#lib/hex'
import { type AlarmName, raiseAlarm } from '#runtime/log/alarms'
import { createCaller } from '#runtime/outbound/call'
import { failpoint } from '#runtime/scheduling/failpoints'
import { type Loop, logTrouble, repeat } from '#runtime/scheduling/loop'
import { createRepeatFilter } from '#runtime/scheduling/repeat-filter'
import type { Attester } from './attesters.ts'
import { messageChains } from './networks.ts'
import { type AskedProposal, claimProposals, setNextAsk, setProposalSignature } from './store/proposals.ts'

/** Number of messages that one attester is asked about at once. */
const atOnce = 8
const timeoutMs = 5_000
const leaseMs = 2 * timeoutMs
const answerBytesMax = 4_096
/** Pauses before the next try: the first, and the longest after an answer that may soon be another, and after any other. */
const pauseMs = { first: 250, soon: 5_000, late: 60_000 }
/** Pause of all requests to an attester that cannot be reached. */
const awayMs = 1_000
/** Pause of the loop. It also polls, because no notification announces when the next try is due. */
const restMs = 500

const call = createCaller('private')

/** The loop that asks one attester; `stop` ends the requests under way. */
export function startAsking(ctx: EngineCtx, attester: Attester): Loop {
  const stopping = new AbortController()
  const underWay = new Set<Promise<void>>()
  const report = reporterOf(ctx, attester)
  let awayUntilMs = 0
  const turn = async () => {
    const limit = atOnce - underWay.size
    if (limit === 0 || performance.now() < awayUntilMs) return false
    const due = await claimProposals(ctx.database, attester.address, { limit, leaseMs })
    for (const proposal of due) {
      const work = askFor(ctx, attester, proposal, stopping.signal, report)
        .then((isAway) => {
          if (isAway) awayUntilMs = performance.now() + awayMs
        })
        .catch((error) => void trouble.failed(error))
        .finally(() => {
          underWay.delete(work)
          loop.wake()
        })
      underWay.add(work)
    }
    return false
  }
  const trouble = logTrouble(ctx.log, 'asking an attester', { attester: attester.address })
  const loop = repeat(turn, trouble, restMs)
  return {
    wake: loop.wake,
    stop: async () => {
      stopping.abort()
      await loop.stop()
      await Promise.all(underWay)
    },
  }
}

type Reporter = (alarm: AlarmName, nonce: string, said: string) => void

const alarmTexts = {
  'attester-away': 'an attester does not answer, and messages wait for it',
  'attester-untrue': 'an attester answered with something else than its signature of the message',
  'attestation-refused':
    'an attester refuses to sign a message: its records differ from those of this server',
} as const

/** Repeats an alarm of an attester once a minute. */
function reporterOf({ log }: EngineCtx, { address }: Attester): Reporter {
  const isFirst = createRepeatFilter(60_000)
  return (alarm, nonce, said) => {
    // An attester that is away is so for all messages.
    if (!isFirst(alarm === 'attester-away' ? alarm : `${alarm} ${nonce}`)) return
    const text = alarmTexts[alarm as keyof typeof alarmTexts]
    raiseAlarm(log, alarm, { attester: address, nonce, said }, text)
  }
}

/**
 * Asks an attester for one signature. Records the signature or, without one, the time of the next try. Returns whether the
 * attester cannot be reached.
 */
async function askFor(
  ctx: EngineCtx,
  attester: Attester,
  proposal: AskedProposal,
  signal: AbortSignal,
  report: Reporter,
): Promise<boolean> {
  const { messageId, blockchain, nonce, tries } = proposal
  const answer = await ask(attester, proposal, signal)
  if (signal.aborted) return false
  if (answer.kind === 'signed' && (await isSignatureOf(ctx, attester, proposal, answer.signature))) {
    failpoint('before-signature-record')
    await setProposalSignature(ctx.database, proposal, attester.address, answer.signature)
    failpoint('after-signature-record')
    await announceWork(ctx.database, blockchain)
    return false
  }
  const isLate = answer.kind === 'signed' || answer.kind === 'refused'
  const pause = Math.min(pauseMs.first * 2 ** Math.min(tries - 1, 20), isLate ? pauseMs.late : pauseMs.soon)
  await setNextAsk(ctx.database, messageId, attester.address, pause)
  if (answer.kind === 'signed') report('attester-untrue', nonce, 'not its signature of the digest')
  if (answer.kind === 'refused') report('attestation-refused', nonce, answer.said)
  if (answer.kind === 'failed') report('attester-away', nonce, answer.said)
  return answer.kind === 'failed' && answer.isAway
}

async function isSignatureOf(
  ctx: EngineCtx,
  { address }: Attester,
  { domain, digest }: AskedProposal,
  signature: Hex,
): Promise<boolean> {
  const source = messageChains(ctx).find((chain) => chain.domain === domain)
  return (await source?.crosschain.signerOf(digest as Hex, signature)) === address
}

type AttesterAnswer =
  | { kind: 'signed'; signature: Hex }
  | { kind: 'not due' }
  | { kind: 'refused'; said: string }
  | { kind: 'failed'; said: string; isAway: boolean }

async function ask(
  { address, url, token }: Attester,
  { domain, nonce, attestedMessage: message }: AskedProposal,
  signal: AbortSignal,
): Promise<AttesterAnswer> {
  try {
    const { status, text } = await call({
      method: 'POST',
      url: `${url}/signatures`,
      timeoutMs,
      signal,
      keptBytes: answerBytesMax,
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json',
        Authorization: `Bearer ${token}`,
      },
      body: JSON.stringify({ domain, nonce, message, attester: address }),
    })
    return readAnswer(status, text)
  } catch (error) {
    return { kind: 'failed', said: (error as Error).message, isAway: true }
  }
}

const saidMax = 300

function readAnswer(status: number, text: string): AttesterAnswer {
  const { data, code, message } = parse(text) as {
    data?: { signature?: unknown }
    code?: unknown
    message?: unknown
  }
  if (status === 200) {
    const signature = data?.signature
    return { kind: 'signed', signature: isHex(signature) ? signature : '0x' }
  }
  if (code === messageErrorKinds.messageNotDue.code) return { kind: 'not due' }
  const said = `${status} ${typeof message === 'string' ? message : ''}`.trim().slice(0, saidMax)
  if (code === messageErrorKinds.signatureRefused.code) return { kind: 'refused', said }
  return { kind: 'failed', said, isAway: false }
}

function parse(text: string): object {
  try {
    const answer: unknown = JSON.parse(text)
    return typeof answer === 'object' && answer !== null ? answer : {}
  } catch {
    return {}
  }
}
