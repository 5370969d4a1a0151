/** Snapshots of a sandbox that keeps its data: they outlive it, and a death in the middle leaves one whole state. */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Failpoint } from '#runtime/scheduling/failpoints'
import { freshAddress } from '#testing/builders/world'
import { openHarness } from '#testing/platform/harness'
import { rpc } from '#testing/platform/json-rpc'
import { type HttpAnswer, type Tenant, tenantOf } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { runCommand } from '#testing/processes/command'
import { type Program, startProgram } from '#testing/processes/program'
import { initializedDirectory } from '#testing/processes/programs'
import { drawn } from '#testing/runner/drawn'

let dataDir: string
let program: Program

const start = async (failpoint?: Failpoint) => {
  program = await startProgram({
    dataDir,
    args: ['--chains', 'BASE-SEPOLIA'],
    env: failpoint === undefined ? {} : { BEZANT_FAILPOINT: failpoint },
  })
}
beforeAll(async () => {
  dataDir = await initializedDirectory()
  await start('within-snapshot-save')
})
afterAll(async () => {
  await program?.killAll()
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
})

const data = ({ status, body, text }: HttpAnswer) => {
  expect(status, text).toBeLessThan(300)
  return body?.data
}
const post = async (path: string, body: object = {}) =>
  data(await program.tenant.http('POST', path, { body }))
const names = async () =>
  (data(await program.tenant.http('GET', '/sandbox/snapshots')) as { name: string }[]).map(({ name }) => name)

/** Pays the address, and returns when the platform shows it. */
const pay = (address: string) =>
  post('/sandbox/faucet', { address, blockchain: 'BASE-SEPOLIA', token: 'USDC', amount: '7' })

const newWallet = async (tenant: Tenant = program.tenant) => {
  const sealed = async (body: object) => ({
    idempotencyKey: crypto.randomUUID(),
    entitySecretCiphertext: await tenant.sealSecret(),
    ...body,
  })
  const { walletSet } = data(
    await tenant.http('POST', '/v1/w3s/developer/walletSets', { body: await sealed({ name: 'Kept' }) }),
  )
  const { wallets } = data(
    await tenant.http('POST', '/v1/w3s/developer/wallets', {
      body: await sealed({ walletSetId: walletSet.id, blockchains: ['BASE-SEPOLIA'], count: 1 }),
    }),
  )
  return wallets[0] as { id: string; address: string }
}

/** The wallets with their balances as the platform has them, and the newest block of the chain. */
async function stateOf(tenant: Tenant, rpcUrl: string) {
  const { wallets } = data(await tenant.http('GET', '/v1/w3s/wallets'))
  const balances = await Promise.all(
    (wallets as { id: string }[]).map(async ({ id }) => {
      const { tokenBalances } = data(await tenant.http('GET', `/v1/w3s/wallets/${id}/balances`))
      return [id, ...(tokenBalances as { amount: string }[]).map(({ amount }) => amount)]
    }),
  )
  const { hash, number } = await rpc<{ hash: string; number: string }>(rpcUrl, 'eth_getBlockByNumber', [
    'latest',
    false,
  ])
  return { balances, hash, number }
}
const state = () => stateOf(program.tenant, program.answer.chains[0]!.rpcUrl)

const fundedWallet = async () => {
  const wallet = await newWallet()
  await pay(wallet.address)
  await until(
    async () => (await state()).balances.some(([id, paid]) => id === wallet.id && paid === '7'),
    'paid',
  )
}

/** Asks for something in the middle of which the process dies, and starts it again, to die at the next failpoint. */
async function dieBy(path: string, body: object, next?: Failpoint) {
  await program.tenant.http('POST', path, { body }).catch(() => undefined)
  expect((await program.exited).signal).toBe('SIGKILL')
  await program.killAll()
  await start(next)
}

/** The places at which a restore dies, and the state that the next start comes up with. */
const deaths = [
  ['before-snapshot-swap', 'old'],
  ['within-snapshot-swap', 'new'],
  ['after-snapshot-database', 'new'],
  ['after-snapshot-swap', 'new'],
] as const

it('property 167: a kill in the middle of a save or a restore leaves the old state or the new one, whole', async () => {
  const chosen = drawn(deaths, 2)
  await fundedWallet()
  const first = await state()
  await dieBy('/sandbox/snapshots', { name: 'half' }, chosen[0]![0])
  expect([await names(), await state()]).toEqual([[], first])
  expect(await readdir(join(dataDir, 'snapshots'))).toEqual([])
  await post('/sandbox/snapshots', { name: 'first' })
  await fundedWallet()
  const second = await state()
  expect(second).not.toEqual(first)

  let present = second
  let replaced = 0
  for (const [index, [point, comesUp]] of chosen.entries()) {
    const [name, other] = present === second ? ['first', first] : ['@auto-1', second]
    await dieBy(`/sandbox/snapshots/${name}/restore`, {}, chosen[index + 1]?.[0])
    if (comesUp === 'new') {
      present = other as typeof first
      replaced += 1
    }
    expect([point, await state()]).toEqual([point, present])
  }
  expect(await names()).toHaveLength(1 + Math.min(3, replaced))
  // A directory for each, and nothing else.
  expect(await readdir(join(dataDir, 'snapshots'))).toHaveLength(1 + Math.min(3, replaced))
})

it('the state goes on after all of that, and a reorg of the restored blocks is followed', async () => {
  await fundedWallet()
  const { orphaned } = await post('/sandbox/chains/BASE-SEPOLIA/reorg', { depth: 2 })
  expect(orphaned).toHaveLength(2)
  expect(await pay(freshAddress())).toMatchObject({ status: 'mined' })
})

it('a snapshot is carried to another sandbox by commands, with its keys', async () => {
  const file = join(dataDir, 'first.snapshot')
  const bezant = async (url: string, ...args: string[]) => {
    const { code, stderr } = await runCommand({ command: 'sandbox', args, env: { BEZANT_URL: url } })
    expect([code, stderr]).toEqual([0, ''])
  }
  await bezant(program.answer.url, 'snapshot', 'restore', 'first')
  const saved = await state()
  await bezant(program.answer.url, 'snapshot', 'export', 'first', file)
  const harness = await openHarness({ lab: true })
  try {
    await bezant(harness.url, 'snapshot', 'import', 'theirs', file)
    await bezant(harness.url, 'snapshot', 'restore', 'theirs')
    const { rpcUrl } = harness.chain()
    expect(await stateOf(harness, rpcUrl)).toEqual(saved)
    // Its keys came with it: they sign, and a new wallet is made under them.
    const tenant = tenantOf(harness.url, harness)
    const wallet = await newWallet(tenant)
    expect(wallet.address).toMatch(/^0x/)
  } finally {
    await harness.close()
  }
})
