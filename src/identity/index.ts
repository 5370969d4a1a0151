/** Users, their sessions, and how they log in. The keys of users have a door of their own. */

export {
  type Device,
  issueDeviceToken,
  loginMs,
  readDeviceToken,
  requireActiveDevice,
  useDeviceToken,
  withDeviceKey,
} from './device-tokens.ts'
export { type Identity, type IdentityCtx, type OpenIdentityInput, openIdentity } from './identity.ts'
export { tokenIdOf } from './jwt.ts'
export { findKeptAnswer, keepAnswer, keptAnswer } from './kept-answers.ts'
export {
  enterLoginCode,
  makeLoginCode,
  readCodeHead,
  replaceLoginCode,
  type SentCode,
  useLoginCode,
} from './login-codes.ts'
export { beginSession, renewSession, useIdToken, userOfEmail, userOfIdentity } from './sessions.ts'
export { logsIn } from './store/identities.ts'
export { listUsers, type User } from './store/users.ts'
export { type SigningKey, tokenMaxMs } from './token-keys.ts'
export {
  issueUserToken,
  openTokenKey,
  requireSession,
  requireTokenUser,
  withEncryptionKey,
} from './tokens.ts'
export { createUser, logOutUser, requireUser, setUserStatus } from './users.ts'
