import { badParams } from '#api/json-rpc/method'
import type { Ctx } from '#engines/ctx'
import { giveChallenge, lifetimeMs, takeCeremony, unverified } from './ceremony.ts'
import { requirePasskeys } from './origin.ts'
import { coseOf } from './public-key.ts'
import type { LoginAnswer } from './schema.ts'
import { advanceCounter, findPasskey, type Passkey } from './store.ts'
import { loadWebauthn } from './webauthn.ts'

/**
 * Gives out the options of a login. The id of a credential is not looked up: the answer does not reveal whether it exists.
 */
export async function loginOptions(ctx: Ctx, [credentialId]: [(string | null)?]) {
  requirePasskeys(ctx.config)
  return {
    challenge: await giveChallenge(ctx),
    timeout: lifetimeMs,
    userVerification: 'required',
    allowCredentials: credentialId ? [{ type: 'public-key', id: credentialId }] : [],
  }
}

/** Verifies the answer of an authenticator to such options. Returns the public key of the passkey. */
export async function verifyLogin(ctx: Ctx, [credential]: [LoginAnswer]) {
  const { challenge, origin, rpId } = await takeCeremony(
    ctx,
    credential.response.clientDataJSON,
    'webauthn.get',
  )
  const passkey = await findPasskey(ctx.database, ctx.entity.id, Buffer.from(credential.id, 'base64url'))
  if (!passkey) throw badParams('params[0].id matches no passkey of this entity: register it first')
  requireSameUser(passkey, credential)
  if (passkey.rpId !== rpId)
    throw badParams('params[0] is of a page of another host than the one that registered the passkey')
  const { userHandle: _, ...response } = credential.response
  const { verified, authenticationInfo } = await (await loadWebauthn())
    .verifyAuthenticationResponse({
      response: { ...credential, response, clientExtensionResults: {} },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      credential: { id: credential.id, publicKey: coseOf(passkey.publicKey), counter: passkey.counter },
    })
    .catch(unverified('login'))
  if (!verified) throw badParams('params[0].response.signature is not one of the passkey')
  const counter = authenticationInfo.newCounter
  const isNewer = await advanceCounter(ctx.database, ctx.entity.id, {
    id: passkey.id,
    counter,
    nowMs: ctx.clock.nowMs(),
  })
  if (!isNewer)
    throw badParams('params[0].response.authenticatorData has a counter that another login has reached')
  return { publicKey: passkey.publicKey.toString('base64url') }
}

function requireSameUser({ userHandle }: Passkey, { response }: LoginAnswer): void {
  if (!response.userHandle) return
  if (!userHandle.equals(Buffer.from(response.userHandle, 'base64url')))
    throw badParams('params[0].response.userHandle is not that of the passkey')
}
