import type { Operation, OperationDanger, OperationEffect } from './operation.ts'
import type { Compiled, Limit, Listed, Members } from './rules.ts'

type CompiledRules = Extract<Compiled, { mode: 'rules' }>

/** The outgoing amount of one operation in one token, in base units. */
export type Spend = { blockchain: string; token: string; amountAtomic: bigint }

/** Returns the reason why these rules deny the operation, or `undefined`. Rolling limits are not checked here. */
export function denialOf(rules: Compiled, operation: Operation): string | undefined {
  if (rules.mode === 'permissive' || operation.kind === 'sweep') return undefined
  if (!rules.operations.has(operation.kind)) return `operations does not list ${operation.kind}`
  const danger = operation.dangers.find((each) => !rules.permissions.has(each))
  if (danger) return `permissions does not list ${danger}${dangerTexts[danger] ?? ''}`
  for (const effect of operation.effects) {
    const reason = effectDenial(rules, operation, effect)
    if (reason) return reason
  }
  return textOf(transactionLimitDenial(rules.limits, spendsOf(operation)))
}

const dangerTexts: Partial<Record<OperationDanger, string>> = {
  undecodable: ': what would be signed cannot be understood',
  rawHash: ': what would be signed is a bare hash',
  setCode: ' (an EIP-7702 authorisation)',
  transferAuthorization: ' (a signature with which others move tokens)',
}

function effectDenial(
  rules: CompiledRules,
  operation: Operation,
  effect: OperationEffect,
): string | undefined {
  const { blockchain } = effect
  if (effect.kind === 'call') {
    if (isTransferItself(operation, effect)) return undefined
    return callDenial(rules, effect)
  }
  if (effect.kind === 'typedData') {
    const { contract, primaryType } = effect
    const named = memberOf(rules.typedData, blockchain, contract, primaryType)
    return named ? undefined : `typedData does not list ${primaryType} of ${blockchain}:${contract}`
  }
  const { token, destination, destinationChain = blockchain } = effect
  if (!allowsEntry(rules.tokens, blockchain, token)) return `tokens does not list ${blockchain}:${token}`
  if (destination === undefined || allowsEntry(rules.destinations, destinationChain, destination))
    return undefined
  return `destinations does not list ${destinationChain}:${destination}`
}

/** Returns the reason to deny a call. An unknown function must be listed by selector, unless `undecodable` is permitted. */
function callDenial(
  rules: CompiledRules,
  { blockchain, contract, selector, known }: CallEffect,
): string | undefined {
  const named = memberOf(rules.contracts, blockchain, contract, selector)
  const shown = `${selector} of ${blockchain}:${contract}`
  if (!named) return `contracts does not list ${shown}`
  if (known || named === 'by name' || rules.permissions.has('undecodable')) return undefined
  return `contracts does not list ${shown} by its selector: what it does is not known here`
}

type CallEffect = Extract<OperationEffect, { kind: 'call' }>

/** The call of the transfer itself, which the rules for tokens and destinations cover. */
const transferSelector = '0xa9059cbb'
const isTransferItself = (operation: Operation, { contract, selector, known }: CallEffect) =>
  operation.kind === 'transfer' &&
  known &&
  selector === transferSelector &&
  operation.effects.some(
    (effect) => effect.kind === 'transfer' && (effect.movedBy ?? effect.token) === contract,
  )

export const allowsEntry = (list: Listed, blockchain: string, value: string): boolean =>
  list === 'any' || list.has(`${blockchain}:${value}`) || list.has(`*:${value}`)

function memberOf(
  members: Members,
  blockchain: string,
  contract: string,
  name: string,
): 'any' | 'by name' | undefined {
  if (members === 'any') return 'any'
  const sets = [members.get(`${blockchain}:${contract}`), members.get(`*:${contract}`)]
  if (sets.some((set) => set !== undefined && set !== 'any' && set.has(name))) return 'by name'
  return sets.includes('any') ? 'any' : undefined
}

/** Sums the outgoing amounts of each token. Approvals count as transfers do: an approved amount can be taken at any time. */
export function spendsOf(operation: Operation): Spend[] {
  const sums = new Map<string, Spend>()
  for (const effect of operation.effects) {
    if (effect.kind !== 'transfer' && effect.kind !== 'approval') continue
    const { blockchain, token, amountAtomic } = effect
    const key = `${blockchain}:${token}`
    const before = sums.get(key)?.amountAtomic ?? 0n
    sums.set(key, { blockchain, token, amountAtomic: before + amountAtomic })
  }
  return [...sums.values()]
}

/** Returns the amount, in base units, that counts against the limit; `undefined` when no token of `spends` does. */
export function countedBy(limit: Limit, spends: readonly Spend[]): bigint | undefined {
  const counted = spends.filter((spend) =>
    limit.tokens.some(
      ({ blockchain, token }) =>
        token === spend.token && (blockchain === '*' || blockchain === spend.blockchain),
    ),
  )
  if (counted.length === 0) return undefined
  return counted.reduce((sum, { amountAtomic }) => sum + amountAtomic, 0n)
}

/** A limit that denies an amount: where the rules have it, and why. */
export type LimitDenial = { at: string; why: string }

const textOf = (denial: LimitDenial | undefined): string | undefined => denial && `${denial.at} ${denial.why}`

/** The limit for one transaction that denies the amounts. `at`: the list of limits in the rules. */
export function transactionLimitDenial(
  limits: readonly Limit[],
  spends: readonly Spend[],
  at = 'limits',
): LimitDenial | undefined {
  for (const [index, limit] of limits.entries()) {
    const amount = countedBy(limit, spends)
    if (amount === undefined || limit.perTransactionAtomic === undefined) continue
    if (amount > limit.perTransactionAtomic)
      return {
        at: `${at}[${index}].perTransactionAtomic`,
        why: `is ${limit.perTransactionAtomic}, this is ${amount}`,
      }
  }
  return undefined
}

/** Returns the amount that left in these tokens in the seconds before, in base units. */
type SpentIn = (limit: Limit, seconds: number) => Promise<bigint>

/** Whether a rolling limit counts these amounts. */
export const hasWindows = (rules: Compiled, spends: readonly Spend[]): boolean =>
  rules.mode === 'rules' && windowsOf(rules.limits, spends).length > 0

/** Returns the reason why a rolling limit of these rules denies the amounts, or `undefined`. */
export async function windowDenial(
  rules: Compiled,
  spends: readonly Spend[],
  spentIn: SpentIn,
): Promise<string | undefined> {
  return rules.mode === 'rules' ? textOf(await fullLimit(rules.limits, spends, spentIn)) : undefined
}

/** The rolling limit that has no room for the amounts. `at`: the list of limits in the rules. */
export async function fullLimit(
  limits: readonly Limit[],
  spends: readonly Spend[],
  spentIn: SpentIn,
  at = 'limits',
): Promise<LimitDenial | undefined> {
  for (const { limit, index, amountAtomic, seconds, capAtomic } of windowsOf(limits, spends)) {
    const spent = await spentIn(limit, seconds)
    const why = `allows ${capAtomic} in ${seconds} s, of which ${spent} are taken; this is ${amountAtomic}`
    if (spent + amountAtomic > capAtomic) return { at: `${at}[${index}]`, why }
  }
  return undefined
}

type Window = { limit: Limit; index: number; amountAtomic: bigint; seconds: number; capAtomic: bigint }

/** Returns the rolling limits that the outgoing amounts count against. */
export function windowsOf(limits: readonly Limit[], spends: readonly Spend[]): Window[] {
  return limits.flatMap((limit, index) => {
    const counted = countedBy(limit, spends)
    if (counted === undefined) return []
    return limit.windows.map(({ seconds, amountAtomic: capAtomic }) => ({
      limit,
      index,
      amountAtomic: counted,
      seconds,
      capAtomic,
    }))
  })
}
