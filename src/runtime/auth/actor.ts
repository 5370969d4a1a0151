import { uuidIn } from '#lib/ids'

/** The id of the API key that an actor is; undefined of members, users and engines. */
export const apiKeyIdOf = (actor: string): string | undefined =>
  actor.startsWith('key:') ? uuidIn(actor.slice('key:'.length)) : undefined
