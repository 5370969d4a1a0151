import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '#runtime/config'
import { until } from '#testing/platform/until'
import { compileSnippet } from '#testing/processes/compile-snippet'
import { armFailpoint, failpoint, failpoints, isFailpoint, parseFailpointPlan } from './failpoints.ts'

const contents = `
  import { writeSync } from 'node:fs'
  import { armFailpoint, failpoint } from '#runtime/scheduling/failpoints'
  import { readConfig } from '#runtime/config'
  armFailpoint(readConfig().failpoint)
  for (let hit = 1; hit <= 5; hit++) {
    failpoint('before-send')
    failpoint('after-signature')
    writeSync(1, String(hit))
  }
`

let args: string[]
beforeAll(async () => {
  args = await compileSnippet(contents)
})

/** Starts a process that reaches one failpoint repeatedly and reports it, armed by the environment. */
function reaching(failpoint: string) {
  const env = { ...process.env, BEZANT_FAILPOINT: failpoint }
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'ignore'] })
  let said = ''
  child.stdout.on('data', (text) => (said += text))
  return { child, closed: once(child, 'close'), said: () => said }
}

describe('a failpoint', () => {
  it('does nothing while nothing is armed, or another one is', () => {
    for (const point of Object.keys(failpoints)) if (isFailpoint(point)) failpoint(point)
    armFailpoint({ point: 'before-request-commit', hit: 2, action: 'kill' })
    failpoint('before-request-commit')
    failpoint('after-request-commit')
    failpoint('after-request-commit')
    armFailpoint(undefined)
    failpoint('before-request-commit')
  })

  it('kills its process at the hit that was armed', async () => {
    const { closed, said } = reaching('after-signature:3')
    expect(await closed).toEqual([null, 'SIGKILL'])
    expect(said()).toBe('12')
  })

  it('freezes its process at that hit, which goes on when told to', async () => {
    const { child, closed, said } = reaching('after-signature:2:stop')
    await until(async () => said() === '1', 'it has come to the failpoint')
    // The process writes just before it stops, and a SIGCONT that arrives earlier is lost.
    await until(() => {
      child.kill('SIGCONT')
      return said() === '12345'
    }, 'it goes on')
    expect(await closed).toEqual([0, null])
  })
})

describe('BEZANT_FAILPOINT', () => {
  it('names a failpoint, a hit and an action', () => {
    expect(parseFailpointPlan('after-signature')).toEqual({
      point: 'after-signature',
      hit: 1,
      action: 'kill',
    })
    expect(parseFailpointPlan('after-signature:3')).toEqual({
      point: 'after-signature',
      hit: 3,
      action: 'kill',
    })
    expect(parseFailpointPlan('before-cursor-advance:14:stop')).toEqual({
      point: 'before-cursor-advance',
      hit: 14,
      action: 'stop',
    })
    expect(readConfig({}, { BEZANT_FAILPOINT: 'after-signature:3' }).failpoint).toEqual(
      parseFailpointPlan('after-signature:3'),
    )
    expect(readConfig({}, {}).failpoint).toBeUndefined()
  })

  it('is refused when it is anything else', () => {
    for (const text of [
      'P9',
      'before-lunch',
      'After-signature',
      'after-signature:0',
      'after-signature:x',
      'after-signature:',
      'after-signature:1:burn',
      'toString',
      ' after-signature',
    ]) {
      expect([text, parseFailpointPlan(text)]).toEqual([text, undefined])
      expect(() => readConfig({}, { BEZANT_FAILPOINT: text })).toThrow('BEZANT_FAILPOINT')
    }
  })
})
