import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { encodeFunctionData, keccak256, parseAbi, toHex } from 'viem'
import { signedX402Payment } from '#testing/builders/token-authorizations'
import type { TestChain } from '#testing/platform/chain'
import { buyers } from './buyers.ts'
import { askAnyApi } from './client-load.ts'
import type { RunNode } from './run-node.ts'
import type { PlannedPayment } from './schedule.ts'
import { tenantAt } from './seeded-database.ts'
import type { Slot } from './worker-pool.ts'

/** A payment that was asked for, and how its sellers were answered: each delivery is told to deliver, or not. */
export type AskedPayment = { planned: PlannedPayment; delivered: string[]; refused: string[] }

const abi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
])
/** Signs the payments and asks for all of them, until each delivery has an answer that decides about it. */
export function openBuyerLoad({ chain }: RunNode, slots: readonly Slot[]) {
  const asked: AskedPayment[] = []

  async function pay(planned: PlannedPayment): Promise<void> {
    const payment: AskedPayment = { planned, delivered: [], refused: [] }
    asked.push(payment)
    await sleep(planned.waitMs)
    const signed = await signedBy(chain, planned)
    await Promise.all([
      ...Array.from({ length: planned.deliveries }, () => deliver(payment, signed)),
      sendByHand(chain, planned, signed),
    ])
  }

  /** One delivery of a seller, who asks again under its number until it knows whether to deliver. */
  async function deliver(payment: AskedPayment, signed: SignedByBuyer): Promise<void> {
    const { api, hangUpMs } = payment.planned
    const body = { ...signed.body, deliveryId: randomUUID() }
    for (;;) {
      const { body: told, text } = await askAnyApi(slots, api, hangUpMs, (url) =>
        tenantAt(url).http('POST', '/v1/facilitator/x402/settle', { body }),
      )
      if (told?.success) return void payment.delivered.push(told.transaction)
      if (told?.errorReason !== 'settlement_pending')
        return void payment.refused.push(told?.errorReason ?? text)
    }
  }
  return {
    asked: asked as readonly AskedPayment[],
    payAll: async (payments: readonly PlannedPayment[]) => void (await Promise.all(payments.map(pay))),
  }
}

type SignedByBuyer = Awaited<ReturnType<typeof signedBy>>

function signedBy({ chainId, tokens }: TestChain, { buyer, to, amountAtomic, validSeconds }: PlannedPayment) {
  const account = buyers[buyer]!
  const verifyingContract = tokens.USDC as `0x${string}`
  return signedX402Payment(account, { name: 'USDC', version: '2', chainId, verifyingContract }, tokens.USDC, {
    from: account.address,
    to: to as `0x${string}`,
    value: amountAtomic,
    validAfter: 0n,
    validBefore: BigInt(Math.floor(Date.now() / 1000) + validSeconds),
    nonce: keccak256(toHex(to)),
  })
}

/** Sends the authorization past the program. The node may refuse it, or lose it. */
async function sendByHand(chain: TestChain, planned: PlannedPayment, signed: SignedByBuyer): Promise<void> {
  if (planned.byHandAfterMs === undefined) return
  await sleep(planned.byHandAfterMs)
  const { from, to, value, validAfter, validBefore, nonce } = signed.message
  const args = [from, to, value, validAfter, validBefore, nonce, signed.signature] as const
  const data = encodeFunctionData({ abi, args })
  const sent = { from: chain.outsider, to: chain.tokens.USDC, data, gas: '0x30d40' }
  await chain.rpc('eth_sendTransaction', [sent]).catch(() => undefined)
}
