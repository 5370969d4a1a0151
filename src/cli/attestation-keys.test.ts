import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type CrosschainMessages, crosschainMessages } from '#testing/builders/burns'
import { urlOf } from '#testing/databases/database-clone'
import { testRootKey } from '#testing/databases/template'
import { type Harness, openHarness } from '#testing/platform/harness'
import { runCommand } from '#testing/processes/command'

let harness: Harness
let messages: CrosschainMessages
beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'AVAX-FUJI'] })
  messages = crosschainMessages(harness)
})
afterAll(() => harness?.close())

async function bezant(...args: string[]) {
  const env = { DATABASE_URL: urlOf(harness.connection), BEZANT_ROOT_KEY: testRootKey.toString('hex') }
  const { code, stdout, stderr } = await runCommand({ command: 'attestation-keys', args, env })
  return { code, stdout, stderr }
}

const publicKeys = async () => (await messages.get('/v2/publicKeys')).body.publicKeys

it('makes a key, which signs messages once the former one is retired, and shows both', async () => {
  const [base, avalanche] = [harness.chain('BASE-SEPOLIA'), harness.chain('AVAX-FUJI')]
  const before = await publicKeys()
  const { code, stdout, stderr } = await bezant('create', '--purpose', 'message', '--json')
  expect([code, stderr]).toEqual([0, ''])
  const made = JSON.parse(stdout)
  expect(made).toMatchObject({ purpose: 'message', address: expect.stringMatching(/^0x[0-9a-f]{40}$/i) })
  expect(stdout).not.toMatch(/private|sealed/i)
  const both = await publicKeys()
  expect(both).toHaveLength(before.length + 1)
  // The contracts do not know the new key yet: the former one goes on.
  const former = await messages.attested(base, await messages.burn(base, avalanche))
  expect((await messages.deliver(avalanche, former)).ok).toBe(true)
  const listed = (await bezant('list', '--purpose', 'message', '--json')).stdout.trim().split('\n')
  const ids = listed.map((line) => JSON.parse(line).id)
  expect(ids[0]).toBe(made.id)
  const late = await messages.attested(base, await messages.burn(base, avalanche))
  const retired = await bezant('retire', ids.at(-1)!, '--yes')
  expect(retired.code).toBe(0)
  expect(retired.stdout).toMatch(
    /^retires: 0x[0-9a-f]{40} \(.*\), of the purpose message, which signs now$/im,
  )
  expect(retired.stdout).toContain(`signs then: ${made.address} (${made.id}, made `)
  const message = await messages.attested(base, await messages.burn(base, avalanche))
  expect((await messages.deliver(avalanche, message)).ok).toBe(false)
  // Signatures of the retired key count as long as the contracts know it.
  expect((await messages.deliver(avalanche, late)).ok).toBe(true)
  expect(await publicKeys()).toEqual(both)
  expect((await bezant('retire', ids.at(-1)!, '--yes')).code).toBe(1)
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(Readable.from([]) as never)
  const last = await bezant('retire', made.id)
  expect([last.code, last.stderr]).toEqual([1, expect.stringContaining('nothing is retired')])
  expect(last.stdout).toContain(
    'signs then: none: nothing of the purpose message is signed until there is one',
  )
  expect((await bezant('list', '--purpose', 'message', '--json')).stdout).toContain(`"retiredDate":""`)
  vi.restoreAllMocks()
})

it('names its actions and purposes, and makes no key without the root key', async () => {
  expect(await bezant('forget')).toMatchObject({ code: 2, stderr: expect.stringContaining('retire') })
  expect(await bezant('create')).toMatchObject({ code: 2, stderr: expect.stringContaining('--purpose') })
  const other = await bezant('list', '--purpose', 'other')
  expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('message, balance or quote') })
  for (const ids of [[], ['x']])
    expect(await bezant('retire', ...ids)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('retire needs the id of a key: see bezant attestation-keys list'),
    })
  const env = { DATABASE_URL: urlOf(harness.connection), BEZANT_ROOT_KEY: '11'.repeat(32) }
  const args = ['create', '--purpose', 'message']
  const refused = await runCommand({ command: 'attestation-keys', args, env })
  expect([refused.code, refused.stdout]).toEqual([1, ''])
})
