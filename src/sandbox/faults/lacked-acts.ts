import type { Blockchain } from '#chains/blockchains'
import type { FieldError } from '#lib/errors'
import { lackOf, nodeInterfaceOf, type RareAct } from '../chains/abilities.ts'
import { isRestReply } from './node/rest-faults.ts'
import type { FaultPoint } from './plan-schema.ts'
import { isWord } from './rules.ts'

const rareActs: Readonly<Record<string, RareAct>> = {
  reorg: 'reorg',
  baseFee: 'base-fee',
  gasLimit: 'gas-limit',
}

/** Returns why a chain cannot do what a rule of chains does; undefined where it can. */
export function lackedBy(act: object, blockchain: Blockchain): string | undefined {
  for (const name of Object.keys(act)) {
    const rare = rareActs[name]
    const lack = rare && lackOf(blockchain, rare)
    if (lack !== undefined) return lack
  }
  return undefined
}

/** Returns why the node of a chain cannot give a reply. */
function unfitReply(act: object, blockchain: Blockchain): string | undefined {
  const { reply } = act as { reply?: unknown }
  if (typeof reply !== 'string' || nodeInterfaceOf(blockchain) === 'json-rpc' || isRestReply(reply))
    return undefined
  return `has no answer ${reply}, which is one of JSON-RPC: choose one of the connection, such as acceptThenTimeOut, or of a submission, such as poolFull`
}

const reasons: { readonly [point in FaultPoint]?: typeof lackedBy } = { chain: lackedBy, node: unfitReply }

type UnreadRule = { on: FaultPoint; match: unknown; act: unknown }

/** Returns the refusal of a rule that none of the chains which it can concern is able to follow: it would wait for ever. */
export function lackedActs(
  { on, match, act }: UnreadRule,
  at: string,
  blockchains: readonly string[],
): FieldError[] {
  const reasonOf = reasons[on]
  if (!reasonOf || typeof act !== 'object' || act === null) return []
  const { blockchain: words } = (match ?? {}) as { blockchain?: string | string[] }
  const isText = words === undefined || [words].flat().every((word) => typeof word === 'string')
  const concerned = isText ? blockchains.filter((name) => isWord(words, name)) : []
  const found = concerned.map((name) => reasonOf(act, name as Blockchain))
  if (found.length === 0 || found.some((reason) => reason === undefined)) return []
  const message = `${at} ${concerned[0]} ${found[0]}`
  return [{ error: 'invalid_value', message, location: at, invalidValue: act }]
}
