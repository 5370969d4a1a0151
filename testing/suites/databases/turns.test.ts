/**
 * Each queue of `src/runtime/turns/queues.ts` is filled by one tenant far beyond the size of a claim, before the work of
 * another tenant arrives. A queue without an entry here does not compile.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { unlinkedEntries } from '#engines/audit/store/links'
import { duePayments } from '#engines/facilitator/store'
import { claimHistory } from '#engines/indexer/events/store/histories'
import { uncountedTransfers } from '#engines/ledger/flow/store'
import { claimDueChecks } from '#engines/tokens/store'
import { claimDueAttempts, expiredAttempts } from '#engines/transactions/store/attempts'
import { attemptsAboveGaps, refusedGaps, underpricedGaps } from '#engines/transactions/store/gaps'
import { waitingOperations } from '#engines/transactions/store/operations'
import { replacementRequests, stuckTransactions } from '#engines/transactions/store/replacements'
import { withoutRevertReason } from '#engines/transactions/store/revert-reasons'
import { claimOutdated, claimToFreeze, claimUnscreened } from '#engines/transactions/store/screening'
import { waitingSenders } from '#engines/transactions/store/transactions'
import { endAddressHolds, verifyAddresses } from '#engines/treasury/address-book/store/recipient-addresses'
import { endRecipientHolds, endReviews } from '#engines/treasury/address-book/store/recipients'
import { lockDueAccount, takeAccountToLink } from '#engines/treasury/banking/store/accounts'
import { lockDueRedemption, takeRedemptionToSend } from '#engines/treasury/banking/store/orders'
import { settleCalls } from '#engines/treasury/bundling/store'
import { takeWire } from '#engines/treasury/deposits/store/fiat-deposits'
import {
  claimWaiting,
  type DisbursementKind,
  disbursementKinds,
  endedDisbursements,
  lockEnded,
  showHashes,
} from '#engines/treasury/disbursements/store/disbursements'
import { lockExpiredIntents } from '#engines/treasury/payment-intents/store'
import { claimBatch } from '#engines/treasury/payout-batches/store'
import { endSweeps } from '#engines/treasury/sweeping/store'
import { claimLanes } from '#engines/webhooks/store/deliveries'
import { serveQueued } from '#engines/webhooks/store/queue'
import { type Db, openAsOwner } from '#runtime/db/db'
import { type Queue, queues } from '#runtime/turns/queues'
import { defer, lookedAtMax, newTurn, type Turn } from '#runtime/turns/store'
import { openTestDatabase, type TestDatabase } from '#testing/databases/database'
import { itOnOneServer } from '#testing/databases/one-server'
import {
  accountCall,
  addressOf,
  blockchain,
  dates,
  earlier,
  idOf,
  insertAttemptsBelow,
  insertHistoryRows,
  insertPayoutBatches,
  insertRows,
  insertSentTransactions,
  keyOf,
  disbursementRows as kinds,
  money,
  type NumberedRow,
  openIntent,
  type Row,
  recipient,
  recipientAddress,
  redeemedRow,
  signedPayment,
  transaction,
  undecidedAccount,
  unlinkedAccount,
  waitingWire,
} from '#testing/databases/queue-rows'
import { analyze, rowsReadBy } from '#testing/databases/rows-read'
import { sizeOf } from '#testing/runner/size'

/** Size of a claim, and number of rows of the tenant that came first. */
const limit = 4
const rowsOfOne = sizeOf('QUEUE_ROWS', { usual: 12, deep: 2_000 })
const now = '2026-01-02T00:00:00.000Z'
const noisy = '00000000-0000-4000-8000-000000000001'
const victim = 'ffffffff-ffff-4fff-bfff-ffffffffffff'

let test: TestDatabase
beforeAll(async () => {
  test = await openTestDatabase()
})
afterAll(() => test.close())

/** The waiting rows of one tenant, in order. */
const waitsOf = (entityId: string, count: number, from = 1): NumberedRow[] =>
  Array.from({ length: count }, (_, index) => ({ entityId, index: index + from }))

const platformOf = (all: readonly NumberedRow[], changes: Row) =>
  insertRows(
    db(),
    'transactions',
    all.map((made) => transaction(made, { wallet_id: null, ...changes })),
  )

const insertTransactions = (all: readonly NumberedRow[], changes: Row = {}) =>
  insertRows(
    db(),
    'transactions',
    all.map((made) => transaction(made, changes)),
  )

const redemptions = (all: readonly NumberedRow[], changes: Row) => {
  const rows = all.map((made) => ({ ...redeemedRow(made), ...changes }))
  return insertRows(db(), 'redemptions', rows)
}

/** Two claims of a queue that gives one item at a time. */
const twice = async <Item>(claim: () => Promise<Item | undefined>) => [(await claim())!, (await claim())!]

async function disbursements(all: readonly NumberedRow[], changes: Row = {}) {
  await insertRows(db(), 'payment_intents', all.map(openIntent))
  for (const { table, row } of Object.values(kinds))
    await insertRows(
      db(),
      table,
      all.map((made) => ({
        ...row,
        ...keyOf(made),
        ...dates,
        ...(table === 'payments' && { payment_intent_id: idOf(made) }),
        ...changes,
      })),
    )
}

const ofKinds = async (claim: (kind: DisbursementKind) => Promise<readonly { entityId: string }[]>) => {
  const claimed = await Promise.all(disbursementKinds.map(claim))
  // The victim is served only if no kind passes over it.
  return claimed.every((rows) => rows.some(({ entityId }) => entityId === victim)) ? claimed.flat() : []
}

type Starved = {
  /** Inserts these rows into the queue. */
  fill(all: readonly NumberedRow[]): Promise<unknown>
  /** Makes one claim of at most `limit` rows, or of its own fixed number. */
  claim(turn: Turn): Promise<readonly { entityId: string }[]>
  /** Key under which a row that cannot move is deferred, where such rows stay in the queue. */
  restsBy?: (made: NumberedRow) => string
}

const db = () => test.database
const operationHash = `0x${'ab'.repeat(32)}`
const operation = (made: NumberedRow): Row => ({
  ...keyOf(made),
  blockchain,
  account: addressOf(made),
  user_op_hash: operationHash,
  operation: {},
  required_deposit: 1,
  state: 'signed',
  was_bundled: false,
  create_date: earlier,
})
const held = { hold_until: earlier }
const unlisted = { listed: false, look_alike: false }
const reverted = { state: 'FAILED', error_reason: 'FAILED_ON_CHAIN' }

const starved: Record<Queue, Starved> = {
  screening: {
    fill: (all) => insertTransactions(all, { state: 'INITIATED' }),
    claim: (turn) => claimUnscreened(db(), turn, blockchain, limit),
  },
  'screening again': {
    fill: (all) => insertTransactions(all, { screening: {} }),
    claim: (turn) => claimOutdated(db(), turn, blockchain, 1, limit),
  },
  'freezing receivers': {
    fill: (all) =>
      insertTransactions(all, { transaction_type: 'INBOUND', state: 'COMPLETE', to_freeze: true }),
    claim: (turn) => claimToFreeze(db(), turn, blockchain, limit),
  },
  signing: {
    fill: (all) => insertTransactions(all),
    claim: (turn) => waitingSenders(db(), turn, blockchain, limit, false),
  },
  'signing operations': {
    fill: (all) => insertTransactions(all, { smart_account: true }),
    claim: (turn) => waitingSenders(db(), turn, blockchain, limit, true),
  },
  'bundling operations': {
    fill: async (all) => {
      await insertTransactions(all, { smart_account: true, state: 'QUEUED', user_op_hash: operationHash })
      await insertRows(db(), 'operations', all.map(operation))
    },
    claim: (turn) => waitingOperations(db(), turn, blockchain, limit),
  },
  'settling account calls': {
    fill: async (all) => {
      await insertTransactions(all, { wallet_id: null, state: 'COMPLETE' })
      await insertRows(db(), 'account_calls', all.map(accountCall))
    },
    claim: (turn) => settleCalls(db(), turn, blockchain, limit),
  },
  sending: {
    fill: (all) => insertSentTransactions(db(), all),
    claim: (turn) => claimDueAttempts(db(), turn, blockchain, limit, 60_000),
  },
  'filling refused nonces': {
    fill: async (all) => {
      await insertSentTransactions(db(), all)
      await insertAttemptsBelow(db(), all, { state: 'rejected' })
    },
    claim: (turn) => refusedGaps(db(), turn, blockchain, limit),
    restsBy: addressOf,
  },
  'filling outpriced nonces': {
    fill: async (all) => {
      await insertSentTransactions(db(), all)
      await insertAttemptsBelow(db(), all, { kind: 'noop' })
    },
    claim: (turn) => underpricedGaps(db(), turn, blockchain, 2n, limit),
    restsBy: addressOf,
  },
  'filling unsigned nonces': {
    fill: (all) => insertSentTransactions(db(), all, { attempt: { broadcast_count: 3 } }),
    claim: (turn) => attemptsAboveGaps(db(), turn, blockchain, limit),
    restsBy: addressOf,
  },
  replacing: {
    fill: (all) => insertSentTransactions(db(), all, { transaction: { requested_replacement: 'cancel' } }),
    claim: (turn) => replacementRequests(db(), turn, blockchain, limit),
    restsBy: addressOf,
  },
  'finding stuck transactions': {
    fill: (all) => insertSentTransactions(db(), all, { attempt: { state: 'sent' } }),
    claim: (turn) => stuckTransactions(db(), turn, blockchain, 2n, Date.parse(now), limit),
  },
  'ending lives': {
    fill: (all) => insertSentTransactions(db(), all, { attempt: { expires_ms: 1, signed_at: 0 } }),
    claim: (turn) => expiredAttempts(db(), turn, blockchain, { number: 1, timeMs: 1 }, limit),
  },
  'explaining reverts': {
    fill: (all) => insertSentTransactions(db(), all, { attempt: { state: 'mined' }, transaction: reverted }),
    claim: (turn) => withoutRevertReason(db(), turn, blockchain, limit),
    restsBy: idOf,
  },
  'reading event histories': {
    fill: (all) => insertHistoryRows(db(), all),
    claim: async (turn) => {
      const claim = () => claimHistory(db(), turn, blockchain, 9, 0)
      return [(await claim())!, (await claim())!]
    },
    restsBy: idOf,
  },
  'comparing token balances': {
    fill: async (all) => {
      const id = randomUUID()
      await insertRows(db(), 'tokens', [
        {
          id,
          blockchain,
          address: id,
          name: '',
          symbol: '',
          decimals: 0,
          is_native: false,
          ...dates,
          ...unlisted,
        },
      ])
      const check = { token_id: id, blockchain, due_at: earlier, since: earlier, block_number: -1 }
      await insertRows(
        db(),
        'token_checks',
        all.map((made) => ({ ...check, entity_id: made.entityId, address: addressOf(made) })),
      )
    },
    claim: (turn) => claimDueChecks(db(), turn, blockchain, limit, 60_000),
  },
  'writing notifications': {
    fill: (all) =>
      insertRows(
        db(),
        'queued_events',
        all.map((made) => ({ ...keyOf(made), type: 'payment.paid', resource_id: '1', ...dates })),
      ),
    claim: (turn) => serveQueued(db(), turn, earlier, limit, async () => true),
    restsBy: () => '',
  },
  'sending notifications': {
    fill: (all) =>
      insertRows(
        db(),
        'notification_subscriptions',
        all.map((made) => ({
          ...keyOf(made),
          ...dates,
          endpoint: `http://127.0.0.1/${made.index}`,
          base_url: '',
          environment: 'TEST',
          wake_date: earlier,
          failure_count: 0,
          fencing_token: 0,
        })),
      ),
    claim: (turn) => claimLanes(db(), turn, now, { failing: false, limit, leaseMs: 60_000 }),
  },
  paying: {
    fill: (all) => disbursements(all),
    claim: ({ queue }) =>
      ofKinds(async (kind) => {
        const turn = newTurn(queue)
        const claim = () => db().tx((tx) => claimWaiting(tx, turn, kind, blockchain))
        const [first, second] = [await claim(), await claim()]
        return [first!, second!]
      }),
  },
  'showing hashes': {
    fill: async (all) => {
      await disbursements(all, { submitted: true })
      await platformOf(all, { state: 'SENT', tx_hash: '0x01' })
    },
    claim: (turn) => ofKinds((kind) => showHashes(db(), turn, { kind, blockchain }, now, limit)),
  },
  'settling disbursements': {
    fill: async (all) => {
      await disbursements(all, { submitted: true })
      await platformOf(all, { state: 'FAILED' })
    },
    claim: (turn) =>
      ofKinds((kind) => {
        const queue = { kind, blockchain, completeTo: 0 }
        const take = (entityId: string, count: number) => lockEnded(db(), queue, { entityId }, count)
        return endedDisbursements(db(), turn, queue, take, limit)
      }),
    restsBy: idOf,
  },
  'creating payouts of batches': {
    fill: (all) => insertPayoutBatches(db(), all),
    claim: async (turn) =>
      [await claimBatch(db(), turn), await claimBatch(db(), turn)].flatMap((batch) => batch ?? []),
  },
  'settling sweeps': {
    fill: async (all) => {
      const addresses = { from_address: '0xaa', to_address: '0xbb' }
      await insertRows(
        db(),
        'sweeps',
        all.map((made) => ({ ...money, ...keyOf(made), ...dates, ...addresses, status: 'pending' })),
      )
      await platformOf(all, { state: 'FAILED' })
    },
    claim: (turn) =>
      endSweeps(db(), turn, { blockchain, completeTo: 0 }, now, limit, () => Promise.resolve()),
  },
  'reviewing recipients': {
    fill: (all) =>
      insertRows(
        db(),
        'recipients',
        all.map((made) => ({ ...recipient(made), status: 'pending' })),
      ),
    claim: (turn) => endReviews(db(), turn, now, limit),
  },
  'ending holds of recipients': {
    fill: (all) =>
      insertRows(
        db(),
        'recipients',
        all.map((made) => ({ ...recipient(made), ...held, status: 'inactive' })),
      ),
    claim: (turn) => endRecipientHolds(db(), turn, now, limit),
  },
  'verifying addresses': {
    fill: (all) =>
      insertRows(
        db(),
        'recipient_addresses',
        all.map((made) => ({ ...recipientAddress(made), status: 'pending_verification' })),
      ),
    claim: (turn) => verifyAddresses(db(), turn, now, limit),
  },
  'ending holds of addresses': {
    fill: (all) =>
      insertRows(
        db(),
        'recipient_addresses',
        all.map((made) => ({ ...recipientAddress(made), ...held, status: 'verification_succeeded' })),
      ),
    claim: (turn) => endAddressHolds(db(), turn, now, limit),
  },
  'minting wires': {
    fill: (all) => insertRows(db(), 'fiat_deposits', all.map(waitingWire)),
    claim: (turn) => twice(() => takeWire(db(), turn, now)),
  },
  'linking bank accounts': {
    fill: (all) => insertRows(db(), 'bank_accounts', all.map(unlinkedAccount)),
    claim: (turn) => twice(() => takeAccountToLink(db(), turn, 60_000)),
  },
  'deciding about accounts': {
    fill: (all) => insertRows(db(), 'bank_accounts', all.map(undecidedAccount)),
    claim: (turn) => twice(() => lockDueAccount(db(), turn, now)),
  },
  'ordering redemptions': {
    fill: async (all) => {
      await redemptions(all, { submitted: true })
      await platformOf(all, { state: 'COMPLETE', block_number: 1 })
    },
    claim: (turn) => twice(() => takeRedemptionToSend(db(), turn, blockchain, 1, 60_000)),
  },
  'deciding about redemptions': {
    fill: (all) => redemptions(all, { bank_state: 'sent', bank_due: earlier }),
    claim: (turn) => twice(() => lockDueRedemption(db(), turn, now)),
  },
  'settling signed payments': {
    fill: (all) => insertRows(db(), 'x402_payments', all.map(signedPayment)),
    claim: (turn) => duePayments(db(), turn, blockchain, limit),
  },
  'closing payment intents': {
    fill: (all) => insertRows(db(), 'payment_intents', all.map(openIntent)),
    claim: (turn) => db().tx((tx) => lockExpiredIntents(tx, turn, now, limit)),
  },
  'linking audit entries': {
    fill: (all) => insertRows(db(), 'unlinked_audit', all.map(keyOf)),
    claim: (turn) => unlinkedEntries(db(), turn, limit),
  },
  'counting the flow': {
    fill: (all) => insertRows(db(), 'uncounted_flow', all.map(keyOf)),
    claim: (turn) => uncountedTransfers(db(), turn, limit),
  },
}

const ofNoisy = waitsOf(noisy, rowsOfOne)
const ofVictim = waitsOf(victim, 1, rowsOfOne + 1)

beforeEach(async () => {
  const owner = openAsOwner(test.connection)
  await owner.script(`truncate deferrals, attempts, transactions, payout_batches, bank_accounts, redemptions, payouts, transfers, payments, payment_intents, sweeps, x402_payments, recipients,
    recipient_addresses, fiat_deposits, event_monitors, token_checks, tokens, queued_events, unlinked_audit, uncounted_flow, notification_subscriptions cascade`)
  await owner.close()
})

it.each(queues)('property 64: the queue "%s" serves a tenant behind one that fills it', async (queue) => {
  const { fill, claim, restsBy } = starved[queue]
  await fill(ofNoisy)
  await fill(ofVictim)
  const claimed = await claim(newTurn(queue))
  expect(claimed.map(({ entityId }) => entityId)).toContain(victim)
  if (!restsBy) return
  const chain = queue === 'writing notifications' ? '' : blockchain
  const stuck = ofNoisy.map((made) => ({ entityId: noisy, key: restsBy(made), waitedMs: 60_000 }))
  await defer(db(), queue, chain, stuck)
  const left = await claim(newTurn(queue))
  expect(new Set(left.map(({ entityId }) => entityId))).toEqual(new Set([victim]))
})

it('property 64: tenants that one claim leaves out are first in the next', async () => {
  const tenants = Array.from({ length: 3 * limit }, (_, index) => ({
    entityId: randomUUID(),
    index: index + 1,
  }))
  await insertRows(
    db(),
    'transactions',
    tenants.map((made) => transaction(made)),
  )
  const turn = newTurn('signing')
  const seen = new Set<string>()
  for (let claims = 0; claims < 3; claims++)
    for (const { entityId } of await waitingSenders(db(), turn, blockchain, limit, false)) seen.add(entityId)
  expect(seen.size).toBe(3 * limit)
})

itOnOneServer('property 64: a claim reads no more rows when many more tenants wait', async () => {
  const { fill } = starved['comparing token balances']
  const readsBeside = async (tenants: number) => {
    await fill(Array.from({ length: tenants }, () => waitsOf(randomUUID(), 3)).flat())
    const owner = openAsOwner(test.connection)
    await analyze(owner, 'token_checks')
    await owner.close()
    const claim = async (tx: Db) => {
      // As small a table would be read as a whole.
      await tx.script('set local enable_seqscan = off')
      await claimDueChecks(tx, newTurn('comparing token balances'), blockchain, limit, 60_000)
    }
    return (await rowsReadBy(test.database, claim))['token_checks']!
  }
  const some = await readsBeside(2 * lookedAtMax)
  expect(await readsBeside(8 * lookedAtMax)).toBeLessThanOrEqual(1.5 * some)
})

it('property 64: a change of a deferred sender ends its deferral', async () => {
  const [made] = ofVictim
  await insertRows(db(), 'transactions', [transaction(made!)])
  const turn = newTurn('signing')
  const claim = () => waitingSenders(db(), turn, blockchain, limit, false)
  const [sender] = await claim()
  await defer(db(), 'signing', blockchain, [
    { entityId: victim, key: sender!.address, seen: sender!.seen, waitedMs: 300_000 },
  ])
  expect(await claim()).toEqual([])
  await insertRows(db(), 'transactions', [transaction(made!, { id: randomUUID(), create_date: now })])
  expect(await claim()).toHaveLength(1)
})
