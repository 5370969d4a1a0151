import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { parseTransaction } from 'viem'
import type { Hex } from '#lib/hex'
import { raw, sql } from '#runtime/db/db'
import type { Harness } from '#testing/platform/harness'
import { rpc, rpcBatch } from '#testing/platform/json-rpc'

/** The one row that tells a database from its copies. */
const ownOfEachCopy = ['journal_epochs']

/** Everything that a snapshot holds, read past the program: rows by their checksums, chains by their nodes, what the catcher shows. */
export async function readState(harness: Harness) {
  const [tables, chains, inboxes] = await Promise.all([
    readTables(harness),
    Promise.all(harness.chains.map(readChain)),
    harness.http('GET', '/sandbox/catcher'),
  ])
  const messages = await Promise.all(
    (inboxes.body.data.inboxes as { name: string }[]).map(
      async ({ name }) => (await harness.http('GET', `/sandbox/catcher/${name}/messages`)).body.data,
    ),
  )
  return { tables, chains, inboxes: inboxes.body.data, messages }
}

/** The number of rows of each table, and a checksum over all of them. */
async function readTables({ database }: Pick<Harness, 'database'>): Promise<Record<string, string>> {
  return database.tx(async (tx) => {
    await tx.script('set local role none')
    const tables = await tx.all<{ name: string }>(
      sql`select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by relname`,
    )
    const found: Record<string, string> = {}
    for (const { name } of tables) {
      if (ownOfEachCopy.includes(name)) continue
      const { sum } = await tx.one<{ sum: string }>(
        sql`select count(*) || ' ' || coalesce(md5(string_agg(md5(t::text), '' order by md5(t::text))), '') as sum
          from ${raw(`"${name}"`)} t`,
      )
      found[name] = sum
    }
    return found
  })
}

type RpcBlock = { hash: string; number: string; transactions: { from: string; to: string | null }[] }

/** Every block by its hash, and the coins, nonce and stablecoins of every address that any of them names. */
async function readChain({ rpcUrl, tokens }: Harness['chains'][number]) {
  const head = Number(await rpc(rpcUrl, 'eth_blockNumber', []))
  const numbers = Array.from({ length: head + 1 }, (_, number) => `0x${number.toString(16)}`)
  const [logs, ...blocks] = (await rpcBatch<unknown>(rpcUrl, [
    { method: 'eth_getLogs', params: [{ fromBlock: '0x0', toBlock: 'latest' }] },
    ...numbers.map((number) => ({ method: 'eth_getBlockByNumber', params: [number, true] })),
  ])) as [{ topics: string[] }[], ...RpcBlock[]]
  const named = blocks.flatMap(({ transactions }) =>
    transactions.flatMap(({ from, to }) => [from, to ?? from]),
  )
  const paid = logs.flatMap(({ topics }) => topics.slice(1).map((topic) => `0x${topic.slice(-40)}`))
  const addresses = [...new Set([...named, ...paid])]
  const owned = addresses.map((address) => {
    const balanceOf = { data: `0x70a08231${address.slice(2).padStart(64, '0')}` }
    return [
      { method: 'eth_getBalance', params: [address, 'latest'] },
      { method: 'eth_getTransactionCount', params: [address, 'pending'] },
      ...Object.values(tokens).map((to) => ({
        method: 'eth_call',
        params: [{ to, ...balanceOf }, 'latest'],
      })),
    ]
  })
  const answers = await rpcBatch(rpcUrl, owned.flat())
  const each = owned[0]?.length ?? 0
  const accounts = addresses.map((address, index) => [
    address,
    ...answers.slice(index * each, (index + 1) * each),
  ])
  return {
    hashes: blocks.map(({ hash }) => hash),
    accounts: Object.fromEntries(accounts.map(([a, ...of]) => [a, of])),
  }
}

/** The file of a snapshot with these lines, and its checksum. */
export function packed(lines: readonly unknown[]): Buffer {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  const sha256 = createHash('sha256').update(text).digest('hex')
  return gzipSync(`${text}${JSON.stringify({ sha256 })}\n`)
}

const submissions = /"eth_sendRawTransaction","params":\["(0x[0-9a-f]+)"/g
/** The transactions that the platform sends while `work` runs. One that is sent again, or at a higher fee, is one. */
export async function sentDuring({ chains }: Harness, work: () => Promise<unknown>): Promise<string[]> {
  const sent = new Set<string>()
  for (const chain of chains)
    chain.intercept(async ({ body }) => {
      for (const [, raw] of body.toString().matchAll(submissions)) {
        const { nonce, to, data } = parseTransaction(raw as Hex)
        sent.add(JSON.stringify([chain.blockchain, nonce, to, data]))
      }
      return 'forward'
    })
  await work()
  for (const chain of chains) chain.intercept(undefined)
  return [...sent]
}
