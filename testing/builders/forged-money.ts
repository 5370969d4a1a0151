import { randomUUID } from 'node:crypto'
import { post, walletEntries } from '#engines/ledger/index'
import { merchantWalletIdOf } from '#engines/treasury/index'
import type { World } from './world.ts'

/**
 * Books money of the merchant without coins, in base units of USD, as a wrong posting of the program or an accepted reorg
 * can leave it. It satisfies the rules of the ledger.
 */
export const forgeMoney = ({ harness, tenant: { entityId } }: World, amountAtomic: bigint) =>
  harness.database.tx((tx) =>
    post(tx, harness.clock.nowMs(), [
      {
        entityId,
        blockchain: '',
        blockHash: '',
        fact: `forged:${randomUUID()}`,
        entries: walletEntries(merchantWalletIdOf(entityId), 'USD', amountAtomic),
      },
    ]),
  )
