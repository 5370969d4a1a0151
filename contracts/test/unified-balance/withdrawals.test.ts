import type { Hex } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { localWithdrawalDelayBlocks } from '#sandbox/chains/unified-balance-contracts'
import { type TokenChain, zeroAddress } from '../token-chain.ts'
import {
  alice,
  bob,
  carol,
  height,
  holding,
  issuer,
  read,
  refusal,
  send,
  startGatewayChain,
  token,
  tokensOf,
  wallet,
} from './gateway-chain.ts'

let chain: TokenChain
let snapshot: Hex
beforeAll(async () => {
  chain = await startGatewayChain()
  await send(chain, alice, wallet, 'deposit', [token, 100n])
})
beforeEach(async () => {
  snapshot = await chain.client.snapshot()
})
afterEach(() => chain.client.revert({ id: snapshot }))
afterAll(() => chain?.stop())

const initiate = (value: bigint) => send(chain, alice, wallet, 'initiateWithdrawal', [token, value])
const withdrawalOf = (name: string) => read(chain, wallet, name, [token, alice.address])
/** Mines until the next transaction is in block `number`. */
const untilNextIs = async (number: bigint) =>
  chain.client.mine({ blocks: Number(number - 1n - (await height(chain))) })

describe('a withdrawal', () => {
  it('is paid from the block that the delay ends with, and not in the one before', async () => {
    const [event] = await initiate(30n)
    const start = await height(chain)
    const end = start + localWithdrawalDelayBlocks
    expect(event).toEqual({
      eventName: 'WithdrawalInitiated',
      args: {
        token,
        depositor: alice.address,
        value: 30n,
        remainingAvailable: 70n,
        totalWithdrawing: 30n,
        withdrawalBlock: end,
      },
    })
    expect(await withdrawalOf('withdrawalBlock')).toBe(end)
    await untilNextIs(end - 1n)
    await expect(send(chain, alice, wallet, 'withdraw', [token])).rejects.toThrow('reverted')
    expect(await height(chain)).toBe(end - 1n)
    expect(await withdrawalOf('withdrawableBalance')).toBe(0n)
    const before = await tokensOf(chain, alice.address)
    expect(await send(chain, alice, wallet, 'withdraw', [token])).toEqual([
      { eventName: 'WithdrawalCompleted', args: { token, depositor: alice.address, value: 30n } },
    ])
    expect(await height(chain)).toBe(end)
    expect(await tokensOf(chain, alice.address)).toBe(before + 30n)
    expect(await holding(chain, alice)).toEqual({ available: 70n, withdrawing: 0n })
    expect(await withdrawalOf('withdrawalBlock')).toBe(0n)
    expect(await refusal(chain, alice, wallet, 'withdraw', [token])).toBe('NoWithdrawingBalance()')
  })

  it('begins its delay anew with each addition', async () => {
    await initiate(30n)
    const first = await withdrawalOf('withdrawalBlock')
    await untilNextIs(first - 2n)
    const [event] = await initiate(20n)
    expect(event!.args).toMatchObject({ remainingAvailable: 50n, totalWithdrawing: 50n })
    await untilNextIs(first + 1n)
    expect(await refusal(chain, alice, wallet, 'withdraw', [token])).toBe('WithdrawalNotYetAvailable()')
    await untilNextIs(await withdrawalOf('withdrawalBlock'))
    await send(chain, alice, wallet, 'withdraw', [token])
    expect(await holding(chain, alice)).toEqual({ available: 50n, withdrawing: 0n })
  })

  it('is refused without value, beyond the available balance, of another token, and while paused', async () => {
    const refused = (asset: Hex, value: bigint) =>
      refusal(chain, alice, wallet, 'initiateWithdrawal', [asset, value])
    expect(await refused(token, 0n)).toBe('WithdrawalValueMustBePositive()')
    expect(await refused(token, 101n)).toBe('WithdrawalValueExceedsAvailableBalance()')
    await initiate(60n)
    expect(await refused(token, 41n)).toBe('WithdrawalValueExceedsAvailableBalance()')
    expect(await refused(bob.address, 1n)).toBe(`UnsupportedToken(${bob.address})`)
    expect(await refusal(chain, alice, wallet, 'withdraw', [bob.address])).toBe(
      `UnsupportedToken(${bob.address})`,
    )
    await send(chain, issuer, wallet, 'pause', [])
    expect(await refused(token, 1n)).toBe('EnforcedPause()')
    expect(await refusal(chain, alice, wallet, 'withdraw', [token])).toBe('EnforcedPause()')
  })

  it('follows a changed delay only when it starts after the change', async () => {
    await initiate(10n)
    const end = await withdrawalOf('withdrawalBlock')
    expect(await send(chain, issuer, wallet, 'updateWithdrawalDelay', [3n])).toEqual([
      { eventName: 'WithdrawalDelayChanged', args: { oldDelay: localWithdrawalDelayBlocks, newDelay: 3n } },
    ])
    expect(await withdrawalOf('withdrawalBlock')).toBe(end)
    await initiate(10n)
    expect(await withdrawalOf('withdrawalBlock')).toBe((await height(chain)) + 3n)
  })
})

it('shows balances by kind in the form of ERC-1155', async () => {
  await initiate(30n)
  const ids = [0n, 1n, 2n, 3n, 4n, 2n ** 96n - 1n].map((kind) => (kind << 160n) + BigInt(token))
  const depositors = ids.map(() => alice.address)
  const balances = () => read<bigint[]>(chain, wallet, 'balanceOfBatch', [depositors, ids])
  expect(await balances()).toEqual([100n, 70n, 30n, 0n, 0n, 0n])
  await untilNextIs((await withdrawalOf('withdrawalBlock')) + 1n)
  expect(await balances()).toEqual([100n, 70n, 30n, 30n, 0n, 0n])
  expect(await read(chain, wallet, 'balanceOf', [alice.address, ids[2]])).toBe(30n)
  expect(await read(chain, wallet, 'balanceOf', [bob.address, ids[0]])).toBe(0n)
  expect(await withdrawalOf('totalBalance')).toBe(100n)
  expect(await refusal(chain, alice, wallet, 'balanceOfBatch', [depositors, ids.slice(1)])).toBe(
    'InputArrayLengthMismatch()',
  )
})

describe('a delegate', () => {
  const isAuthorized = (address: Hex, depositor = alice.address, asset: Hex = token) =>
    read<boolean>(chain, wallet, 'isAuthorizedForBalance', [asset, depositor, address])

  it('is authorized for one token of one depositor until it is removed', async () => {
    expect([await isAuthorized(alice.address), await isAuthorized(bob.address)]).toEqual([true, false])
    const args = { token, depositor: alice.address, delegate: bob.address }
    expect(await send(chain, alice, wallet, 'addDelegate', [token, bob.address])).toEqual([
      { eventName: 'DelegateAdded', args },
    ])
    expect(await isAuthorized(bob.address)).toBe(true)
    expect(await isAuthorized(bob.address, carol.address)).toBe(false)
    expect(await isAuthorized(bob.address, alice.address, carol.address)).toBe(false)
    expect(await send(chain, alice, wallet, 'removeDelegate', [token, bob.address])).toEqual([
      { eventName: 'DelegateRemoved', args },
    ])
    expect(await isAuthorized(bob.address)).toBe(false)
    for (const other of [bob, carol])
      expect(await send(chain, alice, wallet, 'removeDelegate', [token, other.address])).toEqual([])
  })

  it('is neither nobody, nor the depositor, nor denied', async () => {
    const refused = (name: string, delegate: Hex, asset: Hex = token) =>
      refusal(chain, alice, wallet, name, [asset, delegate])
    for (const name of ['addDelegate', 'removeDelegate']) {
      expect(await refused(name, zeroAddress)).toBe('InvalidAddress()')
      expect(await refused(name, bob.address, carol.address)).toBe(`UnsupportedToken(${carol.address})`)
    }
    expect(await refused('addDelegate', alice.address)).toBe('CannotDelegateToSelf()')
    await send(chain, issuer, wallet, 'denylist', [bob.address])
    expect(await refused('addDelegate', bob.address)).toBe(`AccountDenylisted(${bob.address})`)
    await send(chain, issuer, wallet, 'denylist', [alice.address])
    for (const name of ['addDelegate', 'removeDelegate'])
      expect(await refused(name, carol.address)).toBe(`AccountDenylisted(${alice.address})`)
    await send(chain, issuer, wallet, 'pause', [])
    for (const name of ['addDelegate', 'removeDelegate'])
      expect(await refused(name, carol.address)).toBe('EnforcedPause()')
  })
})
