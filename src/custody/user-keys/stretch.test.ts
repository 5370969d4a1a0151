import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { argon2id } from 'hash-wasm'
import { expect, it } from 'vitest'
import { until } from '../../../testing/until.ts'
import { createStretcher, type StretchInput } from './stretch.ts'

const cost = { memoryKib: 64, passes: 1 }
const inputOf = (): StretchInput => ({
  secret: Buffer.from('258014'),
  salt: randomBytes(16),
  pepper: randomBytes(32),
  cost,
})

const expectedOf = ({ secret, salt, pepper, cost: { memoryKib, passes } }: StretchInput) =>
  argon2id({
    ...{ password: secret, salt, secret: pepper, memorySize: memoryKib, iterations: passes },
    ...{ parallelism: 1, hashLength: 32, outputType: 'hex' },
  })

const stretched = (stretcher: ReturnType<typeof createStretcher>, input: StretchInput) =>
  stretcher.run({ entityId: 'test', userId: 'test' }, (stretch) => stretch(input))

it.each([
  ['in idle time', 3_000],
  ['beside other work, when there is no idle time', 5],
  ['at once, when it is short', 0],
])('a PIN is stretched %s', async (_, patience) => {
  const stretcher = createStretcher(cost, () => patience)
  const inputs = Array.from({ length: 6 }, inputOf)
  const keys = await Promise.all(inputs.map((input) => stretched(stretcher, input)))
  expect(keys.map((key) => key.toString('hex'))).toEqual(await Promise.all(inputs.map(expectedOf)))
  await stretcher.close()
  // A thread that was ended is replaced.
  const [last] = inputs
  expect((await stretched(stretcher, last!)).toString('hex')).toBe(await expectedOf(last!))
  await stretcher.close()
})

/** Numbers of the scheduling policies of this process's threads: 0 is the ordinary one, 5 that for idle time. */
const policies = () =>
  readdirSync('/proc/self/task').map((thread) => {
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[38])
  })

it.runIf(process.platform === 'linux')('a thread for a PIN yields to all others', async () => {
  const stretcher = createStretcher(cost, () => 3_000)
  const before = policies().filter((policy) => policy === 5).length
  await stretched(stretcher, inputOf())
  await until(() => policies().filter((policy) => policy === 5).length > before, 'a thread yields')
  await stretcher.close()
})
