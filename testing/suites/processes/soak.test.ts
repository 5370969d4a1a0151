import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, expect, it } from 'vitest'
import { root } from '#testing/runner/root'
import { sizeOf } from '#testing/runner/size'

const minutes = sizeOf('SOAK_MINUTES', { usual: 0.5, deep: 20 })
let child: ReturnType<typeof drill> | undefined

afterEach(() => void child?.kill('SIGKILL'))

const drill = (...args: string[]) =>
  spawn(process.execPath, ['--conditions=source', '--import', 'tsx', 'testing/drills/main.ts', ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  })

/** The exit code of a drill, and what it printed. */
async function run(...args: string[]) {
  child = drill(...args)
  let [said, failed] = ['', '']
  child.stdout!.on('data', (chunk) => {
    said += chunk
  })
  child.stderr!.on('data', (chunk) => {
    failed += chunk
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, said, failed }
}

it(`property 282: after ${minutes} minutes of all products under faults everything has ended, and the books equal the chains`, async () => {
  const args = ['--minutes', String(minutes), '--rate', '40', '--faults', '10', '--block-ms', '1500']
  const { code, said, failed } = await run('soak', ...args)
  expect(said, failed).toMatch(/^reconcile: .*zero gaps/m)
  expect(code, said + failed).toBe(0)
})

it('a drill that is unknown, or an option that is no number, is refused by name', async () => {
  expect(await run('sok')).toMatchObject({
    code: 2,
    said: expect.stringContaining('there is no drill "sok"'),
  })
  const refused = await run('soak', '--rate', 'many')
  expect([refused.code, refused.failed]).toEqual([1, expect.stringContaining('--rate must be a number')])
})
