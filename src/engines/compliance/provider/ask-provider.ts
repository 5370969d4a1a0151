import type { Clock } from '#lib/time'
import type { Config } from '#runtime/config'
import type { Db } from '#runtime/db/db'
import { raiseAlarm } from '#runtime/log/alarms'
import type { Log } from '#runtime/log/log'
import { createCaller } from '#runtime/outbound/call'
import { oncePer } from '#runtime/scheduling/memoize'
import { createRepeatFilter } from '#runtime/scheduling/repeat-filter'
import { type AskedAddress, answersAbout, keepAnswers } from '../store/provider-answers.ts'
import { NoAnswer, type ProviderAnswer, readAnswer } from './read-answer.ts'

/** Number of addresses that are asked about at once, and in one batch. */
const atOnce = 8
const batchMax = 64
/** Time for one answer, and for all of a batch: a slow provider delays others no longer. */
const timeoutMs = 5_000
const answerBytesMax = 16_384

const isFirstReport = oncePer((_config: Config) => createRepeatFilter(60_000))
const call = createCaller('private')

export type ProviderScope = { database: Db; config: Config; clock: Clock; log: Log }

/**
 * Asks the provider about those of the addresses that no kept answer decides, and keeps the answers: outside any `tx`. Stops
 * at the first failure, and alarms. Returns the addresses that a working provider has yet to be asked about, in the next
 * batch: none where it failed, or where none is set.
 */
export async function askProvider(
  scope: ProviderScope,
  addresses: readonly AskedAddress[],
): Promise<readonly AskedAddress[]> {
  const { config, database, clock } = scope
  if (config.screeningUrl === undefined || addresses.length === 0) return []
  const distinct = [...new Map(addresses.map((each) => [keyOf(each), each])).values()]
  const known = new Set((await answersAbout(database, clock.nowMs(), distinct)).map(keyOf))
  const unknown = distinct.filter((each) => !known.has(keyOf(each)))
  const left = unknown.slice(0, batchMax)
  const answers: ProviderAnswer[] = []
  const end = AbortSignal.timeout(timeoutMs)
  let failure: Error | undefined
  const work = async () => {
    for (let next = left.shift(); next && !failure && !end.aborted; next = left.shift())
      try {
        answers.push(await ask(config, next, end))
      } catch (error) {
        failure ??= error as Error
      }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  const nowMs = clock.nowMs()
  if (answers.length > 0) await keepAnswers(database, nowMs, nowMs + config.screeningKeptMs, answers)
  if (!failure) return [...left, ...unknown.slice(batchMax)]
  report(scope, failure)
  return []
}

const keyOf = ({ chain, address }: AskedAddress) => `${chain} ${address}`

async function ask(config: Config, asked: AskedAddress, signal: AbortSignal): Promise<ProviderAnswer> {
  const { screeningUrl: url, screeningToken: token } = config
  const { status, text, isWhole } = await call({
    method: 'POST',
    url: url!,
    timeoutMs,
    signal,
    keptBytes: answerBytesMax,
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json',
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(asked),
  })
  if (status !== 200) throw new NoAnswer(`answered with the status ${status}`)
  if (!isWhole) throw new NoAnswer(`answered with more than ${answerBytesMax} bytes, or not completely`)
  return readAnswer(asked, text)
}

function report({ config, log }: ProviderScope, error: Error): void {
  const said = error instanceof NoAnswer ? `the provider ${error.message}` : error.message
  if (!isFirstReport(config)(said)) return
  raiseAlarm(
    log,
    'screening-provider-away',
    { said },
    'the provider of screening decides nothing now: transactions wait for it, or for an operator',
  )
}
