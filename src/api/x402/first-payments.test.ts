/** Payments by x402 of accounts that are not deployed yet (ERC-6492): the transaction that pays creates them. */
import type { HTTPFacilitatorClient } from '@x402/core/http'
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { createPublicClient, hashTypedData, http, serializeErc6492Signature, serializeSignature } from 'viem'
import { generatePrivateKey, privateKeyToAccount, sign } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Address } from '#chains/addresses/types'
import { accountAddress, accountCreation, ownedBy } from '#chains/evm/accounts/account'
import { modularContracts, newestAccountContracts } from '#chains/evm/accounts/deployed-contracts'
import type { Hex } from '#lib/hex'
import { freshAddress } from '#testing/builders/world'
import { facilitatorOf } from '#testing/builders/x402-facilitator'
import { type Harness, openHarness } from '#testing/platform/harness'
import { spawnWorker } from '#testing/processes/programs'

let harness: Harness
let facilitator: HTTPFacilitatorClient
const network = 'eip155:84532' as const
const chainId = 84_532

beforeAll(async () => {
  harness = await openHarness()
  facilitator = facilitatorOf(harness.url, harness.apiKey)
  // The first payment waits for the gas of the treasury, which a stopped chain does not give.
  const required = requiring(freshAddress())
  const [payer] = await newAccount()
  expect(await facilitator.settle(await payer(required), required)).toMatchObject({ success: true })
})
afterAll(() => harness?.close())

const usdc = () => harness.chain().tokens.USDC as Hex
const requiring = (payTo: string, amount = '250000'): PaymentRequirements => ({
  scheme: 'exact',
  network,
  payTo,
  amount,
  maxTimeoutSeconds: 120,
  asset: usdc(),
  extra: { name: 'USDC', version: '2' },
})

type Creation = { factory: Address; data: Hex }
type Signs = (required: PaymentRequirements, creation?: Creation) => Promise<PaymentPayload>

/** An account with a coin that stands nowhere yet; it signs as its owner does, with the call that creates it. */
async function newAccount(contracts = newestAccountContracts): Promise<[Signs, Hex, Creation]> {
  const key = generatePrivateKey()
  const first = ownedBy(privateKeyToAccount(key).address.toLowerCase() as Address)
  const address = accountAddress(first, contracts) as Hex
  const own = accountCreation(first, contracts)
  await harness.fundWallet(address, { usdc: '1' })
  const signed: Signs = async (required, creation = own) => {
    const signTypedData = async (data: Parameters<typeof hashTypedData>[0]) => {
      const hash = messageDigest(address, contracts.plugin, hashTypedData(data))
      const signature = serializeSignature(await sign({ hash, privateKey: key }))
      const { factory, data: call } = creation
      return serializeErc6492Signature({ address: factory as Hex, data: call, signature })
    }
    const scheme = new ExactEvmScheme({ address, signTypedData } as never)
    return { ...(await scheme.createPaymentPayload(2, required)), accepted: required }
  }
  return [signed, address, own]
}
/** The hash that an owner signs for an account, in the words of the published client. */
const messageDigest = (account: Hex, plugin: Hex, hash: Hex) =>
  hashTypedData({
    domain: {
      name: 'Weighted Multisig Webauthn Plugin',
      version: '1.0.0',
      chainId,
      verifyingContract: plugin,
      salt: `${account}${'0'.repeat(24)}`,
    },
    types: { CircleWeightedWebauthnMultisigMessage: [{ name: 'hash', type: 'bytes32' }] },
    primaryType: 'CircleWeightedWebauthnMultisigMessage',
    message: { hash },
  })
const paidTo = async (to: string) =>
  (await harness.chain().oracle.transfers({ to, token: usdc() })).map(({ amountAtomic }) => amountAtomic)
const codeOf = (address: Hex) =>
  createPublicClient({ transport: http(harness.chain().rpcUrl) }).getCode({ address })

describe('property 262: the first payment of an account', () => {
  it.each([
    ['of a wallet', newestAccountContracts],
    ['of a modular wallet', modularContracts],
  ])('%s creates it, and later ones do not', async (_, contracts) => {
    const [signed, address] = await newAccount(contracts)
    const payTo = freshAddress()
    const required = requiring(payTo)
    const payment = await signed(required)
    expect(await facilitator.verify(payment, required)).toMatchObject({ isValid: true })
    expect(await codeOf(address)).toBeUndefined()
    const answers = await Promise.all(Array.from({ length: 4 }, () => facilitator.settle(payment, required)))
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    expect(new Set(answers.map(({ transaction }) => transaction)).size).toBe(1)
    expect(await codeOf(address)).toBeDefined()
    expect(await paidTo(payTo)).toEqual([250_000n])
    // A client that still wraps its signature is paid for without another creation.
    const next = await signed(required)
    const settled = await facilitator.settle(next, required)
    expect(settled).toMatchObject({ success: true })
    const sent = await harness.chain().rpc<{ to: string }>('eth_getTransactionByHash', [settled.transaction])
    expect(sent.to).toBe(usdc().toLowerCase())
    expect(await paidTo(payTo)).toEqual([250_000n, 250_000n])
  })

  it('is refused where the call creates another account, or is of another contract', async () => {
    const [signed, address, own] = await newAccount()
    const [, , foreign] = await newAccount()
    const payTo = freshAddress()
    const required = requiring(payTo)
    for (const creation of [
      foreign,
      { ...own, factory: freshAddress() as Address },
      { ...own, factory: usdc().toLowerCase() as Address },
      { ...own, data: `${own.data}00` as Hex },
      { ...own, data: '0x' as Hex },
    ]) {
      const payment = await signed(required, creation)
      expect((await facilitator.verify(payment, required)).invalidReason).toBe('eip6492_factory_not_allowed')
      expect(await facilitator.settle(payment, required)).toMatchObject({
        success: false,
        errorReason: 'eip6492_factory_not_allowed',
        transaction: '',
      })
    }
    const dear = requiring(payTo, '1000001')
    expect((await facilitator.verify(await signed(dear), dear)).invalidReason).toBe(
      'invalid_exact_evm_insufficient_balance',
    )
    // The key of another owner signs.
    const payment = await signed(required)
    const [other] = await newAccount()
    const stolen = await other(required)
    const forged = { ...stolen, payload: { ...payment.payload, signature: stolen.payload['signature'] } }
    expect((await facilitator.verify(forged, required)).isValid).toBe(false)
    expect(await codeOf(address)).toBeUndefined()
    expect(await paidTo(payTo)).toEqual([])
  })

  it.each(['before-payment-commit', 'after-payment-commit'] as const)(
    'is made once by the worker after one that dies at %s',
    async (point) => {
      const [signed] = await newAccount()
      const payTo = freshAddress()
      const required = requiring(payTo)
      const payment = await signed(required)
      await harness.stopEngines()
      const { blockchain, rpcUrl } = harness.chain()
      const victim = await spawnWorker()
      const failpoint = { point, hit: 1, action: 'kill' } as const
      const connection = harness.connection
      await victim.open({ connection, rpcUrl, blockchain, roles: ['facilitator'], failpoint })
      await victim.start()
      const asked = facilitator.settle(payment, required)
      await Promise.race([victim.exited, asked.then((answer) => expect.unreachable(JSON.stringify(answer)))])
      harness.startEngines()
      expect(await asked).toMatchObject({ success: true })
      expect(await paidTo(payTo)).toEqual([250_000n])
    },
  )
})
