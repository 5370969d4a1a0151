import { randomBytes } from 'node:crypto'
import { encodeFunctionData, hashTypedData, parseAbi } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { batchedPaymentsDomain } from '#chains/crosschain/batched-payments'
import { recoverSigner } from '#chains/evm/signing/recover-signer'
import { unifiedBalanceContracts } from '#chains/evm/unified-balance/deployed-contracts'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { hexOf } from '#lib/hex'
import {
  type AuthorizationDomain,
  signedX402Payment,
  typedAuthorization,
} from '#testing/builders/token-authorizations'
import { rpc } from '#testing/platform/json-rpc'
import { broadcast, devAccount, fund, type Node, nonceOf } from './chain.ts'
import type { Figure } from './figures.ts'
import { startSandbox } from './inbound.ts'
import { measureBusyCores } from './machine.ts'
import type { Bench, Run } from './run.ts'
import { alternateRounds, median, percentile, ratioOf } from './statistics.ts'
import { until } from './until.ts'

/** Requests under way at once. */
const callers = 16
const { wallet } = unifiedBalanceContracts('TEST')
const abi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'function approve(address spender, uint256 amount)',
  'function deposit(address token, uint256 value)',
])
export const x402Bench: Bench = {
  name: 'x402',
  about: 'payments by x402: verified, settled one by one, and accepted and settled in batches',
  measure: async (run) => {
    const { node, tenant } = await startSandbox(run)
    const payer = devAccount(2)
    await fund(node, payer.address, 10n ** 12n, 0n)
    const shop: Shop = { node, url: tenant.url, apiKey: tenant.apiKey, payer }
    return [...(await verified(run, shop)), ...(await settled(run, shop)), ...(await batched(run, shop))]
  },
}

type Shop = { node: Node; url: string; apiKey: string; payer: PrivateKeyAccount }

/** Verifying over HTTP, beside the simulations that it needs, asked of the node alone. */
async function verified(run: Run, shop: Shop): Promise<Figure[]> {
  const count = run.amount(2_000, 300, callers)
  const busy = measureBusyCores()
  const made = await paymentsOf(shop, count, ofToken(shop.node))
  const rounds = await alternateRounds(run.amount(3, 1, 1), {
    verified: () =>
      perSecond(made, async (payment) => void (await ask(shop, 'facilitator/x402/verify', payment))),
    alone: () => perSecond(made, (payment) => simulate(shop.node, payment)),
  })
  return [
    {
      name: `payments verified over HTTP, ${callers} at once`,
      measured: { value: median(rounds.verified), unit: 'requests/s' },
      reference: { value: median(rounds.alone), unit: 'requests/s', what: 'simulated by the node alone' },
      ratio: ratioOf(rounds.verified, rounds.alone),
      coresBusy: busy(),
    },
  ]
}

/** From the request of a seller to its answer, which a block has. */
async function settled(run: Run, shop: Shop): Promise<Figure[]> {
  const [count, warmUp] = [run.amount(200, 30, 2), run.amount(10, 10, 1)]
  const made = await paymentsOf(shop, count + warmUp, ofToken(shop.node))
  const settle = async (payment: Payment) => {
    const startedMs = performance.now()
    const { success, errorMessage } = await ask(shop, 'facilitator/x402/settle', payment)
    if (!success) throw new Error(`a payment was not settled: ${errorMessage}`)
    return performance.now() - startedMs
  }
  for (const payment of made.splice(0, warmUp)) await settle(payment)
  const busy = measureBusyCores()
  const latencies: number[] = []
  for (const payment of made) latencies.push(await settle(payment))
  run.report(
    `p90 ${percentile(latencies, 0.9).toFixed(1)} ms, p99 ${percentile(latencies, 0.99).toFixed(1)} ms`,
  )
  return [
    {
      name: `asked to be settled until answered with its block, p50 of ${count}`,
      measured: { value: median(latencies), unit: 'ms' },
      promise: { max: 50 },
      coresBusy: busy(),
    },
  ]
}

/** Small payments: accepted over HTTP, beside their signatures verified alone; and a thousand until their batch is final. */
async function batched(run: Run, shop: Shop): Promise<Figure[]> {
  const count = run.amount(1_000, 300, callers)
  await depositAll(shop)
  const busy = measureBusyCores()
  const domain = { ...batchedPaymentsDomain, chainId: shop.node.chainId, verifyingContract: wallet }
  const rounds = await alternateRounds(run.amount(3, 1, 1), {
    accepted: async () => {
      const made = await paymentsOf(shop, count, domain)
      return perSecond(made, async (payment) => {
        const { success, errorMessage } = await ask(shop, 'x402/settle', payment)
        if (!success) throw new Error(`a payment was not accepted: ${errorMessage}`)
      })
    },
    alone: async () =>
      perSecond(await paymentsOf(shop, count, domain), (payment) => recover(payment, domain)),
  })
  const made = await paymentsOf(shop, count, domain)
  const startedMs = performance.now()
  let last = ''
  await perSecond(
    made,
    async (payment) => void (last = (await ask(shop, 'x402/settle', payment)).transaction),
  )
  const acceptedMs = performance.now() - startedMs
  const state = async () => (await (await fetch(`${shop.url}/v1/x402/transfers/${last}`)).json()) as Transfer
  await until(async () => (await state()).status === 'completed', 'the last payment is completed', {
    everyMs: 20,
    patienceMs: 120_000,
  })
  const totalMs = performance.now() - startedMs
  const { gasUsed } = await rpc<{ gasUsed: string }>(shop.node.url, 'eth_getTransactionReceipt', [
    (await state()).txHash,
  ])
  run.report(`${count} accepted in ${acceptedMs.toFixed(0)} ms; the last batch took ${Number(gasUsed)} gas`)
  return [
    {
      name: `small payments accepted over HTTP, ${callers} at once`,
      measured: { value: median(rounds.accepted), unit: 'requests/s' },
      reference: { value: median(rounds.alone), unit: 'requests/s', what: 'signatures verified alone' },
      ratio: ratioOf(rounds.accepted, rounds.alone),
      coresBusy: busy(),
    },
    {
      name: `${count} small payments, from the first request until all are settled and final`,
      measured: { value: totalMs / 1_000, unit: 's' },
      coresBusy: busy(),
    },
    {
      name: `gas of the batch that settled the last of ${count} small payments`,
      measured: { value: Number(gasUsed), unit: 'gas' },
      coresBusy: busy(),
    },
  ]
}

type Transfer = { status: string; txHash: string }
const ofToken = ({ chainId, usdc }: Node): AuthorizationDomain => ({
  name: 'USDC',
  version: '2',
  chainId,
  verifyingContract: usdc,
})

type Payment = Awaited<ReturnType<typeof paymentOf>>

const paymentsOf = (shop: Shop, count: number, domain: AuthorizationDomain): Promise<Payment[]> =>
  Promise.all(Array.from({ length: count }, () => paymentOf(shop, domain)))

const paymentOf = ({ node, payer }: Shop, domain: AuthorizationDomain) =>
  signedX402Payment(payer, domain, node.usdc, {
    from: payer.address,
    to: seller,
    value: 1_000n,
    validAfter: 0n,
    validBefore: BigInt(Math.floor(Date.now() / 1_000) + 3_600),
    nonce: hexOf(randomBytes(32)),
  })

const seller = privateKeyToAccount(`0x${'5e'.repeat(32)}`).address

async function ask(
  { url, apiKey }: Shop,
  path: string,
  { body }: Payment,
): Promise<{ success: boolean; errorMessage?: string; transaction: string }> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` }
  const answer = await fetch(`${url}/v1/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  if (answer.status !== 200) throw new Error(`POST /v1/${path}: ${answer.status} ${await answer.text()}`)
  return answer.json() as never
}

async function simulate({ url, usdc }: Node, { message, signature }: Payment): Promise<void> {
  const { from, to, value, validAfter, validBefore, nonce } = message
  const args = [from, to, value, validAfter, validBefore, nonce, signature] as const
  const data = encodeFunctionData({ abi, functionName: 'transferWithAuthorization', args })
  await rpc(url, 'eth_estimateGas', [{ from: to, to: usdc, data }])
}

async function recover({ message, signature }: Payment, domain: AuthorizationDomain): Promise<void> {
  const digest = hashTypedData(typedAuthorization(domain, message))
  if ((await recoverSigner(digest, signature)) !== message.from.toLowerCase())
    throw new Error('another account signed')
}

/** Does the work with every payment, `callers` at once; returns how many a second. */
async function perSecond(
  payments: readonly Payment[],
  work: (payment: Payment) => Promise<void>,
): Promise<number> {
  const startedMs = performance.now()
  let next = 0
  const loop = async () => {
    while (next < payments.length) await work(payments[next++]!)
  }
  await Promise.all(Array.from({ length: callers }, loop))
  return (1_000 * payments.length) / (performance.now() - startedMs)
}

/** Deposits half of the payer's coins, and waits until they can be spent. */
async function depositAll({ node, payer, url }: Shop): Promise<void> {
  const amount = 500_000_000_000n
  const first = await nonceOf(node, payer.address)
  const calls = [
    [node.usdc, encodeFunctionData({ abi, functionName: 'approve', args: [wallet, amount] })],
    [wallet, encodeFunctionData({ abi, functionName: 'deposit', args: [node.usdc, amount] })],
  ] as const
  const signed = await Promise.all(
    calls.map(([to, data], index) =>
      payer.signTransaction({
        chainId: node.chainId,
        nonce: first + index,
        to,
        data,
        gas: 300_000n,
        maxFeePerGas: 20n * 10n ** 9n,
        maxPriorityFeePerGas: 10n ** 9n,
        type: 'eip1559',
      }),
    ),
  )
  for (const raw of signed) await broadcast(node.url, [raw])
  const body = JSON.stringify({
    token: 'USDC',
    sources: [{ depositor: payer.address, domain: baseSepolia.domain }],
  })
  await until(
    async () => {
      const answer = await fetch(`${url}/v1/balances`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
      const { balances } = (await answer.json()) as { balances: { balance: string }[] }
      return Number(balances[0]?.balance ?? 0) > 0
    },
    'the deposit counts',
    { everyMs: 20, patienceMs: 30_000 },
  )
}
