import { randomUUID } from 'node:crypto'
import type { World } from '#testing/builders/world'
import type { SampleRequest } from './sample-request.ts'

/** A request with a new idempotency key and the sealed entity secret. */
export const keyed = async (world: World, body: object): Promise<SampleRequest> => ({
  body: { idempotencyKey: randomUUID(), entitySecretCiphertext: await world.tenant.sealSecret(), ...body },
})
