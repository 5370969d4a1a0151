import type { Db } from '#runtime/db/db'
import type { RequestScope } from '#runtime/scope'
import { type AuditSigner, openAuditSigner } from './installation/audit-signer.ts'
import { type Notary, openNotary } from './installation/notary.ts'
import { openWebhookSigner, type WebhookSigner } from './installation/webhook-signer.ts'
import type { KeyService } from './key-services/index.ts'
import { type OpenInput, openRootKeys } from './root-key/open.ts'
import type { Vault, WalletKey } from './sealing/sealing.ts'
import { chooseSigner } from './signers/choose.ts'
import { requireEd25519Answers } from './signers/known-answers.ts'
import type { Signer } from './signers/signer.ts'
import { openTransport, type Transport } from './transport.ts'

/** The keys of this process, with which it signs and decrypts: opened once at boot and passed on in `ctx`. */
export type Custody = {
  readonly vault: Vault
  /** The versions of the root key that this process was given, or that its key service unwrapped. */
  readonly rootKeyVersions: readonly number[]
  /** The service that wraps new versions of the root key, where one does. */
  readonly keyService: KeyService | undefined
  /** Reads again which of them seals; it happens every two seconds besides. */
  followRootKeys(): Promise<void>
  readonly signer: Signer
  readonly transport: Transport
  readonly notary: Notary
  readonly webhookSigner: WebhookSigner
  readonly auditSigner: AuditSigner
  close(): Promise<void>
}

/** The right to open wallet keys, for one request: those of an entity, or of one of its users. */
export type KeyOpener = {
  readonly entityId: string
  /** The user whose keys it opens; absent where it opens those of the entity. */
  readonly userId?: string
  /** The key that opens the sealed wallet keys. */
  readonly walletKey: WalletKey
}

/** An entity secret verified for one request; it opens that entity's wallet keys and holds no bytes of the secret. */
export type EntitySecret = KeyOpener & {
  readonly userId?: never
  /** The number of the secret: 1 for the registered one, and one more after each rotation. */
  readonly generation: number
  /** SHA-256 of the ciphertext that carried the secret: a ciphertext works once. */
  readonly ciphertextSha256: Buffer
}

/** The key of a user, opened by that user for one request; it holds no bytes of what opened it. */
export type UserKey = KeyOpener & { readonly userId: string }

/** The part of a verb's `ctx` that custody needs. */
export type CustodyCtx = RequestScope & { custody: Custody }

/** The scope that custody needs outside a request, for example in a worker; `db` may be a `tx`. */
export type CustodyScope = { custody: Custody; db: Db; clock: { nowMs(): number } }

/** Opens the keys under the root key. Throws `SealBroken` when the database was sealed under another one. */
export async function openCustody(input: OpenInput): Promise<Custody> {
  requireEd25519Answers()
  const rootKeys = await openRootKeys(input)
  const { vault, held: rootKeyVersions } = rootKeys
  const [signer, transport] = await Promise.all([
    chooseSigner(input.log),
    openTransport({ ...input, vault }),
  ]).catch(async (error) => {
    await rootKeys.close()
    throw error
  })
  const notary = openNotary({ ...input, vault })
  const webhookSigner = openWebhookSigner({ ...input, vault })
  const auditSigner = openAuditSigner(vault)
  return {
    vault,
    rootKeyVersions,
    keyService: input.keyService,
    followRootKeys: rootKeys.follow,
    signer,
    transport,
    notary,
    webhookSigner,
    auditSigner,
    close: async () => {
      transport.close()
      await rootKeys.close()
    },
  }
}

/** The RSA public key, in PEM, with which clients encrypt the entity secret. */
export const transportPublicKey = (custody: Custody): Promise<string> => custody.transport.publicKey()
