import { type Database, sql } from '#runtime/db/db'
import type { Oracle } from '#testing/platform/oracle'
import type { AskedPayment } from './buyer-load.ts'
import { buyers } from './buyers.ts'
import type { Schedule } from './schedule.ts'

type Row = { payee: string; state: string | null; txHash: string | null; refusal: string | null }

/**
 * Compares how the sellers of payments by x402 were answered with the chain: nothing is paid twice, delivered twice, or delivered
 * unpaid, and no buyer whom all sellers turned away is charged. Returns every difference.
 */
export async function wrongPayments(
  database: Database,
  oracle: Oracle,
  asked: readonly AskedPayment[],
  { faults }: Pick<Schedule, 'faults'>,
): Promise<string[]> {
  const hasReorg = faults.some(({ kind }) => kind === 'reorg')
  const senders = new Set<string>(buyers.map(({ address }) => address.toLowerCase()))
  const moved = (await oracle.transfers()).filter(({ from }) => senders.has(from))
  const rows = await database.all<Row>(sql`select p.payee, p.refusal, t.state, t.tx_hash from x402_payments p
    left join platform_transactions t on t.entity_id = p.entity_id and t.id = p.id`)
  const defects: string[] = []
  for (const payment of asked) {
    const { planned, ...answered } = payment
    const { to, amountAtomic, ...plan } = planned
    const paid = moved.filter((each) => each.to === to)
    const name = `the payment to ${to} (${JSON.stringify({ ...plan, ...answered })})`
    const add = (what: string) => defects.push(`${name} ${what}`)
    if (paid.length > 1) add(`was paid ${paid.length} times`)
    if (paid.some((each) => each.amountAtomic !== amountAtomic)) add(`moved ${paid[0]!.amountAtomic}`)
    wrongDeliveries(payment, paid.length, hasReorg).map(add)
    const row = rows.find(({ payee }) => payee === to)
    if (row) wrongRow(row, paid).map(add)
  }
  for (const { to, txHash } of moved)
    if (!asked.some(({ planned }) => planned.to === to))
      defects.push(`${txHash} paid ${to}, which no seller asked for`)
  return defects
}

/** Refusals of a payment that is of a duplicate delivery, expired, sent by hand, or not sent in time. */
const refusals =
  /^(duplicate_settlement|invalid_exact_evm_(nonce_already_used|transaction_failed|transaction_simulation_failed|payload_authorization_valid_before))$/

function wrongDeliveries(
  { planned, delivered, refused }: AskedPayment,
  paid: number,
  hasReorg: boolean,
): string[] {
  const isLong = planned.validSeconds > 60
  const isDuplicate = refused.includes('duplicate_settlement')
  const strange = refused.filter((reason) => !refusals.test(reason))
  return [
    ...(strange.length > 0 ? [`was refused: ${strange}`] : []),
    ...(delivered.length > 1 ? [`was delivered ${delivered.length} times`] : []),
    // Blocks that are taken back are made again too late for an authorization that has expired meanwhile.
    ...(delivered.length > paid && (isLong || !hasReorg) ? ['was delivered unpaid'] : []),
    ...(isDuplicate && delivered.length === 0 ? ['was answered to no delivery'] : []),
    ...(delivered.length === 0 && paid > 0 && isLong && planned.byHandAfterMs === undefined
      ? ['was paid, and every seller was told that it was not']
      : []),
  ]
}

/** Whether the state of a payment is that of the chain. */
function wrongRow({ state, txHash, refusal }: Row, paid: readonly { txHash: string }[]): string[] {
  const isOurs = paid.some((each) => each.txHash === txHash)
  if (state === null && refusal === null) return ['has not ended']
  return (state === 'COMPLETE') === isOurs
    ? []
    : [`is ${state ?? refusal} by ${txHash}, paid by ${paid[0]?.txHash}`]
}
