import type { Config } from '#runtime/config'
import { sandboxEntity } from './credentials.ts'

/** The settings that every sandbox has, in contrast to a server in production. */
export const sandboxSettings = {
  loopbackPages: true,
  notificationTargets: 'loopback',
  crosschainEnvironment: 'TEST',
  crosschainEntity: sandboxEntity.id,
  paymentBatchMs: 1_000,
} as const satisfies Partial<Config>
