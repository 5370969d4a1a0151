/** Errors of the tools that only a sandbox has. */
export const sandboxErrorKinds = {
  caughtMessageNotFound: {
    code: 404,
    status: 404,
    text: 'Not found: the catcher keeps no message of this id. It was cleared, or dropped as one of the oldest: list those that are kept.',
  },
  inboxLimitReached: {
    code: 429,
    status: 429,
    text: 'The limit of inboxes is reached: delete one with DELETE /sandbox/catcher/{inbox}.',
  },
  snapshotNotFound: {
    code: 404,
    status: 404,
    text: 'This sandbox has no snapshot of this name: list them with GET /sandbox/snapshots.',
  },
  snapshotConflict: {
    code: 409,
    status: 409,
    text: 'The snapshot cannot be saved, restored or imported as things are.',
  },
  snapshotLimitReached: {
    code: 429,
    status: 429,
    text: 'The limit of snapshots is reached: delete one with DELETE /sandbox/snapshots/{name}.',
  },
  snapshotDamaged: {
    code: 409,
    status: 409,
    text: 'The snapshot is damaged, and nothing was changed.',
  },
  listenerLimitReached: {
    code: 429,
    status: 429,
    text: 'The limit of listeners is reached: delete one with DELETE /sandbox/listeners/{id}.',
  },
  listenerNotFound: {
    code: 404,
    status: 404,
    text: 'Not found: this sandbox has no listener of this name. Open it with POST /sandbox/listeners/{id}.',
  },
  listenerTakenOver: {
    code: 409,
    status: 409,
    text: 'Another client has opened the listener of this name: end that one, or choose another name.',
  },
  deliveryNotWaiting: {
    code: 409,
    status: 409,
    text: 'The delivery does not wait for an answer any more: it timed out or was answered. It is attempted again unless it was delivered.',
  },
  triggerFailed: {
    code: 422,
    status: 422,
    text: 'A step of the trigger was refused, or its effect did not come in time.',
  },
} as const
