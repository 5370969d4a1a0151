/**
 * Property 115: value goes to no listed address by a detour: through another chain, inside a call, by a signature, or by a
 * delivery of this server. What a listed address sent through another chain waits for an operator.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { encodeFunctionData, parseAbi } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { burnIntentDomain } from '#chains/crosschain/burn-intent-typed-data'
import { forwardHookData } from '#chains/crosschain/forward-hook'
import { transferSpecFields } from '#chains/crosschain/transfer-spec'
import { stablecoinAbi } from '#chains/evm/abi/stablecoin'
import { messageTransmitterV2Abi } from '#chains/evm/crosschain/artifacts/message-transmitter-v2'
import { tokenMessengerV2Abi } from '#chains/evm/crosschain/artifacts/token-messenger-v2'
import { gatewayWalletAbi } from '#chains/evm/unified-balance/artifacts/gateway-wallet'
import { parseScreenedAddress } from '#chains/screening-chains'
import { addEntry, removeEntry } from '#engines/compliance/index'
import { hexOf } from '#lib/hex'
import { sql } from '#runtime/db/db'
import { freshAddress, type World, worldOf } from './builders.ts'
import {
  burner,
  type CrosschainMessages,
  crosschainMessages,
  domainOf,
  type Hex,
  messageTransmitter,
  tokenMessenger,
  wordOf,
} from './burns.ts'
import type { TestChain } from './chain.ts'
import { type Harness, openHarness } from './harness.ts'
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
} from './unified-balances.ts'
import { until } from './until.ts'

let harness: Harness
let world: World
let messages: CrosschainMessages
let unified: UnifiedBalances
let base: TestChain
let avalanche: TestChain
const [alice, bob] = people.slice(3) as [(typeof people)[0], (typeof people)[0]]
/** An address as accounts have, unlike those of the builders: small numbers in arguments are no addresses. */
const listed = hexOf(randomBytes(20))

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

const zero: Hex = `0x${'0'.repeat(64)}`
const encode = (signature: string | readonly string[], args: readonly unknown[]): Hex => {
  const abi = parseAbi([signature].flat() as readonly string[])
  return encodeFunctionData({ abi, args } as never)
}

type BurnChanges = { to?: Hex; caller?: Hex; hookData?: Hex }

function burnData({ to = freshAddress() as Hex, caller, hookData }: BurnChanges): Hex {
  const token = base.tokens.USDC as Hex
  const words = [wordOf(to), token, caller ? wordOf(caller) : zero] as const
  const args = [1_000_000n, domainOf(avalanche), ...words, 0n, 2_000] as const
  const abi = tokenMessengerV2Abi
  return hookData
    ? encodeFunctionData({ abi, functionName: 'depositForBurnWithHook', args: [...args, hookData] })
    : encodeFunctionData({ abi, functionName: 'depositForBurn', args })
}

/** Calls that pay the address, or give it power over value, each with the contract that is called. */
const detours: Record<string, (to: Hex) => [contract: string, data: Hex]> = {
  'a burn for it': (to) => [tokenMessenger, burnData({ to })],
  'a burn that it alone may deliver': (caller) => [tokenMessenger, burnData({ caller })],
  'a burn whose hook names it': (to) => [
    tokenMessenger,
    burnData({ hookData: `${forwardHookData}${to.slice(2)}a9059cbb` }),
  ],
  'a burn whose hook calls a token for it': (to) => [
    tokenMessenger,
    burnData({
      hookData: `${freshAddress() as Hex}${encode('function transfer(address,uint256)', [to, 1n]).slice(2)}`,
    }),
  ],
  'a burn within a batch': (to) => [
    freshAddress(),
    encode(
      [
        'struct Call3 { address target; bool allowFailure; bytes data; }',
        'function aggregate3(Call3[] calls)',
      ],
      [[{ target: tokenMessenger, allowFailure: false, data: burnData({ to }) }]],
    ),
  ],
  'a burn within a batch within an execution': (to) => [
    freshAddress(),
    encode('function execute(address,uint256,bytes)', [
      freshAddress(),
      0n,
      encode('function executeBatch(address[],uint256[],bytes[])', [
        [tokenMessenger],
        [0n],
        [burnData({ to })],
      ]),
    ]),
  ],
  'a burn by the bridge of clients': (to) => [
    freshAddress(),
    encode(
      [
        'struct Params { uint256 amount; uint256 maxFee; uint256 fee; bytes32 mintRecipient; bytes32 destinationCaller; address burnToken; address feeRecipient; uint32 destinationDomain; uint32 minFinalityThreshold; }',
        'function bridgeWithPreapproval(Params params)',
      ],
      [
        {
          ...{ amount: 1n, maxFee: 0n, fee: 0n, mintRecipient: wordOf(to), destinationCaller: zero },
          ...{ burnToken: base.tokens.USDC, feeRecipient: freshAddress() },
          ...{ destinationDomain: domainOf(avalanche), minFinalityThreshold: 2_000 },
        },
      ],
    ),
  ],
  'a deposit into its unified balance': (to) => [
    unifiedWallet,
    encodeFunctionData({
      abi: gatewayWalletAbi,
      functionName: 'depositFor',
      args: [base.tokens.USDC as Hex, to, 1n],
    }),
  ],
  'a right to spend a unified balance': (to) => [
    unifiedWallet,
    encodeFunctionData({
      abi: gatewayWalletAbi,
      functionName: 'addDelegate',
      args: [base.tokens.USDC as Hex, to],
    }),
  ],
  'an approval': (to) => [
    base.tokens.USDC,
    encodeFunctionData({ abi: stablecoinAbi, functionName: 'approve', args: [to, 1n] }),
  ],
  'an authorization of others that pays it': (to) => [
    base.tokens.USDC,
    encode(
      'function transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)',
      [freshAddress(), to, 1n, 0n, 9n, zero, 27, zero, zero],
    ),
  ],
  'a function that is unknown here': (to) => [
    freshAddress(),
    encode('function swapAndSend(uint256,address[],address)', [7n, [freshAddress()], to]),
  ],
}

const keyed = async () => ({
  idempotencyKey: randomUUID(),
  entitySecretCiphertext: await harness.sealSecret(),
  walletId: (await world.fundedWallet()).id,
})

/** Asks for the call, and waits until it is screened. */
async function executed(contractAddress: string, callData: Hex) {
  const { id } = await world.call('POST', '/v1/w3s/developer/transactions/contractExecution', {
    ...(await keyed()),
    ...{ contractAddress, callData, feeLevel: 'MEDIUM' },
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
      ...{ domain, primaryType, message },
      types: Object.fromEntries(Object.entries(types).map(([name, fields]) => [name, fields.map(field)])),
    })
  const token = () => ({ name: 'USDC', version: '2', chainId: 84532, verifyingContract: base.tokens.USDC })
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
            ...['address from', 'address to', 'uint256 value'],
            ...['uint256 validAfter', 'uint256 validBefore', 'bytes32 nonce'],
          ],
        },
        { from: freshAddress(), to, value: '1', validAfter: '0', validBefore: '9', nonce: zero },
      ),
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

describe('property 115: this server delivers nothing', () => {
  it('to a listed address, nor where the hook names one: the message says why, and others are delivered', async () => {
    const options = { maxFee: 300_000n, hookData: forwardHookData }
    const to = freshAddress() as Hex
    const hook = await messages.burn(base, avalanche, {
      ...{ ...options, to },
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
