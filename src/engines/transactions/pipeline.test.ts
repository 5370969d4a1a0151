/**
 * A thousand transfers through a pool with the rules of real nodes: 16 executable transactions of one account, one of an
 * account that delegates, covered costs, replacement rules. A sender that counts nonces and reads blocks meets no
 * refusal. `POOL_SENDS` sets the number.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { openStrictPool, type Send, type StrictPool } from '#testing/adversary/index'
import { dataOf, freshAddress, makeWallet, type Wallet, type World, worldOf } from '#testing/builders/world'
import { followedMining } from '#testing/nodes/followed-mining'
import { type Harness, openHarness } from '#testing/platform/harness'
import { untilAdmitted } from '#testing/platform/tenant'
import { until, untilNone } from '#testing/platform/until'
import { isDeep, sizeOf } from '#testing/runner/size'

const sendsTotal = sizeOf('POOL_SENDS', { usual: 36, deep: 1_000 })
const walletCount = isDeep ? 4 : 2
/** Transfers of each wallet, more than the pool accepts at once. */
const backlog = 18
const behindDelegation = isDeep ? 6 : 3
const dropped = isDeep ? 24 : 8
const blockTimeMs = 300

/** Whether blocks are mined at the interval, each once the one before was followed: a busy machine would fall behind. */
let mines = true
let stopMining: (() => Promise<void>) | undefined

let harness: Harness
let world: World
let pool: StrictPool

beforeAll(async () => {
  harness = await openHarness({
    gasLimit: 1_000_000_000n,
    node: async (chain) => {
      pool = await openStrictPool(chain.rpcUrl)
      return { rpcUrl: pool.url, inFlightMax: 16 }
    },
  })
  world = worldOf(harness)
  await harness.chain().setAutomine(false)
  stopMining = startMining()
})
afterAll(async () => {
  await stopMining?.()
  await harness?.close()
  await pool?.close()
})

function startMining(): () => Promise<void> {
  let stopped = false
  const { mine } = followedMining(harness, harness.chain(), 1)
  const mining = (async () => {
    while (!stopped) {
      if (mines) await mine()
      await sleep(blockTimeMs)
    }
  })()
  return () => {
    stopped = true
    return mining
  }
}

const funded = async (): Promise<Wallet> => {
  const wallet = await makeWallet(world)
  await harness.fundWallet(wallet.address, { usdc: '1000', native: '10' })
  await until(async () => {
    const { tokenBalances } = await world.call('GET', `/v1/w3s/wallets/${wallet.id}/balances`)
    return tokenBalances.length >= 2
  }, 'the wallet has its coins')
  return wallet
}

async function transfer(wallet: Wallet, to: string): Promise<void> {
  const path = '/v1/w3s/developer/transactions/transfer'
  const body = {
    idempotencyKey: randomUUID(),
    entitySecretCiphertext: await harness.sealSecret(),
    walletId: wallet.id,
    tokenId: world.usdcId,
    destinationAddress: to,
    amounts: ['0.01'],
    feeLevel: 'MEDIUM',
  }
  dataOf(await untilAdmitted(() => harness.http('POST', path, { body })), path)
}

const unfinished = async (wallets: readonly Wallet[]) =>
  (
    await harness.database.one<{ count: number }>(sql`select count(*) as count from transactions
      where wallet_id = any(${wallets.map(({ id }) => id)}::uuid[]) and transaction_type = 'OUTBOUND'
        and state <> 'COMPLETE'`)
  ).count

const allComplete = (wallets: readonly Wallet[]) => untilNone(() => unfinished(wallets), 'all are complete')

const sendsOf = ({ address }: Wallet): Send[] => pool.sends.filter(({ signed }) => signed?.from === address)

async function movedOnce(wallet: Wallet, recipients: readonly string[]): Promise<void> {
  const { oracle, tokens } = harness.chain()
  await oracle.checkNonces(wallet.address)
  await oracle.checkMovedOnce(
    recipients.map((to) => ({ from: wallet.address, to, token: tokens.USDC, amountAtomic: 10_000n })),
  )
}

describe('a pool that enforces its limits', () => {
  it(`property 27: accepts all ${sendsTotal} sends`, async () => {
    const wallets = await Promise.all(Array.from({ length: walletCount }, funded))
    const jobs = Array.from({ length: sendsTotal }, (_, index) => ({
      wallet: wallets[index % walletCount]!,
      to: freshAddress(),
    }))
    const waiting = [...jobs]
    const submit = (some: typeof jobs) =>
      Promise.all(
        Array.from({ length: 16 }, async () => {
          for (let job = some.shift(); job; job = some.shift()) await transfer(job.wallet, job.to)
        }),
      )
    await harness.stopEngines()
    await submit(waiting.splice(0, backlog * walletCount))
    harness.startEngines()
    await submit(waiting)
    await allComplete(wallets)
    for (const wallet of wallets)
      await movedOnce(
        wallet,
        jobs.filter((job) => job.wallet === wallet).map(({ to }) => to),
      )
    const refused = pool.sends.filter(({ verdict }) => verdict === 'refused')
    console.info(
      `${sendsTotal} transfers: ${pool.sends.length} sends, ${refused.length} refused, ${pool.avoidable().length} of them avoidable`,
    )
    expect(pool.avoidable()).toEqual([])
    expect(pool.sends.filter(({ place }) => place === 'queued')).toEqual([])
  })

  it('property 27: holds one transaction in flight of a delegating account', async () => {
    const wallet = await funded()
    await harness.chain().rpc('anvil_setCode', [wallet.address, `0xef0100${'11'.repeat(20)}`])
    const recipients = Array.from({ length: behindDelegation }, freshAddress)
    await Promise.all(recipients.map((to) => transfer(wallet, to)))
    await allComplete([wallet])
    await movedOnce(wallet, recipients)
    expect(sendsOf(wallet).filter(({ verdict }) => verdict === 'refused')).toEqual([])
  })

  it('property 27: receives the same bytes again after it dropped them', async () => {
    const wallet = await funded()
    const before = pool.evictions.length
    pool.change({ evictOneIn: 2 })
    // Mined transactions can no longer be dropped.
    mines = false
    const recipients = Array.from({ length: dropped }, freshAddress)
    await Promise.all(recipients.map((to) => transfer(wallet, to)))
    await until(async () => pool.evictions.length > before, 'the pool drops one')
    pool.change({ evictOneIn: 0 })
    mines = true
    await allComplete([wallet])
    await movedOnce(wallet, recipients)
    const sent = sendsOf(wallet)
    expect(new Set(sent.map(({ raw }) => raw)).size).toBe(dropped)
    expect(sent.length).toBeGreaterThan(dropped)
    expect(sent.filter(({ avoidable }) => avoidable)).toEqual([])
  })
})
