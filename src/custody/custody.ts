import type { KeyObject } from 'node:crypto'
import type { Database, Db } from '#runtime/db/db'
import type { Log } from '#runtime/log/log'
import type { RequestScope } from '#runtime/scope'
import { type AuditSigner, openAuditSigner } from './audit-signer.ts'
import { type Notary, openNotary } from './notary.ts'
import { openVault, type Vault } from './sealing.ts'
import { chooseSigner } from './signers/choose.ts'
import type { Signer } from './signers/signer.ts'
import { openTransport, type Transport } from './transport.ts'
import { type GuessFiles, openGuessFiles } from './user-keys/guess-files.ts'
import { createStretcher, pinCost, type StretchCost, type Stretcher } from './user-keys/stretch.ts'
import { openUserTokenKeys, type UserTokenKeys } from './user-token-keys.ts'
import { openWebhookSigner, type WebhookSigner } from './webhook-signer.ts'

/** The keys of this process: opened once at boot and passed around. Outside of custody it is opaque. */
export type Custody = {
  readonly vault: Vault
  readonly signer: Signer
  readonly transport: Transport
  readonly notary: Notary
  readonly webhookSigner: WebhookSigner
  readonly auditSigner: AuditSigner
  readonly stretcher: Stretcher
  readonly guessFiles: GuessFiles
  readonly userTokenKeys: UserTokenKeys
  close(): Promise<void>
}

/** The right to open wallet keys, for one request: those of an entity, or of one of its users. */
export type KeyOpener = {
  readonly entityId: string
  /** The user whose keys it opens; absent where it opens those of the entity. */
  readonly userId?: string
  readonly walletKey: KeyObject
}

/** An entity secret verified for one request; it opens that entity's wallet keys and holds no bytes of the secret. */
export type EntitySecret = KeyOpener & {
  readonly userId?: never
  readonly generation: number
  readonly ciphertextSha256: Buffer
}

/** The key of a user, opened by that user for one request; it holds no bytes of what opened it. */
export type UserKey = KeyOpener & { readonly userId: string }

/** The part of a verb's `ctx` that custody needs. */
export type CustodyCtx = RequestScope & { custody: Custody }

/** The scope that custody needs outside a request, for example in a worker; `db` may be a `tx`. */
export type CustodyScope = { custody: Custody; db: Db; clock: { nowMs(): number } }

export type OpenCustodyInput = {
  database: Database
  log: Log
  rootKey: Buffer
  clock: { nowMs(): number }
  /** Where counters of guesses are copied to, beside the database; without it they are not. */
  guessDirectory?: string | undefined
  /** The cost of new PINs; tests lower it. */
  pinCost?: StretchCost | undefined
}

/** Opens the keys under `rootKey` (32 bytes). Throws when the database was sealed under another one. */
export async function openCustody(input: OpenCustodyInput): Promise<Custody> {
  const vault = openVault(input.rootKey)
  const [signer, transport] = await Promise.all([chooseSigner(input.log), openTransport({ ...input, vault })])
  const notary = openNotary({ ...input, vault })
  const webhookSigner = openWebhookSigner({ ...input, vault })
  const auditSigner = openAuditSigner(vault)
  const userTokenKeys = openUserTokenKeys({ ...input, vault })
  return {
    vault,
    signer,
    transport,
    notary,
    webhookSigner,
    auditSigner,
    stretcher: createStretcher(input.pinCost ?? pinCost),
    guessFiles: openGuessFiles(input.guessDirectory),
    userTokenKeys,
    close: async () => transport.close(),
  }
}
