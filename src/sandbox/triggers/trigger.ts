import { randomUUID } from 'node:crypto'
import { capabilitiesOf } from '#chains/capabilities'
import type { Chain } from '#chains/chain'
import { invalid } from '#lib/errors'
import { suggest } from '#lib/suggest'
import { engineChain } from '../chain-control/payment.ts'
import { lackOf } from '../chains/abilities.ts'
import { bankFixtures } from './bank.ts'
import { businessFixtures } from './business.ts'
import type { Fixture, FixtureNeed } from './fixture.ts'
import { modularWalletFixtures } from './modular-wallets.ts'
import { openSteps, type TriggerTarget } from './steps.ts'
import { untriggeredTopics } from './untriggered-topics.ts'
import { userFixtures } from './users.ts'
import { walletFixtures } from './wallets.ts'
import { x402Fixtures } from './x402.ts'

const hasNeeds: Readonly<Record<FixtureNeed, (chain: Chain) => boolean>> = {
  'modular wallets': ({ network }) => network.rpcPath !== undefined,
  'payments of the business account': ({ network }) => capabilitiesOf(network.blockchain).businessAccount,
  contracts: ({ network }) => capabilitiesOf(network.blockchain).contracts,
  'signed payments': ({ authorizations }) => authorizations !== undefined,
  reorgs: ({ network }) => lackOf(network.blockchain, 'reorg') === undefined,
  'base fees': ({ network }) => lackOf(network.blockchain, 'base-fee') === undefined,
  'replacements of transactions': ({ network }) => network.replaceable !== false,
  // Where transactions expire, nothing takes the place of one before it is dead.
  'cancellations before an expiry': ({ network, lifetimes }) =>
    network.replaceable !== false && lifetimes === undefined,
}

const needing = (needs: FixtureNeed, all: Readonly<Record<string, Fixture>>): Record<string, Fixture> =>
  Object.fromEntries(Object.entries(all).map(([event, fixture]) => [event, { ...fixture, needs }]))

const fixtures: Readonly<Record<string, Fixture>> = {
  ...needing('payments of the business account', businessFixtures),
  ...needing('contracts', bankFixtures),
  ...walletFixtures,
  ...userFixtures,
  ...modularWalletFixtures,
  ...x402Fixtures,
}

/** The events that can be triggered, with their topics and what can be set. */
export const listTriggers = (target: TriggerTarget) => ({
  events: Object.entries(fixtures).map(([event, fixture]) => ({
    event,
    about: fixture.about,
    topics: fixture.topics,
    values: valuesOf(target, fixture),
    blockchains: blockchainsFor(target, fixture),
    ...(fixture.needs !== undefined && { needs: fixture.needs }),
  })),
  notCovered: Object.entries(untriggeredTopics).map(([topic, reason]) => ({ topic, reason })),
})

/** The names of the chains that a fixture can run on. */
const blockchainsFor = ({ ctx, chains }: TriggerTarget, { needs }: Fixture): string[] =>
  chains
    .map(({ blockchain }) => blockchain)
    .filter((name) => needs === undefined || hasNeeds[needs](engineChain(ctx, name)))

const valuesOf = (target: TriggerTarget, fixture: Fixture): Record<string, string> => ({
  ...fixture.values,
  blockchain: blockchainsFor(target, fixture)[0] ?? target.chains[0]?.blockchain ?? '',
})

type TriggerInput = { event: string; set?: Record<string, string> | undefined; seed?: string | undefined }

/** Runs the steps of an event, and returns what they made with the notifications that came of it. */
export async function trigger(target: TriggerTarget, { event, set = {}, seed = randomUUID() }: TriggerInput) {
  const fixture = Object.hasOwn(fixtures, event) ? fixtures[event]! : undefined
  if (!fixture)
    throw invalid({
      at: 'event',
      reason: `cannot be triggered${suggest(event, Object.keys(fixtures)) || `: choose from ${Object.keys(fixtures).join(', ')}`}`,
      value: event,
    })
  const values = setValues(target, fixture, set)
  const steps = openSteps(target, values, seed)
  await fixture.run(steps)
  return { event, seed, made: steps.made, notifications: await notificationsOf(steps) }
}

function setValues(target: TriggerTarget, fixture: Fixture, set: Record<string, string>) {
  const values = valuesOf(target, fixture)
  for (const [path, value] of Object.entries(set)) {
    if (!Object.hasOwn(values, path))
      throw invalid({
        at: `set.${path}`,
        reason: `cannot be set: choose from ${Object.keys(values).join(', ')}`,
        value,
      })
    if (path.startsWith('amount') && !/^(?=.*[1-9])\d{1,9}(\.\d{1,2})?$/.test(value))
      throw invalid({ at: `set.${path}`, reason: 'must be an amount above 0, such as 1.25', value })
    values[path] = value
  }
  requireUsable(target, fixture, values['blockchain']!)
  return values
}

function requireUsable(target: TriggerTarget, fixture: Fixture, value: string): void {
  const usable = blockchainsFor(target, fixture)
  if (usable.includes(value)) return
  const isStarted = target.chains.some(({ blockchain }) => blockchain === value)
  const problem = isStarted ? `has no ${fixture.needs}` : 'is no chain of this sandbox'
  const remedy =
    usable.length > 0
      ? `choose from ${usable.join(', ')}`
      : `no chain of this sandbox has ${fixture.needs}, so start it with BASE-SEPOLIA too`
  throw invalid({ at: 'set.blockchain', reason: `${problem}: ${remedy}`, value })
}

type ListedNotification = { id: string; line: string; topic: string; resourceId: string }

/** The notifications of what was made so far; a line without a subscription has none. */
async function notificationsOf({ made, call }: ReturnType<typeof openSteps>): Promise<ListedNotification[]> {
  const lists = await Promise.all(
    made.map(({ id }) => call('GET', `/operator/notifications?resourceId=${id}&pageSize=50`)),
  )
  return (lists.flat() as ListedNotification[]).map(({ id, line, topic, resourceId }) => ({
    id,
    line,
    topic,
    resourceId,
  }))
}
