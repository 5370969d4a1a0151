import { keyText } from '#runtime/auth/key-text'
import type { NewApiKey } from '#runtime/auth/store'
import { keyScopes } from '#runtime/scope'

/**
 * PUBLIC SANDBOX CREDENTIALS, the same on every machine, so that examples and tests can name them.
 * They are valid in a sandbox only: `serve` never creates them.
 */
export const sandboxEntity = {
  id: '00000000-0000-4000-8000-00000000be2a',
  name: 'Sandbox',
  environment: 'TEST',
  appId: '00000000-0000-4000-8000-00000000a991',
} as const

export const sandboxKeyId = '00000000-0000-4000-8000-00000000000a'
export const sandboxKeySecret = 'sandbox0000000000000000000000000000000000000000000000000000bezant'

const sandboxClientKeyId = '00000000-0000-4000-8000-00000000000c'
const sandboxClientKeySecret = 'client00000000000000000000000000000000000000000000000000000bezant'

export const sandboxApiKey = keyText('TEST_API_KEY', sandboxKeyId, sandboxKeySecret)
export const sandboxClientKey = keyText('TEST_CLIENT_KEY', sandboxClientKeyId, sandboxClientKeySecret)

const { id: entityId, environment } = sandboxEntity

/** Both keys, as they are registered. */
export const sandboxKeys: readonly Omit<NewApiKey, 'nowMs'>[] = [
  { entityId, environment, id: sandboxKeyId, secret: sandboxKeySecret, scopes: keyScopes },
  { entityId, environment, id: sandboxClientKeyId, secret: sandboxClientKeySecret, scopes: ['client'] },
]

/** 32 bytes as 64 hexadecimal digits. */
export const sandboxEntitySecret = 'be2a0000000000000000000000000000000000000000000000000000005a4db0'

/** The credentials of one sandbox, and its keys as they are registered. */
export type SandboxCredentials = {
  apiKey: string
  clientKey: string
  entitySecret: string
  keys: readonly Omit<NewApiKey, 'nowMs'>[]
  /** Whether they are those above, which are the same on every machine. */
  arePublic: boolean
}

export const publicCredentials: SandboxCredentials = {
  apiKey: sandboxApiKey,
  clientKey: sandboxClientKey,
  entitySecret: sandboxEntitySecret,
  keys: sandboxKeys,
  arePublic: true,
}
