import type { Steps } from './steps.ts'

/** Steps of the API and of the chain that make an event happen. */
export type Fixture = {
  about: string
  /** The topics of the notifications that it causes. */
  topics: readonly string[]
  /** Paths that can be set, with their usual values. Each fixture has `blockchain` too. */
  values?: Readonly<Record<string, string>>
  /** Whether it needs the JSON-RPC of modular wallets, which not every chain has. */
  modular?: true
  run(steps: Steps): Promise<void>
}
