/** The versions of smart accounts, oldest first. */
export const scaCores = [
  'circle_4337_v1',
  'circle_6900_singleowner_v1',
  'circle_6900_singleowner_v2',
  'circle_6900_singleowner_v3',
] as const

export type ScaCore = (typeof scaCores)[number]

/** The version of new wallets. */
export const newestCore: ScaCore = 'circle_6900_singleowner_v3'

/** The versions that accounts can be upgraded to. */
export const upgradeTargets = ['circle_6900_singleowner_v2'] as const

export type UpgradeTarget = (typeof upgradeTargets)[number]
