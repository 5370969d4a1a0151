import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tokenAddress } from '#chains/network'
import { aptosTestnet } from '#chains/networks/aptos-testnet'
import { placeHolds, resolveHolds } from '#engines/ledger/holds/index'
import type { Hex } from '#lib/hex'
import { sql } from '#runtime/db/db'
import { makeWallet, type Wallet, type World, worldOf } from '#testing/builders/world'
import { sessionOf, unlimited, untilBlockedBy } from '#testing/databases/blocked-sessions'
import { openLocalAptos } from '#testing/nodes/local-aptos'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

const { blockchain, nativeToken } = aptosTestnet
const listed = aptosTestnet.tokens.find(({ symbol }) => symbol === 'USDC')!
const usdc = { ...listed, address: tokenAddress(listed) as Hex }
const apt = 10n ** 8n

let aptos: Awaited<ReturnType<typeof openLocalAptos>>
let harness: Harness
let world: World
let treasury: Hex

beforeAll(async () => {
  aptos = await openLocalAptos()
  harness = await openHarness({ furtherNodes: [aptos.connected] })
  world = worldOf(harness)
  await fundedWallet()
  treasury = (
    await harness.database.one<{ address: Hex }>(
      sql`select address from sponsors where entity_id = ${harness.entityId}`,
    )
  ).address
  aptos.node.fund(treasury, apt)
  await until(async () => (await heldAndLeft()).left === apt, 'the treasury is funded')
})
afterAll(async () => {
  await harness?.close()
  await aptos?.node.close()
})

/** A wallet with USDC alone. */
async function fundedWallet(): Promise<Wallet> {
  const made = await makeWallet(world, undefined, blockchain)
  aptos.node.fund(made.address as Hex, 100_000_000n, usdc.address)
  await until(async () => {
    const { tokenBalances } = await world.call('GET', `/v1/w3s/wallets/${made.id}/balances`)
    return tokenBalances.length === 1
  }, 'the coins are booked')
  return made
}

const heldAndLeft = async () =>
  (await harness.database.maybe<{ held: bigint; left: bigint }>(sql`select a.held, a.posted - a.held as left
    from accounts a where a.entity_id = ${harness.entityId} and a.address = ${treasury} and a.kind = 'address'
      and a.token_id = ${nativeToken.id}`)) ?? { held: 0n, left: 0n }

async function pays({ id }: Wallet): Promise<string> {
  const { id: transferId } = await world.call('POST', '/v1/w3s/developer/transactions/transfer', {
    idempotencyKey: randomUUID(),
    entitySecretCiphertext: await harness.sealSecret(),
    walletId: id,
    tokenId: usdc.id,
    amounts: ['1'],
    destinationAddress: `0x${randomBytes(32).toString('hex')}`,
    feeLevel: 'MEDIUM',
  })
  return transferId
}
const read = async (id: string) => (await world.call('GET', `/v1/w3s/transactions/${id}`)).transaction
const reaches = (id: string, state: string) =>
  until(async () => (await read(id)).state === state, `${id} is ${state}`)

/** The answer of a node that is behind the block which funded the payer of the fee. */
const poor = {
  status: 400,
  json: {
    message: 'INSUFFICIENT_BALANCE_FOR_TRANSACTION_FEE',
    error_code: 'vm_error',
    vm_error_code: 5,
  },
}

describe('property 228: within a day a treasury pays fees', () => {
  async function expectRefused(wallet: Wallet, words: string): Promise<void> {
    const before = aptos.node.balanceOf(treasury)
    const id = await pays(wallet)
    await reaches(id, 'FAILED')
    const { errorReason, errorDetails, txHash } = await read(id)
    expect([errorReason, txHash]).toEqual(['PAYMASTER_POLICY_EXCEED_MAX_NATIVE_TOKEN_DAILY', undefined])
    expect(errorDetails).toContain(words)
    expect(aptos.node.balanceOf(treasury)).toBe(before)
    expect((await heldAndLeft()).held).toBe(0n)
  }

  it('of one wallet, until its limit is taken, while others are paid for', async () => {
    const [wallet, other] = [await fundedWallet(), await fundedWallet()]
    await reaches(await pays(wallet), 'COMPLETE')
    const { feeCoinsPerWallet } = harness.ctx.config
    // As if its fees of today had been a coin: the limit is in whole coins.
    await harness.database.run(sql`update transactions set network_fee = ${apt.toString()}::numeric
      where wallet_id = ${wallet.id} and fee_payer is not null`)
    expect(feeCoinsPerWallet).toBe(1)
    await expectRefused(wallet, 'at most 1 APT-TESTNET within a day for one wallet')
    await reaches(await pays(other), 'COMPLETE')
    harness.clock.moveMs(86_400_001)
    await reaches(await pays(wallet), 'COMPLETE')
  })

  it('of all wallets, until their limit is taken', async () => {
    const { config } = harness.ctx
    const { feeCoinsPerEntity } = config
    config.feeCoinsPerEntity = 0
    await expectRefused(await fundedWallet(), 'at most 0 APT-TESTNET within a day for all wallets').finally(
      () => {
        config.feeCoinsPerEntity = feeCoinsPerEntity
      },
    )
  })

  it('and wallets wait for it while a node does not know of its coins', async () => {
    const wallet = await fundedWallet()
    aptos.node.setFaults({
      answerInstead: ({ path }) => (path.endsWith('/simulate') ? poor : undefined),
    })
    const id = await pays(wallet)
    await until(async () => (await read(id)).errorDetails !== undefined, 'the reason of the wait is shown')
    expect(await read(id)).toMatchObject({ errorDetails: expect.stringContaining('can estimate the gas') })
    aptos.node.setFaults({})
    await reaches(id, 'COMPLETE')
  })

  it('and locks its account in the order of all that lock several', async () => {
    const wallet = await fundedWallet()
    await reaches(await pays(wallet), 'COMPLETE')
    const lock = (address: string) => sql`select 1 from accounts where entity_id = ${harness.entityId}
      and address = ${address} and token_id = ${nativeToken.id} for no key update nowait`
    const id = await harness.database.tx(async (tx) => {
      await tx.one(lock(treasury))
      const paid = await pays(wallet)
      await untilBlockedBy(await sessionOf(tx), harness.database, 'the signer waits for the treasury')
      // The account of the treasury is the older one: that of the wallet is not locked yet.
      await tx.one(lock(wallet.address))
      return paid
    }, unlimited)
    await reaches(id, 'COMPLETE')
  })

  it('of several wallets at once no further than its coins reach', async () => {
    const wallets = await Promise.all([0, 1, 2].map(fundedWallet))
    aptos.node.setBlocks('by_hand')
    const first = await pays(wallets[0]!)
    await reaches(first, 'SENT')
    const { held: feeAtomic, left } = await heldAndLeft()
    // Coins for one more fee.
    const amountAtomic = left - feeAtomic - feeAtomic / 2n
    const [entityId, intentId] = [harness.entityId, randomUUID()]
    const account = { entityId, blockchain, tokenId: nativeToken.id, address: treasury }
    await harness.database.tx((tx) =>
      placeHolds(tx, Date.now(), [{ ...account, intentId, purpose: 'fee', amountAtomic }]),
    )
    const others = await Promise.all(wallets.slice(1).map(pays))
    const states = async () => (await Promise.all(others.map(read))).map(({ state }) => state).sort()
    await until(async () => (await states()).join() === 'FAILED,SENT', 'one of both is paid for')
    await harness.database.tx((tx) =>
      resolveHolds(tx, Date.now(), [{ entityId, intentId, outcome: 'voided' }]),
    )
    aptos.node.setBlocks('each_transaction')
    await reaches(first, 'COMPLETE')
    expect(await heldAndLeft()).toEqual({ held: 0n, left: aptos.node.balanceOf(treasury) })
  })
})
