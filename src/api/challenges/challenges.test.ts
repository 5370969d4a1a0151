import { randomUUID } from 'node:crypto'
import { initiateUserControlledWalletsClient } from '@circle-fin/user-controlled-wallets'
import { getAddress, parseTransaction, recoverTransactionAddress, verifyMessage, verifyTypedData } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshAddress, type Wallet, type World, worldOf } from '#testing/builders/world'
import { deaths, whileDying } from '#testing/databases/dying-connection'
import {
  approve,
  approved,
  askPage,
  newSession,
  type PageSession,
  pin,
  questions,
  sealFields,
  shownChallenge,
} from '#testing/pages/page'
import { type Harness, openHarness } from '#testing/platform/harness'
import { rpc } from '#testing/platform/json-rpc'
import { until } from '#testing/platform/until'
import { openWebhookReceiver } from '#testing/servers/webhook-receiver'

let harness: Harness
let world: World
let client: ReturnType<typeof initiateUserControlledWalletsClient>
let session: PageSession
let wallet: Wallet

beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'ETH-SEPOLIA'] })
  world = worldOf(harness)
  client = initiateUserControlledWalletsClient({ apiKey: harness.apiKey, baseUrl: harness.url })
  session = await newSession(world)
  await initialize(session, ['BASE-SEPOLIA', 'ETH-SEPOLIA'])
  wallet = await walletOf(session, 'BASE-SEPOLIA')
  await harness.fundWallet(wallet.address, { usdc: '100', native: '1' })
})
afterAll(() => harness?.close())

type BlockchainName = 'BASE-SEPOLIA' | 'ETH-SEPOLIA'

async function initialize(of: PageSession, blockchains: BlockchainName[], accountType?: 'SCA') {
  const { data } = await client.createUserPinWithWallets({
    userToken: of.userToken,
    blockchains: blockchains as never,
    ...(accountType && { accountType }),
  })
  return approved(world, of, data!.challengeId!, [['N', pin], ...questions])
}

async function walletOf({ userToken }: PageSession, blockchain: string): Promise<Wallet> {
  const { wallets } = (await client.listWallets({ userToken, blockchain: blockchain as never })).data!
  return wallets![0] as Wallet
}

/** Makes a challenge by plain HTTP. */
async function ask(of: PageSession, method: string, path: string, body: object) {
  const answer = await harness.http(method, `/v1/w3s/user/${path}`, {
    body,
    headers: { 'X-User-Token': of.userToken },
  })
  return { status: answer.status, code: answer.body.code, id: answer.body.data?.challengeId as string }
}
const usdcOf = (address: string) => harness.chain().oracle.balanceOf(address, harness.chain().tokens.USDC)
/** What a spender may take of the wallet's USDC. */
async function allowanceOf(spender: string): Promise<bigint> {
  const { rpcUrl, tokens } = harness.chain()
  const words = [wallet.address, spender].map((address) => address.slice(2).padStart(64, '0'))
  const call = { to: tokens.USDC, data: `0xdd62ed3e${words.join('')}` }
  return BigInt(await rpc<string>(rpcUrl, 'eth_call', [call, 'latest']))
}
const keyed = (body: object) => ({ idempotencyKey: randomUUID(), ...body })

const transferTo = (destinationAddress: string, amount = '1') => ({
  walletId: wallet.id,
  tokenId: world.usdcId,
  destinationAddress,
  amounts: [amount],
  feeLevel: 'MEDIUM' as const,
})
const challengeOf = async (of: PageSession, id: string) =>
  (await client.getUserChallenge({ userToken: of.userToken, challengeId: id })).data!.challenge!
const transaction = async (id: string, state: string) => {
  // biome-ignore lint/suspicious/noExplicitAny: the client's type has no place for every field
  let found: any
  await until(async () => {
    found = (await client.getTransaction({ userToken: session.userToken, id })).data!.transaction
    return found.state === state
  }, `the transaction is ${state}`)
  return found
}

describe('a challenge of a user', () => {
  it('sets the PIN and the questions, and makes a wallet of one address on each blockchain', async () => {
    const { userToken, userId } = session
    const user = (await client.getUserStatus({ userToken })).data!
    expect(user).toMatchObject({ id: userId, pinStatus: 'ENABLED', securityQuestionStatus: 'ENABLED' })
    const { wallets } = (await client.listWallets({ userToken })).data!
    expect(wallets!.map(({ blockchain }) => blockchain).sort()).toEqual(['BASE-SEPOLIA', 'ETH-SEPOLIA'])
    expect(new Set(wallets!.map(({ address }) => address)).size).toBe(1)
    const { challenges } = (await client.listUserChallenges({ userToken })).data!
    expect(challenges).toEqual([expect.objectContaining({ type: 'INITIALIZE', status: 'COMPLETE' })])
    expect([...challenges![0]!.correlationIds!].sort()).toEqual(wallets!.map(({ id }) => id).sort())
    await expect(
      client.createUserPinWithWallets({ userToken, blockchains: [] as never }),
    ).rejects.toMatchObject({ response: { status: 400 } })
    expect(await ask(session, 'POST', 'initialize', keyed({}))).toMatchObject({ status: 409, code: 155106 })
    const [newcomer, nameless] = [await newSession(world), keyed({ metadata: [{ name: 'one' }] })]
    expect(await ask(newcomer, 'POST', 'initialize', nameless)).toMatchObject({ status: 400, code: 155504 })
  })

  it('pays when the PIN is right: the chain says so', async () => {
    const { userToken } = session
    const to = freshAddress()
    const { feeLevel, ...transfer } = transferTo(to, '2.5')
    const fee = { type: 'level', config: { feeLevel } } as const
    const made = await client.createTransaction({ userToken, ...transfer, fee })
    const id = made.data!.challengeId!
    expect(await challengeOf(session, id)).toMatchObject({ status: 'PENDING', type: 'CREATE_TRANSACTION' })
    const { needs, summary } = await shownChallenge(world, session, id)
    expect(needs).toBe('open')
    expect(summary.details).toEqual(
      expect.arrayContaining([
        { name: 'amount', label: 'Amount', value: '2.5 USDC' },
        { name: 'to', label: 'To', value: to },
      ]),
    )
    const paid = await client.listTransactions({ userToken, txType: 'OUTBOUND' } as never)
    expect(paid.data!.transactions).toEqual([])
    const { challenge } = await approved(world, session, id)
    expect(challenge).toMatchObject({ status: 'COMPLETE' })
    const { state, userId } = await transaction(challenge.correlationIds[0], 'COMPLETE')
    expect([state, userId]).toEqual(['COMPLETE', session.userId])
    expect(await usdcOf(to)).toBe(2_500_000n)
    // Approved again, it answers the same, and pays nothing.
    const again = await askPage(world, session, 'POST', `${id}/approval`, { purpose: 'open', submission: '' })
    expect(again.body.data.challenge).toEqual(challenge)
    expect(await usdcOf(to)).toBe(2_500_000n)
  })

  it('is made by POST /transactions/transfer with a user token, once for a key', async () => {
    const body = keyed(transferTo(freshAddress()))
    const headers = { 'X-User-Token': session.userToken }
    const made = await harness.http('POST', '/v1/w3s/transactions/transfer', { body, headers })
    expect([made.status, made.headers.get('x-request-id')]).toEqual([201, expect.any(String)])
    const again = await harness.http('POST', '/v1/w3s/user/transactions/transfer', { body, headers })
    expect([again.status, again.body]).toEqual([200, made.body])
    const bare = await harness.http('POST', '/v1/w3s/transactions/transfer', {
      body: keyed(transferTo(freshAddress())),
    })
    expect([bare.status, bare.body.errors[0].location]).toEqual([400, 'entitySecretCiphertext'])
  })

  it('calls a contract, and warns of an approval', async () => {
    const spender = freshAddress()
    const { USDC } = harness.chain().tokens
    const { data } = await client.createUserTransactionContractExecutionChallenge({
      userToken: session.userToken,
      walletId: wallet.id,
      contractAddress: USDC,
      abiFunctionSignature: 'approve(address,uint256)',
      abiParameters: [spender, String(2n ** 256n - 1n)],
      fee: { type: 'level', config: { feeLevel: 'HIGH' } },
    })
    const { summary } = await shownChallenge(world, session, data!.challengeId!)
    expect(summary.warnings.map(({ name }: { name: string }) => name)).toEqual(['approve'])
    expect(summary.details).toContainEqual({
      name: 'approval',
      label: 'Permission',
      value: `${spender} may take an unlimited amount of USDC`,
    })
    const { challenge } = await approved(world, session, data!.challengeId!)
    await transaction(challenge.correlationIds[0], 'COMPLETE')
    expect(await allowanceOf(spender)).toBe(2n ** 256n - 1n)
  })

  it('signs messages, typed data and transactions, and gives the result to the page alone', async () => {
    const { userToken } = session
    const address = wallet.address as `0x${string}`
    const message = 'hello <b>world</b>'
    const asked = (await client.signMessage({ userToken, walletId: wallet.id, message })).data!
    const { result } = await approved(world, session, asked.challengeId!)
    expect(await verifyMessage({ address, message, signature: result.signature })).toBe(true)
    expect(JSON.stringify(await challengeOf(session, asked.challengeId!))).not.toContain(result.signature)

    const typed = {
      domain: { name: 'Shop', chainId: 84532 },
      primaryType: 'Order' as const,
      types: {
        EIP712Domain: [
          { name: 'name', type: 'string' },
          { name: 'chainId', type: 'uint256' },
        ],
        Order: [{ name: 'item', type: 'string' }],
      },
      message: { item: 'tea' },
    } as const
    const data = JSON.stringify(typed)
    const ofTyped = (await client.signTypedData({ userToken, walletId: wallet.id, data })).data!
    const { result: typedResult } = await approved(world, session, ofTyped.challengeId!)
    expect(await verifyTypedData({ ...typed, address, signature: typedResult.signature } as never)).toBe(true)

    const transaction = JSON.stringify({
      to: freshAddress(),
      value: '1',
      gas: '21000',
      nonce: 900,
      chainId: 84532,
      maxFeePerGas: '2000000000',
      maxPriorityFeePerGas: '1000000000',
    })
    const ofTransaction = (await client.signTransaction({ userToken, walletId: wallet.id, transaction }))
      .data!
    const { result: signed } = await approved(world, session, ofTransaction.challengeId!)
    expect(parseTransaction(signed.signedTransaction).nonce).toBe(900)
    expect(await recoverTransactionAddress({ serializedTransaction: signed.signedTransaction })).toBe(
      getAddress(address),
    )
  })

  it('makes further wallets, with names of their own', async () => {
    const { userToken } = session
    const { data } = await client.createWallet({
      userToken,
      blockchains: ['BASE-SEPOLIA', 'ETH-SEPOLIA'] as never,
      metadata: [{ name: 'one', refId: 'r1' }, { name: 'two' }],
    })
    const { challenge } = await approved(world, session, data!.challengeId!)
    const names = await Promise.all(
      challenge.correlationIds.map(
        async (id: string) => (await client.getWallet({ userToken, id })).data!.wallet!.name,
      ),
    )
    expect(names).toEqual(['one', 'two'])
  })

  it('changes and restores the PIN', async () => {
    const of = await newSession(world)
    await initialize(of, ['BASE-SEPOLIA'])
    const { userToken } = of
    const change = (await client.updateUserPin({ userToken })).data!.challengeId!
    await approved(world, of, change, [
      ['P', pin],
      ['N', '714286'],
    ])
    const { id: asked } = await ask(of, 'POST', 'sign/message', {
      walletId: (await walletOf(of, 'BASE-SEPOLIA')).id,
      message: 'x',
    })
    const wrong = await approve(world, of, asked)
    expect([wrong.status, wrong.body.code]).toEqual([400, 155112])
    const restore = (await client.restoreUserPin({ userToken })).data!.challengeId!
    const { user } = await shownChallenge(world, of, restore)
    expect(user.questions).toEqual(questions.filter(([kind]) => kind === 'Q').map(([, text]) => text))
    await approved(world, of, restore, [
      ['A', ' ELM  street'],
      ['A', 'bruno'],
      ['N', pin],
    ])
    expect((await approved(world, of, asked)).challenge.status).toBe('COMPLETE')
  })

  it('locks the PIN after four wrong ones, and ends the lock by the clock', async () => {
    const of = await newSession(world)
    await initialize(of, ['BASE-SEPOLIA'])
    const { id } = await ask(of, 'POST', 'wallets', keyed({ blockchains: ['BASE-SEPOLIA'] }))
    const codes: number[] = []
    for (let count = 0; count < 5; count++)
      codes.push((await approve(world, of, id, [['P', '999000']])).body.code)
    expect(codes).toEqual([155112, 155112, 155112, 155119, 155119])
    expect((await client.getUserStatus({ userToken: of.userToken })).data!.pinStatus).toBe('LOCKED')
    expect((await challengeOf(of, id)).status).toBe('PENDING')
    harness.clock.moveMs(30 * 60_000)
    expect((await approved(world, of, id)).challenge.status).toBe('COMPLETE')
    harness.clock.moveMs(-30 * 60_000)
  })

  it('expires after an hour', async () => {
    const { id } = await ask(session, 'POST', 'transactions/transfer', keyed(transferTo(freshAddress())))
    const shown = await shownChallenge(world, session, id)
    harness.clock.moveMs(3_600_000)
    const later = await newSession(world, session.userId)
    expect((await challengeOf(later, id)).status).toBe('EXPIRED')
    const submission = sealFields(later, [shown.user.id, id, 'open'], [['P', pin]])
    const late = await askPage(world, later, 'POST', `${id}/approval`, { purpose: 'open', submission })
    expect([late.status, late.body.code]).toEqual([403, 155121])
    const pending = await harness.http('GET', '/v1/w3s/user/challenges', {
      query: { status: 'PENDING' },
      headers: { 'X-User-Token': later.userToken },
    })
    expect(pending.body.data.challenges.map((each: { id: string }) => each.id)).not.toContain(id)
    harness.clock.moveMs(-3_600_000)
    session = await newSession(world, session.userId)
  })

  it('fails with the error of what it asked for, and stays so', async () => {
    const { id } = await ask(
      session,
      'POST',
      'transactions/transfer',
      keyed(transferTo(freshAddress(), '5000')),
    )
    const refused = await approve(world, session, id)
    expect([refused.status, refused.body.code]).toEqual([400, 155201])
    expect(await challengeOf(session, id)).toMatchObject({
      status: 'FAILED',
      errorCode: 155201,
      errorMessage: expect.stringContaining('fund it'),
    })
    const { needs } = await shownChallenge(world, session, id)
    expect(needs).toBeUndefined()
    const again = await askPage(world, session, 'POST', `${id}/approval`, {
      purpose: 'open',
      submission: 'x',
    })
    expect([again.status, again.body.code]).toEqual([403, 155122])
  })
})

describe('property 91: an approved challenge is carried out once', () => {
  it('however often it is approved at once', async () => {
    const to = freshAddress()
    const { id } = await ask(session, 'POST', 'transactions/transfer', keyed(transferTo(to)))
    const { user } = await shownChallenge(world, session, id)
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        askPage(world, session, 'POST', `${id}/approval`, {
          purpose: 'open',
          submission: sealFields(session, [user.id, id, 'open'], [['P', pin]]),
        }),
      ),
    )
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    await transaction(answers[0]!.body.data.challenge.correlationIds[0], 'COMPLETE')
    expect(await usdcOf(to)).toBe(1_000_000n)
  })
})

describe.each(deaths)('property 91: when $name', ({ trigger }) => {
  it('a challenge is as before, and is approved by the next submission', async () => {
    const to = freshAddress()
    const { id } = await ask(session, 'POST', 'transactions/transfer', keyed(transferTo(to)))
    const lost = await whileDying(harness.connection, 'challenges', trigger, () =>
      approve(world, session, id),
    )
    expect(lost.status).toBeGreaterThanOrEqual(500)
    expect((await challengeOf(session, id)).status).toBe('PENDING')
    const { challenge } = await approved(world, session, id)
    await transaction(challenge.correlationIds[0], 'COMPLETE')
    expect(await usdcOf(to)).toBe(1_000_000n)
  })
})

describe('property 92: a challenge is approved by its own user, session and PIN alone', () => {
  it('refuses other users, sessions, challenges, purposes and repeated submissions', async () => {
    const other = await newSession(world)
    await initialize(other, ['BASE-SEPOLIA'])
    const [{ id }, { id: second }] = [
      await ask(session, 'POST', 'transactions/transfer', keyed(transferTo(freshAddress()))),
      await ask(session, 'POST', 'transactions/transfer', keyed(transferTo(freshAddress()))),
    ]
    const { user } = await shownChallenge(world, session, id)
    const bound = [user.id, id, 'open'] as const
    const sealed = sealFields(session, bound, [['P', pin]])
    const submit = async (by: PageSession, submission: string, purpose = 'open', at = id) => {
      const { status, body } = await askPage(world, by, 'POST', `${at}/approval`, { purpose, submission })
      return [status, body.code]
    }
    expect(await submit(other, sealed)).toEqual([404, 155116])
    expect((await askPage(world, other, 'GET', id)).status).toBe(404)
    expect(await submit(await newSession(world, session.userId), sealed)).toEqual([400, 155118])
    expect(await submit(session, sealed, 'open', second)).toEqual([400, 155118])
    expect(await submit(session, sealed, 'changePin')).toEqual([400, 155117])
    expect(await submit(session, sealFields(session, bound, [['N', pin]]))).toEqual([400, 155117])
    for (const text of ['', 'x', sealed.slice(4), `${sealed}\n`])
      expect(await submit(session, text)).toEqual([400, 155118])
    expect(await submit({ ...session, userToken: 'x' }, sealed)).toEqual([403, 155105])
    const wrong = sealFields(session, bound, [['P', '123999']])
    expect(await submit(session, wrong)).toEqual([400, 155112])
    expect(await submit(session, wrong)).toEqual([400, 155118])
    expect((await challengeOf(session, id)).status).toBe('PENDING')
    expect(await submit(session, sealed)).toEqual([200, undefined])
  })

  it('is not made for the wallet of another user, or of the developer', async () => {
    const other = await newSession(world)
    await initialize(other, ['BASE-SEPOLIA'])
    for (const { id } of [wallet, await world.wallet()]) {
      const answers = await Promise.all([
        ask(other, 'POST', 'transactions/transfer', keyed({ ...transferTo(freshAddress()), walletId: id })),
        ask(other, 'POST', 'sign/message', { walletId: id, message: 'x' }),
        ask(
          other,
          'POST',
          'transactions/contractExecution',
          keyed({ walletId: id, contractAddress: freshAddress(), callData: '0x', feeLevel: 'LOW' }),
        ),
      ])
      expect(answers.map(({ status, code }) => [status, code])).toEqual(Array(3).fill([404, 156001]))
    }
  })

  it('needs a user token, and says so', async () => {
    for (const path of [randomUUID(), `${randomUUID()}/approval`]) {
      const answer = await harness.http(path.includes('/') ? 'POST' : 'GET', `/page/challenges/${path}`, {
        body: undefined,
      })
      expect([answer.status, answer.body.code]).toEqual([401, 155103])
    }
  })
})

it('tells subscribers of each challenge that ended, once', async () => {
  const receiver = await openWebhookReceiver(harness.http)
  try {
    const subscription = { endpoint: receiver.url, notificationTypes: ['challenges.*'] }
    await world.call('POST', '/v2/notifications/subscriptions', subscription)
    const { id: failing } = await ask(
      session,
      'POST',
      'transactions/transfer',
      keyed(transferTo(freshAddress(), '5000')),
    )
    await approve(world, session, failing)
    const { data } = await client.updateUserPin({ userToken: session.userToken })
    await approved(world, session, data!.challengeId!, [
      ['P', pin],
      ['N', pin],
    ])
    await until(() => receiver.webhooks().length >= 2, 'the challenges are told')
    const told = receiver
      .webhooks()
      .map(({ notificationType, notification: { id, userId, status, errorCode } }) => ({
        notificationType,
        id,
        userId,
        status,
        errorCode,
      }))
    expect(told).toEqual([
      {
        notificationType: 'challenges.createTransaction',
        id: failing,
        userId: session.userId,
        status: 'FAILED',
        errorCode: 155201,
      },
      {
        notificationType: 'challenges.changePin',
        id: data!.challengeId,
        userId: session.userId,
        status: 'COMPLETE',
        errorCode: undefined,
      },
    ])
  } finally {
    await receiver.close()
  }
})
