import { createHash, createPublicKey, randomUUID, verify } from 'node:crypto'
import { base58 } from '@scure/base'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { setPolicy } from '#custody/policy/index'
import { sql } from '#runtime/db/db'
import { nearActions, nearDelegateAction, nearTransaction } from '#testing/builders/near-transactions'
import {
  solanaData,
  solanaMessage,
  solanaPrograms,
  unsignedTransaction,
} from '#testing/builders/solana-transactions'
import { openLocalAptos } from '#testing/nodes/local-aptos'
import { openLocalSolana } from '#testing/nodes/local-solana'
import { openSigningHarness, type SigningHarness } from '#testing/platform/signing-harness'

type Shown = {
  id: string
  walletSetId: string
  address: string
  blockchain: string
  accountType: string
  initialPublicKey?: string
}
type Family = 'aptos' | 'solana' | 'near'

let aptosChain: Awaited<ReturnType<typeof openLocalAptos>>
let solanaChain: Awaited<ReturnType<typeof openLocalSolana>>
let kit: SigningHarness
let wallets: Record<Family, Shown>

/** Whether the key signed these bytes: checked by OpenSSL, from the bytes of the public key. */
function isSigned(bytes: Uint8Array, publicKey: Uint8Array, signature: Uint8Array): boolean {
  const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), publicKey])
  return verify(null, bytes, createPublicKey({ key: der, format: 'der', type: 'spki' }), signature)
}
const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest()

const blockchains = ['APTOS-TESTNET', 'SOL-DEVNET', 'NEAR-TESTNET'] as const

async function create(changes: Record<string, unknown> = {}) {
  const { http, sealSecret } = kit.harness
  const set = await http('POST', '/v1/w3s/developer/walletSets', {
    body: {
      idempotencyKey: randomUUID(),
      name: 'of three families',
      entitySecretCiphertext: await sealSecret(),
    },
  })
  const body = {
    idempotencyKey: randomUUID(),
    entitySecretCiphertext: await sealSecret(),
    walletSetId: set.body.data.walletSet.id,
    blockchains,
    ...changes,
  }
  return http('POST', '/v1/w3s/developer/wallets', { body })
}

beforeAll(async () => {
  ;[aptosChain, solanaChain] = await Promise.all([openLocalAptos(), openLocalSolana()])
  kit = await openSigningHarness({ furtherNodes: [aptosChain.connected, solanaChain.connected] })
  const made = (await create()).body.data.wallets as Shown[]
  const on = (name: string) => made.find(({ blockchain }) => blockchain === name)!
  wallets = { aptos: on('APTOS-TESTNET'), solana: on('SOL-DEVNET'), near: on('NEAR-TESTNET') }
})
afterAll(async () => {
  await kit?.harness.close()
  await Promise.all([aptosChain?.node.close(), solanaChain?.node.close()])
})

describe('wallets on Ed25519', () => {
  it('have the addresses and public keys of their chains, and are listed by blockchain', async () => {
    const { aptos, solana, near } = wallets
    expect(base58.decode(solana.address)).toHaveLength(32)
    expect(solana.initialPublicKey).toBeUndefined()
    expect(Buffer.from(base58.decode(near.initialPublicKey!)).toString('hex')).toBe(near.address)
    const publicKey = Buffer.from(aptos.initialPublicKey!.slice(2), 'hex')
    const hash = createHash('sha3-256').update(publicKey).update(Buffer.of(0)).digest('hex')
    expect(aptos.address).toBe(`0x${hash}`)
    for (const { id, address, blockchain } of Object.values(wallets)) {
      const { data } = await kit.client.listWallets({ blockchain: blockchain as 'SOL', address })
      expect(data!.wallets.map((wallet) => wallet.id)).toEqual([id])
      const checked = await kit.client.validateAddress({ blockchain: blockchain as 'SOL', address })
      expect(checked.data!.isValid).toBe(true)
    }
  })

  it('are two further ones at the next index', async () => {
    const more = await create({ walletSetId: wallets.near.walletSetId, count: 2 })
    const addresses = new Set((more.body.data.wallets as Shown[]).map(({ address }) => address))
    expect([more.status, addresses.size]).toEqual([201, 6])
    expect(addresses.has(wallets.near.address)).toBe(false)
  })

  it('are no smart accounts, share no address and hold nothing where nothing is connected', async () => {
    const { http } = kit.harness
    const smart = await create({ blockchains: ['NEAR-TESTNET'], accountType: 'SCA' })
    expect([smart.status, smart.body.code]).toEqual([400, 155507])
    const derived = await http(
      'PUT',
      `/v1/w3s/developer/wallets/${wallets.solana.id}/blockchains/BASE-SEPOLIA`,
      { body: {} },
    )
    expect([derived.status, derived.body.code]).toEqual([400, 155510])
    for (const { id, blockchain } of [wallets.near]) {
      const asked = await Promise.all([
        http('GET', `/v1/w3s/wallets/${id}/balances`),
        http('GET', `/v1/w3s/wallets/${id}/nfts`),
        http('GET', '/v1/w3s/developer/wallets/balances', { query: { blockchain } }),
        kit.harness.http('POST', '/v1/w3s/developer/transactions/transfer', {
          body: {
            idempotencyKey: randomUUID(),
            entitySecretCiphertext: await kit.harness.sealSecret(),
            walletId: id,
            destinationAddress: wallets.near.address,
            amounts: ['1'],
            tokenAddress: '',
            blockchain,
            feeLevel: 'MEDIUM',
          },
        }),
      ])
      expect(asked.map(({ status, body }) => [status, body.code])).toEqual(Array(4).fill([400, 155510]))
    }
  })
})

describe('signatures on Ed25519', () => {
  it('of messages cover their bytes', async () => {
    const { aptos, solana, near } = wallets
    const onSolana = await kit.client.signMessage({ walletId: solana.id, message: 'hello' })
    const bytes = Buffer.from(onSolana.data!.signature, 'hex')
    expect(isSigned(Buffer.from('hello'), base58.decode(solana.address), bytes)).toBe(true)
    const onAptos = await kit.client.signMessage({
      walletId: aptos.id,
      message: '0xff00',
      encodedByHex: true,
    })
    const [key, signature] = [aptos.initialPublicKey!, onAptos.data!.signature].map((text) =>
      Buffer.from(text.slice(2), 'hex'),
    )
    expect(isSigned(Buffer.from('ff00', 'hex'), key!, signature!)).toBe(true)
    await kit.refused('message', { walletId: near.id, message: 'hello' }, 155510, /^walletId$/)
    await kit.refused('typedData', { walletId: solana.id, data: '{}' }, 155510, /^walletId$/)
    await kit.refused('transaction', { walletId: aptos.id, rawTransaction: 'AA==' }, 155510, /^walletId$/)
    await kit.refused('delegateAction', { walletId: solana.id, unsignedDelegateAction: 'AA==' }, 155510)
    const unreadable = { walletId: near.id, unsignedDelegateAction: 'AA==' }
    await kit.refused('delegateAction', unreadable, 156030, /^unsignedDelegateAction$/)
    const { address, blockchain } = near
    const named = { walletId: undefined, walletAddress: address, blockchain }
    await kit.refused('message', { ...named, message: 'hello' }, 155510, /^blockchain$/)
  })

  const onNear = () => ({ signer: wallets.near.address, publicKey: wallets.near.initialPublicKey! })
  const paid = [nearActions.transfer(5n)]

  it('of transactions and delegate actions on NEAR cover their hash', async () => {
    const { address, initialPublicKey, id, blockchain } = wallets.near
    const transaction = nearTransaction({ ...onNear(), receiver: 'bob.testnet', actions: paid })
    const { data } = await kit.client.signTransaction({
      walletAddress: address,
      blockchain: blockchain as 'NEAR',
      rawTransaction: transaction.toString('base64'),
    })
    const publicKey = base58.decode(initialPublicKey!)
    expect(isSigned(hashOf(transaction), publicKey, base58.decode(data!.signature))).toBe(true)
    expect(data!.txHash).toBe(base58.encode(hashOf(transaction)))
    const action = nearDelegateAction({ ...onNear(), receiver: 'bob.testnet', actions: paid })
    const delegated = await kit.client.signDelegateAction({
      walletId: id,
      unsignedDelegateAction: action.toString('base64'),
    })
    const prefixed = Buffer.concat([Buffer.from('6e010040', 'hex'), action])
    const { signature, signedDelegateAction } = delegated.data!
    expect(isSigned(hashOf(prefixed), publicKey, base58.decode(signature))).toBe(true)
    expect(Buffer.from(signedDelegateAction, 'base64').subarray(-64)).toEqual(
      Buffer.from(base58.decode(signature)),
    )
  })

  const payment = (to: string, lamports: bigint) =>
    unsignedTransaction(
      solanaMessage({
        keys: [wallets.solana.address, to, solanaPrograms.system],
        instructions: [{ program: 2, accounts: [0, 1], data: solanaData.transfer(lamports) }],
        lookup: 0,
      }),
    )

  it('of transactions on Solana cover their message, and fill their place', async () => {
    const wire = payment(base58.encode(Buffer.alloc(32, 5)), 7n)
    const { data } = await kit.client.signTransaction({
      walletId: wallets.solana.id,
      rawTransaction: wire.toString('base64'),
    })
    const whole = Buffer.from(data!.signedTransaction, 'base64')
    const signature = base58.decode(data!.signature)
    expect(isSigned(whole.subarray(65), base58.decode(wallets.solana.address), signature)).toBe(true)
    expect(whole.subarray(1, 65)).toEqual(Buffer.from(signature))
    expect(data!.txHash).toBeUndefined()
    const { digest } = await kit.harness.database.one<{ digest: string }>(
      sql`select data->>'digest' as digest from events where resource_id = ${wallets.solana.id}
        and type = 'wallet.signed' order by id desc limit 1`,
    )
    expect(digest).toBe(`0x${hashOf(whole.subarray(65)).toString('hex')}`)
  })

  it('property 206: are those that policy allows by address and amount', async () => {
    const { harness } = kit
    const friend = base58.encode(Buffer.alloc(32, 5))
    const by = { db: harness.database, clock: harness.clock, actor: 'operator' }
    await setPolicy(
      by,
      { scope: 'entity', entityId: harness.entityId, subjectId: harness.entityId },
      {
        mode: 'rules',
        operations: ['signTransaction', 'signDelegateAction'],
        destinations: [`SOL-DEVNET:${friend}`, 'NEAR-TESTNET:bob.testnet'],
        tokens: ['SOL-DEVNET:native', 'NEAR-TESTNET:native'],
        contracts: [{ contract: 'NEAR-TESTNET:bob.testnet', selectors: ['greet'] }],
        limits: [{ tokens: ['SOL-DEVNET:native', 'NEAR-TESTNET:native'], perTransactionAtomic: '10' }],
      },
    )
    const solana = async (to: string, lamports: bigint) => {
      const rawTransaction = payment(to, lamports).toString('base64')
      return (await kit.post('transaction', { walletId: wallets.solana.id, rawTransaction })).body.code
    }
    const near = async (operation: 'transaction' | 'delegateAction', receiver: string, action: Buffer) => {
      const write = operation === 'transaction' ? nearTransaction : nearDelegateAction
      const text = write({ ...onNear(), receiver, actions: [action] }).toString('base64')
      const fields = operation === 'transaction' ? { rawTransaction: text } : { unsignedDelegateAction: text }
      return (await kit.post(operation, { walletId: wallets.near.id, ...fields })).body.code
    }
    const denied = 155900
    expect([
      await solana(friend, 10n),
      await near('transaction', 'bob.testnet', nearActions.transfer(10n)),
      await near('delegateAction', 'bob.testnet', nearActions.transfer(10n)),
      await near('transaction', 'bob.testnet', nearActions.functionCall('greet', {}, 0n)),
    ]).toEqual(Array(4).fill(undefined))
    const refused = [
      await solana(friend, 11n),
      await solana(base58.encode(Buffer.alloc(32, 6)), 1n),
      await near('transaction', 'eve.testnet', nearActions.transfer(1n)),
      await near('delegateAction', 'bob.testnet', nearActions.transfer(11n)),
      await near('transaction', 'bob.testnet', nearActions.functionCall('steal', {}, 0n)),
      await near('transaction', 'bob.testnet', nearActions.addFullAccessKey(onNear().publicKey)),
    ]
    expect(refused).toEqual(Array(6).fill(denied))
  })
})
