/** The root key in its versions: the columns whose values it seals, and its rotation while the program runs. */

export { custodyColumns, type RootKeyColumn } from './columns.ts'
export type { GivenRootKeys } from './open.ts'
export {
  type RotationProgress,
  RotationRefused,
  rootKeyStates,
  rotateRootKey,
} from './rotate.ts'
