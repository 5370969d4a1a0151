import { readFile } from 'node:fs/promises'
import { ruleEntries } from '#chains/rule-entries'
import { permissive, type Rules, readRules } from '#custody/policy/index'
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
    return readRules(JSON.parse(content), ruleEntries)
  } catch (error) {
    if (error instanceof SyntaxError) throw new UsageError(`${text} is not JSON: ${error.message}`)
    if (!(error instanceof ApiError)) throw error
    throw new UsageError(`${text}: ${error.fields.map(({ message }) => message).join('; ')}`)
  }
}
