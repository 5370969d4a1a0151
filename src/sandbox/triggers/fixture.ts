import type { Steps } from './steps.ts'

export type FixtureNeed =
  | 'modular wallets'
  | 'payments of the business account'
  | 'contracts, replacements and reorgs'

/** Steps of the API and of the chain that make an event happen. */
export type Fixture = {
  about: string
  /** The topics of the notifications that it causes. */
  topics: readonly string[]
  /** Paths that can be set, with their usual values. Each fixture has `blockchain` too. */
  values?: Readonly<Record<string, string>>
  /** The need that not every chain meets. */
  needs?: FixtureNeed
  run(steps: Steps): Promise<void>
}
