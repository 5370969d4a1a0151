import type { Lane } from '../api/types.ts'
import type { IconName } from '../parts/icon-names.ts'

export const laneIcons: Record<Lane['kind'], IconName> = {
  request: 'send',
  idempotency: 'fingerprint-pattern',
  policy: 'shield-check',
  screening: 'user-search',
  act: 'gauge',
  hold: 'lock',
  operation: 'square-function',
  attempt: 'pen-line',
  foreign: 'circle-alert',
  block: 'box',
  intent: 'inbox',
  attestation: 'fingerprint-pattern',
  attester: 'users',
  delivery: 'globe',
  settlement: 'coins',
  ledger: 'scale',
  endpoint: 'webhook',
  linked: 'link',
}
