import { readFile } from 'node:fs/promises'
import { isBlockchain } from '#chains/blockchains'
import { parseRules, permissive, type Rules } from '#custody/policy/index'
import { ApiError } from '#lib/errors'
import { UsageError } from './command.ts'

const bytesMax = 1_048_576

/** The rules that `--policy` names: the word `permissive`, or a JSON file. Says which field is wrong. */
export async function readPolicy(text: string): Promise<Rules> {
  if (text === 'permissive') return permissive
  const content = await readFile(text, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`--policy must be permissive or a file that can be read: ${text} (${error.code})`)
  })
  if (content.length > bytesMax) throw new UsageError(`${text} is larger than ${bytesMax} bytes`)
  try {
    const rules = parseRules(JSON.parse(content))
    requireKnownChains(rules, text)
    return rules
  } catch (error) {
    if (error instanceof SyntaxError) throw new UsageError(`${text} is not JSON: ${error.message}`)
    if (!(error instanceof ApiError)) throw error
    throw new UsageError(`${text}: ${error.fields.map(({ message }) => message).join('; ')}`)
  }
}

/** Refuses unknown blockchains: a misspelt one would allow nothing there, and limit nothing either. */
function requireKnownChains(rules: Rules, file: string): void {
  if (rules.mode === 'permissive') return
  const entries = [
    ...listOf(rules.destinations),
    ...listOf(rules.tokens),
    ...listOf(rules.contracts).map(({ contract }) => contract),
    ...listOf(rules.typedData).map(({ contract }) => contract),
    ...listOf(rules.limits).flatMap(({ tokens }) => tokens),
  ]
  for (const entry of entries) {
    const blockchain = entry.slice(0, entry.lastIndexOf(':'))
    if (blockchain === '*' || blockchain.startsWith('eip155:') || isBlockchain(blockchain)) continue
    throw new UsageError(`${file}: "${entry}" names no blockchain of this interface`)
  }
}

const listOf = <Item>(list: 'any' | readonly Item[] | undefined): readonly Item[] =>
  list === undefined || list === 'any' ? [] : list
