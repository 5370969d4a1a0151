import { randomUUID } from 'node:crypto'
import { invalid } from '#lib/errors'
import { suggest } from '#lib/suggest'
import { businessFixtures } from './business.ts'
import type { Fixture } from './fixture.ts'
import { openSteps, type TriggerTarget } from './steps.ts'
import { userFixtures } from './users.ts'
import { walletFixtures } from './wallets.ts'

const fixtures: Readonly<Record<string, Fixture>> = {
  ...businessFixtures,
  ...walletFixtures,
  ...userFixtures,
}

/** The topics that no fixture causes, each with the reason. */
const untriggeredTopics: Readonly<Record<string, string>> = {
  'challenges.setSecurityQuestions': 'The platform does not send it.',
  'modularWallet.userOperation':
    'The owner of a modular wallet signs its operations, in the library of the page; no fixture does so yet.',
  'modularWallet.outboundTransfer': 'It comes of an operation that the owner of a modular wallet signs.',
  travelRule: 'The platform does not send it.',
  rampSession: 'The platform does not send it.',
}

/** The events that can be triggered, with their topics and what can be set. */
export const listTriggers = (target: TriggerTarget) => ({
  events: Object.entries(fixtures).map(([event, { about, topics, values }]) => ({
    event,
    about,
    topics,
    values: valuesOf(target, values),
  })),
  notCovered: Object.entries(untriggeredTopics).map(([topic, reason]) => ({ topic, reason })),
})

const valuesOf = ({ chains }: TriggerTarget, values: Fixture['values'] = {}): Record<string, string> => ({
  ...values,
  blockchain: chains[0]!.blockchain,
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

function setValues(target: TriggerTarget, { values: usual }: Fixture, set: Record<string, string>) {
  const values = valuesOf(target, usual)
  for (const [path, value] of Object.entries(set)) {
    if (!Object.hasOwn(values, path))
      throw invalid({
        at: `set.${path}`,
        reason: `cannot be set: choose from ${Object.keys(values).join(', ')}`,
        value,
      })
    if (path.startsWith('amount') && !/^\d{1,9}(\.\d{1,2})?$/.test(value))
      throw invalid({ at: `set.${path}`, reason: 'must be an amount such as 1.25', value })
    values[path] = value
  }
  const { blockchain } = values
  const blockchains = target.chains.map((each) => each.blockchain as string)
  if (!blockchains.includes(blockchain!))
    throw invalid({
      at: 'set.blockchain',
      reason: `is no chain of this sandbox: choose from ${blockchains.join(', ')}`,
      value: blockchain,
    })
  return values
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
