/**
 * The newest client names the wallet of a user by address and blockchain, in the six operations that pay or sign. It has types for
 * upgrades, and no method.
 */
import { randomUUID } from 'node:crypto'
import { initiateUserControlledWalletsClient } from 'user-controlled-wallets-10-8'
import {
  encodeFunctionData,
  erc20Abi,
  getAddress,
  type Hex,
  recoverTransactionAddress,
  verifyMessage,
  verifyTypedData,
} from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { contractsOf } from '#chains/evm/accounts/deployed-contracts'
import { implementationSlot } from '#chains/evm/contracts/contracts'
import { fundUntilBooked } from '#testing/builders/funds'
import { freshAddress, makeWallet, type Wallet, type World, worldOf } from '#testing/builders/world'
import { approved, newSession, type PageSession, pin, questions } from '#testing/pages/page'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

const blockchain = 'BASE-SEPOLIA'
const newScaCore = 'circle_6900_singleowner_v2'

let harness: Harness
let world: World
let client: ReturnType<typeof initiateUserControlledWalletsClient>
let session: PageSession
let wallet: Wallet

beforeAll(async () => {
  harness = await openHarness({ blockchains: [blockchain] })
  world = worldOf(harness)
  client = initiateUserControlledWalletsClient({ apiKey: harness.apiKey, baseUrl: harness.url })
  session = await newSession(world)
  wallet = await firstWallet(session)
  await fundUntilBooked(harness, wallet, { usdc: '100', native: '1' })
})
afterAll(() => harness?.close())

async function firstWallet(of: PageSession, accountType: 'EOA' | 'SCA' = 'EOA'): Promise<Wallet> {
  const { userToken } = of
  const { data } = await client.createUserPinWithWallets({
    userToken,
    blockchains: [blockchain],
    accountType,
  })
  await approved(world, of, data!.challengeId!, [['N', pin], ...questions])
  return (await client.listWallets({ userToken, blockchain })).data!.wallets![0] as unknown as Wallet
}

const fee = { type: 'level', config: { feeLevel: 'MEDIUM' } } as const
const ofWallet = () => ({ walletAddress: wallet.address, blockchain, userToken: session.userToken }) as const

const ask = ({ userToken }: PageSession, operation: string, body: object) =>
  harness.http('POST', `/v1/w3s/user/${operation}`, {
    body: { idempotencyKey: randomUUID(), ...body },
    headers: { 'X-User-Token': userToken },
  })

/** Approves a challenge, waits until what it made is complete, and returns its result. */
async function completed(of: PageSession, { data }: { data?: { challengeId?: string } | undefined }) {
  const { challenge, result } = await approved(world, of, data!.challengeId!)
  expect(challenge.status).toBe('COMPLETE')
  for (const id of challenge.correlationIds ?? []) {
    const read = async () => (await client.getTransaction({ userToken: of.userToken, id })).data!.transaction!
    await until(async () => (await read()).state === 'COMPLETE', 'the transaction is complete')
  }
  return result
}

it('pays and calls', async () => {
  const [to, { USDC }] = [freshAddress(), harness.chain().tokens]
  const transfer = { tokenId: world.usdcId, destinationAddress: to, amounts: ['0.25'], fee }
  await completed(session, await client.createTransaction({ ...ofWallet(), ...transfer }))
  const callData = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to as Hex, 7n] })
  const call = { contractAddress: USDC, callData, fee }
  await completed(
    session,
    await client.createUserTransactionContractExecutionChallenge({ ...ofWallet(), ...call }),
  )
  expect(await harness.chain().oracle.balanceOf(to, USDC)).toBe(250_007n)
})

it('signs messages, typed data and transactions', async () => {
  const address = wallet.address as Hex
  const ofMessage = await completed(session, await client.signMessage({ ...ofWallet(), message: 'tea' }))
  expect(await verifyMessage({ address, message: 'tea', signature: ofMessage.signature })).toBe(true)

  const types = { EIP712Domain: [], Order: [{ name: 'item', type: 'string' }] } as const
  const typed = { domain: {}, primaryType: 'Order', message: { item: 'tea' }, types } as const
  const data = JSON.stringify(typed)
  const ofTyped = await completed(session, await client.signTypedData({ ...ofWallet(), data }))
  expect(await verifyTypedData({ ...typed, address, signature: ofTyped.signature })).toBe(true)

  const fees = { maxFeePerGas: '2000000000', maxPriorityFeePerGas: '1000000000' }
  const sent = { to: freshAddress(), value: '1', gas: '21000', nonce: 901, chainId: 84532, ...fees }
  const transaction = JSON.stringify(sent)
  const signed = await completed(session, await client.signTransaction({ ...ofWallet(), transaction }))
  expect(await recoverTransactionAddress({ serializedTransaction: signed.signedTransaction })).toBe(
    getAddress(address),
  )
})

it('upgrades a smart account', async () => {
  harness.ctx.config.scaCore = 'circle_6900_singleowner_v1'
  const owner = await newSession(world)
  const { address, id } = await firstWallet(owner, 'SCA')
  const { userToken } = owner
  const asked = { walletAddress: address, blockchain, newScaCore, feeLevel: 'MEDIUM' }
  await completed(owner, (await ask(owner, 'transactions/walletUpgrade', asked)).body)
  const { data } = await client.getWallet({ userToken, id })
  expect(data!.wallet).toMatchObject({ address, scaCore: newScaCore })
  const word = await harness.chain().rpc<Hex>('eth_getStorageAt', [address, implementationSlot, 'latest'])
  expect(`0x${word.slice(-40)}`).toBe(contractsOf(newScaCore).implementation.toLowerCase())
})

const operations: Record<string, () => object> = {
  'transactions/transfer': () => ({ ...transferred(), feeLevel: 'MEDIUM' }),
  'transactions/contractExecution': () => ({
    contractAddress: freshAddress(),
    callData: '0x01',
    feeLevel: 'LOW',
  }),
  'transactions/walletUpgrade': () => ({ newScaCore, feeLevel: 'LOW' }),
  'sign/message': () => ({ message: 'tea' }),
  'sign/typedData': () => ({ data: '{}' }),
  'sign/transaction': () => ({ transaction: '{}' }),
}
const transferred = () => ({ tokenId: world.usdcId, destinationAddress: freshAddress(), amounts: ['1'] })

it.each(Object.keys(operations))('%s refuses what names no wallet of the user', async (operation) => {
  const { address: walletAddress, id: walletId } = wallet
  const another = await newSession(world)
  const foreign = (await firstWallet(another)).address
  const ofDeveloper = (await makeWallet(world)).address
  const refused: [string, object, number, number, string][] = [
    ['both', { walletId, walletAddress, blockchain }, 400, 155244, 'walletAddress'],
    ['neither', {}, 400, 2, 'walletId'],
    ['no blockchain', { walletAddress }, 400, 2, 'blockchain'],
    ['another chain', { walletAddress, blockchain: 'ETH-SEPOLIA' }, 404, 156001, 'walletAddress'],
    ['an unknown address', { walletAddress: freshAddress(), blockchain }, 404, 156001, 'walletAddress'],
    ['no address', { walletAddress: 'tea', blockchain }, 404, 156001, 'walletAddress'],
    ['another user', { walletAddress: foreign, blockchain }, 404, 156001, 'walletAddress'],
    ['a developer', { walletAddress: ofDeveloper, blockchain }, 404, 156001, 'walletAddress'],
  ]
  const answers: unknown[] = []
  for (const [name, source] of refused) {
    const { status, body } = await ask(session, operation, { ...operations[operation]!(), ...source })
    answers.push([name, source, status, body.code, body.errors?.[0]?.location])
  }
  expect(answers).toEqual(refused)
})
