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
} as const
