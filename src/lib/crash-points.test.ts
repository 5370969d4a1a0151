import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '#runtime/config'
import { compileSnippet } from '../../testing/compile-snippet.ts'
import { until } from '../../testing/until.ts'
import { armCrashPoint, crashPoints, isCrashPoint, parseCrashPlan, reachPoint } from './crash-points.ts'

const contents = `
  import { writeSync } from 'node:fs'
  import { armCrashPoint, reachPoint } from '#lib/crash-points'
  import { readConfig } from '#runtime/config'
  armCrashPoint(readConfig().crashAt)
  for (let hit = 1; hit <= 5; hit++) { reachPoint('P7'); reachPoint('P8'); writeSync(1, String(hit)) }
`

let args: string[]
beforeAll(async () => {
  args = await compileSnippet(contents)
})

/** Starts a process that reaches P8 repeatedly and reports it, armed by the environment. */
function reaching(crashAt: string) {
  const env = { ...process.env, BEZANT_CRASH_AT: crashAt }
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'ignore'] })
  let said = ''
  child.stdout.on('data', (text) => (said += text))
  return { child, closed: once(child, 'close'), said: () => said }
}

describe('a crash point', () => {
  it('does nothing while nothing is armed, or another one is', () => {
    for (const point of Object.keys(crashPoints)) if (isCrashPoint(point)) reachPoint(point)
    armCrashPoint({ point: 'P1', hit: 2, action: 'kill' })
    reachPoint('P1')
    reachPoint('P2')
    reachPoint('P2')
    armCrashPoint(undefined)
    reachPoint('P1')
  })

  it('kills its process at the hit that was armed', async () => {
    const { closed, said } = reaching('P8:3')
    expect(await closed).toEqual([null, 'SIGKILL'])
    expect(said()).toBe('12')
  })

  it('freezes its process at that hit, which goes on when told to', async () => {
    const { child, closed, said } = reaching('P8:2:stop')
    await until(async () => said() === '1', 'it has come to the point')
    // The process writes just before it stops, and a SIGCONT that arrives earlier is lost.
    await until(() => {
      child.kill('SIGCONT')
      return said() === '12345'
    }, 'it goes on')
    expect(await closed).toEqual([0, null])
  })
})

describe('BEZANT_CRASH_AT', () => {
  it('names a point, a hit and an action', () => {
    expect(parseCrashPlan('P8')).toEqual({ point: 'P8', hit: 1, action: 'kill' })
    expect(parseCrashPlan('P8:3')).toEqual({ point: 'P8', hit: 3, action: 'kill' })
    expect(parseCrashPlan('P22:14:stop')).toEqual({ point: 'P22', hit: 14, action: 'stop' })
    expect(readConfig({}, { BEZANT_CRASH_AT: 'P8:3' }).crashAt).toEqual(parseCrashPlan('P8:3'))
    expect(readConfig({}, {}).crashAt).toBeUndefined()
  })

  it('is refused when it is anything else', () => {
    for (const text of ['P5', 'P99', 'p8', 'P8:0', 'P8:x', 'P8:', 'P8:1:burn', 'toString', ' P8']) {
      expect([text, parseCrashPlan(text)]).toEqual([text, undefined])
      expect(() => readConfig({}, { BEZANT_CRASH_AT: text })).toThrow('BEZANT_CRASH_AT')
    }
  })
})
