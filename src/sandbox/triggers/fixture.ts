import type { Steps } from './steps.ts'

/** The need of an event that not every chain meets, in the words of a refusal: "has no reorgs". */
export type FixtureNeed =
  | 'modular wallets'
  | 'payments of the business account'
  | 'contracts'
  | 'signed payments'
  | 'reorgs'
  | 'base fees'
  | 'replacements of transactions'
  | 'cancellations before an expiry'

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
