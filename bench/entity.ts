import { keyText } from '#runtime/auth/key-text'
import { sandboxEntity } from '#sandbox/credentials'

/** The customer of a bench: a server refuses the keys of a sandbox's entity, which are public. */
export const benchEntity = {
  ...sandboxEntity,
  id: '00000000-0000-4000-8000-0000000be4c1',
  name: 'Bench',
} as const

const { id: entityId, environment } = benchEntity

/** Its API key, as it is registered. */
export const benchKey = {
  entityId,
  environment,
  id: '00000000-0000-4000-8000-00000000be4c',
  secret: 'bench00000000000000000000000000000000000000000000000000000bezant',
} as const

export const benchApiKey = keyText('TEST_API_KEY', benchKey.id, benchKey.secret)
