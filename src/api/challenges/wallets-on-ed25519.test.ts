import { randomUUID, verify } from 'node:crypto'
import { initiateUserControlledWalletsClient } from '@circle-fin/user-controlled-wallets'
import { base58 } from '@scure/base'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  solanaData,
  solanaMessage,
  solanaPrograms,
  unsignedTransaction,
} from '#testing/builders/solana-transactions'
import { type Wallet, type World, worldOf } from '#testing/builders/world'
import { openLocalAptos } from '#testing/nodes/local-aptos'
import { openLocalSolana } from '#testing/nodes/local-solana'
import { approved, newSession, type PageSession, pin, questions, shownChallenge } from '#testing/pages/page'
import { type Harness, openHarness } from '#testing/platform/harness'

let aptosChain: Awaited<ReturnType<typeof openLocalAptos>>
let solanaChain: Awaited<ReturnType<typeof openLocalSolana>>
let harness: Harness
let world: World
let client: ReturnType<typeof initiateUserControlledWalletsClient>
let session: PageSession

beforeAll(async () => {
  ;[aptosChain, solanaChain] = await Promise.all([openLocalAptos(), openLocalSolana()])
  harness = await openHarness({ furtherNodes: [aptosChain.connected, solanaChain.connected] })
  world = worldOf(harness)
  client = initiateUserControlledWalletsClient({ apiKey: harness.apiKey, baseUrl: harness.url })
  session = await newSession(world)
  const { data } = await client.createUserPinWithWallets({
    userToken: session.userToken,
    blockchains: ['SOL-DEVNET', 'APTOS-TESTNET'] as never,
  })
  await approved(world, session, data!.challengeId!, [['N', pin], ...questions])
})
afterAll(async () => {
  await harness?.close()
  await Promise.all([aptosChain?.node.close(), solanaChain?.node.close()])
})

async function walletOn(blockchain: string): Promise<Wallet & { initialPublicKey?: string }> {
  const { userToken } = session
  return (await client.listWallets({ userToken, blockchain: blockchain as never })).data!
    .wallets![0] as Wallet
}

/** Whether the key signed these bytes. */
const isSigned = (bytes: Uint8Array, publicKey: Uint8Array, signature: Uint8Array): boolean =>
  verify(
    null,
    bytes,
    {
      key: Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), publicKey]),
      format: 'der',
      type: 'spki',
    },
    signature,
  )

it('users sign messages on Solana and Aptos with their PIN', async () => {
  const [solana, aptos] = [await walletOn('SOL-DEVNET'), await walletOn('APTOS-TESTNET')]
  for (const [wallet, publicKey] of [
    [solana, base58.decode(solana.address)],
    [aptos, Buffer.from(aptos.initialPublicKey!.slice(2), 'hex')],
  ] as const) {
    const { userToken } = session
    const asked = (await client.signMessage({ userToken, walletId: wallet.id, message: 'tea' })).data!
    const { result } = await approved(world, session, asked.challengeId!)
    const signature = Buffer.from(result.signature.replace(/^0x/, ''), 'hex')
    expect(isSigned(Buffer.from('tea'), publicKey, signature)).toBe(true)
  }
})

it('users see what a transaction on Solana pays before they sign it', async () => {
  const { address, id } = await walletOn('SOL-DEVNET')
  const to = base58.encode(Buffer.alloc(32, 5))
  const message = solanaMessage({
    keys: [address, to, solanaPrograms.system],
    instructions: [{ program: 2, accounts: [0, 1], data: solanaData.transfer(7n) }],
  })
  const { data } = await client.signTransaction({
    userToken: session.userToken,
    walletId: id,
    rawTransaction: unsignedTransaction(message).toString('base64'),
  })
  const { summary } = await shownChallenge(world, session, data!.challengeId!)
  expect(summary.details.map(({ value }: { value: string }) => value)).toContain(
    `0.000000007 SOL-DEVNET to ${to}`,
  )
  expect(summary.warnings).toEqual([])
  const { result } = await approved(world, session, data!.challengeId!)
  expect(isSigned(message, base58.decode(address), base58.decode(result.signature))).toBe(true)
})

it('users have no wallets on NEAR', async () => {
  for (const path of ['wallets', 'initialize']) {
    const of = path === 'wallets' ? session : await newSession(world)
    const { status, body } = await harness.http('POST', `/v1/w3s/user/${path}`, {
      body: { idempotencyKey: randomUUID(), blockchains: ['NEAR-TESTNET'] },
      headers: { 'X-User-Token': of.userToken },
    })
    expect([status, body.code, body.errors[0].location]).toEqual([400, 155510, 'blockchains[0]'])
  }
})
