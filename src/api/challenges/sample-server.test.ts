/**
 * The order of calls of the public sample server of user-controlled wallets, with its base URL changed: users without keys of
 * their own sign up, sign in and pay from a smart account.
 */
import { initiateUserControlledWalletsClient } from '@circle-fin/user-controlled-wallets'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freshAddress, type World, worldOf } from '#testing/builders/world'
import { approved, pin, questions } from '#testing/pages/page'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

const blockchain = 'MATIC-AMOY'
const userId = 'sample-user-1'

let harness: Harness
let world: World
let client: ReturnType<typeof initiateUserControlledWalletsClient>
beforeAll(async () => {
  harness = await openHarness({ blockchains: [blockchain] })
  world = worldOf(harness)
  client = initiateUserControlledWalletsClient({
    apiKey: harness.apiKey,
    baseUrl: harness.url,
    userAgent: 'PW-USER-WALLET-WEB-SAMPLE-APP',
  })
})
afterAll(() => harness?.close())

/** Signs the user in as the sample does: it asks for the challenge again until PIN and questions are set. */
async function signIn() {
  const { userToken, encryptionKey } = (await client.createUserToken({ userId })).data!
  const { user } = (await client.getUser({ userId })).data!
  const isSetUp = user!.pinStatus === 'ENABLED' && user!.securityQuestionStatus === 'ENABLED'
  const challengeId = isSetUp
    ? undefined
    : (await client.createUserPinWithWallets({ userId, blockchains: [blockchain], accountType: 'SCA' })).data!
        .challengeId!
  return { session: { userId, userToken: userToken!, encryptionKey: encryptionKey! }, challengeId }
}

it('signs a user up, in and pays from a smart account without coins for gas', async () => {
  await client.createUser({ userId })
  await expect(client.createUser({ userId })).rejects.toMatchObject({
    response: { status: 409, data: { code: 155101 } },
  })
  // The user closes the browser once: the challenge of the first visit stays pending while that of the second is approved.
  const first = await signIn()
  const { session, challengeId } = await signIn()
  expect(challengeId).not.toBe(first.challengeId)
  const claims = JSON.parse(Buffer.from(session.userToken.split('.')[1]!, 'base64').toString())
  expect(claims.exp).toBeGreaterThan(harness.clock.nowMs() / 1_000)
  // By the first token of the user, although two more were issued since.
  await approved(world, first.session, challengeId!, [['N', pin], ...questions])
  expect((await signIn()).challengeId).toBeUndefined()

  const { wallets } = (await client.listWallets({ userId, blockchain })).data!
  const { wallet } = (await client.getWallet({ userId, id: wallets![0]!.id })).data!
  expect(wallet).toMatchObject({ accountType: 'SCA', custodyType: 'ENDUSER', userId, blockchain })
  await client.requestTestnetTokens({ address: wallet!.address, blockchain, usdc: true })
  const balances = async () =>
    (await client.getWalletTokenBalance({ userId, walletId: wallet!.id })).data!.tokenBalances!
  await until(async () => (await balances()).length > 0, 'the faucet has paid')
  const [{ token, amount }] = (await balances()) as [Awaited<ReturnType<typeof balances>>[number]]
  expect([(await client.getToken({ id: token.id })).data!.token!.symbol, Number(amount) > 0]).toEqual([
    'USDC',
    true,
  ])

  const destinationAddress = freshAddress()
  expect((await client.validateAddress({ address: destinationAddress, blockchain })).data!.isValid).toBe(true)
  const transfer = { walletId: wallet!.id, tokenId: token.id, destinationAddress, amounts: ['1.5'] }
  const estimate = (await client.estimateTransferFee({ userId, ...transfer, amount: ['1.5'] } as never)).data!
  expect(estimate.low).toMatchObject({ maxFee: expect.any(String), gasLimit: expect.any(String) })
  const fee = { type: 'level', config: { feeLevel: 'LOW' } } as const
  const asked = (await client.createTransaction({ userId, ...transfer, fee })).data!
  const { challenge } = await approved(world, session, asked.challengeId!)
  const read = async () =>
    (await client.getTransaction({ userId, id: challenge.correlationIds[0] })).data!.transaction!
  await until(async () => (await read()).state === 'COMPLETE', 'the transfer is complete')
  const { oracle, tokens } = harness.chain()
  expect(await oracle.balanceOf(destinationAddress, tokens.USDC)).toBe(1_500_000n)
  const { transactions } = (await client.listTransactions({ userId })).data!
  expect(transactions!.map(({ id }) => id)).toContain(challenge.correlationIds[0])

  const restore = (await client.restoreUserPin({ userId })).data!
  const answers = questions.filter(([kind]) => kind === 'A')
  const { challenge: restored } = await approved(world, session, restore.challengeId!, [
    ...answers,
    ['N', '714286'],
  ])
  expect(restored.status).toBe('COMPLETE')
  const more = (await client.createWallet({ userId, blockchains: [blockchain], accountType: 'SCA' })).data!
  await approved(world, session, more.challengeId!, [['P', '714286']])
  const { wallets: both } = (await client.listWallets({ userId })).data!
  expect(new Set(both!.map(({ address }) => address)).size).toBe(2)
})
