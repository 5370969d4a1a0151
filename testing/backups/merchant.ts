/** A merchant whose customers deposit, and who pays out: no two deposits and no two payouts have the same amount. */
import { randomUUID } from 'node:crypto'
import { type openAsOwner, sql } from '#runtime/db/db'
import { dataOf, makeActiveRecipient, makePaymentIntent } from '#testing/builders/world'
import type { TestChain } from '#testing/platform/chain'
import { type Tenant, untilAdmitted } from '#testing/platform/tenant'
import { mineUntil, until } from '#testing/platform/until'

export type RequestedPayout = { id: string; amountAtomic: bigint; body: object }

export type Merchant = {
  payouts: RequestedPayout[]
  /** The address of all payouts. */
  payee: string
  deposit(): Promise<void>
  requestPayout(): Promise<void>
  /** Repeats the request of a payout with its idempotency key. */
  repeat(payout: RequestedPayout): Promise<void>
  /** Names each deposit that is not credited, each payout that is not complete, and a balance that is not their difference. */
  differences(): Promise<string[]>
}

type MerchantOptions = {
  tenant: Tenant
  chain: TestChain
  /** The code of the chain for the business account. */
  code: string
  database: ReturnType<typeof openAsOwner>
}

const centAtomic = 10_000n
const firstDepositAtomic = 100_000n * centAtomic
const gasAtomic = 10n ** 20n

/** Makes a merchant that was paid and has paid out once, so that its treasury is known and has coins for gas. */
export async function openMerchant({ tenant, chain, code, database }: MerchantOptions): Promise<Merchant> {
  const call: Call = async (method, path, body) => {
    const answer = await untilAdmitted(() => tenant.http(method, path, body === undefined ? {} : { body }))
    return dataOf(answer, `${method} ${path}`)
  }
  const { depositAddress } = await makePaymentIntent({ call }, code)
  const { id: recipientId, address: payee } = await makeActiveRecipient({ call }, { chain: code })
  const deposits: bigint[] = []
  const payouts: RequestedPayout[] = []
  const pay = async (amountAtomic: bigint) => {
    deposits.push(amountAtomic)
    await chain.send(depositAddress, amountAtomic, 'USDC')
  }
  const repeat = async (payout: RequestedPayout) => {
    payout.id = (await call('POST', '/v1/payouts', payout.body)).id
  }
  const requestPayout = async () => {
    const amountAtomic = centAtomic * BigInt(payouts.length + 1)
    const destination = { type: 'address_book', id: recipientId }
    const body = { idempotencyKey: randomUUID(), destination, amount: usd(amountAtomic) }
    const payout = { id: '', amountAtomic, body }
    payouts.push(payout)
    await repeat(payout)
  }
  await pay(firstDepositAtomic)
  const isPaid = async () => (await availableOf(call)) === usd(firstDepositAtomic).amount
  await mineUntil(chain, isPaid, 'the first deposit is credited')
  await requestPayout()
  await giveGas(database, chain)
  const isComplete = async () => (await call('GET', `/v1/payouts/${payouts[0]!.id}`)).status === 'complete'
  await mineUntil(chain, isComplete, 'the first payout is complete')
  return {
    payouts,
    payee,
    deposit: () => pay(centAtomic * BigInt(deposits.length)),
    requestPayout,
    repeat,
    differences: () => differencesOf(call, deposits, payouts),
  }
}

// biome-ignore lint/suspicious/noExplicitAny: answers are examined member by member
type Call = (method: string, path: string, body?: object) => Promise<any>

const usd = (amountAtomic: bigint) => ({ amount: (Number(amountAtomic) / 1e6).toFixed(2), currency: 'USD' })

const availableOf = async (call: Call): Promise<string | undefined> =>
  (await call('GET', '/v1/businessAccount/balances')).available[0]?.amount

/** Gives coins to the treasury, as an operator does whom the alarm tells its address. */
async function giveGas(database: MerchantOptions['database'], chain: TestChain): Promise<void> {
  const treasuries = () =>
    database.all<{ address: string }>(
      sql`select address from managed_addresses where purpose = 'treasury' and blockchain = ${chain.blockchain}`,
    )
  await until(async () => (await treasuries()).length > 0, 'there is a treasury')
  for (const { address } of await treasuries()) await chain.send(address, gasAtomic)
}

async function differencesOf(call: Call, deposits: readonly bigint[], payouts: readonly RequestedPayout[]) {
  const paid = new Map<string, number>()
  for await (const { status, amount } of paymentsOf(call))
    if (status === 'paid') paid.set(amount.amount, (paid.get(amount.amount) ?? 0) + 1)
  const found = deposits
    .map((amountAtomic) => usd(amountAtomic).amount)
    .filter((amount) => paid.get(amount) !== 1)
    .map((amount) => `a deposit of ${amount} is credited ${paid.get(amount) ?? 0} times`)
  for (const { id } of payouts) {
    const { status } = await call('GET', `/v1/payouts/${id}`)
    if (status !== 'complete') found.push(`the payout ${id} is ${status}`)
  }
  const sum = (amounts: readonly bigint[]) => amounts.reduce((total, each) => total + each, 0n)
  const due = usd(sum(deposits) - sum(payouts.map(({ amountAtomic }) => amountAtomic))).amount
  const available = await availableOf(call)
  if (available !== due) found.push(`the merchant has ${available} and not ${due}`)
  return found
}

type ShownPayment = { id: string; status: string; amount: { amount: string } }

async function* paymentsOf(call: Call): AsyncGenerator<ShownPayment> {
  let after = ''
  for (;;) {
    const page: ShownPayment[] = await call('GET', `/v1/payments?pageSize=50${after}`)
    if (page.length === 0) return
    yield* page
    after = `&pageAfter=${page.at(-1)!.id}`
  }
}
