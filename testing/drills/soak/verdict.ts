import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkLedger } from '#testing/builders/ledger-checks'
import { type Book, indexMoves } from './book.ts'
import type { Endpoints } from './endpoints.ts'
import type { Ground } from './ground.ts'
import { type Deliveries, deliveriesOf, leftOpen, stepsBehind } from './left.ts'
import type { Load } from './load.ts'
import type { LogWatch } from './log-watch.ts'

type Judged = {
  ground: Ground
  load: Load
  book: Book
  endpoints: Endpoints
  watch: LogWatch
  say(what: string): void
}

export type Verdict = {
  defects: string[]
  settledMs: number
  deliveries: Deliveries
  accepted: number
  reconciled: string
}

/** Longer than any wait of the platform that a fault may have begun. */
const settleWithinMs = 1_200_000
const alarmsEndWithinMs = 120_000
/** Time in which every chain can be compared. */
const comparedWithinMs = 120_000

/** Waits until everything has ended, and compares it with the chains and the books. */
export async function verdictOf(judged: Judged): Promise<Verdict> {
  const { ground, load, book, say, endpoints, watch } = judged
  const { database } = ground
  const beganMs = performance.now()
  const defects: string[] = []
  say(`${load.underWay()} acts are still under way`)
  await Promise.race([load.ended(), sleep(settleWithinMs)])
  if (load.underWay() > 0) defects.push(`${load.underWay()} acts did not come to their end`)
  const left = await settle(judged)
  if (left) defects.push(`not ended ${settleWithinMs / 60_000} minutes after the load: ${left}`)
  const settledMs = performance.now() - beganMs
  say(`settled in ${(settledMs / 1_000).toFixed(0)} s; comparing with the chains`)
  await untilQuiet(watch)
  for (const { name, message } of watch.raised())
    defects.push(`the alarm ${name} is still raised: ${message}`)
  const transfers = []
  for (const chain of ground.chains.evm) transfers.push(...(await chain.oracle.transfers()))
  const facts = indexMoves(transfers)
  for (const { product, differs } of book.accepted) {
    const found = await differs(facts).catch((error: Error) => error.message)
    if (found) defects.push(`${product}: ${found}`)
  }
  await checkLedger(database).catch((error: Error) => defects.push(error.message))
  const reconciled = await reconcileAll(ground)
  if (reconciled.code !== 0) defects.push(`bezant reconcile did not end well: ${reconciled.output}`)
  const deliveries = await deliveriesOf(database)
  if (deliveries.unrecorded > 0)
    defects.push(
      `${deliveries.unrecorded} webhooks are neither delivered nor is a refusal of theirs recorded`,
    )
  if (endpoints.taken.size === 0 && book.accepted.length > 20) defects.push('no webhook came')
  return { defects, settledMs, deliveries, accepted: book.accepted.length, reconciled: reconciled.output }
}

/** Makes blocks until nothing is open; returns what is left when time runs out. */
async function settle({ ground, say }: Judged): Promise<string | undefined> {
  const { database } = ground
  const giveUpMs = performance.now() + settleWithinMs
  for (let round = 0; ; round++) {
    await ground.chains.hurry().catch(() => undefined)
    const left = await leftOpen(database)
    const behind = await stepsBehind(database)
    if (left.size === 0 && behind < 5) return undefined
    const words = [...left].map(([name, n]) => `${n} ${name}`).join(', ') || `${behind} blocks`
    if (performance.now() > giveUpMs) return words
    if (round % 20 === 0) say(`waiting for ${words}`)
    await sleep(1_000)
  }
}

async function untilQuiet(watch: LogWatch): Promise<void> {
  const giveUpMs = performance.now() + alarmsEndWithinMs
  while (watch.raised().length > 0 && performance.now() < giveUpMs) await sleep(1_000)
}

/** Compares until every chain could be: workers are behind the blocks that were made at the end, and some nodes tell of new ones alone. */
async function reconcileAll(ground: Ground): Promise<{ code: number; output: string }> {
  const giveUpMs = performance.now() + comparedWithinMs
  for (;;) {
    const reconciled = await reconcile(ground)
    if (!reconciled.output.includes('is not compared') || performance.now() > giveUpMs) return reconciled
    await sleep(1_000)
  }
}

function reconcile(ground: Ground): Promise<{ code: number; output: string }> {
  const args = [ground.program, 'reconcile']
  return new Promise((resolve) =>
    execFile(process.execPath, args, { env: ground.env, maxBuffer: 2 ** 26 }, (error, stdout, stderr) =>
      resolve({
        code: error ? 1 : 0,
        output: error ? `${stdout}${stderr}` : stdout.trim().split('\n').at(-1)!,
      }),
    ),
  )
}
