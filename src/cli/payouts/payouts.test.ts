/** `bezant payouts`: the file of a person, through a running server, to money on chain. */
import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { fileOf } from '#testing/builders/payout-batches'
import { fundMerchantWallet, makeActiveRecipient, type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { runCommand } from '#testing/processes/command'

let harness: Harness
let world: World
let folder: string
beforeAll(async () => {
  harness = await openHarness({ config: { recipientHoldHours: 0 } })
  world = worldOf(harness)
  folder = await mkdtemp(join(tmpdir(), 'payouts-'))
  await fundMerchantWallet(world, 50_000_000n)
})
afterAll(async () => {
  await harness?.close()
  await rm(folder, { recursive: true, force: true })
})

const payouts = (args: readonly string[], env: Record<string, string> = {}) =>
  runCommand({
    command: 'payouts',
    args,
    env: { BEZANT_URL: harness.url, BEZANT_API_KEY: harness.apiKey, ...env },
  })
async function fileWith(text: string, name = 'salaries.csv') {
  const path = join(folder, name)
  await writeFile(path, text)
  return path
}
const inJson = ({ stdout }: { stdout: string }) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

it('a file is uploaded, looked at, approved by its hash, paid once, and exported with its payouts', async () => {
  const [one, other] = [await makeActiveRecipient(world), await makeActiveRecipient(world)]
  const path = await fileWith(
    fileOf('recipient,amount,currency,reference', `${one.id},1.50,USD,=A1`, `${other.id},2,USD,Invoice 7`),
  )
  const uploaded = await payouts(['upload', path, '--json', '--purpose', 'PMT008'])
  const [batch] = inJson(uploaded)
  expect([uploaded.code, uploaded.stderr]).toEqual([
    0,
    `To pay it: bezant payouts approve ${batch.id} --hash ${batch.contentHash}\n`,
  ])
  expect(batch).toMatchObject({
    name: 'salaries.csv',
    state: 'previewed',
    rowCount: 2,
    purposeOfTransfer: 'PMT008',
  })
  const seen = await payouts(['preview', batch.id])
  expect([seen.code, seen.stdout]).toEqual([0, expect.stringContaining(batch.contentHash)])
  expect(seen.stdout).toMatch(/totals +chain BASE, row count 2, amount amount 3\.50, currency USD/)

  const wrong = await payouts(['approve', batch.id, '--hash', '0'.repeat(64)])
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('is not the hash of this batch')])
  const approved = await payouts(['approve', batch.id, '--hash', batch.contentHash, '--json'])
  expect([approved.code, inJson(approved)[0].state]).toEqual([0, 'approved'])
  // A person who got no answer asks again.
  expect((await payouts(['approve', batch.id, '--hash', batch.contentHash])).code).toBe(0)
  const status = async () => inJson(await payouts(['status', batch.id, '--json']))[0]
  await until(async () => (await status()).payouts.complete === 2, 'both are paid')
  expect(await status()).toMatchObject({
    state: 'complete',
    createdCount: 2,
    payouts: { pending: 0, failed: 0 },
  })
  const { oracle, tokens } = harness.chain()
  const paid = await Promise.all([one, other].map(({ address }) => oracle.balanceOf(address, tokens.USDC)))
  expect(paid).toEqual([1_500_000n, 2_000_000n])

  const results = join(folder, 'paid.csv')
  expect(await payouts(['export', batch.id, '--output', results])).toMatchObject({
    code: 0,
    stdout: '',
    stderr: `2 rows written to ${results}\n`,
  })
  const [title, first, second] = (await readFile(results, 'utf8')).split('\r\n')
  expect(title).toBe(
    'line,state,recipient,address,chain,amount,currency,reference,payout,payoutStatus,transactionHash,errorCode,error',
  )
  expect(first).toMatch(
    new RegExp(
      `^2,created,${one.id},${one.address},BASE,1\\.50,USD,'=A1,[0-9a-f-]{36},complete,0x[0-9a-f]{64},,$`,
    ),
  )
  expect(second).toContain('Invoice 7')
  const again = await payouts(['export', batch.id, '--output', results])
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('exists already: name a new file')])
  expect(inJson(await payouts(['export', batch.id, '--json'])).map(({ row }) => row)).toEqual([2, 3])
  const cancelled = await payouts(['cancel', batch.id])
  expect([cancelled.code, cancelled.stderr]).toEqual([1, expect.stringContaining('The batch is complete')])
})

it('what is wrong is named by line and column, and the command fails', async () => {
  const { id } = await makeActiveRecipient(world)
  const path = await fileWith(
    fileOf('recipient,amount,currency', `${id},"1,234.50",USD`, `${id},1,USD`, `${randomUUID()},1,GBP`),
  )
  const uploaded = await payouts(['upload', path])
  expect(uploaded.code).toBe(1)
  expect(uploaded.stdout).toMatch(/\n2 +amount +error +\S/)
  expect(uploaded.stdout).toMatch(/\n4 +currency +error +\S/)
  expect(uploaded.stderr).toBe('Nothing of this file can be paid: correct these rows, and upload it again.\n')
  const [batch, ...problems] = inJson(await payouts(['upload', path, '--json']))
  expect(batch.errorCount).toBe(2)
  expect(problems).toContainEqual({
    line: 2,
    column: 'amount',
    severity: 'error',
    message: expect.stringContaining('1,234.50'),
  })
  const listed = inJson(await payouts(['list', '--state', 'previewed', '--json']))
  expect(listed.map(({ id }) => id)).toContain(batch.id)
  expect(inJson(await payouts(['cancel', batch.id, '--json']))[0].state).toBe('cancelled')
})

it('a row that failed is listed with its reason, and the command fails', async () => {
  const { id } = await makeActiveRecipient(world)
  const path = await fileWith(fileOf('recipient,amount,currency,reference', `${id},1,USD,\u001b[2KLate`))
  const [batch] = inJson(await payouts(['upload', path, '--json']))
  await world.call('DELETE', `/v1/addressBook/recipients/${id}`)
  await payouts(['approve', batch.id, '--hash', batch.contentHash])
  await until(async () => (await payouts(['status', batch.id])).code === 1, 'the row has failed')
  expect((await payouts(['status', batch.id])).stdout).toMatch(
    /\n2 +\ufffd\[2KLate +amount 1\.00, currency USD +- +\S/,
  )
  expect((await payouts(['export', batch.id])).stdout).toMatch(/\r\n2,failed,.*\[2KLate,,,,\d+,\S/)
})

it('an upload is repeated with its key, and senders come from a file', async () => {
  const { id } = await makeActiveRecipient(world)
  const path = await fileWith(fileOf('recipient,amount,currency', `${id},1,USD`))
  const senders = await fileWith(
    JSON.stringify([
      {
        type: 'business',
        name: 'Corner Books',
        addresses: [{ line1: '1 Main', city: 'X', country: 'US', district: 'MA', postalCode: '1' }],
      },
    ]),
    'senders.json',
  )
  const key = randomUUID()
  const args = [
    'upload',
    path,
    '--senders',
    senders,
    '--name',
    'Salaries',
    '--idempotency-key',
    key,
    '--json',
  ]
  const [first, second] = [inJson(await payouts(args))[0], inJson(await payouts(args))[0]]
  expect(second).toMatchObject({ id: first.id, name: 'Salaries', hasSenders: true })
  const broken = await payouts(['upload', path, '--senders', path])
  expect([broken.code, broken.stderr]).toEqual([2, expect.stringContaining(`${path} is not JSON`)])
})

it.each([
  [2, [], 'name an action: upload, list, preview, approve, status, cancel, export'],
  [2, ['uplod', 'x'], 'unknown action "uplod": did you mean upload?'],
  [2, ['upload'], 'upload needs a file'],
  [
    1,
    ['upload', '/nowhere/x.csv'],
    '/nowhere/x.csv cannot be used (ENOENT): it does not exist: correct the path',
  ],
  [2, ['preview', 'x'], 'preview needs the id of a file of payouts: bezant payouts list shows them'],
  [2, ['approve', randomUUID()], '--hash is missing: bezant payouts preview shows the contentHash'],
  [
    2,
    ['list', '--state', 'paid'],
    '--state must be one of previewed, approved, complete, cancelled, not "paid"',
  ],
])('exits with %i for %j, and says what to do', async (code, args, problem) => {
  const done = await payouts(args)
  expect([done.code, done.stderr.split('\n')[0]]).toEqual([code, `bezant: ${problem}`])
})

it('a file that is none, a wrong purpose and a key that may only read are refused by name', async () => {
  const empty = await fileWith('amount,currency\n1,USD\n', 'nobody.csv')
  expect((await payouts(['upload', empty])).stderr).toContain(`${empty} names nobody to pay`)
  const path = await fileWith(fileOf('recipient,amount,currency', `${randomUUID()},1,USD`))
  expect((await payouts(['upload', path, '--purpose', 'rent'])).stderr).toContain('--purpose must be')
  const reader = await world.call('POST', '/operator/apiKeys', { scopes: ['api', 'operator:read'] })
  const refused = await payouts(['upload', path], { BEZANT_API_KEY: reader.key })
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('--scope operator:write')])
})
