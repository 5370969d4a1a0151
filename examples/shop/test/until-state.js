import { expect, vi } from 'vitest'

/** Webhooks come when they come: waits until an order has a state. */
export const untilState = (order, state) =>
  vi.waitFor(() => expect(order.state).toBe(state), { timeout: 30_000, interval: 20 })
