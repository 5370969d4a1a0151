/**
 * Attacks on the deposit of a sponsor by a stranger who has a client key, which is public, and bundles by itself: each field that
 * the EntryPoint prices is raised. The chain is asked what the sponsor lost and the stranger gained.
 */
import { type Hex, numberToHex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { UserOperation } from '#chains/facets/accounts'
import { operationFromJson } from '#chains/operation-json'
import { feeAt, suggestedFees } from '#engines/transactions/index'
import { sql } from '#runtime/db/db'
import { executeOperation, openModularAccount, usdcPayment } from '#testing/builders/modular-accounts'
import { accountActions } from '#testing/builders/smart-accounts'
import { strangeBundle } from '#testing/builders/strange-bundles'
import { freshAddress, worldOf } from '#testing/builders/world'
import {
  entryPoint,
  inHex,
  type Prepared,
  pageRequests,
  prepared,
  signed,
  withSponsor,
} from '#testing/pages/page-operations'
import { type Harness, openHarness } from '#testing/platform/harness'
import type { Tenant } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'

type ModularPage = Awaited<ReturnType<typeof openModularAccount>>

let harness: Harness
let page: ModularPage
beforeAll(async () => {
  harness = await openHarness()
  page = await openAccount()
  // Coins for any price that a sponsor might have signed.
  const { address } = await harness.database.one<{ address: Hex }>(
    sql`select address from sponsors where entity_id = ${harness.entityId}`,
  )
  const { depositCall, paymasterOf } = chain().accounts!
  const { to, data } = depositCall(paymasterOf(address).address, 0n)
  await rpc('eth_sendTransaction', {
    from: harness.chain().outsider,
    to,
    data,
    value: numberToHex(10n ** 19n),
  })
})
afterAll(() => harness?.close())

const { ask, sponsor, refusal, sponsoredAgain } = pageRequests(() => harness)
const chain = () => harness.ctx.chains.find('BASE-SEPOLIA')!
const payment = () => usdcPayment(harness, freshAddress())
const rpc = <Type>(method: string, ...params: unknown[]) => harness.chain().rpc<Type>(method, params)

/** An account of a tenant that exists, whose sponsor has a deposit. */
async function openAccount(tenant: Pick<Tenant, 'clientKey'> = harness) {
  const opened = await openModularAccount(harness, tenant)
  await executeOperation(opened.bundler, [payment()])
  return opened
}

const read = (operation: object): UserOperation =>
  chain().accounts!.modular.readOperation(operation, 'operation')

const depositOf = async (entityId: string) => {
  const { address } = await harness.database.one<{ address: Hex }>(
    sql`select address from sponsors where entity_id = ${entityId}`,
  )
  return chain().accounts!.depositOf(chain().accounts!.paymasterOf(address).address)
}

const coinsOf = async (address: string) => BigInt(await rpc<string>('eth_getBalance', address, 'latest'))

/** The stranger bundles operations for itself; returns what it gained beside the gas that it paid, and whether that went through. */
async function bundleAsStranger(operations: readonly UserOperation[]) {
  const { outsider } = harness.chain()
  const beneficiary = freshAddress()
  const call = strangeBundle(harness, operations, beneficiary)
  const txHash = await rpc<string>('eth_sendTransaction', { from: outsider, gas: '0xe00000', ...call })
  await until(async () => (await rpc('eth_getTransactionReceipt', txHash)) !== null, 'it is mined')
  const { status } = await rpc<{ status: string }>('eth_getTransactionReceipt', txHash)
  return { status, gained: await coinsOf(beneficiary) }
}

const suggested = async () => feeAt(await suggestedFees(chain()), 'HIGH')

describe('property 110: a stranger gains nothing from what a sponsor signed', () => {
  it('whichever field of an operation it raises, and whatever it bundles', async () => {
    const { account, bundler } = page
    const good = await prepared(bundler, [payment()])
    const { maxFeeAtomic } = await suggested()
    const attacks: [string, Partial<Prepared>][] = [
      ['nothing', {}],
      [
        'twenty times the price and gas for nothing',
        {
          maxFeePerGas: 19n * maxFeeAtomic,
          maxPriorityFeePerGas: 19n * maxFeeAtomic,
          preVerificationGas: 7_200_000n,
        },
      ],
      ['the tip', { maxFeePerGas: 2n * maxFeeAtomic, maxPriorityFeePerGas: 2n * maxFeeAtomic }],
      ['gas of the call that nothing uses', { callGasLimit: 7_000_000n }],
      ['gas of verification', { verificationGasLimit: 7_000_000n }],
      ['gas for its data', { preVerificationGas: (good['preVerificationGas'] as bigint) + 500_000n }],
      ['gas after the operation', { paymasterPostOpGasLimit: 5_000_000n }],
      ['gas of the paymaster', { paymasterVerificationGasLimit: 5_000_000n }],
    ]
    const before = await depositOf(harness.entityId)
    const outcomes = []
    for (const [index, [name, changes]] of attacks.entries()) {
      const operation = { ...good, nonce: BigInt(index + 1) << 64n, ...changes }
      const { result } = await sponsor(operation)
      const sent = result && read(await signed(account, withSponsor(operation, result)))
      const { status, gained } = sent ? await bundleAsStranger([sent]) : { status: '0x0', gained: 0n }
      const lost = before - (await depositOf(harness.entityId))
      outcomes.push({ name, status, gained, lost, isSigned: result !== undefined })
    }
    const none = { status: '0x0', gained: 0n, lost: 0n }
    expect(outcomes).toEqual(
      attacks.map(([name], index) => ({ ...none, name, isSigned: [0, 2, 3, 6, 7].includes(index) })),
    )
  })

  it('nor from the creation of an account, nor from operations of several sponsors and of developers', async () => {
    const other = await harness.newEntity()
    const theirs = await openAccount(other)
    const creating = await openModularAccount(harness, harness)
    const developer = accountActions(worldOf(harness))
    const wallet = await developer.make()
    await developer.reaches(await developer.transfer(wallet, freshAddress()), 'COMPLETE')
    await harness.stopEngines()
    const operations: UserOperation[] = []
    for (const { account, bundler, key } of [
      { ...page, key: harness.clientKey },
      { ...theirs, key: other.clientKey },
      { ...creating, key: harness.clientKey },
    ])
      operations.push(read(await sponsoredAgain(account, await prepared(bundler, [payment()]), key)))
    harness.startEngines()
    const id = await developer.transfer(wallet, freshAddress())
    await developer.signed(id)
    const stored = () =>
      harness.database.one<{ operation: string }>(
        sql`select operation::text as operation from operations where id = ${id}`,
      )
    await developer.reaches(id, 'COMPLETE')
    const { operation } = await stored()
    const before = await Promise.all([harness.entityId, other.entityId].map(depositOf))
    for (const bundle of [operations, ...operations.map((each) => [each]), [operationFromJson(operation)]])
      expect(await bundleAsStranger(bundle)).toEqual({ status: '0x0', gained: 0n })
    expect(await Promise.all([harness.entityId, other.entityId].map(depositOf))).toEqual(before)
  })
})

/** Has an operation sent and executed; returns its receipt. */
async function executed({ account, bundler }: ModularPage, operation: Prepared) {
  const sent = await sponsoredAgain(account, operation)
  const { result: hash } = await ask('eth_sendUserOperation', [sent, entryPoint])
  return bundler.waitForUserOperationReceipt({ hash, timeout: 300_000, pollingInterval: 100 })
}

describe('property 111: a sponsor pays what an operation used, and the treasury gets it', () => {
  it('the treasury loses only the gas of a bundle, and counts at least as much', async () => {
    const { bundler } = page
    const { address } = await harness.database.one<{ address: Hex }>(
      sql`select address from sponsors where entity_id = ${harness.entityId}`,
    )
    const worth = async () => (await coinsOf(address)) + (await depositOf(harness.entityId))
    const { maxFeeAtomic } = await suggested()
    const dear = { maxFeePerGas: 2n * maxFeeAtomic, maxPriorityFeePerGas: 2n * maxFeeAtomic }
    const before = await worth()
    const wasteful = { ...(await prepared(bundler, [payment()])), ...dear, callGasLimit: 5_000_000n }
    const { userOpHash, receipt, actualGasUsed } = await executed(page, wasteful)
    expect(actualGasUsed).toBeGreaterThan(500_000n)
    const burnt = receipt.gasUsed * receipt.effectiveGasPrice
    const lost = before - (await worth())
    expect(lost).toBeGreaterThanOrEqual(burnt)
    // The treasury may fill the deposit meanwhile, which costs gas of its own, and moves coins within its worth.
    expect(lost).toBeLessThan(burnt + 4_000_000n * receipt.effectiveGasPrice)
    const counted = () =>
      harness.database.one<{ gas: bigint | null }>(
        sql`select gas_used as gas from sponsorships where user_op_hash = ${userOpHash}`,
      )
    await until(async () => (await counted()).gas !== null, 'it is counted')
    expect((await counted()).gas).toBeGreaterThanOrEqual(receipt.gasUsed)
    const good = await prepared(bundler, [payment()])
    const cheap = [{ ...inHex(good), preVerificationGas: '0x1' }, entryPoint]
    const [, message] = await refusal('pm_getPaymasterData', cheap)
    const [, least] = /preVerificationGas must be at least (\d+)/.exec(message)!
    // A byte of the nonce may be another one, so that the data costs a little more.
    const thrifty = await executed(page, { ...good, preVerificationGas: BigInt(least!) + 100n })
    expect(thrifty.actualGasUsed).toBeGreaterThanOrEqual(thrifty.receipt.gasUsed)
  })
})

describe('an estimate', () => {
  it('needs no gas of the operation, and no price, also where a paymaster pays', async () => {
    const { bundler, account } = await openModularAccount(harness, harness)
    const gas = await bundler.estimateUserOperationGas({ account, calls: [payment()] } as never)
    expect(gas.callGasLimit).toBeGreaterThan(20_000n)
    expect(gas.preVerificationGas).toBeGreaterThan(20_000n)
    const open = await harness.database.all(sql`select 1 from sponsorships s
      join modular_wallets w on w.entity_id = s.entity_id and w.id = s.wallet_id
      where w.address = ${account.address.toLowerCase()} and s.gas_used is null`)
    expect(open).toEqual([])
  })
})
