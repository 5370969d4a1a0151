import { canonicalAddress } from '#chains/addresses/canonical'
import { tokenAddress } from '#chains/network'
import { networkOf } from '#chains/networks/index'
import { solDevnet } from '#chains/networks/sol-devnet'
import type { Hex } from '#lib/hex'
import { type Database, sql } from '#runtime/db/db'
import { checkLedger, ledgerBalances } from '#testing/builders/ledger-checks'
import { aptosPayments } from '#testing/nodes/aptos-oracle'
import { solanaBalanceOf, solanaPayments } from '#testing/nodes/solana-oracle'
import { openOracle } from '#testing/platform/oracle'
import type { RunNode } from './run-node.ts'
import type { PlannedTransfer } from './schedule.ts'
import { blockchain, type PlannedWallet } from './seeded-database.ts'

/** An accepted transfer and the wallet that pays it. */
export type Accepted = { id: string; planned: PlannedTransfer; from: PlannedWallet }

type Row = { id: string; state: string; txHash: string | null }

const terminal = ['COMPLETE', 'FAILED', 'CANCELLED', 'DENIED']

/** Describes the transactions and attempts still under way; undefined when all have ended. */
export async function unfinished(database: Database): Promise<string | undefined> {
  const { open, attempts, payments } = await database.one<{
    open: number
    attempts: number
    payments: number
  }>(sql`select
    (select count(*) from x402_payments where submit_date is null and refusal is null) as payments,
    (select count(*) from transactions where transaction_type = 'OUTBOUND' and state <> all(${terminal}::text[])) as open,
    (select count(*) from attempts where state in ('signed', 'sent')) as attempts`)
  if (open + attempts + payments === 0) return undefined
  const states = await database.all<{ kind: string; blockchain: string; state: string; n: number }>(
    sql`select 'transactions' as kind, blockchain, state, count(*) as n from transactions
      where transaction_type = 'OUTBOUND' group by 2, 3
      union all select 'attempts', blockchain, state, count(*) from attempts group by 2, 3 order by 1, 2, 3`,
  )
  const counts = states.map(({ kind, blockchain, state, n }) => `${n} ${kind} on ${blockchain} ${state}`)
  return [...counts, `${payments} payments unsent`].join(', ')
}

/**
 * Describes how far the indexer and the engines are behind the nodes, which must make no blocks meanwhile; undefined when
 * they have followed every block.
 */
export async function unfollowed(
  database: Database,
  { chain, aptos, solana }: RunNode,
): Promise<string | undefined> {
  const { hash } = await chain.rpc<{ hash: string }>('eth_getBlockByNumber', ['latest', false])
  const heads = [hash, await aptos.headHash(), solana.headHash()]
  const { behind, known } = await database.one<{ behind: number; known: number }>(sql`select
    (select coalesce(sum(newest.step - coalesce(cursors.step, 0)), 0)::int
      from (select blockchain, max(step) as step from block_steps group by 1) newest
      left join step_cursors cursors on cursors.blockchain = newest.blockchain and cursors.engine = 'transactions') as behind,
    (select count(*) from blocks where canonical and hash = any(${heads}::text[])) as known`)
  if (behind === 0 && known === heads.length) return undefined
  return `${behind} steps behind; ${known} of ${heads.length} heads are known`
}

/**
 * Compares the API's state of every accepted transfer with the chain, and the books with both. Returns every difference.
 * `refused` were never accepted: they must move nothing.
 */
export async function defectsOf(
  database: Database,
  { chain, aptos, solana }: RunNode,
  wallets: readonly PlannedWallet[],
  accepted: readonly Accepted[],
  refused: readonly PlannedTransfer[],
): Promise<string[]> {
  const oracle = openOracle(chain.rpcUrl)
  const ours = new Set<string>(wallets.map(({ address }) => canonicalAddress(address)))
  const moved = [
    ...(await oracle.transfers()).filter(({ from }) => ours.has(from)),
    ...(await aptosPayments(aptos.node.url, [...ours])),
    ...(await solanaPayments(solana.node.url, [...ours])),
  ]
  const rows = await database.all<Row>(
    sql`select id, state, tx_hash from transactions where transaction_type = 'OUTBOUND'`,
  )
  const byId = new Map(rows.map((row) => [row.id, row]))
  const movedTo = (to: string) => moved.filter((each) => each.to === canonicalAddress(to))
  const defects = accepted.flatMap((one) => {
    const row = byId.get(one.id)
    return row ? wrongIn(one, row, movedTo(one.planned.to)) : [`${one.id} was accepted and is gone`]
  })
  for (const { to } of refused)
    if (movedTo(to).length > 0) defects.push(`${to} was paid although it was refused`)
  const due = new Set<string>(accepted.map(({ planned }) => canonicalAddress(planned.to)))
  for (const each of moved)
    if (!due.has(each.to) && !refused.some(({ to }) => canonicalAddress(to) === each.to))
      defects.push(`${each.txHash} paid ${each.amountAtomic} to ${each.to}, which no client requested`)
  // A smart account sends no transactions of its own.
  const keys = wallets.filter((each) => each.accountType === 'EOA' && each.blockchain === blockchain)
  const treasuries = await database.all<{ address: string }>(
    sql`select distinct address from attempts where blockchain = ${blockchain} and nonce is not null`,
  )
  for (const address of new Set([...keys, ...treasuries].map((each) => canonicalAddress(each.address))))
    await oracle.checkNonces(address).catch((error) => defects.push(error.message))
  return [...defects, ...(await wrongInBooks(database, { chain, aptos, solana }, wallets))]
}

function wrongIn(
  { id, planned, from }: Accepted,
  { state, txHash }: Row,
  moved: { from: string; token?: string; amountAtomic: bigint; txHash: string }[],
): string[] {
  const name = `${id} (${planned.coin}, ${planned.flaw}${planned.later ? `, ${planned.later.verb}` : ''}, ${state})`
  const due = state === 'COMPLETE' ? 1 : 0
  if (!terminal.includes(state)) return [`${name} has not ended`]
  if (moved.length !== due) return [`${name} moved ${moved.length} times`]
  const [one] = moved
  if (!one) return []
  const token = planned.coin === 'USDC' ? usdcOn(from.blockchain) : undefined
  return [
    ...(one.amountAtomic === planned.amountAtomic ? [] : [`${name} moved ${one.amountAtomic}`]),
    ...(one.token === token ? [] : [`${name} moved ${one.token}`]),
    ...(one.from === canonicalAddress(from.address) ? [] : [`${name} was paid by ${one.from}`]),
    ...(one.txHash === txHash ? [] : [`${name} shows ${txHash}, moved by ${one.txHash}`]),
  ]
}

/** Checks that no hold or grant is left, no nonce served two intents, and the books equal the chain. */
async function wrongInBooks(
  database: Database,
  { chain, aptos, solana }: Pick<RunNode, 'chain' | 'aptos' | 'solana'>,
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
  const oracle = openOracle(chain.rpcUrl)
  const balanceOn = async (on: string, address: string, token?: string): Promise<bigint> => {
    if (on === blockchain) return oracle.balanceOf(address, token)
    if (on === solDevnet.blockchain) return solanaBalanceOf(solana.node.url, address, token)
    return aptos.node.balanceOf(address as Hex, token as Hex | undefined)
  }
  for (const wallet of wallets) {
    const { address } = wallet
    const booked = await ledgerBalances(database, wallet.blockchain)
    const { symbol: native } = networkOf(wallet.blockchain)!.nativeToken
    for (const [symbol, token] of [
      ['USDC', usdcOn(wallet.blockchain)],
      [native, undefined],
    ] as const) {
      const books = booked[`${canonicalAddress(address)} ${symbol}`] ?? '0'
      const owned = await balanceOn(wallet.blockchain, address, token).catch((error) =>
        defects.push(error.message),
      )
      if (String(owned) !== books) defects.push(`${address} owns ${owned} ${symbol}, the ledger has ${books}`)
    }
  }
  return defects
}

/** The address of USDC on a blockchain, in stored form. */
const usdcOn = (on: string) => tokenAddress(networkOf(on)!.tokens.find(({ symbol }) => symbol === 'USDC')!)
