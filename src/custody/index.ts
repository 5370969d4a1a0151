import type { Page } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import type { Db, Sql } from '#runtime/db/db'
import type { Custody, EntitySecret } from './custody.ts'
import type * as T from './types.ts'

export type { Custody, EntitySecret } from './custody.ts'
export type * from './types.ts'

export declare function openCustody(input: T.OpenCustodyInput): Promise<Custody>

/** `prepare` of an endpoint whose body carries `entitySecretCiphertext`. The verb calls `spendCiphertext` first. */
export declare function openSecretOf(
  ctx: T.CustodyCtx,
  input: { body: { entitySecretCiphertext: string } },
): Promise<EntitySecret>
/** Decrypts and checks; 156013 for anything wrong, 156016 when the entity has registered none. Writes nothing. */
export declare function openEntitySecret(ctx: T.CustodyCtx, ciphertext: string): Promise<EntitySecret>
/** Uses the ciphertext up in `ctx.db`'s tx (156004 when it was used before); a refused request uses it up as well. */
export declare function spendCiphertext(ctx: T.CustodyCtx, secret: EntitySecret): Promise<void>

/** Makes the grant by which workers sign for this intent: `intent` is its canonical bytes. Throws 156001 for an unknown key. */
export declare function grantSigning(
  ctx: T.CustodyCtx,
  secret: EntitySecret,
  grant: { intentId: string; keyId: string; intent: Buffer },
): Promise<void>
/** One signature per request, in order. Throws when a grant is missing or was made for other intent bytes. */
export declare function signForIntents(
  custody: Custody,
  db: Db,
  requests: readonly { entityId: string; intentId: string; intent: Buffer; digest: Buffer }[],
): Promise<T.Signature[]>
export declare function eraseGrants(
  tx: Db,
  intents: readonly { entityId: string; intentId: string }[],
): Promise<void>

/** Makes the next platform key of the entity (deposit, treasury), in the scope's tx. */
export declare function createPlatformKey(
  scope: T.CustodyScope,
  input: { entityId: string; family: T.KeyFamily },
): Promise<{ keyId: string; address: T.Address }>
/** From now on the indexer watches the address and the ledger books it. */
export declare function watchAddress(
  tx: Db,
  managed: T.ManagedAddress & { createDate: string },
): Promise<void>
/** Which of these addresses are managed on the blockchain, by whichever entity. */
export declare function managedAmong(
  db: Db,
  blockchain: string,
  addresses: readonly string[],
): Promise<T.ManagedAddress[]>
export declare function signWithPlatformKey(
  custody: Custody,
  db: Db,
  request: { entityId: string; keyId: string; digest: Buffer },
): Promise<T.Signature>

export declare function findWallet(db: Db, entityId: string, id: string): Promise<T.Wallet | undefined>
/** `address` in any case. */
export declare function findWalletByAddress(
  db: Db,
  entityId: string,
  blockchain: string,
  address: string,
): Promise<T.Wallet | undefined>
export type WalletFilters = {
  address?: string | undefined
  blockchain?: string | undefined
  walletSetId?: string | undefined
  refId?: string | undefined
  scaCore?: string | undefined
  /** A further condition on the alias `w` of the wallet rows. */
  where?: Sql | undefined
}
export declare function listWallets(
  db: Db,
  entityId: string,
  filters: WalletFilters,
  page: PageQuery,
): Promise<Page<T.Wallet>>

/** Registers a known secret for an entity, as the sandbox does; `secretHex` is 64 hexadecimal digits. Idempotent. */
export declare function seedSandboxEntity(
  scope: T.CustodyScope,
  input: { entityId: string; secretHex: string },
): Promise<void>
