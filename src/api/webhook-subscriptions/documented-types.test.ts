import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { topics } from '#api/index'
import { notificationTypes } from '#engines/webhooks/index'
import { challengeTypes } from '../challenges/types.ts'

const types = notificationTypes.filter((type) => !type.endsWith('*'))

/** The event types that raise webhooks of each resource; the other resources have none. */
const topicsOf: Record<string, keyof typeof topics> = {
  transactions: 'transaction',
  contracts: 'eventLog',
  modularWallet: 'userOperation',
  challenges: 'challenge',
  x402: 'x402Payment',
}

const isRaised = (type: string) => {
  const [resource = '', event] = type.split('.')
  const topic = topicsOf[resource]
  if (topic === undefined || topics[topic]?.line !== 'v2') return false
  return resource !== 'challenges' || Object.values(challengeTypes).some((kind) => kind === event)
}

/** The types that a sentence names; `name.*` stands for all of a resource. */
const namedIn = (sentence: string) =>
  [...sentence.matchAll(/`(\w+\.[\w*]+)`/g)].flatMap(([, name]) =>
    name!.endsWith('*') ? types.filter((type) => type.startsWith(name!.slice(0, -1))) : [name!],
  )

it.each([
  { document: 'docs/what-works.md', says: /^\| Webhooks of wallets \|[^|]+\|(.+)\|$/m },
  { document: 'docs/webhooks.md', says: /^These can be subscribed, and are not sent: (.+)$/m },
])(
  '$document names the types that can be subscribed and are not sent, and no others',
  ({ document, says }) => {
    const [, sentence] = says.exec(readFileSync(document, 'utf8'))!
    expect(namedIn(sentence!).sort()).toEqual(types.filter((type) => !isRaised(type)).sort())
  },
)
