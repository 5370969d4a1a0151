/** Fixtures of payments by x402: a wallet signs one, and the platform settles it as for a seller. */
import { randomBytes } from 'node:crypto'
import { authorizationData } from '#chains/authorization-data'
import { networkIdOf } from '#chains/chain-ids'
import { hexOf } from '#lib/hex'
import { atomicOf, coinOf } from '../chain-control/payment.ts'
import type { Fixture } from './fixture.ts'
import type { Steps } from './steps.ts'
import { fundedWallet } from './wallets.ts'

const validSeconds = 600

/** The name and version that the contract of the coin gives itself: wallets sign for these. */
async function nameOfCoin(steps: Steps, field: 'name' | 'version'): Promise<string> {
  const { blockchain } = steps.network
  const asked = { address: steps.usdc, blockchain, abiFunctionSignature: `${field}()`, abiParameters: [] }
  const abiJson = JSON.stringify([
    {
      type: 'function',
      name: field,
      stateMutability: 'view',
      inputs: [],
      outputs: [{ type: 'string', name: '' }],
    },
  ])
  const { outputValues } = await steps.call('POST', '/v1/w3s/contracts/query', { ...asked, abiJson })
  return outputValues[0]
}

async function pay(steps: Steps): Promise<void> {
  const { id: walletId, address: from } = await fundedWallet(steps)
  const { blockchain } = steps.network
  const [name, version] = [await nameOfCoin(steps, 'name'), await nameOfCoin(steps, 'version')]
  const { decimals } = coinOf(steps.chain, 'USDC')
  const amount = String(atomicOf('set.amount', steps.values['amount']!, decimals))
  const { now } = await steps.call('GET', '/sandbox/clock')
  const authorization = {
    from,
    to: steps.address(),
    value: amount,
    validAfter: '0',
    validBefore: String(Math.floor(Date.parse(now) / 1_000) + validSeconds),
    nonce: hexOf(randomBytes(32)),
  }
  const data = authorizationData({ blockchain, address: steps.usdc, name, version }, authorization)
  const sealed = await steps.call('GET', '/sandbox/ciphertext')
  const signing = { ...sealed, walletId, data: JSON.stringify(data) }
  const { signature } = await steps.call('POST', '/v1/w3s/developer/sign/typedData', signing)
  const accepted = {
    scheme: 'exact',
    network: networkIdOf(blockchain),
    payTo: authorization.to,
    amount,
    asset: steps.usdc,
    maxTimeoutSeconds: validSeconds,
    extra: { name, version },
  }
  const { paymentId } = await steps.ask('POST', '/v1/facilitator/x402/settle', {
    x402Version: 2,
    paymentPayload: { x402Version: 2, accepted, payload: { signature, authorization } },
    paymentRequirements: accepted,
  })
  const path = `/v1/facilitator/x402/status/${steps.note('x402Payment', paymentId)}`
  await steps.until(async () => (await steps.ask('GET', path)).final || undefined, 'the payment is final')
}

export const x402Fixtures: Readonly<Record<string, Fixture>> = {
  'x402.payment': {
    needs: 'signed payments',
    about: 'A buyer signs a payment by x402, which is settled.',
    topics: ['x402.payment'],
    values: { amount: '0.5' },
    run: pay,
  },
}
