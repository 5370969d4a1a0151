import { randomUUID } from 'node:crypto'
import { balancesOf } from '#engines/ledger/index'
import { findTransaction, type State, type TransactionRow } from '#engines/transactions/index'
import { sql } from '#runtime/db/db'
import type { Harness } from '#testing/platform/harness'
import { type HttpAnswer, untilAdmitted } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { fundUntilBooked } from './funds.ts'
import { dataOf, freshAddress, makeWallet, type Wallet, type World, worldOf } from './world.ts'

/** One signed transaction as it is stored. */
export type StoredAttempt = {
  id: string
  kind: string
  state: string
  txHash: string
  nonce: number
  raw: Buffer
  maxFee: bigint
  priorityFee: bigint
}

/** Actions of tests of the transaction engine: requests transfers over the API, and reads their outcome. */
export function transferActions(harness: Harness) {
  const world: World = worldOf(harness)
  const { database, entityId } = harness

  /** Transfers 0.5 USDC to an unused address, unless `changes` say otherwise; returns the id. */
  async function transfer(wallet: Wallet, changes: Record<string, unknown> = {}): Promise<string> {
    const path = '/v1/w3s/developer/transactions/transfer'
    const body = {
      idempotencyKey: randomUUID(),
      entitySecretCiphertext: await harness.sealSecret(),
      walletId: wallet.id,
      tokenId: world.usdcId,
      destinationAddress: freshAddress(),
      amounts: ['0.5'],
      feeLevel: 'MEDIUM',
      ...changes,
    }
    return dataOf(await untilAdmitted(() => harness.http('POST', path, { body })), path).id
  }

  const ask = async (id: string, what: 'accelerate' | 'cancel'): Promise<HttpAnswer> =>
    harness.http('POST', `/v1/w3s/developer/transactions/${id}/${what}`, {
      body: { idempotencyKey: randomUUID(), entitySecretCiphertext: await harness.sealSecret() },
    })

  const read = async (id: string): Promise<TransactionRow> =>
    (await findTransaction(database, { entityId }, id))!

  const statesOf = async (ids: readonly string[]): Promise<string[]> => {
    const rows = await database.all<{ state: string }>(
      sql`select state from transactions where entity_id = ${entityId} and id = any(${ids}::uuid[])`,
    )
    return rows.map(({ state }) => state)
  }

  async function reaches(id: string, state: State): Promise<TransactionRow> {
    await until(async () => (await read(id)).state === state, `transaction ${id} is ${state}`)
    return read(id)
  }

  const booked = (wallet: Wallet) => balancesOf(database, entityId, wallet.blockchain, [wallet.address])

  const held = async (wallet: Wallet) => (await booked(wallet)).reduce((sum, row) => sum + row.heldAtomic, 0n)

  const attemptsOf = (id: string) =>
    database.all<StoredAttempt>(sql`select id, kind, state, tx_hash, nonce, raw_transaction as raw, max_fee,
      priority_fee from attempts where transaction_id = ${id} order by create_date, id`)

  /** Waits until a node took an attempt of this kind. */
  async function sent(id: string, kind: string): Promise<StoredAttempt> {
    let found: StoredAttempt | undefined
    await until(async () => {
      found = (await attemptsOf(id)).find((attempt) => attempt.kind === kind && attempt.state === 'sent')
      return found !== undefined
    }, `the ${kind} of ${id} is sent`)
    return found!
  }

  /** A separate wallet for one test, so that no other test changes its nonces and holds. */
  async function fundedWallet(funds: { usdc?: string; native?: string } = { usdc: '1000', native: '10' }) {
    const wallet = await makeWallet(world)
    await fundUntilBooked(harness, wallet, funds)
    return wallet
  }

  return { world, transfer, ask, read, statesOf, reaches, booked, held, attemptsOf, sent, fundedWallet }
}
