/** A trial of the whole platform that takes longer than a test may: `npm run drill -- NAME`. */
export type Drill = {
  /** One line for the list of drills. */
  about: string
  /** The text of `--help`. */
  usage: string
  /** Says on standard error what it does, prints a table, and throws when what it promises did not hold. */
  run(args: readonly string[]): Promise<void>
}
