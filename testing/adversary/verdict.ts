import { type Database, sql } from '#runtime/db/db'
import { checkLedger, ledgerBalances } from '#testing/builders/ledger-checks'
import type { TestChain } from '#testing/platform/chain'
import { openOracle } from '#testing/platform/oracle'
import type { PlannedTransfer } from './schedule.ts'
import { blockchain, type PlannedWallet } from './seeded-database.ts'

/** An accepted transfer and its source address. */
export type Accepted = { id: string; planned: PlannedTransfer; from: string }

type Row = { id: string; state: string; txHash: string | null }

const terminal = ['COMPLETE', 'FAILED', 'CANCELLED', 'DENIED']

/** Describes the work still under way; undefined when all has ended and every block is followed. */
export async function unsettled(database: Database, chain: TestChain): Promise<string | undefined> {
  const { hash } = await chain.rpc<{ hash: string }>('eth_getBlockByNumber', ['latest', false])
  const left = await database.one<{
    open: number
    attempts: number
    behind: number
    known: number
  }>(sql`select
    (select count(*) from transactions where transaction_type = 'OUTBOUND' and state <> all(${terminal}::text[])) as open,
    (select count(*) from attempts where state in ('signed', 'sent')) as attempts,
    (select coalesce(max(step), 0) from block_steps)
      - coalesce((select step from step_cursors where engine = 'transactions'), 0) as behind,
    (select count(*) from blocks where canonical and hash = ${hash}) as known`)
  const { open, attempts, behind, known } = left
  if (open + attempts + behind === 0 && known === 1) return undefined
  const states = await database.all<{ kind: string; state: string; n: number }>(
    sql`select 'transactions' as kind, state, count(*) as n from transactions where transaction_type = 'OUTBOUND'
      group by 2 union all select 'attempts', state, count(*) from attempts group by 2 order by 1, 2`,
  )
  const shown = states.map(({ kind, state, n }) => `${n} ${kind} ${state}`).join(', ')
  return `${shown}; ${behind} steps behind; the head is ${known ? '' : 'un'}known`
}

/**
 * Compares the API's state of every accepted transfer with the chain, and the books with both. Returns every difference.
 * `refused` were never accepted: they must move nothing.
 */
export async function defectsOf(
  database: Database,
  chain: TestChain,
  wallets: readonly PlannedWallet[],
  accepted: readonly Accepted[],
  refused: readonly PlannedTransfer[],
): Promise<string[]> {
  const oracle = openOracle(chain.rpcUrl)
  const ours = new Set(wallets.map(({ address }) => address.toLowerCase()))
  const moved = (await oracle.transfers()).filter(({ from }) => ours.has(from))
  const rows = await database.all<Row>(
    sql`select id, state, tx_hash from transactions where transaction_type = 'OUTBOUND'`,
  )
  const byId = new Map(rows.map((row) => [row.id, row]))
  const movedTo = (to: string) => moved.filter((each) => each.to === to.toLowerCase())
  const defects = accepted.flatMap((one) => {
    const row = byId.get(one.id)
    return row ? wrongIn(one, row, movedTo(one.planned.to), chain) : [`${one.id} was accepted and is gone`]
  })
  for (const { to } of refused)
    if (movedTo(to).length > 0) defects.push(`${to} was paid although it was refused`)
  const due = new Set(accepted.map(({ planned }) => planned.to.toLowerCase()))
  for (const each of moved)
    if (!due.has(each.to) && !refused.some(({ to }) => to.toLowerCase() === each.to))
      defects.push(`${each.txHash} paid ${each.amountAtomic} to ${each.to}, which no client requested`)
  // A smart account sends no transactions of its own.
  for (const { address } of wallets.filter(({ accountType }) => accountType === 'EOA'))
    await oracle.checkNonces(address).catch((error) => defects.push(error.message))
  return [...defects, ...(await wrongInBooks(database, chain, wallets))]
}

function wrongIn(
  { id, planned, from }: Accepted,
  { state, txHash }: Row,
  moved: { from: string; token?: string; amountAtomic: bigint; txHash: string }[],
  chain: TestChain,
): string[] {
  const name = `${id} (${planned.coin}, ${planned.flaw}${planned.later ? `, ${planned.later.verb}` : ''}, ${state})`
  const due = state === 'COMPLETE' ? 1 : 0
  if (!terminal.includes(state)) return [`${name} has not ended`]
  if (moved.length !== due) return [`${name} moved ${moved.length} times`]
  const [one] = moved
  if (!one) return []
  const token = planned.coin === 'USDC' ? chain.tokens.USDC.toLowerCase() : undefined
  return [
    ...(one.amountAtomic === planned.amountAtomic ? [] : [`${name} moved ${one.amountAtomic}`]),
    ...(one.token === token ? [] : [`${name} moved ${one.token}`]),
    ...(one.from === from.toLowerCase() ? [] : [`${name} was paid by ${one.from}`]),
    ...(one.txHash === txHash ? [] : [`${name} shows ${txHash}, moved by ${one.txHash}`]),
  ]
}

/** Checks that no hold or grant is left, no nonce served two intents, and the books equal the chain. */
async function wrongInBooks(
  database: Database,
  chain: TestChain,
  wallets: readonly PlannedWallet[],
): Promise<string[]> {
  const defects: string[] = []
  await checkLedger(database).catch((error) => defects.push(error.message))
  const left = await database.one<{ held: bigint; grants: number }>(sql`select
    (select coalesce(sum(held), 0) from accounts) as held, (select count(*) from grants) as grants`)
  if (left.held !== 0n) defects.push(`${left.held} base units are still held`)
  if (left.grants !== 0) defects.push(`${left.grants} grants are left`)
  const shared = await database.all<{
    address: string
    nonce: number
  }>(sql`select address, nonce from attempts
    where state <> 'rejected' group by address, nonce having count(distinct transaction_id) > 1`)
  for (const { address, nonce } of shared)
    defects.push(`nonce ${nonce} of ${address} was used by several intents`)
  const booked = await ledgerBalances(database, blockchain)
  const oracle = openOracle(chain.rpcUrl)
  for (const { address } of wallets) {
    for (const [symbol, token] of [
      ['USDC', chain.tokens.USDC],
      ['ETH', undefined],
    ] as const) {
      const key = Object.keys(booked).find(
        (each) => each.startsWith(address.toLowerCase()) && each.includes(symbol),
      )
      const owned = await oracle.balanceOf(address, token).catch((error) => defects.push(error.message))
      const books = key ? booked[key] : '0'
      if (String(owned) !== books) defects.push(`${address} owns ${owned} ${symbol}, the ledger has ${books}`)
    }
  }
  return defects
}
