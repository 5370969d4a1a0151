/** The shapes of answers, from the schemas that the server answers by: no file of it is in the console. */
import type { Static } from 'typebox'
import type { auditEntrySchema, verificationSchema } from '#api/operator/audit-schema'
import type { movementSchema, timelineSchema } from '#api/operator/movement-schema'
import type { flowSchema, overviewSchema } from '#api/operator/overview-schema'
import type { dryRunSchema, freezeSchema, policySchema } from '#api/operator/policy-schema'
import type { chainSchema } from '#api/operator/schema'
import type { foundSchema } from '#api/operator/search-schema'
import type { newCodesSchema, sessionSchema } from '#api/operator/session-schema'
import type { rebalancingPolicySchema, treasuryStateSchema } from '#api/operator/treasury-schema'
import type { listedSchema, listVersionSchema, screeningListSchema } from '#api/screenings/list-schema'
import type { chainsSchema } from '#sandbox/chain-control/schema'
import type { clockSchema } from '#sandbox/clock/schema'
import type { snapshotsSchema } from '#sandbox/snapshots/schema'

export type AuditRow = Static<typeof auditEntrySchema>
export type Verification = Static<typeof verificationSchema>
export type ScreeningList = Static<typeof screeningListSchema>
export type ScreeningListVersion = Static<typeof listVersionSchema>
export type ListedEntries = Static<typeof listedSchema>
export type Movement = Static<typeof movementSchema>
export type Timeline = Static<typeof timelineSchema>
export type Lane = Timeline['lanes'][number]
export type Span = Lane['spans'][number]
export type Mark = Lane['marks'][number]
export type Overview = Static<typeof overviewSchema>
export type Need = Overview['needs'][number]
export type Flow = Static<typeof flowSchema>
export type OperatorChain = Static<typeof chainSchema>
export type Freeze = Static<typeof freezeSchema>
export type Policy = Static<typeof policySchema>
export type PolicyDryRun = Static<typeof dryRunSchema>
export type SessionAnswer = Static<typeof sessionSchema>
export type NewCodes = Static<typeof newCodesSchema>
export type Found = Static<typeof foundSchema>
export type TreasuryState = Static<typeof treasuryStateSchema>
export type RebalancingPolicy = Static<typeof rebalancingPolicySchema>
export type LocalChain = Static<typeof chainsSchema>[number]
export type LabClockState = Static<typeof clockSchema>
export type Snapshot = Static<typeof snapshotsSchema>[number]
/** The plan of faults at work, and how often each rule was met. */
export type FaultState = {
  plan?: { seed: number; rules: { name: string; on: string; match?: unknown; when?: unknown; do: unknown }[] }
  hits: Record<string, number>
}
