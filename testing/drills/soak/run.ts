import { writeFileSync } from 'node:fs'
import { seededRandom } from '#testing/adversary/seeded-random'
import { prepareActs } from './acts.ts'
import { openBalancer } from './balancer.ts'
import { openBook } from './book.ts'
import { openEndpoints } from './endpoints.ts'
import { injectFaults } from './faults.ts'
import { openGround } from './ground.ts'
import { openLoad } from './load.ts'
import { openLogWatch } from './log-watch.ts'
import type { SoakOptions } from './options.ts'
import { planOf } from './plan.ts'
import { startPlatform } from './platform.ts'
import { type PlatformProcess, untilReady } from './processes.ts'
import { say, watchProgress } from './progress.ts'
import { report } from './report.ts'
import { openSampler } from './sampler.ts'
import { verdictOf } from './verdict.ts'
import { worldAt } from './worlds.ts'

/** Samples of a run: enough for a slope in a short one, one a minute in a long one. */
const sampleEveryMaxMs = 60_000
const samplesMin = 6

/** Runs a soak to its verdict, and prints its figures; throws when something did not hold. */
export async function runSoak(options: SoakOptions): Promise<void> {
  const undo: (() => Promise<unknown>)[] = []
  const interruption = interruptible()
  try {
    const soak = soakOn(options, undo, interruption)
    // The load that has begun is ended in order; acts that are being prepared are not waited for.
    await Promise.race([soak.begun, interruption.aborted])
    await soak.ended
  } finally {
    for (const step of undo.splice(0).reverse())
      await step().catch((error: Error) => say(`clearing up: ${error.message}`))
  }
}

type Interruption = ReturnType<typeof interruptible>

/** The first signal ends the load, the second one everything. */
function interruptible() {
  const controller = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.once(name, () => {
      controller.abort()
      process.once(name, () => process.exit(130))
    })
  const { signal } = controller
  const aborted = new Promise<never>((_, reject) =>
    signal.addEventListener('abort', () => reject(new Error('interrupted before the load began'))),
  )
  aborted.catch(() => undefined)
  return { signal, aborted }
}

/** `begun` resolves when the load begins. */
function soakOn(options: SoakOptions, undo: (() => Promise<unknown>)[], { signal }: Interruption) {
  let begin: () => void
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const ended = soakThrough(options, undo, signal, () => begin())
  ended.catch(() => undefined)
  return { begun: Promise.race([begun, ended]), ended }
}

async function soakThrough(
  options: SoakOptions,
  undo: (() => Promise<unknown>)[],
  interruption: AbortSignal,
  onBegin: () => void,
): Promise<void> {
  const { seed, forMs, perMinute, faultEveryMs, blockMs, json } = options
  say(`seed ${seed}: ${(forMs / 60_000).toFixed(1)} minutes, ${perMinute} acts in a minute`)
  const processes: PlatformProcess[] = []
  const balancer = await openBalancer(() => processes.flatMap((each) => each.url() ?? []))
  undo.push(balancer.close)
  const ground = await openGround({ seed, blockMs, url: balancer.url })
  undo.push(ground.close)
  const [watch, book] = [openLogWatch(), openBook()]
  undo.push(() => Promise.all(processes.map((each) => each.stop())))
  await startPlatform(ground, watch, book.defect, processes)
  say(`${processes.map(({ name }) => name).join(', ')} are ready; their log is in ${ground.directory}`)

  const worlds = ground.tenants.slice(0, 2).map((tenant) => worldAt(ground, tenant))
  const endpoints = await openEndpoints(worlds[0]!)
  undo.push(endpoints.close)
  const acts = await prepareActs({ ground, worlds, seed, book, say })
  const load = openLoad(acts, seededRandom(seed), book)
  const sampler = openSampler(ground.database, processes)
  const plan = faultEveryMs > 0 ? planOf(seededRandom(seed + 1), forMs, faultEveryMs) : []
  say(`the load begins, with ${plan.length} faults`)
  onBegin()
  const beganMs = performance.now()
  // Node 20 forgets a timeout whose signal only `AbortSignal.any` refers to, and the load would never end.
  const ending = new AbortController()
  const end = AbortSignal.any([interruption, ending.signal])
  const timer = setTimeout(() => ending.abort(), forMs)
  const everyMs = Math.min(sampleEveryMaxMs, forMs / samplesMin)
  const [met] = await Promise.all([
    injectFaults({ ground, processes, endpoints, say }, plan, end),
    load.run(perMinute, end),
    watchProgress({ sampler, book, load, processes, everyMs }, end),
  ])
  clearTimeout(timer)
  const lastedMs = performance.now() - beganMs
  say('load and faults have ended')
  for (const each of processes) each.rightClock()
  await untilReady(processes)
  const verdict = await verdictOf({ ground, load, book, endpoints, watch, say })
  await sampler.look()
  const { text, defects } = report({ options, lastedMs, book, verdict, sampler, met, balancer, load, watch })
  process.stdout.write(`${text}\n`)
  if (json) writeFileSync(json, JSON.stringify(sampler.samples()))
  if (defects.length > 0)
    throw new Error(`the soak found ${defects.length} defects; replay it with --seed ${seed}`)
}
