/** All queues that entities share and a loop claims from. `testing/turns.test.ts` tests each of them for starvation. */
export const queues = [
  'signing',
  'sending',
  'filling refused nonces',
  'filling outpriced nonces',
  'filling unsigned nonces',
  'replacing',
  'finding stuck transactions',
  'explaining reverts',
  'writing notifications',
  'sending notifications',
  'paying',
  'showing hashes',
  'settling disbursements',
  'settling sweeps',
  'reviewing recipients',
  'ending holds of recipients',
  'verifying addresses',
  'ending holds of addresses',
  'minting wires',
  'closing payment intents',
] as const
export type Queue = (typeof queues)[number]
