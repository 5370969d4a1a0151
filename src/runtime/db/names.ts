/** One conversion of names, remembered: the program and its statements use a bounded number of them. */
function remembered(convert: (name: string) => string): (name: string) => string {
  const known = new Map<string, string>()
  return (name) => {
    const before = known.get(name)
    if (before !== undefined) return before
    const converted = convert(name)
    known.set(name, converted)
    return converted
  }
}

/** The name of a column in the program: `tx_hash` is `txHash`. */
export const fieldOf = remembered((column) =>
  column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
)

/** The name of a field in the database: `txHash` is `tx_hash`. */
export const columnOf = remembered((field) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
