import { balancesOf } from '#engines/ledger/index'
import type { Harness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

type Funds = { usdc?: string; native?: string }

/** Pays a wallet, and waits until the books have it. */
export async function fundUntilBooked(
  { fundWallet, database, entityId }: Harness,
  { address, blockchain }: { address: string; blockchain: string },
  funds: Funds,
): Promise<void> {
  await fundWallet(address, { ...funds, blockchain })
  const booked = async () =>
    (await balancesOf(database, entityId, blockchain, [address])).filter((row) => row.postedAtomic > 0n)
  await until(async () => (await booked()).length >= Object.keys(funds).length, 'the funds have arrived')
}
