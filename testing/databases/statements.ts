import pg from 'pg'

/** A statement as the program sent it, with the values of its last call. */
export type SentStatement = { text: string; values: unknown[] }

type Query = (...asked: unknown[]) => unknown

/** Frames of the program itself: not of the tests, and not of the driver's wrapper, which both use. */
const isOfProgram = /\/src\/(?!runtime\/db\/)(?!.*\.test\.ts)/

/** Collects the distinct statements that the program sends from this process until `stop`, those of tests left out. */
export function collectStatements(): { sent: ReadonlyMap<string, SentStatement>; stop(): void } {
  const sent = new Map<string, SentStatement>()
  // A pool asks a client later, when the caller is no longer on the stack.
  const undo = [pg.Pool.prototype, pg.Client.prototype].map((each) => {
    const prototype = each as unknown as { query: Query }
    const { query } = prototype
    prototype.query = function (this: unknown, ...asked: unknown[]) {
      const [config] = asked as [Partial<SentStatement> | string]
      if (typeof config === 'object' && typeof config.text === 'string') {
        const { text, values = [] } = config
        if (sent.has(text) || isOfProgram.test(stackNow())) sent.set(text, { text, values })
      }
      return query.apply(this, asked)
    }
    return () => {
      prototype.query = query
    }
  })
  return {
    sent,
    stop: () => {
      for (const each of undo) each()
    },
  }
}

function stackNow(): string {
  const before = Error.stackTraceLimit
  Error.stackTraceLimit = 40
  const { stack = '' } = new Error('where')
  Error.stackTraceLimit = before
  return stack
}
