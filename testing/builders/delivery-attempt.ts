import type { AttemptOutcome } from '#engines/webhooks/store/deliveries'

/** The outcome of an attempt whose notification arrived. */
export const deliveredAt = (
  at: string,
  of: Pick<AttemptOutcome, 'messageId' | 'number'>,
): AttemptOutcome => ({
  ...of,
  status: 200,
  error: null,
  cause: 'auto',
  requestHeaders: {},
  requestBody: '{}',
  requestBytes: 2,
  responseHeaders: {},
  responseBody: '',
  durationMs: 1,
  state: 'delivered',
  dueDate: at,
  at,
})
