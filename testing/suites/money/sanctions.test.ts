/**
 * Property 115: value goes to no listed address by a detour: through another chain, inside a call, by a signature, or by a
 * delivery of this server. What a listed address sent through another chain waits for an operator.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { encodeFunctionData } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { burnIntentDomain } from '#chains/crosschain/burn-intent-typed-data'
import { forwardHookData } from '#chains/crosschain/forward-hook'
import { transferSpecFields } from '#chains/crosschain/transfer-spec'
import { stablecoinAbi } from '#chains/evm/abi/stablecoin'
import { messageTransmitterV2Abi } from '#chains/evm/crosschain/artifacts/message-transmitter-v2'
import { parseScreenedAddress } from '#chains/screening-chains'
import { addEntry, removeEntry } from '#engines/compliance/lists/index'
import { hexOf } from '#lib/hex'
import { sql } from '#runtime/db/db'
import {
  burner,
  type CrosschainMessages,
  crosschainMessages,
  domainOf,
  type Hex,
  messageTransmitter,
  wordOf,
} from '#testing/builders/burns'
import { detoursBetween, zero } from '#testing/builders/detours'
import { addressOwner, openModularAccount, usdcPayment } from '#testing/builders/modular-accounts'
import {
  greatest,
  intentOf,
  jsonOfIntent,
  people,
  signedIntent,
  specOf,
  type UnifiedBalances,
  unifiedBalances,
  wallet as unifiedWallet,
} from '#testing/builders/unified-balances'
import { freshAddress, type World, worldOf } from '#testing/builders/world'
import { entryPoint, pageRequests, prepared, signed } from '#testing/pages/page-operations'
import type { TestChain } from '#testing/platform/chain'
import { countAlarm } from '#testing/platform/count-alarm'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { openReceiver } from '#testing/servers/receiver'

let harness: Harness
let world: World
let messages: CrosschainMessages
let unified: UnifiedBalances
let base: TestChain
let avalanche: TestChain
const [alice, bob] = people.slice(3) as [(typeof people)[0], (typeof people)[0]]
/** An address as accounts have, unlike those of the builders: small numbers in arguments are no addresses. */
const listed = hexOf(randomBytes(20))

const { ask, sponsor } = pageRequests(() => harness)

beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'AVAX-FUJI'] })
  world = worldOf(harness)
  messages = crosschainMessages(harness)
  unified = unifiedBalances(harness)
  base = harness.chain('BASE-SEPOLIA')
  avalanche = harness.chain('AVAX-FUJI')
  await world.fundedWallet()
  await unified.fund(base, alice.address, 100_000_000n, '100')
  await list(listed)
})
afterAll(() => harness?.close())

const operator = () => ({ database: harness.database, clock: harness.ctx.clock, actor: 'operator' })
const entryOf = (address: string) => ({
  list: 'block',
  entry: parseScreenedAddress('AVAX-FUJI', address)!,
  reason: 'a test',
})
const list = (address: string) => addEntry(operator(), entryOf(address))
const unlist = (address: string) => removeEntry(operator(), entryOf(address))

const detours = detoursBetween(() => ({ source: base, destination: avalanche }))

const keyed = async () => ({
  idempotencyKey: randomUUID(),
  entitySecretCiphertext: await harness.sealSecret(),
  walletId: (await world.fundedWallet()).id,
})

/** Asks for the call, and waits until it is screened. */
async function executed(contractAddress: string, callData: Hex) {
  const { id } = await world.call('POST', '/v1/w3s/developer/transactions/contractExecution', {
    ...(await keyed()),
    contractAddress,
    callData,
    feeLevel: 'MEDIUM',
  })
  const read = async () => (await world.call('GET', `/v1/w3s/transactions/${id}`)).transaction
  await until(async () => (await read()).transactionScreeningEvaluation !== undefined, 'the call is screened')
  return { id, ...(await read()) }
}

const attemptsOf = async (id: string) =>
  (
    await harness.database.one<{ n: number }>(sql`select count(*)::integer as n from attempts
    where transaction_id = ${id}`)
  ).n

describe('property 115: a call is DENIED where it gives a listed address', () => {
  it.each(Object.keys(detours))('%s', async (detour) => {
    const denied = await executed(...detours[detour]!(listed))
    expect(denied).toMatchObject({
      state: 'DENIED',
      transactionScreeningEvaluation: { ruleName: 'Your blocklist' },
    })
    expect(await attemptsOf(denied.id)).toBe(0)
    expect((await executed(...detours[detour]!(freshAddress() as Hex))).state).not.toBe('DENIED')
  })

  it('the coins of a message', async () => {
    const hash = await messages.burn(base, avalanche, { to: listed })
    const { message, attestation } = await messages.attested(base, hash)
    const data = encodeFunctionData({
      abi: messageTransmitterV2Abi,
      functionName: 'receiveMessage',
      args: [message, attestation],
    })
    expect((await executed(messageTransmitter, data)).state).toBe('DENIED')
  })
})

describe('property 115: a signature is refused', () => {
  const field = (text: string) => ({ name: text.split(' ')[1]!, type: text.split(' ')[0]! })
  const data = (domain: object, primaryType: string, types: Record<string, string[]>, message: object) =>
    JSON.stringify({
      domain,
      primaryType,
      message,
      types: Object.fromEntries(Object.entries(types).map(([name, fields]) => [name, fields.map(field)])),
    })
  const token = () => ({ name: 'USDC', version: '2', chainId: 84532, verifyingContract: base.tokens.USDC })
  const permit2 = () => ({
    name: 'Permit2',
    chainId: 84532,
    verifyingContract: '0x000000000022d473030f116ddee9f6b43ac78ba3',
  })
  const contents: Record<string, (to: Hex) => string> = {
    'that spends a unified balance for a listed address': (to) => {
      const intent = intentOf(specOf(base, avalanche, alice.address, { destinationRecipient: wordOf(to) }))
      return data(
        burnIntentDomain,
        'BurnIntent',
        {
          TransferSpec: transferSpecFields.map(([name, type]) => `${type} ${name}`),
          BurnIntent: ['uint256 maxBlockHeight', 'uint256 maxFee', 'TransferSpec spec'],
        },
        { ...jsonOfIntent(intent), spec: { ...jsonOfIntent(intent).spec, hookData: '0x' } },
      )
    },
    'that lets a listed address be paid (EIP-3009)': (to) =>
      data(
        token(),
        'TransferWithAuthorization',
        {
          TransferWithAuthorization: [
            'address from',
            'address to',
            'uint256 value',
            'uint256 validAfter',
            'uint256 validBefore',
            'bytes32 nonce',
          ],
        },
        { from: freshAddress(), to, value: '1', validAfter: '0', validBefore: '9', nonce: zero },
      ),
    'that lets it take a token (EIP-2612)': (to) =>
      data(
        token(),
        'Permit',
        {
          Permit: ['address owner', 'address spender', 'uint256 value', 'uint256 nonce', 'uint256 deadline'],
        },
        { owner: freshAddress(), spender: to, value: '1', nonce: '0', deadline: '9' },
      ),
    'that lets it take tokens through Permit2, in a batch': (to) =>
      data(
        permit2(),
        'PermitBatch',
        {
          PermitBatch: ['PermitDetails[] details', 'address spender', 'uint256 sigDeadline'],
          PermitDetails: ['address token', 'uint160 amount', 'uint48 expiration', 'uint48 nonce'],
        },
        {
          details: [{ token: base.tokens.USDC, amount: '1', expiration: '9', nonce: '0' }],
          spender: to,
          sigDeadline: '9',
        },
      ),
    'that is a transfer through Permit2, whose witness names it': (to) =>
      data(
        permit2(),
        'PermitWitnessTransferFrom',
        {
          PermitWitnessTransferFrom: [
            'TokenPermissions permitted',
            'address spender',
            'uint256 nonce',
            'uint256 deadline',
            'Order witness',
          ],
          TokenPermissions: ['address token', 'uint256 amount'],
          Order: ['bytes32 recipient'],
        },
        {
          permitted: { token: base.tokens.USDC, amount: '1' },
          spender: freshAddress(),
          nonce: '0',
          deadline: '9',
          witness: { recipient: wordOf(to) },
        },
      ),
    'that writes it as a number': (to) =>
      data(
        token(),
        'Trade',
        { Trade: ['uint256 taker', 'uint160[] makers'] },
        { taker: '7', makers: ['7', BigInt(to).toString()] },
      ),
    'that names it within a text': (to) =>
      data(token(), 'Withdraw', { Withdraw: ['string terms'] }, { terms: `all coins to ${to}, at once` }),
    'whose bytes are code that pays it': (to) =>
      data(token(), 'Run', { Run: ['bytes program'] }, { program: `0x5f5f5f5f4773${to.slice(2)}5af1` }),
    'of a form that is unknown here, which names it': (to) =>
      data(
        token(),
        'Order',
        { Order: ['address maker', 'Item[] items'], Item: ['uint256 amount', 'address receiver'] },
        { maker: freshAddress(), items: [{ amount: '1', receiver: to }] },
      ),
  }
  it.each(Object.keys(contents))('%s', async (name) => {
    const sign = async (to: Hex) => {
      const { walletId, entitySecretCiphertext } = await keyed()
      const body = { walletId, entitySecretCiphertext, data: contents[name]!(to) }
      const answer = await harness.http('POST', '/v1/w3s/developer/sign/typedData', { body })
      return [answer.status, answer.body.code]
    }
    expect(await sign(freshAddress() as Hex)).toEqual([200, undefined])
    expect(await sign(listed)).toEqual([403, 155901])
  })
})

describe('property 115: an operation of a modular wallet', () => {
  it('is not paid for with any of these calls in its batch, nor carried when its recipient is listed after that', async () => {
    const { account, bundler } = await openModularAccount(harness, harness)
    const good = await prepared(bundler, [usdcPayment(harness, freshAddress())])
    const refused = async (to: Hex) => {
      const codes: [string, number | undefined][] = []
      for (const [name, detour] of Object.entries(detours)) {
        const [contract, data] = detour(to)
        const calls = [usdcPayment(harness, freshAddress()), { to: contract as Hex, data }]
        const { error } = await sponsor({ ...good, callData: await account.encodeCalls(calls) })
        codes.push([name, error?.code])
      }
      return codes
    }
    expect(await refused(listed)).toEqual(Object.keys(detours).map((name) => [name, -32006]))
    expect(await refused(freshAddress() as Hex)).toEqual(
      Object.keys(detours).map((name) => [name, undefined]),
    )
    const owner = addressOwner()
    const created = await openModularAccount(harness, harness, owner)
    const first = await prepared(created.bundler, [usdcPayment(harness, freshAddress())])
    await list(owner.address)
    expect((await sponsor(first)).error?.code).toBe(-32006)
    await unlist(owner.address)
    expect((await sponsor(first)).error).toBeUndefined()
    const later = freshAddress()
    const operation = await prepared(bundler, [usdcPayment(harness, later)])
    const sent = await signed(account, operation)
    await list(later)
    const { error } = await ask('eth_sendUserOperation', [sent, entryPoint])
    expect(error.code).toBe(-32006)
  })
})

describe('property 115: this server delivers nothing', () => {
  it('to a listed address, nor where the hook names one: the message says why, and others are delivered', async () => {
    const options = { maxFee: 300_000n, hookData: forwardHookData }
    const to = freshAddress() as Hex
    const hook = await messages.burn(base, avalanche, {
      ...options,
      to,
      hookData: `${forwardHookData}${listed.slice(2)}`,
    })
    const recipient = await messages.burn(base, avalanche, { ...options, to: listed })
    for (const hash of [hook, recipient]) {
      const message = await messages.messageWhen(base, hash, ({ forwardState }) => forwardState === 'FAILED')
      expect(message.forwardFailureReason).toContain('screening denies it (Your blocklist)')
    }
    expect(await messages.usdcOf(avalanche, listed)).toBe(0n)
    expect(await messages.usdcOf(avalanche, to)).toBe(0n)
    const other = await messages.burn(base, avalanche, options)
    await messages.messageWhen(base, other, ({ forwardState }) => forwardState === 'COMPLETE')
  })
})

describe('property 115: a unified balance', () => {
  const spec = (changes: object = {}) => specOf(base, avalanche, alice.address, changes)
  const counts = () =>
    harness.database.one(sql`select (select count(*) from unified_transfers) as transfers,
      (select count(*) from attestation_signatures) as signatures, (select sum(available) from unified_balances) as sum`)

  it('is not spent for a listed recipient, caller or hook, nor by a listed depositor or signer', async () => {
    const before = await counts()
    const refused = async (body: unknown) => {
      const { status, body: answer } = await unified.transfer(body)
      expect([status, answer.code, answer.message]).toEqual([
        403,
        178008,
        expect.stringContaining('Your blocklist'),
      ])
    }
    for (const changes of [
      { destinationRecipient: wordOf(listed) },
      { destinationCaller: wordOf(listed) },
      { hookData: `0x${listed.slice(2)}00` },
    ])
      await refused([await signedIntent(alice, intentOf(spec(changes)))])
    await unified.callWallet(base, alice.address, 'addDelegate', [base.tokens.USDC, bob.address])
    await list(bob.address)
    const byDelegate = [await signedIntent(bob, intentOf(spec({ sourceSigner: wordOf(bob.address) })))]
    await until(
      async () => (await unified.transfer(byDelegate)).body.code !== 178_003,
      'the block of the delegation is final',
    )
    await refused(byDelegate)
    await list(alice.address)
    await refused([await signedIntent(alice, intentOf(spec()))])
    for (const { address } of [alice, bob]) await unlist(address)
    expect(await counts()).toEqual(before)
    expect((await unified.transfer([await signedIntent(alice, intentOf(spec()))])).status).toBe(201)
  })

  it('that was attested before its recipient was listed is not minted by this server', async () => {
    const later = freshAddress() as Hex
    const { config } = harness.ctx
    const body = [
      await signedIntent(
        alice,
        intentOf(spec({ destinationRecipient: wordOf(later) }), { maxBlockHeight: greatest }),
      ),
    ]
    await harness.stopEngines()
    expect(config.crosschainEntity).toBeDefined()
    const { status, body: answer } = await unified.transfer(body, '?enableForwarder=true')
    expect(status).toBe(201)
    await list(later)
    harness.startEngines()
    await unified.untilState(answer.transferId, 'failed')
    expect((await unified.state(answer.transferId)).forwardingDetails.failureReason).toContain(
      'screening denies it (Your blocklist)',
    )
    expect(await messages.usdcOf(avalanche, later)).toBe(0n)
  })
})

describe('property 141: a deposit into a unified balance by a listed account', () => {
  it('does not count for its depositor until the account is listed no more', async () => {
    const [payer, owner] = people.slice(5) as [(typeof people)[0], (typeof people)[0]]
    await unified.fund(base, owner.address, 2_000_000n, '2')
    await list(payer.address)
    const held = countAlarm('deposit-held')
    await base.send(payer.address, 5_000_000n, 'USDC')
    const approval = {
      abi: stablecoinAbi,
      functionName: 'approve',
      args: [unifiedWallet, 5_000_000n],
    } as const
    await unified.send(base, payer.address, base.tokens.USDC, encodeFunctionData(approval))
    await unified.callWallet(base, payer.address, 'depositFor', [base.tokens.USDC, owner.address, 5_000_000n])
    await unified.pay(base, owner.address, 1_000_000n)
    await unified.shows(base, owner.address, '3')
    expect(held()).toBe(1)
    const { body } = await unified.http('POST', '/v1/deposits', {
      body: { token: 'USDC', sources: [{ depositor: owner.address, domain: domainOf(base) }] },
    })
    expect(body.deposits).toMatchObject([{ amount: expect.any(String), status: 'pending' }])
    const spent = intentOf(specOf(base, avalanche, owner.address, { value: 4_000_000n }))
    expect((await unified.transfer([await signedIntent(owner, spent)])).status).not.toBe(201)
    await unlist(payer.address)
    await base.mine()
    await unified.shows(base, owner.address, '8')
  })
})

describe('property 142: what the provider of screening has not cleared', () => {
  it('is neither carried for a page nor attested, and neither is what it denies', async () => {
    const provider = await openReceiver(async () => undefined)
    const answer = (actions: string[], status = 200) =>
      provider.behave(({ body }, response) =>
        response.writeHead(status).end(JSON.stringify({ ...JSON.parse(body), actions, ruleName: 'Theirs' })),
      )
    const { account, bundler } = await openModularAccount(harness, harness)
    const operation = await signed(account, await prepared(bundler, [usdcPayment(harness, freshAddress())]))
    const send = async () => (await ask('eth_sendUserOperation', [operation, entryPoint])).error?.code
    const spend = async (to: string) => {
      const spec = specOf(base, avalanche, alice.address, { destinationRecipient: wordOf(to as Hex) })
      return (await unified.transfer([await signedIntent(alice, intentOf(spec))])).status
    }
    harness.ctx.config.screeningUrl = provider.url
    try {
      answer(['APPROVE'], 500)
      const [unanswered, denied] = [freshAddress(), freshAddress()]
      expect([await send(), await spend(unanswered)]).toEqual([-32006, 403])
      answer(['APPROVE'])
      expect([await spend(unanswered), await spend(freshAddress())]).toEqual([201, 201])
      answer(['DENY'])
      expect([await send(), await spend(denied)]).toEqual([-32006, 403])
    } finally {
      harness.ctx.config.screeningUrl = undefined
      await provider.close()
    }
  })
})

describe('property 115: a refund', () => {
  it('to a listed address fails as denied, and its amount returns', async () => {
    const intent = await world.paidIntent()
    const { id } = await world.call('POST', `/v1/paymentIntents/${intent.id}/refund`, {
      idempotencyKey: randomUUID(),
      destination: { address: listed, chain: 'BASE' },
      amount: { currency: 'USD' },
      toAmount: { amount: '1.00', currency: 'USD' },
    })
    const read = () => world.call('GET', `/v1/payments/${id}`)
    await until(async () => (await read()).status !== 'pending', 'the refund has ended')
    expect(await read()).toMatchObject({
      status: 'failed',
      riskEvaluation: { decision: 'denied', reason: '3000' },
    })
    expect(await messages.usdcOf(base, listed)).toBe(0n)
    const { amountRefunded } = await world.call('GET', `/v1/paymentIntents/${intent.id}`)
    expect(amountRefunded.amount).toBe('0.00')
  })
})

describe('property 115: coins that a listed account burned on another chain', () => {
  const pending = async (): Promise<{ id: string; resource: string; ruleName: string }[]> =>
    (await harness.http('GET', '/operator/reviews?state=pending')).body.data

  it('wait for an operator where they arrive, at a wallet and at a deposit address', async () => {
    const { address, id } = await world.fundedWallet()
    const { depositAddress } = await world.paymentIntent()
    await list(burner)
    for (const to of [address, depositAddress] as Hex[]) {
      const hash = await messages.burn(avalanche, base, { to })
      const attested = await messages.attested(avalanche, hash)
      expect((await messages.deliver(base, attested, base.outsider)).ok).toBe(true)
    }
    await until(
      async () => (await pending()).filter(({ ruleName }) => ruleName === 'Your blocklist').length === 2,
      'both are under review',
    )
    const { transactions } = await world.call('GET', `/v1/w3s/transactions?walletIds=${id}&txType=INBOUND`)
    expect(transactions[0].transactionScreeningEvaluation).toMatchObject({ actions: ['REVIEW'] })
    expect((await pending()).map(({ resource }) => resource).sort()).toEqual(['payment', 'transaction'])
    await unlist(burner)
  })
})
