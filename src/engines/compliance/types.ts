import type { ScreenedAddress } from '#chains/screening-chains'
import type { Config } from '#runtime/config'

export const riskActions = ['APPROVE', 'REVIEW', 'FREEZE_WALLET', 'DENY'] as const
export type RiskAction = (typeof riskActions)[number]

export const riskScores = ['UNKNOWN', 'LOW', 'MEDIUM', 'HIGH', 'SEVERE', 'BLOCKLIST'] as const
export type RiskScore = (typeof riskScores)[number]

export const riskCategories = [
  'SANCTIONS',
  'CSAM',
  'ILLICIT_BEHAVIOR',
  'GAMBLING',
  'TERRORIST_FINANCING',
  'UNSUPPORTED',
  'FROZEN',
  'OTHER',
  'HIGH_RISK_INDUSTRY',
  'PEP',
  'TRUSTED',
  'HACKING',
  'HUMAN_TRAFFICKING',
  'SPECIAL_MEASURES',
] as const
export type RiskCategory = (typeof riskCategories)[number]

export const riskTypes = ['OWNERSHIP', 'COUNTERPARTY', 'INDIRECT'] as const
export const riskSources = ['ADDRESS', 'BLOCKCHAIN', 'ASSET'] as const

export type RiskReason = {
  source: (typeof riskSources)[number]
  sourceValue: string
  riskScore: RiskScore
  riskCategories: readonly RiskCategory[]
  type: (typeof riskTypes)[number]
  /** The entry of a list: its number there, and the list with the version that added it. */
  signalSource: { rowId: string; pointer: string } | null
}

export type RiskDecision = {
  /** Absent when no rule applies. */
  ruleName?: string
  actions: readonly RiskAction[]
  reasons: readonly RiskReason[]
}

/** A decision with its time, as it is kept and shown. */
export type Evaluation = RiskDecision & { screeningDate: string }

/** Returns who decides about value under review: an operator, or a setting on test networks. */
export const reviewerOf = (isTest: boolean, { testReview }: Pick<Config, 'testReview'>) =>
  isTest ? testReview : 'operator'

/** Whether value goes to the address or comes from it: money that arrived cannot be denied. */
export type Direction = 'outbound' | 'inbound'

/** An address to screen. */
export type Subject = ScreenedAddress & {
  /** The address as it was given. */
  text: string
  isTest: boolean
  /** The chain that the provider is asked about; absent where only lists and test addresses count. */
  chain?: string
}

export const listKinds = ['sanctions', 'block', 'allow', 'issuer'] as const
export type ListKind = (typeof listKinds)[number]
