import { randomBytes } from 'node:crypto'
import { badParams } from '#api/json-rpc/method'
import type { Ctx } from '#engines/ctx'
import { newId } from '#lib/ids'
import { findEntity } from '#runtime/auth/store'
import { recordChanges } from '#runtime/record/store'
import { giveChallenge, lifetimeMs, takeCeremony, unverified } from './ceremony.ts'
import { requirePasskeys } from './origin.ts'
import { spkiOf } from './public-key.ts'
import type { RegistrationAnswer } from './schema.ts'
import { insertPasskey } from './store.ts'
import { loadWebauthn, type Webauthn } from './webauthn.ts'

/** ES256, the only algorithm that contracts verify. */
const es256 = -7

/**
 * Returns the options of a registration. Each registration makes a new user: a username is a label and may occur again.
 */
export async function registrationOptions(ctx: Ctx, [username]: [string]) {
  requirePasskeys(ctx.config)
  const userHandle = randomBytes(32)
  const challenge = await giveChallenge(ctx, { userHandle, username })
  const entity = await findEntity(ctx.db, ctx.entity.id)
  return {
    challenge,
    // Without an id the browser takes the host of the page, which the answer then has to prove.
    rp: { name: entity?.name ?? '' },
    user: { id: userHandle.toString('base64url'), name: username, displayName: username },
    pubKeyCredParams: [{ type: 'public-key', alg: es256 }],
    timeout: lifetimeMs,
    attestation: 'none',
    authenticatorSelection: {
      residentKey: 'required',
      requireResidentKey: true,
      userVerification: 'required',
    },
  }
}

/** Verifies the answer of an authenticator to the options of a registration, and stores its passkey. */
export async function verifyRegistration(ctx: Ctx, [credential]: [RegistrationAnswer]) {
  const { challenge, origin, rpId, userHandle, username } = await takeCeremony(
    ctx,
    credential.response.clientDataJSON,
    'webauthn.create',
  )
  const webauthn = await loadWebauthn()
  requireNoCertificates(webauthn, credential)
  const { verified, registrationInfo } = await webauthn
    .verifyRegistrationResponse({
      response: { ...credential, clientExtensionResults: {} },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      supportedAlgorithmIDs: [es256],
    })
    .catch(unverified('registration'))
  if (!verified) throw badParams('params[0] is not a valid registration: its attestation is wrong')
  const { credential: made } = registrationInfo
  const credentialId = Buffer.from(made.id, 'base64url')
  if (made.id !== credential.id) throw badParams('params[0].id is not the id in the attestationObject')
  const nowMs = ctx.clock.nowMs()
  const passkey = {
    id: newId(nowMs),
    credentialId,
    publicKey: keyIn(webauthn, made.publicKey),
    counter: made.counter,
    rpId,
    userHandle: userHandle!,
    username: username!,
    nowMs,
  }
  await ctx.database.tx(async (tx) => {
    const { entity, actor, requestId } = ctx
    if (!(await insertPasskey(tx, entity.id, passkey)))
      throw badParams('params[0].id is that of a passkey that is registered already: log in with it')
    const change = { entityId: entity.id, actor, requestId, resourceId: passkey.id }
    await recordChanges(tx, nowMs, [{ ...change, type: 'passkey.created', data: { rpId } }])
  })
  return { verified: true }
}

/** Refuses certificates, which the options did not ask for: their verification would fetch addresses that they name. */
function requireNoCertificates(
  { decodeAttestationObject }: Webauthn,
  { response }: RegistrationAnswer,
): void {
  const [format, isBare] = attempt(() => {
    const bytes = Uint8Array.from(Buffer.from(response.attestationObject, 'base64url'))
    const attestation = decodeAttestationObject(bytes)
    return [attestation.get('fmt'), attestation.get('attStmt').get('x5c') === undefined]
  })
  if (format !== 'none' && !(format === 'packed' && isBare))
    throw badParams('params[0].response.attestationObject has an attestation, and none was asked for')
}

function keyIn({ decodeCredentialPublicKey }: Webauthn, cose: Uint8Array<ArrayBuffer>): Buffer {
  const key = attempt(() => decodeCredentialPublicKey(cose)) as unknown as Map<number, unknown>
  const [curve, x, y] = [-1, -2, -3].map((label) => key.get(label))
  const isPoint = [x, y].every((each) => each instanceof Uint8Array && each.length === 32)
  if (curve === 1 && isPoint) return spkiOf(x as Uint8Array, y as Uint8Array)
  throw badParams('params[0].response.attestationObject has a public key that is not of P-256')
}

function attempt<Result>(decode: () => Result): Result {
  try {
    return decode()
  } catch {
    throw badParams('params[0].response.attestationObject is not an attestation in CBOR')
  }
}
