import { type Db, sql } from '#runtime/db/db'
import type { Transfer } from '../../deposits/store/transfers.ts'

export const insertOutgoing = (tx: Db, row: Transfer) =>
  tx.run(sql`insert into transfers (entity_id, id, direction, status, wallet_id, chain, blockchain, to_address,
      currency, token_id, decimals, amount, create_date, update_date)
    values (${row.entityId}, ${row.id}, 'out', ${row.status}, ${row.walletId}, ${row.chain}, ${row.blockchain},
      ${row.toAddress}, ${row.currency}, ${row.tokenId}, ${row.decimals}, ${row.amount.toString()},
      ${row.createDate}, ${row.createDate})`)
