/** The kit for tests of an app: `bezant/testing`. It imports nothing of the server, so that a test file loads it in no time. */
export { type CallMethod, SandboxError } from './ask.ts'
export type {
  CatcherHandle,
  CaughtMailMessage,
  CaughtWebhook,
  InboxHandle,
  MessageFilter,
} from './handles/catcher.ts'
export type { ChainHandle, ChainReorg, TestChainState, TestTransaction } from './handles/chain.ts'
export type { ClockAdvance, ClockHandle, ClockState } from './handles/clock.ts'
export type { FaultHit, FaultPlanInput, FaultPreset, FaultRuleInput, FaultsHandle } from './handles/faults.ts'
export type { MovementDocument, RequestRecord, TimelineDocument } from './handles/operator.ts'
export type { SnapshotDone, SnapshotInfo, SnapshotsHandle } from './handles/snapshots.ts'
export {
  startTestSandbox as startSandbox,
  type TestSandbox as Sandbox,
  type TestSandboxOptions as SandboxOptions,
} from './start-sandbox.ts'
