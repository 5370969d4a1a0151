/** The root key in its versions: the columns whose values it seals, and its rotation while the program runs. */

export { custodyColumns, type RootKeyColumn } from './columns.ts'
export type { GivenRootKeys } from './open.ts'
export {
  type RotationProgress,
  RotationRefused,
  rotateRootKey,
} from './rotate.ts'
export {
  joinRootKey,
  rootKeyFingerprint,
  type ShareCounts,
  SharesRefused,
  sharesMax,
  splitRootKey,
} from './shares.ts'
export { rootKeyAdvice, rootKeyStates } from './states.ts'
export { rewrapRootKeys, tryKeyService, type WhileWaiting } from './wrapped.ts'
