/**
 * The keys that sign for this installation on chains: cross-chain messages, and attestations and burns of unified balances. They
 * open with the root key. Every digest is recorded before it is signed, and of a transfer of a unified balance there is one digest
 * for good: a second one would mint again what is burned once.
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

/** Makes a key; its contract has to know the address before what it signs counts. */
export async function createAttestationKey(
  scope: CustodyScope,
  purpose: AttestationPurpose,
): Promise<AttestationKey> {
  const privateKey = randomBytes(32)
  return addKey(scope, purpose, privateKey).finally(() => privateKey.fill(0))
}

/** Adds a key that was made elsewhere, such as that of the sandbox, unless it is there. */
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

/** Ends the use of a key. What it signed counts until its contract forgets the address. */
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
  /** Subject of the signature: the nonce of a message, the hash of a transfer, or a burn. */
  subject: string
  /** 32 bytes. */
  digest: Hex
}

/**
 * Signs in `scope.db`'s `tx`, in which the digests are recorded: use the signatures when that has committed. 65 bytes each: r, s in
 * the lower half of the order, and 27 or 28. Throws for a retired key, and for another digest of a transfer that has one.
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

/** Signs in the same way with the key in use of a purpose; `undefined` without one. */
export async function signWithKeyInUse(
  scope: CustodyScope,
  purpose: AttestationPurpose,
  requests: readonly AttestationRequest[],
): Promise<Buffer[] | undefined> {
  const key = await attestationKeyRowInUse(scope.db, purpose)
  return key && signWith(scope, key, requests)
}

async function signWith(
  { custody, db, clock }: CustodyScope,
  key: AttestationKeyRow,
  requests: readonly AttestationRequest[],
): Promise<Buffer[]> {
  await insertAttestationSignatures(db, key, requests, clock.nowMs())
  const { sign } = familyOfKey({ family: 'evm' })
  const context = attestationPrivateKey(key.purpose, key.id)
  return withUnsealed(custody.vault.root, context, key.sealedPrivateKey, (privateKey) =>
    requests.map(({ digest }) => {
      const signature = sign(custody.signer, bytesOf(digest), privateKey)
      signature[64]! += recoveryBase
      return signature
    }),
  )
}

/** Contracts expect the recovery as 27 or 28. */
const recoveryBase = 27
