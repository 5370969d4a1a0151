import { keccak_256 } from '@noble/hashes/sha3'
import Type, { type Static } from 'typebox'
import { ApiError, invalid, within } from '#lib/errors'
import { checkOf } from '#runtime/http/validate'
import { dangers, operationKinds } from './operation.ts'

const entriesMax = 1_000
const strict = { additionalProperties: false } as const
const amountField = Type.String({
  pattern: '^(0|[1-9][0-9]{0,77})$',
  '~remedy': 'write base units as a text, such as "1000000"',
})
const textField = Type.String({ minLength: 1, maxLength: 300 })
const listField = Type.Array(textField, { maxItems: entriesMax })
const anyOr = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([Type.Literal('any'), schema])

const limitSchema = Type.Object(
  {
    /** Counted together, in base units. */
    tokens: Type.Array(textField, { minItems: 1, maxItems: 100 }),
    perTransactionAtomic: Type.Optional(amountField),
    windows: Type.Optional(
      Type.Array(
        Type.Object(
          { seconds: Type.Integer({ minimum: 1, maximum: 2_678_400 }), amountAtomic: amountField },
          strict,
        ),
        { maxItems: 10 },
      ),
    ),
  },
  strict,
)

/** Rules about settlements of payments that others signed; `networkFees`: limits on what the treasury pays for them. */
const settlementsSchema = Type.Object(
  {
    destinations: Type.Optional(anyOr(listField)),
    tokens: Type.Optional(anyOr(listField)),
    limits: Type.Optional(Type.Array(limitSchema, { maxItems: 100 })),
    networkFees: Type.Optional(Type.Array(limitSchema, { maxItems: 100 })),
  },
  strict,
)

const contractRule = Type.Object({ contract: textField, selectors: anyOr(listField) }, strict)
const typedDataRule = Type.Object({ contract: textField, primaryTypes: anyOr(listField) }, strict)

/**
 * Rules as written. An omitted list allows nothing, but without `limits` no amount is limited, and without `settlements` nothing is
 * said about settlements. Unknown fields are refused: a
 * misspelt limit must not mean no limit.
 */
const rulesSchema = Type.Object(
  {
    mode: Type.Literal('rules'),
    operations: Type.Optional(Type.Array(Type.Enum([...operationKinds]), { maxItems: entriesMax })),
    destinations: Type.Optional(anyOr(listField)),
    tokens: Type.Optional(anyOr(listField)),
    contracts: Type.Optional(anyOr(Type.Array(contractRule, { maxItems: entriesMax }))),
    typedData: Type.Optional(anyOr(Type.Array(typedDataRule, { maxItems: entriesMax }))),
    limits: Type.Optional(Type.Array(limitSchema, { maxItems: 100 })),
    permissions: Type.Optional(Type.Array(Type.Enum([...dangers]), { maxItems: entriesMax })),
    settlements: Type.Optional(settlementsSchema),
  },
  strict,
)
const permissiveSchema = Type.Object({ mode: Type.Literal('permissive') }, strict)
const modeSchema = Type.Object({ mode: Type.Enum(['permissive', 'rules']) })

/** Rules as an operator writes them, and as the database keeps them. */
export type Rules = Static<typeof rulesSchema> | Static<typeof permissiveSchema>

const checkMode = checkOf(modeSchema, 'body')
const checkRules = checkOf(rulesSchema, 'body')
const checkPermissive = checkOf(permissiveSchema, 'body')

/** Everything, or the allowed entries, written `BLOCKCHAIN:address`; the blockchain `*` stands for every one. */
export type Listed = 'any' | ReadonlySet<string>
/** Everything; or, for each contract written `BLOCKCHAIN:address`, everything or the allowed selectors or types of typed data. */
export type Members = 'any' | ReadonlyMap<string, 'any' | ReadonlySet<string>>

/** A limit on what leaves in these tokens together, in base units: in one transaction, and in each rolling window. */
export type Limit = {
  tokens: readonly { blockchain: string; token: string }[]
  perTransactionAtomic: bigint | undefined
  windows: readonly { seconds: number; amountAtomic: bigint }[]
}

/** Rules compiled for evaluation. */
export type Compiled =
  | { mode: 'permissive' }
  | {
      mode: 'rules'
      operations: ReadonlySet<string>
      destinations: Listed
      tokens: Listed
      contracts: Members
      typedData: Members
      limits: readonly Limit[]
      permissions: ReadonlySet<string>
      settlements: SettlementRules | undefined
    }

/** Rules about settlements: the payees and tokens, limits on what is paid, and on what the treasury pays for it. */
export type SettlementRules = {
  destinations: Listed
  tokens: Listed
  limits: readonly Limit[]
  networkFees: readonly Limit[]
}

/** Checks rules as an operator writes them; throws the error that names each bad field. */
export function parseRules(value: unknown): Rules {
  checkMode(value)
  if ((value as Rules).mode === 'permissive') checkPermissive(value)
  else checkRules(value)
  const rules = value as Rules
  compileRules(rules)
  return rules
}

type ReadSettings = {
  /** The member of the request that has the rules; absent of a document of its own. */
  at?: string
  /** Whether this is a blockchain of the interface: a misspelt one would allow nothing there, and limit nothing either. */
  isBlockchain: (name: string) => boolean
  /** The blockchain of the interface with an id such as `eip155:1`: effects name it by its name, never by its id. */
  blockchainWithId: (id: string) => string | undefined
  /** The address of that blockchain of the interface in the form that effects name it by; `undefined` for a text that is none. */
  parseAddressOn: (blockchain: string, text: string) => string | undefined
  /** Whether the blockchain reserves an address: no token is there. */
  isReservedOn: (blockchain: string, address: string) => boolean
  /** Whether the native coin of some blockchain has its contract at an address: no token is there. */
  isNativeContract: (address: string) => boolean
}

/** Checks rules as an operator writes them, with the blockchains that they name; errors name each bad member by its path. */
export function readRules(value: unknown, { at, ...known }: ReadSettings): Rules {
  try {
    const rules = parseRules(value)
    requireBlockchains(rules, known)
    return rules
  } catch (error) {
    throw at !== undefined && error instanceof ApiError ? within(at, error) : error
  }
}

function requireBlockchains(rules: Rules, known: Omit<ReadSettings, 'at'>): void {
  if (rules.mode === 'permissive') return
  const { settlements = {} } = rules
  const entries: [string, string][] = [
    ...entriesIn(rules),
    ...entriesIn(settlements, 'settlements.'),
    ...entriesIn({ limits: settlements.networkFees ?? [] }, 'settlements.', 'networkFees'),
    ...(['contracts', 'typedData'] as const).flatMap((name) =>
      listOf<{ contract: string }>(rules[name]).map(({ contract }, index): [string, string] => [
        `${name}[${index}].contract`,
        contract,
      ]),
    ),
  ]
  for (const [at, text] of entries) {
    const blockchain = text.slice(0, text.lastIndexOf(':'))
    const address = text.slice(blockchain.length + 1)
    const isToken = /tokens\[\d+\]$/.test(at)
    const problem =
      blockchain === '*' || blockchain.startsWith('eip155:')
        ? unnamedProblem(blockchain, address, isToken, known)
        : known.isBlockchain(blockchain)
          ? addressProblem(blockchain, address, isToken, known)
          : 'names no blockchain of this interface'
    if (problem) throw invalid({ at, reason: `"${text}" ${problem}`, value: text })
  }
}

/** The entries of lists that rules have for signatures and for settlements alike, each with its path. */
function entriesIn(
  {
    destinations,
    tokens,
    limits,
  }: Pick<Extract<Rules, { mode: 'rules' }>, 'destinations' | 'tokens' | 'limits'>,
  within = '',
  nameOfLimits = 'limits',
): [string, string][] {
  return [
    ...listOf(destinations).map((text, index): [string, string] => [`${within}destinations[${index}]`, text]),
    ...listOf(tokens).map((text, index): [string, string] => [`${within}tokens[${index}]`, text]),
    ...listOf(limits).flatMap((limit, index) =>
      limit.tokens.map((text, place): [string, string] => [
        `${within}${nameOfLimits}[${index}].tokens[${place}]`,
        text,
      ]),
    ),
  ]
}

/** The reason why an entry for every blockchain, or for one without a name here, would match nothing. */
function unnamedProblem(
  blockchain: string,
  address: string,
  isToken: boolean,
  { blockchainWithId, isNativeContract }: Pick<ReadSettings, 'blockchainWithId' | 'isNativeContract'>,
): string | undefined {
  const named = blockchainWithId(blockchain)
  if (named !== undefined) return `names a blockchain by its id: write ${named}:${address}`
  return isToken && isNativeContract(address)
    ? 'names the contract of a native coin, which is no token: write that coin with its blockchain, such as ARC:native'
    : undefined
}

/** The reason why an entry would match nothing: effects name addresses in one form, and the native coin by a word. */
function addressProblem(
  blockchain: string,
  address: string,
  isToken: boolean,
  { parseAddressOn, isReservedOn }: Pick<ReadSettings, 'parseAddressOn' | 'isReservedOn'>,
): string | undefined {
  if (placeholders.has(address)) return undefined
  const canonical = parseAddressOn(blockchain, address)
  if (canonical === undefined) return `names no address of ${blockchain}`
  if (isToken && isReservedOn(blockchain, canonical))
    return `names a reserved address, which is no token: write the native coin ${blockchain}:native`
  return canonical.length === address.length
    ? undefined
    : `names an address that is written ${blockchain}:${canonical}`
}

const listOf = <Item>(list: 'any' | readonly Item[] | undefined): readonly Item[] =>
  list === undefined || list === 'any' ? [] : list

/** Compiles rules for evaluation. Throws an error that names the first entry that is malformed or contradicts another. */
export function compileRules(rules: Rules): Compiled {
  if (rules.mode === 'permissive') return { mode: 'permissive' }
  const tokens = listed('tokens', rules.tokens ?? [], tokenPattern)
  return {
    mode: 'rules',
    operations: new Set(rules.operations ?? []),
    destinations: listed('destinations', rules.destinations ?? [], addressPattern),
    tokens,
    contracts: members('contracts', rules.contracts ?? [], ({ contract, selectors }, at) => {
      if (selectors === 'any') return 'any'
      const read = evmPattern.test(contract.slice(contract.lastIndexOf(':') + 1))
        ? selectorOf
        : functionNameOf
      return selectors.map((text, index) => read(`${at}.selectors[${index}]`, text))
    }),
    typedData: members('typedData', rules.typedData ?? [], (rule) => rule.primaryTypes),
    limits: (rules.limits ?? []).map((limit, index) => compileLimit(limit, `limits[${index}]`, tokens)),
    permissions: new Set(rules.permissions ?? []),
    settlements: rules.settlements && compileSettlements(rules.settlements),
  }
}

function compileSettlements(rules: Static<typeof settlementsSchema>): SettlementRules {
  const at = (name: string, index: number) => `settlements.${name}[${index}]`
  const tokens = listed('settlements.tokens', rules.tokens ?? [], tokenPattern)
  return {
    destinations: listed('settlements.destinations', rules.destinations ?? [], addressPattern),
    tokens,
    limits: (rules.limits ?? []).map((limit, index) => compileLimit(limit, at('limits', index), tokens)),
    networkFees: (rules.networkFees ?? []).map((limit, index) => {
      for (const [place, text] of limit.tokens.entries())
        if (!text.endsWith(':native'))
          throw invalid({
            at: `${at('networkFees', index)}.tokens[${place}]`,
            reason: 'is no native coin, and fees are paid in those alone: write BLOCKCHAIN:native',
            value: text,
          })
      return compileLimit(limit, at('networkFees', index), 'any')
    }),
  }
}

const chainPattern = /^(\*|[A-Z][A-Z0-9-]{1,31}|eip155:[1-9]\d{0,15})$/
const evmPattern = /^0x[0-9a-fA-F]{40}$/
/** Words that stand in the place of an address. */
const placeholders = new Set(['native', 'none'])

/** The forms of addresses: hexadecimal digits mean the same in either case; base58 and names are as they are. */
const forms =
  '0x[0-9a-fA-F]{40}|0x[0-9a-fA-F]{64}|0x[0-9a-fA-F]|[1-9A-HJ-NP-Za-km-z]{32,44}|(?!0x)[a-z0-9][a-z0-9._-]{0,62}[a-z0-9]'
const addressPattern = new RegExp(`^(?!native$|none$)(${forms})$`)
const tokenPattern = new RegExp(`^(?!none$)(${forms})$`)
const contractPattern = new RegExp(`^(?!native$)(${forms})$`)

/** Parses `BASE:0x…`, or `*:0x…` for every blockchain; an EVM address is lower case, or has a valid checksum. */
function entryOf(location: string, text: string, pattern: RegExp): { blockchain: string; value: string } {
  const at = text.lastIndexOf(':')
  const [blockchain, value] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)]
  if (!chainPattern.test(blockchain) || !pattern.test(value))
    throw invalid({
      at: location,
      reason: 'must be BLOCKCHAIN:ADDRESS, such as BASE:0x… or *:0x… for every one',
      value: text,
    })
  if (!hasRightChecksum(value)) throw invalid({ at: location, reason: 'has a wrong checksum', value: text })
  return { blockchain, value: value.startsWith('0x') ? value.toLowerCase() : value }
}

function hasRightChecksum(address: string): boolean {
  const digits = address.slice(2)
  if (!evmPattern.test(address) || digits === digits.toLowerCase()) return true
  const hash = Buffer.from(keccak_256(Buffer.from(digits.toLowerCase()))).toString('hex')
  return [...digits].every(
    (digit, index) =>
      /\d/.test(digit) || (digit === digit.toUpperCase()) === Number.parseInt(hash[index]!, 16) >= 8,
  )
}

function listed(name: string, value: 'any' | readonly string[], pattern: RegExp): Listed {
  if (value === 'any') return 'any'
  return new Set(
    value.map((text, index) => {
      const entry = entryOf(`${name}[${index}]`, text, pattern)
      return `${entry.blockchain}:${entry.value}`
    }),
  )
}

function members<Rule extends { contract: string }>(
  name: string,
  value: 'any' | readonly Rule[],
  namesOf: (rule: Rule, at: string) => 'any' | readonly string[],
): Members {
  if (value === 'any') return 'any'
  const found = new Map<string, 'any' | ReadonlySet<string>>()
  for (const [index, rule] of value.entries()) {
    const location = `${name}[${index}].contract`
    const entry = entryOf(location, rule.contract, contractPattern)
    const key = `${entry.blockchain}:${entry.value}`
    if (found.has(key))
      throw invalid({
        at: location,
        reason: 'is there twice: write one entry for each',
        value: rule.contract,
      })
    const names = namesOf(rule, `${name}[${index}]`)
    found.set(key, names === 'any' ? 'any' : new Set(names))
  }
  return found
}

const canonicalType = /^(address|bool|string|function|bytes([1-9]|[12]\d|3[0-2])?|u?int[1-9]\d{0,2}|\d*)$/

/** Parses a selector: `0xa9059cbb`, or the function's signature with canonical types: `transfer(address,uint256)`. */
function selectorOf(at: string, text: string): string {
  if (/^0x[0-9a-fA-F]{8}$/.test(text)) return text.toLowerCase()
  const parameters = /^[A-Za-z_$][\w$]*(\(.*\))$/.exec(text)?.[1]
  const isCanonical = parameters?.split(/[(),[\]]/).every((type) => canonicalType.test(type))
  if (!isCanonical || /[(,],|,\)/.test(parameters!))
    throw invalid({
      at,
      reason: 'must be 0x and 8 digits, or a signature such as f(address,uint256)',
      value: text,
    })
  return `0x${Buffer.from(keccak_256(Buffer.from(text))).toString('hex', 0, 4)}`
}

/** Parses a function of a contract that is not on an EVM chain: its name, or the first bytes of its data. */
function functionNameOf(at: string, text: string): string {
  if (/^(0x([0-9a-f]{2}){0,8}|[A-Za-z_]\w{0,255})$/.test(text)) return text
  throw invalid({
    at,
    reason: 'must be the name of a function, or 0x and up to 8 bytes with which its data begins',
    value: text,
  })
}

type WrittenLimit = Static<typeof limitSchema>

function compileLimit(limit: WrittenLimit, location: string, allowed: Listed): Limit {
  const windows = limit.windows ?? []
  if (limit.perTransactionAtomic === undefined && windows.length === 0)
    throw invalid({ at: location, reason: 'limits nothing: give perTransactionAtomic or windows' })
  const tokens = limit.tokens.map((text, index) => {
    const { blockchain, value } = entryOf(`${location}.tokens[${index}]`, text, tokenPattern)
    // A limit on a token that is not allowed is misspelt, and the intended token would have no limit.
    if (allowed !== 'any' && !allowed.has(`${blockchain}:${value}`))
      throw invalid({
        at: `${location}.tokens[${index}]`,
        reason: 'is not among tokens, written the same way',
        value: text,
      })
    return { blockchain, token: value }
  })
  return {
    tokens,
    perTransactionAtomic:
      limit.perTransactionAtomic === undefined ? undefined : BigInt(limit.perTransactionAtomic),
    windows: windows.map(({ seconds, amountAtomic }) => ({ seconds, amountAtomic: BigInt(amountAtomic) })),
  }
}
