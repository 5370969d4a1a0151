import type { Hex } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Address } from '#chains/addresses/types'
import type { PaymentBatch } from '#chains/crosschain/crosschain'
import { paymentsPayload } from '#chains/evm/unified-balance/calls'
import type { TokenChain } from '../token-chain.ts'
import {
  alice,
  bob,
  carol,
  domain,
  elsewhere,
  gatewaySigner,
  holding,
  issuer,
  minter,
  refusal,
  send,
  signedArgs,
  startGatewayChain,
  stranger,
  token,
  tokensOf,
  wallet,
  word,
} from './gateway-chain.ts'

let chain: TokenChain
let snapshot: Hex
beforeAll(async () => {
  chain = await startGatewayChain()
  await send(chain, alice, wallet, 'deposit', [token, 1_000n])
  await send(chain, bob, wallet, 'deposit', [token, 500n])
})
beforeEach(async () => {
  snapshot = await chain.client.snapshot()
})
afterEach(() => chain.client.revert({ id: snapshot }))
afterAll(() => chain?.stop())

const part = (depositor: string, amountAtomic: bigint) => ({ depositor, amountAtomic })
const batchOf = (changes: Partial<PaymentBatch> = {}): PaymentBatch => ({
  id: word('0x01'),
  token: token as Address,
  debits: [part(alice.address, 300n), part(bob.address, 100n)],
  credits: [part(carol.address, 400n)],
  ...changes,
})
const payloadOf = (batch: PaymentBatch, at = domain, of = wallet) => paymentsPayload(at, of, batch)
const settle = async (payload: Hex, signer = gatewaySigner) =>
  send(chain, stranger, wallet, 'settlePayments', await signedArgs(payload, signer))
const refused = async (payload: Hex, signer = gatewaySigner) =>
  refusal(chain, stranger, wallet, 'settlePayments', await signedArgs(payload, signer))
const availableOf = async (of: typeof alice) => (await holding(chain, of)).available

describe('a batch of payments', () => {
  it('moves the sums, whoever sends it, and keeps the coins of the wallet', async () => {
    const before = await tokensOf(chain, wallet)
    const events = await settle(payloadOf(batchOf()))
    expect(events.map(({ eventName }) => eventName)).toEqual([
      'PaymentsDebited',
      'PaymentsDebited',
      'PaymentsCredited',
      'PaymentsSettled',
    ])
    expect(await Promise.all([alice, bob, carol].map(availableOf))).toEqual([700n, 400n, 400n])
    expect(await tokensOf(chain, wallet)).toBe(before)
  })

  it('is settled once', async () => {
    await settle(payloadOf(batchOf()))
    expect(await refused(payloadOf(batchOf()))).toContain('TransferSpecHashUsed')
    await settle(payloadOf(batchOf({ id: word('0x02') })))
    expect(await availableOf(carol)).toBe(800n)
  })

  it('takes what is missing out of a withdrawal, and all or nothing', async () => {
    await send(chain, alice, wallet, 'initiateWithdrawal', [token, 900n])
    await settle(payloadOf(batchOf()))
    expect(await holding(chain, alice)).toMatchObject({ available: 0n, withdrawing: 700n })
    const tooMuch = batchOf({
      id: word('0x02'),
      debits: [part(alice.address, 701n), part(bob.address, 100n)],
      credits: [part(carol.address, 801n)],
    })
    expect(await refused(payloadOf(tooMuch))).toContain('PaymentsExceedBalance')
    expect(await holding(chain, alice)).toMatchObject({ withdrawing: 700n })
    expect(await availableOf(bob)).toBe(400n)
  })

  it('is refused by another signature, chain, contract, token and sum, and while paused', async () => {
    const batch = batchOf()
    for (const [payload, reason] of [
      [payloadOf(batch, elsewhere), 'MismatchedPayments'],
      [payloadOf(batch, domain, minter), 'MismatchedPayments'],
      [payloadOf({ ...batch, token: minter as Address }), 'UnsupportedToken'],
      [payloadOf({ ...batch, credits: [part(carol.address, 401n)] }), 'MismatchedPayments'],
      [payloadOf({ ...batch, credits: [part(carol.address, 399n)] }), 'MismatchedPayments'],
      [payloadOf({ ...batch, credits: [] }), 'MismatchedPayments'],
    ] as const)
      expect(await refused(payload), reason).toContain(reason)
    expect(await refused(payloadOf(batch), alice)).toContain('InvalidBurnSigner')
    await send(chain, issuer, wallet, 'pause', [])
    expect(await refused(payloadOf(batch))).toContain('EnforcedPause')
  })
})
