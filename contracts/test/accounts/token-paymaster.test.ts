import { type Address, encodeFunctionData, getAddress, type Hex, parseEther, slice } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { entryPoint } from '#chains/entry-point'
import { smartAccountAbi } from '#chains/evm/accounts/artifacts/smart-account'
import { bundleInput } from '#chains/evm/accounts/operation'
import { people, type TokenChain, tokenAddress } from '../token-chain.ts'
import { asEntryPoint, type Executed, execute, executeBy } from './account-chain.ts'
import {
  abi,
  allowanceOf,
  balanceOf,
  boundOf,
  calling,
  callOf,
  dataOf,
  depositOf,
  feeSpread,
  give,
  handInPermit,
  nativeTokenPrice,
  openAccount,
  paid,
  paymaster,
  permitOf,
  permitted,
  setPrice,
  sponsorship,
  startPaymasterChain,
  toldIn,
  worthOf,
} from './token-paymaster-chain.ts'

let chain: TokenChain
let account: Address
beforeAll(async () => {
  chain = await startPaymasterChain()
  account = await openAccount(chain)
})
afterAll(() => chain?.stop())

/** The changes of an execution: tokens of the account and of the paymaster, and the deposit. */
async function changesOf(run: () => Promise<unknown>, of: Address = account) {
  const read = async () => [
    await balanceOf(chain, of),
    await balanceOf(chain, paymaster),
    await depositOf(chain),
  ]
  const before = await read()
  const outcome = await run()
  const [ofAccount, ofPaymaster, ofDeposit] = (await read()).map((value, index) => value - before[index]!)
  return { outcome, ofAccount: ofAccount!, ofPaymaster: ofPaymaster!, ofDeposit: ofDeposit! }
}

const callOfToken = (functionName: string, args: readonly unknown[] = []): Hex =>
  encodeFunctionData({ abi: chain.token.abi, functionName, args })
const callsOf = (...calls: readonly [target: Address, data: Hex][]): Hex =>
  encodeFunctionData({
    abi: smartAccountAbi,
    functionName: 'executeBatch',
    args: [calls.map(([target, data]) => ({ target, value: 0n, data }))],
  })

/** Moves all tokens of an account. */
async function moveAll(from: Address, to: Address) {
  await chain.client.impersonateAccount({ address: from })
  const args = [to, await balanceOf(chain, from)]
  await chain.client.writeContractSync({ account: from, ...chain.token, functionName: 'transfer', args })
  await chain.client.stopImpersonatingAccount({ address: from })
}
const setPauser = (to: Address) =>
  chain.client.writeContractSync({
    account: people.owner,
    ...chain.token,
    functionName: 'updatePauser',
    args: [to],
  })

describe('the charge', () => {
  it('is what the operation cost, with the stated spread; the rest returns to the account', async () => {
    const operation = await permitted(chain, account)
    const { outcome, ofAccount, ofPaymaster, ofDeposit } = await changesOf(() => execute(chain, operation))
    const [{ success, feeAtomic }] = outcome as [Executed]
    expect(success).toBe(true)
    expect(ofAccount).toBe(-ofPaymaster)
    expect(ofDeposit).toBe(-feeAtomic)
    // The owner never loses, and the account never pays a tenth more than cost and spread.
    const cost = worthOf(feeAtomic)
    expect(ofPaymaster).toBeGreaterThanOrEqual((cost * 11n) / 10n)
    expect(ofPaymaster).toBeLessThan((cost * 11n * 11n) / 100n + worthOf(45_000n * operation.maxFeeAtomic))
    expect(ofPaymaster).toBeLessThan(boundOf(operation))
    expect(await toldIn(chain)).toMatchObject([
      { token: tokenAddress, sender: getAddress(account), nativeTokenPrice, actualTokenNeeded: ofPaymaster },
    ])
    expect(await allowanceOf(chain, account)).toBe(50_000000n - boundOf(operation))
  })

  it('covers the penalty for gas that nothing used, however much of it is asked for', async () => {
    for (const callGas of [9_000_000n, 4_000_000n]) {
      const value = 200_000000n
      const data = dataOf(value, await permitOf(chain, account, value))
      const operation = await paid(account, data, { changes: { callGas } })
      const { outcome, ofPaymaster } = await changesOf(() => execute(chain, operation))
      const [{ feeAtomic }] = outcome as [Executed]
      expect(ofPaymaster).toBeGreaterThanOrEqual((worthOf(feeAtomic) * 11n) / 10n)
    }
    const value = 200_000000n
    const data = dataOf(value, await permitOf(chain, account, value))
    const greedy = { sponsorship: { ...sponsorship, postOpGas: 5_000_000n, data } }
    const operation = await paid(account, data, { changes: greedy })
    const { outcome, ofPaymaster } = await changesOf(() => execute(chain, operation))
    const [{ feeAtomic }] = outcome as [Executed]
    expect(ofPaymaster).toBeGreaterThanOrEqual((worthOf(feeAtomic) * 11n) / 10n)
  })

  it('needs no permit where the account has approved before', async () => {
    const value = 50_000000n
    await handInPermit(chain, account, value, await permitOf(chain, account, value))
    for (const data of ['0x', '0x00'] as const)
      expect(await execute(chain, await paid(account, data))).toMatchObject([{ success: true }])
  })

  it('is due when the call of the operation reverts', async () => {
    const call = calling(tokenAddress, '0xdeadbeef')
    const operation = await permitted(chain, account, { call })
    const { outcome, ofPaymaster, ofAccount } = await changesOf(() => execute(chain, operation))
    const [{ success, feeAtomic }] = outcome as [Executed]
    expect(success).toBe(false)
    expect(ofPaymaster).toBe(-ofAccount)
    expect(ofPaymaster).toBeGreaterThanOrEqual((worthOf(feeAtomic) * 11n) / 10n)
    expect(ofPaymaster).toBeLessThan(boundOf(operation))
  })

  it('is that of each operation in a bundle of several', async () => {
    const other = await openAccount(chain, people.bob)
    const operations = [
      await permitted(chain, account),
      await permitted(chain, other, { by: people.bob }),
    ] as const
    const { outcome, ofPaymaster, ofAccount } = await changesOf(() => execute(chain, ...operations))
    expect(outcome).toMatchObject([{ success: true }, { success: true }])
    const told = await toldIn(chain)
    expect(told.map(({ sender }) => sender)).toEqual([account, other].map((each) => getAddress(each)))
    expect(ofAccount).toBe(-told[0]!.actualTokenNeeded)
    expect(ofPaymaster).toBe(told[0]!.actualTokenNeeded + told[1]!.actualTokenNeeded)
  })
})

describe('property 268: attacks', () => {
  it('a permit that an observer handed in does not make its operation fail', async () => {
    const value = 50_000000n
    const signature = await permitOf(chain, account, value)
    const operation = await paid(account, dataOf(value, signature))
    await handInPermit(chain, account, value, signature)
    expect(await execute(chain, operation)).toMatchObject([{ success: true }])
  })

  it('a permit pays for operations of its account alone', async () => {
    const thief = await openAccount(chain, people.bob)
    await execute(chain, await permitted(chain, thief, { by: people.bob, value: 50_000000n }))
    const value = 50_000000n
    const data = dataOf(value, await permitOf(chain, account, value))
    const { ofAccount, ofPaymaster } = await changesOf(async () => {
      const spent = await paid(thief, data, { by: people.bob, changes: { callGas: 9_000_000n } })
      expect(await execute(chain, spent)).toBe('AA33 reverted: ERC20: transfer amount exceeds allowance')
    })
    expect([ofAccount, ofPaymaster]).toEqual([0n, 0n])
  })

  it('a permit counts once, and an operation is paid for once', async () => {
    const fresh = await openAccount(chain)
    const operation = await permitted(chain, fresh, { value: 6_000000n })
    expect(await execute(chain, operation)).toMatchObject([{ success: true }])
    expect(await execute(chain, operation)).toBe('AA25 invalid account nonce')
    const again = await paid(fresh, operation.sponsorship!.data)
    expect(await execute(chain, again)).toBe('AA33 reverted: ERC20: transfer amount exceeds allowance')
  })

  it('an account that has too little, or that the issuer blocks, is not paid for', async () => {
    const poor = await openAccount(chain, people.carol)
    const operation = await permitted(chain, poor, { by: people.carol })
    const rest = (await balanceOf(chain, poor)) - boundOf(operation) + 1n
    await chain.client.impersonateAccount({ address: poor })
    const transfer = { ...chain.token, functionName: 'transfer', args: [people.bob.address, rest] } as const
    await chain.client.writeContractSync({ account: poor, ...transfer })
    await chain.client.stopImpersonatingAccount({ address: poor })
    expect(await execute(chain, operation)).toBe('AA33 reverted: ERC20: transfer amount exceeds balance')
    await give(chain, poor, rest)
    const list = (functionName: 'blacklist' | 'unBlacklist') =>
      chain.client.writeContractSync({
        account: people.blacklister,
        ...chain.token,
        functionName,
        args: [poor],
      })
    await list('blacklist')
    expect(await execute(chain, operation)).toContain('AA33 reverted: the token has blocklisted')
    await list('unBlacklist')
    expect(await execute(chain, operation)).toMatchObject([{ success: true }])
  })

  it('an account that cannot pay any more leaves nothing of its own operation behind', async () => {
    // The call gives away all that the account has left: the bound was taken before.
    const giver = await openAccount(chain, people.carol)
    const first = await permitted(chain, giver, { by: people.carol })
    const left = (await balanceOf(chain, giver)) - boundOf(first)
    const call = calling(tokenAddress, callOfToken('transfer', [people.bob.address, left]))
    const operation = await paid(giver, first.sponsorship!.data, { by: people.carol, call })
    const { outcome, ofPaymaster } = await changesOf(() => execute(chain, operation), giver)
    const [{ success, feeAtomic }] = outcome as [Executed]
    expect(success).toBe(true)
    expect(ofPaymaster).toBeGreaterThanOrEqual((worthOf(feeAtomic) * 11n) / 10n)
  })

  it('a refund to an account that had nothing before its transaction is charged, too', async () => {
    // Storage that was empty costs most. Another account gives just what the operation can cost and bundles at once, with limits as tight as they can be.
    const [poor, giver] = [await openAccount(chain, people.carol), await openAccount(chain, people.bob)]
    const value = 200_000000n
    await handInPermit(chain, poor, value, await permitOf(chain, poor, value, people.carol))
    await moveAll(poor, giver)
    const attempt = async (verificationGas: bigint, ofPaymaster: bigint) => {
      const tight = { ...sponsorship, verificationGas: ofPaymaster, postOpGas: 60_000n, data: '0x' as const }
      const operation = await paid(poor, '0x', {
        by: people.carol,
        changes: { verificationGas, callGas: 40_000n, sponsorship: tight },
      })
      const given = callOfToken('transfer', [poor, boundOf(operation)])
      const batch = callsOf([tokenAddress, given], [entryPoint, bundleInput([operation], giver)])
      const bundled = () => asEntryPoint(chain, giver, batch)
      return changesOf(bundled, poor)
    }
    const { outcome, ofPaymaster, ofDeposit } = await attempt(46_000n, 57_000n)
    expect(outcome).toBe(true)
    expect(ofPaymaster).toBeGreaterThanOrEqual((worthOf(-ofDeposit) * 11n) / 10n)
  })

  it('too little gas for the refund is refused, and the least is enough', async () => {
    const data = dataOf(50_000000n, await permitOf(chain, account, 50_000000n))
    const changes = { sponsorship: { ...sponsorship, postOpGas: 14_999n, data } }
    expect(await execute(chain, await paid(account, data, { changes }))).toMatch(
      /^AA33 reverted: PostOpGasTooLow/,
    )
    expect(await execute(chain, await paid(account, data))).toMatchObject([{ success: true }])
  })

  it('a refund that the token refuses undoes the call, and the owner keeps the bound', async () => {
    // Paused by the operation's own block: as if the issuer stopped the token between validation and the refund.
    const pauser = people.pauser.address
    const data = dataOf(50_000000n, await permitOf(chain, account, 50_000000n))
    const before = await chain.client.readContract({ ...chain.token, functionName: 'pauser' })
    await setPauser(account)
    const call = calling(tokenAddress, callOfToken('pause'))
    const operation = await paid(account, data, { call, changes: { callGas: 300_000n } })
    const { outcome, ofPaymaster } = await changesOf(() => execute(chain, operation))
    await setPauser(before as Address)
    expect(before).toBe(pauser)
    expect(outcome).toMatchObject([{ success: false }])
    expect(ofPaymaster).toBe(boundOf(operation))
    expect(await chain.client.readContract({ ...chain.token, functionName: 'paused' })).toBe(false)
  })

  it('an operation cannot enter the paymaster or the EntryPoint again', async () => {
    const inner = await permitted(chain, account)
    const entering = [
      calling(entryPoint, bundleInput([inner], account)),
      calling(paymaster, callOf('withdraw', [account, 1n])),
      calling(paymaster, callOf('withdrawToken', [account, 1n])),
      calling(paymaster, callOf('setPrice', [1n, 0, 4_000_000_000])),
      calling(paymaster, callOf('postOp', [0, '0x', 0n, 0n])),
      calling(paymaster, callOf('unlockStake', [])),
    ]
    for (const call of entering) {
      const operation = await permitted(chain, account, { call, changes: { callGas: 900_000n } })
      expect(await execute(chain, operation)).toMatchObject([{ success: false }])
    }
  })

  it('a stranger can neither validate, nor settle, nor withdraw, nor price', async () => {
    const calls: Hex[] = [
      callOf('postOp', [0, '0x', 0n, 0n]),
      callOf('withdraw', [people.stranger.address, 1n]),
      callOf('withdrawToken', [people.stranger.address, 1n]),
      callOf('setPrice', [1n, 0, 4_000_000_000]),
      callOf('unlockStake', []),
      callOf('withdrawStake', [people.stranger.address]),
    ]
    for (const data of calls)
      await expect(chain.client.call({ account: people.stranger, to: paymaster, data })).rejects.toThrow(
        /PaymasterUnauthorized|0x33b5d5ee|revert/,
      )
  })

  it('data of another form or for another token is refused', async () => {
    const signature = await permitOf(chain, account, 1n)
    const data = dataOf(1n, signature)
    const wrong: [Hex, RegExp][] = [
      [`0x01${data.slice(4)}`, /MalformedPaymasterData/],
      [slice(data, 0, 20), /MalformedPaymasterData/],
      [slice(data, 0, 53), /MalformedPaymasterData/],
      [dataOf(1n, signature, people.bob.address), /UnsupportedToken/],
    ]
    for (const [each, reason] of wrong)
      expect(await execute(chain, await paid(account, each))).toMatch(reason)
  })
})

describe('the price', () => {
  it('is set by the owner, within its bounds', async () => {
    const refused = [{ price: 0n }, { spread: 2_001 }, { lasting: 0n }, { lasting: 8n * 86_400n }]
    for (const each of refused) await expect(setPrice(chain, each)).rejects.toThrow(/PriceOutOfBounds/)
    await expect(setPrice(chain, { by: people.stranger })).rejects.toThrow(/PaymasterUnauthorized/)
    const read = (functionName: 'fetchPrice' | 'feeSpread') =>
      chain.client.readContract({ address: paymaster, abi, functionName })
    expect([await read('fetchPrice'), await read('feeSpread')]).toEqual([nativeTokenPrice, BigInt(feeSpread)])
  })

  it('refuses operations after its end', async () => {
    const snapshot = await chain.client.snapshot()
    await setPrice(chain, { lasting: 60n })
    await chain.client.increaseTime({ seconds: 120 })
    await chain.client.mine({ blocks: 1 })
    expect(await execute(chain, await permitted(chain, account))).toBe('AA32 paymaster expired or not due')
    await setPrice(chain)
    expect(await execute(chain, await permitted(chain, account))).toMatchObject([{ success: true }])
    await chain.client.revert({ id: snapshot })
  })

  it('does not change between the halves of an operation', async () => {
    const value = 50_000000n
    const mine = await openAccount(chain)
    const operations = [await permitted(chain, mine, { value })]
    const { outcome } = await changesOf(() => executeBy(chain, people.owner, entryPoint, operations), mine)
    expect(outcome).toMatchObject([{ success: true }])
    expect((await toldIn(chain))[0]!.nativeTokenPrice).toBe(nativeTokenPrice)
  })
})

describe('the owner', () => {
  it('takes out what accounts paid and the deposit, and both to where it says', async () => {
    const income = await balanceOf(chain, paymaster)
    const to = people.stranger.address
    const owner = people.owner
    await chain.client.sendTransactionSync({
      account: owner,
      to: paymaster,
      data: callOf('withdrawToken', [to, income]),
    })
    expect([await balanceOf(chain, paymaster), await balanceOf(chain, to)]).toEqual([0n, income])
    const before = await chain.client.getBalance({ address: to })
    const deposit = await depositOf(chain)
    await chain.client.sendTransactionSync({
      account: owner,
      to: paymaster,
      data: callOf('withdraw', [to, deposit]),
    })
    expect((await chain.client.getBalance({ address: to })) - before).toBe(deposit)
    expect(await execute(chain, await permitted(chain, account))).toBe('AA31 paymaster deposit too low')
  })

  it('stakes, and takes the stake back after its delay', async () => {
    const { client } = chain
    const stake = { account: people.owner, address: paymaster, abi } as const
    await client.writeContractSync({ ...stake, functionName: 'addStake', args: [1], value: parseEther('1') })
    await client.writeContractSync({ ...stake, functionName: 'unlockStake' })
    await client.increaseTime({ seconds: 2 })
    const before = await client.getBalance({ address: people.bob.address })
    const args = [people.bob.address] as const
    await client.writeContractSync({ ...stake, functionName: 'withdrawStake', args })
    expect((await client.getBalance({ address: people.bob.address })) - before).toBe(parseEther('1'))
  })
})
