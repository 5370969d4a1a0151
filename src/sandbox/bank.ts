/**
 * The bank of a sandbox. It takes every order at once, and decides about it after two seconds of business time: an account is linked,
 * a payout complete, unless its amount is one of the hosted sandbox that chooses another outcome. It burns redeemed coins.
 */
import { canonicalAddress } from '#chains/addresses/canonical'
import { capabilitiesOf } from '#chains/capabilities'
import type { Chain } from '#chains/chain'
import { stablecoinIn } from '#chains/network'
import type { BankRail, RedemptionPlace } from '#engines/bank-rail'
import type { EngineCtx } from '#engines/ctx'
import {
  type BankResult,
  lockDueAccount,
  lockDueRedemption,
  lockUndecided,
  type OrderedRedemption,
  reportResult,
  setBankDue,
} from '#engines/treasury/banking/index'
import { formatInstant } from '#lib/time'
import type { Config } from '#runtime/config'
import type { Db } from '#runtime/db/db'
import { type Service, serviceOf } from '#runtime/scheduling/lifecycle'
import { logTrouble, repeat } from '#runtime/scheduling/loop'
import { newTurn, type Turn } from '#runtime/turns/store'
import { faucetAccount } from './constants.ts'
import type { SandboxFaucet } from './faucet/faucet.ts'

const decidesAfterMs = 2_000

/** The minter of the local stablecoins, which alone can burn them. */
const issuer = canonicalAddress(faucetAccount.address)

const sandboxBank: BankRail = {
  environment: 'TEST',
  instructions: {
    beneficiary: { name: 'BEZANT SANDBOX', address1: '1 EXAMPLE STREET', address2: 'BOSTON MA 02110' },
    beneficiaryBank: {
      name: 'SANDBOX BANK',
      swiftCode: 'SBOXUS33',
      routingNumber: '999999992',
      accountNumber: '11111111111',
      currency: 'USD',
      address: '1 EXAMPLE STREET',
      city: 'BOSTON',
      postalCode: '02110',
      country: 'US',
    },
  },
  places: (chains) => chains.list().flatMap(placeOn),
  send: async () => ({ decidesAfterMs }),
}

/** The bank of the sandbox; a connection that is set takes its place, and is tried so. */
export const bankOf = ({ bankRail }: Config): BankRail | undefined => (bankRail ? undefined : sandboxBank)

function placeOn({ local, network }: Chain): RedemptionPlace[] {
  const token = stablecoinIn(network, 'USD')
  const { businessAccount, contracts } = capabilitiesOf(network.blockchain)
  // The issuer burns by a call of the contract of the coins.
  return local && token && businessAccount && contracts ? [{ network, token, address: issuer }] : []
}

type BankOutcome = Omit<Extract<BankResult, { type: 'payout' }>, 'entityId' | 'id' | 'type'>

/** Amounts by which the hosted sandbox chooses the outcome of a payout, in base units. */
const outcomes: ReadonlyMap<bigint, BankOutcome> = new Map([
  [6_370_000n, { status: 'failed', errorCode: 'transaction_returned' }],
  [6_530_000n, { status: 'failed', errorCode: 'transaction_failed' }],
])
/** This one is complete at first, and returned then. */
const returnedAtomic = 6_210_000n

/** Starts deciding about the orders of a sandbox, and burning redeemed coins. */
export function startDecidingForBank(ctx: EngineCtx, { burn }: Pick<SandboxFaucet, 'burn'>): Service {
  const [accounts, redemptions] = [newTurn('deciding about accounts'), newTurn('deciding about redemptions')]
  const loop = repeat(
    () => decideNext(ctx, accounts, redemptions, burn),
    logTrouble(ctx.log, 'deciding for the bank of the sandbox'),
  )
  return serviceOf(loop)
}

async function decideNext(
  ctx: EngineCtx,
  accounts: Turn,
  redemptions: Turn,
  burn: SandboxFaucet['burn'],
): Promise<boolean> {
  const now = formatInstant(ctx.clock.nowMs())
  const linked = await ctx.database.tx(async (tx) => {
    const account = await lockDueAccount(tx, accounts, now)
    if (account)
      await reportResult(reporting(ctx, tx, account), { type: 'account', ...account, status: 'complete' })
    return account
  })
  // The coins are burned first: while the node is away, the bank has not decided.
  const due = await ctx.database.tx((tx) => lockDueRedemption(tx, redemptions, now))
  if (due) await burn(due.blockchain, due.currency)
  const paid = due && (await ctx.database.tx((tx) => decideLocked(ctx, tx, due, now)))
  return linked !== undefined || paid !== undefined
}

/** Decides about a redemption, unless another process has. */
async function decideLocked(
  ctx: EngineCtx,
  tx: Db,
  { entityId, id: dueId }: OrderedRedemption,
  now: string,
): Promise<true> {
  const redemption = await lockUndecided(tx, entityId, dueId, now)
  if (redemption) await decide(ctx, tx, redemption)
  return true
}

async function decide(ctx: EngineCtx, tx: Db, redemption: OrderedRedemption): Promise<void> {
  const { entityId, id, amount, bankState } = redemption
  const trackingRef = `BZ${id.slice(-8).toUpperCase()}`
  const outcome: BankOutcome =
    bankState === 'complete'
      ? { status: 'returned', reason: 'Account closed' }
      : (outcomes.get(amount) ?? {
          status: 'complete',
          trackingRef,
          externalRef: `${trackingRef}${id.slice(0, 8).toUpperCase()}`,
        })
  await reportResult(reporting(ctx, tx, redemption), { type: 'payout', entityId, id, ...outcome })
  if (amount === returnedAtomic && outcome.status === 'complete')
    await setBankDue(tx, redemption, formatInstant(ctx.clock.nowMs() + decidesAfterMs))
}

const reporting = (ctx: EngineCtx, tx: Db, { id }: { id: string }) => ({
  ...ctx,
  db: tx,
  actor: 'bank',
  requestId: id,
})
