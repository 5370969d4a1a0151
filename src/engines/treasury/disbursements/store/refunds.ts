import { type Db, sql } from '#runtime/db/db'
import type { Payment } from '../../deposits/store/payments.ts'

export const insertRefund = (tx: Db, refund: Payment) =>
  tx.run(sql`insert into payments (entity_id, id, type, status, payment_intent_id, merchant_wallet_id, currency,
      decimals, amount, chain, blockchain, deposit_address, token_id, create_date, update_date)
    values (${refund.entityId}, ${refund.id}, 'refund', 'pending', ${refund.paymentIntentId},
      ${refund.merchantWalletId}, ${refund.currency}, ${refund.decimals}, ${refund.amount}, ${refund.chain},
      ${refund.blockchain}, ${refund.depositAddress}, ${refund.tokenId}, ${refund.createDate}, ${refund.updateDate})`)
