import { concatHex, encodeFunctionData, getContractAddress, type Hex, parseAbi } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { devAccounts } from '#sandbox/constants'
import { falseReturningTokenAbi, falseReturningTokenBytecode } from '#testing/artifacts/false-returning-token'
import { feeOnTransferTokenAbi, feeOnTransferTokenBytecode } from '#testing/artifacts/fee-on-transfer-token'
import { internalPayerAbi, internalPayerBytecode } from '#testing/artifacts/internal-payer'
import { lyingTokenAbi, lyingTokenBytecode } from '#testing/artifacts/lying-token'
import { transferActions } from '#testing/builders/transfers'
import { makePaymentIntent, type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { quantity } from '#testing/platform/json-rpc'
import { until } from '#testing/platform/until'
import { isDeep } from '#testing/runner/size'

let harness: Harness
let world: World
let usdc: Hex
let target: Hex

beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
  usdc = harness.chain().tokens.USDC as Hex
  await harness.chain().send(attacker, 10n ** 9n, 'USDC')
})
afterAll(() => harness.close())
beforeEach(async () => {
  target = (await makePaymentIntent(world)).depositAddress as Hex
})

const grains = isDeep ? 120 : 30
const attacker = devAccounts[5]!.address
const erc20 = parseAbi(['function transfer(address to, uint256 value) returns (bool)'])
const transferData = (to: Hex, value: bigint) =>
  encodeFunctionData({ abi: erc20, functionName: 'transfer', args: [to, value] })

/** Sends a transaction from the attacker, or from an account that the node impersonates. */
async function act(call: { to?: Hex; data?: Hex; value?: bigint }, from: Hex = attacker): Promise<Hex> {
  const { rpc } = harness.chain()
  await rpc('anvil_impersonateAccount', [from])
  const value = quantity(call.value ?? 0n)
  return rpc('eth_sendTransaction', [{ ...call, from, value, gas: quantity(3_000_000) }])
}

/** Address of the attacker's next contract, after this many other transactions. */
async function nextContract(after = 0): Promise<Hex> {
  const nonce = await harness.chain().rpc<Hex>('eth_getTransactionCount', [attacker, 'latest'])
  return getContractAddress({ from: attacker, nonce: BigInt(nonce) + BigInt(after) }).toLowerCase() as Hex
}

async function deploy(data: Hex): Promise<Hex> {
  const address = await nextContract()
  await act({ data })
  return address
}

/**
 * Code that calls `to` with 68 bytes of data while its contract is created: the transaction names neither token nor
 * payee.
 */
function callingWhenMade(to: Hex, data: Hex): Hex {
  const stored = (['00', '20', '40'] as const).map((at, index) => {
    const word = data.slice(2 + index * 64, 66 + index * 64).padEnd(64, '0')
    return `0x7f${word}60${at}52` as Hex
  })
  return concatHex([...stored, '0x6000600060446000600073', to, '0x5af100'])
}

/** Forwards every call to the code of another contract, which then runs as this one (ERC-1167). */
const delegatingTo = (implementation: Hex): Hex =>
  concatHex([
    '0x3d602d80600a3d3981f3363d3d373d3d3d363d73',
    implementation,
    '0x5af43d82803e903d91602b57fd5bf3',
  ])

/** Amount credited for an address, once the treasury has followed the whole chain. */
async function creditedTo(address: Hex): Promise<bigint> {
  const height = await harness.chain().height()
  await until(async () => {
    const { done } = await harness.database.one<{ done: boolean }>(sql`select
      (select step from step_cursors where engine = 'treasury') >= (select max(step) from block_steps) and
      (select max(number) from blocks where canonical) >= ${height} as done`)
    return done
  }, 'the treasury has followed the chain')
  const { sum } = await harness.database.one<{ sum: bigint }>(
    sql`select coalesce(sum(amount), 0) as sum from payments where deposit_address = ${address} and status = 'paid'`,
  )
  return sum
}

describe('property 24: credits equal the transfers of the listed token', () => {
  const forge = (token: Hex) =>
    act({
      to: token,
      data: encodeFunctionData({
        abi: lyingTokenAbi,
        functionName: 'forge',
        args: [attacker, target, 10n ** 12n, 3n],
      }),
    })
  const mintAndTransfer = async (
    abi: typeof feeOnTransferTokenAbi | typeof falseReturningTokenAbi,
    code: Hex,
  ) => {
    const token = await deploy(code)
    await act({
      to: token,
      data: encodeFunctionData({
        abi: feeOnTransferTokenAbi,
        functionName: 'mint',
        args: [attacker, 10n ** 9n],
      }),
    })
    await act({
      to: token,
      data: encodeFunctionData({ abi, functionName: 'transfer', args: [target, 10n ** 6n] }),
    })
  }

  it.each<[string, bigint, () => Promise<unknown>]>([
    ['a transfer', 7n, () => act({ to: usdc, data: transferData(target, 7n) })],
    ['a transfer that fails', 0n, () => act({ to: usdc, data: transferData(target, 10n ** 30n) })],
    ['a transfer of nothing', 0n, () => act({ to: usdc, data: transferData(target, 0n) })],
    ['native coins', 0n, () => act({ to: target, value: 10n ** 18n })],
    [
      'native coins by an inside call',
      0n,
      async () => {
        const to = await deploy(internalPayerBytecode)
        const data = encodeFunctionData({ abi: internalPayerAbi, functionName: 'pay', args: [target] })
        await act({ to, data, value: 10n ** 17n })
      },
    ],
    [
      'a transfer by an inside call',
      11n,
      async () => {
        await act({ to: usdc, data: transferData(await nextContract(1), 11n) })
        await deploy(callingWhenMade(usdc, transferData(target, 11n)))
      },
    ],
    [
      'logs of another contract with the same symbol',
      0n,
      async () => forge(await deploy(lyingTokenBytecode)),
    ],
    [
      'logs of a contract that runs the code of another one',
      0n,
      async () => forge(await deploy(delegatingTo(await deploy(lyingTokenBytecode)))),
    ],
    [
      'a token that keeps a fee',
      0n,
      () => mintAndTransfer(feeOnTransferTokenAbi, feeOnTransferTokenBytecode),
    ],
    [
      'a token that answers false',
      0n,
      () => mintAndTransfer(falseReturningTokenAbi, falseReturningTokenBytecode),
    ],
  ])('%s', async (_, credited, attack) => {
    const before = await harness.chain().oracle.balanceOf(target, usdc)
    await attack()
    const delta = (await harness.chain().oracle.balanceOf(target, usdc)) - before
    expect(await creditedTo(target)).toBe(delta)
    expect(delta).toBe(credited)
  })

  it('a flood of dust', async () => {
    const { setAutomine, mine } = harness.chain()
    await setAutomine(false)
    for (let grain = 0; grain < grains; grain++) await act({ to: usdc, data: transferData(target, 1n) })
    await mine()
    await setAutomine(true)
    expect(await harness.chain().oracle.balanceOf(target, usdc)).toBe(BigInt(grains))
    expect(await creditedTo(target)).toBe(BigInt(grains))
  })

  it("an internal transfer of a merchant's own coins", async () => {
    const other = (await makePaymentIntent(world)).depositAddress as Hex
    await act({ to: usdc, data: transferData(target, 9n) })
    await harness.chain().rpc('anvil_setBalance', [target, quantity(10n ** 18n)])
    await act({ to: usdc, data: transferData(target, 2n) }, target)
    await act({ to: usdc, data: transferData(other, 4n) }, target)
    expect(await harness.chain().oracle.balanceOf(other, usdc)).toBe(4n)
    expect([await creditedTo(target), await creditedTo(other)]).toEqual([9n, 0n])
  })
})

describe('property 25: a worthless transfer', () => {
  it('creates no history and no recipient', async () => {
    const { fundedWallet } = transferActions(harness)
    const wallet = await fundedWallet()
    const listed = async () => ({
      transactions: (await world.call('GET', `/v1/w3s/transactions?walletIds=${wallet.id}`)).transactions,
      recipients: await world.call('GET', '/v1/addressBook/recipients'),
      balances: (await world.call('GET', `/v1/w3s/wallets/${wallet.id}/balances?includeAll=true`))
        .tokenBalances.length,
    })
    await until(async () => (await listed()).transactions.length === 2, 'what funded the wallet is listed')
    const before = await listed()
    const lookAlike = `${wallet.address.slice(0, 6)}${'0'.repeat(32)}${wallet.address.slice(-4)}` as Hex
    const fake = await deploy(lyingTokenBytecode)
    const forged = [lookAlike, wallet.address as Hex, 10n ** 12n, 5n] as const
    await act({
      to: fake,
      data: encodeFunctionData({ abi: lyingTokenAbi, functionName: 'forge', args: forged }),
    })
    await act({ to: usdc, data: transferData(wallet.address as Hex, 0n) })
    const fromNobody = parseAbi(['function transferFrom(address from, address to, uint256 value)'])
    const nothing = [wallet.address as Hex, lookAlike, 0n] as const
    await act({
      to: usdc,
      data: encodeFunctionData({ abi: fromNobody, functionName: 'transferFrom', args: nothing }),
    })
    await creditedTo(target)
    expect(await listed()).toEqual(before)
  })
})
