/** The reasons for which a cluster fails a transaction, in words. */

/** "ProgramFailedToComplete" as "program failed to complete". */
const inWords = (name: string): string => name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()

/** The error of a transaction in words; as JSON where it has an unknown form. */
export function failureInWords(error: unknown): string {
  const text = failureOf(error) ?? JSON.stringify(error) ?? 'unknown error'
  return text.slice(0, textMax)
}

const textMax = 1_000

function failureOf(error: unknown): string | undefined {
  if (typeof error === 'string') return inWords(error)
  const [[name, detail] = [], ...more] = Object.entries(error ?? {})
  if (name === undefined || more.length > 0) return undefined
  if (name === 'InstructionError' && Array.isArray(detail)) {
    const [place, why] = detail as readonly unknown[]
    const reason = reasonOf(why)
    return typeof place === 'number' && reason !== undefined
      ? `instruction ${place + 1} failed: ${reason}`
      : undefined
  }
  const { account_index: account } = (detail ?? {}) as { account_index?: unknown }
  return typeof account === 'number' ? `${inWords(name)}: account ${account + 1}` : undefined
}

function reasonOf(why: unknown): string | undefined {
  if (typeof why === 'string') return inWords(why)
  const { Custom: code } = (why ?? {}) as { Custom?: unknown }
  return typeof code === 'number' ? `its program gave error ${code}` : undefined
}
