import { initiateDeveloperControlledWalletsClient } from '@circle-fin/developer-controlled-wallets'
import {
  getAddress,
  keccak256,
  parseTransaction,
  recoverTransactionAddress,
  serializeTransaction,
  toHex,
  toRlp,
} from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshAddress, makeTransfer, type World } from '#testing/builders/world'
import { openSigningHarness, type SigningHarness } from '#testing/platform/signing-harness'
import { until } from '#testing/platform/until'

type Hex = `0x${string}`

let kit: SigningHarness
let address: Hex
let world: World
beforeAll(async () => {
  kit = await openSigningHarness()
  ;({ address, world } = kit)
})
afterAll(() => kit?.harness.close())

describe('a transaction', () => {
  const fields = {
    to: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    value: '1',
    gas: '0x5208',
    maxFeePerGas: 2_000_000_000,
    maxPriorityFeePerGas: '1000000',
    nonce: 0,
    chainId: 84532,
  }
  const json = (changes: Record<string, unknown> = {}) => JSON.stringify({ ...fields, ...changes })
  const legacy = { maxFeePerGas: undefined, maxPriorityFeePerGas: undefined, gasPrice: '0x3b9aca00' }

  it.each([
    ['EIP-1559', {}],
    ['legacy', legacy],
    ['contract creation', { to: undefined, data: '0x6001', from: undefined }],
  ])('as JSON (%s) is signed for its sender, through the published client', async (_, changes) => {
    const { data } = await kit.client.signTransaction({
      walletAddress: address,
      blockchain: 'EVM-TESTNET',
      transaction: json({ from: getAddress(address), ...changes }),
    })
    const serializedTransaction = data!.signedTransaction as Hex
    expect(await recoverTransactionAddress({ serializedTransaction } as never)).toBe(getAddress(address))
    expect(data!.txHash).toBe(keccak256(serializedTransaction))
    const { r, s } = parseTransaction(serializedTransaction)
    expect(data!.signature.slice(0, 130)).toBe(
      `0x${r!.slice(2).padStart(64, '0')}${s!.slice(2).padStart(64, '0')}`,
    )
  })

  it('as bytes is signed unchanged and accepted by a node', async () => {
    const { transactionCount, to } = {
      transactionCount: Number(await kit.harness.chain().rpc('eth_getTransactionCount', [address, 'latest'])),
      to: freshAddress() as Hex,
    }
    const rawTransaction = serializeTransaction({
      type: 'eip1559',
      chainId: 84532,
      nonce: transactionCount,
      to,
      value: 7n,
      gas: 21_000n,
      maxFeePerGas: 3_000_000_000n,
      maxPriorityFeePerGas: 1_000_000_000n,
    })
    const { body } = await kit.post('transaction', { rawTransaction })
    expect(await kit.harness.chain().rpc('eth_sendRawTransaction', [body.data.signedTransaction])).toBe(
      body.data.txHash,
    )
    await until(async () => (await kit.harness.chain().oracle.balanceOf(to)) === 7n, 'it has arrived')
    await kit.refused(
      'transaction',
      { rawTransaction: body.data.signedTransaction },
      155804,
      /^rawTransaction$/,
    )
    const { id } = await makeTransfer(world)
    const read = async () => (await world.call('GET', `/v1/w3s/transactions/${id}`)).transaction
    await until(async () => (await read()).state === 'COMPLETE', 'what is sent here goes on behind its nonce')
  })

  it('with a nonce in use displaces that transaction, which then gets another nonce', async () => {
    const { rpc, setAutomine, mine, oracle } = kit.harness.chain()
    const [ours, theirs] = [freshAddress() as Hex, freshAddress() as Hex]
    await setAutomine(false)
    const read = async (id: string) => (await world.call('GET', `/v1/w3s/transactions/${id}`)).transaction
    try {
      const { id } = await makeTransfer(world, '0.5', ours)
      await until(async () => (await read(id)).state === 'SENT', 'ours is sent')
      const { txHash } = await read(id)
      const nonce = Number(await rpc('eth_getTransactionCount', [address, 'latest']))
      const fees = { maxFeePerGas: '90000000000', maxPriorityFeePerGas: '30000000000' }
      const { body } = await kit.post('transaction', { transaction: json({ to: theirs, nonce, ...fees }) })
      await rpc('eth_sendRawTransaction', [body.data.signedTransaction])
      await mine()
      // The state can be SENT again at once, with another nonce and so another hash.
      await until(async () => (await read(id)).txHash !== txHash, 'ours is displaced')
      await setAutomine(true)
      await mine()
      await until(async () => (await read(id)).state === 'COMPLETE', 'ours goes on')
    } finally {
      await setAutomine(true)
    }
    await oracle.checkMovedOnce([
      { to: ours, token: kit.harness.chain().tokens.USDC, amountAtomic: 500_000n },
    ])
    expect(await oracle.balanceOf(theirs)).toBe(1n)
  })

  const raw = (changes: object = {}) =>
    serializeTransaction({
      type: 'legacy',
      chainId: 84532,
      nonce: 1,
      gas: 21_000n,
      gasPrice: 1n,
      to: address,
      ...changes,
    } as never)

  /** `raw` with a leading zero in the nonce: parsed to the same value, with a different hash. */
  const loose = () =>
    toRlp(['0x0001', '0x01', '0x5208', address, '0x', '0x', toHex(84532), '0x', '0x'] as const)

  it.each([
    ['neither', () => ({}), 155801, /transaction/],
    ['both', () => ({ transaction: json(), rawTransaction: raw() }), 155801, /transaction/],
    ['no JSON', () => ({ transaction: '{' }), 155805, /^transaction$/],
    ['a list', () => ({ transaction: '[]' }), 155801, /^transaction$/],
    ['no chain id', () => ({ transaction: json({ chainId: undefined }) }), 155808, /chainId$/],
    ['chain id null', () => ({ transaction: json({ chainId: null }) }), 155808, /chainId$/],
    ['a chain id that is none', () => ({ transaction: json({ chainId: '1e3' }) }), 155801, /chainId$/],
    ["another chain's id", () => ({ transaction: json({ chainId: 11155111 }) }), 155807, /^chainId$/],
    ['an unknown chain id', () => ({ transaction: json({ chainId: 31337 }) }), 155807, /^chainId$/],
    ['no nonce', () => ({ transaction: json({ nonce: undefined }) }), 155801, /nonce$/],
    [
      'a nonce beyond all',
      () => ({ transaction: json({ nonce: (2n ** 64n).toString() }) }),
      155801,
      /nonce$/,
    ],
    ['no gas', () => ({ transaction: json({ gas: undefined }) }), 155801, /gas$/],
    ['no fee', () => ({ transaction: json({ maxFeePerGas: undefined }) }), 155801, /maxFeePerGas$/],
    [
      'a tip above the cap',
      () => ({ transaction: json({ maxPriorityFeePerGas: '9000000000' }) }),
      155801,
      /PriorityFee/,
    ],
    ['both fee models', () => ({ transaction: json({ gasPrice: '1' }) }), 155801, /maxFeePerGas$/],
    ['a type that does not fit', () => ({ transaction: json({ type: '0x1' }) }), 155801, /type$/],
    ['an inexact number', () => ({ transaction: json({ value: 1e18 }) }), 155801, /value$/],
    ['a negative value', () => ({ transaction: json({ value: -1 }) }), 155801, /value$/],
    ['a bad address', () => ({ transaction: json({ to: 'vitalik.eth' }) }), 155801, /to$/],
    ['nothing to do', () => ({ transaction: json({ to: undefined }) }), 155801, /to$/],
    ['odd data', () => ({ transaction: json({ data: '0x1' }) }), 155801, /data$/],
    ['data twice', () => ({ transaction: json({ data: '0x11', input: '0x22' }) }), 155801, /input$/],
    [
      'what is not signed',
      () => ({ transaction: json({ authorizationList: [{}] }) }),
      155801,
      /authorizationList$/,
    ],
    ['an access list', () => ({ transaction: json({ accessList: [{ address }] }) }), 155801, /accessList$/],
    ["somebody else's sender", () => ({ transaction: json({ from: freshAddress() }) }), 155803, /from$/],
    ['too much data', () => ({ transaction: json({ data: `0x${'00'.repeat(140_000)}` }) }), 155806, /data$/],
    ['no hexadecimal', () => ({ rawTransaction: 'AQID' }), 155805, /^rawTransaction$/],
    ['no bytes', () => ({ rawTransaction: '0x' }), 155805, /^rawTransaction$/],
    ['no transaction', () => ({ rawTransaction: '0x02deadbeef' }), 155805, /^rawTransaction$/],
    ['a number in a longer form', () => ({ rawTransaction: loose() }), 155805, /^rawTransaction$/],
    ['bytes behind it', () => ({ rawTransaction: `${raw()}00` }), 155805, /^rawTransaction$/],
    ['too many bytes', () => ({ rawTransaction: `0x${'00'.repeat(140_000)}` }), 155806, /^rawTransaction$/],
    [
      'no chain id in bytes',
      () => ({ rawTransaction: raw({ chainId: undefined }) }),
      155808,
      /^rawTransaction$/,
    ],
    ["another chain's bytes", () => ({ rawTransaction: raw({ chainId: 1 }) }), 155807, /^chainId$/],
  ])('with %s is refused', (_, make, code, location) => kit.refused('transaction', make(), code, location))

  it('is signed by a wallet of a virtual blockchain for listed test networks only', async () => {
    const { id } = (
      await world.call('PUT', `/v1/w3s/developer/wallets/${kit.wallet.id}/blockchains/EVM-TESTNET`, {})
    ).wallet
    for (const chainId of [84532, 11155111, 5042002])
      expect((await kit.post('transaction', { walletId: id, transaction: json({ chainId }) })).status).toBe(
        200,
      )
    for (const chainId of [1, 8453, 31337])
      await kit.refused('transaction', { walletId: id, transaction: json({ chainId }) }, 155807)
  })
})

describe('a wallet of a virtual blockchain', () => {
  it.each([
    ['TEST', 'EVM-TESTNET', 84532, 8453],
    ['LIVE', 'EVM', 8453, 84532],
  ] as const)(
    'of a %s entity is made on %s and signs for its own networks',
    async (environment, name, own, other) => {
      const { apiKey, entitySecret } = await kit.harness.newEntity(environment)
      const theirs = initiateDeveloperControlledWalletsClient({
        apiKey,
        entitySecret,
        baseUrl: kit.harness.url,
      })
      const { id: walletSetId } = (await theirs.createWalletSet({ name: 'Signing' })).data!.walletSet!
      const blockchains = [name] as never
      const { wallets } = (await theirs.createWallets({ walletSetId, blockchains, count: 1 })).data!
      const signed = async (chainId: number) => {
        const transaction = JSON.stringify({
          to: freshAddress(),
          gas: 21_000,
          gasPrice: '1',
          nonce: 0,
          chainId,
        })
        return theirs.signTransaction({ walletId: wallets![0]!.id, transaction })
      }
      const serializedTransaction = (await signed(own)).data!.signedTransaction as Hex
      const signer = await recoverTransactionAddress({ serializedTransaction } as never)
      expect(signer.toLowerCase()).toBe(wallets![0]!.address)
      await expect(signed(other)).rejects.toMatchObject({ code: 155807 })
    },
  )
})
