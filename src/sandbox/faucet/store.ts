import { type Db, sql } from '#runtime/db/db'

export type FaucetTransaction = { nonce: number; txHash: string; raw: string }

/** Lets one process at a time allocate nonces on a chain, until the end of the `tx`. */
export const lockFaucet = (tx: Db, blockchain: string) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${`faucet:${blockchain}`}, 0))`)

/** Returns the `count` lowest unused nonces from `from` on: gaps left by refused transactions are filled first. */
export const freeNonces = async (
  tx: Db,
  blockchain: string,
  from: number,
  count: number,
): Promise<number[]> => {
  const rows = await tx.all<{ nonce: number }>(sql`select n as nonce
    from generate_series(${from}::bigint, ${from}::bigint + ${count}
      + (select count(*) from faucet_transactions where blockchain = ${blockchain} and nonce >= ${from})) n
    where not exists (select 1 from faucet_transactions f where f.blockchain = ${blockchain} and f.nonce = n)
    order by n limit ${count}`)
  return rows.map((row) => row.nonce)
}

export async function insertFaucetTransactions(
  tx: Db,
  blockchain: string,
  signed: readonly FaucetTransaction[],
  createDate: string,
): Promise<void> {
  await tx.run(sql`insert into faucet_transactions (blockchain, nonce, tx_hash, raw_transaction, create_date)
    select ${blockchain}, n, h, r, ${createDate} from unnest(${signed.map((one) => one.nonce)}::bigint[],
      ${signed.map((one) => one.txHash)}::text[], ${signed.map((one) => one.raw)}::text[]) as row(n, h, r)`)
}

/** Transactions signed before `before` and not mined yet, by nonce: the node may have lost them. */
export const unminedFaucetTransactions = (db: Db, blockchain: string, from: number, before: string) =>
  db.all<FaucetTransaction>(sql`select nonce, tx_hash, raw_transaction as raw
    from faucet_transactions
    where blockchain = ${blockchain} and nonce >= ${from} and create_date < ${before} order by nonce limit 500`)

/** Blockchains on which the faucet has sent transactions. */
export const blockchainsOfFaucet = async (db: Db): Promise<string[]> =>
  (
    await db.all<{ blockchain: string }>(sql`with recursive found as (
        (select blockchain from faucet_transactions order by blockchain limit 1)
        union all
        select (select min(blockchain) from faucet_transactions where blockchain > f.blockchain) from found f
          where f.blockchain is not null
      ) select blockchain from found where blockchain is not null`)
  ).map((row) => row.blockchain)

/** Frees the nonces of transactions that the node definitely refused. */
export async function deleteFaucetTransactions(db: Db, blockchain: string, hashes: readonly string[]) {
  await db.run(
    sql`delete from faucet_transactions where blockchain = ${blockchain} and tx_hash = any(${hashes})`,
  )
}

/** The first transaction of the faucet since `since` that is among these hashes. */
export const firstFaucetTransaction = async (
  db: Db,
  blockchain: string,
  since: string,
  hashes: readonly string[],
): Promise<string | undefined> =>
  (
    await db.maybe<{ hash: string }>(sql`select tx_hash as hash from faucet_transactions
      where blockchain = ${blockchain} and create_date >= ${since} and tx_hash = any(${hashes}::text[])
      order by nonce limit 1`)
  )?.hash
