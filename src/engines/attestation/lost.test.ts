/** Burns that were attested before they were final, and then left their chain. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { confirmedThreshold } from '#chains/crosschain/message'
import { knownCrosschainAddresses } from '#chains/evm/crosschain/index'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { type CrosschainMessages, crosschainMessages, type Hex } from '#testing/builders/burns'
import { urlOf } from '#testing/databases/database-clone'
import { testRootKey } from '#testing/databases/template'
import { followedMining } from '#testing/nodes/followed-mining'
import type { TestChain } from '#testing/platform/chain'
import { countAlarm } from '#testing/platform/count-alarm'
import { type Harness, openHarness } from '#testing/platform/harness'
import { mineUntil, until } from '#testing/platform/until'
import { runCommand } from '#testing/processes/command'
import { sizeOf } from '#testing/runner/size'

/** Burns that vanish one after another, together more than the allowance. */
const lostTotal = sizeOf('LOST_BURNS', { usual: 0, deep: 14 })

/* BASE-SEPOLIA waits for finality as a public chain does: its node calls the block final that is 64 below the head. */
let harness: Harness
let messages: CrosschainMessages
let base: TestChain
let avalanche: TestChain
beforeAll(async () => {
  harness = await openHarness({
    blockchains: ['BASE-SEPOLIA', 'AVAX-FUJI'],
    config: { fastAllowanceAtomic: 100_000_000n },
    node: async ({ blockchain }) =>
      blockchain === 'BASE-SEPOLIA'
        ? { local: false, crosschain: knownCrosschainAddresses(baseSepolia) }
        : {},
  })
  messages = crosschainMessages(harness)
  base = harness.chain('BASE-SEPOLIA')
  avalanche = harness.chain('AVAX-FUJI')
  await base.mine(70)
})
afterAll(() => harness?.close())

const fast = { amount: 9_000_000n, maxFee: 1_000n, threshold: confirmedThreshold }
const allowance = async () => (await messages.get('/v2/fastBurn/USDC/allowance')).body.allowance
const mining = { mine: () => followedMining(harness, base).mine() }
const command = (name: string, ...args: string[]) => {
  const { blockchain, rpcUrl } = avalanche
  const BEZANT_NETWORKS = JSON.stringify([{ blockchain, rpcUrl }])
  const BEZANT_ROOT_KEY = testRootKey.toString('hex')
  const env = { DATABASE_URL: urlOf(harness.connection), BEZANT_NETWORKS, BEZANT_ROOT_KEY }
  return runCommand({ command: name, args, dataDir: harness.ctx.config.dataDir, env })
}
const lost = async (): Promise<{ nonce: Hex; amount: string }[]> =>
  (await command('lost-burns', 'list', '--json')).stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

/** Burns, and takes the block away once the burn is attested, or waits; returns how it was attested, and its raw transaction. */
async function burnAndVanish(coin: 'USDC' | 'EURC' = 'USDC') {
  const burnIt = await messages.prepareBurn(base, avalanche, { ...fast, coin })
  const snapshot = await base.snapshot()
  const hash = await burnIt()
  const message = await messages.messageWhen(
    base,
    hash,
    ({ status, delayReason }) => status === 'complete' || delayReason !== null,
  )
  const raw = await base.rpc<Hex>('eth_getRawTransactionByHash', [hash])
  const height = await base.height()
  await base.revert(snapshot)
  await base.mine(height - (await base.height()) + 1)
  await followedMining(harness, base, 1).mine()
  return { hash, raw, message }
}

const retry = async () => (await messages.burn(base, avalanche, fast)) as Hex
const finalityOf = async (hash: string) =>
  (await messages.attested(base, hash)).decodedMessage.finalityThresholdExecuted
const delayOf = async (hash: string) =>
  (await messages.messageWhen(base, hash, ({ delayReason }) => delayReason !== null)).delayReason

it('property 116: a lost burn stays charged for any time, until it is mined again', async () => {
  const raised = countAlarm('attested-orphaned')
  const { hash, raw, message } = await burnAndVanish()
  expect(message.status).toBe('complete')
  await until(async () => (await lost()).length === 1, 'the burn is lost')
  expect(raised()).toBe(1)
  const height = await base.height()
  await mineUntil(mining, async () => (await base.height()) > height + 130, 'its place is final')
  expect(await allowance()).toBe(91)
  const { code, stdout } = await command('reconcile', '--chain', 'AVAX-FUJI')
  expect([code, stdout]).toEqual([1, expect.stringContaining(`LOST BURN 9 USDC of BASE-SEPOLIA: ${hash}`)])
  expect(await base.rpc('eth_sendRawTransaction', [raw])).toBe(hash)
  await until(async () => (await lost()).length === 0, 'the burn is mined again')
  const [shown] = (await messages.find(base, hash)).body.messages
  expect(shown.attestation).toBe(message.attestation)
  expect(await finalityOf(await retry())).toBe('1000')
  await mineUntil(mining, async () => (await allowance()) === 100, 'both burns are final')
})

it('property 116: a lost burn halts fast attestations of its chain until it is booked, once and with a reason', async () => {
  await burnAndVanish()
  await until(async () => (await lost()).length === 1, 'the burn is lost')
  // Its nonce is used from here on.
  const waiting = await retry()
  expect(await delayOf(waiting)).toBe('insufficient_allowance_available')
  await mineUntil(
    mining,
    async () => (await messages.find(base, waiting)).body.messages[0].status === 'complete',
    'the other burn is final',
  )
  expect(await finalityOf(waiting)).toBe('2000')
  const [{ nonce, amount } = { nonce: '', amount: '' }] = await lost()
  expect([amount, await allowance()]).toEqual(['9', 91])
  expect((await command('lost-burns', 'book', nonce)).stderr).toContain('--reason is missing')
  const book = () => command('lost-burns', 'book', nonce, '--reason', 'its nonce is used', '--yes')
  expect(await book()).toMatchObject({ code: 0, stdout: '9 USDC of BASE-SEPOLIA are booked as lost.\n' })
  expect((await book()).stderr).toContain('no lost burn has the nonce')
  expect(await allowance()).toBe(100)
  expect((await command('reconcile', '--chain', 'AVAX-FUJI')).stdout).not.toContain('LOST BURN')
  expect(await finalityOf(await retry())).toBe('1000')
})

it('property 274: a lost burn of EURC is told, charged and booked as EURC', async () => {
  await mineUntil(mining, async () => (await allowance()) === 100, 'earlier burns are final')
  expect((await burnAndVanish('EURC')).message.status).toBe('complete')
  await until(async () => (await lost()).length === 1, 'the burn is lost')
  expect([await lost(), await allowance()]).toMatchObject([[{ amount: '9', token: 'EURC' }], 91])
  const [{ nonce } = { nonce: '' }] = await lost()
  const { stdout } = await command('reconcile', '--chain', 'AVAX-FUJI')
  expect(stdout).toContain('LOST BURN 9 EURC of BASE-SEPOLIA')
  const booked = await command('lost-burns', 'book', nonce, '--reason', 'its nonce is used', '--yes')
  expect(booked).toMatchObject({ code: 0, stdout: '9 EURC of BASE-SEPOLIA are booked as lost.\n' })
  expect(await allowance()).toBe(100)
})

it.runIf(lostTotal > 0)(
  `property 116: of ${lostTotal} burns that vanish one after another the first alone is attested, and it stays charged`,
  async () => {
    await mineUntil(mining, async () => (await allowance()) === 100, 'earlier burns are final')
    const statuses: string[] = []
    for (let made = 0; made < lostTotal; made++) statuses.push((await burnAndVanish()).message.status)
    expect(statuses.filter((status) => status === 'complete')).toHaveLength(1)
    const height = await base.height()
    await mineUntil(mining, async () => (await base.height()) > height + 130, 'their places are final')
    expect([(await lost()).length, await allowance()]).toEqual([1, 91])
  },
)
