/** The lists of screening over HTTP, as commands make them; single screenings. */
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freshAddress } from '#testing/builders/world'
import { urlOf } from '#testing/databases/database-clone'
import { type Harness, openHarness } from '#testing/platform/harness'
import { runCommand } from '#testing/processes/command'

let harness: Harness
let folder: string

beforeAll(async () => {
  harness = await openHarness({ blockchains: [], engines: false })
  folder = await mkdtemp(join(tmpdir(), 'bezant-lists-'))
})
afterAll(async () => {
  await harness?.close()
  await rm(folder, { recursive: true, force: true })
})

async function bezant(...args: string[]) {
  const env = { DATABASE_URL: urlOf(harness.connection) }
  const { code, stderr } = await runCommand({ command: 'screening', args, env })
  expect(code, stderr).toBe(0)
}
const call = async (path: string) => (await harness.http('GET', path)).body.data
const entriesOf = async (chain: string, address: string) =>
  (await call(`/operator/screeningListEntries?${new URLSearchParams({ chain, address })}`)).entries

it('finds an imported address in any spelling and space, and no longer once it is removed', async () => {
  const [listed, added] = [freshAddress(), freshAddress()]
  const file = join(folder, 'ofac.csv')
  await writeFile(
    file,
    `chain,address,reference\nETH,${listed},4242\nBTC,1BpEi6DfDAUFd7GtittLSdBeYJvcoaVggu,7\n`,
  )
  await bezant('import', file, '--list', 'ofac', '--reason', 'weekly')
  await bezant('add', added, '--chain', 'BASE', '--list', 'block', '--reason', 'stolen card')
  const upper = `0x${listed.slice(2).toUpperCase()}`
  expect(
    await call(
      `/operator/screeningListEntries?${new URLSearchParams({ chain: 'BASE-SEPOLIA', address: upper })}`,
    ),
  ).toEqual({
    chain: 'BASE-SEPOLIA',
    address: listed,
    entries: [{ list: 'ofac', kind: 'sanctions', fromVersion: 1, reference: '4242' }],
    versions: { block: 1, ofac: 1 },
  })
  const bitcoinCash = 'bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a'
  expect(await entriesOf('BCH', bitcoinCash)).toMatchObject([{ list: 'ofac', reference: '7' }])
  expect(await entriesOf('ETH', added)).toEqual([{ list: 'block', kind: 'block', fromVersion: 1 }])
  expect(await entriesOf('ETH', freshAddress())).toEqual([])
  await bezant('remove', added, '--chain', 'ETH', '--list', 'block')
  expect(await entriesOf('ETH', added)).toEqual([])
  expect(await call('/operator/screeningLists')).toMatchObject([
    { list: 'block', kind: 'block', version: 2, change: 'remove', entries: 0, actor: 'operator' },
    {
      list: 'ofac',
      kind: 'sanctions',
      version: 1,
      change: 'import',
      entries: 2,
      source: 'ofac.csv',
      reason: 'weekly',
    },
  ])
  const versions = await call('/operator/screeningListVersions?list=block')
  expect(versions).toMatchObject([
    { version: 2, change: 'remove', removed: 1 },
    { version: 1, change: 'add', added: 1, reason: 'stolen card' },
  ])
  expect(versions[0]).not.toHaveProperty('source')
  expect(await call('/operator/screeningListVersions?list=nowhere')).toEqual([])
})

it('refuses an address of another form, a chain that is not screened, and a name that is none', async () => {
  const asked = [
    ['screeningListEntries?chain=ETH&address=nowhere', 280002, 'address'],
    ['screeningListEntries?chain=DOGE&address=x', 280001, 'chain'],
    ['screeningListEntries?chain=ETH', 2, 'address'],
    ['screeningListVersions?list=O%20FAC', 2, 'list'],
    ['screeningListVersions', 2, 'list'],
  ] as const
  for (const [query, code, location] of asked) {
    const { status, body } = await harness.http('GET', `/operator/${query}`)
    expect([query, status, body.code, body.errors[0].location]).toEqual([query, 400, code, location])
  }
})

it('returns a screening by its id to the entity that asked for it', async () => {
  const id = randomUUID()
  const body = { idempotencyKey: id, chain: 'ETH-SEPOLIA', address: freshAddress() }
  await harness.http('POST', '/v1/w3s/compliance/screening/addresses', { body })
  const [listed] = await call('/operator/screenings')
  expect(await call(`/operator/screenings/${id}`)).toEqual(listed)
  const other = await harness.newEntity()
  const foreign = await other.http('GET', `/operator/screenings/${id}`)
  const unknown = await other.http('GET', `/operator/screenings/${randomUUID()}`)
  expect([foreign.status, foreign.body.code]).toEqual([404, unknown.body.code])
})
