/**
 * Operations of modular wallets as pages send them, with the published client and the bundler client of viem. What happened is
 * asserted by the chain.
 */
import { concat, type Hex, slice, toHex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseScreenedAddress } from '#chains/screening-chains'
import { addEntry } from '#engines/compliance/lists/index'
import { startModular } from '#engines/modular/index'
import { sql } from '#runtime/db/db'
import { checkLedger } from '#testing/builders/ledger-checks'
import {
  addressOwner,
  executeOperation,
  type ModularAccount,
  openModularAccount,
  usdcPayment,
} from '#testing/builders/modular-accounts'
import { separateEngines } from '#testing/builders/smart-accounts'
import { executeBesideSponsor } from '#testing/builders/strange-bundles'
import { freshAddress, worldOf } from '#testing/builders/world'
import {
  chainId,
  entryPoint,
  inHex,
  type Prepared,
  pageRequests,
  prepared,
  signed,
  withSponsor,
} from '#testing/pages/page-operations'
import { type Harness, openHarness } from '#testing/platform/harness'
import { httpAs } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { clientPasskey, makePasskey } from '../../../../contracts/test/accounts/keys.ts'

let harness: Harness
beforeAll(async () => {
  harness = await openHarness()
})
afterAll(() => harness?.close())

const { ask, refusal, sponsor, sponsoredAgain } = pageRequests(() => harness)
const payment = (to: string, amountAtomic?: bigint) => usdcPayment(harness, to, amountAtomic)
const accountOf = (owner: unknown) => openModularAccount(harness, harness, owner)
const byAddress = addressOwner
const executed = executeOperation

const balanceOf = (address: string) => harness.chain().oracle.balanceOf(address, harness.chain().tokens.USDC)

describe('an account of the published client', () => {
  it.each([
    ['an address', byAddress],
    ['a passkey', () => clientPasskey(makePasskey())],
  ])('of %s sends USDC without gas of its own, deployed by its first operation', async (_, owner) => {
    const { account, bundler } = await accountOf(owner())
    const recipients = [freshAddress(), freshAddress()]
    const first = await executed(bundler, [payment(recipients[0]!)])
    expect(first).toMatchObject({ success: true, sender: account.address.toLowerCase() })
    expect(first.logs).toHaveLength(1)
    expect(await account.isDeployed()).toBe(true)
    const batch = await executed(bundler, [payment(recipients[1]!), payment(recipients[1]!, 5n)])
    expect(batch.logs).toHaveLength(2)
    expect(await balanceOf(recipients[0]!)).toBe(1_000_000n)
    expect(await balanceOf(recipients[1]!)).toBe(1_000_005n)
    expect(await harness.chain().rpc('eth_getBalance', [account.address, 'latest'])).toBe('0x0')
    const { userOpHash, receipt } = batch
    const found = await bundler.getUserOperation({ hash: userOpHash })
    expect(found).toMatchObject({ transactionHash: receipt.transactionHash, blockHash: receipt.blockHash })
    expect(found.userOperation.sender.toLowerCase()).toBe(account.address.toLowerCase())
    await checkLedger(harness.database)
  })

  it('sends ten operations in parallel, each once', async () => {
    const { bundler, account } = await accountOf(byAddress())
    await executed(bundler, [payment(freshAddress())])
    const recipients = Array.from({ length: 10 }, freshAddress)
    const sent = await Promise.all(
      recipients.map(async (to, index) => {
        const nonce = await account.getNonce({ key: BigInt(index + 1_000) })
        return bundler.sendUserOperation({ calls: [payment(to)], nonce } as never)
      }),
    )
    for (const hash of sent)
      expect(await bundler.waitForUserOperationReceipt({ hash, pollingInterval: 100 })).toMatchObject({
        success: true,
      })
    for (const to of recipients) expect(await balanceOf(to)).toBe(1_000_000n)
  })

  it('fails an operation whose call reverts in its block, and tells so', async () => {
    const { bundler, account } = await accountOf(byAddress())
    await executed(bundler, [payment(freshAddress())])
    const callData = await account.encodeCalls([payment(freshAddress(), 10n ** 15n)])
    const beyond = { ...(await prepared(bundler, [payment(freshAddress())])), callData }
    const sent = await sponsoredAgain(account, beyond)
    const { result } = await ask('eth_sendUserOperation', [sent, entryPoint])
    expect(await bundler.waitForUserOperationReceipt({ hash: result, pollingInterval: 100 })).toMatchObject({
      success: false,
      reason: 'ERC20: transfer amount exceeds balance',
    })
    const reverting = { ...(await prepared(bundler, [payment(freshAddress())])), callGasLimit: 30_000n }
    const operation = await sponsoredAgain(account, reverting)
    const { result: hash } = await ask('eth_sendUserOperation', [operation, entryPoint])
    const receipt = await bundler.waitForUserOperationReceipt({ hash, pollingInterval: 100 })
    expect(receipt).toMatchObject({ success: false })
  })
})

describe('what is refused, with nothing spent', () => {
  it('bad fields, each by its name', async () => {
    const { bundler } = await accountOf(byAddress())
    const good: Record<string, unknown> = inHex(await prepared(bundler, [payment(freshAddress())]))
    const bad: [object, RegExp][] = [
      [{ sender: '0x12' }, /params\[0\]\.sender must be an address/],
      [{ nonce: -1 }, /params\[0\]\.nonce must be a quantity/],
      [{ callData: '0x1' }, /params\[0\]\.callData must be 0x/],
      [{ callGasLimit: `0x1${'0'.repeat(30)}` }, /callGasLimit must be less than 2 to the power of 40/],
      [{ preVerificationGas: '0x0' }, /preVerificationGas must be at least \d+/],
      [{ callGasLimit: '0x0' }, /callGasLimit must be above 0/],
      [{ verificationGasLimit: '0x0' }, /verificationGasLimit must be above 0/],
      [{ nonce: 1.5 }, /params\[0\]\.nonce must be a quantity/],
      [{ nonce: `0x1${'0'.repeat(64)}` }, /params\[0\]\.nonce must be a quantity/],
      [{ sender: String(good['sender']).toUpperCase() }, /params\[0\]\.sender must be an address/],
      [{ callGasLimit: '0xffffff' }, /callGasLimit makes \d+ gas/],
      [{ maxFeePerGas: '0x0', maxPriorityFeePerGas: '0x0' }, /maxFeePerGas must be above 0/],
      [{ maxFeePerGas: '0xffffffffffffff' }, /maxFeePerGas must be at most \d+/],
      [{ preVerificationGas: '0xf4240' }, /preVerificationGas must be at most \d+/],
      [{ verificationGasLimit: '0x3d0900' }, /verificationGasLimit must be at most \d+/],
      [{ factoryData: undefined }, /factoryData must be 0x/],
      [{ factory: undefined }, /params\[0\]\.factory is missing/],
      [{ factory: freshAddress() }, /do not create params\[0\]\.sender/],
      [
        { sender: freshAddress(), factory: undefined, factoryData: undefined },
        /sender is no account of this endpoint/,
      ],
      [{ sender: freshAddress() }, /do not create params\[0\]\.sender/],
      [{ initCode: '0x1234' }, /initCode is of EntryPoint 0.6/],
    ]
    for (const [change, message] of bad)
      expect(await refusal('pm_getPaymasterData', [{ ...good, ...change }, entryPoint, chainId, {}])).toEqual(
        [-32602, expect.stringMatching(message)],
      )
    expect(await refusal('pm_getPaymasterData', [good, freshAddress(), chainId])).toEqual([
      -32602,
      expect.stringMatching(/params\[1\] must be the EntryPoint/),
    ])
    expect(await refusal('pm_getPaymasterData', [good, entryPoint, '0x1'])).toEqual([
      -32602,
      expect.stringMatching(/params\[2\] must be the id of this chain, 0x14a34/),
    ])
  })

  it('operations that another sponsored, that were changed, forged or replayed', async () => {
    const { bundler, account } = await accountOf(byAddress())
    const stranger = await accountOf(byAddress())
    const to = freshAddress()
    const operation = await sponsoredAgain(account, await prepared(bundler, [payment(to)]))
    const send = (change: object) =>
      refusal('eth_sendUserOperation', [{ ...operation, ...change }, entryPoint])
    const dearer = { maxFeePerGas: `0x${(BigInt(operation['maxFeePerGas'] as string) + 1n).toString(16)}` }
    expect(await send(dearer)).toEqual([-32507, expect.stringContaining('AA24')])
    expect((await send({ paymaster: undefined, paymasterData: undefined }))[0]).toBe(-32501)
    expect((await send({ paymaster: freshAddress() }))[0]).toBe(-32501)
    const others = await sponsoredAgain(stranger.account, await prepared(stranger.bundler, [payment(to)]))
    expect((await send({ paymasterData: others['paymasterData'] }))[0]).toBe(-32507)
    const resigned = await signed(account, { ...fromHex(operation), ...dearer } as never)
    expect(await refusal('eth_sendUserOperation', [resigned, entryPoint])).toEqual([
      ...[-32501, expect.stringContaining('AA34')],
    ])
    for (const signature of [
      highS(operation['signature'] as Hex),
      await otherChain(account, operation),
      '0x',
    ])
      expect(await send({ signature })).toEqual([-32507, expect.stringMatching(/AA2[34]/)])
    const later = {
      ...(await prepared(bundler, [payment(to)])),
      nonce: BigInt(operation['nonce'] as string) + 5n,
    }
    expect(
      await refusal('eth_sendUserOperation', [await sponsoredAgain(account, later), entryPoint]),
    ).toEqual([...[-32500, expect.stringContaining('AA25')]])
    const forged = await signed(stranger.account, (await prepared(bundler, [payment(to)])) as never)
    expect(await send({ signature: forged['signature'] })).toEqual([-32507, expect.stringContaining('AA24')])
    const other = await harness.newEntity()
    expect(await refusal('eth_sendUserOperation', [operation, entryPoint], other.clientKey)).toEqual([
      -32501,
      expect.stringContaining('pm_getPaymasterData'),
    ])
    const { result: hash } = await ask('eth_sendUserOperation', [operation, entryPoint])
    await bundler.waitForUserOperationReceipt({ hash, pollingInterval: 100 })
    const again = await ask('eth_sendUserOperation', [operation, entryPoint])
    expect(again.result).toBe(hash)
    expect(await balanceOf(to)).toBe(1_000_000n)
    const reused = await sponsoredAgain(account, {
      ...(await prepared(bundler, [payment(to)])),
      nonce: BigInt(operation['nonce'] as string),
    })
    expect(await refusal('eth_sendUserOperation', [reused, entryPoint])).toEqual([
      -32500,
      expect.stringContaining('AA25'),
    ])
  })

  it('a body that is larger than a page needs, such as one with 200 calls', async () => {
    const { account } = await accountOf(byAddress())
    const callData = await account.encodeCalls(Array.from({ length: 200 }, () => payment(freshAddress())))
    const body = {
      jsonrpc: '2.0',
      id: 1,
      method: 'eth_sendUserOperation',
      params: [{ callData }, entryPoint],
    }
    const { status } = await httpAs(harness.url, harness.clientKey)('POST', '/v1/rpc/w3s/buidl/baseSepolia', {
      body,
    })
    expect(status).toBe(413)
  })

  it('a call that reverts, when it is estimated', async () => {
    const { bundler } = await accountOf(byAddress())
    const good = inHex(await prepared(bundler, [payment(freshAddress())]))
    const { account } = bundler
    const callData = await account.encodeCalls([payment(freshAddress(), 10n ** 15n)])
    expect(await refusal('eth_estimateUserOperationGas', [{ ...good, callData }, entryPoint])).toEqual([
      -32521,
      expect.stringContaining('exceeds balance'),
    ])
  })

  it('a recipient that screening denies', async () => {
    const { bundler } = await accountOf(byAddress())
    const listed = freshAddress()
    const good = inHex(await prepared(bundler, [payment(listed)]))
    await addEntry(
      { database: harness.database, clock: harness.ctx.clock, actor: 'operator' },
      { list: 'block', entry: parseScreenedAddress('BASE-SEPOLIA', listed)!, reason: 'test' },
    )
    expect((await refusal('pm_getPaymasterData', [good, entryPoint, chainId]))[0]).toBe(-32006)
  })

  it('property 143: a promise leaves nothing behind, whatever account it is for', async () => {
    const known = await accountOf(byAddress())
    await executed(known.bundler, [payment(freshAddress())])
    const rows = () =>
      harness.database.one(sql`select (select count(*) from modular_wallets) as wallets,
        (select count(*) from managed_addresses) as addresses, (select count(*) from sponsorships) as promises`)
    const before = await rows()
    const { bundler, account } = await accountOf(byAddress())
    const good = await prepared(bundler, [payment(freshAddress())])
    expect((await sponsor(good)).error).toBeUndefined()
    expect(await rows()).toEqual(before)
    const forged = {
      ...(await signed(account, good)),
      signature: (await signed(known.account, good))['signature'],
    }
    expect((await refusal('eth_sendUserOperation', [forged, entryPoint]))[0]).toBe(-32507)
    expect(await rows()).toEqual(before)
    expect((await executed(bundler, [payment(freshAddress())])).success).toBe(true)
  })

  it('property 77: gas beyond the limits of a wallet within a day, which others do not feel', async () => {
    const { account, bundler } = await accountOf(byAddress())
    await executed(bundler, [payment(freshAddress())])
    const good = await prepared(bundler, [payment(freshAddress())])
    const keyed = (key: number): Prepared => ({ ...good, nonce: BigInt(key) << 64n })
    const { config } = harness.ctx
    const before = config.sponsoredGasPerWallet
    config.sponsoredGasPerWallet = 5_000_000
    await harness.stopEngines()
    try {
      // Promises take nothing, however often a stranger asks: they cannot be used without a signature of the owner.
      const promised = await Promise.all([1, 2, 3, 4, 5, 6, 6, 6].map((key) => sponsor(keyed(key))))
      for (const { error } of promised) expect(error).toBeUndefined()
      const operations = await Promise.all(
        promised
          .slice(0, 6)
          .map(({ result }, index) => signed(account, withSponsor(keyed(index + 1), result))),
      )
      const answers = await Promise.all(
        operations.map((operation) => ask('eth_sendUserOperation', [operation, entryPoint])),
      )
      const refused = answers.filter(({ error }) => error?.code === -32504)
      expect(refused.length).toBeGreaterThan(0)
      expect(answers.length - refused.length).toBe(answers.filter(({ result }) => result).length)
      expect(refused[0].error.message).toMatch(/of the 5000000 of this wallet that are paid for/)
      const { gas } = await harness.database.one<{
        gas: bigint
      }>(sql`select sum(coalesce(s.gas_used, s.gas)) as gas from sponsorships s
        join modular_wallets w on w.entity_id = s.entity_id and w.id = s.wallet_id
        where w.address = ${account.address.toLowerCase()}`)
      expect(gas).toBeLessThanOrEqual(5_000_000n)
      expect((await sponsor(keyed(7))).error.code).toBe(-32504)
      harness.startEngines()
      const another = await accountOf(byAddress())
      expect((await executed(another.bundler, [payment(freshAddress())])).success).toBe(true)
    } finally {
      config.sponsoredGasPerWallet = before
      harness.startEngines()
    }
  })
})

/** The other signature of the same key for the same hash. */
function highS(signature: Hex): Hex {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const s = toHex(order - BigInt(slice(signature, 32, 64)), { size: 32 })
  const v = Number(slice(signature, 64, 65))
  return concat([slice(signature, 0, 32), s, toHex(v % 2 === 1 ? v + 1 : v - 1)])
}

/** The signature of the operation as one of another chain. */
const otherChain = (account: ModularAccount, operation: object): Promise<Hex> =>
  account.signUserOperation({ ...fromHex(operation), chainId: 1 } as never)

const fromHex = (operation: object) =>
  Object.fromEntries(
    Object.entries(operation).map(([name, value]) => [
      name,
      /gas|nonce/i.test(name) ? BigInt(value as string) : value,
    ]),
  )

/** Code that accepts any operation where gas costs nothing, as in a simulation, and reverts in a block. */
const spoilingCode = '0x3a60085760205ff35b5f5ffd'

describe('property 79: an operation of a modular wallet has its effect once', () => {
  it('though its block is orphaned', async () => {
    const { bundler } = await accountOf(byAddress())
    const to = freshAddress()
    const { userOpHash, receipt } = await executed(bundler, [payment(to)])
    await harness.chain().reorgFrom(Number(receipt.blockNumber))
    await until(async () => {
      const found = await ask('eth_getUserOperationReceipt', [userOpHash])
      return found.result && found.result.receipt.blockHash !== receipt.blockHash
    }, 'it is in another block')
    expect(await balanceOf(to)).toBe(1_000_000n)
  })

  it('another operation with its nonce takes effect, which was sent while its block was orphaned', async () => {
    const { bundler, account } = await accountOf(byAddress())
    const recipients = [freshAddress(), freshAddress()] as const
    const { userOpHash: first, nonce, receipt } = await executed(bundler, [payment(recipients[0])])
    await harness.stopEngines()
    await harness.chain().reorgFrom(Number(receipt.blockNumber))
    const again = { ...(await prepared(bundler, [payment(recipients[1])])), nonce }
    const { result: second } = await ask('eth_sendUserOperation', [
      await sponsoredAgain(account, again),
      entryPoint,
    ])
    const stateOf = async (hash: string) =>
      (await harness.http('GET', `/v1/w3s/buidl/userOps?userOpHash=${hash}`)).body.data.userOperations[0]
        .state
    const engines = separateEngines(worldOf(harness))
    engines.start('indexer')
    const modular = startModular(harness.ctx)
    await until(async () => (await stateOf(first)) === 'FAILED', 'the later one waits in its place')
    await modular.stop()
    await engines.stop('indexer')
    harness.startEngines()
    await until(
      async () => (await Promise.all([first, second].map(stateOf))).toSorted().join() === 'COMPLETE,FAILED',
      'one has its effect',
    )
    const paid = (await stateOf(first)) === 'COMPLETE' ? 0 : 1
    expect(await balanceOf(recipients[paid])).toBe(1_000_000n)
    expect(await balanceOf(recipients[1 - paid]!)).toBe(0n)
  })

  it('though another bundler executes it, and no bundle of the treasury carries it then', async () => {
    const { bundler, account } = await accountOf(byAddress())
    await executed(bundler, [payment(freshAddress())])
    const engines = separateEngines(worldOf(harness))
    await harness.stopEngines()
    try {
      const to = freshAddress()
      const operation = await sponsoredAgain(account, await prepared(bundler, [payment(to)]))
      const { result: hash } = await ask('eth_sendUserOperation', [operation, entryPoint])
      const chain = harness.ctx.chains.find('BASE-SEPOLIA')!
      await executeBesideSponsor(harness, chain.accounts!.modular.readOperation(operation, 'operation'))
      engines.start('indexer', 'transactions', 'treasury')
      const modular = startModular(harness.ctx)
      await bundler.waitForUserOperationReceipt({ hash, pollingInterval: 100 })
      await modular.stop()
      expect(await balanceOf(to)).toBe(1_000_000n)
    } finally {
      await engines.stop('treasury', 'transactions', 'indexer')
      harness.startEngines()
    }
  })

  it('though two entities serve its account, and each sends one with the same nonce', async () => {
    const other = await harness.newEntity()
    const owner = byAddress()
    const [mine, theirs] = [await accountOf(owner), await openModularAccount(harness, other, owner)]
    await executed(mine.bundler, [payment(freshAddress())])
    const recipients = [freshAddress(), freshAddress()]
    const good = await prepared(mine.bundler, [payment(recipients[0]!)])
    const callData = await theirs.account.encodeCalls([payment(recipients[1]!)])
    const operations = [
      await sponsoredAgain(mine.account, good),
      await sponsoredAgain(theirs.account, { ...good, callData }, other.clientKey),
    ]
    const keys = [harness.clientKey, other.clientKey]
    const sent = await Promise.all(
      operations.map((operation, index) =>
        ask('eth_sendUserOperation', [operation, entryPoint], keys[index]),
      ),
    )
    const hashes = sent.flatMap(({ result }) => (result ? [result as string] : []))
    await until(async () => {
      const left = await harness.database.all(sql`select 1 from user_operations
        where user_op_hash = any(${hashes}::text[]) and state not in ('COMPLETE', 'FAILED')`)
      return left.length === 0
    }, 'both have ended')
    const states = await harness.database.all<{ state: string }>(
      sql`select state from user_operations where user_op_hash = any(${hashes}::text[])`,
    )
    expect(states.filter(({ state }) => state === 'COMPLETE')).toHaveLength(1)
    const paid = await Promise.all(recipients.map(balanceOf))
    expect(paid.toSorted()).toEqual([0n, 1_000_000n])
  })

  it('has none when a stranger deploys its account before its bundle, and the next operation has its effect', async () => {
    const { bundler, account } = await accountOf(byAddress())
    await harness.stopEngines()
    const recipients = [freshAddress(), freshAddress()] as const
    const operation = await sponsoredAgain(account, await prepared(bundler, [payment(recipients[0])]))
    const { result: hash } = await ask('eth_sendUserOperation', [operation, entryPoint])
    const deployment = { to: operation['factory'], data: operation['factoryData'], gas: '0x300000' }
    const from = harness.chain().outsider
    await harness.chain().rpc('eth_sendTransaction', [{ from, ...deployment }])
    harness.startEngines()
    const stateOf = () =>
      harness.database.one<{ state: string; details: string | null }>(
        sql`select state, error_details as details from user_operations where user_op_hash = ${hash}`,
      )
    await until(async () => (await stateOf()).state === 'FAILED', 'it has failed')
    expect((await stateOf()).details).toContain('AA10')
    expect((await executed(bundler, [payment(recipients[1])])).success).toBe(true)
    expect([await balanceOf(recipients[0]), await balanceOf(recipients[1])]).toEqual([0n, 1_000_000n])
  })

  it('has none when its sponsorship ended before a bundle carried it', async () => {
    const { bundler, account } = await accountOf(byAddress())
    await executed(bundler, [payment(freshAddress())])
    await harness.stopEngines()
    const to = freshAddress()
    const operation = await sponsoredAgain(account, await prepared(bundler, [payment(to)]))
    const { result: hash } = await ask('eth_sendUserOperation', [operation, entryPoint])
    await harness.chain().rpc('evm_increaseTime', [3_600])
    await harness.chain().mine()
    harness.startEngines()
    await until(async () => {
      const { state } = await harness.database.one<{ state: string }>(
        sql`select state from user_operations where user_op_hash = ${hash}`,
      )
      return state === 'FAILED'
    }, 'it has failed')
    const { details } = await harness.database.one<{ details: string }>(
      sql`select error_details as details from user_operations where user_op_hash = ${hash}`,
    )
    expect(details).toContain('AA32')
    expect(await balanceOf(to)).toBe(0n)
  })

  it('though another one in its bundle tells blocks from simulations, which ends with what it cost counted', async () => {
    const [victim, spoiler] = [await accountOf(byAddress()), await accountOf(byAddress())]
    for (const { bundler } of [victim, spoiler]) await executed(bundler, [payment(freshAddress())])
    await harness.stopEngines()
    const to = freshAddress()
    const hashes: string[] = []
    for (const { account, bundler } of [spoiler, victim]) {
      const operation = await sponsoredAgain(account, await prepared(bundler, [payment(to)]))
      hashes.push((await ask('eth_sendUserOperation', [operation, entryPoint])).result)
    }
    await harness.chain().rpc('anvil_setCode', [spoiler.account.address, spoilingCode])
    harness.startEngines()
    const receipt = await victim.bundler.waitForUserOperationReceipt({
      hash: hashes[1] as Hex,
      timeout: 300_000,
    })
    expect(receipt.success).toBe(true)
    const stateOf = () =>
      harness.database.one<{ state: string; details: string | null; counted: bigint | null }>(
        sql`select u.state, u.error_details as details, s.gas_used as counted from user_operations u
          join sponsorships s on s.entity_id = u.entity_id and s.user_op_hash = u.user_op_hash where u.user_op_hash = ${hashes[0]!}`,
      )
    await until(async () => (await stateOf()).state === 'FAILED', 'the spoiler has failed')
    const { details, counted } = await stateOf()
    expect(details).toBe('2 bundles with it failed in their blocks')
    expect(counted).toBeGreaterThan(0n)
    expect(await balanceOf(to)).toBe(1_000_000n)
  })
})
