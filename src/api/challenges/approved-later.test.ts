import { afterAll, beforeAll, expect, it } from 'vitest'
import { deployFeeToken } from '#testing/builders/any-tokens'
import { freshAddress, type World, worldOf } from '#testing/builders/world'
import { approve, approved, askPage, newSession, shownChallenge } from '#testing/pages/page'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { askUser, makePinUser } from '#testing/requests/challenge-requests'

let harness: Harness
let world: World
let user: Awaited<ReturnType<typeof makePinUser>>
beforeAll(async () => {
  harness = await openHarness({ blockchains: ['MATIC-AMOY'], config: { pendingLimits: true } })
  world = worldOf(harness)
  user = await makePinUser(world)
  await harness.fundWallet(user.wallet.address, { native: '10' })
})
afterAll(() => harness?.close())

const transfer = () => ({
  walletId: user.wallet.id,
  tokenAddress: '',
  blockchain: 'MATIC-AMOY',
  destinationAddress: freshAddress(),
  amounts: ['0.001'],
  feeLevel: 'MEDIUM',
})

it('a token that no network lists stands with its contract, whatever it calls itself', async () => {
  const { address: token, call } = await deployFeeToken(harness.chain())
  await call('mint', [user.wallet.address, 1_000n])
  const known = async () => {
    const query = { includeAll: 'true' }
    const { tokenBalances } = await world.call('GET', `/v1/w3s/wallets/${user.wallet.id}/balances`, { query })
    return tokenBalances.some(
      (each: { token: { tokenAddress?: string } }) => each.token.tokenAddress === token,
    )
  }
  await until(known, 'the token is known')
  const spender = freshAddress()
  const id = await askUser(world, user, 'transactions/contractExecution', {
    walletId: user.wallet.id,
    contractAddress: token,
    abiFunctionSignature: 'approve(address,uint256)',
    abiParameters: [spender, '7'],
    feeLevel: 'LOW',
  })
  const { summary } = await shownChallenge(world, user, id)
  const { value } = summary.details.find(({ name }: { name: string }) => name === 'approval')
  expect(value).toMatch(new RegExp(`^${spender} may take 0\\.\\d*7 \\w+ \\(the token ${token}\\)$`, 'i'))
})

it('the result of a signature is shown for an hour, and the challenge stays complete', async () => {
  const id = await askUser(world, user, 'sign/message', { walletId: user.wallet.id, message: 'hello' })
  const { result } = await approved(world, user, id)
  expect((await shownChallenge(world, user, id)).result).toEqual(result)
  harness.clock.moveMs(3_600_001)
  const later = await newSession(world, user.userId)
  const shown = await shownChallenge(world, later, id)
  expect([shown.challenge.status, shown.result]).toEqual(['COMPLETE', undefined])
  const repeated = { purpose: 'open', submission: 'x' }
  const again = await askPage(world, later, 'POST', `${id}/approval`, repeated)
  expect([again.status, again.body.data.challenge.status, again.body.data.result]).toEqual([
    200,
    'COMPLETE',
    undefined,
  ])
  harness.clock.moveMs(-3_600_001)
})

it('a challenge stays pending while too many transactions of its wallet do', async () => {
  await harness.stopEngines()
  user = { ...user, ...(await newSession(world, user.userId)) }
  const limit = 16
  for (let made = 0; made < limit; made++)
    await approved(world, user, await askUser(world, user, 'transactions/transfer', transfer()))
  const id = await askUser(world, user, 'transactions/transfer', transfer())
  const refused = await approve(world, user, id)
  expect([refused.status, refused.body.code]).toEqual([400, 155264])
  expect((await shownChallenge(world, user, id)).challenge.status).toBe('PENDING')
  harness.startEngines()
  await until(async () => (await approve(world, user, id)).status === 200, 'the challenge is approved')
})
