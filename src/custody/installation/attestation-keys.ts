/**
 * The keys with which this installation signs cross-chain messages, the transfers and burns of unified balances, and quotes of fees.
 * They open with the root key. Every digest but that of a quote is recorded before it is signed, and a transfer of a unified balance
 * has one digest for ever: with a signature of a second one, coins that are burned once could be minted twice.
 */
import { randomBytes } from 'node:crypto'
import { bytesOf, type Hex } from '#lib/hex'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { installationId, recordChanges } from '#runtime/record/store'
import type { CustodyScope } from '../custody.ts'
import { familyOfKey } from '../families/index.ts'
import { attestationPrivateKey } from '../sealing/contexts.ts'
import { seal, withUnsealed } from '../sealing/sealing.ts'
import {
  type AttestationKey,
  type AttestationKeyRow,
  type AttestationPurpose,
  attestationKeyRowInUse,
  findAttestationKey,
  insertAttestationKey,
  insertAttestationSignatures,
  listAttestationKeys,
  retireAttestationKey,
} from './store/attestation-keys.ts'

/** Creates a key. Contracts accept its signatures once its address is registered with them. */
export async function createAttestationKey(
  scope: CustodyScope,
  purpose: AttestationPurpose,
): Promise<AttestationKey> {
  const privateKey = randomBytes(32)
  return addKey(scope, purpose, privateKey).finally(() => privateKey.fill(0))
}

/** Stores a given key (0x and 64 hexadecimal digits), such as the sandbox's, and returns it; does nothing where it is stored. */
export async function importAttestationKey(
  scope: CustodyScope,
  purpose: AttestationPurpose,
  privateKey: Hex,
): Promise<AttestationKey> {
  const bytes = bytesOf(privateKey)
  return addKey(scope, purpose, bytes).finally(() => bytes.fill(0))
}

async function addKey(
  { custody, db, clock }: CustodyScope,
  purpose: AttestationPurpose,
  privateKey: Buffer,
): Promise<AttestationKey> {
  const nowMs = clock.nowMs()
  const id = newId(nowMs)
  const address = familyOfKey({ family: 'evm' }).addressOf(custody.signer, privateKey)
  const row = {
    id,
    purpose,
    address,
    publicKey: custody.signer.publicKeyOf(privateKey),
    sealedPrivateKey: seal(custody.vault.root, attestationPrivateKey(purpose, id), privateKey),
    createDate: formatInstant(nowMs),
  }
  return db.tx(async (tx) => {
    if (!(await insertAttestationKey(tx, row)))
      return (await listAttestationKeys(tx, purpose)).find((key) => key.address === address)!
    await recordChanges(tx, nowMs, [
      {
        entityId: installationId,
        actor: 'custody',
        type: 'attestationKey.created',
        resourceId: id,
        data: { purpose, address },
      },
    ])
    const { sealedPrivateKey: _, ...made } = row
    return { ...made, retiredDate: null }
  })
}

/**
 * Retires a key; returns false when it was retired before. Contracts accept what it signed as long as its address is registered with
 * them.
 */
export const endAttestationKey = ({ db, clock }: CustodyScope, id: string): Promise<boolean> =>
  db.tx(async (tx) => {
    const nowMs = clock.nowMs()
    if (!(await retireAttestationKey(tx, id, nowMs))) return false
    await recordChanges(tx, nowMs, [
      { entityId: installationId, actor: 'custody', type: 'attestationKey.retired', resourceId: id },
    ])
    return true
  })

type AttestationRequest = {
  /** The subject of the signature: the nonce of a message, the hash of a transfer's specification, or a burn. */
  subject: string
  /** 32 bytes. */
  digest: Hex
}

/**
 * Records the digests in `scope.db`'s `tx` and signs them; no signature may be used before that has committed. Each has 65 bytes: r, s
 * in the lower half of the order, and 27 or 28. Throws for a retired key, and for a second digest of a transfer.
 */
export async function signAttestations(
  scope: CustodyScope,
  keyId: string,
  requests: readonly AttestationRequest[],
): Promise<Buffer[]> {
  const key = await findAttestationKey(scope.db, keyId)
  if (!key || key.retiredDate !== null) throw new Error(`there is no attestation key ${keyId} in use`)
  return signWith(scope, key, requests)
}

/** Does the same with the key that is in use for a purpose; returns `undefined` when there is none. */
export async function signWithKeyInUse(
  scope: CustodyScope,
  purpose: AttestationPurpose,
  requests: readonly AttestationRequest[],
): Promise<Buffer[] | undefined> {
  const key = await attestationKeyRowInUse(scope.db, purpose)
  return key && signWith(scope, key, requests)
}

/** Signs the digest of a quote of fees, which moves no coins of others; returns `undefined` while there is no key for that. */
export async function signQuote(scope: CustodyScope, digest: Hex): Promise<Buffer | undefined> {
  const key = await attestationKeyRowInUse(scope.db, 'quote')
  return key && signDigests(scope, key, [digest])[0]
}

async function signWith(
  scope: CustodyScope,
  key: AttestationKeyRow,
  requests: readonly AttestationRequest[],
): Promise<Buffer[]> {
  await insertAttestationSignatures(scope.db, key, requests, scope.clock.nowMs())
  return signDigests(
    scope,
    key,
    requests.map(({ digest }) => digest),
  )
}

function signDigests({ custody }: CustodyScope, key: AttestationKeyRow, digests: readonly Hex[]): Buffer[] {
  const { sign } = familyOfKey({ family: 'evm' })
  const context = attestationPrivateKey(key.purpose, key.id)
  return withUnsealed(custody.vault.root, context, key.sealedPrivateKey, (privateKey) =>
    digests.map((digest) => {
      const signature = sign(custody.signer, bytesOf(digest), privateKey)
      signature[64]! += recoveryBase
      return signature
    }),
  )
}

/** Contracts expect the recovery as 27 or 28. */
const recoveryBase = 27
