import type { Custody, CustodyCtx } from '#custody/index'
import type { Database } from '#runtime/db/db'
import type { Lanes } from '#runtime/scheduling/fair-concurrency'
import { createPasswordLanes } from './members/password.ts'
import { openUserTokenKeys, type UserTokenKeys } from './token-keys.ts'
import { type GuessFiles, openGuessFiles } from './user-keys/guess-files.ts'
import { createStretcher, pinCost, type StretchCost, type Stretcher } from './user-keys/stretch.ts'

/** The parts of a process that know users and members, and open the keys of users: opened once at boot and passed around. */
export type Identity = {
  readonly stretcher: Stretcher
  readonly guessFiles: GuessFiles
  readonly tokenKeys: UserTokenKeys
  /** The turns in which passwords of members are hashed. */
  readonly passwordLanes: Lanes
}

/** The part of a verb's `ctx` that users and their keys need. */
export type IdentityCtx = CustodyCtx & { identity: Identity }

export type OpenIdentityInput = {
  database: Database
  custody: Custody
  clock: { nowMs(): number }
  /** Where counters of guesses are copied to, beside the database; without it they are not. */
  guessDirectory?: string | undefined
  /** The cost of new PINs; tests lower it. */
  pinCost?: StretchCost | undefined
}

export const openIdentity = (input: OpenIdentityInput): Identity => ({
  stretcher: createStretcher(input.pinCost ?? pinCost),
  guessFiles: openGuessFiles(input.guessDirectory),
  tokenKeys: openUserTokenKeys({ ...input, vault: input.custody.vault }),
  passwordLanes: createPasswordLanes(),
})
