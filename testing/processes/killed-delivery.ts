import { sql } from '#runtime/db/db'
import type { Harness } from '#testing/platform/harness'
import { spawnWorker } from './programs.ts'

export type KilledDelivery<Cause> = {
  cause: Cause
  /** Ends the lease of the killed worker, and runs another one until `check` has passed. */
  takeOver(check: () => Promise<void>): Promise<void>
}

/**
 * Runs a worker that is killed after an endpoint answered and before it records that; `act` causes the delivery. The engines of
 * the harness rest until another worker took over.
 */
export async function killDelivery<Cause>(
  harness: Harness,
  subscriptionId: string,
  act: () => Promise<Cause>,
): Promise<KilledDelivery<Cause>> {
  const { database, connection } = harness
  await harness.stopEngines()
  // Subscriptions of other tests have no due work, so that the victim dies of this one.
  await database.run(
    sql`update notification_subscriptions set wake_date = null where id <> ${subscriptionId}`,
  )
  const { blockchain, rpcUrl } = harness.chain()
  const open = { connection, rpcUrl, blockchain, roles: ['webhooks'] as const }
  const [victim, heir] = await Promise.all([spawnWorker(), spawnWorker()])
  await victim.open({ ...open, failpoint: { point: 'before-delivery-record', hit: 1, action: 'kill' } })
  await victim.start()
  const cause = await act()
  await victim.exited
  const takeOver = async (check: () => Promise<void>) => {
    await database.run(
      sql`update notification_subscriptions set lease_until = now() where id = ${subscriptionId}`,
    )
    await heir.open(open)
    await heir.start()
    await check()
    heir.signal('SIGKILL')
    await heir.exited
    harness.startEngines()
  }
  return { cause, takeOver }
}
