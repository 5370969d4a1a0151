import { solDevnet } from '#chains/networks/sol-devnet'
import { type Database, sql } from '#runtime/db/db'
import type { SoakChains } from './chains.ts'

const given = { wei: 100n * 10n ** 18n, lamports: 100n * 10n ** 9n }
const lookEveryMs = 1_000

/** Gives gas to each treasury once, as an operator does whom the alarm tells its address; returns the function that ends it. */
export function giveGas(database: Database, { evm, solana }: SoakChains): () => void {
  const known = new Set<string>()
  let isGiving = false
  const give = async () => {
    const rows = await database.all<{ blockchain: string; address: string }>(
      sql`select blockchain, address from managed_addresses where purpose = 'treasury'`,
    )
    for (const { blockchain, address } of rows) {
      if (known.has(`${blockchain} ${address}`)) continue
      known.add(`${blockchain} ${address}`)
      if (blockchain === solDevnet.blockchain) solana.fund(address, given.lamports)
      else await evm.find((chain) => chain.blockchain === blockchain)?.send(address, given.wei)
    }
  }
  const timer = setInterval(() => {
    if (isGiving) return
    isGiving = true
    // The tables are made when the first process has started.
    give()
      .catch(() => undefined)
      .finally(() => {
        isGiving = false
      })
  }, lookEveryMs)
  return () => clearInterval(timer)
}
