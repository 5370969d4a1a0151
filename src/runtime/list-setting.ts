type ListSetting = {
  name: string
  example: string
  /** The words of errors for the list: "a list", or one with its limit. */
  list?: string
}

/** Reads a setting that is a list in JSON, empty where it is unset. Messages contain nothing of the text, which may hold secrets. */
export function parseListSetting(
  text: string | undefined,
  { name, example, list = 'a list' }: ListSetting,
  itemsMax = Number.POSITIVE_INFINITY,
): unknown[] {
  if (!text) return []
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw new Error(`${name} must be JSON such as ${example}`)
  }
  if (!Array.isArray(parsed) || parsed.length > itemsMax)
    throw new Error(`${name} must be ${list} such as ${example}`)
  return parsed
}
