import { endpoints, topics } from '#api/index'
import { parseAddress } from '#chains/address'
import type { Blockchain } from '#chains/blockchains'
import { networks } from '#chains/networks/index'
import { gatewayNotificationTypes, notificationTypes } from '#engines/webhooks/index'
import type { FieldError } from '#lib/errors'
import { isUuid } from '#lib/ids'
import { slipsBetween, suggest } from '#lib/suggest'
import { createNearestOperations } from '#runtime/http/nearest-operation'
import { nodeInterfaceOf } from '../chains/abilities.ts'
import { nodeRoutes } from '../chains/aptos/routes.ts'
import { untriggeredTopics } from '../triggers/untriggered-topics.ts'
import { hasMethodPrefix, nodeMethods } from './node/node-methods.ts'
import type { FaultPoint } from './plan-schema.ts'
import { isWord } from './rules.ts'

/** Says of the words of a member of `match` which can meet nothing, each with the reason; by their places. */
type Unmet = (words: readonly string[], blockchains: readonly string[]) => Map<number, string>

/**
 * Returns the refusals of words that can match nothing there is: a rule of them would wait for ever, and look like one that
 * works. `blockchains` are the chains that run.
 */
export function unmetWords(
  { on, match }: { on: FaultPoint; match: object },
  at: string,
  blockchains: readonly string[],
): FieldError[] {
  const unmets = unmetOf[on] as Readonly<Record<string, Unmet>>
  const { blockchain } = match as { blockchain?: unknown }
  const isNamed = [blockchain].flat().every((word) => typeof word === 'string')
  const named = isNamed ? blockchains.filter((name) => isWord(blockchain as string | string[], name)) : []
  return Object.entries(match).flatMap(([member, value]) => {
    const words: unknown[] = [value].flat()
    if (!Object.hasOwn(unmets, member) || !words.every((word) => typeof word === 'string')) return []
    // Nodes of the chains that a rule names have other methods than those of the rest.
    const concerned = member === 'method' && named.length > 0 ? named : blockchains
    return [...unmets[member]!(words as string[], concerned)].map(([place, reason]) => {
      const location = `${at}.${member}${Array.isArray(value) ? `[${place}]` : ''}`
      return {
        error: 'invalid_value' as const,
        message: `${location} ${reason}`,
        location,
        invalidValue: words[place],
      }
    })
  })
}

/** Judges each word by itself: the reason of one that can meet nothing, or nothing. */
const each =
  (reasonOf: (word: string, blockchains: readonly string[]) => string | undefined): Unmet =>
  (words, blockchains) =>
    new Map(
      words.flatMap((word, place) => {
        const reason = reasonOf(word, blockchains)
        return reason === undefined ? [] : [[place, reason] as const]
      }),
    )

const isLiteral = (word: string) => !word.includes('*')
const matchesOne = (word: string, known: readonly string[]) => known.some((text) => isWord(word, text))

/** The candidate that has at most two other characters. */
const slipOf = (word: string, known: readonly string[]) =>
  known.find((text) => slipsBetween(text, word.replaceAll('*', '')) <= 2)

/** A stream stays open, and is not met. */
const operations = endpoints.filter(({ streams }) => !streams)
const routes = operations.map(({ method, path }) => `${method} ${path}`)
const nearestOperations = createNearestOperations(operations)

const unmetRoute = each((word) => {
  if (matchesOne(word, routes)) return undefined
  const [, method = '', path = ''] = /^(?:([a-z]+) +)?(\S+)$/i.exec(word.replaceAll('*', '')) ?? []
  const found = nearestOperations(method.toUpperCase(), path)[0] ?? slipOf(word, routes)
  const remedy =
    found === undefined
      ? 'write the method and the documented path, such as POST /v1/payouts'
      : `did you mean ${found}?`
  return `is no operation of the API: ${remedy}`
})

/** The methods and documented paths of nodes whose interface is REST. */
const restMethods = nodeRoutes
  .filter(({ documented }) => documented.startsWith('/v1'))
  .map(({ method, documented }) => `${method} ${documented}`)

const unmetMethod = each((word, blockchains) => {
  const interfaces = new Set(blockchains.map((name) => nodeInterfaceOf(name as Blockchain)))
  const known = [
    ...(interfaces.has('json-rpc') ? nodeMethods : []),
    ...(interfaces.has('rest') ? restMethods : []),
  ]
  if (matchesOne(word, known)) return undefined
  const slip = slipOf(word, known)
  if (slip === undefined && interfaces.has('json-rpc') && hasMethodPrefix(word)) return undefined
  const example = interfaces.has('json-rpc') ? 'eth_sendRawTransaction' : 'POST /v1/transactions'
  return `is no method of a node: ${slip === undefined ? `write one such as ${example}` : `did you mean ${slip}?`}`
})

const isSent = (topic: string) =>
  !topic.endsWith('*') &&
  !Object.keys(untriggeredTopics).some((absent) => topic === absent || topic.startsWith(`${absent}.`))

/** Topics of notifications that the platform sends, with that of the message which tests an endpoint. */
const sentTopics = [
  ...Object.values(topics).flatMap((topic) => (topic.line === 'v1' ? [topic.name] : [])),
  ...[...notificationTypes, ...gatewayNotificationTypes].filter(isSent),
  'webhooks.test',
]

const unmetTopic = each((word) =>
  matchesOne(word, sentTopics)
    ? undefined
    : `is no topic of a notification${suggest(word, sentTopics) || `: choose from ${sentTopics.join(', ')}`}`,
)

/** An endpoint is a whole address: a word without a star at its beginning has to begin as addresses do. */
const unmetEndpoint = each((word) => {
  const begin = word.split('*')[0]!.toLowerCase()
  if (['http://', 'https://'].some((scheme) => begin.startsWith(scheme) || scheme.startsWith(begin)))
    return undefined
  return `is no whole address of http or https: write https://${word}, or *${word}* for all that have it`
})

const unmetKey = each((word) =>
  isLiteral(word) && !isUuid(word) && !/^(user:|anybody$)/.test(word)
    ? 'is no id of a key: bezant keys list --entity ID shows them'
    : undefined,
)

const testNetworks = networks
  .filter(({ environment }) => environment === 'TEST')
  .map(({ blockchain }) => blockchain)

/** A list may name chains that do not run beside one that does, so that a plan serves several sandboxes. */
const unmetBlockchain: Unmet = (words, blockchains) => {
  const isMet = words.some((word) => matchesOne(word, blockchains))
  return each((word) => {
    if (matchesOne(word, blockchains)) return undefined
    const isKnown = matchesOne(word, testNetworks)
    if (isKnown && isMet) return undefined
    const remedy = isKnown ? '' : suggest(word, blockchains)
    return `is no chain of this sandbox${remedy || `, which runs ${blockchains.join(', ')}`}`
  })(words, blockchains)
}

const unmetAddress = each((word, blockchains) => {
  if (!isLiteral(word)) return undefined
  const spellings = [word, word.toLowerCase()]
  const isAddress = networks.some(
    ({ blockchain }) =>
      blockchains.includes(blockchain) &&
      spellings.some((text) => parseAddress(blockchain, text) !== undefined),
  )
  return isAddress
    ? undefined
    : 'is no address on a chain of this sandbox: write it whole, or with * for a part'
})

/** The members of `match` of which it is known what there is to match. */
const unmetOf: Readonly<Record<FaultPoint, Readonly<Record<string, Unmet>>>> = {
  request: { route: unmetRoute, apiKeyId: unmetKey },
  node: { blockchain: unmetBlockchain, method: unmetMethod },
  webhook: { endpoint: unmetEndpoint, topic: unmetTopic },
  chain: { blockchain: unmetBlockchain, address: unmetAddress },
  screening: { blockchain: unmetBlockchain, address: unmetAddress },
}
