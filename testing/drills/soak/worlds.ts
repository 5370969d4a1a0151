import { type World, worldOf } from '#testing/builders/world'
import { movableClock } from '#testing/platform/clock'
import { atomicOf, type Harness } from '#testing/platform/harness'
import type { Tenant } from '#testing/platform/tenant'
import type { Ground } from './ground.ts'

type Funds = { usdc?: string; native?: string; blockchain?: string }

/** The world of a tenant whose platform runs in other processes: it has those parts of a harness that need no part of the program. */
export function worldAt({ env, database, connection, chains }: Ground, tenant: Tenant): World {
  const chain = (blockchain?: string) =>
    chains.evm.find((each) => blockchain === undefined || each.blockchain === blockchain)!
  const fundWallet = async (address: string, { usdc, native, blockchain }: Funds) => {
    if (native) await chain(blockchain).send(address, atomicOf(native, 18))
    if (usdc) await chain(blockchain).send(address, atomicOf(usdc, 6), 'USDC')
  }
  const url = env['BEZANT_PUBLIC_URL']!
  const clock = movableClock()
  const parts = { ...tenant, url, database, connection, clock, chains: chains.evm, chain, fundWallet }
  return worldOf(parts as unknown as Harness, tenant)
}
